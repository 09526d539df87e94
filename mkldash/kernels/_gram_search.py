"""Bounds on the forms of all words that begin with a prefix, for any base kernels.

With M of the prefix and k letters to come, two bounds hold for every word that
goes on with letter j, and the smaller is used:

* Hoelder: <M * K_q1 * ... * K_qk, 1> is at most the product of h_q^(1/k), where
  h_l = sum |M| |K_l|^k;
* the sum over all such words, <S^(k-1) * K_j, M>, less the word that repeats j,
  which is evaluated exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mkldash.kernels import _compiled_products
from mkldash.kernels._product_bases import Expansion
from mkldash.kernels.base import Array

if TYPE_CHECKING:
    from mkldash.kernels._gram_products import GramProducts

__all__ = ["GramTree"]

#: Against rounding: bounds are raised by this part of the sum of absolute values.
SLACK = 1e-13


class GramTree:
    """See `mkldash.kernels._product_bases.Tree`.

    Parameters
    ----------
    bases : GramProducts
    M : array, shape (n_rows (n_rows + 1) / 2,)
        a a', packed.
    sums : array, shape (degree + 1,)
    """

    def __init__(self, bases: GramProducts, M: Array, sums: Array) -> None:
        self._bases = bases
        self._M = M
        self._size = float(np.abs(M).sum())
        self._sums = sums

    def root(self, length: int) -> tuple[float, Expansion]:
        """A bound on all words of this length, and the best of one letter alone."""
        if length == 0:
            value = float(self._sums[0])
            return value, Expansion((), value)
        inner, above = _compiled_products.repeated_sums(self._bases.packed, self._M, length)
        best = int(np.argmax(inner))
        found = Expansion((best,) * length, float(inner[best]))
        if length == 1:
            return found.value, found
        mixed = _mixed(above, length).max()
        total = float(self._sums[length]) - float(np.maximum(inner, 0.0).sum())
        total = total / length + SLACK * self._largest(length)
        return max(found.value, min(float(mixed), total)), found

    def expand(self, prefix: tuple[int, ...], length: int) -> Expansion:
        """One letter more; with one to come, all words evaluated."""
        M, packed = self._M, self._bases.packed
        for letter in prefix:
            M = M * packed[letter]
        last, left = (prefix[-1] if prefix else 0), length - len(prefix)
        if left == 1:
            values = packed[last:] @ M
            best = int(np.argmax(values))
            return Expansion((*prefix, last + best), float(values[best]))
        inner, above = _compiled_products.repeated_sums(packed[last:], M, left)
        sums = self._bases.laws(M, left - 1)[last:] - np.maximum(inner, 0.0)
        sums += SLACK * self._largest(length)
        bounds = np.maximum(inner, np.minimum(sums, _mixed(above, left)))
        best = int(np.argmax(inner))
        prefixes = [(*prefix, last + j) for j in range(len(bounds))]
        repeated = (*prefix, *(last + best,) * left)
        return Expansion(repeated, float(inner[best]), prefixes, bounds.tolist())

    def _largest(self, length: int) -> float:
        """More than the sum of absolute values of any M times a power of S."""
        return self._size * self._bases.diagonal_peak**length


def _mixed(above: Array, left: int) -> Array:
    """Hoelder's bound for words that begin with j, go on with l >= j, not all j; (r,)."""
    after = np.append(np.maximum.accumulate(above[::-1])[-2::-1], 0.0)
    high, low = np.maximum(above, after), np.minimum(above, after)
    # The first letter counts once at least, and so does the largest of the others.
    part = np.divide(low, high, out=np.zeros_like(low), where=high > 0.0)
    return np.asarray(high * part ** (1.0 / left) * (1.0 + 1e-12))
