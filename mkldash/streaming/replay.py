"""Computes dropped states again, and holds the last few."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from mkldash.solvers.base import Snapshot
from mkldash.streaming.columns import Columns
from mkldash.streaming.ledger import Ledger
from mkldash.streaming.scalars import same_number

__all__ = [
    "Replay",
    "ReplayCache",
    "ReplayError",
    "StateDroppedError",
    "as_recorded",
    "close_steps",
]

#: ``replay(start, cancel)`` yields the snapshots after `start`.
Replay = Callable[[Snapshot, "NDArray[np.uint8] | None"], Iterator[Snapshot]]


class StateDroppedError(LookupError):
    """A state that was not kept, in a trace that cannot replay it."""


class ReplayError(RuntimeError):
    """A replay that was cancelled or that did not give the recorded numbers."""


class ReplayCache:
    """The states replayed last, while they fit in a number of bytes.

    Parameters
    ----------
    budget : int
        Bytes; one state is held whatever it takes.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._states: dict[int, Snapshot] = {}
        self._ledger = Ledger()

    def get(self, row: int) -> Snapshot | None:
        """State of `row`, if it is held."""
        return self._states.get(row)

    def rows(self) -> list[int]:
        """Rows whose state is held, oldest replay first."""
        return list(self._states)

    def hold(self, row: int, snapshot: Snapshot) -> None:
        """Hold a state; the ones replayed longest ago go when it gets too much."""
        self._drop(row)
        self._states[row] = snapshot
        self._ledger.add(snapshot)
        while self._ledger.total > self._budget and len(self._states) > 1:
            self._drop(next(iter(self._states)))

    def _drop(self, row: int) -> None:
        snapshot = self._states.pop(row, None)
        if snapshot is not None:
            self._ledger.remove(snapshot)


def as_recorded(snapshot: Snapshot, row: int, columns: Columns) -> Snapshot:
    """A replayed snapshot with the clock of the run.

    Raises
    ------
    ReplayError
        When its iteration or bounds are not those recorded in `row`.
    """
    for name in ("iteration", "objective", "upper", "lower"):
        was, now = columns.cell(name, row), getattr(snapshot, name)
        if not same_number(was, now):
            raise ReplayError(f"replaying row {row} gave {name} {now!r} where the run had {was!r}")
    return dataclasses.replace(snapshot, elapsed=columns.cell("elapsed", row))


def close_steps(steps: Iterator[Snapshot]) -> None:
    """End a generator now, not when it is collected."""
    close = getattr(steps, "close", None)
    if close is not None:
        close()
