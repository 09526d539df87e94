"""The level method: the point it returns, a C far too large, and who solves its programs."""

import math

import numpy as np
import pytest

from mkldash.experiments.choices import Choices
from mkldash.experiments.workload import prepare
from mkldash.solvers import _cutting_planes
from mkldash.solvers._cutting_planes import Model
from mkldash.solvers._least_norm import FEW_STEPS, SOLVERS, LeastNorm, Shortest, by_daqp, by_piqp
from mkldash.solvers._one_kernel import OneKernel
from mkldash.solvers._recovery import recovered
from mkldash.solvers.accelerated_gradient import AcceleratedGradient
from mkldash.solvers.base import WarmStart
from mkldash.solvers.driver import solve
from mkldash.solvers.level import LevelMethod
from mkldash.solvers.shifted_svm import ShiftedSVM
from mkldash.solvers.stopping import Status, StopRule
from tests.solvers.level_runs import conic_optimum, corner, random_problem, same, snapshots


@pytest.mark.parametrize("seed", range(4))
def test_the_average_of_the_points_brings_its_product_along(seed):
    problem, _ = random_problem(seed)
    kernel = OneKernel.of(problem)
    for s in snapshots(problem, 12):
        for alpha, decision in recovered(kernel, s.cuts, s.multipliers):
            exact = kernel.decision(alpha)
            np.testing.assert_allclose(decision, exact, atol=1e-12 * (1 + np.abs(exact).max()))
            assert alpha.min() >= 0.0
            assert alpha.max() <= problem.loss.C
            assert abs(problem.y @ alpha) <= 1e-12 * alpha.sum()
            assert not alpha.flags.writeable
            assert not decision.flags.writeable


def test_a_large_C_recovers_a_point_without_losses():
    problem, _ = random_problem(3, C=1e4, rho=1.0)
    kernel = OneKernel.of(problem)
    last = snapshots(problem, 60)[-1]
    plain, scaled = recovered(kernel, last.cuts, last.multipliers)
    factor = scaled[0].sum() / plain[0].sum()
    assert 1.0 < factor < 1.01
    np.testing.assert_allclose(scaled[1], factor * plain[1])
    f = kernel.primal(*scaled)
    assert (problem.y * (f.decision + f.bias)).min() >= 1.0 - 1e-12
    assert kernel.primal(*scaled).objective < 0.99 * kernel.primal(*plain).objective


def test_the_best_point_is_about_as_good_as_the_models_bound():
    """Far better than any point of the iteration: those are corners of the cuts."""
    problem, K = random_problem(4, n=60, C=1.0, rho=10.0)
    found = snapshots(problem, 40)
    optimum = conic_optimum(problem, K)
    last = found[-1]
    steps = min(s.objective for s in found)
    assert last.upper - optimum <= 2.0 * (last.model_upper - optimum) + 1e-9 * optimum
    assert last.upper - optimum < 0.05 * (steps - optimum)
    again = problem.primal(last.best.weights.values, last.best.alpha)
    assert last.upper == pytest.approx(again.objective, rel=1e-12)
    assert last.best.bias == pytest.approx(again.bias, abs=1e-9)
    assert last.lower >= max(-s.least for s in found)


def test_a_run_ends_with_a_point_of_the_asked_gap():
    problem = liver()
    result = solve(LevelMethod(), problem, stop=StopRule(tol=1e-3))
    value = problem.primal(result.best.weights.values, result.best.alpha).objective
    assert result.status is Status.CONVERGED
    assert value / problem.dual(result.best.alpha).objective - 1.0 <= 2e-3
    assert value / result.lower - 1.0 <= 1e-3
    assert result.iterations <= 20


def liver(C=1.0, rho=100.0):
    return prepare(
        Choices(
            problem="neighborhood", data="liver", train_fraction=1.0, C=C, rho=rho, sigma_factor=4.0
        )
    ).problem


@pytest.mark.parametrize(("C", "rho"), [(1e5, 1e-8), (1e6, 1e-6), (1e6, 1e-12), (1e20, 1.0)])
def test_a_C_far_above_every_coefficient(C, rho):
    problem = liver(C, rho)
    result = solve(LevelMethod(), problem, stop=StopRule(tol=1e-4, max_iter=200))
    assert result.status is Status.CONVERGED
    # With the coefficients so far below, C does not matter.
    reference = solve(AcceleratedGradient(), liver(min(C, 1e3 * rho ** (1 / 3)), rho))
    assert result.lower <= reference.upper * (1 + 1e-9)
    assert result.upper >= reference.lower * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_box_holds_the_optimum(seed):
    problem, _ = random_problem(seed, C=100.0, rho=10.0 ** (seed - 3))
    kernel = OneKernel.of(problem)
    assert kernel.box < 0.1 * problem.loss.C or kernel.box == problem.loss.C
    result = solve(ShiftedSVM(), problem, stop=StopRule(tol=1e-8))
    assert result.best.alpha.max() < kernel.box
    assert result.best.alpha.max() > 0.01 * kernel.box


