"""Compiled loops of the shifted support vector machine: K + c I, c = ||a||^2 / (2 rho).

The dual of the neighborhood problem, in a = y * alpha, is to minimise

    1/2 a'K a + ||a||^4 / (8 rho) - y'a,

whose gradient is that of a support vector machine on K + c I with the present
c.  So the shift need not be searched for: each pair step updates ||a||^2, and
the next pair is chosen at the new shift (MATH 2.1).  The loops choose pairs by
maxima over whole arrays first and look for the index afterwards: branches
would keep the compiler from vector registers.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mkldash.kernels._compiled_square import symmetric_product
from mkldash.solvers._compiled import worst_pair

Array = NDArray[np.float64]
Flag = NDArray[np.uint8]
Rows = NDArray[np.int64]

_FAST = {"reassoc", "nsz", "contract", "arcp", "nnan"}  # maxima vectorise without NaN only
_FAR = -1e300

#: Curvature of a pair along which the objective is flat, as of rows with k(x, x) = 0:
#: such a step ends at the box.
_FLAT = 1e-290

#: Steps per row without any progress of the violation after which there will be none.
PATIENCE = 100

#: Rows of a block, and the share of their violation at which a block is left.
BLOCK, WITHIN = 32, 0.5

#: Rows from which on blocks pay: below, all of K is in the cache anyway.
BLOCKS_FROM = 512


@njit(cache=True, nogil=True, fastmath=_FAST)
def _advance(
    g: Array, row_i: Array, row_j: Array, delta: float, a: Array, c: float, up: Array, down: Array
) -> tuple[float, float]:
    """Take the last step into g = y - K a; the largest and least e = g - c a that may move."""
    top, bottom = _FAR, -_FAR
    for i in range(a.shape[0]):
        g[i] -= delta * (row_i[i] - row_j[i])
        e = g[i] - c * a[i]
        top = max(top, e + up[i])
        bottom = min(bottom, e - down[i])
    return top, bottom


@njit(cache=True, nogil=True, fastmath=_FAST)
def _best_gain(
    g: Array, a: Array, c: float, down: Array, row: Array, diagonal: Array, top: float, k_ii: float
) -> float:
    """Largest second-order gain of any partner of the row at `top`."""
    best = 0.0
    base = k_ii + 2.0 * c
    for j in range(a.shape[0]):
        slack = max(top - g[j] + c * a[j] + down[j], 0.0)
        floor = 1e-12 * (base + diagonal[j]) + _FLAT
        curvature = max(base + diagonal[j] - 2.0 * row[j], floor)
        best = max(best, slack * slack / curvature)
    return best


@njit(cache=True, nogil=True)
def _first_at(g: Array, a: Array, c: float, up: Array, top: float) -> int:
    """Row at which e reaches `top` (within rounding, which vector code may change)."""
    near = 1e-12 * (1.0 + abs(top))
    for i in range(a.shape[0]):
        if up[i] == 0.0 and g[i] - c * a[i] >= top - near:
            return i
    return -1


@njit(cache=True, nogil=True)
def _partner_at(
    g: Array, a: Array, c: float, down: Array, row: Array, diagonal: Array, top: float,
    k_ii: float, gain: float,
) -> int:  # fmt: skip
    """Row whose gain is `gain` within rounding; near the optimum, where the slack is
    mostly rounding and vector code may differ, the row of the largest gain."""
    base = k_ii + 2.0 * c
    near = gain * (1.0 - 1e-6)
    best, found = 0.0, -1
    for j in range(a.shape[0]):
        if down[j] == 0.0:
            slack = top - g[j] + c * a[j]
            if slack > 0.0:
                floor = 1e-12 * (base + diagonal[j]) + _FLAT
                curvature = max(base + diagonal[j] - 2.0 * row[j], floor)
                value = slack * slack / curvature
                if value >= near:
                    return j
                if value > best:
                    best, found = value, j
    return found


@njit(cache=True, nogil=True)
def _line_search(
    slack_g: float, curvature: float, square: float, difference: float, rho: float, most: float
) -> float:
    """Exact step along a pair: root of the cubic derivative, by Newton, in [0, most]."""
    half = 0.5 / rho
    if half == 0.0:
        return min(slack_g / curvature, most)
    delta = 0.0
    for _ in range(30):
        s = square + 2.0 * delta * difference + 2.0 * delta * delta
        arm = difference + 2.0 * delta
        slope = curvature * delta - slack_g + half * s * arm
        bend = curvature + half * (2.0 * arm * arm + 2.0 * s)
        # Kept inside: from beyond the root Newton comes back without passing it.
        following = min(max(delta - slope / bend, 0.0), most)
        move = following - delta
        delta = following
        if abs(move) <= 1e-12 * delta:
            break
    return delta


@njit(cache=True, nogil=True)
def _mark(a: Array, low: Array, high: Array, up: Array, down: Array, i: int) -> None:
    up[i] = 0.0 if a[i] < high[i] else _FAR
    down[i] = 0.0 if a[i] > low[i] else _FAR


@njit(cache=True, nogil=True)
def shifted_smo(
    K: Array, y: Array, C: float, rho: float, a: Array, g: Array, outside: float, tol: float,
    max_steps: int, cancel: Flag,
) -> int:  # fmt: skip
    """Sequential minimal optimisation of the quartic, in place; returns the steps.

    Parameters
    ----------
    K : array, shape (n, n)
        Symmetric, C order.
    y, a, g : array, shape (n,)
        Labels; signed dual coefficients and g = y - K a, both updated.
    C, rho : float
        Box, strength of the neighborhood penalty.
    outside : float
        Sum of a_i^2 over rows that are not among these.
    tol : float
        Violation at which to stop.
    max_steps : int
    cancel : array of uint8, shape (1,)
    """
    n = y.shape[0]
    low = np.where(y > 0.0, 0.0, -C)
    high = np.where(y > 0.0, C, 0.0)
    up, down, diagonal = np.empty(n), np.empty(n), np.empty(n)
    square = outside
    for i in range(n):
        _mark(a, low, high, up, down, i)
        diagonal[i] = K[i, i]
        square += a[i] * a[i]
    delta, row_i, row_j = 0.0, K[0], K[0]
    least, patience = np.inf, PATIENCE * n
    for step in range(max_steps):
        c = 0.5 * square / rho
        top, bottom = _advance(g, row_i, row_j, delta, a, c, up, down)
        if top - bottom <= tol or ((step & 255) == 0 and cancel[0] != 0):
            return step
        patience -= 1
        if top - bottom < 0.9 * least:
            least, patience = top - bottom, PATIENCE * n
        elif patience < 0:  # rounding: steps go to and fro
            return step
        i = _first_at(g, a, c, up, top)
        if i < 0:
            return step
        row_i = K[i]
        gain = _best_gain(g, a, c, down, row_i, diagonal, top, diagonal[i])
        j = _partner_at(g, a, c, down, row_i, diagonal, top, diagonal[i], gain)
        if j < 0 or gain <= 0.0:
            return step
        row_j = K[j]
        floor = 1e-12 * (diagonal[i] + diagonal[j]) + _FLAT
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], floor)
        room_i, room_j = high[i] - a[i], a[j] - low[j]
        difference = a[i] - a[j]
        most = min(room_i, room_j)
        delta = _line_search(g[i] - g[j], curvature, square, difference, rho, most)
        square += 2.0 * delta * difference + 2.0 * delta * delta
        a[i] = high[i] if delta == room_i else a[i] + delta
        a[j] = low[j] if delta == room_j else a[j] - delta
        _mark(a, low, high, up, down, i)
        _mark(a, low, high, up, down, j)
        if (step & 255) == 255:  # what rounding gathered
            square = outside
            for k in range(n):
                square += a[k] * a[k]
    return max_steps


@njit(cache=True, nogil=True)
def _insert(value: float, row: int, values: Array, rows: Rows) -> None:
    """Put a row into the list of the largest, which is in descending order."""
    k = values.shape[0] - 1
    while k > 0 and values[k - 1] < value:
        values[k], rows[k] = values[k - 1], rows[k - 1]
        k -= 1
    values[k], rows[k] = value, row


@njit(cache=True, nogil=True)
def _furthest(
    g: Array, a: Array, c: float, low: Array, high: Array, rising: Array, falling: Array,
    rise: Rows, fall: Rows,
) -> None:  # fmt: skip
    """Rows with the largest e = g - c a that may rise, and with the least that may fall."""
    rising[:], falling[:] = -np.inf, -np.inf
    last = rising.shape[0] - 1
    for i in range(a.shape[0]):
        e = g[i] - c * a[i]
        if e > rising[last] and a[i] < high[i]:
            _insert(e, i, rising, rise)
        if -e > falling[last] and a[i] > low[i]:
            _insert(-e, i, falling, fall)


@njit(cache=True, nogil=True)
def _together(rising: Array, falling: Array, rise: Rows, fall: Rows, out: Rows) -> int:
    """Write the rows that violate against the other list into `out`, each once; their number."""
    count = 0
    for k in range(rise.shape[0]):
        if rising[k] + falling[0] > 0.0:
            out[count] = rise[k]
            count += 1
    for k in range(fall.shape[0]):
        if falling[k] + rising[0] > 0.0:
            known = False
            for j in range(count):
                known = known or out[j] == fall[k]
            if not known:
                out[count] = fall[k]
                count += 1
    return count


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _subtract(K: Array, rows: Rows, moved: Array, count: int, g: Array) -> None:
    """g -= K[rows]' moved, four rows at a time: each entry of g is read a quarter as often."""
    k = 0
    while k + 4 <= count:
        r0, r1, r2, r3 = K[rows[k]], K[rows[k + 1]], K[rows[k + 2]], K[rows[k + 3]]
        d0, d1, d2, d3 = moved[k], moved[k + 1], moved[k + 2], moved[k + 3]
        for i in range(g.shape[0]):
            g[i] -= (d0 * r0[i] + d1 * r1[i]) + (d2 * r2[i] + d3 * r3[i])
        k += 4
    while k < count:
        row, d = K[rows[k]], moved[k]
        for i in range(g.shape[0]):
            g[i] -= d * row[i]
        k += 1


