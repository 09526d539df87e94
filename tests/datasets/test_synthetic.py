"""Generators: recipes, seeds and shapes."""

import numpy as np
import pytest

from mkldash.datasets import synthetic


def test_golden_is_the_shared_recipe() -> None:
    X, y = synthetic.golden()
    np.testing.assert_allclose(X[0], [0.304717, -1.039984, 0.750451, 0.940565], atol=5e-7)
    assert X.sum() == pytest.approx(2.057694, abs=5e-7)
    assert X.shape == (20, 4)
    assert y.sum() == 0.0
    score = X[:, 0] * X[:, 1] + 0.5 * X[:, 2]
    assert score[y > 0].min() > score[y < 0].max()


@pytest.mark.parametrize("name", [n for n in synthetic.__all__ if n != "three_points"])
def test_seed_decides(name: str) -> None:
    generator = getattr(synthetic, name)
    X, y = generator(seed=3)
    again, labels = generator(seed=3)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, labels)
    assert not np.array_equal(X, generator(seed=4)[0])
    assert set(np.unique(y)) == {-1.0, 1.0}
    assert abs(y.sum()) <= 1.0


def test_circles_and_moons_lie_on_their_curves_without_noise() -> None:
    X, y = synthetic.circles(rows=60, noise=0.0)
    np.testing.assert_allclose(np.hypot(*X.T), np.where(y > 0, 0.5, 1.0), atol=1e-12)
    X, y = synthetic.two_moons(rows=60, noise=0.0)
    centre = np.where(y[:, None] > 0, [1.0, 0.5], [0.0, 0.0])
    np.testing.assert_allclose(np.hypot(*(X - centre).T), 1.0, atol=1e-12)
    assert (X[y < 0, 1] >= 0.0).all()
    assert (X[y > 0, 1] <= 0.5).all()


def test_xor_is_positive_where_signs_differ() -> None:
    X, y = synthetic.xor(rows=80, noise=0.0)
    np.testing.assert_array_equal(y, -X[:, 0] * X[:, 1])
    assert len(np.unique(X, axis=0)) == 4


def test_hill_valley_is_the_family() -> None:
    X, y = synthetic.hill_valley()
    assert X.shape == (1212, 100)
    for curve, sign in zip(X[:200], y, strict=False):
        peak = int(np.argmax(sign * curve))
        assert 9 <= peak <= 88
        # Far from the centre the curve is B; next to it differences shrink by r.
        steps = np.diff(curve[peak:])
        ratio = steps[1:4] / steps[:3]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
        assert 0.77 <= ratio[0] <= 0.855
        rise = steps[0] / (ratio[0] - 1.0)
        level = curve[peak] - rise
        assert np.sign(rise) == sign
        assert abs(rise / level) <= 0.5 + 1e-9
        assert -1e-9 <= np.log10(level) <= 5.0 + 1e-9


def test_hill_valley_noise_is_relative_to_the_level() -> None:
    clean, _ = synthetic.hill_valley(rows=400)
    noisy, _ = synthetic.hill_valley(rows=400, noise=0.01)
    spread = ((noisy - clean) / np.minimum(clean[:, :1], clean[:, -1:])).std()
    assert 0.005 < spread < 0.015


def test_three_points_are_one_against_two_and_no_triangle_of_equal_sides() -> None:
    X, y = synthetic.three_points()
    assert sorted(y) == [-1.0, -1.0, 1.0]
    sides = sorted(float(np.linalg.norm(X[i] - X[j])) for i, j in ((0, 1), (0, 2), (1, 2)))
    assert sides == pytest.approx([1.0, 2.0, 5**0.5])
