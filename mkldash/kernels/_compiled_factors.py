"""Compiled loops for low-rank factors; see `_compiled` for the habits.

Kernel k owns columns offsets[k] .. offsets[k + 1] of one array L (n, R), whose
rows are in memory order: the rows of the support vectors are then read straight.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TILE = 2048  # doubles, see _compiled
_REORDER = {"reassoc", "nsz", "contract", "arcp"}  # lets sums use vector registers


@njit(cache=True, nogil=True)
def distance_column(columns: Floats, pivot: int) -> Floats:
    """|x_i - x_pivot|^2 for every i, shape (m,), from columns (p, m)."""
    p, m = columns.shape
    out = np.zeros(m)
    for column in range(p):
        x = columns[column]
        centre = x[pivot]
        for i in range(m):
            difference = x[i] - centre
            out[i] += difference * difference
    return out


@njit(cache=True, nogil=True)
def product_column(columns: Floats, pivot: int) -> Floats:
    """x_i'x_pivot for every i, shape (m,), from columns (p, m)."""
    p, m = columns.shape
    out = np.zeros(m)
    for column in range(p):
        x = columns[column]
        for i in range(m):
            out[i] += x[i] * x[pivot]
    return out


@njit(cache=True, nogil=True)
def cholesky_step(
    factor: Floats, rank: int, pivots: Ints, column: Floats, left: Floats, counts: Floats
) -> tuple[float, int]:
    """Eliminate pivots[rank], whose kernel column is given.

    Writes row `rank` of factor (one column of L a row), lowers `left`, the
    diagonal of the residual, and returns (sum_i counts_i left_i, next pivot).
    """
    m = column.shape[0]
    pivot = pivots[rank]
    new = factor[rank]
    new[:] = column
    fours = rank - rank % 4
    for j in range(0, fours, 4):
        f1, f2, f3, f4 = factor[j], factor[j + 1], factor[j + 2], factor[j + 3]
        c1, c2, c3, c4 = f1[pivot], f2[pivot], f3[pivot], f4[pivot]
        for i in range(m):
            new[i] -= c1 * f1[i] + c2 * f2[i] + c3 * f3[i] + c4 * f4[i]
    for j in range(fours, rank):
        row, c = factor[j], factor[j, pivot]
        for i in range(m):
            new[i] -= c * row[i]
    root = np.sqrt(left[pivot])
    for i in range(m):
        new[i] /= root
    # What is left of earlier pivots is rounding; they are eliminated for good.
    for j in range(rank):
        new[pivots[j]] = 0.0
    new[pivot] = root
    total = 0.0
    best = 0
    for i in range(m):
        left[i] = max(left[i] - new[i] * new[i], 0.0)
    left[pivot] = 0.0
    for i in range(m):
        total += counts[i] * left[i]
        if left[i] > left[best]:
            best = i
    return total, best


@njit(cache=True, nogil=True)
def interpolation_sums(factor: Floats, pivots: Ints, sizes: Floats) -> Floats:
    """sum_p |W_pi| sizes[pivots_p] for every row i, shape (m,).

    W (r, m) solves factor[:, pivots] W = factor, an upper triangle: the weights
    with which the pivots' kernel rows interpolate those of row i.
    """
    rank, m = factor.shape
    W = factor.copy()
    out = np.zeros(m)
    for j in range(rank - 1, -1, -1):
        row = W[j]
        for later in range(j + 1, rank):
            c, lower = factor[j, pivots[later]], W[later]
            for i in range(m):
                row[i] -= c * lower[i]
        diagonal, size = factor[j, pivots[j]], sizes[pivots[j]]
        for i in range(m):
            row[i] /= diagonal
            out[i] += size * abs(row[i])
    return out


