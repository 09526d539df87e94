"""The numbers of runs as a file to keep."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.apps.recipe import versions

__all__ = ["as_csv"]

#: Name of a run, title of its solver, what it is, and its numbers by column.
Run = tuple[str, str, str, Mapping[str, NDArray[Any]]]


def as_csv(runs: Sequence[Run]) -> str:
    """One tidy table: a line for each iteration of each run, whose name is in the first column.

    Raw numbers, to the last digit: zeros stay zeros.  A cell is empty where a run has
    no such column, and ``nan`` where it has and nothing was computed.

    Parameters
    ----------
    runs : sequence of (str, str, str, mapping of str to array)
        Name, solver, what it is, and the columns.

    Returns
    -------
    str
        After lines that begin with ``#`` and say what each run is.
    """
    buffer = io.StringIO()
    buffer.write(f"# {versions()}\n")
    for name, _, told, _ in runs:
        buffer.write(f"# {name}: {told}\n")
    names = list(dict.fromkeys(name for *_, columns in runs for name in columns))
    buffer.write(",".join(("run", "solver", *names)) + "\n")
    for name, solver, _, columns in runs:
        head = f"{_cell(name)},{_cell(solver)},"
        for row in zip(*_written(names, columns), strict=True):
            buffer.write(f"{head}{','.join(row)}\n")
    return buffer.getvalue()


def _written(names: Iterable[str], columns: Mapping[str, NDArray[Any]]) -> list[list[str]]:
    """The cells of each column."""
    length = min((len(v) for v in columns.values()), default=0)

    def cells(name: str) -> list[str]:
        if name not in columns:
            return [""] * length
        column = np.asarray(columns[name])[:length]
        return [repr(v) for v in (column.astype(int) if column.dtype == bool else column).tolist()]

    return [cells(name) for name in names]


def _cell(text: str) -> str:
    """A text as one cell."""
    quoted = text.replace('"', '""')
    return f'"{quoted}"' if any(c in text for c in ',"\n') else text
