"""Beside the shown run: other solvers on its problem, and what rho does.

One daemon thread of a page does it all, in turn with everybody's runs, and only
once the shown run is on screen and no slider moves.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from mkldash.apps.methods import measured
from mkldash.apps.scoring import grid_places
from mkldash.apps.sweep_picture import as_sweep, blank_sweep
from mkldash.experiments.rho_sweep import GRID, SweepPoint, sweep
from mkldash.experiments.warming import warm_up_once
from mkldash.experiments.workload import Workload
from mkldash.problems.problem import Problem
from mkldash.solvers.base import Solver, WarmStart
from mkldash.solvers.driver import Result
from mkldash.solvers.stopping import Status, StopRule
from mkldash.streaming import Job, Session, State, Trace
from mkldash.streaming.control import UNLIMITED, Control
from mkldash.streaming.session import BUILD_SLOTS, COMPUTE_SLOTS
from mkldash.streaming.worker import Worker
from mkldash.views.base import Baseline, Points, RhoSweep, Rival

__all__ = ["RIVAL_SECONDS", "Companions", "Plan", "blank_sweep"]

_log = logging.getLogger(__name__)

#: Seconds without a new choice before anything begins, and with which the shown run
#: must have ended or be under way for longer.
QUIET, UNDER_WAY = 0.5, 1.0

#: Seconds of its own work that a solver beside the run may take.
RIVAL_SECONDS = 10.0

#: Iterations per second of methods that are measured beside a run: what a person does
#: comes first.
METHODS_RATE = 400.0

#: Bytes of full states of each; their curves are kept whole.
RIVAL_BUDGET = 4_000_000

#: Seconds between two notices to the page.
NOTICE_EVERY = 0.15


@dataclass(frozen=True, eq=False)
class Plan:
    """What is computed beside one run.

    Parameters
    ----------
    workload : Workload
    rivals : tuple of Solver
    start : WarmStart or None
        Where the shown run began; the others begin there too.
    sweep_key : tuple or None
        Everything but rho that a sweep depends on; None: no sweep.
    points : Points or None
        For data with two features.
    baselines : bool
        Whether other methods are measured on the same rows.
    """

    workload: Workload
    rivals: tuple[Solver, ...]
    start: WarmStart | None = None
    sweep_key: tuple[object, ...] | None = None
    points: Points | None = None
    baselines: bool = False


class Companions:
    """Solves beside the shown run, and is dropped at once when that changes.

    Parameters
    ----------
    on_change : callable
        Called from the thread when there is something new.
    """

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._cond = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wanted: tuple[Session, Callable[[Job], Plan | None], float] | None = None
        self._quiet: float | None = None
        self._control: Control | None = None
        self._session: Session | None = None  # whose rivals these are
        self._rivals: dict[Solver, Rival] = {}
        self._shown: tuple[Rival, ...] = ()
        self._methods: tuple[Baseline, ...] = ()
        self._sweep_key: tuple[object, ...] | None = None
        self._points: dict[float, SweepPoint] = {}
        self._sweep: RhoSweep | None = None
        self._held = self._closed = False
        self._told = 0.0
        self._sentences: deque[str] = deque(maxlen=20)

    # -- what is there ---------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether something is computed or waits for its time."""
        return self._wanted is not None or self._control is not None

    def rivals(self, session: Session) -> tuple[Rival, ...]:
        """Runs of other solvers beside `session`, as far as they have begun."""
        return self._shown if session is self._session else ()

    def baselines(self, session: Session) -> tuple[Baseline, ...]:
        """Other methods on the rows of `session`, as far as they are measured."""
        return self._methods if session is self._session else ()

    def sweep(self, key: tuple[object, ...] | None) -> RhoSweep | None:
        """What was found over rho for `key`; None before anything was."""
        return self._sweep if key is not None and key == self._sweep_key else None

    @property
    def has_words(self) -> bool:
        """Whether `sentences` has something to say."""
        return bool(self._sentences)

    def sentences(self) -> list[str]:
        """What there is to say for the log; each once."""
        found = []
        with contextlib.suppress(IndexError):
            while True:
                found.append(self._sentences.popleft())
        return found

    # -- commands --------------------------------------------------------------

    def attend(
        self,
        session: Session,
        plan: Callable[[Job], Plan | None],
        *,
        quiet: float | None = None,
    ) -> None:
        """Do what `plan` says beside `session`, once that is under way.

        Parameters
        ----------
        session : Session
        plan : callable
            Asked in the thread when the job is there; None: nothing to do.
        quiet : float, optional
            Seconds without a new choice before that; by default `QUIET`, or
            `UNDER_WAY` while the run goes on.
        """
        self.cancel()
        with self._cond:
            if self._closed:
                return
            self._wanted, self._quiet = (session, plan, time.monotonic()), quiet
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="mkldash-companions", daemon=True
                )
                self._thread.start()
            self._cond.notify_all()

    def cancel(self) -> None:
        """Drop what is under way; what was found stays until another run is attended."""
        with self._cond:
            self._wanted = None
            control = self._control
            self._cond.notify_all()
        if control is not None:
            control.cancel[0] = 1
            control.wake()

    def poke(self) -> None:
        """The shown run has news; cheap."""
        if self._wanted is not None:
            with self._cond:
                self._cond.notify_all()

    def hold(self) -> None:
        """Nobody looks: rest."""
        self._grant(held=True)

    def go_on(self) -> None:
        """Somebody looks again."""
        self._grant(held=False)

    def _grant(self, *, held: bool) -> None:
        with self._cond:
            self._held = held
            control = self._control
            self._cond.notify_all()
        if control is not None:
            control.credit = 0.0 if held else UNLIMITED
            control.wake()

    def close(self, timeout: float = 10.0) -> None:
        """Cancel, and join the thread for at most `timeout` seconds."""
        with self._cond:
            self._closed = True
        self.cancel()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    # -- the thread ------------------------------------------------------------

    def _work(self) -> None:
        while (task := self._next()) is not None:
            session, plan, control = task
            try:
                self._attend(session, plan, control)
            except Exception as problem:
                _log.exception("what runs beside the shown run failed")
                self._say(f"What runs beside it failed: {problem}")
            finally:
                with self._cond:
                    self._control = None

    def _next(self) -> tuple[Session, Callable[[Job], Plan | None], Control] | None:
        """Sleep until a run is wanted that is under way; None: closed."""
        with self._cond:
            while not self._closed:
                wait = None
                if self._wanted is not None and not self._held:
                    session, plan, asked = self._wanted
                    wait = _due(session, asked, self._quiet)
                    if wait == 0.0:
                        self._wanted = None
                        self._control = control = Control(None)
                        control.credit = UNLIMITED
                        return session, plan, control
                self._cond.wait(wait)
        return None

    def _attend(
        self, session: Session, make: Callable[[Job], Plan | None], control: Control
    ) -> None:
        job = session.job
        plan = None if job is None else make(job)
        if session is not self._session:
            self._session, self._rivals, self._methods = session, {}, ()
        if plan is None or job is None:
            self._shown = ()
            return
        self._show(plan)
        for solver in plan.rivals:
            if control.cancel[0]:
                return
            if solver not in self._rivals or not self._rivals[solver].done:
                self._race(solver, plan, job, control)
        if plan.sweep_key is not None:
            self._run_sweep(plan, control)
        if plan.baselines:
            self._measure(plan, control)

    def _measure(self, plan: Plan, control: Control) -> None:
        """Other methods on the same rows, one after another, and at a gentle pace."""
        control.max_rate = METHODS_RATE
        for methods in measured(
            plan.workload,
            control.cancel,
            turn=functools.partial(self._turn, control),
            run=lambda solver, problem, stop: self._solve(
                solver, problem, None, stop, control, Trace(budget=1)
            ),
        ):
            self._methods = methods
            self._notice(at_once=True)

    @contextlib.contextmanager
    def _turn(self, control: Control) -> Iterator[None]:
        """Everybody's turn to compute."""
        ticket = control.take(COMPUTE_SLOTS, lambda: not control.cancel[0])
        try:
            yield
        finally:
            if ticket is not None:
                COMPUTE_SLOTS.release(ticket)

    def _race(self, solver: Solver, plan: Plan, job: Job, control: Control) -> None:
        """One other solver on the shown problem, without a pace."""
        kind = plan.workload.choices.kind
        warm_up_once(solver, plan.workload.bank.storage, kind)
        trace = Trace(budget=RIVAL_BUDGET)
        self._rivals[solver] = Rival(solver.title, trace, done=False)
        self._show(plan)
        stop = replace(job.stop, time_limit=RIVAL_SECONDS)
        result = self._solve(solver, job.problem, plan.start, stop, control, trace)
        if control.cancel[0]:
            del self._rivals[solver]
        else:
            self._rivals[solver] = Rival(solver.title, trace, done=True)
            if result is not None:
                self._say(_ended(solver, result))
        self._show(plan)
        self._notice(at_once=True)

    def _run_sweep(self, plan: Plan, control: Control) -> None:
        """The points of the sweep that are missing, the plain SVM first."""
        rho = plan.workload.problem.rho
        wanted = {*GRID, rho, math.inf}
        places = None if plan.points is None else grid_places(plan.points)
        if plan.sweep_key != self._sweep_key:
            self._sweep = None  # before its key: another thread may look
            self._points, self._sweep_key = {}, plan.sweep_key
        self._points = {r: p for r, p in self._points.items() if r in wanted}
        if self._points:
            self._sweep = as_sweep(self._points, plane=places is not None)
        missing = sorted(wanted - set(self._points), reverse=True)

        def run(
            solver: Solver, problem: Problem, start: WarmStart | None, stop: StopRule
        ) -> Result | None:
            return self._solve(solver, problem, start, stop, control, Trace(budget=1))

        turn = functools.partial(self._turn, control)
        steps = sweep(plan.workload, missing, places=places, start=plan.start, run=run, turn=turn)
        for point in steps:
            if control.cancel[0]:
                break
            self._points[point.rho] = point
            self._sweep = as_sweep(self._points, plane=places is not None)
            self._notice()
        self._notice(at_once=True)

    def _solve(
        self,
        solver: Solver,
        problem: Problem,
        start: WarmStart | None,
        stop: StopRule,
        control: Control,
        trace: Trace,
    ) -> Result | None:
        """Solve in turn with everybody's runs; None when it was cancelled."""
        job = Job(solver=solver, problem=problem, start=start, stop=stop)
        worker = Worker(control, trace, lambda _: job, self._notice, COMPUTE_SLOTS, BUILD_SLOTS)
        result = worker.run()
        return None if control.cancel[0] else result

    def _show(self, plan: Plan) -> None:
        self._shown = tuple(self._rivals[s] for s in plan.rivals if s in self._rivals)

    def _say(self, sentence: str) -> None:
        self._sentences.append(sentence)

    def _notice(self, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if at_once or now - self._told >= NOTICE_EVERY:
            self._told = now
            self._on_change()


def _due(session: Session, asked: float, quiet: float | None) -> float | None:
    """Seconds until `session` may have company; None: it must move first."""
    passed = time.monotonic() - asked
    if session.state is State.CLOSED or session.job is None or not len(session.trace):
        return None
    least = QUIET if session.state is not State.RUNNING else UNDER_WAY
    least = least if quiet is None else quiet
    return max(0.0, least - passed)


def _ended(solver: Solver, result: Result) -> str:
    """How a solver beside the run did, for the log."""
    unit = "iteration" if result.iterations == 1 else "iterations"
    cost = f"{result.iterations} {unit}, {result.seconds:.2g} s"
    if result.status is Status.TIME_LIMIT:
        return (
            f"Beside it, {solver.title}: stopped at its limit of {RIVAL_SECONDS:g} s "
            f"with a gap of {result.gap:.1e}."
        )
    word = "certified" if result.status is Status.CONVERGED else result.status.value
    return f"Beside it, {solver.title}: {word.replace('_', ' ')}, gap {result.gap:.1e} ({cost})."
