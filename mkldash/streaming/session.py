"""One run of a solver in one worker thread, at the pace of whoever watches."""

from __future__ import annotations

import dataclasses
import enum
import logging
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.problem import Problem
from mkldash.solvers.base import Snapshot, Solver, WarmStart
from mkldash.solvers.driver import Result
from mkldash.solvers.stopping import Status, StopRule
from mkldash.streaming.control import UNLIMITED, Control, checked_rate
from mkldash.streaming.jobs import Building, Factory, Job, Score
from mkldash.streaming.slots import ComputeSlots
from mkldash.streaming.trace import DEFAULT_BUDGET, Trace
from mkldash.streaming.worker import Worker

__all__ = ["BUILD_SLOTS", "COMPUTE_SLOTS", "Session", "State"]

_log = logging.getLogger(__name__)

#: Iterations, replays and scores of all sessions of this process take turns here.
#: Never held while paused or while waiting for the rate cap.  Two: while one is in compiled
#: code, the other gets the interpreter.
COMPUTE_SLOTS = ComputeSlots(2)

#: Factories (building kernels) take turns of their own: one that needs a minute
#: must not hold up the iterations of other people.
BUILD_SLOTS = ComputeSlots(2)


class State(enum.Enum):
    """What a session is doing."""

    IDLE = "idle"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"
    CLOSED = "closed"


