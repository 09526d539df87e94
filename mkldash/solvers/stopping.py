"""When a run ends, and the sentence that says why.  In no solver."""

from __future__ import annotations

import enum
import math
from collections import deque
from dataclasses import dataclass, field

from mkldash.errors import InputError
from mkldash.problems.certificates import bounds_violated
from mkldash.solvers.base import Snapshot

__all__ = ["Status", "StopRule", "StopWatch"]


class Status(enum.Enum):
    """Why a run ended."""

    CONVERGED = "converged"
    ITERATION_LIMIT = "iteration_limit"
    TIME_LIMIT = "time_limit"
    STALLED = "stalled"
    NOT_FINITE = "not_finite"
    STOPPED = "stopped"

    @property
    def sentence(self) -> str:
        """One sentence for a person."""
        return _SENTENCES[self]


_SENTENCES = {
    Status.CONVERGED: "Converged: the certified relative gap is below the tolerance.",
    Status.ITERATION_LIMIT: "Iteration limit reached before the tolerance; the gap stands.",
    Status.TIME_LIMIT: "Time limit reached before the tolerance; the gap stands.",
    Status.STALLED: "Stalled: the bounds no longer move; the gap stands.",
    Status.NOT_FINITE: "A value was not finite or the bounds crossed; the last sound point stands.",
    Status.STOPPED: "Stopped by you; the gap stands.",
}


@dataclass(frozen=True)
class StopRule:
    """Outer tolerance and limits.

    Parameters
    ----------
    tol : float
        Relative duality gap, upper/lower - 1, at which a run has converged.
    max_iter : int
        Iterations counted from the solver's iteration 0.
    time_limit : float or None
        Seconds of the solver's own work.
    stall_window : int
        Iterations that evaluated both bounds over which neither moving (by 1e-12 relative, in
        total) means stalled.

    Raises
    ------
    InputError
        For a tolerance, limit or window that is not usable.
    """

    tol: float = 1e-3
    max_iter: int = 500
    time_limit: float | None = None
    stall_window: int = field(default=20)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.tol) and self.tol > 0):
            raise InputError(f"tol must be a positive number, not {self.tol!r}")
        if self.max_iter < 0:
            raise InputError(f"max_iter must not be negative, not {self.max_iter!r}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"time_limit must be positive seconds, not {self.time_limit!r}")


class StopWatch:
    """Applies a `StopRule` to the snapshots of one run."""

    def __init__(self, rule: StopRule) -> None:
        self._rule = rule
        self._bounds: deque[tuple[float, float]] = deque(maxlen=rule.stall_window + 1)

    def check(self, snapshot: Snapshot) -> Status | None:
        """The reason to stop after `snapshot`, or None to go on."""
        upper, lower = snapshot.upper, snapshot.lower
        if not (math.isfinite(upper) and math.isfinite(snapshot.objective)) or math.isnan(lower):
            return Status.NOT_FINITE
        if bounds_violated(upper, lower):  # never called converged: a certificate is wrong
            return Status.NOT_FINITE
        if snapshot.gap <= self._rule.tol:
            return Status.CONVERGED
        if snapshot.iteration >= self._rule.max_iter:
            return Status.ITERATION_LIMIT
        if self._rule.time_limit is not None and snapshot.elapsed >= self._rule.time_limit:
            return Status.TIME_LIMIT
        if not (snapshot.bounds_evaluated and snapshot.settles):
            return None
        self._bounds.append((upper, lower))
        if len(self._bounds) == self._bounds.maxlen and self._stalled():
            return Status.STALLED
        return None

    def _stalled(self) -> bool:
        (upper0, lower0), (upper1, lower1) = self._bounds[0], self._bounds[-1]
        scale = 1e-12 * max(abs(upper1), 1e-300)
        return abs(upper0 - upper1) <= scale and abs(lower1 - lower0) <= scale
