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
    features : array, shape (n_rows, s)
        Columns to begin with.
    """

    def __init__(self, y: Array, features: Array) -> None:
        self._y = y
        n, s = features.shape
        capacity = max(_FIRST_CAPACITY, 2 * s)
        self._columns = np.zeros((n, capacity), order="F")
        self._gram = np.zeros((capacity, capacity))
        self._moments = np.zeros(capacity)
        self._columns[:, :s] = features
        self._gram[:s, :s] = features.T @ features
        self._moments[:s] = features.T @ y
        self.count = s

    def add(self, feature: Array) -> None:
        """One more column, shape (n_rows,)."""
        s = self.count
        if s == self._moments.size:
            self._grow()
        self._columns[:, s] = feature
        row = self._columns[:, : s + 1].T @ feature
        self._gram[s, : s + 1] = row
        self._gram[: s + 1, s] = row
        self._moments[s] = float(feature @ self._y)
        self.count = s + 1

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

    def _grow(self) -> None:
        n, capacity = self._columns.shape
        columns = np.zeros((n, 2 * capacity), order="F")
        columns[:, :capacity] = self._columns
        gram = np.zeros((2 * capacity, 2 * capacity))
        gram[:capacity, :capacity] = self._gram
        self._columns, self._gram = columns, gram
        self._moments = np.concatenate([self._moments, np.zeros(capacity)])