class Session:
    """Runs `solve` in one daemon thread and records it in a `Trace`.

    The worker waits for credit before each iteration: `play` grants unlimited
    credit, `step` a number of iterations, `pause` none; `stop` cancels and
    keeps the partial result; `close` cancels and ends the worker.  Commands
    return at once and may come from any thread.  After the run the worker
    stays to answer `want` until `close`, so every session must be closed.

    Parameters
    ----------
    solver, problem : Solver, Problem
        Or give a `factory`.
    start : Snapshot, WarmStart or None
        See `Solver.iterate`; the trace of a resumed run begins with `start`.
    stop : StopRule, optional
    score : callable, optional
        From a snapshot to floats and arrays by name (test accuracy, decision
        values on a grid).  The worker computes it for wanted rows only, with the
        solver's clock stopped, and adds the values to the trace.
    max_rate : float or None
        Iterations per second at most.
    factory : callable, optional
        ``factory(building) -> Job``, called in the worker; see `Building`.
    parameters : object
        A label of what was asked for; shown with every result of this session.
    on_change : callable, optional
        Called without arguments from the worker, or from the thread that gives
        a command, when something changed.  Must be cheap.
    budget : int
        Bytes of full states that the trace keeps.

    Attributes
    ----------
    trace : Trace
    status : Status or None
        Why the run ended; None before, and after a failure.
    result : Result or None
        None also when the run was stopped before its first iteration.
    error : BaseException or None
        What the factory or the solver raised.
    """

    def __init__(
        self,
        solver: Solver | None = None,
        problem: Problem | None = None,
        start: Snapshot | WarmStart | None = None,
        stop: StopRule | None = None,
        score: Score | None = None,
        max_rate: float | None = None,
        *,
        factory: Factory | None = None,
        parameters: object = None,
        on_change: Callable[[], None] | None = None,
        budget: int = DEFAULT_BUDGET,
    ) -> None:
        if factory is None:
            if solver is None or problem is None:
                raise TypeError("a session needs a solver and a problem, or a factory")
            job = Job(
                solver=solver,
                problem=problem,
                start=start,
                stop=StopRule() if stop is None else stop,
                score=score,
            )
            factory = lambda building: job  # noqa: E731
        self.trace = Trace(budget=budget)
        self.parameters = parameters
        self.status: Status | None = None
        self.result: Result | None = None
        self.error: BaseException | None = None
        self._on_change = on_change
        self._on_end: Callable[[Session], None] | None = None
        self._held = False  # True: a Runner says when the thread may begin
        self._thread: threading.Thread | None = None
        self._control = Control(max_rate)
        self._worker = Worker(
            self._control, self.trace, factory, self._notify, COMPUTE_SLOTS, BUILD_SLOTS
        )

    # -- what it is doing ------------------------------------------------------

    @property
    def state(self) -> State:
        """The state now; running until an iteration under way is recorded."""
        control = self._control
        if control.closed:
            return State.CLOSED
        if self.error is not None:
            return State.FAILED
        if control.ended:
            return State.FINISHED
        if self._thread is None:
            return State.IDLE
        return State.RUNNING if control.credit > 0 or control.iterating else State.PAUSED

    @property
    def playing(self) -> bool:
        """Whether it runs on without further steps (also while it waits to begin)."""
        control = self._control
        return control.credit == UNLIMITED and not (control.ended or control.closed)

    @property
    def building(self) -> bool:
        """Whether the worker has begun and the factory is not done yet."""
        return self._thread is not None and self.job is None and not self._control.ended

    @property
    def job(self) -> Job | None:
        """What is run; None until the factory has built it."""
        return self._worker.job

    @property
    def score_error(self) -> Exception | None:
        """What the score or a replay last raised; the run goes on without it."""
        return self._worker.score_error

    @property
    def max_rate(self) -> float | None:
        """Iterations per second at most, or None; may be set at any time."""
        return self._control.max_rate

    @max_rate.setter
    def max_rate(self, rate: float | None) -> None:
        self._control.max_rate = checked_rate(rate)
        self._control.wake()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the worker rests: paused, ended or closed, nothing wanted.

        Not for an event loop.

        Returns
        -------
        bool
            False when `timeout` (seconds) came first.
        """
        with self._control.cond:
            return self._control.cond.wait_for(self._control.at_rest, timeout)

    # -- commands --------------------------------------------------------------

    def play(self) -> None:
        """Run on.  Does nothing once the run has ended.

        Raises
        ------
        RuntimeError
            When the session is closed; `step` and `prepare` too.
        """
        self._grant(lambda credit: UNLIMITED)

    def step(self, n: int = 1) -> None:
        """Run `n` iterations more, then pause; while playing, `n` more from here."""
        if n < 1:
            raise ValueError(f"step needs a positive number of iterations, not {n!r}")
        self._grant(lambda credit: (0.0 if credit == UNLIMITED else credit) + n)

    def prepare(self) -> None:
        """Begin without credit: build the job, then wait for `play` or `step`."""
        self._grant(lambda credit: credit)

    def pause(self) -> None:
        """Take all credit back; an iteration under way is completed and recorded."""
        with self._control.cond:
            self._control.credit = 0.0
            self._control.cond.notify_all()
        self._notify()

    def stop(self) -> None:
        """Cancel the run; the partial result stays, with status stopped."""
        control = self._control
        with control.cond:
            if control.ended:
                return
            control.cancel[0] = 1
            if self._thread is None:
                control.ended, control.busy, self.status = True, False, Status.STOPPED
            control.cond.notify_all()
        self._notify()

    def close(self, *, wait: bool = True, timeout: float | None = 10.0) -> None:
        """Cancel the run, end the worker, let go of the listener.

        The trace, status and result stay readable; no row is added any more.

        Parameters
        ----------
        wait : bool
            Join the worker for at most `timeout` seconds.  It ends at once
            unless an iteration or a score under way does not look at its cancel flag.
        """
        control = self._control
        with control.cond:
            control.closed = True
            control.cancel[0] = 1
            self._on_change = None
            control.cond.notify_all()
        thread = self._thread
        if wait and thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def want(self, k: int | None = None) -> None:
        """Ask for the state and values of row `k`, or (None) of the newest row.

        The latest wish wins.  Between two iterations, or while paused or after
        the run, the worker replays the state if it was dropped, computes the
        score if it is missing, and calls the listener.

        Raises
        ------
        IndexError
            When there is no row `k`.
        """
        row = None if k is None else range(len(self.trace))[k]
        with self._control.cond:
            if self._control.closed or self._thread is None:
                return
            if row is None:
                self._control.wish.newest = True
            else:
                self._control.wish.row = row
            self._control.cond.notify_all()

    def branch(
        self,
        k: int,
        solver: Solver | None = None,
        problem: Problem | None = None,
        stop: StopRule | None = None,
        *,
        score: Score | None = None,
        parameters: object = None,
        on_change: Callable[[], None] | None = None,
        play: bool = True,
    ) -> Session:
        """A new session that starts from row `k` of this one.

        With the same algorithm and problem it resumes, and its trace begins with
        rows 0 to `k` of this one.  Otherwise the start is warm: weights and alpha
        of row `k` only, and bounds of its own.  What is not given is as here.

        Raises
        ------
        IndexError
            When there is no row `k`.
        """
        changed = {"solver": solver, "problem": problem, "stop": stop, "score": score}
        child = Session(
            factory=self.branch_factory(k, **changed),
            max_rate=self.max_rate,
            parameters=self.parameters if parameters is None else parameters,
            on_change=on_change,
            budget=self.trace.budget,
        )
        if play:
            child.play()
        return child

    def branch_factory(self, k: int, **changes: object) -> Factory:
        """What `branch` runs, for a `Runner`: `changes` are fields of `Job`, or None."""
        row, job, trace = range(len(self.trace))[k], self.job, self.trace
        assert job is not None  # a row is there, so the job is
        given: dict[str, Any] = {
            name: value for name, value in changes.items() if value is not None
        }

        def factory(building: Building) -> Job:
            start: Snapshot | None = None
            for start in trace.steps_to(row, building.cancel):  # noqa: B007
                building.check()
            return dataclasses.replace(job, start=start, history=(trace, row), **given)

        return factory

    # -- inside ----------------------------------------------------------------

    def _grant(self, credit: Callable[[float], float]) -> None:
        control = self._control
        with control.cond:
            if control.closed:
                raise RuntimeError("the session is closed")
            if control.ended:
                return
            control.credit = credit(control.credit)
            if not self._held:
                self._launch()
            control.cond.notify_all()
        self._notify()

    def _hold(
        self,
        on_end: Callable[[Session], None],
        building: Callable[[NDArray[np.uint8]], Building],
    ) -> None:
        """Do not begin before `_admit`; credit granted until then is kept."""
        self._held = self._control.busy = True
        self._on_end, self._worker.building = on_end, building

    def _admit(self) -> bool:
        """Let a held session begin; False when it has ended or was closed before."""
        with self._control.cond:
            self._held = False
            if self._control.ended or self._control.closed:
                return False
            self._launch()
        self._notify()
        return True

    def _launch(self) -> None:
        if self._thread is None:
            self._control.busy = True
            self._thread = threading.Thread(target=self._work, name="mkldash-solver", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        result, error = None, None
        try:
            result = self._worker.run()
        except BaseException as problem:
            error = problem
        control = self._control
        with control.cond:
            self.result, self.error = result, error
            if error is None:
                self.status = Status.STOPPED if result is None else result.status
            control.ended, control.credit = True, 0.0
            hook, self._on_end = self._on_end, None
            control.cond.notify_all()
        if hook is not None:
            hook(self)
        self._notify()
        self._worker.serve_until_closed()

    def _notify(self) -> None:
        listener = self._on_change
        if listener is None:
            return
        try:
            listener()
        except Exception:
            _log.exception("the listener of a session failed and was removed")
            self._on_change = None
