"""Compiled loops of the kernels room.

Plain functions on arrays, compiled at first use and cached on disk; all release
the interpreter lock, so that a page stays alive while a worker solves.

A symmetric matrix is *packed* as its upper triangle by rows: entry (i, j) with
i <= j sits at i (2n - i - 1) / 2 + j.  All positions are int64.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TILE = 2048  # doubles: 16 kB of the output stay in the first-level cache
_REORDER = {"reassoc", "nsz", "contract", "arcp"}  # lets sums use vector registers


@njit(cache=True, nogil=True)
def packed_distances(X: Floats) -> Floats:
    """|x_i - x_j|^2, packed, from X (n, p); summed column by column."""
    n, p = X.shape
    out = np.zeros(n * (n + 1) // 2)
    for column in range(p):
        x = np.ascontiguousarray(X[:, column])
        position = 0
        for i in range(n):
            for j in range(i, n):
                difference = x[i] - x[j]
                out[position + j - i] += difference * difference
            position += n - i
    return out


@njit(cache=True, nogil=True)
def packed_products(X: Floats) -> Floats:
    """x_i'x_j, packed, from X (n, p); summed column by column."""
    n, p = X.shape
    out = np.zeros(n * (n + 1) // 2)
    for column in range(p):
        x = np.ascontiguousarray(X[:, column])
        position = 0
        for i in range(n):
            for j in range(i, n):
                out[position + j - i] += x[i] * x[j]
            position += n - i
    return out


@njit(cache=True, nogil=True)
def pack(square: Floats, out: Floats) -> None:
    """The upper triangle of a symmetric (n, n) matrix into `out`."""
    n = square.shape[0]
    position = 0
    for i in range(n):
        out[position : position + n - i] = square[i, i:]
        position += n - i


@njit(cache=True, nogil=True)
def packed_trace(packed: Floats, n: int) -> float:
    """Sum of the diagonal."""
    total = 0.0
    for i in range(n):
        total += packed[i * (2 * n - i - 1) // 2 + i]
    return total


@njit(cache=True, nogil=True)
def packed_sum(packed: Floats, n: int) -> float:
    """1'K1, row by row so that rounding stays small."""
    total = 0.0
    position = 0
    for i in range(n):
        row = 0.0
        for p in range(position + 1, position + n - i):
            row += packed[p]
        total += packed[position] + 2.0 * row
        position += n - i
    return total


@njit(cache=True, nogil=True)
def unpack(packed: Floats, n: int) -> Floats:
    """The full (n, n) matrix; in tiles, since half of the writes go down columns."""
    out = np.empty((n, n))
    tile = 32
    for top in range(0, n, tile):
        bottom = min(top + tile, n)
        for left in range(top, n, tile):
            right = min(left + tile, n)
            for i in range(top, bottom):
                start = i * (2 * n - i - 1) // 2
                for j in range(max(left, i), right):
                    value = packed[start + j]
                    out[i, j] = value
                    out[j, i] = value
    return out


@njit(cache=True, nogil=True)
def combine_packed(stack: Floats, live: Ints, weights: Floats) -> Floats:
    """sum_k weights[k] stack[live[k]], shape (n_packed,), reading only live rows.

    Four rows a pass over a tile of the output: the sum then runs at the speed at
    which memory delivers the rows.
    """
    size = stack.shape[1]
    count = live.shape[0]
    fours = count - count % 4
    out = np.zeros(size)
    for low in range(0, size, _TILE):
        high = min(low + _TILE, size)
        for k in range(0, fours, 4):
            first, second = stack[live[k]], stack[live[k + 1]]
            third, fourth = stack[live[k + 2]], stack[live[k + 3]]
            w1, w2, w3, w4 = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
            for p in range(low, high):
                out[p] += w1 * first[p] + w2 * second[p] + w3 * third[p] + w4 * fourth[p]
        for k in range(fours, count):
            row, weight = stack[live[k]], weights[k]
            for p in range(low, high):
                out[p] += weight * row[p]
    return out


@njit(cache=True, nogil=True)
def pair_positions(rows: Ints, n: int) -> Ints:
    """Packed positions of the pairs (rows[i], rows[j]), i <= j, by i; int64."""
    m = rows.shape[0]
    out = np.empty(m * (m + 1) // 2, dtype=np.int64)
    position = 0
    for i in range(m):
        for j in range(i, m):
            low, high = min(rows[i], rows[j]), max(rows[i], rows[j])
            out[position] = low * (2 * n - low - 1) // 2 + high
            position += 1
    return out


@njit(cache=True, nogil=True)
def pair_products(a: Floats) -> Floats:
    """a_i a_j packed, doubled off the diagonal, so that a'Ka is one dot product."""
    n = a.shape[0]
    out = np.empty(n * (n + 1) // 2)
    position = 0
    for i in range(n):
        out[position] = a[i] * a[i]
        twice = 2.0 * a[i]
        for j in range(i + 1, n):
            out[position + j - i] = twice * a[j]
        position += n - i
    return out


@njit(cache=True, nogil=True)
def gather_forms(stack: Floats, positions: Ints, products: Floats) -> Floats:
    """sum_p stack[k, positions[p]] products[p] for every k, shape (n_kernels,)."""
    out = np.empty(stack.shape[0])
    size = positions.shape[0]
    fours = size - size % 4
    for k in range(stack.shape[0]):
        row = stack[k]
        # Four partial sums: one would wait for the last addition each time.
        s1 = s2 = s3 = s4 = 0.0
        for p in range(0, fours, 4):
            s1 += row[positions[p]] * products[p]
            s2 += row[positions[p + 1]] * products[p + 1]
            s3 += row[positions[p + 2]] * products[p + 2]
            s4 += row[positions[p + 3]] * products[p + 3]
        for p in range(fours, size):
            s1 += row[positions[p]] * products[p]
        out[k] = (s1 + s2) + (s3 + s4)
    return out


@njit(cache=True, nogil=True)
def gather_combine(stack: Floats, live: Ints, weights: Floats, positions: Ints) -> Floats:
    """sum_k weights[k] stack[live[k], positions], shape (n_positions,)."""
    out = np.zeros(positions.shape[0])
    for k in range(live.shape[0]):
        row, weight = stack[live[k]], weights[k]
        for p in range(positions.shape[0]):
            out[p] += weight * row[positions[p]]
    return out


@njit(cache=True, nogil=True)
def packed_apply(packed: Floats, a: Floats) -> Floats:
    """K a for a packed K, shape (n,), in one pass."""
    n = a.shape[0]
    out = np.zeros(n)
    position = 0
    for i in range(n):
        ai = a[i]
        total = packed[position] * ai
        for j in range(i + 1, n):
            value = packed[position + j - i]
            total += value * a[j]
            out[j] += value * ai
        out[i] += total
        position += n - i
    return out


@njit(cache=True, nogil=True)
def gather_columns(stack: Floats, n: int, rows: Ints, support: Ints, values: Floats) -> Floats:
    """(K_k a)[rows] for every k, shape (m, n_kernels), a given on its support."""
    m = rows.shape[0]
    s = support.shape[0]
    positions = np.empty((m, s), dtype=np.int64)
    for i in range(m):
        for j in range(s):
            low, high = min(rows[i], support[j]), max(rows[i], support[j])
            positions[i, j] = low * (2 * n - low - 1) // 2 + high
    out = np.empty((m, stack.shape[0]))
    for k in range(stack.shape[0]):
        row = stack[k]
        for i in range(m):
            total = 0.0
            for j in range(s):
                total += row[positions[i, j]] * values[j]
            out[i, k] = total
    return out


@njit(cache=True, nogil=True)
def pass_columns(stack: Floats, rows: Ints, a: Floats) -> Floats:
    """As `gather_columns`, one contiguous pass over each matrix instead."""
    out = np.empty((rows.shape[0], stack.shape[0]))
    for k in range(stack.shape[0]):
        product = packed_apply(stack[k], a)
        for i in range(rows.shape[0]):
            out[i, k] = product[rows[i]]
    return out


@njit(cache=True, nogil=True, fastmath=_REORDER)
def all_forms(stack: Floats, products: Floats) -> Floats:
    """stack @ products, shape (n_kernels,).

    Compiled rather than BLAS, whose second thread stalls for milliseconds when
    the machine is shared; one thread already reads as fast as memory delivers.
    """
    out = np.empty(stack.shape[0])
    for k in range(stack.shape[0]):
        row = stack[k]
        total = 0.0
        for p in range(products.shape[0]):
            total += row[p] * products[p]
        out[k] = total
    return out
