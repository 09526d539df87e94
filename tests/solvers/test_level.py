"""The level method: values, certified bounds at every step, cuts, resuming, failures."""

import itertools
import math

import cvxpy as cp
import numpy as np
import pytest

from mkldash.datasets.cards import load
from mkldash.errors import InputError
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.building import build_bank
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.projection import project
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers import _cutting_planes
from mkldash.solvers._cutting_planes import Cut, Model, least_linear
from mkldash.solvers._least_norm import Shortest, by_daqp
from mkldash.solvers._one_kernel import OneKernel
from mkldash.solvers.base import CANCELLED, TIME_IS_UP, WarmStart, new_cancel_flag
from mkldash.solvers.driver import solve
from mkldash.solvers.level import LevelMethod
from mkldash.solvers.stopping import Status, StopRule
from mkldash.streaming.encoding import decode, encode
from tests.solvers.level_runs import (
    conic_optimum,
    corner,
    problem_of,
    random_problem,
    same,
    snapshots,
    tangent,
)
from tests.solvers.test_shifted import S10, golden


@pytest.mark.parametrize(("rho", "value", "square"), S10)
def test_s10_values(rho, value, square):
    K, y = golden()
    result = solve(LevelMethod(), problem_of(K, y, 1.0, rho), stop=StopRule(tol=1e-8))
    assert result.status is Status.CONVERGED
    assert 2 * result.lower == pytest.approx(value, abs=1e-6)
    assert 2 * result.upper == pytest.approx(value, abs=1e-6)
    alpha = result.best.alpha
    assert alpha @ alpha == pytest.approx(square, abs=1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_bounds_hold_the_optimum_at_every_step_and_points_are_feasible(seed):
    rho = math.inf if seed == 0 else None
    problem, K = random_problem(seed, rho=rho)
    optimum = conic_optimum(problem, K)
    C, y = problem.loss.C, problem.y
    last = None
    for s in LevelMethod().iterate(problem):
        assert s.lower <= optimum * (1 + 1e-7)
        assert s.upper >= optimum * (1 - 1e-7)
        assert s.model_upper >= optimum * (1 - 1e-7)
        assert s.upper == s.best.objective
        assert s.alpha.min() >= 0.0
        assert s.alpha.max() <= C
        assert abs(y @ s.alpha) <= 1e-12 * C * y.size
        # 0 <= f - f* <= the model's gap, at the least value so far
        assert -1e-7 * optimum <= s.least + optimum <= s.model_gap + 1e-7 * optimum
        assert s.inner_solves == s.iteration + 1
        assert -s.level == pytest.approx(0.5 * (s.least + s.model_minimum), rel=1e-14)
        assert s.model_minimum == -s.model_upper <= s.least
        if last is not None:
            assert s.upper <= last.upper
            assert s.lower >= last.lower
            assert s.model_minimum >= last.model_minimum
        last = s
        if s.gap <= 1e-8:
            break
    assert last.gap <= 1e-8
    assert last.lower == pytest.approx(optimum, rel=1e-7)


@pytest.mark.parametrize("tau", [0.05, 0.3, 0.9])
def test_any_tau_gets_there(tau):
    problem, K = random_problem(11, n=24, C=1.0, rho=10.0)
    result = solve(LevelMethod(tau=tau), problem, stop=StopRule(tol=1e-6, max_iter=3000))
    assert result.status is Status.CONVERGED
    assert result.upper == pytest.approx(conic_optimum(problem, K), rel=2e-6)


def test_the_next_point_is_the_nearest_one_below_the_level():
    """Against clarabel: argmin ||a - a_i||^2 over the level set."""
    problem, _ = random_problem(4, n=40, C=1.0, rho=10.0)
    run = snapshots(problem, 15)
    for now, following in itertools.pairwise(run):
        a = cp.Variable(problem.n_rows)
        constraints = [a >= 0, a <= 1.0, problem.y @ a == 0]
        constraints += [c.value + c.gradient @ (a - c.alpha) <= -now.level for c in now.cuts]
        step = cp.sum_squares(a - now.alpha)
        cp.Problem(cp.Minimize(step), constraints).solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9
        )
        length = np.linalg.norm(following.alpha - now.alpha)
        np.testing.assert_allclose(following.alpha, a.value, atol=1e-4 * length + 1e-8)
        assert length > 0.0