def test_the_box_is_the_papers_unless_it_is_far_too_large():
    kernels = [OneKernel.of(random_problem(0, n=64, C=1.0, rho=rho)[0]) for rho in (1e-3, 1.0)]
    assert kernels[0].box == pytest.approx((2e-3 * 8) ** (1 / 3)) or kernels[0].box == 1.0
    assert kernels[1].box == 1.0
    assert OneKernel.of(random_problem(0, C=1e6, rho=math.inf)[0]).box == 1e6


def test_a_warm_start_outside_the_box_is_moved_into_it():
    problem, _ = random_problem(5, C=1e3, rho=1e-2)
    box = OneKernel.of(problem).box
    assert box < 1.0
    first = snapshots(problem, 1, start=WarmStart(alpha=corner(problem)))[0]
    assert 0.0 < first.alpha.max() <= box
    result = solve(LevelMethod(), problem, start=WarmStart(alpha=corner(problem)))
    assert result.status is Status.CONVERGED
    assert result.lower <= result.best.objective


def test_bounds_far_beyond_any_step_do_not_overflow():
    ones = np.ones((1, 4)) / 2.0
    program = LeastNorm.of(np.vstack((ones, ones)), np.array([-1e-300]), -np.ones(4),
                           np.full(4, 1e77), 1e-300)  # fmt: skip
    assert program.high.max() == 1e30
    assert program.low.min() == -1e30
    assert program.most[0] == -1.0


def test_a_minimiser_above_the_level_is_gone_to_without_overflow():
    model = Model(np.array([[1e300, -1e300], [1.0, 1.0]]), np.zeros(2), np.array([1.0, -1.0]), 1.0)
    point, minimiser = np.array([0.5, 0.1]), np.array([0.5, 0.1])
    np.testing.assert_array_equal(model.towards(point, minimiser, -1.0), minimiser)


def program_of(problem, k):
    run = snapshots(problem, k, LevelMethod(drop_cuts=False))
    model = Model.of(run[-1].cuts, problem.y, problem.loss.C)
    return model.least_norm(run[-1].alpha, -run[-1].level)


def test_both_solvers_find_the_same_step():
    problem, _ = random_problem(2, n=60, C=0.1, rho=1e4)
    for k in (2, 6, 10):
        program = program_of(problem, k)
        one, other = by_daqp(program), by_piqp(program)
        assert one.optimal
        assert other.optimal
        np.testing.assert_allclose(one.x, other.x, atol=1e-6)
        np.testing.assert_array_equal(other.x, by_piqp(program).x)


def test_programs_of_many_active_bounds_go_to_the_interior_point_method(monkeypatch):
    problem, _ = random_problem(2, n=600, C=0.1, rho=1e6)
    asked = []

    def watched(solver, name):
        def solve(program):
            found = solver(program)
            asked.append((name, found.optimal))
            return found

        return solve

    names = ("few", "piqp", "all")
    watching = tuple(watched(s, name) for s, name in zip(SOLVERS, names, strict=True))
    monkeypatch.setattr(_cutting_planes, "SOLVERS", watching)
    whole = snapshots(problem, 10)
    assert ("few", True) in asked
    assert ("few", False) in asked
    assert ("piqp", True) in asked
    assert all(s.failures == 0 for s in whole)
    assert max(s.qp_iterations for s in whole) >= FEW_STEPS
    for one, other in zip(whole[5:], snapshots(problem, 5, start=whole[4]), strict=False):
        same(one, other)


def test_the_active_set_method_is_the_last_resort(monkeypatch):
    problem, K = random_problem(10, n=20, C=1.0, rho=10.0)
    nothing = Shortest(np.full(20, np.nan), 3, False)
    monkeypatch.setattr(_cutting_planes, "SOLVERS", (lambda program: nothing, by_daqp))
    result = solve(LevelMethod(), problem, stop=StopRule(tol=1e-6))
    assert result.status is Status.CONVERGED
    assert result.last.failures == 0
    assert result.last.qp_iterations > 3
    assert result.upper == pytest.approx(conic_optimum(problem, K), rel=2e-6)
