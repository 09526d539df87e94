"""Curves on a log axis that survive zeros, negatives, infinities and NaN.

A single exact zero would empty a log plot.  Here nothing that cannot be drawn
is dropped: it sits at a stated floor (or ceiling) with a marker of its own,
and the raw numbers stay in the trace for exports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["LogCurve", "LogCurves", "ends_of_rows", "log_curves"]

#: Nothing is drawn below: doubles carry 16 digits.
LEAST_FLOOR = 1e-16

#: Nor above: a gap this wide says no more than that there is no bound yet.
MOST_CEILING = 1e12


class LogCurve(NamedTuple):
    """One history as drawn.

    Attributes
    ----------
    label : str
        With ``(no data)`` appended when there is nothing to draw.
    x : array, shape (n,)
        Positions of the entries that are drawn; NaN entries are left out.
    drawn : array, shape (n,)
        Finite and positive.
    kind : array of str, shape (n,)
        ``"value"``, ``"floor"`` (zero or below) or ``"ceiling"`` (infinite).
    """

    label: str
    x: Array
    drawn: Array
    kind: NDArray[np.str_]


class LogCurves(NamedTuple):
    """Several histories on one axis.

    Attributes
    ----------
    curves : tuple of LogCurve
    floor, ceiling : float
        Where values at or below zero, and infinite ones, are drawn.
    """

    curves: tuple[LogCurve, ...]
    floor: float
    ceiling: float


def log_curves(
    histories: Mapping[str, Array], *, least: float | None = None, most: float | None = None
) -> LogCurves:
    """Prepare histories for one log axis.

    Parameters
    ----------
    histories : mapping of str to array
        Raw values by label.
    least, most : float, optional
        Positive values that the axis must show too (a tolerance).

    Returns
    -------
    LogCurves
        All values finite and positive, the floor included.
    """
    arrays = {label: np.asarray(v, dtype=np.float64) for label, v in histories.items()}
    positive = [v[np.isfinite(v) & (v > 0)] for v in arrays.values()]
    seen = np.concatenate([*positive, np.array([x for x in (least, most) if x])])
    low = float(seen.min()) if seen.size else 1.0
    high = float(seen.max()) if seen.size else 1.0
    has_zero = any(np.any(v[~np.isnan(v)] <= 0) for v in arrays.values())
    has_infinite = any(np.any(np.isposinf(v)) for v in arrays.values())
    floor = max(LEAST_FLOOR, 10.0 ** (math.floor(math.log10(low)) - (1 if has_zero else 0)))
    power = math.ceil(math.log10(high)) + (1 if has_infinite else 0)
    ceiling = min(MOST_CEILING, 10.0 ** min(power, 300))
    floor = min(floor, MOST_CEILING / 10.0)
    if ceiling <= floor:
        ceiling = floor * 10.0
    return LogCurves(
        tuple(_curve(label, v, floor, ceiling) for label, v in arrays.items()), floor, ceiling
    )


def ends_of_rows(where: NDArray[np.bool_]) -> NDArray[np.intp]:
    """First and last position of each row of True: one marker for each is enough."""
    padded = np.concatenate([[False], where, [False]])
    return np.flatnonzero(where & ~(padded[:-2] & padded[2:]))


def _curve(label: str, values: Array, floor: float, ceiling: float) -> LogCurve:
    shown = np.flatnonzero(~np.isnan(values))
    kept = values[shown]
    kind = np.where(kept <= floor, "floor", np.where(np.isposinf(kept), "ceiling", "value"))
    kind[(kept > 0) & (kept == floor)] = "value"
    drawn = np.clip(np.where(np.isposinf(kept), ceiling, kept), floor, ceiling)
    name = label if shown.size else f"{label} (no data)"
    return LogCurve(name, shown.astype(np.float64), drawn, kind)
