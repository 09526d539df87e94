"""Lock-step: the places of an axis, and which lane may go on to the next one.

A place is a whole number that all lanes share; the axis says what it stands for:
an iteration, an inner solve, or so many seconds of a solver's own work.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["AXES", "Axis", "Standing", "most_behind", "row_at", "stride", "stuck_behind"]

#: Seconds of place 0, and places of each tenfold: a race is over in 1 ms or in 100 s.
FIRST_SECONDS, PER_DECADE = 1e-4, 20

#: Places per second from which on there is no cap.
NO_CAP = 1000.0

#: Share of the way so far that a race without a cap takes in one go.
COARSE = 0.02


@dataclass(frozen=True)
class Axis:
    """What lanes are kept in step by.

    Attributes
    ----------
    name : str
        In the URL.
    column : str
        Of a trace.
    title, one, many : str
        On a button, and in a sentence after a number.
    pace : str
        Unit of the speed.
    logarithmic : bool
        Whether places are powers rather than counts.
    """

    name: str
    column: str
    title: str
    one: str
    many: str
    pace: str
    logarithmic: bool = False

    def value(self, place: int) -> float:
        """What a place stands for."""
        if not self.logarithmic:
            return float(place)
        return FIRST_SECONDS * 10.0 ** (place / PER_DECADE)

    def place(self, value: float) -> int:
        """The first place at which `value` is reached."""
        if not self.logarithmic:
            return max(0, math.ceil(value))
        if value <= FIRST_SECONDS:
            return 0
        # A value that is a place's own must give that place.
        return math.ceil(PER_DECADE * math.log10(value / FIRST_SECONDS) - 1e-9)

    def said(self, value: float) -> str:
        """A value in words: ``9 inner solves``, ``1.2 s``."""
        if self.logarithmic:
            return f"{value:.2g} s" if value >= 1e-2 else f"{1e3 * value:.2g} ms"
        return f"{value:.0f} {self.one if round(value) == 1 else self.many}"

    def at(self, value: float) -> str:
        """A place in words: ``iteration 9``, ``9 inner solves``."""
        return f"iteration {value:.0f}" if self.name == "iteration" else self.said(value)


AXES: Mapping[str, Axis] = MappingProxyType(
    {
        axis.name: axis
        for axis in (
            Axis("iteration", "iteration", "Iterations", "iteration", "iterations", "it/s"),
            Axis(
                "solves", "inner_solves", "Inner solves", "inner solve", "inner solves", "solves/s"
            ),
            Axis("seconds", "elapsed", "Seconds", "s", "s", "steps/s", logarithmic=True),
        )
    }
)


class Standing(NamedTuple):
    """Where one lane is.

    Attributes
    ----------
    newest : float
        Its newest value on the axis; minus infinity before its first row.
    live : bool
        Whether it can go on.
    """

    newest: float
    live: bool


def row_at(values: Array, at: float) -> int:
    """Last row whose value is at most `at`; -1 before the first.

    Parameters
    ----------
    values : array, shape (n_rows,)
        Never falling.
    at : float
    """
    return int(np.searchsorted(values, at * (1.0 + 1e-12), side="right")) - 1


def most_behind(standings: Sequence[Standing], frontier: float) -> int | None:
    """The lane whose turn it is: of those short of `frontier`, the one furthest back.

    Parameters
    ----------
    standings : sequence of Standing
    frontier : float
        Value on the axis that all live lanes go on to.

    Returns
    -------
    int or None
        None: all are there.
    """
    behind = [
        (standing.newest, i)
        for i, standing in enumerate(standings)
        if standing.live and standing.newest < frontier * (1.0 - 1e-12)
    ]
    if not behind:
        # Iteration 0 is at 0 on the axis: a lane without a row is behind even there.
        behind = [(s.newest, i) for i, s in enumerate(standings) if s.live and s.newest < 0.0]
    return min(behind)[1] if behind else None


def stuck_behind(standings: Sequence[Standing], frontier: float) -> bool:
    """Whether some lane must still go on before the cursor may."""
    return most_behind(standings, frontier) is not None


def stride(cursor: int, speed: float) -> int:
    """Places that the cursor takes in one go."""
    return 1 if speed < NO_CAP else max(1, round(COARSE * cursor))
