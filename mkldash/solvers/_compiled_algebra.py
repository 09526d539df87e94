"""Compiled algebra of the interior-point methods over the kernel weights."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["cholesky", "room", "solve_cholesky"]

_REORDER = {"reassoc", "nsz", "contract", "arcp"}


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _dot(x: Array, y: Array, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@njit(cache=True, nogil=True)
def cholesky(M: Array) -> None:
    """The lower factor of M in its place; a pivot that rounding ate is made huge."""
    for i in range(M.shape[0]):
        floor = 1e-14 * M[i, i]
        for j in range(i):
            M[i, j] = (M[i, j] - _dot(M[i], M[j], j)) / M[j, j]
        pivot = M[i, i] - _dot(M[i], M[i], i)
        M[i, i] = np.sqrt(pivot) if pivot > floor else 1e64


@njit(cache=True, nogil=True, fastmath=_REORDER)
def solve_cholesky(L: Array, x: Array) -> None:
    """x becomes the solution of L L' z = x."""
    n = x.shape[0]
    for i in range(n):
        x[i] = (x[i] - _dot(L[i], x, i)) / L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]


@njit(cache=True, nogil=True)
def room(x: Array, dx: Array) -> float:
    """Largest share of dx, at most 1, that keeps x at zero or above."""
    share = 1.0
    for i in range(x.shape[0]):
        if dx[i] < 0.0 and -x[i] > share * dx[i]:
            share = -x[i] / dx[i]
    return share
