"""Kernel ridge regression while one kernel changes at a time and the rest are rescaled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from mkldash.kernels._compiled_square import symmetric_product

Array = NDArray[np.float64]

__all__ = ["RowRidge", "solve_fresh"]

#: Iterations beyond which the inverse is computed anew.
_PATIENCE = 8

#: ||y - a - K a|| / ||a|| at which a solve ends; K + I >= I, so a is as near its solution.
_TOLERANCE = 1e-10

_MOST_ITERATIONS = 200

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
        # Pending: K^ = K + features' sizes features, inverse - vectors' factors vectors.
        self._pending = 0
        self._features = np.empty((_FIRST_CAPACITY, len(y)))
        self._vectors = np.empty((_FIRST_CAPACITY, len(y)))
        self._sizes = np.empty(_FIRST_CAPACITY)
        self._factors = np.empty(_FIRST_CAPACITY)
        self._inverse = _inverse(K, self._sigma)
        self.iterations = 0
        self.a = np.zeros_like(y)
        self._residual = self._sigma * y
        self._descend()

    @property
    def fitted(self) -> Array:
        """K a, from the residual of the system."""
        return self._y - self.a - self._residual / self._sigma

    def change(self, scale: float, extra: float, feature: Array) -> None:
        """K <- scale K + extra feature feature', with scale > 0; solves again."""
        self._rescale(scale)
        size = extra * self._sigma
        if size > 0.0:
            v = self._precondition(feature)
            self._residual -= (size * float(feature @ self.a)) * feature
            self._remember(feature, size, v, size / (1.0 + size * float(feature @ v)))
        self._settle()

    def change_full(self, scale: float, extra: float, gram: Array) -> None:
        """K <- scale K + extra gram, for kernels that are not of rank one."""
        self._rescale(scale)
        size = extra * self._sigma
        if size > 0.0:
            self._K += size * gram
            self._residual -= size * (gram @ self.a)
        self._settle()

    def _rescale(self, scale: float) -> None:
        sigma = self._sigma / scale
        self._residual += (sigma - self._sigma) * (self._y - self.a)
        self._sigma = sigma

    def _settle(self) -> None:
        if not self._descend():
            self._refactor()
            self._descend()

    def _descend(self) -> bool:
        """Conjugate gradients; False when the preconditioner has become too old."""
        a, r = self.a.copy(), self._residual.copy()
        direction, last, fresh = None, 0.0, not self._pending and self._sigma == 1.0
        self.iterations = 0
        while self.iterations < _MOST_ITERATIONS:
            if float(np.linalg.norm(r)) <= _TOLERANCE * self._sigma * float(np.linalg.norm(a)):
                break
            if self.iterations == _PATIENCE and not fresh:
                self.a, self._residual = a, r
                return False
            z = self._precondition(r)
            size = float(r @ z)
            direction = z if direction is None else z + (size / last) * direction
            image = self._product(direction)
            length = size / float(direction @ image)
            a += length * direction
            r -= length * image
            last = size
            self.iterations += 1
        self.a, self._residual = a, r
        return True

    def _product(self, x: Array) -> Array:
        """(sigma I + K^) x."""
        out: Array = symmetric_product(self._K, x)
        out += self._sigma * x
        if self._pending:
            features = self._features[: self._pending]
            out += (self._sizes[: self._pending] * (features @ x)) @ features
        return out

    def _precondition(self, x: Array) -> Array:
        out: Array = symmetric_product(self._inverse, x)
        if self._pending:
            vectors = self._vectors[: self._pending]
            out -= (self._factors[: self._pending] * (vectors @ x)) @ vectors
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