def test_dropping_forgets_inactive_cuts_and_keeps_the_bounds():
    problem, K = random_problem(5, n=40, C=1.0, rho=10.0)
    optimum = conic_optimum(problem, K)
    whole = snapshots(problem, 60, LevelMethod(drop_cuts=False))
    assert all(s.dropped == 0 for s in whole)
    assert [len(s.cuts) for s in whole] == list(range(1, 61))
    dropping = snapshots(problem, 60)
    assert sum(s.dropped for s in dropping) > 10
    for last, s in itertools.pairwise(dropping):
        assert len(s.cuts) == len(last.cuts) + 1 - s.dropped
        assert s.cuts[-1].iteration == s.iteration
        assert s.lower <= optimum * (1 + 1e-7)
        assert s.model_upper >= optimum * (1 - 1e-7)
        if s.dropped:
            assert s.model_gap <= 0.5 * last.halving_gap
            assert s.halving_gap == pytest.approx(s.model_gap, rel=1e-12)
            # What stays has the same minimum, and knows the least value.
            kept = Model.of(s.cuts, problem.y, 1.0)
            assert kept.bound(kept.minimise().multipliers) == pytest.approx(
                s.model_minimum, rel=1e-9
            )
            assert s.least == min(cut.value for cut in (*last.cuts, s.cuts[-1]))
            assert f"{s.dropped} of" in s.events[-1]
        else:
            assert not any("dropped" in event for event in s.events)


def test_cuts_are_tangents_and_shared():
    problem, _K = random_problem(6, C=1.0, rho=10.0)
    found = snapshots(problem, 12)
    for last, s in itertools.pairwise(found):
        ids = {id(cut) for cut in last.cuts}
        assert all(id(cut) in ids for cut in s.cuts[:-1])
        assert s.cuts[-1].alpha is s.alpha
        assert s.cuts[-1].value == pytest.approx(-problem.dual(s.alpha).objective, rel=1e-12)
    rng = np.random.default_rng(0)
    cut = found[-1].cuts[-1]
    with pytest.raises(ValueError, match="read-only"):
        cut.gradient[0] = 1.0
    direction = rng.standard_normal(problem.n_rows)

    def f(alpha):
        return -problem.dual(alpha).objective

    slope = (f(cut.alpha + 1e-5 * direction) - f(cut.alpha - 1e-5 * direction)) / 2e-5
    assert cut.gradient @ direction == pytest.approx(slope, rel=1e-6)
    for _ in range(20):
        other = project(rng.random(problem.n_rows), problem.y, 1.0).x
        assert cut.value + cut.gradient @ (other - cut.alpha) <= f(other) + 1e-12


@pytest.mark.parametrize("k", [0, 3, 17, 30])
def test_resume_is_exact(k):
    problem, _ = random_problem(7, C=1.0, rho=10.0)
    whole = snapshots(problem, 40)
    stored = decode(encode(whole[k]))
    for start in (whole[k], stored):
        again = snapshots(problem, 39 - k, start=start)
        assert again[0].iteration == k + 1
        for one, other in zip(whole[k + 1 :], again, strict=True):
            same(one, other)


def test_a_trace_stores_each_cut_once():
    problem, _ = random_problem(7, C=1.0, rho=10.0)
    kept = decode(encode(tuple(snapshots(problem, 10))))
    assert kept[9].cuts[0] is kept[8].cuts[0] or kept[9].dropped
    assert len({id(cut) for s in kept for cut in s.cuts}) == 10


def test_warm_start_from_another_problem_counts_one_evaluation():
    problem, K = random_problem(8, C=1.0, rho=10.0)
    other = problem_of(K, problem.y, 0.5, 3.0)
    warm = snapshots(other, 1, start=snapshots(problem, 20)[-1])[0]
    assert (warm.iteration, warm.inner_solves, len(warm.cuts)) == (0, 1, 1)
    assert warm.alpha.max() <= 0.5
    assert warm.alpha.any()
    optimum = conic_optimum(other, K)
    assert warm.lower <= optimum <= warm.upper
    shape = WarmStart(alpha=np.ones(3))
    assert not snapshots(other, 1, start=shape)[0].alpha.any()


