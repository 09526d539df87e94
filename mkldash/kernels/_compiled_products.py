"""Compiled loops for products of base kernels.

`columns` (r, m) are what is multiplied, one base kernel a row: the features of
rank-one kernels, or packed Gram matrices.  A word is a row of positions in it,
filled up with -1.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TILE = 2048  # doubles: a piece of each column that stays in the first cache
_SLACK = 1.0 + 1e-12  # against rounding in a bound
_REORDER = {"reassoc", "nsz", "contract", "arcp"}  # lets sums use vector registers


@njit(cache=True, nogil=True)
def products(columns: Floats, words: Ints, start: Floats, scales: Floats) -> Floats:
    """scales_w start * columns[w_1] * columns[w_2] ..., one row a word, shape (w, m)."""
    m = start.shape[0]
    out = np.empty((words.shape[0], m))
    for w in range(words.shape[0]):
        row, scale = out[w], scales[w]
        for i in range(m):
            row[i] = scale * start[i]
        for position in range(words.shape[1]):
            letter = words[w, position]
            if letter < 0:
                break
            column = columns[letter]
            for i in range(m):
                row[i] *= column[i]
    return out


@njit(cache=True, nogil=True)
def sorted_products(columns: Floats, words: Ints, start: Floats) -> Floats:
    """start * columns[w_1] * columns[w_2] * ... for words of one length, shape (w, m).

    Words in lexicographic order: all but the last letter is multiplied once for
    all that share it.
    """
    m, length = start.shape[0], words.shape[1]
    out = np.empty((words.shape[0], m))
    parent = start.copy()
    for w in range(words.shape[0]):
        new = w == 0
        for position in range(length - 1):
            new = new or words[w, position] != words[w - 1, position]
        if new:
            parent[:] = start
            for position in range(length - 1):
                column = columns[words[w, position]]
                for i in range(m):
                    parent[i] *= column[i]
        row = out[w]
        if length == 0:
            row[:] = start
        else:
            column = columns[words[w, length - 1]]
            for i in range(m):
                row[i] = parent[i] * column[i]
    return out


@njit(cache=True, nogil=True, fastmath=_REORDER)
def product_sums(columns: Floats, words: Ints, start: Floats) -> Floats:
    """sum_i start_i columns[w_1, i] columns[w_2, i] ..., shape (w,)."""
    m = start.shape[0]
    out = np.zeros(words.shape[0])
    piece = np.empty(min(m, _TILE))
    for low in range(0, m, _TILE):
        begin = start[low : min(low + _TILE, m)]
        part = piece[: begin.shape[0]]
        for w in range(words.shape[0]):
            part[:] = begin
            for position in range(words.shape[1]):
                letter = words[w, position]
                if letter < 0:
                    break
                column = columns[letter, low : low + part.shape[0]]
                for i in range(part.shape[0]):
                    part[i] *= column[i]
            total = 0.0
            for i in range(part.shape[0]):
                total += part[i]
            out[w] += total
    return out


@njit(cache=True, nogil=True, fastmath=_REORDER)
def power_forms(S: Floats, a: Floats, degree: int) -> Floats:
    """a'S^d a for entrywise powers d = 0 .. degree, in one pass over half of S (n, n)."""
    n = a.shape[0]
    out = np.zeros(degree + 1)
    running = np.empty(n)
    total = 0.0
    for i in range(n):
        total += a[i]
    out[0] = total * total
    for i in range(n):
        row, part = S[i, :i], running[:i]
        diagonal, twice = S[i, i], 2.0 * a[i]
        for j in range(i):
            part[j] = a[j]
        own = a[i] * a[i]
        for d in range(1, degree + 1):
            total = 0.0
            for j in range(i):
                part[j] *= row[j]
                total += part[j]
            own *= diagonal
            out[d] += twice * total + own
    return out


@njit(cache=True, nogil=True)
def choose(raw: Floats, point: float, law: Floats) -> int:
    """Inverse of the distribution function of max(raw, 0) / its sum at `point` in [0, 1).

    Writes the law, shape (r,); uniform when nothing is above zero.  What has
    probability zero is not chosen.
    """
    r = raw.shape[0]
    total = 0.0
    for j in range(r):
        law[j] = max(raw[j], 0.0)
        total += law[j]
    if not total > 0.0:
        law[:] = 1.0
        total = float(r)
    target, reached, chosen = point * total, 0.0, -1
    last = 0
    for j in range(r):
        reached += law[j]
        if law[j] > 0.0:
            last = j
            if chosen < 0 and reached > target:
                chosen = j
        law[j] /= total
    return chosen if chosen >= 0 else last


