"""Algorithm 2: bounds, monotonicity, closed forms, the rule of when to alternate."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mkldash.problems.reciprocals import (
    gauge,
    gauge_gradient,
    minimise_reciprocals,
)

ETAS = [0.0, 0.05, 0.25, 0.5, 0.9, 0.99, 1.0]


def positive_vectors(low: float = -6.0, high: float = 2.0):
    return st.lists(st.floats(low, high), min_size=1, max_size=12).map(
        lambda v: 10.0 ** np.array(v)
    )


@given(positive_vectors(), st.floats(0.0, 1.0))
def test_gauge_brings_a_point_onto_the_boundary(x, eta):
    theta = x / gauge(x, eta)
    assert eta * theta.sum() + (1 - eta) * theta @ theta == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("eta", ETAS)
def test_gauge_gradient_agrees_with_finite_differences(eta):
    x = np.random.default_rng(0).uniform(0.1, 2.0, 6)
    step = 1e-6
    slopes = [(gauge(x + step * e, eta) - gauge(x - step * e, eta)) / (2 * step) for e in np.eye(6)]
    gradient = gauge_gradient(x, eta)
    np.testing.assert_allclose(gradient, slopes, atol=1e-8)
    assert np.all((gradient > 0) & (gradient <= 1 + 1e-15))


@given(positive_vectors(), st.floats(0.0, 1.0))
def test_bounds_bracket_the_optimum_and_steps_never_rise(beta, eta):
    result = minimise_reciprocals(beta, eta, tol=1e-12)
    lower = [step.lower for step in result.steps]
    upper = np.array([step.upper for step in result.steps])
    assert max(lower) <= result.upper * (1 + 1e-12)
    assert np.all(np.diff(upper) <= 1e-10 * upper[:-1])
    assert result.upper <= (1 + 1e-11) * result.lower
    np.testing.assert_allclose((beta / result.theta).sum(), result.upper, rtol=1e-10)


@pytest.mark.parametrize("eta", [0.1, 0.25, 0.5, 0.75, 0.9, 0.99])
def test_agrees_with_a_conic_solver(eta):
    beta = 10 ** np.random.default_rng(5).uniform(-3, 2, 9)
    theta = cp.Variable(9)
    objective = cp.sum(cp.multiply(beta, cp.inv_pos(theta)))
    inside = eta * cp.sum(theta) + (1 - eta) * cp.sum_squares(theta) <= 1
    reference = cp.Problem(cp.Minimize(objective), [inside])
    reference.solve(solver=cp.CLARABEL)
    result = minimise_reciprocals(beta, eta, tol=1e-10)
    assert result.upper == pytest.approx(reference.value, rel=1e-6)
    assert result.lower <= reference.value * (1 + 1e-6)


def test_closed_forms_at_both_ends():
    beta = 10 ** np.random.default_rng(1).uniform(-3, 2, 20)
    lasso = minimise_reciprocals(beta, 1.0)
    np.testing.assert_allclose(lasso.theta, np.sqrt(beta) / np.sqrt(beta).sum(), rtol=1e-12)
    assert lasso.upper == pytest.approx(np.sqrt(beta).sum() ** 2, rel=1e-12)
    ball = minimise_reciprocals(beta, 0.0, tol=1e-12)
    root = np.cbrt(beta)
    np.testing.assert_allclose(ball.theta, root / np.linalg.norm(root), rtol=1e-9)
    assert ball.upper == pytest.approx((beta ** (2 / 3)).sum() ** 1.5, rel=1e-12)


def test_alternates_only_below_a_quarter():
    beta = 10 ** np.random.default_rng(2).uniform(-6, 0, 100)
    below = minimise_reciprocals(beta, 0.2)
    rules = [step.rule for step in below.steps]
    assert rules[:4] == ["start", "quadratic", "plane", "quadratic"]
    assert rules[-1] == "plane"  # only a plane step certifies
    at = minimise_reciprocals(beta, 0.25)
    assert {step.rule for step in at.steps} == {"start", "plane"}


@pytest.mark.parametrize(("eta", "most"), [(0.0, 2), (0.05, 6), (0.5, 4), (0.9, 3), (1.0, 1)])
def test_takes_as_few_steps_as_the_design_measured(eta, most):
    rng = np.random.default_rng(1)
    counts = [
        minimise_reciprocals(10 ** rng.uniform(-6, 0, 100), eta).iterations for _ in range(50)
    ]
    assert np.mean(counts) <= most + 0.5


@pytest.mark.parametrize("eta", ETAS)
def test_zero_and_underflowing_betas_get_zero_weight(eta):
    beta = np.array([1.0, 0.0, 2.0, 1e-320, 0.5])
    result = minimise_reciprocals(beta, eta, tol=1e-12)
    assert np.array_equal(result.theta == 0, [False, True, False, True, False])
    rest = minimise_reciprocals(beta[[0, 2, 4]], eta, tol=1e-12)
    np.testing.assert_allclose(result.theta[[0, 2, 4]], rest.theta, rtol=1e-9)
    nothing = minimise_reciprocals(np.zeros(3), eta)
    assert not nothing.theta.any()
    assert nothing.upper == 0.0


def test_warm_start_with_zeros_is_as_good_as_a_cold_one():
    beta = np.array([1.0, 3.0, 0.2])
    warm = minimise_reciprocals(beta, 0.3, start=np.array([1.0, 0.0, 0.5]), tol=1e-12)
    cold = minimise_reciprocals(beta, 0.3, tol=1e-12)
    np.testing.assert_allclose(warm.theta, cold.theta, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
def test_scale_of_beta_changes_only_the_objective(scale):
    beta = np.array([1.0, 4.0, 0.3])
    one, other = minimise_reciprocals(beta, 0.4), minimise_reciprocals(scale * beta, 0.4)
    np.testing.assert_allclose(one.theta, other.theta, rtol=1e-12)
    assert other.upper == pytest.approx(scale * one.upper, rel=1e-12)


def test_refuses_what_has_no_meaning():
    with pytest.raises(ValueError, match="eta must lie in"):
        minimise_reciprocals(np.ones(2), 1.5)
    with pytest.raises(ValueError, match="finite and not negative"):
        minimise_reciprocals(np.array([1.0, -1.0]), 0.5)
