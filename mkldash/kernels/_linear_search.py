"""Bounds on the forms of all words that begin with a prefix, for rank-one base kernels.

With m = a * x_p of the prefix p and k letters to come, two bounds hold for every
completion q, and the smaller is used:

* Hoelder: |sum_i m_i x_q1,i ... x_qk,i| <= max_l sum_i |m_i| |x_l,i|^k; when q is not
  one letter k times, the largest may count k - 1 times only, the second once.
* the sum: the forms of all words p q add up to m'S^k m; a q that is not one letter
  k times has at least k orderings, so its form is at most 1/k of what is left when
  those that are, which are evaluated exactly, are taken away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mkldash.kernels import _compiled_products
from mkldash.kernels._product_bases import Expansion
from mkldash.kernels._words import n_products
from mkldash.kernels.base import Array

if TYPE_CHECKING:
    from mkldash.kernels._linear_products import LinearProducts

__all__ = ["LinearTree"]

#: The sum bound is computed while completions number at most this many times the
#: rows; with more of them Hoelder's is smaller.
SUMS_BELOW = 4.0


class LinearTree:
    """See `mkldash.kernels._product_bases.Tree`.

    Parameters
    ----------
    bases : LinearProducts
    a : array, shape (n_rows,)
    sums : array, shape (degree + 1,)
        a'S^d a.
    """

    def __init__(self, bases: LinearProducts, a: Array, sums: Array) -> None:
        self._bases = bases
        self._a = a
        self._sums = sums
        self._powers = [np.ones_like(bases.X), bases.X]
        self._sizes = [np.ones_like(bases.X), np.abs(bases.X)]

    def _raise_to(self, exponent: int) -> tuple[Array, Array]:
        while len(self._powers) <= exponent:
            self._powers.append(self._powers[-1] * self._powers[1])
            self._sizes.append(np.abs(self._powers[-1]))
        return self._powers[exponent], self._sizes[exponent]

    def root(self, length: int) -> tuple[float, Expansion]:
        """A bound on all words of this length, and the best of one letter alone."""
        found = Expansion()
        if length == 0:
            found.value = float(self._sums[0])
            return found.value, found
        powers, sizes = self._raise_to(length)
        inner = (self._a @ powers)[None]
        above = (np.abs(self._a) @ sizes)[None]
        sums = self._sums[length : length + 1] + self._rounding(self._a[:, None], length)
        bounds, letters, values = _compiled_products.completion_bounds(
            inner, above, sums, 0, length
        )
        found.value, found.word = float(values[0]), (int(letters[0]),) * length
        return float(bounds[0]), found

    def expand(self, prefix: tuple[int, ...], length: int) -> Expansion:
        """One letter more; with one or two to come, all words evaluated at once."""
        m = self._a
        for letter in prefix:
            m = m * self._bases.columns[letter]
        last, left = (prefix[-1] if prefix else 0), length - len(prefix)
        if left <= 2:
            return self._evaluate(prefix, m, last, left)
        powers, sizes = self._raise_to(left - 1)
        U = self._bases.X[:, last:] * m[:, None]
        inner = U.T @ powers[:, last:]
        above = np.abs(U).T @ sizes[:, last:]
        bounds, letters, values = _compiled_products.completion_bounds(
            inner, above, self._laws(U, left - 1), 1, left - 1
        )
        best = int(np.argmax(values))
        word = (*prefix, last + best, *(last + int(letters[best]),) * (left - 1))
        prefixes = [(*prefix, last + j) for j in range(len(bounds))]
        return Expansion(word, float(values[best]), prefixes, bounds.tolist())

    def _laws(self, U: Array, left: int) -> Array:
        """Sums over all completions, infinite where they would not help."""
        bases = self._bases
        if n_products(bases.n_base, left) > SUMS_BELOW * bases.n_rows:
            return np.full(U.shape[1], np.inf)
        return bases.power_laws(U, left) + self._rounding(U, left)

    def _rounding(self, U: Array, left: int) -> Array:
        """More than the error of u'S^left u that is left when its terms cancel."""
        peak = self._bases.n_rows * self._bases.diagonal_peak**left
        return np.asarray(np.finfo(np.float64).eps * peak * np.einsum("ij,ij->j", U, U))

    def _evaluate(self, prefix: tuple[int, ...], m: Array, last: int, left: int) -> Expansion:
        X = self._bases.X[:, last:]
        if left == 1:
            values = np.square(m @ X)
            best = int(np.argmax(values))
            return Expansion((*prefix, last + best), float(values[best]))
        pairs = np.square(X.T @ (X * m[:, None]))
        first, second = divmod(int(np.argmax(np.triu(pairs))), pairs.shape[1])
        word = (*prefix, last + first, last + second)
        return Expansion(word, float(pairs[first, second]))
