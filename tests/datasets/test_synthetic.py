"""Generators: recipes, seeds and shapes."""

import itertools

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
    if name == "known_products":
        assert len(np.unique(y)) == len(y)
        return
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


def test_known_products_are_a_product_and_a_main_effect() -> None:
    X, y = synthetic.known_products(noise=0.0)
    assert X.shape == (400, 8)
    np.testing.assert_allclose(y, 2.0 * X[:, 1] * X[:, 4] + X[:, 2], rtol=1e-12)
    wide, noisy = synthetic.known_products(seed=1, rows=2000, features=12)
    assert wide.shape == (2000, 12)
    rest = noisy - 2.0 * wide[:, 1] * wide[:, 4] - wide[:, 2]
    assert rest.std() == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize("growth", [1.0, 4.0])
def test_the_optimum_puts_most_weight_on_the_true_products(growth: float) -> None:
    """At p = 1, degree 3 and penalty 1, on standardised training rows (60 %)."""
    keys = [
        key for d in range(4) for key in itertools.combinations_with_replacement(range(1, 9), d)
    ]
    price = np.array([growth ** len(key) for key in keys])
    found = 0
    for seed in range(10):
        X, y = synthetic.known_products(seed=seed)
        rows = np.random.default_rng(0).permutation(400)[:240]
        Z = (X[rows] - X[rows].mean(0)) / X[rows].std(0)
        Z /= np.sqrt((Z**2).sum(1).mean())
        phi = np.array([Z[:, [j - 1 for j in key]].prod(1) for key in keys]).T / np.sqrt(price)
        target = (y[rows] - y[rows].mean()) / y[rows].std()
        w = squared_lasso(phi, target)
        # theta_k is |w_k| over their sum.
        best = sorted(keys[k] for k in np.argsort(-np.abs(w))[:2])
        found += best == [(2, 5), (3,)]
    assert found >= 9


def squared_lasso(phi: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The w of min ||target - phi w||^2 / 2 + ||w||_1^2 / 2, to a certified gap."""
    w, rest, squares = np.zeros(phi.shape[1]), target.copy(), (phi**2).sum(0)
    for _ in range(500):
        for k in range(len(w)):
            others = np.abs(w).sum() - abs(w[k])
            pull = phi[:, k] @ rest + squares[k] * w[k]
            new = np.sign(pull) * max(abs(pull) - others, 0.0) / (squares[k] + 1.0)
            rest += (w[k] - new) * phi[:, k]
            w[k] = new
        upper = 0.5 * rest @ rest + 0.5 * np.abs(w).sum() ** 2
        price = rest @ rest + ((phi.T @ rest) ** 2).max()
        if upper - (rest @ target) ** 2 / (2.0 * price) <= 1e-7 * upper:
            return w
    raise AssertionError("no optimum in 500 sweeps")
