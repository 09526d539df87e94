"""One lane at run time: its problem, its session, and why it has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.apps.racing.schedule import Axis, Standing, row_at
from mkldash.apps.racing.state import LaneSpec
from mkldash.errors import InputError
from mkldash.experiments.choices import Choices
from mkldash.experiments.scores import RegressionScores, score
from mkldash.experiments.warming import warm_up_once
from mkldash.experiments.workload import Workload, make_solver
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.base import WeightSet
from mkldash.solvers.base import Origin, Snapshot, Solver
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import StopRule
from mkldash.streaming import Job, Score, Session, State

__all__ = ["BUDGET", "Lane", "make_lane_score"]

#: Bytes of full states that one lane keeps; their curves are kept whole.
BUDGET = 64 * 2**20

#: How long a solver rehearses, and from how many rows or kernels on it does so again.
REHEARSAL, MANY = StopRule(tol=1e-12, max_iter=100, time_limit=1.5), 100


@dataclass(eq=False)
class Lane:
    """One run among several.

    Parameters
    ----------
    spec : LaneSpec
    label : str
    choices : Choices or None
        None where they do not go together.
    workload : Workload or None
        Of its problem; lanes of one problem share it.
    error : str
        Why it cannot run; empty while it can.
    """

    spec: LaneSpec
    label: str
    choices: Choices | None = None
    workload: Workload | None = None
    error: str = ""
    session: Session | None = None
    warm: bool = False
    scored_at: float = -1e9

    @property
    def named(self) -> str:
        """Its letter and what it is called."""
        return f"{self.spec.letter.upper()} {self.label}"

    @property
    def waits(self) -> bool:
        """Whether it has not begun: the lane that it branches from is not there yet."""
        return self.session is None and not self.error

    @property
    def failed(self) -> str:
        """Why it cannot go on, or nothing."""
        if self.error or self.session is None or self.session.error is None:
            return self.error
        problem = self.session.error
        kind = "" if isinstance(problem, InputError) else f"{type(problem).__name__}: "
        return f"{kind}{problem}"

    @property
    def live(self) -> bool:
        """Whether it can go on."""
        session = self.session
        return session is not None and session.state in (State.IDLE, State.RUNNING, State.PAUSED)

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return not self.waits and not self.live

    @property
    def tol(self) -> float:
        """Gap at which it is certified."""
        return 0.0 if self.choices is None else self.choices.tol

    @property
    def problem_key(self) -> str:
        """Equal for lanes whose bounds may be compared."""
        return "" if self.workload is None else self.workload.problem.key

    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Scalars of its rows, all of one length."""
        if self.session is None:
            return {}
        found = self.session.trace.columns()
        n = min((len(values) for values in found.values()), default=0)
        return {name: values[:n] for name, values in found.items()}

    def values(self, axis: Axis) -> NDArray[np.float64]:
        """Where its rows lie on an axis."""
        return np.asarray(self.columns().get(axis.column, np.empty(0)), dtype=np.float64)

    def standing(self, axis: Axis) -> Standing:
        """Where it is on an axis."""
        values = self.values(axis)
        return Standing(float(values[-1]) if len(values) else -np.inf, self.live)

    def row(self, axis: Axis, place: int) -> int:
        """Its row at a place of an axis; -1 before the first."""
        return row_at(self.values(axis), axis.value(place))

    def unscored(self, axis: Axis, place: int, *, at_end: bool) -> int:
        """Row whose score is missing, at a place or at its end; -1: none."""
        session = self.session
        if session is None or session.score_error is not None:
            return -1
        row = len(session.trace) - 1 if at_end else self.row(axis, place)
        return -1 if row < 0 or session.trace.has_values(row) else row

    # -- beginning -------------------------------------------------------------

    def begin(self, parent: Lane | None, on_change: Callable[[], None]) -> None:
        """Make the session, at the start or where the parent lane was; in the worker.

        Leaves it waiting while the parent is not there yet.
        """
        assert self.choices is not None
        assert self.workload is not None
        problem = self.workload.problem
        solver = make_solver(self.choices)
        if (reason := solver.supports(problem)) is not None:
            self.error = reason
            return
        start: Snapshot | None = None
        row = 0
        if parent is not None:
            found = self._place_of(parent)
            if found is None:
                return
            row, start = found
            self.warm = start.origin != Origin(solver.name, problem.key)
        warm_up_once(solver, self.workload.storage, self.choices.kind, problem.weight_set)
        _rehearse(solver, problem, self.workload.storage)
        history = None
        if start is not None and parent is not None and parent.session is not None:
            history = (parent.session.trace, row)
        job = Job(
            solver=solver, problem=problem, start=start, stop=self.workload.stop,
            score=make_lane_score(self.workload), history=history,
        )  # fmt: skip
        self.session = Session(
            factory=lambda building: job, parameters=self.choices, on_change=on_change,
            budget=BUDGET,
        )  # fmt: skip

    def _place_of(self, parent: Lane) -> tuple[int, Snapshot] | None:
        """Row and state of the parent that it begins from; None: not there yet."""
        iterations = parent.columns().get("iteration", np.empty(0))
        found = np.flatnonzero(iterations == self.spec.at)
        if found.size:
            assert parent.session is not None
            row = int(found[0])
            return row, parent.session.trace[row]
        if parent.ended:
            letter = parent.spec.letter.upper()
            self.error = (
                f"lane {letter} never reached iteration {self.spec.at} with the parameters that "
                "it has now: put the former ones back, or remove this lane and branch "
                f"{letter} anew"
            )
        return None


#: Solvers that have taken a few steps on a real problem of a kind, in this process.
_rehearsed: set[tuple[Solver, str, WeightSet, int]] = set()


def _rehearse(solver: Solver, problem: Problem, storage: str) -> None:
    """Take a few steps on the very problem, once a process; on nobody's clock.

    Many kernels and many rows have loops that no small problem reaches.
    """
    sizes = (problem.n_rows, 0 if problem.has_family else problem.bank.n_kernels)
    kind = (solver, storage, problem.weight_set, sum(n > MANY for n in sizes))
    if kind not in _rehearsed:
        _rehearsed.add(kind)
        solve(solver, problem, stop=REHEARSAL)


def make_lane_score(workload: Workload) -> Score:
    """How well the best point so far predicts: accuracies, or squared errors."""

    def values(snapshot: Snapshot) -> Mapping[str, float]:
        found = score(workload, snapshot.best)
        if isinstance(found, RegressionScores):
            told = {"train_score": found.train_mse, "test_score": found.test_mse}
        else:
            told = {"train_score": found.train_accuracy, "test_score": found.test_accuracy}
        return {name: value for name, value in told.items() if value is not None}

    return values
