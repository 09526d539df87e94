"""Cutting planes over the kernel weights: counts, values, certificates, hard cases."""

import itertools
import math

import cvxpy as cp
import numpy as np
import pytest

from mkldash import ElasticNetMKLClassifier
from mkldash.errors import InputError
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.problems.weight_sets.simplex import Simplex
from mkldash.solvers import _cut_solver
from mkldash.solvers._cut_model import CutModel
from mkldash.solvers.base import WarmStart
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.cutting_plane import CuttingPlane
from mkldash.solvers.driver import solve
from mkldash.solvers.level_set import LevelSet
from mkldash.solvers.stopping import Status, StopRule
from tests.recipes import GOLDEN, golden_data, golden_kernels, golden_problem
from tests.solvers.cut_runs import differ, take, toy

EXACT = StopRule(tol=1e-8, max_iter=3000)
#: eta -> (SVM solves to a relative gap of 1e-4, optimum), by an independent conic solver.
COUNTS = {0.0: (5, 5.2258), 0.5: (8, 6.7523), 1.0: (26, 8.5444)}
BOTH = pytest.mark.parametrize("solver", [CuttingPlane(), LevelSet()], ids=["cut", "level"])


@pytest.mark.parametrize("eta", sorted(COUNTS))
def test_counts_are_those_of_a_general_conic_solver(eta):
    solves, value = COUNTS[eta]
    result = solve(CuttingPlane(inner_tol=1e-10), toy(eta), stop=StopRule(tol=1e-4))
    assert abs(result.last.inner_solves - solves) <= 1  # rounding may move it by one
    assert result.upper == pytest.approx(value, rel=1e-4)


@BOTH
@pytest.mark.parametrize("eta", [*sorted(GOLDEN), 1.0 - 1e-9])
def test_golden(solver, eta):
    result = solve(solver, golden_problem(eta), stop=EXACT)
    objective, theta = GOLDEN[1.0 if eta > 0.99 else eta]
    assert result.status is Status.CONVERGED
    assert result.upper == pytest.approx(objective, rel=1e-7)
    assert result.lower <= objective * (1 + 1e-8)
    np.testing.assert_allclose(result.best.weights.values, theta, atol=2e-3)


@BOTH
@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("C", "status"), [(1e-6, {Status.CONVERGED}), (1e6, set(Status))])
def test_tiny_and_huge_C(solver, eta, C, status):
    reference = solve(BlockCoordinateDescent(), golden_problem(eta, C), stop=StopRule(tol=1e-5))
    result = solve(solver, golden_problem(eta, C), stop=StopRule(tol=1e-6, max_iter=400))
    assert result.status in status
    assert result.upper == pytest.approx(reference.upper, rel=2e-5)
    assert result.lower <= reference.upper * (1 + 1e-6)
    assert result.gap < 1e-4


@BOTH
@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
def test_one_kernel_and_identical_kernels(solver, eta):
    K, y = golden_kernels()[1], golden_data()[1]
    one = solve(solver, Problem(precomputed_bank([K]), y, Hinge(1.0), ElasticNet(eta)), stop=EXACT)
    assert one.best.weights.values == pytest.approx([1.0])
    twins = Problem(precomputed_bank([K, K]), y, Hinge(1.0), ElasticNet(eta))
    two = solve(solver, twins, stop=EXACT)
    assert two.gap <= 1e-8
    if eta < 1.0:
        first, second = two.best.weights.values
        assert first == pytest.approx(second, abs=1e-6)
        assert two.upper < one.upper


@BOTH
def test_one_class_certifies_zero_at_once(solver):  # L03
    result = solve(solver, Problem(precomputed_bank(golden_kernels()), np.ones(20)))
    assert (result.upper, result.lower, result.gap, result.iterations) == (0.0, 0.0, 0.0, 0)
    assert len(take(solver, Problem(precomputed_bank(golden_kernels()), np.ones(20)), 3)) == 3


@BOTH
def test_the_ball_of_norm_one_is_the_simplex_and_of_two_the_ball(solver):
    for nu, eta in ((1.0, 1.0), (2.0, 0.0)):
        ball = solve(solver, toy(0.0, weight_set=NormBall(nu)), stop=StopRule(tol=1e-7))
        net = solve(solver, toy(eta), stop=StopRule(tol=1e-7))
        assert ball.upper == pytest.approx(net.upper, rel=2e-7)
    assert solver.supports(toy(0.0, weight_set=Simplex())) is None
    assert "exponent 1 (the simplex) or 2 (the ball), not of 3" in solver.supports(
        toy(0.0, weight_set=NormBall(3.0))
    )


