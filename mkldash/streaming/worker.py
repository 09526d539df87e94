"""The worker thread of a session: builds the job, solves, scores what is wanted."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.problem import Problem
from mkldash.solvers.base import Origin, Snapshot, Solver, WarmStart, new_cancel_flag
from mkldash.solvers.driver import Result, one_blas_thread, solve
from mkldash.streaming.control import Control, Wish
from mkldash.streaming.jobs import Building, Cancelled, Factory, Job
from mkldash.streaming.replay import Replay, close_steps
from mkldash.streaming.slots import ComputeSlots
from mkldash.streaming.trace import Trace

__all__ = ["Worker"]

_log = logging.getLogger(__name__)


class Worker:
    """Runs one job at the pace that a `Control` grants, into a `Trace`.

    Parameters
    ----------
    control : Control
    trace : Trace
    factory : callable
        Builds the job, in this thread.
    notify : callable
        Called when something changed.
    compute, build : ComputeSlots
        Turns taken with the other sessions of this process.
    """

    def __init__(
        self,
        control: Control,
        trace: Trace,
        factory: Factory,
        notify: Callable[[], None],
        compute: ComputeSlots,
        build: ComputeSlots,
    ) -> None:
        self._control = control
        self._trace = trace
        self._factory: Factory | None = factory
        self._notify = notify
        self._compute = compute
        self._build_slots = build
        self.job: Job | None = None
        self.building: Callable[[NDArray[np.uint8]], Building] = Building
        self.score_error: Exception | None = None

    def run(self) -> Result | None:
        """Build and solve.  None when it was cancelled before its first iteration.

        Raises
        ------
        BaseException
            Whatever the factory or the solver raises.
        """
        try:
            job = self._build()
            start = self._begin(job)
            # The driver and the start keep what they need; not the parent's trace.
            self.job = dataclasses.replace(job, start=None, history=None)
            self._notify()
            return solve(
                cast(Solver, _Paced(self, job.solver)),
                job.problem,
                start=start,
                stop=job.stop,
                cancel=self._control.cancel,
                callbacks=(self._record,),
            )
        except BaseException:
            if self._control.cancel[0] and not len(self._trace):
                return None
            raise

    def serve_until_closed(self) -> None:
        """After the run: answer wishes until the session is closed."""
        while (wish := self._control.next_task()) is not None:
            self.answer(wish)

    def steps(self, steps: Iterator[Snapshot]) -> Iterator[Snapshot]:
        """`steps`, each taken when there is credit, time and a slot; wishes between."""
        control = self._control
        try:
            while (wish := control.next_task()) is not None:
                if wish:
                    self.answer(wish)
                    continue
                ticket = control.begin_iteration(self._compute)
                if ticket is None:
                    continue
                try:
                    snapshot = next(steps, None)
                finally:
                    control.end_iteration(self._compute, ticket)
                if snapshot is None or control.closed:
                    return
                yield snapshot
        finally:
            close_steps(steps)

    def answer(self, wish: Wish) -> None:
        """Replay and score the wanted rows; a newer wish ends a replay."""
        newest = len(self._trace) - 1 if wish.newest and len(self._trace) else None
        for row in dict.fromkeys((wish.row, newest)):
            if row is None or (self._trace.peek(row) is not None and not self._needs_score(row)):
                continue
            try:
                with one_blas_thread():  # or a replay would differ in its last bits
                    self._show(row)
            except Exception as problem:
                self.score_error = problem
                _log.warning("row %d could not be shown: %s", row, problem)
            self._notify()

    # -- inside ----------------------------------------------------------------

    def _build(self) -> Job:
        factory, self._factory = self._factory, None
        assert factory is not None
        cancel = self._control.cancel
        ticket = self._control.take(self._build_slots, lambda: not cancel[0])
        if ticket is None:
            raise Cancelled
        try:
            building = self.building(cancel)
            job = factory(building)
            building.check()
            return job
        finally:
            self._build_slots.release(ticket)

    def _begin(self, job: Job) -> Snapshot | WarmStart | None:
        """Lay the beginning of the trace, and say what the solver starts from."""
        start = job.start
        if isinstance(start, Snapshot):
            if start.origin != Origin(job.solver.name, job.problem.key):
                # Bounds of another problem must not become those of a run that
                # is stopped before its first iteration.
                start = WarmStart(weights=start.weights, alpha=start.alpha)
            elif job.history is not None:
                self._trace.adopt(*job.history)
            else:
                self._trace.append(start)
        self._trace.set_replay(_replay(job.solver, job.problem))
        return start

    def _record(self, snapshot: Snapshot) -> None:
        if not self._control.closed:
            self._trace.append(snapshot)
            self._notify()

    def _needs_score(self, row: int) -> bool:
        job = self.job
        return job is not None and job.score is not None and not self._trace.has_values(row)

    def _show(self, row: int) -> None:
        """Bring back the state of `row`, then its values; a slot at a time."""
        control, cancel = self._control, new_cancel_flag()
        steps = self._trace.steps_to(row, cancel)
        snapshot: Snapshot | None = None
        try:
            while control.wish.row in (None, row):
                ticket = control.take(self._compute, lambda: not control.closed)
                if ticket is None:
                    return
                try:
                    following = next(steps, None)
                    if following is None:
                        if snapshot is not None and self._needs_score(row):
                            score = cast(Job, self.job).score
                            assert score is not None
                            self._trace.add_values(row, score(snapshot))
                        return
                    snapshot = following
                finally:
                    self._compute.release(ticket)
        finally:
            close_steps(steps)


class _Paced:
    """Stands in for a solver in `solve`: the same snapshots, at the worker's pace."""

    #: Time passes within `next` while a person thinks: not the solver's.
    paced = True

    def __init__(self, worker: Worker, solver: Solver) -> None:
        self._worker, self._solver = worker, solver
        self.name = solver.name

    def iterate(
        self,
        problem: Problem,
        start: Snapshot | WarmStart | None = None,
        cancel: NDArray[np.uint8] | None = None,
    ) -> Iterator[Snapshot]:
        return self._worker.steps(self._solver.iterate(problem, start, cancel))


def _replay(solver: Solver, problem: Problem) -> Replay:
    """A replay that holds the solver and the problem, and no session."""

    def replay(start: Snapshot, cancel: NDArray[np.uint8] | None) -> Iterator[Snapshot]:
        return solver.iterate(problem, start, cancel)

    return replay
