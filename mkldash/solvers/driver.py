"""The only loop: runs a solver until its stop rule says so."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from mkldash.problems.certificates import relative_gap
from mkldash.problems.problem import Problem
from mkldash.solvers.base import (
    CANCELLED,
    TIME_IS_UP,
    Best,
    Origin,
    Snapshot,
    Solver,
    WarmStart,
    new_cancel_flag,
)
from mkldash.solvers.stopping import Status, StopRule, StopWatch

__all__ = ["Result", "one_blas_thread", "solve"]

Callback = Callable[[Snapshot], bool | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """What a run certified, and why it ended.

    Attributes
    ----------
    status : Status
    best : Best
        The point of least primal value; predictions use it.
    last : Snapshot
        The last snapshot; a run resumes from it.
    final : Snapshot
        The same with both bounds evaluated, which `upper`, `lower` and `best` are of.
    upper, lower, gap : float
        Certified bounds, and upper/lower - 1 (infinite while lower <= 0).
    iterations, inner_solves : int
    seconds : float
        The solver's own work.
    """

    status: Status
    best: Best
    last: Snapshot
    final: Snapshot
    upper: float
    lower: float
    iterations: int
    inner_solves: int
    seconds: float

    @property
    def gap(self) -> float:
        """Relative duality gap, upper/lower - 1."""
        return relative_gap(self.upper, self.lower)


def solve(
    solver: Solver,
    problem: Problem,
    *,
    start: Snapshot | WarmStart | None = None,
    stop: StopRule | None = None,
    cancel: NDArray[np.uint8] | None = None,
    callbacks: Sequence[Callback] = (),
) -> Result:
    """Run `solver` on `problem` until `stop`, `cancel` or a callback ends it.

    Parameters
    ----------
    solver : Solver
    problem : Problem
    start : Snapshot, WarmStart or None
        See `Solver.iterate`.
    stop : StopRule, optional
        Default: relative gap 1e-3, at most 500 iterations.
    cancel : array of uint8, shape (1,), optional
        Set it from another thread to stop.
    callbacks : sequence of callables
        Each gets every snapshot; one that returns True stops the run.  Time
        spent in them is not counted.

    Returns
    -------
    Result

    Raises
    ------
    UnsupportedProblemError
        When the solver cannot take the problem.
    RuntimeError
        When it was cancelled before its first snapshot.
    """
    with one_blas_thread():
        return _run(solver, problem, start, StopRule() if stop is None else stop, cancel, callbacks)


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """While it is open anywhere in this process, products of matrices take one thread each.

    Those of one iteration are small: a second thread gains a tenth when the machine is
    idle and stalls every product when it is not (measured: 20x).  And the last bits of a
    product depend on how many threads share it, so a run would not come again.
    """
    _ONE_THREAD.enter()
    try:
        yield
    finally:
        _ONE_THREAD.leave()


class _OneThread:
    """The limit is one of the process: the first who wants it sets it, the last lifts it.

    Each on its own would set back what it found, while another still computes.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before: contextlib.AbstractContextManager[object] | None = None

    def enter(self) -> None:
        with self._lock:
            if self._users == 0:
                self._before = _blas().limit(limits=1, user_api="blas")
                self._before.__enter__()
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._before is not None:
                self._before.__exit__(None, None, None)
                self._before = None


_ONE_THREAD = _OneThread()


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def _run(
    solver: Solver,
    problem: Problem,
    start: Snapshot | WarmStart | None,
    stop: StopRule,
    cancel: NDArray[np.uint8] | None,
    callbacks: Sequence[Callback],
) -> Result:
    """`solve`, with everything decided."""
    flag = new_cancel_flag() if cancel is None else cancel
    watch = StopWatch(stop)
    # A snapshot of another problem is only a warm start: its bounds mean nothing here.
    last: Snapshot | None = None
    if isinstance(start, Snapshot) and start.origin == Origin(solver.name, problem.key):
        last = start
    status: Status | None = None
    steps = solver.iterate(problem, start, flag)
    # A stand-in that waits for a person within `next` must not be timed from outside.
    paced = getattr(solver, "paced", False)
    while True:
        snapshot = _next(steps, flag, None if paced else _time_left(stop, last))
        if snapshot is None:
            break
        status = watch.check(snapshot)
        if status is None and flag[0] == TIME_IS_UP:
            status = Status.TIME_LIMIT
        if status is Status.NOT_FINITE and last is not None:
            break
        last = snapshot
        stopped = [callback(snapshot) for callback in callbacks]
        if status is None and any(stopped):
            status = Status.STOPPED
        if status is not None:
            break
    close = getattr(steps, "close", None)
    if close is not None:
        close()
    if last is None:
        raise RuntimeError("the run was cancelled before its first iteration")
    if status is None and last is start and flag[0] != CANCELLED:
        status = watch.check(last)  # resumed where nothing is left to do
    if status is None:
        status = Status.STOPPED if flag[0] == CANCELLED else Status.STALLED
    final = _finished(solver, problem, last) if status is not Status.NOT_FINITE else last
    if status in (Status.ITERATION_LIMIT, Status.TIME_LIMIT) and final.gap <= stop.tol:
        status = Status.CONVERGED
    return Result(
        status=status,
        best=final.best,
        last=last,
        final=final,
        upper=final.upper,
        lower=final.lower,
        iterations=last.iteration,
        inner_solves=final.inner_solves,
        seconds=final.elapsed,
    )


def _finished(solver: Solver, problem: Problem, last: Snapshot) -> Snapshot:
    """`last`, certified if it is not; a session's stand-in for a solver leaves that out."""
    finish = getattr(solver, "finish", None)
    if last.bounds_evaluated or finish is None:
        return last
    begun = time.perf_counter()
    final: Snapshot = finish(problem, last)
    return dataclasses.replace(final, elapsed=last.elapsed + time.perf_counter() - begun)


def _time_left(stop: StopRule, last: Snapshot | None) -> float | None:
    """Seconds of solver's work that the rule still allows; None without a limit."""
    if stop.time_limit is None:
        return None
    left = max(0.0, stop.time_limit - (0.0 if last is None else last.elapsed))
    return left if left < threading.TIMEOUT_MAX else None


def _next(
    steps: Iterator[Snapshot], flag: NDArray[np.uint8], seconds: float | None
) -> Snapshot | None:
    """The next snapshot; its inner solves are cut short when `seconds` are over."""
    if seconds is None:
        return next(steps, None)

    def time_is_up() -> None:
        if flag[0] == 0:
            flag[0] = TIME_IS_UP

    timer = threading.Timer(seconds, time_is_up)
    timer.daemon = True
    timer.start()
    try:
        return next(steps, None)
    finally:
        timer.cancel()
        timer.join()
