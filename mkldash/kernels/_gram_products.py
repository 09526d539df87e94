"""Products of base kernels of any kind, from their packed Gram matrices.

Packed as in `_compiled`; M = a a' has its entries off the diagonal doubled, so that
<K, M> is a plain sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.kernels import _compiled, _compiled_products
from mkldash.kernels._gram_search import GramTree
from mkldash.kernels._product_bases import ProductBases
from mkldash.kernels._product_predictors import BaseBlocks, BlockPredictor
from mkldash.kernels._words import Words, word_blocks
from mkldash.kernels.base import Array
from mkldash.kernels.block_memory import BlockMemory
from mkldash.kernels.dense import packed_size

__all__ = [
    "GramCombined",
    "GramProducts",
    "GramWalk",
    "diagonal_positions",
    "gram_bytes",
]

#: Bytes of prefix products that are multiplied at a time.
_PIECE_BYTES = 16 * 2**20


class GramCombined:
    """sum_w weights_w K_w, added up when first asked for."""

    cheap_blocks = False

    def __init__(self, bases: GramProducts, words: Words, weights: Array) -> None:
        self.n_rows = bases.n_rows
        self._bases = bases
        self._words = words
        self._weights = weights

    @cached_property
    def _matrix(self) -> Array:
        packed = _compiled_products.weighted_products(
            self._bases.packed, self._words, self._weights
        )
        return np.asarray(_compiled.unpack(packed, self.n_rows))

    def matrix(self) -> Array:
        """All of it, shape (n_rows, n_rows); not to be written to."""
        return self._matrix

    def block(self, rows: NDArray[np.intp], memory: BlockMemory | None = None) -> Array:
        """K[rows][:, rows], shape (m, m)."""
        return np.asarray(self._matrix[np.ix_(rows, rows)])

    def apply(self, a: ArrayLike) -> Array:
        """K a, shape (n_rows,)."""
        return np.asarray(self._matrix @ np.asarray(a))

    def residual(self) -> tuple[float, Array]:
        """Zeros: nothing is left out."""
        return 0.0, np.zeros(self.n_rows)


class GramProducts(ProductBases):
    """Base kernels whose Gram matrices are stored.

    Parameters
    ----------
    packed : array, shape (r, n_rows (n_rows + 1) / 2)
        Scaled already; kept.
    n_rows : int
    scale : float
        What blocks on new rows are multiplied with.
    degree : int
    blocks : BaseBlocks
    """

    rank_one = False

    def __init__(
        self, packed: Array, n_rows: int, scale: float, degree: int, blocks: BaseBlocks
    ) -> None:
        self.n_base, self.n_rows, self.degree = len(packed), n_rows, degree
        self.packed, self.width = packed, packed.shape[1]
        self.nbytes = gram_bytes(n_rows, self.n_base, degree)
        self._scale = scale
        self._blocks = blocks
        self._powers = [packed.sum(axis=0)]
        self.diagonal_peak = float(self._powers[0][diagonal_positions(n_rows)].max())

    def power(self, exponent: int) -> Array:
        """S^exponent, packed."""
        while len(self._powers) < exponent:
            self._powers.append(self._powers[-1] * self._powers[0])
        return self._powers[exponent - 1]

    def laws(self, M: Array, exponent: int) -> Array:
        """<S^exponent * K_j, M> for every j, shape (r,)."""
        return np.asarray(self.packed @ (M * self.power(exponent) if exponent else M))

    def sums(self, a: Array) -> Array:
        """<S^d, a a'> for d = 0 .. degree, shape (degree + 1,)."""
        return self.sums_of(_compiled.pair_products(a))

    def sums_of(self, M: Array) -> Array:
        """<S^d, M> for d = 0 .. degree, shape (degree + 1,)."""
        return _compiled_products.packed_power_sums(self._powers[0], M, self.degree)

    def walk(self, a: Array) -> GramWalk:
        """The start of a word."""
        return GramWalk(self, a)

    def tree(self, a: Array, sums: Array) -> GramTree:
        """For the search of the largest form."""
        return GramTree(self, _compiled.pair_products(a), sums)

    def forms(self, a: Array, words: Words) -> Array:
        """<K_w, a a'> of the words, shape (len(words),)."""
        M = _compiled.pair_products(a)
        return _compiled_products.product_sums(self.packed, words, M)

    def forms_of_length(self, a: Array, length: int, merged: bool) -> Array:
        """<K_w, a a'> of all (sorted) words of one length, lexicographic order."""
        M = _compiled.pair_products(a)
        if length == 0:
            return np.array([M.sum()])
        most = max(1, _PIECE_BYTES // (8 * len(M)))
        found = []
        for prefixes in word_blocks(self.n_base, length - 1, merged, most):
            for low in range(0, len(prefixes), most):
                part = np.ascontiguousarray(prefixes[low : low + most])
                rows = _compiled_products.sorted_products(self.packed, part, M)
                values = rows @ self.packed.T
                if merged and length > 1:
                    found.append(values[np.arange(self.n_base) >= part[:, -1:]])
                else:
                    found.append(values.ravel())
        return np.concatenate(found)

    def features(self, words: Words, scales: Array) -> Array:
        """Nothing: the base kernels have any rank."""
        raise TypeError("base kernels given as Gram matrices have no features")

    def gram(self, word: Sequence[int]) -> Array:
        """The product of one word, shape (n_rows, n_rows)."""
        packed = np.ones(packed_size(self.n_rows))
        for letter in word:
            packed *= self.packed[letter]
        return np.asarray(_compiled.unpack(packed, self.n_rows))

    def combine(self, words: Words, weights: Array) -> GramCombined:
        """sum_w weights_w K_w."""
        return GramCombined(self, words, weights)

    def predictor(self, words: Words, weights: Array, a: Array) -> BlockPredictor:
        """sum_w weights_w K_w(., rows) a, for new rows."""
        live = np.flatnonzero(weights)
        lengths = (words[live] >= 0).sum(axis=1)
        letters, places = np.unique(words[live], return_inverse=True)
        used = letters >= 0
        places = places.reshape(words[live].shape).astype(np.int64) - int((~used).sum())
        values = weights[live] * self._scale**lengths
        return BlockPredictor(self._blocks, tuple(letters[used].tolist()), places, values, a)


class GramWalk:
    """See `Walk`; M is kept packed."""

    def __init__(self, bases: GramProducts, a: Array) -> None:
        self._bases = bases
        self._M = _compiled.pair_products(a)
        self.sums = bases.sums_of(self._M)

    def law(self, remaining: int) -> Array:
        """<S^remaining * K_j, M> for every j, shape (r,)."""
        return self._bases.laws(self._M, remaining)

    def step(self, letter: int) -> None:
        """M <- M * K_letter."""
        self._M = self._M * self._bases.packed[letter]


def diagonal_positions(n: int) -> NDArray[np.intp]:
    """Where a packed (n, n) matrix has its diagonal."""
    rows = np.arange(n)
    return rows * n - rows * (rows - 1) // 2


def gram_bytes(n: int, r: int, degree: int) -> int:
    """Bytes that `GramProducts` takes: base kernels, powers of their sum, and M."""
    return 8 * packed_size(n) * (r + max(1, degree - 1) + 2)
