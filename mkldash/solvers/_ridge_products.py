"""The distinct products behind the keys of a run, and how much each of them matters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.family import KernelFamily, Key
from mkldash.kernels.weights import Weights

Array = NDArray[np.float64]

__all__ = ["Products"]

#: Products that are summed at a time.
_BLOCK = 4096

#: Weight times trace below which a product of rank one is left out of the solve.  K + I >= I,
#: so a thousand of them move a by 1e-10 of itself; at p = 1 most weights are smaller still.
#: Without them the weights are in the ball too: the primal value stays an upper bound.
_NEGLIGIBLE = 1e-13


class Products:
    """Words of the same letters are one matrix: their weights are added.

    Parameters
    ----------
    family : KernelFamily
    """

    def __init__(self, family: KernelFamily) -> None:
        self._family = family
        self.rank_one = family.features(()) is not None
        self._keys: list[Key] = []
        self._index: dict[Key, int] = {}
        #: Product of each key, and trace of each product (-1: not needed so far).
        self._of: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self._traces: Array = np.empty(0)

    def weights(self, keys: Sequence[Key], theta: Array) -> Array:
        """Weights of the products, shape (n_products,), zero where negligible.

        Parameters
        ----------
        keys : sequence of Key
            Those of the last call, and more at the end.
        theta : array, shape (n_keys,)
        """
        if len(keys) > self._of.size:
            self._extend(keys)
        weights: Array = np.bincount(self._of, theta, len(self._keys)).astype(np.float64)
        if self.rank_one:
            unknown = np.flatnonzero((self._traces < 0.0) & (weights > 0.0))
            if unknown.size:
                self._traces[unknown] = np.square(self.features(unknown)).sum(axis=0)
            weights[weights * self._traces <= _NEGLIGIBLE] = 0.0
        return weights

    def features(self, which: NDArray[np.intp]) -> Array:
        """Features of some of the products, of rank one, shape (n_rows, len(which))."""
        found = self._family.features(self._some(which))
        assert found is not None
        return found

    def matrix(self, weights: Array) -> Array:
        """The weighted sum of the products, one's own to write to."""
        K = np.zeros((self._family.n_rows, self._family.n_rows))
        active = np.flatnonzero(weights)
        for first in range(0, active.size, _BLOCK):
            part = active[first : first + _BLOCK]
            K += self._family.combine(Weights(self._some(part), weights[part])).matrix()
        return K

    def _some(self, which: NDArray[np.intp]) -> tuple[Key, ...]:
        return tuple([self._keys[i] for i in which.tolist()])

    def _extend(self, keys: Sequence[Key]) -> None:
        of = []
        for key in keys[self._of.size :]:
            product = key if self._family.merged else _letters(key)
            found = self._index.get(product)
            if found is None:
                found = self._index[product] = len(self._keys)
                self._keys.append(product)
            of.append(found)
        self._of = np.concatenate([self._of, np.array(of, dtype=np.intp)])
        more = np.full(len(self._keys) - self._traces.size, -1.0)
        self._traces = np.concatenate([self._traces, more])


def _letters(key: Key) -> Key:
    return tuple(sorted(key)) if isinstance(key, tuple) else key