@njit(cache=True, nogil=True)
def completion_bounds(
    inner: Floats, above: Floats, sums: Floats, triangular: int, left: int
) -> tuple[Floats, Ints, Floats]:
    """Bounds on the forms of completions by `left` letters, one for each row.

    Parameters
    ----------
    inner, above : array, shape (p, r)
        sum_i m_i x_li^left and sum_i |m_i| |x_li|^left for prefix j and letter l.
    sums : array, shape (p,)
        Sum of the forms over all words; infinity where it was not computed.
    triangular : int
        1 if prefix j may be followed by letters l >= j only, else 0.
    left : int

    Returns
    -------
    bounds : array, shape (p,)
    letters, values : array, shape (p,)
        The best completion by one letter, repeated, and its form.
    """
    p, r = inner.shape
    bounds, letters, values = np.empty(p), np.empty(p, dtype=np.int64), np.empty(p)
    for j in range(p):
        repeated = 0.0
        for q in range(r):  # of all letters: the sum is over unsorted words
            repeated += inner[j, q] * inner[j, q]
        start = j if triangular == 1 else 0
        best, letter, first, second = -1.0, start, 0.0, 0.0
        for q in range(start, r):
            value, size = inner[j, q] * inner[j, q], above[j, q]
            if value > best:
                best, letter = value, q
            if size > first:
                first, second = size, first
            elif size > second:
                second = size
        mixed = 0.0
        if second > 0.0 and left > 1:
            mixed = (first * (second / first) ** (1.0 / left)) ** 2 * _SLACK
            mixed = min(mixed, max(sums[j] - repeated, 0.0) / left)
        bounds[j] = max(best, mixed)
        letters[j], values[j] = letter, best
    return bounds, letters, values


@njit(cache=True, nogil=True)
def weighted_products(columns: Floats, words: Ints, weights: Floats) -> Floats:
    """sum_w weights_w columns[w_1] * columns[w_2] * ..., shape (m,)."""
    m = columns.shape[1]
    out = np.zeros(m)
    piece = np.empty(min(m, _TILE))
    for low in range(0, m, _TILE):
        total = out[low : min(low + _TILE, m)]
        part = piece[: total.shape[0]]
        for w in range(words.shape[0]):
            part[:] = weights[w]
            for position in range(words.shape[1]):
                letter = words[w, position]
                if letter < 0:
                    break
                column = columns[letter, low : low + part.shape[0]]
                for i in range(part.shape[0]):
                    part[i] *= column[i]
            for i in range(part.shape[0]):
                total[i] += part[i]
    return out


@njit(cache=True, nogil=True, fastmath=_REORDER)
def packed_power_sums(S: Floats, M: Floats, degree: int) -> Floats:
    """sum_i M_i S_i^d for d = 0 .. degree, shape (degree + 1,), in one pass."""
    m = M.shape[0]
    out = np.zeros(degree + 1)
    running = np.empty(min(m, _TILE))
    for low in range(0, m, _TILE):
        begin, base = M[low : min(low + _TILE, m)], S[low : min(low + _TILE, m)]
        part = running[: begin.shape[0]]
        total = 0.0
        for i in range(part.shape[0]):
            part[i] = begin[i]
            total += begin[i]
        out[0] += total
        for d in range(1, degree + 1):
            total = 0.0
            for i in range(part.shape[0]):
                part[i] *= base[i]
                total += part[i]
            out[d] += total
    return out


@njit(cache=True, nogil=True, fastmath=_REORDER)
def repeated_sums(columns: Floats, M: Floats, exponent: int) -> tuple[Floats, Floats]:
    """sum_i M_i columns_ji^exponent and the same of absolute values, each (r,)."""
    r, m = columns.shape
    inner, above = np.zeros(r), np.zeros(r)
    running = np.empty(min(m, _TILE))
    for low in range(0, m, _TILE):
        begin = M[low : min(low + _TILE, m)]
        part = running[: begin.shape[0]]
        for j in range(r):
            column = columns[j, low : low + part.shape[0]]
            part[:] = begin
            for _ in range(exponent):
                for i in range(part.shape[0]):
                    part[i] *= column[i]
            total, size = 0.0, 0.0
            for i in range(part.shape[0]):
                total += part[i]
                size += abs(part[i])
            inner[j] += total
            above[j] += size
    return inner, above
