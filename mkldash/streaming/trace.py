"""The append-only record of a run, from which everything on screen is drawn."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.solvers.base import Snapshot
from mkldash.streaming.archive import Record, read_record, write_record
from mkldash.streaming.columns import Columns
from mkldash.streaming.ledger import Ledger
from mkldash.streaming.replay import (
    Replay,
    ReplayCache,
    ReplayError,
    StateDroppedError,
    as_recorded,
    close_steps,
)
from mkldash.streaming.scalars import scalars_of
from mkldash.streaming.thinning import choose_victims

__all__ = ["DEFAULT_BUDGET", "Replay", "ReplayError", "StateDroppedError", "Trace"]

#: Bytes of full states that a trace keeps, unless told otherwise (256 MB).
DEFAULT_BUDGET = 256 * 2**20


Value = float | NDArray[Any]


class Trace:
    """Record of one run: scalars of every iteration, full states under a budget.

    Row ``k`` is the k-th snapshot recorded.  Scalars (`columns`) and events are
    kept for every row.  Full states are kept while they fit in `budget` bytes,
    shared arrays counted once: all recent ones, older ones at a distance that
    grows with their age; the first, the newest, the best and every pinned one
    (`pin`) always.  A dropped state is computed again by `replay` from the
    nearest kept earlier one, which gives the same numbers because resuming is
    exact.  The last few replayed states are held beside the budget, in an
    eighth of it.

    One thread appends; any number may read.  Reading scalars and kept states
    takes no lock.

    Parameters
    ----------
    replay : callable, optional
        ``replay(start, cancel)`` yields the snapshots after `start`; usually
        ``lambda start, cancel: solver.iterate(problem, start, cancel)``.
        Without it a dropped state raises `StateDroppedError`.
    budget : int
        Bytes of full states to keep.
    """

    def __init__(self, replay: Replay | None = None, *, budget: int = DEFAULT_BUDGET) -> None:
        if budget <= 0:
            raise ValueError(f"budget must be a positive number of bytes, not {budget!r}")
        self.budget = budget
        self._lock = threading.RLock()
        self._columns = Columns()
        self._events: list[tuple[int, str]] = []
        self._states: dict[int, Snapshot] = {}
        self._values: dict[int, dict[str, Value]] = {}
        self._scored: set[int] = set()
        self._ledger = Ledger()
        self._pins: set[int] = {0}
        self._best = 0
        self._latest: Snapshot | None = None
        self._replays: list[tuple[int, Replay | None]] = [(0, replay)]
        self._replayed = ReplayCache(budget // 8)
        self._n_scored = 0

    # -- reading ---------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def latest(self) -> Snapshot | None:
        """The newest snapshot, or None while there is none."""
        return self._latest

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns so far, values added by a score included."""
        return self._columns.names

    @property
    def nbytes(self) -> int:
        """Bytes of the kept states and values, shared arrays counted once."""
        return self._ledger.total

    @property
    def kept(self) -> tuple[int, ...]:
        """Rows whose full state is kept, ascending."""
        with self._lock:
            return tuple(sorted(self._states))

    @property
    def n_scored(self) -> int:
        """How often values were added; changes when there are new ones."""
        return self._n_scored

    def columns(self, since: int = 0) -> dict[str, NDArray[Any]]:
        """Scalars of the rows from `since` on.

        Returns
        -------
        dict of str to array, shape (len(trace) - since,)
            Read-only: iteration, elapsed (s), objective, upper, lower, gap,
            best_iteration, bias, inner_solves, active_kernels, each other int,
            bool or float field of the snapshots, and each float that `add_values`
            added (NaN where it was not computed).  Raw numbers: zeros, negative
            numbers, infinities and NaN are handed out as they are.
        """
        return self._columns.read(since)

    def events(self, since: int = 0) -> list[tuple[int, str]]:
        """(row, sentence) for the log, of the rows from `since` on."""
        events = self._events
        first = len(events)
        while first > 0 and events[first - 1][0] >= since:
            first -= 1
        return events[first:]

    def find(self, iteration: int) -> int:
        """Row of an iteration number.

        Raises
        ------
        KeyError
            When no row has it.
        """
        row = self._columns.find("iteration", iteration)
        if row is None:
            raise KeyError(f"iteration {iteration} is not in the trace")
        return row

    def peek(self, k: int) -> Snapshot | None:
        """State of row `k` if it is at hand, else None; never computes."""
        k = self._row(k)
        return self._states.get(k) or self._replayed.get(k)

    def __getitem__(self, k: int) -> Snapshot:
        """State of row `k`; replays it when it was dropped, which takes time.

        Raises
        ------
        IndexError
            When there is no such row.
        StateDroppedError
            When it was dropped and the trace has no `replay`.
        ReplayError
            When the replay does not give the recorded numbers.
        """
        k = self._row(k)
        snapshot = self.peek(k)
        if snapshot is None:
            for snapshot in self.steps_to(k):  # noqa: B007
                pass
        assert snapshot is not None
        return snapshot

    def steps_to(self, k: int, cancel: NDArray[np.uint8] | None = None) -> Iterator[Snapshot]:
        """Replay up to row `k`, one yield per iteration; the last is row `k`.

        For whoever shows or paces a replay; `trace[k]` runs it at once.  Raises
        as `trace[k]` does, and `ReplayError` when `cancel` ended it early.
        """
        k = self._row(k)
        ready = self.peek(k)
        if ready is not None:
            yield ready
            return
        row, start = self._nearest(k)
        first, replay = max((r for r in self._replays if r[0] <= k), key=lambda r: r[0])
        if replay is None or row < first - 1:
            iteration = self._columns.cell("iteration", k)
            raise StateDroppedError(
                f"the state of iteration {iteration} was not kept and this trace "
                "has no solver to compute it again"
            )
        steps = replay(start, cancel)
        try:
            for at in range(row + 1, k + 1):
                snapshot = next(steps, None)
                if snapshot is None:
                    raise ReplayError("the replay was cancelled before it was complete")
                snapshot = as_recorded(snapshot, at, self._columns)
                with self._lock:
                    self._replayed.hold(at, snapshot)
                yield snapshot
        finally:
            close_steps(steps)

    def values(self, k: int) -> dict[str, Value]:
        """Values that a score added to row `k` (arrays only while they are kept)."""
        k = self._row(k)
        with self._lock:
            return {**self._columns.late_row(k), **self._values.get(k, {})}

    def has_values(self, k: int) -> bool:
        """Whether row `k` has all values of its score, arrays included."""
        return self._row(k) in self._scored

    # -- writing ---------------------------------------------------------------

    def append(self, snapshot: Snapshot) -> None:
        """Record a snapshot; usable as a callback of `solve`."""
        row = scalars_of(snapshot)
        with self._lock:
            k = len(self._columns)
            self._states[k] = snapshot
            self._ledger.add(snapshot)
            self._events.extend((k, sentence) for sentence in snapshot.events)
            if snapshot.best_iteration == snapshot.iteration:
                self._best = k
            self._columns.append(row)
            self._latest = snapshot
            if self._ledger.total > self.budget:
                self._thin()

    def add_values(self, k: int, values: Mapping[str, float | NDArray[Any]]) -> None:
        """Add what a score computed for row `k`: floats (columns) and arrays.

        Arrays count in the budget and are dropped with their state.

        Raises
        ------
        ValueError
            When a name is that of a snapshot's scalar.
        """
        k = self._row(k)
        arrays: dict[str, Value] = {}
        with self._lock:
            for name in values:
                if self._columns.is_own(name):
                    raise ValueError(f"a score may not be called {name!r}: snapshots have it")
            for name, value in values.items():
                array = np.asarray(value)
                if array.ndim == 0:
                    self._columns.put(name, k, float(array))
                    continue
                if array.flags.writeable:
                    array = array.copy()
                    array.flags.writeable = False
                arrays[name] = array
            self._forget_values(k)
            if arrays:
                self._values[k] = arrays
                self._ledger.add(arrays)
            self._scored.add(k)
            self._n_scored += 1
            if self._ledger.total > self.budget:
                self._thin()

    def pin(self, k: int) -> None:
        """Keep the state of row `k` for good (computes it when it was dropped)."""
        k = self._row(k)
        snapshot = self[k]
        with self._lock:
            self._pins.add(k)
            if k not in self._states:
                self._states[k] = snapshot
                self._ledger.add(snapshot)

    def set_replay(self, replay: Replay | None) -> None:
        """How the rows from here on are computed again."""
        with self._lock:
            if len(self):
                self.pin(len(self) - 1)
            self._replays = [r for r in self._replays if r[0] < len(self)] + [(len(self), replay)]

    def adopt(self, other: Trace, k: int) -> None:
        """Begin with rows 0 to `k` of another trace, states and values shared.

        Raises
        ------
        ValueError
            When this trace is not empty.
        """
        if len(self):
            raise ValueError("only an empty trace can adopt the beginning of another one")
        k = other._row(k)
        other.pin(k)
        with other._lock, self._lock:
            columns = other._columns.head(k + 1)
            self._replays = [r for r in other._replays if r[0] <= k]
            self._pins = {p for p in other._pins if p <= k} | {k}
            self._events = [e for e in other._events if e[0] <= k]
            for at in sorted(other._states):
                if at <= k:
                    self._states[at] = other._states[at]
                    self._ledger.add(other._states[at])
            for at, arrays in other._values.items():
                if at <= k:
                    self._values[at] = arrays
                    self._ledger.add(arrays)
            self._scored = {row for row in other._scored if row <= k}
            self._n_scored = len(self._scored)
            self._latest = self._states[k]
            self._best = columns.find("iteration", self._latest.best_iteration) or 0
            self._columns = columns  # last: readers see the rows from here on
            if self._ledger.total > self.budget:
                self._thin()

    # -- files -----------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write columns, events, values and kept states to an .npz file.

        Dropped states are not computed again for it.  `write_record` of
        `mkldash.streaming.archive` says what the entries are.
        """
        with self._lock:
            record = Record(
                columns=self._columns.head(len(self)),
                states=dict(sorted(self._states.items())),
                values=dict(self._values),
                scored=sorted(self._scored),
                events=list(self._events),
                best=self._best,
                budget=self.budget,
            )
        write_record(path, record)

    @classmethod
    def load(
        cls, path: str | Path, replay: Replay | None = None, *, types: Iterable[type] = ()
    ) -> Trace:
        """Read what `save` wrote: the same columns, events, values and kept states.

        Parameters
        ----------
        path : path
        replay : callable, optional
            See `Trace`; without it only kept states can be had.
        types : iterable of type
            Snapshot types that are not of mkldash itself.

        Raises
        ------
        InputError
            When the file is not a trace, or has types that mkldash does not have.
        """
        record = read_record(path, types)
        trace = cls(replay, budget=record.budget)
        trace._columns, trace._events = record.columns, record.events
        trace._states, trace._values = record.states, record.values
        for kept in (*record.states.values(), *record.values.values()):
            trace._ledger.add(kept)
        trace._scored, trace._best = set(record.scored), record.best
        trace._n_scored = len(trace._scored)
        trace._latest = trace._states.get(len(trace) - 1)
        return trace

    # -- inside ----------------------------------------------------------------

    def _row(self, k: int) -> int:
        n = len(self)
        row = k + n if k < 0 else k
        if not 0 <= row < n:
            raise IndexError(f"row {k} of a trace with {n} rows")
        return row

    def _nearest(self, k: int) -> tuple[int, Snapshot]:
        with self._lock:
            row = max(r for r in [*self._states, *self._replayed.rows()] if r <= k)
            snapshot = self._states.get(row) or self._replayed.get(row)
            assert snapshot is not None
            return row, snapshot

    def _forget_values(self, k: int) -> None:
        arrays = self._values.pop(k, None)
        if arrays is not None:
            self._ledger.remove(arrays)
            self._scored.discard(k)

    def _thin(self) -> None:
        """Drop states until nine tenths of the budget are used (or none may go)."""
        newest = len(self) - 1
        keep = self._pins | {self._best, newest}
        for k in [k for k in self._values if k not in self._states][:-1]:
            self._forget_values(k)
        while self._ledger.total > 0.9 * self.budget:
            victims = choose_victims(sorted(self._states), newest, keep)
            if not victims:
                return
            for k in victims:
                self._forget_values(k)
                self._ledger.remove(self._states.pop(k))
                if self._ledger.total <= 0.9 * self.budget:
                    return
