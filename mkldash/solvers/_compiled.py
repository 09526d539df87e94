"""Compiled loops of the solvers.  Free functions on arrays, nogil, cached."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mkldash.kernels._compiled_square import product

Array = NDArray[np.float64]
Flag = NDArray[np.uint8]

__all__ = ["feasible", "smo", "train", "worst_pair"]


@njit(cache=True, nogil=True)
def _partner(
    row: Array, a: Array, low: Array, e: Array, diagonal: Array, i: int, top: float
) -> int:
    """The row whose exchange with row i gains most in the quadratic model; -1 if none does."""
    k_ii = diagonal[i]
    gain = 0.0
    best = -1
    for j in range(a.shape[0]):
        if a[j] > low[j]:
            slack = top - e[j]
            if slack > 0.0:
                floor = 1e-12 * (k_ii + diagonal[j]) + 1e-300
                curvature = max(k_ii + diagonal[j] - 2.0 * row[j], floor)
                value = slack * slack / curvature
                if value > gain:
                    gain = value
                    best = j
    return best


@njit(cache=True, nogil=True)
def _exchange(a: Array, i: int, j: int, delta: float, room_i: float, room_j: float) -> float:
    """Move up to delta from a_j to a_i; lands exactly on a bound that it reaches."""
    start_i, start_j = a[i], a[j]
    moved = min(delta, room_i, room_j)
    a[i] = start_i + room_i if moved == room_i else start_i + moved
    a[j] = start_j - room_j if moved == room_j else start_j - moved
    return moved


@njit(cache=True, nogil=True)
def smo(
    K: Array, y: Array, C: float, a: Array, e: Array, tol: float, max_steps: int, cancel: Flag
) -> int:
    """Sequential minimal optimisation with second-order working sets, in place.

    Works on a = y * alpha, so that the box is [0, C] for y = +1 and [-C, 0]
    for y = -1, and on e = y - K a, so that the bias of the optimum separates
    max over {a can rise} of e from min over {a can fall}.  The pair is chosen
    as in Fan, Chen and Lin (2005): the most violating row, then the partner
    with the largest second-order gain.

    Parameters
    ----------
    K : array, shape (n, n)
        Symmetric, C order.
    y, a, e : array, shape (n,)
        Labels; signed dual coefficients and their residuals, both updated.
    C, tol : float
        Box, and the violation at which to stop.
    max_steps : int
    cancel : array of uint8, shape (1,)

    Returns
    -------
    int
        Pair updates made.
    """
    n = y.shape[0]
    low = np.where(y > 0.0, 0.0, -C)
    high = np.where(y > 0.0, C, 0.0)
    diagonal = np.empty(n)
    for i in range(n):
        diagonal[i] = K[i, i]
    delta, row_i, row_j = 0.0, K[0], K[0]
    for step in range(max_steps):
        top, bottom, first = -np.inf, np.inf, -1
        for i in range(n):
            value = e[i] - delta * (row_i[i] - row_j[i])
            e[i] = value
            if a[i] < high[i] and value > top:
                top = value
                first = i
            if a[i] > low[i] and value < bottom:
                bottom = value
        if first < 0 or top - bottom <= tol or ((step & 255) == 0 and cancel[0] != 0):
            return step
        row_i = K[first]
        second = _partner(row_i, a, low, e, diagonal, first, top)
        if second < 0:
            return step
        row_j = K[second]
        floor = 1e-12 * (diagonal[first] + diagonal[second]) + 1e-300
        curvature = max(diagonal[first] + diagonal[second] - 2.0 * row_i[second], floor)
        delta = _exchange(
            a,
            first,
            second,
            (top - e[second]) / curvature,
            high[first] - a[first],
            a[second] - low[second],
        )
    return max_steps


@njit(cache=True, nogil=True)
def feasible(a: Array, y: Array, C: float) -> bool:
    """Whether a = y * alpha lies in the box with a zero sum, up to rounding."""
    total = 0.0
    size = 0.0
    for i in range(a.shape[0]):
        alpha = a[i] * y[i]
        if not (0.0 <= alpha <= C):
            return False
        total += a[i]
        size += alpha
    return abs(total) <= 1e-12 * size


@njit(cache=True, nogil=True)
def worst_pair(a: Array, e: Array, y: Array, C: float) -> float:
    """max e over {a can rise} - min e over {a can fall}, at least 0."""
    top = -np.inf
    bottom = np.inf
    for i in range(a.shape[0]):
        alpha = a[i] * y[i]
        can_rise = alpha < C if y[i] > 0.0 else alpha > 0.0
        can_fall = alpha > 0.0 if y[i] > 0.0 else alpha < C
        if can_rise and e[i] > top:
            top = e[i]
        if can_fall and e[i] < bottom:
            bottom = e[i]
    if top == -np.inf or bottom == np.inf:
        return 0.0
    return max(0.0, top - bottom)


@njit(cache=True, nogil=True)
def train(
    K: Array, y: Array, C: float, a: Array, tol: float, max_steps: int, cancel: Flag
) -> tuple[int, float, Array]:
    """Run `smo` from `a` (changed in place) until the recomputed violation is below tol.

    Parameters
    ----------
    K, y, C, tol, max_steps, cancel
        As for `smo`.
    a : array, shape (n,)
        Feasible signed dual coefficients.

    Returns
    -------
    steps : int
    violation : float
    decision : array, shape (n,)
        K a.
    """
    steps = 0
    worst = np.inf
    decision = product(K, a)
    while steps < max_steps and cancel[0] == 0:
        e = y - decision
        taken = smo(K, y, C, a, e, tol, max_steps - steps, cancel)
        steps += taken
        # Recomputing removes what rounding gathered over the steps.
        decision = product(K, a)
        before = worst
        worst = worst_pair(a, y - decision, y, C)
        if worst <= tol or taken == 0 or worst >= before:
            break
    if worst == np.inf:
        worst = worst_pair(a, y - decision, y, C)
    return steps, worst, decision
