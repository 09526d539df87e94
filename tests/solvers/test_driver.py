"""The only loop, and why it ends."""

import dataclasses
import math
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from mkldash.errors import InputError
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers.base import WarmStart, new_cancel_flag
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import one_blas_thread, solve
from mkldash.solvers.shifted_svm import ShiftedSVM
from mkldash.solvers.stopping import Status, StopRule, StopWatch
from tests.recipes import golden_problem

SOLVER = BlockCoordinateDescent()


def test_converged_means_the_gap_is_below_the_tolerance():
    result = solve(SOLVER, golden_problem(), stop=StopRule(tol=1e-3))
    assert result.status is Status.CONVERGED
    assert 0 <= result.gap <= 1e-3
    assert result.gap == result.upper / result.lower - 1
    assert result.inner_solves == result.iterations + 1
    assert result.best.objective == result.upper


def test_iteration_limit_counts_from_iteration_zero():
    result = solve(SOLVER, golden_problem(), stop=StopRule(tol=1e-12, max_iter=4))
    assert result.status is Status.ITERATION_LIMIT
    assert result.iterations == 4
    start_only = solve(SOLVER, golden_problem(), stop=StopRule(max_iter=0))
    assert start_only.iterations == 0
    assert start_only.gap > 1


def test_time_limit_counts_the_solver_s_own_work():
    result = solve(SOLVER, golden_problem(), stop=StopRule(tol=1e-12, time_limit=1e-9))
    assert result.status is Status.TIME_LIMIT
    assert result.iterations == 0


def test_a_resumed_run_with_nothing_left_to_do_is_judged_by_its_gap():
    problem = dataclasses.replace(golden_problem(), weight_set=Fixed((0.0, 1.0, 0.0, 0.0)), rho=5.0)
    spent = solve(ShiftedSVM(), problem, stop=StopRule(tol=1e-18))
    assert spent.status is Status.STALLED
    assert list(ShiftedSVM().iterate(problem, spent.last)) == []
    again = solve(ShiftedSVM(), problem, start=spent.last, stop=StopRule(tol=1e-6))
    assert again.status is Status.CONVERGED
    assert again.last is spent.last
    still = solve(ShiftedSVM(), problem, start=spent.last, stop=StopRule(tol=1e-18))
    assert still.status is Status.STALLED
    flag = new_cancel_flag()
    flag[0] = 1
    stopped = solve(ShiftedSVM(), problem, start=spent.last, cancel=flag)
    assert stopped.status is Status.STOPPED


