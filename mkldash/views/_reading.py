"""Reads columns from a trace, or from a plain sequence of snapshots."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.weights import ACTIVE_THRESHOLD
from mkldash.solvers.base import Snapshot

Array = NDArray[np.float64]

__all__ = [
    "Readable", "active_weights", "column", "columns", "drawn_word", "field", "is_violated",
    "latest", "law", "thin",
]  # fmt: skip

#: A browser draws at most this many points of one curve (ARCHITECTURE: send
#: deltas, bound what is drawn).  The trace keeps them all.
MAX_POINTS = 2000

#: Rounding of one evaluation; bounds closer than this are not "violated".
VIOLATION = 1e-9


class Readable(Protocol):
    """What a view needs of a trace."""

    def __len__(self) -> int: ...

    def __getitem__(self, k: int) -> Snapshot: ...


def column(trace: Readable | Sequence[Snapshot], name: str) -> Array:
    """One scalar per recorded iteration, NaN where it was not evaluated.

    Parameters
    ----------
    trace : Trace, or sequence of Snapshot
    name : str
        A scalar field of the snapshots, or a value that the session added.

    Returns
    -------
    array, shape (n_recorded,)
    """
    return columns(trace, name)[0]


def columns(trace: Readable | Sequence[Snapshot], *names: str) -> tuple[Array, ...]:
    """Several scalars of the same iterations, from one read: the trace may grow meanwhile.

    What is drawn together is read together; two calls may differ in length.

    Parameters
    ----------
    trace : Trace, or sequence of Snapshot
    *names : str
        As for `column`.

    Returns
    -------
    tuple of array, shape (n_recorded,)
        All of one length.
    """
    read = getattr(trace, "columns", None)
    if read is not None:
        found = read()
        n = min((len(values) for values in found.values()), default=0)
        blank = np.full(n, np.nan)
        return tuple(np.asarray(found.get(name, blank)[:n], dtype=np.float64) for name in names)
    rows = [trace[i] for i in range(len(trace))]
    return tuple(
        np.array([_number(getattr(row, name, None)) for row in rows], dtype=np.float64)
        for name in names
    )


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def field(trace: Readable | Sequence[Snapshot], k: int, name: str) -> Any:
    """A field of snapshot `k`, or a value that the session added to it, or None."""
    value = getattr(trace[k], name, None)
    if value is None:
        added = getattr(trace, "values", None)
        if added is not None:
            value = added(k).get(name)
    return value


def active_weights(
    trace: Readable | Sequence[Snapshot], k: int, name: str
) -> dict[Hashable, float]:
    """Weights that count at snapshot `k`, by key, largest first; empty where there are none."""
    weights = field(trace, k, name)
    return {} if weights is None else weights.as_dict(ACTIVE_THRESHOLD)


def law(trace: Readable | Sequence[Snapshot], k: int, name: str) -> Array:
    """Probabilities at snapshot `k`, of any shape; empty where there are none (yet)."""
    found = field(trace, k, name)
    values = np.empty(0) if found is None else np.asarray(found, dtype=np.float64)
    return values if values.size and np.isfinite(values).all() else np.empty(0)


def drawn_word(trace: Readable | Sequence[Snapshot], k: int) -> tuple[int, ...] | None:
    """The product drawn at snapshot `k`, in the order of the draw; None where nothing was."""
    word = field(trace, k, "drawn")
    return None if word is None else tuple(int(i) for i in word)


def latest(values: Array, k: int) -> float:
    """The newest number up to position `k`, or NaN."""
    known = np.flatnonzero(~np.isnan(values[: k + 1])) if k >= 0 else np.empty(0, np.intp)
    return float(values[known[-1]]) if known.size else float("nan")


def is_violated(upper: Array, lower: Array) -> NDArray[np.bool_]:
    """Where a lower bound lies above an upper bound by more than rounding."""
    with np.errstate(invalid="ignore"):
        return lower > upper + VIOLATION * np.maximum(np.abs(upper), 1e-300)


def thin(n: int, limit: int = MAX_POINTS) -> NDArray[np.intp]:
    """At most `limit` positions of ``range(n)``, first and last among them.

    Every 2^j-th is kept, so that a growing history keeps the points it has.
    """
    stride = 1
    while (n - 1) // stride + 2 > limit:
        stride *= 2
    kept = np.arange(0, n, stride)
    if n and kept[-1] != n - 1:
        kept = np.append(kept, n - 1)
    return kept
