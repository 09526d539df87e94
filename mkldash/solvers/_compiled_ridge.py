"""Compiled conjugate gradients for the ridge solve that is followed from step to step."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mkldash.kernels._compiled_square import symmetric_product

Array = NDArray[np.float64]

__all__ = ["corrected_product", "descend"]

_REORDER = {"reassoc", "nsz", "contract", "arcp"}


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _inner(x: Array, y: Array) -> float:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _add(out: Array, scale: float, x: Array) -> None:
    for i in range(out.shape[0]):
        out[i] += scale * x[i]


@njit(cache=True, nogil=True)
def corrected_product(A: Array, shift: float, rows: Array, factors: Array, x: Array) -> Array:
    """(A + shift I + rows' diag(factors) rows) x for symmetric A (n, n) and rows (k, n)."""
    out = symmetric_product(A, x)
    if shift != 0.0:
        _add(out, shift, x)
    for j in range(rows.shape[0]):
        _add(out, factors[j] * _inner(rows[j], x), rows[j])
    return out


@njit(cache=True, nogil=True)
def descend(
    K: Array,
    sigma: float,
    features: Array,
    sizes: Array,
    inverse: Array,
    vectors: Array,
    factors: Array,
    a: Array,
    r: Array,
    first: Array,
    tolerance: float,
    most: int,
) -> tuple[int, bool]:
    """Preconditioned conjugate gradients on (sigma I + K + features' diag(sizes) features) a = b.

    Parameters
    ----------
    K, inverse : array, shape (n, n)
    features, vectors : array, shape (k, n)
    sizes, factors : array, shape (k,)
        The preconditioner is inverse + vectors' diag(factors) vectors.
    a, r : array, shape (n,)
        Point and residual; overwritten.
    first : array, shape (n,) or (0,)
        The preconditioned residual at the start, when it is at hand.
    tolerance : float
        Ends at ||r|| <= tolerance sigma ||a||.
    most : int
        Iterations.

    Returns
    -------
    iterations : int
    reached : bool
    """
    direction = np.empty_like(a)
    last = 0.0
    for iteration in range(most + 1):
        if math.sqrt(_inner(r, r)) <= tolerance * sigma * math.sqrt(_inner(a, a)):
            return iteration, True
        if iteration == most:
            break
        if iteration == 0 and first.shape[0]:
            z = first
        else:
            z = corrected_product(inverse, 0.0, vectors, factors, r)
        size = _inner(r, z)
        if iteration == 0:
            direction[:] = z
        else:
            share = size / last
            for i in range(direction.shape[0]):
                direction[i] = z[i] + share * direction[i]
        image = corrected_product(K, sigma, features, sizes, direction)
        length = size / _inner(direction, image)
        _add(a, length, direction)
        _add(r, -length, image)
        last = size
    return most, False
