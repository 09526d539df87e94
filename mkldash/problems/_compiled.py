"""Compiled loops of the projection; compiled when first called, then cached.

All work on one array s with s_i = v_i - C where y_i = +1 and -v_i where
y_i = -1: then sum_i y_i x_i(shift) = C n_plus - sum_i clip(shift - s_i, 0, C).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_REORDER = {"reassoc", "nsz", "contract", "arcp"}  # lets sums use vector registers
_EPS = 2.220446049250313e-16
_MOST_NEWTON = 60
_MOST_WRITES = 3

#: Rows of the sample whose root begins the search, and Newton steps taken on it.
_SAMPLE, _SAMPLE_STEPS = 256, 3

#: Excess, in units of C, from which one more step of Newton's is taken for the last.
_LAST_STEP = 0.5


@njit(cache=True, nogil=True, fastmath=_REORDER)
def fold(v: Floats, y: Floats, C: float) -> tuple[Floats, float, float]:
    """The array s, the number of positive labels, and 0 when all values can be used."""
    s = np.empty(v.shape[0])
    positive = 0.0
    odd = 0.0
    for i in range(v.shape[0]):
        up = 0.5 * (1.0 + y[i])
        s[i] = y[i] * v[i] - up * C
        positive += up
        # NaN and infinite values give NaN here, labels other than -1 and +1 give more than 0.
        odd += abs(y[i] * y[i] - 1.0) + 0.0 * v[i]
    return s, positive, odd


@njit(cache=True, nogil=True, fastmath=_REORDER)
def filled(s: Floats, shift: float, C: float) -> float:
    """sum_i clip(shift - s_i, 0, C), by minimum and maximum so that it vectorises."""
    total = 0.0
    for i in range(s.shape[0]):
        total += min(max(shift - s[i], 0.0), C)
    return total


@njit(cache=True, nogil=True, fastmath=_REORDER)
def filled_and_slope(s: Floats, shift: float, C: float) -> tuple[float, float]:
    """`filled`, and how many terms lie strictly between 0 and C."""
    total = 0.0
    inside = 0.0
    for i in range(s.shape[0]):
        clipped = min(max(shift - s[i], 0.0), C)
        total += clipped
        inside += 1.0 if (clipped > 0.0) & (clipped < C) else 0.0
    return total, inside


@njit(cache=True, nogil=True, fastmath=_REORDER)
def unfold(v: Floats, y: Floats, shift: float, C: float, x: Floats) -> tuple[float, float]:
    """Write x_i = clip(v_i - shift y_i, 0, C); y'x, and how many lie strictly between.

    `x` is handed in: the page faults of fresh memory cost more than the rest.
    """
    excess = 0.0
    inside = 0.0
    for i in range(v.shape[0]):
        clipped = min(max(v[i] - shift * y[i], 0.0), C)
        x[i] = clipped
        excess += y[i] * clipped
        inside += 1.0 if (clipped > 0.0) & (clipped < C) else 0.0
    return excess, inside


@njit(cache=True, nogil=True, fastmath=_REORDER)
def fold_and_fill(
    v: Floats, y: Floats, C: float, shift: float, s: Floats
) -> tuple[float, float, float, float]:
    """Write the array s; `filled_and_slope` at a first shift in the same pass.

    Returns
    -------
    positive, odd, total, inside
    """
    total, inside, positive, odd, size = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(v.shape[0]):
        up = 0.5 * (1.0 + y[i])
        value = y[i] * v[i] - up * C
        s[i] = value
        clipped = min(max(shift - value, 0.0), C)
        total += clipped
        inside += 1.0 if (clipped > 0.0) & (clipped < C) else 0.0
        positive += up
        odd += abs(y[i] * y[i] - 1.0)
        size += 0.0 * v[i]  # NaN where v is not finite
    return positive, odd + size, total, inside


@njit(cache=True, nogil=True)
def limits(s: Floats, C: float) -> tuple[float, float]:
    """Where `filled` is still 0, and where it is n C already."""
    low, high = s[0], s[0]
    for i in range(s.shape[0]):
        low, high = min(low, s[i]), max(high, s[i])
    return low, high + C


@njit(cache=True, nogil=True)
def next_start(s: Floats, shift: float, C: float, up: bool) -> float:
    """The nearest breakpoint beyond a flat stretch, in the direction asked for."""
    best = np.inf if up else -np.inf
    for i in range(s.shape[0]):
        if up:
            if s[i] >= shift:
                best = min(best, s[i])
        elif s[i] + C <= shift:
            best = max(best, s[i] + C)
    return best


@njit(cache=True, nogil=True)
def touching(s: Floats, shift: float, C: float, up: bool) -> float:
    """Slope of `filled` to the right (`up`) or to the left of `shift`."""
    count = 0.0
    for i in range(s.shape[0]):
        d = shift - s[i]
        if up:
            count += 1.0 if (d >= 0.0) & (d < C) else 0.0
        else:
            count += 1.0 if (d > 0.0) & (d <= C) else 0.0
    return count


@njit(cache=True, nogil=True, fastmath=_REORDER)
def piece(v: Floats, y: Floats, shift: float, C: float) -> tuple[float, float, float]:
    """Of h around `shift`: sum of y_i x_i strictly inside, their number, and the
    number of positive less that of negative labels at C."""
    inside, count, full = 0.0, 0.0, 0.0
    for i in range(v.shape[0]):
        x = min(max(v[i] - shift * y[i], 0.0), C)
        free = 1.0 if (x > 0.0) & (x < C) else 0.0
        inside += free * y[i] * x
        count += free
        full += y[i] if x == C else 0.0
    return inside, count, full


@njit(cache=True, nogil=True)
def polish(v: Floats, y: Floats, shift: float, C: float) -> float:
    """The root of the linear piece that `shift` lies on, to the last digit.

    The array s mixes v with C, which costs digits when C is huge; and terms at
    C are counted, not summed.
    """
    best, least = shift, np.inf
    for _ in range(8):
        inside, count, full = piece(v, y, shift, C)
        excess = inside + C * full
        if abs(excess) < least:
            best, least = shift, abs(excess)
        elif excess != 0.0:
            return best
        if count == 0.0 or excess == 0.0:
            return best
        following = shift + excess / count
        if abs(following - shift) <= 4.0 * _EPS * max(1.0, abs(shift)):
            return following
        shift = following
    return best


@njit(cache=True, nogil=True)
def newton_root(
    s: Floats, C: float, target: float, shift: float, value: float, slope: float
) -> tuple[float, int]:
    """Newton on a non-decreasing piecewise linear function, kept in a bracket.

    Parameters
    ----------
    shift, value, slope : float
        Where to begin, and the function there.

    Returns
    -------
    shift, evaluations
    """
    low, high = -np.inf, np.inf
    if not np.isfinite(value):
        low, high = limits(s, C)
        shift = 0.5 * low + 0.5 * high
        value, slope = filled_and_slope(s, shift, C)
    for evaluation in range(1, _MOST_NEWTON):
        excess = value - target
        if excess < 0.0:
            low = shift
        else:
            high = shift
        if excess == 0.0:
            return shift, evaluation
        if slope == 0.0:
            # Flat here: on to the breakpoint that ends it, and off its far side.
            edge = next_start(s, shift, C, excess < 0.0)
            slope = touching(s, edge, C, excess < 0.0)
            if slope == 0.0:
                break
            following = edge - excess / slope
        else:
            following = shift - excess / slope
        if following == shift:
            return shift, evaluation
        if not low < following < high:
            break
        shift = following
        # A step this short seldom crosses a breakpoint: whoever writes the result
        # evaluates there anyway, and sees whether it was the last.
        if abs(excess) <= _LAST_STEP * C:
            return shift, evaluation
        value, slope = filled_and_slope(s, shift, C)
    return bisection_root(s, C, target, low, high)


@njit(cache=True, nogil=True)
def bisection_root(
    s: Floats, C: float, target: float, low: float, high: float
) -> tuple[float, int]:
    """Halve the bracket until no number lies between its ends."""
    first, last = limits(s, C)
    low, high = max(low, first), min(high, last)
    evaluations = 0
    while True:
        middle = 0.5 * low + 0.5 * high
        if not low < middle < high:
            return middle, evaluations
        evaluations += 1
        value = filled(s, middle, C)
        if value == target:
            return middle, evaluations
        if value < target:
            low = middle
        else:
            high = middle


@njit(cache=True, nogil=True)
def brent_root(s: Floats, C: float, target: float) -> tuple[float, int]:
    """Brent's interpolation (Dekker's bracket, inverse quadratic steps)."""
    a, b = limits(s, C)
    fa, fb = filled(s, a, C) - target, filled(s, b, C) - target
    evaluations = 2
    if fa >= 0.0:
        return a, evaluations
    if fb <= 0.0:
        return b, evaluations
    c, fc, step, before = a, fa, b - a, b - a
    while evaluations < 400:
        if abs(fc) < abs(fb):
            a, b, c = b, c, b
            fa, fb, fc = fb, fc, fb
        near = 2.0 * _EPS * abs(b)
        half = 0.5 * (c - b)
        if fb == 0.0 or abs(half) <= near:
            break
        if abs(before) < near or abs(fa) <= abs(fb):
            step = before = half
        else:
            ratio = fb / fa
            if a == c:
                p, q = 2.0 * half * ratio, 1.0 - ratio
            else:
                q, r = fa / fc, fb / fc
                p = ratio * (2.0 * half * q * (q - r) - (b - a) * (r - 1.0))
                q = (q - 1.0) * (r - 1.0) * (ratio - 1.0)
            if p > 0.0:
                q = -q
            else:
                p = -p
            if 2.0 * p < min(3.0 * half * q - abs(near * q), abs(before * q)):
                before, step = step, p / q
            else:
                step = before = half
        a, fa = b, fb
        b += step if abs(step) > near else (near if half > 0.0 else -near)
        fb = filled(s, b, C) - target
        evaluations += 1
        if (fb > 0.0) == (fc > 0.0):
            c, fc = a, fa
            step = before = b - a
    return b, evaluations


@njit(cache=True, nogil=True)
def sorted_root(starts: Floats, C: float, target: float) -> float:
    """Walk along all 2 n breakpoints in order, `starts` and `starts` + C, both sorted."""
    n = starts.shape[0]
    value, slope, at = 0.0, 0.0, starts[0]
    i = j = 0
    while j < n:
        rises = i < n and starts[i] <= starts[j] + C
        point = starts[i] if rises else starts[j] + C
        reached = value + slope * (point - at)
        if slope > 0.0 and reached >= target:
            return at + (target - value) / slope
        value, at = reached, point
        if rises:
            slope += 1.0
            i += 1
        else:
            slope -= 1.0
            j += 1
            if slope == 0.0:
                value = C * j  # what has risen whole, without the rounding on the way
    return at


@njit(cache=True, nogil=True)
def first_shift(v: Floats, y: Floats, C: float, scratch: Floats) -> float:
    """Where Newton begins: the root for a sample of the rows, or nearly that.

    The sample is written to `scratch`, as long as v: new memory would cost as much
    as a pass.
    """
    n = v.shape[0]
    m = n if n <= 2 * _SAMPLE else _SAMPLE
    s = scratch[:m]
    positive, mean = 0.0, 0.0
    for k in range(m):
        # Neighbours in eights, so that few cache lines are read; eights far apart,
        # so that rows in some order are sampled throughout.
        i = k if m == n else (k >> 3) * (n // (m >> 3)) + (k & 7)
        up = 0.5 * (1.0 + y[i])
        s[k] = y[i] * v[i] - up * C
        positive += up
        mean += s[k] / m
    shift = C * positive / m + mean
    for _ in range(_SAMPLE_STEPS):
        value, slope = filled_and_slope(s, shift, C)
        if slope == 0.0:
            break
        shift -= (value - C * positive) / slope
    return shift


@njit(cache=True, nogil=True)
def project_newton(v: Floats, y: Floats, C: float, x: Floats) -> tuple[float, float, int, float]:
    """Everything in one call: writes x; y'x, shift, evaluations, and 0 when all can be used."""
    n = v.shape[0]
    start = first_shift(v, y, C, x)
    # s stands where x will be: one array less to read, and no new memory.
    positive, odd, total, inside = fold_and_fill(v, y, C, start, x)
    if odd != 0.0 or positive == 0.0 or positive == n:
        x[:] = 0.0
        return 0.0, 0.0, 0, odd
    shift, evaluations = newton_root(x, C, C * positive, start, total, inside)
    excess = np.inf
    for _ in range(_MOST_WRITES):
        excess, slope = unfold(v, y, shift, C, x)
        evaluations += 1
        if abs(excess) <= _EPS * max(1.0, abs(shift)) * max(1.0, slope):
            return excess, shift, evaluations, odd
        if slope == 0.0:
            break
        shift += excess / slope
    shift = polish(v, y, shift, C)
    excess, _ = unfold(v, y, shift, C, x)
    return excess, shift, evaluations + 1, odd
