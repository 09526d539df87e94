"""The closed form on lp balls: against references, at the ends of P, and its guards."""

import dataclasses
import math

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers.base import WarmStart
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.lp_norm import LpNorm, lp_weights
from mkldash.solvers.stopping import Status, StopRule
from tests.contracts.test_solvers import conic_optimum, small_problem
from tests.recipes import GOLDEN, golden_data, golden_kernels, golden_problem

TIGHT = LpNorm(inner_tol=1e-10)
NORMS = (1.0, 1.1, 4.0 / 3.0, 2.0, 4.0, 20.0)


def golden_ball(P, C=100.0):
    _, y = golden_data()
    return Problem(precomputed_bank(golden_kernels()), y, Hinge(C), NormBall(P))


@pytest.mark.parametrize(("P", "eta"), [(1.0, 1.0), (2.0, 0.0)])
def test_golden_where_the_norm_is_an_elastic_net(P, eta):
    objective, theta = GOLDEN[eta]
    stop = StopRule(tol=1e-9, max_iter=5000)
    for problem in (golden_ball(P), golden_problem(eta)):
        result = solve(TIGHT, problem, stop=stop)
        assert result.upper == pytest.approx(objective, rel=1e-6)
        assert result.lower == pytest.approx(objective, rel=1e-6)
        np.testing.assert_allclose(result.best.weights.values, theta, atol=1e-4)
    theirs = solve(BlockCoordinateDescent(), golden_problem(eta), stop=StopRule(tol=1e-7))
    assert theirs.upper == pytest.approx(result.upper, rel=1e-6)


@pytest.mark.parametrize("P", [1.33, 2.0, 4.0])
def test_the_conic_solver_agrees(P):
    problem, kernels = small_problem(NormBall(P), 10.0)
    optimum = conic_optimum(kernels, problem)
    result = solve(TIGHT, problem, stop=StopRule(tol=1e-8, max_iter=2000))
    assert result.status is Status.CONVERGED
    assert result.upper == pytest.approx(optimum, rel=1e-6)
    assert result.lower == pytest.approx(optimum, rel=1e-6)


def test_larger_norms_cost_less_and_flatten_the_weights():
    results = [solve(TIGHT, golden_ball(P), stop=StopRule(tol=1e-7, max_iter=5000)) for P in NORMS]
    assert all(r.status is Status.CONVERGED for r in results)
    assert np.all(np.diff([r.upper for r in results]) < 0)
    smallest = [r.best.weights.values.min() for r in results]
    assert np.all(np.diff(smallest) > 0)


def test_the_box_takes_all_kernels_fully():
    result = solve(LpNorm(), golden_ball(math.inf), stop=StopRule(tol=1e-8, max_iter=50))
    assert result.status is Status.CONVERGED
    np.testing.assert_array_equal(result.best.weights.values, np.ones(4))
    nearly = solve(LpNorm(), golden_ball(1e12), stop=StopRule(tol=1e-8, max_iter=50))
    assert nearly.upper == pytest.approx(result.upper, rel=1e-6)


@pytest.mark.parametrize("P", NORMS)
def test_the_closed_form_is_the_minimiser(P):
    rng = np.random.default_rng(int(10 * P))
    theta, forms = rng.random(7) + 0.1, rng.exponential(size=7)
    squares = theta**2 * forms
    found = lp_weights(theta, forms, P)
    assert NormBall(P).constraint(found) == pytest.approx(1.0, abs=1e-12)
    # MATH 0.8: (sum ||f||^(2P/(P+1)))^((P+1)/P)
    least = (squares ** (P / (P + 1.0))).sum() ** ((P + 1.0) / P)
    assert (squares / found).sum() == pytest.approx(least, rel=1e-12)
    for _ in range(50):
        other = found * np.exp(0.1 * rng.standard_normal(7))
        other /= NormBall(P).constraint(other)
        assert (squares / other).sum() >= least * (1 - 1e-12)


def test_the_closed_form_without_overflow_or_division_by_zero():
    theta = np.array([1e-200, 0.5, 0.0, 0.3])
    forms = np.array([1e-150, 2.0, 3.0, 0.0])
    for P in (1.0, 2.0, 1e15):
        found = lp_weights(theta, forms, P)
        assert np.isfinite(found).all()
        assert NormBall(P).constraint(found) == pytest.approx(1.0)
        assert found[2] == found[3] == 0.0
    assert lp_weights(theta, forms, 2.0)[0] > 0.0  # theta^2 u is 1e-550
    np.testing.assert_array_equal(lp_weights(theta, forms, math.inf), np.ones(4))
    np.testing.assert_array_equal(lp_weights(theta, np.zeros(4), 2.0), np.zeros(4))


