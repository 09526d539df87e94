"""The solver protocol: a generator of immutable snapshots.

A solver is a frozen bag of hyper-parameters.  `Solver.iterate` yields one
`Snapshot` per iteration; whatever the next iteration needs is a field of the
snapshot, so a run resumes from any of them, bit for bit.
"""

from __future__ import annotations

import abc
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError, UnsupportedProblemError
from mkldash.kernels.weights import Weights
from mkldash.problems.certificates import relative_gap
from mkldash.problems.problem import Problem

Array = NDArray[np.float64]

__all__ = [
    "CANCELLED",
    "TIME_IS_UP",
    "Best",
    "Origin",
    "Snapshot",
    "Solver",
    "WarmStart",
    "needs_hinge_over_bank",
    "new_cancel_flag",
    "option",
]

#: Values of the cancel flag; compiled loops return at either.  After `CANCELLED`
#: a solver ends; after `TIME_IS_UP` it certifies the point it has and yields it.
CANCELLED, TIME_IS_UP = 1, 2


@dataclass(frozen=True)
class Origin:
    """Who made a snapshot, for which problem: tells a resume from a warm start."""

    solver: str
    problem: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Best:
    """The point of least primal value so far; `Result` and predictions use it."""

    iteration: int
    objective: float
    weights: Weights
    alpha: Array
    bias: float