def hard_problem():
    """One SVM solve takes far longer than a second: linear kernel, no separation, huge C."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 5))
    y = np.sign(X[:, 0] + rng.standard_normal(1500))
    return Problem(precomputed_bank([X @ X.T / 1500]), y, Hinge(1e7))


def test_time_limit_cuts_an_inner_solve_short_and_certifies_what_there_is():  # S01
    begun = time.monotonic()
    result = solve(SOLVER, hard_problem(), stop=StopRule(tol=1e-9, time_limit=0.5))
    assert result.status is Status.TIME_LIMIT
    assert result.iterations == 0  # the first solve was under way
    assert time.monotonic() - begun < 5.0
    assert math.isfinite(result.upper)
    assert result.lower <= result.upper


def test_an_endless_time_limit_is_none():
    result = solve(SOLVER, golden_problem(), stop=StopRule(time_limit=math.inf))
    assert result.status is Status.CONVERGED


def test_cancel_during_the_first_solve_keeps_its_certified_point():  # U09
    problem, flag = hard_problem(), new_cancel_flag()
    timer = threading.Timer(0.5, lambda: flag.fill(1))
    timer.start()
    result = solve(SOLVER, problem, stop=StopRule(tol=1e-9), cancel=flag)
    timer.join()
    assert result.status is Status.STOPPED
    assert math.isfinite(result.upper)


def test_clock_stands_still_while_others_look():
    slow = solve(
        SOLVER,
        golden_problem(),
        stop=StopRule(tol=1e-12, max_iter=5),
        callbacks=[lambda snapshot: time.sleep(0.1)],
    )
    assert slow.seconds < 0.5  # six callbacks slept 0.6 s


def test_stalled_when_neither_bound_moves():
    result = solve(
        BlockCoordinateDescent(inner_tol=1e-2), golden_problem(), stop=StopRule(tol=1e-9)
    )
    assert result.status is Status.STALLED
    assert result.lower < 305.684692 < result.upper


def test_callback_and_cancel_stop_with_a_valid_partial_result():  # U09
    by_callback = solve(
        SOLVER, golden_problem(), stop=StopRule(tol=1e-9), callbacks=[lambda s: s.iteration == 3]
    )
    flag = new_cancel_flag()

    def set_flag(snapshot):
        flag[0] = snapshot.iteration == 3

    by_flag = solve(
        SOLVER, golden_problem(), stop=StopRule(tol=1e-9), cancel=flag, callbacks=[set_flag]
    )
    for result in (by_callback, by_flag):
        assert result.status is Status.STOPPED
        assert result.iterations == 3
        assert result.lower <= 305.684692 <= result.upper


def test_cancelled_before_the_first_iteration_says_so():
    with pytest.raises(RuntimeError, match="before its first"):
        solve(SOLVER, golden_problem(), cancel=np.ones(1, dtype=np.uint8))


def test_a_cancelled_run_never_shows_the_bounds_of_another_problem():
    other = solve(SOLVER, golden_problem(0.0), stop=StopRule(max_iter=2)).last
    with pytest.raises(RuntimeError, match="before its first"):
        solve(SOLVER, golden_problem(1.0), start=other, cancel=np.ones(1, dtype=np.uint8))


def test_resumed_runs_go_on_counting():
    first = solve(SOLVER, golden_problem(), stop=StopRule(tol=1e-12, max_iter=3))
    second = solve(SOLVER, golden_problem(), start=first.last, stop=StopRule(tol=1e-12, max_iter=7))
    whole = solve(SOLVER, golden_problem(), stop=StopRule(tol=1e-12, max_iter=7))
    assert (second.iterations, second.upper, second.lower) == (7, whole.upper, whole.lower)
    assert second.seconds > first.seconds


def test_a_value_that_is_not_finite_keeps_the_last_finite_point():
    @dataclasses.dataclass(frozen=True)
    class Breaks(BlockCoordinateDescent):
        def _iterate(self, problem, resume, warm, cancel):
            for snapshot in super()._iterate(problem, resume, warm, cancel):
                broken = snapshot.iteration == 2
                yield dataclasses.replace(snapshot, objective=math.nan) if broken else snapshot

    result = solve(Breaks(), golden_problem())
    assert result.status is Status.NOT_FINITE
    assert result.iterations == 1
    assert math.isfinite(result.upper)


def test_crossed_bounds_do_not_count_as_converged():
    snapshot = next(SOLVER.iterate(golden_problem()))
    crossed = dataclasses.replace(snapshot, lower=2 * snapshot.upper)
    assert StopWatch(StopRule(tol=1e-3)).check(crossed) is Status.NOT_FINITE


def test_every_status_has_a_sentence():
    assert all(status.sentence.endswith(".") for status in Status)


@pytest.mark.parametrize(
    "bad", [{"tol": 0.0}, {"tol": math.nan}, {"max_iter": -1}, {"time_limit": 0.0}]
)
def test_refuses_limits_without_meaning(bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        StopRule(**bad)


def test_a_start_of_another_size_is_ignored():
    start = WarmStart(weights=None, alpha=np.ones(7))
    cold = next(SOLVER.iterate(golden_problem()))
    assert next(SOLVER.iterate(golden_problem(), start)).upper == cold.upper


def test_one_thread_for_products_lasts_until_the_last_user_is_done():
    def threads():  # the most: some packages bring a library that has one only
        return max(i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas")

    before = threads()
    with threadpool_limits(2, user_api="blas"):
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert threads() == 1
        first.__exit__(None, None, None)
        assert threads() == 1
        second.__exit__(None, None, None)
        assert threads() == 2
    assert threads() == before
