"""The one definition of the gap, and the exact bias of the hinge loss."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["VIOLATION_TOLERANCE", "bounds_violated", "hinge_bias", "relative_gap"]

#: Bounds may cross by this much, relatively, from rounding alone.
VIOLATION_TOLERANCE = 1e-9


def relative_gap(upper: float, lower: float) -> float:
    """Relative duality gap, upper/lower - 1.

    It promises an objective within gap x optimum.  A lower bound of zero or
    less promises nothing, so the gap is infinite then; the bare formula would
    turn negative and stop a run at its first iteration (MATH 0.1).

    Parameters
    ----------
    upper, lower : float
        Primal value and certified lower bound, in units of the objective.

    Returns
    -------
    float
        0 when the bounds meet or cross within rounding; negative when they
        cross by more, which only a faulty certificate does.
    """
    if math.isnan(upper) or math.isnan(lower):
        return math.nan
    if lower >= upper:
        return upper / lower - 1.0 if bounds_violated(upper, lower) and lower > 0 else 0.0
    if lower <= 0.0 or math.isinf(upper):
        return math.inf
    return upper / lower - 1.0


def bounds_violated(upper: float, lower: float) -> bool:
    """Whether lower exceeds upper by more than rounding can explain."""
    return lower - upper > VIOLATION_TOLERANCE * max(abs(upper), abs(lower))


def hinge_bias(decision: Array, y: Array) -> tuple[float, float]:
    """The bias b that minimises sum_i max(0, 1 - y_i (f_i + b)), exactly.

    The sum is convex and piecewise linear in b with breakpoints y_i - f_i.
    Its slope starts at minus the number of positive labels and rises by one
    at each, so every b between two order statistics is a minimiser; their
    midpoint is returned, which is the usual margin bias when free support
    vectors exist.

    Parameters
    ----------
    decision : array, shape (n_rows,)
        f without bias.
    y : array, shape (n_rows,)
        Labels, -1 or +1.

    Returns
    -------
    bias : float
    loss : float
        The minimum of the sum (not multiplied by C).
    """
    n_positive = int(np.count_nonzero(y > 0))
    n = y.shape[0]
    breaks = y - decision
    if n_positive == 0:
        bias = float(breaks.min())
    elif n_positive == n:
        bias = float(breaks.max())
    else:
        part = np.partition(breaks, (n_positive - 1, n_positive))
        bias = 0.5 * float(part[n_positive - 1] + part[n_positive])
    loss = float(np.maximum(0.0, 1.0 - y * (decision + bias)).sum())
    return bias, loss