@dataclass(frozen=True, kw_only=True, eq=False)
class WarmStart:
    """A point to start from after a change of problem or solver.

    Parameters
    ----------
    weights : Weights or None
    alpha : array, shape (n_rows,), or None
        Dual coefficients, 0 <= alpha <= C.
    """

    weights: Weights | None = None
    alpha: Array | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Snapshot:
    """State after one iteration.  Arrays are copied and read-only.

    Attributes
    ----------
    iteration : int
        0 is the start, its inner solve and bounds included.
    elapsed : float
        Seconds of the solver's own work; time suspended at ``yield`` is not
        counted.
    objective : float
        Primal value at this snapshot's weights and alpha.
    upper, lower : float
        Least primal value and best certified lower bound so far; the optimum
        lies between.
    best_iteration : int
        Where `upper` was reached.
    best : Best
        That point.
    weights : Weights
    alpha : array, shape (n_rows,)
        Dual coefficients.
    bias : float
    inner_solves : int
        SVM (or ridge) solves so far.
    events : tuple of str
        Sentences for the log.
    origin : Origin
    """

    iteration: int
    objective: float
    upper: float
    lower: float
    best_iteration: int
    best: Best
    weights: Weights
    alpha: Array
    bias: float
    inner_solves: int
    events: tuple[str, ...] = ()
    elapsed: float = 0.0
    origin: Origin = Origin("", "")

    def __post_init__(self) -> None:
        for name, value in tuple(self.__dict__.items()):
            if isinstance(value, np.ndarray) and value.flags.writeable:
                value = value.copy()
                value.flags.writeable = False
                object.__setattr__(self, name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Pickle forgets that the arrays were read-only.
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @property
    def gap(self) -> float:
        """Relative duality gap, upper/lower - 1; see `relative_gap`."""
        return relative_gap(self.upper, self.lower)

    @property
    def bounds_evaluated(self) -> bool:
        """Whether both bounds were evaluated at this iteration, or only carried on."""
        return True

    @property
    def settles(self) -> bool:
        """Whether bounds that stand still for long will stay; draws may move them yet."""
        return True


def new_cancel_flag() -> NDArray[np.uint8]:
    """A one-byte array; set it to 1 from any thread and the run ends soon."""
    return np.zeros(1, dtype=np.uint8)


@dataclass(frozen=True)
class Solver(abc.ABC):
    """Hyper-parameters of an algorithm; frozen.

    Class facts: `name` (command line), `title` (on screen), `reference`
    (paper, section or algorithm number), `snapshot_type` and `reach`.  A field's
    metadata (``label``, ``help``, ``bounds``, ``step``) makes its widget.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]
    snapshot_type: ClassVar[type[Snapshot]] = Snapshot
    #: Relative gap that it reaches on a small problem within 3,000 iterations.
    reach: ClassVar[float] = 1e-5

    @abc.abstractmethod
    def supports(self, problem: Problem) -> str | None:
        """Why this solver cannot take `problem`, or None if it can."""

    @abc.abstractmethod
    def _iterate(
        self,
        problem: Problem,
        resume: Snapshot | None,
        warm: WarmStart | None,
        cancel: NDArray[np.uint8],
    ) -> Iterator[Snapshot]:
        """The algorithm.  Yields the start as iteration 0, unless resuming."""

    def finish(self, problem: Problem, last: Snapshot) -> Snapshot:
        """`last` with both bounds evaluated, for a run that ends between two certificates."""
        return last

    def iterate(
        self,
        problem: Problem,
        start: Snapshot | WarmStart | None = None,
        cancel: NDArray[np.uint8] | None = None,
    ) -> Iterator[Snapshot]:
        """Yield snapshots until cancelled or until nothing is left to do.

        Parameters
        ----------
        problem : Problem
        start : Snapshot, WarmStart or None
            A snapshot of the same solver and problem is resumed: the next
            yielded is ``start.iteration + 1``.  Any other start is warm: only
            its weights and alpha are used and the bounds start afresh.
        cancel : array of uint8, shape (1,), optional
            Read by compiled loops; once it is `CANCELLED` the generator ends,
            once it is `TIME_IS_UP` inner solves are cut short and certified.

        Raises
        ------
        UnsupportedProblemError
            With the reason that `supports` gives.
        """
        reason = self.supports(problem)
        if reason is not None:
            raise UnsupportedProblemError(reason)
        origin = Origin(self.name, problem.key)
        flag = new_cancel_flag() if cancel is None else cancel
        resume, warm, elapsed = None, None, 0.0
        if isinstance(start, Snapshot):
            if start.origin == origin:
                resume, elapsed = start, start.elapsed
            else:
                warm = WarmStart(weights=start.weights, alpha=start.alpha)
        elif start is not None:
            warm = start
        warm = None if warm is None else _sound(warm)
        return self._timed(self._iterate(problem, resume, warm, flag), origin, elapsed, flag)

    @staticmethod
    def _timed(
        steps: Iterator[Snapshot], origin: Origin, elapsed: float, flag: NDArray[np.uint8]
    ) -> Iterator[Snapshot]:
        try:
            while flag[0] != CANCELLED:
                begun = time.perf_counter()
                snapshot = next(steps, None)
                elapsed += time.perf_counter() - begun
                if snapshot is None:
                    return
                yield _stamped(snapshot, elapsed, origin)
        finally:
            close = getattr(steps, "close", None)
            if close is not None:
                close()


def _stamped(snapshot: Snapshot, elapsed: float, origin: Origin) -> Snapshot:
    """A copy with these two fields.

    Short steps would notice `dataclasses.replace`, which checks every field anew.
    """
    stamped = object.__new__(type(snapshot))
    stamped.__dict__.update(snapshot.__dict__, elapsed=elapsed, origin=origin)
    return stamped


def _sound(warm: WarmStart) -> WarmStart:
    """`warm` without what is not a number; the solvers move the rest into their sets.

    Raises
    ------
    InputError
        For dual coefficients that are not numbers.
    """
    if warm.alpha is None:
        return warm
    try:
        alpha = np.asarray(warm.alpha, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"alpha of the start is not an array of numbers: {error}") from error
    return WarmStart(weights=warm.weights, alpha=None if np.isnan(alpha).any() else alpha)


def needs_hinge_over_bank(name: str, problem: Problem) -> str | None:
    """Why a solver for the hinge loss over explicit kernels cannot take `problem`, or None."""
    if problem.has_family:
        return f"{name} takes kernels that are listed, not an implicit family of products"
    if problem.loss.name != "hinge":
        return f"{name} is for the hinge loss, not for {problem.loss.name}"
    return None


def option(default: Any, label: str, help: str, **facts: object) -> Any:
    """A hyper-parameter field of a solver.

    Parameters
    ----------
    default : object
    label, help : str
        What widgets and the command line show.
    **facts
        ``bounds``, ``step``, ``choices``: more for the widget.

    Returns
    -------
    dataclasses.Field
    """
    return field(default=default, metadata={"label": label, "help": help, **facts})
