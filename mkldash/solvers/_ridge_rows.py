"""Kernel ridge regression while one kernel changes at a time and the rest are rescaled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from mkldash.solvers._compiled_ridge import corrected_product, descend

Array = NDArray[np.float64]

__all__ = ["RowRidge", "solve_fresh"]

#: Iterations beyond which the inverse is computed anew.
_PATIENCE = 8

#: ||y - a - K a|| / ||a|| at which a solve ends; K + I >= I, so a is as near its solution.
_TOLERANCE = 1e-10

_MOST_ITERATIONS = 200

#: No first direction is known.
_NOTHING = np.empty(0)

#: Rank-one changes that room is made for at first.
_FIRST_CAPACITY = 32


class RowRidge:
    """a = (K + I)^-1 y, followed along K <- s K + e phi phi' (or e K_new).

    K is kept as gamma K^ so that the common scale s costs nothing, and the
    system is (sigma I + K^) a = sigma y with sigma = 1/gamma.  Conjugate gradients
    start at the last a; their preconditioner is an inverse that follows the
    rank-one parts exactly (Sherman-Morrison) and ignores the change of sigma.

    Parameters
    ----------
    y : array, shape (n_rows,)
    K : array, shape (n_rows, n_rows)
        Overwritten.
    """

    def __init__(self, y: Array, K: Array) -> None:
        self._y = y
        self._K = K
        self._sigma = 1.0
        # Pending: K^ = K + features' sizes features, inverse + vectors' factors vectors.
        self._pending = 0
        self._features = np.empty((_FIRST_CAPACITY, len(y)))
        self._vectors = np.empty((_FIRST_CAPACITY, len(y)))
        self._sizes = np.empty(_FIRST_CAPACITY)
        self._factors = np.empty(_FIRST_CAPACITY)
        self._inverse = _inverse(K, self._sigma)
        self.iterations = 0
        self.a = np.zeros_like(y)
        self._residual = self._sigma * y
        self._descend(_NOTHING)

    @property
    def fitted(self) -> Array:
        """K a, from the residual of the system."""
        return self._y - self.a - self._residual / self._sigma

    def change(self, scale: float, extra: float, feature: Array) -> None:
        """K <- scale K + extra feature feature', with scale > 0; solves again."""
        self._rescale(scale)
        size, first = extra * self._sigma, _NOTHING
        if size > 0.0:
            v = self._precondition(feature)
            factor = -size / (1.0 + size * float(feature @ v))
            moved = size * float(feature @ self.a)
            self._residual -= moved * feature
            if scale == 1.0:  # what is left of the last residual is below the tolerance
                first = (moved * factor / size) * v
            self._remember(feature, size, v, factor)
        self._settle(first)

    def change_full(self, scale: float, extra: float, gram: Array) -> None:
        """K <- scale K + extra gram, for kernels that are not of rank one."""
        self._rescale(scale)
        size = extra * self._sigma
        if size > 0.0:
            self._K += size * gram
            self._residual -= size * (gram @ self.a)
        self._settle(_NOTHING)

    def _rescale(self, scale: float) -> None:
        sigma = self._sigma / scale
        self._residual += (sigma - self._sigma) * (self._y - self.a)
        self._sigma = sigma

    def _settle(self, first: Array) -> None:
        if not self._descend(first):
            self._refactor()
            self._descend(_NOTHING)

    def _descend(self, first: Array) -> bool:
        """Conjugate gradients; False when the preconditioner has become too old."""
        fresh = not self._pending and self._sigma == 1.0
        a, r, k = self.a.copy(), self._residual.copy(), self._pending
        self.iterations, reached = descend(
            self._K, self._sigma, self._features[:k], self._sizes[:k],
            self._inverse, self._vectors[:k], self._factors[:k],
            a, r, first, _TOLERANCE, _MOST_ITERATIONS if fresh else _PATIENCE,
        )  # fmt: skip
        self.a, self._residual = a, r
        return reached or fresh

    def _precondition(self, x: Array) -> Array:
        k = self._pending
        out: Array = corrected_product(self._inverse, 0.0, self._vectors[:k], self._factors[:k], x)
        return out

    def _remember(self, feature: Array, size: float, v: Array, factor: float) -> None:
        at = self._pending
        if at == len(self._sizes):
            self._features = np.concatenate([self._features, np.empty_like(self._features)])
            self._vectors = np.concatenate([self._vectors, np.empty_like(self._vectors)])
            self._sizes = np.concatenate([self._sizes, np.empty_like(self._sizes)])
            self._factors = np.concatenate([self._factors, np.empty_like(self._factors)])
        self._features[at], self._sizes[at] = feature, size
        self._vectors[at], self._factors[at] = v, factor
        self._pending = at + 1

    def _refactor(self) -> None:
        """Put what is pending into K, and invert anew at the present sigma."""
        if self._pending:
            features = self._features[: self._pending]
            self._K += (features.T * self._sizes[: self._pending]) @ features
        self._K /= self._sigma
        self._residual /= self._sigma
        self._sigma = 1.0
        self._pending = 0
        self._inverse = _inverse(self._K, 1.0)


def solve_fresh(y: Array, K: Array) -> tuple[Array, Array]:
    """(a, K a) by one Cholesky factorisation of K + I."""
    system = K.copy()
    system.flat[:: len(K) + 1] += 1.0
    factor, failed = dpotrf(system.T, lower=1, overwrite_a=1, clean=0)
    if failed:
        return np.full_like(y, np.nan), np.full_like(y, np.nan)
    a, _ = dpotrs(factor, y, lower=1)
    return a, K @ a


def _inverse(K: Array, sigma: float) -> Array:
    """(sigma I + K)^-1, whole; NaN when K is not finite."""
    system = K.copy()
    system.flat[:: len(K) + 1] += sigma
    factor, failed = dpotrf(system.T, lower=1, overwrite_a=1, clean=0)
    if failed:
        return np.full_like(K, np.nan)
    inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
    lower = np.tril(inverse)
    return np.ascontiguousarray(lower + np.tril(lower, -1).T)
