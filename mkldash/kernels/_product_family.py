"""The family of products itself, over whatever base kernels; built in `products`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from mkldash.errors import InputError
from mkldash.kernels import _compiled_products
from mkldash.kernels._product_bases import ProductBases, clipped
from mkldash.kernels._product_facts import FamilyFacts
from mkldash.kernels._product_predictors import ProductPredictor
from mkldash.kernels._product_search import best_first
from mkldash.kernels._words import (
    Words,
    as_words,
    block_orderings,
    label_of,
    n_orderings,
    n_products,
    n_words,
    word_blocks,
)
from mkldash.kernels.base import Array, CombinedKernel
from mkldash.kernels.family import ENUMERABLE, Draw, KernelFamily, Key, Search
from mkldash.kernels.weights import Weights

__all__ = ["ProductFamily"]

#: Up to this many multiplications the search for the largest u evaluates all.
SMALL_SEARCH = 2e7


class ProductFamily(KernelFamily):
    """All products K_j1 * ... * K_jd of d = 0 .. degree base kernels, times rho_d^-2.

    A key is a tuple of positions of base kernels; () is the offset, the matrix
    of ones.  With `merged` a key is sorted and means all orderings of it: right
    for p = 1, where their weights add up.  For p > 1 orderings are kernels of
    their own, and the merged family is another model.

    Parameters
    ----------
    bases : ProductBases
    facts : FamilyFacts

    References
    ----------
    Afkanpour, Gyoergy, Szepesvari, Bowling, A Randomized Mirror Descent Algorithm
    for Large Scale Multiple Kernel Learning, ICML 2013, Algorithm 3.
    """

    def __init__(self, bases: ProductBases, facts: FamilyFacts) -> None:
        self.n_rows, self.n_base, self.degree = bases.n_rows, bases.n_base, bases.degree
        self.merged = facts.merged
        self.base_names = facts.base_names
        self.rho = np.array(facts.rho)
        self.rho.flags.writeable = False
        self.key, self.warnings, self.nbytes = facts.key, facts.warnings, bases.nbytes
        self.n_words = n_words(self.n_base, self.degree)
        lengths = range(self.degree + 1)
        self.size = (
            sum(n_products(self.n_base, d) for d in lengths) if self.merged else self.n_words
        )
        self._bases = bases
        self._factors = 1.0 / self.rho**2
        self._degree_shares = np.array([self.n_base**d / self.n_words for d in lengths])

    def combine(self, weights: Weights) -> CombinedKernel:
        """sum_i theta_i K_i over the keys that carry weight."""
        words, factors = self._words(weights.keys)
        return self._bases.combine(words, factors * weights.values)

    def degree_totals(self, a: ArrayLike) -> Array:
        """Sum of u over the words of each length, shape (degree + 1,), at least zero."""
        return clipped(self._bases.sums(self._coefficients(a)) * self._factors)

    def sample(self, a: ArrayLike, rng: np.random.Generator) -> Draw:
        """A word drawn with probability u / C, letter by letter (Algorithm 3).

        When every u is zero, and at a position where rounding left nothing, the
        draw is uniform.

        Parameters
        ----------
        a : array-like, shape (n_rows,)
        rng : numpy.random.Generator
            One number for the length and one for each letter.
        """
        walk = self._bases.walk(self._coefficients(a))
        totals = clipped(walk.sums * self._factors)
        total = float(totals.sum())
        if not math.isfinite(total):
            raise ValueError("the forms of the dual coefficients a are not finite")
        law = np.empty(self.degree + 1)
        raw = totals if total > 0.0 else self._degree_shares
        length = _compiled_products.choose(raw, rng.random(), law)
        probability = float(law[length])
        laws = np.empty((length, self.n_base))
        word: list[int] = []
        for position in range(length):
            if position:
                walk.step(word[-1])
            raw, law = walk.law(length - 1 - position), laws[position]
            letter = _compiled_products.choose(raw, rng.random(), law)
            probability *= float(law[letter])
            word.append(letter)
        drawn = tuple(word)
        key, orderings = self.stored(drawn), self.orderings(drawn)
        return Draw(drawn, key, orderings, probability, total, totals, laws)

    def uniform(self, rng: np.random.Generator) -> tuple[int, ...]:
        """A word drawn uniformly from all words."""
        law = np.empty(self.degree + 1)
        length = _compiled_products.choose(self._degree_shares, rng.random(), law)
        return tuple(int(rng.random() * self.n_base) for _ in range(length))

    def largest(self, a: ArrayLike, budget: int) -> Search:
        """The largest u by best-first search over sorted prefixes.

        Small families are evaluated whole.  The key is sorted also where
        orderings are not merged; all of them have the same u.

        Parameters
        ----------
        a : array-like, shape (n_rows,)
        budget : int
            Prefixes to expand at most.
        """
        values = self._coefficients(a)
        n_sorted = n_products(self.n_base + 1, self.degree)
        if n_sorted <= ENUMERABLE and n_sorted * self._bases.width <= SMALL_SEARCH:
            return self._largest_of_all(values)
        return self.search(values, budget)

    def search(self, a: ArrayLike, budget: int) -> Search:
        """`largest` by search also where the family is small."""
        values = self._coefficients(a)
        tree = self._bases.tree(values, self._bases.sums(values))
        return best_first(tree, self._factors, int(budget))

    def _largest_of_all(self, a: Array) -> Search:
        best, where, length = -1.0, 0, 0
        for d, factor in enumerate(self._factors):
            forms = self._bases.forms_of_length(a, d, True) * factor
            top = int(np.argmax(forms))
            if forms[top] > best:
                best, where, length = float(forms[top]), top, d
        for block in word_blocks(self.n_base, length, True, ENUMERABLE):
            if where < len(block):
                return Search(tuple(block[where].tolist()), best, best, True, 0)
            where -= len(block)
        raise AssertionError("the best word is among all words")

    def keys(self) -> tuple[Key, ...]:
        """All keys by length, then in lexicographic order.

        Raises
        ------
        InputError
            If there are more than `ENUMERABLE`.
        """
        self._check_enumerable()
        found: list[Key] = []
        for length in range(self.degree + 1):
            for block in word_blocks(self.n_base, length, self.merged, ENUMERABLE):
                found.extend(map(tuple, block.tolist()))
        return tuple(found)

    def all_forms(self, a: ArrayLike) -> Array:
        """u of all keys, shape (size,), in the order of `keys`.

        Prefixes are shared, and each length is one matrix product, in pieces.

        Raises
        ------
        InputError
            If there are more than `ENUMERABLE`.
        """
        self._check_enumerable()
        values = self._coefficients(a)
        forms = [
            self._bases.forms_of_length(values, d, self.merged) * factor
            for d, factor in enumerate(self._factors)
        ]
        return clipped(np.concatenate(forms))

    def all_orderings(self) -> Array:
        """`orderings` of all keys as floats, shape (size,), in the order of `keys`.

        Raises
        ------
        InputError
            If there are more than `ENUMERABLE`.
        """
        self._check_enumerable()
        if not self.merged:
            return np.ones(self.size)
        return np.concatenate(
            [
                block_orderings(block)
                for length in range(self.degree + 1)
                for block in word_blocks(self.n_base, length, True, ENUMERABLE)
            ]
        )

    def first_law(self, a: ArrayLike) -> Array:
        """Law of the first letter of a word drawn with probability u / C, shape (n_base,).

        Given that the word has a letter; zeros where no such word has any u.
        """
        walk = self._bases.walk(self._coefficients(a))
        raw = np.zeros(self.n_base)
        for length in range(1, self.degree + 1):
            raw += self._factors[length] * clipped(walk.law(length - 1))
        return _as_law(raw)

    def pair_law(self, a: ArrayLike) -> Array:
        """Law of the two letters of a drawn word of two, shape (n_base, n_base).

        The first letter counts rows; zeros where no such word has any u.
        """
        forms = self._bases.forms_of_length(self._coefficients(a), 2, False)
        return _as_law(clipped(forms).reshape(self.n_base, self.n_base))

    def quadratic_forms(self, a: ArrayLike, keys: Sequence[Key]) -> Array:
        """u_i = rho_d^-2 a'K_i a of the given keys, shape (len(keys),)."""
        words, factors = self._words(keys)
        return clipped(factors * self._bases.forms(self._coefficients(a), words))

    def features(self, keys: Sequence[Key]) -> Array | None:
        """phi, shape (n_rows, len(keys)), with rho_d^-2 K_i = phi_i phi_i', or None.

        Each feature is contiguous in memory.  None unless base kernels have rank one.
        """
        return self._bases.features(*self._words(keys)) if self._bases.rank_one else None

    def gram(self, key: Key) -> Array:
        """rho_d^-2 K_i, shape (n_rows, n_rows)."""
        words, factors = self._words((key,))
        return factors[0] * self._bases.gram(words[0][words[0] >= 0].tolist())

    def decision(self, X_new: ArrayLike, weights: Weights, a: ArrayLike) -> Array:
        """sum_i theta_i K_i(X_new, X) a, shape (n_new,).

        Parameters
        ----------
        X_new : array-like, shape (n_new, n_features)
            Standardised as X was.  For given Gram matrices the stack of shape
            (n_base, n_new, n_rows), unscaled.
        weights : Weights
        a : array-like, shape (n_rows,)
        """
        return self.predictor(weights, a).decision(X_new)

    def predictor(self, weights: Weights, a: ArrayLike) -> ProductPredictor:
        """`decision` at these weights and a, to be kept: it holds no Gram matrix.

        Over linear base kernels it is a polynomial and holds no training row either.
        """
        words, factors = self._words(weights.keys)
        return self._bases.predictor(words, factors * weights.values, self._coefficients(a))

    def stored(self, word: Sequence[int]) -> tuple[int, ...]:
        """The key of a word."""
        return tuple(sorted(word)) if self.merged else tuple(word)

    def has(self, key: object) -> bool:
        """Whether `key` is a tuple of base kernels, not too long, and sorted if merged."""
        if not isinstance(key, tuple) or len(key) > self.degree:
            return False
        if not all(isinstance(j, int | np.integer) and 0 <= j < self.n_base for j in key):
            return False
        return not self.merged or tuple(sorted(key)) == key

    def orderings(self, key: Key) -> int:
        """How many words mean this key: a multinomial coefficient, 1 unless merged."""
        return n_orderings(key) if self.merged else 1  # type: ignore[arg-type]

    def label(self, key: Key) -> str:
        """Such as ``age² · sex``; ``offset`` for ()."""
        words, _ = self._words((key,))
        return label_of(words[0][words[0] >= 0].tolist(), self.base_names)

    def _words(self, keys: Sequence[Hashable]) -> tuple[Words, Array]:
        words = as_words(keys, self.n_base, self.degree)
        return words, self._factors[(words >= 0).sum(axis=1)]

    def _check_enumerable(self) -> None:
        if self.size > ENUMERABLE:
            raise InputError(
                f"the family has {self.size:,} products, more than the {ENUMERABLE:,} that are "
                "listed; lower the degree or take fewer base kernels"
            )

    def _coefficients(self, a: ArrayLike) -> Array:
        # A copy, for compiled loops: read-only arrays would be compiled for anew.
        values = np.array(a, dtype=np.float64)
        if values.shape != (self.n_rows,):
            raise ValueError(f"a must have shape ({self.n_rows},), got {values.shape}")
        return values


def _as_law(raw: Array) -> Array:
    total = float(raw.sum())
    return raw / total if total > 0.0 else raw
