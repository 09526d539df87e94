"""Products of one symmetric matrix with a vector, reading as little of it as possible."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["product", "symmetric_product"]

#: Below this share of entries that are not zero, skipping rows reads less of K
#: than its lower triangle (measured; ``benchmarks/symmetric_product.py``).
_SKIP_BELOW = 0.4


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def product(K: Array, a: Array) -> Array:
    """K a for symmetric K, shape (n, n), reading only the rows where a is not zero.

    A compiled loop rather than BLAS: at these sizes its threads cost more
    than the product.
    """
    n = a.shape[0]
    out = np.zeros(n)
    for j in range(n):
        weight = a[j]
        if weight != 0.0:
            row = K[j]
            for i in range(n):
                out[i] += weight * row[i]
    return out


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _row(K: Array, a: Array, j: int, out: Array) -> None:
    """What row j of the lower triangle adds to `out`."""
    row = K[j]
    weight = a[j]
    total = 0.0
    for i in range(j):
        total += row[i] * a[i]
        out[i] += weight * row[i]
    out[j] += total + weight * row[j]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _triangle(K: Array, a: Array) -> Array:
    """K a from the lower triangle, four rows at a time.

    A large matrix is slow to read, not to multiply: half of it takes half the
    time, and four rows share each reading of `a` and `out`.
    """
    n = a.shape[0]
    out = np.zeros(n)
    whole = n - n % 4
    for j in range(0, whole, 4):
        r0, r1, r2, r3 = K[j], K[j + 1], K[j + 2], K[j + 3]
        w0, w1, w2, w3 = a[j], a[j + 1], a[j + 2], a[j + 3]
        t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
        for i in range(j):
            v = a[i]
            t0 += r0[i] * v
            t1 += r1[i] * v
            t2 += r2[i] * v
            t3 += r3[i] * v
            out[i] += w0 * r0[i] + w1 * r1[i] + w2 * r2[i] + w3 * r3[i]
        out[j] += t0
        out[j + 1] += t1
        out[j + 2] += t2
        out[j + 3] += t3
        for p in range(j, j + 4):
            for q in range(j, j + 4):
                out[p] += K[p, q] * a[q]
    for j in range(whole, n):
        _row(K, a, j, out)
    return out


@njit(cache=True, nogil=True)
def symmetric_product(K: Array, a: Array) -> Array:
    """K a for symmetric K, shape (n, n); many zeros in `a` make it cheaper still."""
    n = a.shape[0]
    used = 0
    for i in range(n):
        if a[i] != 0.0:
            used += 1
    if used < _SKIP_BELOW * n:
        return product(K, a)
    return _triangle(K, a)
