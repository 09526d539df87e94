"""The projection onto {0 <= x <= C, y'x = 0}: cases, agreement, odd values, optimality."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkldash.errors import InputError
from mkldash.problems.projection import METHODS, breakpoints, imbalance, project

CASES = [
    ((3, 1), (1, -1), 10, (2, 2)),
    ((3, 1), (1, -1), 1.5, (1.5, 1.5)),
    ((-1, -2), (1, -1), 1, (0, 0)),
    ((5, 0.2, -1), (1, 1, -1), 1, (1, 0, 1)),
    ((2, 2, 3), (1, 1, -1), 10, (5 / 3, 5 / 3, 10 / 3)),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("v", "y", "C", "x"), CASES)
def test_s11_exact_values(v, y, C, x, method):
    np.testing.assert_allclose(project(v, y, C, method=method).x, x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_l03_one_class_projects_to_zero(method):
    for y in ((1, 1, 1), (-1, -1, -1)):
        found = project((1, 2, 3), y, 1.0, method=method)
        assert found.x.tolist() == [0.0, 0.0, 0.0]
        assert np.isfinite(found.shift)


@pytest.mark.parametrize("method", METHODS)
def test_where_h_is_flat_the_projection_is_still_unique(method):
    """MATH 2.5's correction of the paper: h is zero on all of [-9, -1] here."""
    v, y = np.array([0.0, 10.0]), np.array([1.0, -1.0])
    assert imbalance([-9.0, -5.0, -1.0], v, y, 1.0).tolist() == [0.0, 0.0, 0.0]
    found = project(v, y, 1.0, method=method)
    assert found.x.tolist() == [1.0, 1.0]
    assert -9.0 <= found.shift <= -1.0


def instance(seed):
    """Sizes and scales far apart; a third of them full of ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 80))
    scale, C = 10.0 ** rng.uniform(-12, 12), 10.0 ** rng.uniform(-8, 8)
    v = rng.standard_normal(n) * scale
    if seed % 3 == 0:
        v = np.round(v / scale * 2) * scale
    y = np.where(rng.random(n) < rng.random(), 1.0, -1.0)
    return v, y, C


@pytest.mark.parametrize("block", range(8))
def test_all_methods_agree_and_their_points_are_feasible(block):
    for seed in range(250 * block, 250 * (block + 1)):
        v, y, C = instance(seed)
        found = [project(v, y, C, method=method).x for method in METHODS]
        for x in found:
            np.testing.assert_allclose(x, found[0], rtol=0, atol=1e-12 * max(1, np.abs(v).max()))
            assert (x >= 0.0).all()
            assert (x <= C).all()
            assert abs(y @ x) <= 1e-13 * C * len(v)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.floats(1e-3, 1e3))
def test_no_feasible_point_is_nearer(seed, C):
    """The variational inequality (v - x)'(z - x) <= 0 at random feasible z."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 20))
    v, y = rng.standard_normal(n) * C, np.where(rng.random(n) < 0.5, 1.0, -1.0)
    x = project(v, y, C).x
    for _ in range(20):
        z = project(rng.standard_normal(n) * C * 3, y, C, method="sort").x
        assert (v - x) @ (z - x) <= 1e-9 * C * C * n


def test_against_a_quadratic_program():
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(3)
    for n in (5, 20, 60):
        v, y, C = 2 * rng.standard_normal(n), np.where(rng.random(n) < 0.5, 1.0, -1.0), 1.0
        x = cvxpy.Variable(n)
        program = cvxpy.Problem(
            cvxpy.Minimize(cvxpy.sum_squares(x - v)), [x >= 0, x <= C, y @ x == 0]
        )
        tightest = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-13)
        program.solve(solver="CLARABEL", **tightest)
        np.testing.assert_allclose(project(v, y, C).x, x.value, rtol=0, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_the_projection_of_a_feasible_point_is_itself(method):
    rng = np.random.default_rng(4)
    v, y = 2 * rng.standard_normal(200), np.where(rng.random(200) < 0.3, 1.0, -1.0)
    x = project(v, y, 1.0).x
    np.testing.assert_allclose(project(x, y, 1.0, method=method).x, x, rtol=0, atol=1e-14)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-12, 1e12, 1e300])
def test_huge_and_tiny_values(size, method):
    v, y = size * np.array([1.0, -2.0, 3.0, 0.5]), np.array([1.0, -1.0, -1.0, 1.0])
    for C in (1e-9, 1.0, 1e9):
        x = project(v, y, C, method=method).x
        assert np.isfinite(x).all()
        assert (x >= 0).all()
        assert (x <= C).all()
        assert abs(y @ x) <= 1e-13 * C


def test_h_falls_and_bends_at_its_breakpoints():
    rng = np.random.default_rng(5)
    v, y, C = rng.standard_normal(9), np.where(rng.random(9) < 0.5, 1.0, -1.0), 0.7
    bends = breakpoints(v, y, C)
    assert bends.shape == (18,)
    h = imbalance(bends, v, y, C)
    assert (np.diff(h) <= 1e-15).all()
    assert h[0] == pytest.approx(C * (y > 0).sum())
    assert h[-1] == pytest.approx(-C * (y < 0).sum())
    between = 0.5 * (bends[1:] + bends[:-1])
    np.testing.assert_allclose(imbalance(between, v, y, C), 0.5 * (h[1:] + h[:-1]), atol=1e-14)
    root = project(v, y, C).shift
    assert float(imbalance(root, v, y, C)) == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("v", "y", "C", "words"),
    [
        ((1.0, np.nan), (1, -1), 1.0, r"v\[1\] is nan"),
        ((-np.inf, 1.0), (1, -1), 1.0, r"v\[0\] is -inf"),
        ((1.0, 2.0), (1, 0), 1.0, "labels must be -1 or"),
        ((1.0, 2.0), (1, np.nan), 1.0, "labels must be -1 or"),
        ((1.0, 2.0), (1, -1, 1), 1.0, "equally long"),
        ((), (), 1.0, "equally long"),
        ((1.0, 2.0), (1, -1), 0.0, "C must be a positive number"),
        ((1.0, 2.0), (1, -1), np.inf, "C must be a positive number"),
    ],
)
def test_what_cannot_be_projected_is_refused(v, y, C, words, method):
    with pytest.raises(InputError, match=words):
        project(v, y, C, method=method)


def test_an_unknown_method_is_refused_by_name():
    with pytest.raises(InputError, match="newton, bisection, brent, sort"):
        project((1.0, 2.0), (1, -1), 1.0, method="magic")
