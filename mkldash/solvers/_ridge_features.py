"""Kernel ridge regression through few rank-one kernels: their small Gram matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

Array = NDArray[np.float64]

__all__ = ["FeatureRidge"]

_FIRST_CAPACITY = 64


class FeatureRidge:
    """a = (K + I)^-1 y for K = Phi diag(w) Phi', by a system of the size of w.

    Columns are added as kernels are drawn; their Gram matrix Phi'Phi grows by
    one row each time and does not depend on the weights.

    Parameters
    ----------
    y : array, shape (n_rows,)
    """

    def __init__(self, y: Array) -> None:
        self._y = y
        self._columns = np.zeros((len(y), _FIRST_CAPACITY), order="F")
        self._gram = np.zeros((_FIRST_CAPACITY, _FIRST_CAPACITY))
        self._moments = np.zeros(_FIRST_CAPACITY)
        self.count = 0

    def add(self, features: Array) -> None:
        """More columns, shape (n_rows, m)."""
        first, last = self.count, self.count + features.shape[1]
        if last > self._moments.size:
            self._grow(2 * last)
        self._columns[:, first:last] = features
        # One array with itself takes half the multiplications.
        rows = features.T @ (self._columns[:, :last] if first else features)
        self._gram[first:last, :last] = rows
        self._gram[:last, first:last] = rows.T
        self._moments[first:last] = features.T @ self._y
        self.count = last

    def solve(self, w: Array) -> tuple[Array, Array]:
        """(a, K a) for the column weights `w`, shape (count,)."""
        active = np.flatnonzero(w)
        if not active.size:
            return self._y.copy(), np.zeros_like(self._y)
        root = np.sqrt(w[active])
        system = self._gram[np.ix_(active, active)]
        system *= root
        system *= root[:, None]
        system.flat[:: active.size + 1] += 1.0
        right = root * self._moments[active]
        # Symmetric: the transposed view is Fortran order, and nothing is copied.
        _, x, failed = dposv(system.T, right, overwrite_a=1)
        if failed:  # positive definite by construction, so only what is not finite fails
            return np.full_like(self._y, np.nan), np.full_like(self._y, np.nan)
        phi = self._columns[:, : self.count] if active.size == self.count else None
        phi = self._columns[:, active] if phi is None else phi
        a = self._y - phi @ (root * x)
        return a, phi @ (w[active] * (phi.T @ a))

    def _grow(self, capacity: int) -> None:
        n, used = self._columns.shape
        columns = np.zeros((n, capacity), order="F")
        columns[:, :used] = self._columns
        gram = np.zeros((capacity, capacity))
        gram[:used, :used] = self._gram
        self._columns, self._gram = columns, gram
        self._moments = np.concatenate([self._moments, np.zeros(capacity - used)])
