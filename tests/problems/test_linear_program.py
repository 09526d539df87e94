"""Algorithm 3: the linear program on the elastic-net set."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mkldash.problems.linear_program import maximise_linear
from mkldash.problems.reciprocals import gauge

vectors = st.lists(st.floats(0.0, 1e3), min_size=1, max_size=12).map(np.array)


@given(vectors, st.floats(0.0, 1.0), st.integers(0, 2**31))
def test_no_feasible_point_does_better(u, eta, seed):
    result = maximise_linear(u, eta)
    assert gauge(result.theta, eta) <= 1 + 1e-12
    assert result.theta.min() >= 0.0
    rng = np.random.default_rng(seed)
    for _ in range(20):
        point = rng.exponential(size=u.size) ** 3
        point /= gauge(point, eta)
        assert u @ point <= result.value * (1 + 1e-9) + 1e-300
    assert u @ result.theta == pytest.approx(result.value, rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("eta", [0.0, 0.1, 0.5, 0.9, 0.99, 0.999])
def test_agrees_with_a_conic_solver(eta):
    u = 10 ** np.random.default_rng(3).uniform(-4, 2, 15)
    u[4] = 0.0
    theta = cp.Variable(15, nonneg=True)
    inside = eta * cp.sum(theta) + (1 - eta) * cp.sum_squares(theta) <= 1
    reference = cp.Problem(cp.Maximize(u @ theta), [inside])
    reference.solve(solver=cp.CLARABEL)
    assert maximise_linear(u, eta).value == pytest.approx(reference.value, rel=1e-6)


def test_closed_forms_and_edges():
    u = np.array([1.0, 3.0, 2.0])
    np.testing.assert_allclose(maximise_linear(u, 0.0).theta, u / np.linalg.norm(u), rtol=1e-14)
    np.testing.assert_array_equal(maximise_linear(u, 1.0).theta, [0, 1, 0])
    nothing = maximise_linear(np.zeros(3), 0.5)
    assert nothing.value == 0.0
    assert not nothing.theta.any()
    one = maximise_linear(np.array([7.0]), 0.3)
    assert one.theta == pytest.approx([1.0])
    assert one.value == pytest.approx(7.0)
    np.testing.assert_array_equal(maximise_linear(np.array([-1e-18, 1.0]), 0.5).theta, [0, 1])


@pytest.mark.parametrize("eta", [1 - 1e-6, 1 - 1e-9, 1 - 1e-12])
def test_close_to_the_simplex_the_value_stays_right(eta):
    u = np.array([5.0, 4.999, 1.0, 0.1])
    value = maximise_linear(u, eta).value
    assert 5.0 <= value * (1 + 1e-12)
    assert value == pytest.approx(5.0, rel=2e-3 if eta < 0.9999 else 1e-5)


def test_pruning_only_grows_and_its_last_pass_finds_nothing():
    u = 10 ** np.random.default_rng(0).uniform(-4, 2, 40)
    result = maximise_linear(u, 0.9)
    assert result.passes > 1
    for before, after in zip(result.steps, result.steps[1:], strict=False):
        assert set(after.kept) == set(before.kept) - set(before.pruned)
    last = result.steps[-1]
    assert last.pruned.size == 0
    assert np.all(result.theta[list(set(range(40)) - set(last.kept))] == 0.0)
    # The pruned coordinates are those where the farthest point is negative.
    for step in result.steps:
        assert np.array_equal(step.pruned, step.kept[step.point[step.kept] < 0])


def test_just_below_one_the_largest_entry_stays():
    result = maximise_linear(np.array([1.0, 1.0]), 0.9999999999999999)
    assert result.value == pytest.approx(1.0, rel=1e-9)
    assert gauge(result.theta, 0.9999999999999999) <= 1 + 1e-12