@pytest.mark.parametrize("P", [1.0, 1.0 + 1e-9, 1.01])
def test_near_one_kernels_without_weight_come_back(P):
    problem = golden_ball(P)
    first = solve(LpNorm(), problem, stop=StopRule(tol=1e-300, max_iter=1)).last
    # As if the weight of the best kernel had underflowed.
    weights = np.array([0.5, 0.0, 0.25, 0.25])
    start = dataclasses.replace(
        first, iterate=weights, weights=problem.bank.weights(weights), upper=math.inf
    )
    result = solve(LpNorm(), problem, start=start, stop=StopRule(tol=1e-5, max_iter=3000))
    assert result.status is Status.CONVERGED
    assert result.best.weights.values.argmax() == 1
    assert NormBall(P).constraint(result.best.weights.values) <= 1 + 1e-12


@pytest.mark.parametrize("C", [1e-6, 0.1, 1.0])
@pytest.mark.parametrize("P", [1.0, 2.0, 4.0])
def test_all_points_at_the_bound(P, C):
    _, y = golden_data()
    alignment = np.array([y @ K @ y for K in golden_kernels()])
    theta, value = NormBall(P).maximise(alignment)
    result = solve(LpNorm(), golden_ball(P, C), stop=StopRule(tol=1e-9, max_iter=100))
    assert result.status is Status.CONVERGED
    assert result.iterations <= 2
    assert result.upper == pytest.approx(C * (20 - 0.5 * C * value), rel=1e-9)
    np.testing.assert_allclose(result.best.weights.values, theta, atol=1e-6)


def test_a_kernel_without_effect_gets_no_weight():
    kernels = np.array([*golden_kernels(), np.zeros((20, 20))])
    kernels[4, 0, 0] = 1e-30
    problem = Problem(precomputed_bank(kernels), golden_data()[1], Hinge(100.0), NormBall(2.0))
    result = solve(TIGHT, problem, stop=StopRule(tol=1e-8, max_iter=2000))
    assert result.upper == pytest.approx(GOLDEN[0.0][0], rel=1e-6)


def test_one_class():
    problem = Problem(precomputed_bank(golden_kernels()), np.ones(20), Hinge(1.0), NormBall(2.0))
    steps = LpNorm().iterate(problem)
    seen = [next(steps) for _ in range(3)]
    assert [s.upper for s in seen] == [0.0, 0.0, 0.0]
    assert all(np.isfinite(s.weights.values).all() for s in seen)


def test_a_neighborhood_over_a_norm_ball():
    _, y = golden_data()
    bank = precomputed_bank(golden_kernels())
    result = solve(LpNorm(), Problem(bank, y, Hinge(10.0), NormBall(2.0), rho=5.0))
    theirs = solve(
        BlockCoordinateDescent(), Problem(bank, y, Hinge(10.0), ElasticNet(0.0), rho=5.0)
    )
    assert result.status is theirs.status is Status.CONVERGED
    assert result.lower <= theirs.upper
    assert theirs.lower <= result.upper


def test_the_set_is_named_where_it_is_the_wrong_one():
    bank, (_, y) = precomputed_bank(golden_kernels()), golden_data()
    solver = LpNorm()
    for weight_set in (NormBall(1.0), NormBall(math.inf), ElasticNet(0.0), ElasticNet(1.0)):
        assert solver.supports(Problem(bank, y, Hinge(1.0), weight_set)) is None
    reason = solver.supports(Problem(bank, y, Hinge(1.0), ElasticNet(0.25)))
    assert "weight norm P" in reason
    assert "not eta = 0.25" in reason
    assert "fixed" in solver.supports(Problem(bank, y, Hinge(1.0), Fixed((0.25,) * 4)))
    with pytest.raises(InputError, match="inner_tol"):
        LpNorm(inner_tol=-1.0)


def test_a_warm_start_from_elsewhere_is_pulled_onto_the_ball():
    problem = golden_ball(3.0)
    start = WarmStart(weights=problem.bank.weights(np.array([9.0, 0.0, 0.0, 9.0])))
    first = next(LpNorm().iterate(problem, start))
    assert NormBall(3.0).constraint(first.weights.values) == pytest.approx(1.0)
    assert (first.weights.values > 0).all()