@BOTH
def test_a_finite_rho_is_part_of_the_cuts(solver):
    reference = solve(BlockCoordinateDescent(), toy(0.5, rho=1.0), stop=StopRule(tol=1e-6))
    result = solve(solver, toy(0.5, rho=1.0), stop=StopRule(tol=1e-6))
    assert result.status is Status.CONVERGED
    assert result.upper == pytest.approx(reference.upper, rel=2e-6)


@BOTH
@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
def test_the_models_minimum_is_that_of_a_conic_solver(solver, eta):
    last = take(solver, toy(eta), 7)[-1]
    theta = cp.Variable(6, nonneg=True)
    height = cp.Variable()
    heights = [cut.intercept - 0.5 * cut.forms @ theta for cut in last.cuts]
    ball = eta * cp.sum(theta) + (1 - eta) * cp.sum_squares(theta) <= 1
    model = cp.Problem(cp.Minimize(height), [ball, *(height >= h for h in heights)])
    model.solve(solver=cp.CLARABEL)
    found = max(cut.value(last.minimiser) for cut in last.cuts)
    assert found == pytest.approx(model.value, rel=1e-7)
    assert last.model_lower == pytest.approx(found, rel=1e-10)
    assert last.lower >= last.model_lower
    assert ElasticNet(eta).constraint(last.minimiser) <= 1 + 1e-12
    assert last.multipliers.sum() == pytest.approx(1.0)


def test_the_next_weights_are_the_models_minimiser_and_every_cut_lies_below():
    run = take(CuttingPlane(inner_tol=1e-10), toy(1.0), 15)
    for last, now in itertools.pairwise(run):
        np.testing.assert_array_equal(now.weights.values, last.minimiser)
        assert now.n_cuts == len(now.cuts) == last.n_cuts + 1
        assert now.cuts[0] is run[0].cuts[0]  # shared, not copied
    for cut in run[-1].cuts:
        for s in run:
            assert cut.value(s.weights.values) <= s.objective * (1 + 1e-9)
    assert any("cut added where the primal value is no better" in s.events for s in run)


@BOTH
def test_resume_after_cuts_were_dropped(solver, monkeypatch):
    monkeypatch.setattr(_cut_solver, "_MANY_CUTS", 5)
    run = take(solver, toy(1.0, C=10.0), 25)
    dropped = [s for s in run if s.dropped]
    assert dropped
    assert any("inactive cuts dropped" in line for line in dropped[0].events)
    k = dropped[0].iteration
    again = take(solver, toy(1.0, C=10.0), 4, start=run[k])
    for one, other in zip(run[k + 1 :], again, strict=False):
        assert differ(one, other) == []
    assert solve(solver, toy(1.0, C=10.0), stop=StopRule(tol=1e-6)).status is Status.CONVERGED


@BOTH
def test_warm_start_from_another_eta(solver):
    first = solve(solver, golden_problem(1.0), stop=EXACT)
    start = WarmStart(weights=first.best.weights, alpha=first.best.alpha)
    result = solve(solver, golden_problem(0.2), start=start, stop=EXACT)
    assert result.upper == pytest.approx(GOLDEN[0.2][0], rel=1e-6)


def test_a_failed_program_is_said_and_its_bound_still_holds(monkeypatch):
    monkeypatch.setattr("mkldash.solvers._cut_model._MOST_STEPS", 3)
    run = take(CuttingPlane(), golden_problem(0.5), 8)
    assert any("conic program failed: off by" in line for s in run for line in s.events)
    assert all(s.lower <= GOLDEN[0.5][0] * (1 + 1e-8) for s in run)


def test_cuts_of_nothing_have_a_lowest_point():
    model = CutModel(np.zeros(2), np.zeros((2, 3)), ElasticNet(0.5), 1.0)
    lowest = model.lowest(np.full(3, 0.2))
    assert (lowest.bound, lowest.failed) == (0.0, False)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_refuses_useless_tolerances(value):
    with pytest.raises(InputError, match="inner_tol"):
        CuttingPlane(inner_tol=value)


def test_the_estimator_takes_it_by_name():
    X, y = golden_data()
    model = ElasticNetMKLClassifier(solver="cutting-plane", C=1.0, tol=1e-4).fit(X, y)
    assert model.status_ == "converged"
    assert model.gap_ <= 1e-4


def test_a_model_that_still_rises_below_zero_is_not_stalled():
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((9, 15))
    kernels = np.array([np.outer(v, v) for v in vectors])
    y = np.where(rng.standard_normal(15) > 0, 1.0, -1.0)
    problem = Problem(precomputed_bank(kernels), y, Hinge(1e4), ElasticNet(1.0))
    seen = []
    result = solve(
        CuttingPlane(), problem, stop=StopRule(tol=1e-3, max_iter=400), callbacks=[seen.append]
    )
    waiting = [s for s in seen if s.model_lower <= 0.0]
    assert len(waiting) > 20  # longer than the window after which bounds that rest mean stalled
    assert result.status is Status.CONVERGED