@njit(cache=True, nogil=True)
def shifted_blocks(
    K: Array, y: Array, C: float, rho: float, a: Array, g: Array, tol: float, max_steps: int,
    cancel: Flag,
) -> int:  # fmt: skip
    """`shifted_smo` on the most violating rows at a time, in place; returns the pair steps.

    A pair step reads all of g and two rows of K and moves two entries.  Here the
    pair steps run within a few rows, whose block of K stays in the cache, and g
    is brought up to date once for all that moved.

    Parameters
    ----------
    K, y, C, rho, a, g, tol, max_steps, cancel
        As for `shifted_smo`.
    """
    half = min(BLOCK // 2, y.shape[0])
    low = np.where(y > 0.0, 0.0, -C)
    high = np.where(y > 0.0, C, 0.0)
    rising, falling = np.empty(half), np.empty(half)
    rise, fall = np.zeros(half, np.int64), np.zeros(half, np.int64)
    rows, moving, moved = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64), np.empty(BLOCK)
    steps, least, patience = 0, np.inf, PATIENCE * y.shape[0]
    while steps < max_steps and cancel[0] == 0:
        square = (a * a).sum()
        _furthest(g, a, 0.5 * square / rho, low, high, rising, falling, rise, fall)
        violation = rising[0] + falling[0]
        if not violation > tol:
            return steps
        if violation < 0.9 * least:
            least, patience = violation, steps + PATIENCE * y.shape[0]
        elif steps > patience:
            return steps
        m = _together(rising, falling, rise, fall, rows)
        part, labels, residual, block = np.empty(m), np.empty(m), np.empty(m), np.empty((m, m))
        for k in range(m):
            part[k], labels[k], residual[k] = a[rows[k]], y[rows[k]], g[rows[k]]
            for j in range(m):
                block[k, j] = K[rows[k], rows[j]]
        outside = max(0.0, square - (part * part).sum())
        taken = shifted_smo(
            block, labels, C, rho, part, residual, outside, max(tol, WITHIN * violation),
            min(max_steps - steps, BLOCK * BLOCK), cancel,
        )  # fmt: skip
        count = 0
        for k in range(m):
            if part[k] != a[rows[k]]:
                moving[count], moved[count] = rows[k], part[k] - a[rows[k]]
                a[rows[k]] = part[k]
                count += 1
        if count == 0:
            return steps
        _subtract(K, moving, moved, count, g)
        steps += taken
    return steps


@njit(cache=True, nogil=True)
def shifted_train(
    K: Array, y: Array, C: float, rho: float, a: Array, decision: Array, tol: float,
    max_steps: int, cancel: Flag,
) -> tuple[int, float, Array]:  # fmt: skip
    """Run `shifted_smo` from `a`, with `decision` = K a, until the recomputed violation is met.

    Returns
    -------
    steps : int
    violation : float
    decision : array, shape (n,)
        K a, without the shift.
    """
    steps = 0
    worst = np.inf
    while steps < max_steps and cancel[0] == 0:
        g = y - decision
        if y.shape[0] >= BLOCKS_FROM:
            taken = shifted_blocks(K, y, C, rho, a, g, tol, max_steps - steps, cancel)
        else:
            taken = shifted_smo(K, y, C, rho, a, g, 0.0, tol, max_steps - steps, cancel)
        steps += taken
        decision = symmetric_product(K, a)
        c = 0.5 * (a * a).sum() / rho
        before = worst
        worst = worst_pair(a, y - decision - c * a, y, C)
        if worst <= tol or taken == 0 or worst >= before:
            break
    if worst == np.inf:
        worst = worst_pair(a, y - decision - 0.5 * (a * a).sum() / rho * a, y, C)
    return steps, worst, decision