@njit(cache=True, nogil=True)
def centred_trace(factor: Floats, counts: Floats) -> float:
    """trace(H L L' H) without cancellation, factor (r, m) with row counts (m,)."""
    n = counts.sum()
    total = 0.0
    for j in range(factor.shape[0]):
        mean = 0.0
        for i in range(factor.shape[1]):
            mean += counts[i] * factor[j, i]
        mean /= n
        for i in range(factor.shape[1]):
            total += counts[i] * (factor[j, i] - mean) ** 2
    return total


@njit(cache=True, nogil=True)
def place(factor: Floats, inverse: Ints, root: float, out: Floats, start: int) -> None:
    """out[i, start + j] = root factor[j, inverse[i]]: distinct rows to all rows."""
    rank = factor.shape[0]
    for low in range(0, rank, 8):
        high = min(low + 8, rank)
        for i in range(inverse.shape[0]):
            source = inverse[i]
            for j in range(low, high):
                out[i, start + j] = root * factor[j, source]


@njit(cache=True, nogil=True)
def support_sums(L: Floats, rows: Ints, values: Floats) -> Floats:
    """t = sum_i values_i L[rows_i], shape (R,): all L_k'a in one pass."""
    size = L.shape[1]
    count = rows.shape[0]
    fours = count - count % 4
    out = np.zeros(size)
    for low in range(0, size, _TILE):
        high = min(low + _TILE, size)
        for r in range(0, fours, 4):
            l1, l2, l3, l4 = L[rows[r]], L[rows[r + 1]], L[rows[r + 2]], L[rows[r + 3]]
            a1, a2, a3, a4 = values[r], values[r + 1], values[r + 2], values[r + 3]
            for j in range(low, high):
                out[j] += a1 * l1[j] + a2 * l2[j] + a3 * l3[j] + a4 * l4[j]
        for r in range(fours, count):
            row, a = L[rows[r]], values[r]
            for j in range(low, high):
                out[j] += a * row[j]
    return out


@njit(cache=True, nogil=True)
def segment_squares(t: Floats, offsets: Ints) -> Floats:
    """Sum of t^2 over the columns of each kernel, shape (n_kernels,)."""
    out = np.empty(offsets.shape[0] - 1)
    for k in range(out.shape[0]):
        total = 0.0
        for j in range(offsets[k], offsets[k + 1]):
            total += t[j] * t[j]
        out[k] = total
    return out


@njit(cache=True, nogil=True)
def segment_columns(L: Floats, offsets: Ints, rows: Ints, t: Floats) -> Floats:
    """(L_k t_k)[rows] for every kernel, shape (m, n_kernels)."""
    out = np.empty((rows.shape[0], offsets.shape[0] - 1))
    for i in range(rows.shape[0]):
        row = L[rows[i]]
        for k in range(offsets.shape[0] - 1):
            total = 0.0
            for j in range(offsets[k], offsets[k + 1]):
                total += row[j] * t[j]
            out[i, k] = total
    return out


@njit(cache=True, nogil=True)
def gather_live(L: Floats, rows: Ints, starts: Ints, stops: Ints, roots: Floats) -> Floats:
    """Rows of L times `roots`, only the columns of the runs: (m, total run length)."""
    width = 0
    for s in range(starts.shape[0]):
        width += stops[s] - starts[s]
    out = np.empty((rows.shape[0], width))
    for i in range(rows.shape[0]):
        source, target = L[rows[i]], out[i]
        position = 0
        for s in range(starts.shape[0]):
            # Slices, so that the compiler need not wonder about negative indices.
            run, root = source[starts[s] : stops[s]], roots[starts[s] : stops[s]]
            part = target[position : position + run.shape[0]]
            for j in range(run.shape[0]):
                part[j] = root[j] * run[j]
            position += run.shape[0]
    return out


@njit(cache=True, nogil=True, fastmath=_REORDER)
def live_dots(L: Floats, starts: Ints, stops: Ints, t: Floats) -> Floats:
    """L t over the columns of the runs, shape (n,).

    Compiled rather than BLAS, whose second thread stalls for milliseconds when
    the machine is shared; one thread already reads as fast as memory delivers.
    """
    out = np.empty(L.shape[0])
    for i in range(L.shape[0]):
        row = L[i]
        total = 0.0
        for s in range(starts.shape[0]):
            run, values = row[starts[s] : stops[s]], t[starts[s] : stops[s]]
            part = 0.0
            for j in range(run.shape[0]):
                part += run[j] * values[j]
            total += part
        out[i] = total
    return out


