"""A growing table of scalars: one writer, readers without a lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns", "Scalar"]

Scalar = bool | int | float

_FIRST_CAPACITY = 64


class Columns:
    """Append-only columns of int, bool or float.

    Rows that are published never change, so `read` hands out read-only views
    without copying.  Late columns (`put`) may be filled in any order and are
    copied.  The writer must be alone (the caller locks); readers need no lock:
    a row is written before the row count says that it is there, and growing
    swaps in a new table while old views stay valid.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}
        self._late: frozenset[str] = frozenset()
        self._rows = 0
        self._capacity = _FIRST_CAPACITY

    def __len__(self) -> int:
        return self._rows

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in the order in which they appeared."""
        return tuple(self._arrays)

    def is_own(self, name: str) -> bool:
        """Whether `name` is a column that `append` fills."""
        return name in self._arrays and name not in self._late

    def append(self, row: Mapping[str, Scalar | None]) -> None:
        """Add one row.  A missing value is NaN (and turns an int column to float)."""
        at = self._rows
        if at == self._capacity:
            self._grow()
        arrays = dict(self._arrays)
        for name, value in row.items():
            if value is not None and name not in arrays:
                arrays[name] = _blank(self._capacity, _kind(value) if at == 0 else float)
        for name, array in arrays.items():
            if name in self._late:
                continue
            value = row.get(name)
            if array.dtype.kind != "f" and (value is None or _kind(value) is not array.dtype.type):
                arrays[name] = array = _promoted(array, at)
            array[at] = np.nan if value is None else value
        self._arrays = arrays
        self._rows = at + 1

    def put(self, name: str, row: int, value: float) -> None:
        """Fill one cell of a late column; the others are NaN."""
        if name not in self._arrays:
            self._late |= {name}
            self._arrays = {**self._arrays, name: _blank(self._capacity, float)}
        self._arrays[name][row] = value

    @classmethod
    def of(cls, columns: Mapping[str, NDArray[Any]], late: Iterable[str] = ()) -> Columns:
        """Columns of equal length, copied; `late` names those that `put` filled."""
        made = cls()
        made._rows = min((len(array) for array in columns.values()), default=0)
        made._capacity = max(made._rows, _FIRST_CAPACITY)
        for name, array in columns.items():
            made._arrays[name] = _blank(made._capacity, array.dtype.type)
            made._arrays[name][: made._rows] = array[: made._rows]
        made._late = frozenset(late)
        return made

    def head(self, rows: int) -> Columns:
        """A copy of the first `rows` rows, to be continued on its own."""
        return Columns.of({name: a[:rows] for name, a in self._arrays.items()}, self._late)

    def read(self, since: int = 0) -> dict[str, NDArray[Any]]:
        """Rows from `since` on of every column, read-only."""
        # The count first: every array seen after it holds at least that many rows.
        rows = self._rows
        found: dict[str, NDArray[Any]] = {}
        for name, array in self._arrays.items():
            part = array[min(since, rows) : rows]
            if name in self._late:
                part = part.copy()
            part.flags.writeable = False
            found[name] = part
        return found

    def cell(self, name: str, row: int) -> Scalar:
        """One value, as a plain Python number."""
        return self._arrays[name][row].item()

    def find(self, name: str, value: float) -> int | None:
        """Row of `value` in a column that only rises, or None."""
        column = self.read().get(name, np.empty(0))
        row = int(np.searchsorted(column, value))
        return row if row < len(column) and column[row] == value else None

    def late_row(self, row: int) -> dict[str, float]:
        """The late values that row `row` has, NaN left out."""
        cells = {
            name: float(self._arrays[name][row]) for name in self._arrays if name in self._late
        }
        return {name: value for name, value in cells.items() if not np.isnan(value)}

    def _grow(self) -> None:
        capacity = 2 * self._capacity
        arrays = {}
        for name, old in self._arrays.items():
            new = _blank(capacity, old.dtype.type)
            new[: self._capacity] = old
            arrays[name] = new
        self._capacity, self._arrays = capacity, arrays


def _kind(value: Scalar) -> type:
    if isinstance(value, bool | np.bool_):
        return np.bool_
    return np.int64 if isinstance(value, int | np.integer) else np.float64


def _blank(capacity: int, kind: type) -> NDArray[Any]:
    blank: NDArray[Any] = np.zeros(capacity, dtype=kind)
    if blank.dtype.kind == "f":
        blank[:] = np.nan
    return blank


def _promoted(array: NDArray[Any], rows: int) -> NDArray[Any]:
    promoted = _blank(len(array), float)
    promoted[:rows] = array[:rows]
    return promoted
