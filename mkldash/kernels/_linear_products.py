"""Products of rank-one base kernels K_j = x_j x_j': a a' stays rank one on every word."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.kernels import _compiled_products
from mkldash.kernels._linear_search import LinearTree
from mkldash.kernels._product_bases import ProductBases
from mkldash.kernels._product_predictors import MonomialPredictor
from mkldash.kernels._words import Words, n_orderings, n_products, word_blocks
from mkldash.kernels.base import Array
from mkldash.kernels.block_memory import BlockMemory

__all__ = ["FeatureCombined", "LinearProducts", "LinearWalk", "linear_bytes"]

#: Products of d features replace S^d while they number at most this share of the rows.
FEATURE_SHARE = 0.5

#: One compiled pass over half of S costs, for each entry and power, what this many
#: multiplications of a matrix product do (measured, one thread).
PASS_COST = 3.0

#: Rows of a block of S^d: only blocks on and below the diagonal are multiplied.
_BLOCK = 128

#: Bytes of features that a combined kernel keeps.
FEATURE_BYTES = 256 * 2**20

#: Bytes of prefix products that are multiplied at a time: they stay in the cache.
_PREFIX_BYTES = 2**20

#: Bytes of features that are made at a time when they are not kept.
_PIECE_BYTES = 16 * 2**20


class FeatureCombined:
    """Phi diag(weights) Phi' for the features Phi of the words that carry weight.

    Up to `FEATURE_BYTES` the features are kept; beyond that, as with all words of a
    large family, they are made again in pieces whenever they are needed.
    """

    cheap_blocks = True

    def __init__(self, bases: LinearProducts, words: Words, weights: Array) -> None:
        self.n_rows = bases.n_rows
        self._bases = bases
        self._words = words
        self._weights = weights

    @cached_property
    def _kept(self) -> Array:
        return self._bases.features(self._words, np.ones(len(self._words)))

    def _pieces(self) -> Iterator[tuple[Array, Array]]:
        """Features (n_rows, m) and weights (m,), all of them in turn."""
        if 8 * self.n_rows * len(self._words) <= FEATURE_BYTES:
            yield self._kept, self._weights
            return
        step = max(1, _PIECE_BYTES // (8 * self.n_rows))
        for low in range(0, len(self._words), step):
            part = self._words[low : low + step]
            yield self._bases.features(part, np.ones(len(part))), self._weights[low : low + step]

    def matrix(self) -> Array:
        """All of it, shape (n_rows, n_rows)."""
        return self._sum(None)

    def block(self, rows: NDArray[np.intp], memory: BlockMemory | None = None) -> Array:
        """K[rows][:, rows], shape (m, m)."""
        return self._sum(rows)

    def _sum(self, rows: NDArray[np.intp] | None) -> Array:
        size = self.n_rows if rows is None else len(rows)
        out = np.zeros((size, size))
        for features, weights in self._pieces():
            scaled = (features if rows is None else features[rows]) * np.sqrt(weights)
            out += scaled @ scaled.T
        return out

    def apply(self, a: ArrayLike) -> Array:
        """K a, shape (n_rows,), through the features."""
        values, out = np.asarray(a, dtype=np.float64), np.zeros(self.n_rows)
        for features, weights in self._pieces():
            out += features @ (weights * (values @ features))
        return out

    def residual(self) -> tuple[float, Array]:
        """Zeros: nothing is left out."""
        return 0.0, np.zeros(self.n_rows)


class LinearProducts(ProductBases):
    """K_j = x_j x_j' for the columns of X.

    Parameters
    ----------
    X : array, shape (n_rows, r)
        Scaled already; kept.
    scale : float
        What new rows are multiplied with.
    degree : int
    """

    rank_one = True

    def __init__(self, X: Array, scale: float, degree: int) -> None:
        self.n_rows, self.n_base = X.shape
        self.width = self.n_rows
        self.degree = degree
        self.X = X
        self.columns = np.ascontiguousarray(X.T)
        self.diagonal_peak = float(np.einsum("ij,ij->i", X, X).max())
        self._scale = scale
        self.plan = _Plan(self.n_rows, self.n_base, degree)
        self.nbytes = self.plan.nbytes
        self.blocks, self.starts = _feature_blocks(self.columns, self.plan)
        self._powers: list[Array] = []

    @cached_property
    def S(self) -> Array:
        """The sum of the base kernels, shape (n_rows, n_rows)."""
        return np.asarray(self.X @ self.X.T)

    def power(self, exponent: int) -> Array:
        """S^exponent in blocks on and below the diagonal, those below it doubled."""
        if not self._powers:
            doubled = self.S.copy()
            for low in range(0, self.n_rows, _BLOCK):
                doubled[low : low + _BLOCK, :low] *= 2.0
            self._powers.append(doubled)
        while len(self._powers) < exponent:
            self._powers.append(self._powers[-1] * self.S)
        return self._powers[exponent - 1]

    def power_laws(self, U: Array, exponent: int) -> Array:
        """u'S^exponent u for every column u of U, shape (r,)."""
        if exponent == 0:
            return np.square(U.sum(axis=0))
        if exponent <= self.plan.kept:
            F = self.blocks[self.starts[exponent] : self.starts[exponent + 1]]
            return _column_squares(F @ U)
        power, out = self.power(exponent), np.zeros(U.shape[1])
        for low in range(0, self.n_rows, _BLOCK):
            high = min(low + _BLOCK, self.n_rows)
            W = power[low:high, :high] @ U[:high]
            out += np.einsum("ij,ij->j", W, U[low:high])
        return out

    def sums(self, a: Array) -> Array:
        """<S^d, a a'> for d = 0 .. degree, shape (degree + 1,)."""
        if self.plan.square:
            return _compiled_products.power_forms(self.S, a, self.degree)
        return self._feature_sums(a)[0]

    def _feature_sums(self, a: Array) -> tuple[Array, Array]:
        """The sums, and the law of the first letter for every length, (degree, r)."""
        out = np.empty(self.degree + 1)
        out[0] = a.sum() ** 2
        laws = np.empty((self.degree, self.n_base))
        if self.degree:
            squares = np.square(self.blocks[: self.starts[self.degree]] @ (self.X * a[:, None]))
            np.add.reduceat(squares, self.starts[: self.degree], axis=0, out=laws)
            laws.sum(axis=1, out=out[1:])
        return out, laws

    def walk(self, a: Array) -> LinearWalk:
        """The start of a word."""
        return LinearWalk(self, a)

    def tree(self, a: Array, sums: Array) -> LinearTree:
        """For the search of the largest form."""
        return LinearTree(self, a, sums)

    def forms(self, a: Array, words: Words) -> Array:
        """(a'phi)^2 of the words, shape (len(words),)."""
        return np.square(_compiled_products.product_sums(self.columns, words, a))

    def forms_of_length(self, a: Array, length: int, merged: bool) -> Array:
        """(a'phi)^2 of all (sorted) words of one length, lexicographic order."""
        if length == 0:
            return np.array([a.sum() ** 2])
        most = max(1, _PREFIX_BYTES // (8 * self.n_rows))
        found = []
        for prefixes in word_blocks(self.n_base, length - 1, merged, most):
            for low in range(0, len(prefixes), most):
                part = np.ascontiguousarray(prefixes[low : low + most])
                rows = _compiled_products.sorted_products(self.columns, part, a)
                values = rows @ self.X
                if merged and length > 1:
                    found.append(values[np.arange(self.n_base) >= part[:, -1:]])
                else:
                    found.append(values.ravel())
        return np.square(np.concatenate(found))

    def features(self, words: Words, scales: Array) -> Array:
        """sqrt(scale) phi of each word, shape (n_rows, len(words)), columns in memory order."""
        ones = np.ones(self.n_rows)
        return _compiled_products.products(self.columns, words, ones, np.sqrt(scales)).T

    def gram(self, word: Sequence[int]) -> Array:
        """The product of one word, shape (n_rows, n_rows)."""
        phi = self.X[:, list(word)].prod(axis=1)
        return np.multiply.outer(phi, phi)

    def combine(self, words: Words, weights: Array) -> FeatureCombined:
        """sum_w weights_w K_w, through the features."""
        return FeatureCombined(self, words, weights)

    def predictor(self, words: Words, weights: Array, a: Array) -> MonomialPredictor:
        """sum_w weights_w K_w(., rows) a, for new rows."""
        inner = weights * _compiled_products.product_sums(self.columns, words, a)
        return MonomialPredictor(self.n_base, self._scale, words, inner)


class LinearWalk:
    """See `Walk`; M = m m' with m = a * x_1 * x_2 * ... of the letters so far."""

    def __init__(self, bases: LinearProducts, a: Array) -> None:
        self._bases = bases
        self._m = a
        self._laws: Array | None = None
        if bases.plan.square:
            self.sums = bases.sums(a)
        else:
            self.sums, self._laws = bases._feature_sums(a)

    def law(self, remaining: int) -> Array:
        """<S^remaining * K_j, M> for every j, shape (r,)."""
        if self._laws is not None:
            return self._laws[remaining]
        if remaining == 0:
            return np.square(self._m @ self._bases.X)
        return self._bases.power_laws(self._bases.X * self._m[:, None], remaining)

    def step(self, letter: int) -> None:
        """m <- m * x_letter."""
        self._laws = None
        self._m = self._m * self._bases.columns[letter]


class _Plan:
    """What is kept beside X, chosen by counting multiplications.

    Attributes
    ----------
    kept : int
        Largest d whose products of d features are kept instead of S^d.
    square : bool
        Whether the totals come from one pass over S rather than from products.
    nbytes : int
        All of it, powers of S that are made when first needed included.
    """

    def __init__(self, n: int, r: int, degree: int) -> None:
        sizes = [n_products(r, d) for d in range(max(degree, 1))]
        self.kept = 0
        while self.kept + 1 < degree and sizes[self.kept + 1] <= max(FEATURE_SHARE * n, r):
            self.kept += 1
        through_products = n * r * sum(sizes[:degree])
        through_square = PASS_COST * degree * n * n / 2
        self.square = degree > self.kept + 1 or through_products > through_square
        self.sizes = sizes[: self.kept + 1]
        powers = max(0, degree - 1 - self.kept)  # S^d for d > kept, and S to make them
        squares = degree - 1 if powers else 0
        self.nbytes = (
            8 * n * (2 * r + sum(self.sizes) + n * (squares + (self.square or powers > 0)))
        )


def linear_bytes(n: int, r: int, degree: int) -> int:
    """Bytes that `LinearProducts` takes, powers of S included."""
    return _Plan(n, r, degree).nbytes


def _feature_blocks(columns: Array, plan: _Plan) -> tuple[Array, NDArray[np.intp]]:
    """Rows sqrt(orderings) phi of all sorted words up to length `kept`; where each length starts.

    Rows of length d are a factor of S^d: S^d = sum over ordered words of phi phi'.
    """
    r, n = columns.shape
    blocks = np.empty((sum(plan.sizes), n))
    starts = np.zeros(len(plan.sizes) + 1, dtype=np.intp)
    np.cumsum(plan.sizes, out=starts[1:])
    ones = np.ones(n)
    for length in range(len(plan.sizes)):
        (words,) = word_blocks(r, length, True, plan.sizes[length] * r)
        roots = np.array([math.sqrt(n_orderings(word)) for word in words.tolist()])
        blocks[starts[length] : starts[length + 1]] = _compiled_products.products(
            columns, words, ones, roots
        )
    return blocks, starts


def _column_squares(values: Array) -> Array:
    return np.einsum("ij,ij->j", values, values)