def test_the_bound_holds_for_any_multipliers():
    problem, K = random_problem(9, C=1.0, rho=10.0)
    cuts = snapshots(problem, 12, LevelMethod(drop_cuts=False))[-1].cuts
    model = Model.of(cuts, problem.y, 1.0)
    found = model.minimise()
    best = model.bound(found.multipliers)
    assert model.values(found.point).max() == pytest.approx(best, rel=1e-9)
    optimum = conic_optimum(problem, K)
    rng = np.random.default_rng(1)
    for _ in range(50):
        rough = rng.dirichlet(np.ones(len(cuts)))
        assert model.bound(rough) <= best + 1e-12 * abs(best)
    assert best <= -optimum * (1 - 1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_least_linear_is_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    slope, y = rng.standard_normal(20), np.where(rng.random(20) < 0.3, 1.0, -1.0)
    a = cp.Variable(20)
    program = cp.Problem(cp.Minimize(slope @ a), [a >= 0, a <= 2.0, y @ a == 0])
    program.solve(solver=cp.CLARABEL)
    assert least_linear(slope, y, 2.0) == pytest.approx(program.value, abs=1e-6)


def test_it_ends_by_itself_at_rounding():
    K, y = golden()
    found = snapshots(problem_of(K, y, 1.0, 1.0), 1000)
    assert len(found) < 500
    assert found[-1].gap <= 1e-10


def test_one_class_has_one_feasible_point():
    found = snapshots(problem_of(np.eye(5), np.ones(5), 1.0, 10.0), 10)
    assert len(found) == 1
    assert (found[0].upper, found[0].lower, found[0].gap) == (0.0, 0.0, 0.0)
    assert not found[0].alpha.any()


@pytest.mark.parametrize("optimal", [False, True])
def test_a_quadratic_program_that_fails_is_survived(monkeypatch, optimal):
    """Nonsense for an answer: the method goes on towards the model's minimiser."""
    problem, K = random_problem(10, n=20, C=1.0, rho=10.0)
    answer = Shortest(np.full(20, np.nan), 7, optimal)
    monkeypatch.setattr(_cutting_planes, "SOLVERS", (lambda program: answer,))
    result = solve(LevelMethod(), problem, stop=StopRule(tol=1e-3, max_iter=2000))
    assert result.status is Status.CONVERGED
    assert result.upper == pytest.approx(conic_optimum(problem, K), rel=2e-3)
    assert "quadratic program inexact" in result.last.events[0]
    assert result.last.failures == result.iterations


def test_an_inexact_answer_is_moved_below_the_level(monkeypatch):
    """Answers that stop at 90 % of the way, and do not know it."""
    problem, K = random_problem(10, n=20, C=1.0, rho=10.0)

    def short(program):
        found = by_daqp(program)
        return Shortest(0.9 * found.x, found.iterations, True)

    monkeypatch.setattr(_cutting_planes, "SOLVERS", (short,))
    found = snapshots(problem, 30)
    for last, s in itertools.pairwise(found):
        model = Model.of(last.cuts, problem.y, 1.0)
        assert model.values(s.alpha).max() <= -last.level + 1e-9
        assert abs(problem.y @ s.alpha) <= 1e-12
        assert s.failures == last.failures + 1
    result = solve(LevelMethod(), problem, stop=StopRule(tol=1e-6))
    assert result.status is Status.CONVERGED
    assert result.upper == pytest.approx(conic_optimum(problem, K), rel=2e-6)


def test_slopes_of_very_different_sizes():
    """The second tangent, far outside, is many powers of ten steeper than the first."""
    problem, _ = random_problem(12, n=16, C=1000.0, rho=0.05)
    kernel = OneKernel.of(problem)
    cuts = [tangent(kernel, np.zeros(16)), tangent(kernel, corner(problem))]
    model = Model.of(cuts, problem.y, 1000.0)
    steepness = np.abs(model.gradients).max(axis=1)
    assert steepness[1] > 1e9 * steepness[0]
    shares = np.logspace(-14, 0, 3000)
    best = max(model.bound(np.array([1.0 - share, share])) for share in shares)
    assert model.bound(model.minimise().multipliers) >= best * (1 + 1e-9)


def test_a_linear_program_that_fails_leaves_valid_bounds(monkeypatch):
    problem, K = random_problem(10, n=20, C=1.0, rho=10.0)
    optimum = conic_optimum(problem, K)
    monkeypatch.setattr(Model, "minimise", lambda self: None)
    found = snapshots(problem, 60)
    for s in found:
        assert "linear program failed" in s.events[-1]
        assert s.model_upper >= optimum * (1 - 1e-7)
        assert s.lower <= optimum * (1 + 1e-7) <= s.upper * (1 + 2e-7)
        assert s.dropped == 0 or s.cuts[-1].iteration == s.iteration


def test_with_both_programs_failing_it_ends(monkeypatch):
    problem, _ = random_problem(10, n=20, C=1.0, rho=10.0)
    monkeypatch.setattr(Model, "minimise", lambda self: None)
    answer = Shortest(np.full(20, np.nan), 0, False)
    monkeypatch.setattr(_cutting_planes, "SOLVERS", (lambda program: answer,))
    assert len(snapshots(problem, 1000)) == 1


def test_a_solver_without_progress_ends(monkeypatch):
    """A quadratic program that always answers with the same far point."""
    problem, _ = random_problem(10, n=20, C=1.0, rho=10.0)
    turn = iter(range(10**6))

    def far(program):
        return Shortest((program.high if next(turn) % 2 else program.low) * 0.9, 1, True)

    monkeypatch.setattr(_cutting_planes, "SOLVERS", (far,))
    monkeypatch.setattr(Model, "minimise", lambda self: None)
    assert len(snapshots(problem, 1000)) < 100


def test_cancel_and_time():
    problem, K = random_problem(2, C=1.0, rho=10.0)
    flag = new_cancel_flag()
    steps = LevelMethod().iterate(problem, cancel=flag)
    for _ in range(5):
        last = next(steps)
    flag[0] = TIME_IS_UP
    hurried = next(steps)
    assert hurried.iteration == last.iteration + 1
    assert hurried.lp_iterations == 0
    assert not hurried.events
    assert hurried.lower <= conic_optimum(problem, K) * (1 + 1e-7)
    assert hurried.model_upper <= last.model_upper
    flag[0] = CANCELLED
    assert next(steps, None) is None
    result = solve(LevelMethod(), problem, stop=StopRule(tol=1e-12, time_limit=1e-6))
    assert result.status is Status.TIME_LIMIT


def test_storage_that_is_not_exact_has_no_model_bound():
    data = load("golden")
    terms = [KernelTerm(Gaussian(2.0), tuple(range(data.X.shape[1])), "all")]
    problems = [
        Problem(build_bank(data.X, terms, storage=storage, residual=1e-3), data.y, Hinge(1.0),
                Fixed((1.0,)), 10.0)
        for storage in ("dense", "factored")
    ]  # fmt: skip
    assert problems[1].bank.residuals.any()
    optimum = solve(LevelMethod(), problems[0], stop=StopRule(tol=1e-8)).lower
    assert snapshots(problems[0], 1)[0].model_upper < math.inf
    for s in snapshots(problems[1], 40):
        assert s.model_upper == math.inf
        assert s.upper == s.best.objective
        assert s.lower <= optimum <= s.upper


def test_a_fixed_sum_of_kernels():
    rng = np.random.default_rng(3)
    factors = rng.standard_normal((2, 25, 6))
    stack = factors @ factors.transpose(0, 2, 1)
    y = np.where(rng.random(25) < 0.5, 1.0, -1.0)
    problem = Problem(precomputed_bank(stack), y, Hinge(0.5), Fixed((0.3, 0.7)), 5.0)
    result = solve(LevelMethod(), problem, stop=StopRule(tol=1e-7))
    K = 0.3 * stack[0] + 0.7 * stack[1] + 1e-12 * np.eye(25)
    assert result.status is Status.CONVERGED
    assert result.lower == pytest.approx(conic_optimum(problem, K), rel=1e-6)


@pytest.mark.parametrize("tau", [0.0, 1.0, math.nan, -1.0])
def test_tau_outside_is_refused(tau):
    with pytest.raises(InputError, match="tau"):
        LevelMethod(tau=tau)


def test_a_cut_copies_what_could_still_change():
    alpha = np.ones(2)
    cut = Cut(iteration=0, alpha=alpha, value=3.0, gradient=np.array([1.0, 2.0]))
    alpha[0] = 9.0
    assert cut.intercept == 0.0
