"""The ridge solve of mirror descent: the way that is cheapest for the weights at hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.family import KernelFamily, Key
from mkldash.kernels.weights import Weights
from mkldash.solvers._ridge_features import FeatureRidge
from mkldash.solvers._ridge_rows import RowRidge, solve_fresh

Array = NDArray[np.float64]

__all__ = ["Ridge", "combined_matrix", "most_columns", "solve_at"]

#: Columns that are multiplied at a time.
_BLOCK = 4096


def most_columns(n_rows: int) -> int:
    """Active columns up to which their own small system is the cheaper one.

    Its s^3/3 operations against some fifty n x n matrix-vector products' worth.
    """
    return int((50.0 * float(n_rows) ** 2) ** (1.0 / 3.0))


class Ridge:
    """a = (K_theta + I)^-1 y along the steps of one run.

    Rank-one kernels go through the small Gram matrix of the drawn features
    while few have weight, and else, where a step rescales all other weights by
    one factor, through `RowRidge`.  What is left is solved afresh.

    Parameters
    ----------
    family : KernelFamily
    y : array, shape (n_rows,)
    keys : sequence of Key
        Every key drawn so far, in the order of `theta`.
    theta : array, shape (n_keys,)
    follows : bool
        Whether each step to come states its `change`.
    """

    def __init__(
        self, family: KernelFamily, y: Array, keys: Sequence[Key], theta: Array, *, follows: bool
    ) -> None:
        self._family, self._y, self._follows = family, y, follows
        self._few = most_columns(len(y))
        self._small: FeatureRidge | None = None
        self._rows: RowRidge | None = None
        #: Column of each product, and of each position (-1: none yet).
        self._columns: dict[Key, int] = {}
        self._column_of = np.full(0, -1, dtype=np.intp)
        products = tuple(dict.fromkeys(_product(keys[i]) for i in np.flatnonzero(theta).tolist()))
        features = family.features(products)
        self._rank_one = features is not None
        if features is not None and len(products) <= self._few:
            self._small = FeatureRidge(y, features)
            self._columns = {key: i for i, key in enumerate(products)}
        self.a, self.fitted = self._solve(keys, theta, None)

    def step(
        self, keys: Sequence[Key], theta: Array, change: tuple[float, int, float] | None
    ) -> None:
        """Solve at new weights.

        Parameters
        ----------
        keys : sequence of Key
        theta : array, shape (n_keys,)
        change : (scale, position, extra) or None
            When the new weights are `scale` times the old, plus `extra` at one
            position.
        """
        self.a, self.fitted = self._solve(keys, theta, change)

    def _solve(
        self, keys: Sequence[Key], theta: Array, change: tuple[float, int, float] | None
    ) -> tuple[Array, Array]:
        if self._small is not None:
            weights = self._column_weights(keys, theta)
            if int(np.count_nonzero(weights)) <= self._few:
                return self._small.solve(weights)
            if self._follows:  # from here on there are only more
                self._small = None
        if self._rows is not None and change is not None:
            scale, position, extra = change
            if scale > 0.0:
                self._follow(keys[position], scale, extra)
                return self._rows.a, self._rows.fitted
        K = combined_matrix(self._family, keys, theta)
        if not self._follows:
            return solve_fresh(self._y, K)
        self._rows = RowRidge(self._y, K)
        return self._rows.a, self._rows.fitted

    def _follow(self, key: Key, scale: float, extra: float) -> None:
        assert self._rows is not None
        if self._rank_one:
            features = self._family.features((_product(key),))
            assert features is not None
            self._rows.change(scale, extra, features[:, 0])
        else:
            self._rows.change_full(scale, extra, self._family.gram(key))

    def _column_weights(self, keys: Sequence[Key], theta: Array) -> Array:
        """Weights of the columns: orderings of one product share a column."""
        assert self._small is not None
        known = self._column_of.size
        if known < len(keys):
            unknown = np.full(max(len(keys), 2 * known) - known, -1, dtype=np.intp)
            self._column_of = np.concatenate([self._column_of, unknown])
        active = np.flatnonzero(theta)
        for i in active[self._column_of[active] < 0]:
            self._column_of[i] = self._column(keys[i])
        columns = self._column_of[active]
        weights: Array = np.zeros(self._small.count)
        np.add.at(weights, columns, theta[active])
        return weights

    def _column(self, key: Key) -> int:
        assert self._small is not None
        product = _product(key)
        found = self._columns.get(product)
        if found is None:
            features = self._family.features((product,))
            assert features is not None
            found = self._columns[product] = self._small.count
            self._small.add(features[:, 0])
        return found


def solve_at(
    family: KernelFamily, y: Array, keys: Sequence[Key], theta: Array
) -> tuple[Array, Array]:
    """(a, K a) at one point, from nothing.

    Parameters
    ----------
    family : KernelFamily
    y : array, shape (n_rows,)
    keys : sequence of Key
    theta : array, shape (n_keys,)
    """
    active = np.flatnonzero(theta)
    if active.size <= most_columns(len(y)):
        features = family.features(tuple(keys[i] for i in active.tolist()))
        if features is not None:
            return FeatureRidge(y, features).solve(theta[active])
    return solve_fresh(y, combined_matrix(family, keys, theta))


def combined_matrix(family: KernelFamily, keys: Sequence[Key], theta: Array) -> Array:
    """K_theta, shape (n_rows, n_rows), one's own to write to."""
    K = np.zeros((family.n_rows, family.n_rows))
    active = np.flatnonzero(theta)
    for first in range(0, active.size, _BLOCK):
        part = active[first : first + _BLOCK]
        chosen = tuple(keys[i] for i in part.tolist())
        K += family.combine(Weights(chosen, theta[part])).matrix()
    return K


def _product(key: Key) -> Key:
    """The letters of a word in order: words of the same letters have the same feature."""
    return tuple(sorted(key)) if isinstance(key, tuple) else key
