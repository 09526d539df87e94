"""The ridge solve of mirror descent: the way that is cheapest for the weights at hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.family import KernelFamily, Key
from mkldash.solvers._ridge_features import FeatureRidge
from mkldash.solvers._ridge_products import Products
from mkldash.solvers._ridge_rows import RowRidge, solve_fresh

Array = NDArray[np.float64]

__all__ = ["Ridge", "most_columns", "solve_at"]


#: Share of the rows up to which the small system of the active columns is the cheaper one
#: (measured at 500 to 2,000 rows): against an inverse that is followed through sums, or
#: through sums and a common factor; and against making the matrix and factoring it.
_SUMS, _SCALED_SUMS, _FRESH = 0.3, 0.45, 1.0


def most_columns(n_rows: int, follows: bool, rescales: bool) -> int:
    """Active columns up to which their own small system is the cheaper one."""
    share = (_SCALED_SUMS if rescales else _SUMS) if follows else _FRESH
    return int(share * n_rows)


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
    rescales : bool
        Whether those steps change the common factor.
    """

    def __init__(
        self,
        family: KernelFamily,
        y: Array,
        keys: Sequence[Key],
        theta: Array,
        *,
        follows: bool,
        rescales: bool = True,
    ) -> None:
        self._family, self._y, self._follows = family, y, follows
        self._few = most_columns(len(y), follows, rescales)
        self._products = Products(family)
        self._small: FeatureRidge | None = None
        self._rows: RowRidge | None = None
        if self._products.rank_one:
            self._small = FeatureRidge(y)
        #: Column of each product; -1: none yet.
        self._columns = np.empty(0, dtype=np.intp)
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

    def elsewhere(self, keys: Sequence[Key], theta: Array) -> tuple[Array, Array]:
        """(a, K a) at other weights of the same keys, from nothing."""
        return _solve_afresh(self._products, self._y, keys, theta)

    def _solve(
        self, keys: Sequence[Key], theta: Array, change: tuple[float, int, float] | None
    ) -> tuple[Array, Array]:
        if self._small is not None:
            weights = self._products.weights(keys, theta)
            if int(np.count_nonzero(weights)) <= self._few:
                return self._solve_small(self._small, weights)
            if self._follows:  # from here on there are only more
                self._small = None
        if self._rows is not None and change is not None:
            scale, position, extra = change
            if scale > 0.0:
                self._follow(keys[position], scale, extra)
                return self._rows.a, self._rows.fitted
        K = self._products.matrix(self._products.weights(keys, theta))
        if not self._follows:
            return solve_fresh(self._y, K)
        self._rows = RowRidge(self._y, K)
        return self._rows.a, self._rows.fitted

    def _follow(self, key: Key, scale: float, extra: float) -> None:
        assert self._rows is not None
        if self._products.rank_one:
            features = self._family.features((key,))
            assert features is not None
            self._rows.change(scale, extra, features[:, 0])
        else:
            self._rows.change_full(scale, extra, self._family.gram(key))

    def _solve_small(self, small: FeatureRidge, weights: Array) -> tuple[Array, Array]:
        """Through the columns of the products that have weight; new ones are added."""
        unknown = np.full(weights.size - self._columns.size, -1, dtype=np.intp)
        self._columns = np.concatenate([self._columns, unknown]) if unknown.size else self._columns
        active = np.flatnonzero(weights)
        new = active[self._columns[active] < 0]
        if new.size:
            self._columns[new] = small.count + np.arange(new.size)
            small.add(self._products.features(new))
        w: Array = np.zeros(small.count)
        w[self._columns[active]] = weights[active]
        return small.solve(w)


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
    return _solve_afresh(Products(family), y, keys, theta)


def _solve_afresh(
    products: Products, y: Array, keys: Sequence[Key], theta: Array
) -> tuple[Array, Array]:
    weights = products.weights(keys, theta)
    active = np.flatnonzero(weights)
    if products.rank_one and active.size <= most_columns(len(y), False, False):
        small = FeatureRidge(y)
        small.add(products.features(active))
        return small.solve(weights[active])
    return solve_fresh(y, products.matrix(weights))