@njit(cache=True, nogil=True)
def live_sums(L: Floats, starts: Ints, stops: Ints, rows: Ints, values: Floats) -> Floats:
    """`support_sums` over the columns of the runs, zeros elsewhere."""
    out = np.zeros(L.shape[1])
    for r in range(rows.shape[0]):
        row, a = L[rows[r]], values[r]
        for s in range(starts.shape[0]):
            run, part = row[starts[s] : stops[s]], out[starts[s] : stops[s]]
            for j in range(run.shape[0]):
                part[j] += a * run[j]
    return out


@njit(cache=True, nogil=True, fastmath=_REORDER)
def fill_pairs(L: Floats, starts: Ints, stops: Ints, rows: Ints, known: int, out: Floats) -> None:
    """out[i (i + 1) / 2 + j, k] = L_k[rows_i]'L_k[rows_j] for known <= i, j <= i.

    Kernel k owns columns starts[k] .. stops[k].  Each value depends on its two
    rows and its kernel only, not on what else is asked for.
    """
    for i in range(known, rows.shape[0]):
        left, start = L[rows[i]], i * (i + 1) // 2
        for low in range(0, i + 1, 4):
            # Always four rows at a time: the last few twice rather than apart.
            j0 = max(0, min(low, i - 3))
            j1, j2, j3 = min(j0 + 1, i), min(j0 + 2, i), min(j0 + 3, i)
            l0, l1, l2, l3 = L[rows[j0]], L[rows[j1]], L[rows[j2]], L[rows[j3]]
            o0, o1, o2, o3 = out[start + j0], out[start + j1], out[start + j2], out[start + j3]
            for k in range(starts.shape[0]):
                a, b, a0 = starts[k], stops[k], left[starts[k] : stops[k]]
                r0, r1, r2, r3 = l0[a:b], l1[a:b], l2[a:b], l3[a:b]
                s0 = s1 = s2 = s3 = 0.0
                for c in range(a0.shape[0]):
                    s0 += a0[c] * r0[c]
                    s1 += a0[c] * r1[c]
                    s2 += a0[c] * r2[c]
                    s3 += a0[c] * r3[c]
                o0[k], o1[k], o2[k], o3[k] = s0, s1, s2, s3


@njit(cache=True, nogil=True)
def weighted_pairs(pairs: Floats, positions: Ints, theta: Floats) -> Floats:
    """sum_k theta_k pairs[., k] for all pairs of positions, shape (m, m).

    Summed in the order of the kernels, so that kernels of weight zero in between
    change nothing; four sums at a time, so that none waits for another.
    """
    m = positions.shape[0]
    out, at = np.empty((m, m)), np.empty(4, dtype=np.int64)
    for i in range(m):
        for low in range(0, i + 1, 4):
            # The last few are computed twice rather than apart.
            first = max(0, min(low, i - 3))
            count = min(4, i + 1)
            for c in range(4):
                other = positions[first + min(c, count - 1)]
                high, less = max(positions[i], other), min(positions[i], other)
                at[c] = high * (high + 1) // 2 + less
            r0, r1, r2, r3 = pairs[at[0]], pairs[at[1]], pairs[at[2]], pairs[at[3]]
            s0 = s1 = s2 = s3 = 0.0
            for k in range(theta.shape[0]):
                weight = theta[k]
                s0 += weight * r0[k]
                s1 += weight * r1[k]
                s2 += weight * r2[k]
                s3 += weight * r3[k]
            sums = (s0, s1, s2, s3)
            for c in range(count):
                out[i, first + c] = sums[c]
                out[first + c, i] = sums[c]
    return out
