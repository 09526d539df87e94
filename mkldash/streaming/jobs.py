"""What a session runs, and how it is built in the worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.problem import Problem
from mkldash.solvers.base import Snapshot, Solver, WarmStart
from mkldash.solvers.stopping import StopRule
from mkldash.streaming.trace import Trace

__all__ = ["Building", "Cancelled", "Factory", "Job", "Score"]

#: From a snapshot to floats and arrays by name; called by the worker.
Score = Callable[[Snapshot], Mapping[str, "float | NDArray[Any]"]]


class Cancelled(Exception):
    """Raised in a factory by `Building.check` when nobody wants the job any more."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """Everything that one run needs.

    Parameters
    ----------
    solver : Solver
    problem : Problem
    start : Snapshot, WarmStart or None
        See `Solver.iterate`.
    stop : StopRule
    score : callable, optional
        See `Session`.
    extra : object
        Whatever else the factory prepared and the views want (the workload).
    history : (Trace, int) or None
        The trace and row that `start` comes from; a resumed run begins with it.
    """

    solver: Solver
    problem: Problem
    start: Snapshot | WarmStart | None = None
    stop: StopRule = field(default_factory=StopRule)
    score: Score | None = None
    extra: object = None
    history: tuple[Trace, int] | None = None


@dataclass(frozen=True, eq=False)
class Building:
    """Handed to a factory.

    Attributes
    ----------
    cancel : array of uint8, shape (1,)
        For compiled loops; set when the job is not wanted any more.
    warm : WarmStart or None
        Best weights and alpha of the run before (`Runner` only).  Whether they
        fit the new problem is for the factory to judge.
    warm_of : (object, int) or None
        Where `warm` is from: that run's `Job.extra`, and the iteration it had come to.
    """

    cancel: NDArray[np.uint8]
    warm: WarmStart | None = None
    warm_of: tuple[object, int] | None = None

    def is_cancelled(self) -> bool:
        """Whether the job is not wanted any more."""
        return bool(self.cancel[0])

    def check(self) -> None:
        """Raise `Cancelled` when the job is not wanted any more."""
        if self.cancel[0]:
            raise Cancelled


Factory = Callable[[Building], Job]
