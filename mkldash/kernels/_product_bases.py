"""What a product family asks of its base kernels, whatever they are.

All sums here are over plain products: the factors rho^-2 are the family's.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from mkldash.kernels._product_predictors import ProductPredictor
from mkldash.kernels._words import Words
from mkldash.kernels.base import Array, CombinedKernel

__all__ = ["Expansion", "ProductBases", "Tree", "Walk"]


class Walk(Protocol):
    """One word on its way: <M, .> with M = (a a') * K_1 * ... of the letters so far."""

    #: <S^d, a a'> for entrywise powers d = 0 .. degree, shape (degree + 1,).
    sums: Array

    def law(self, remaining: int) -> Array:
        """<S^remaining * K_j, M> for every j, shape (r,); below zero by rounding only."""

    def step(self, letter: int) -> None:
        """M <- M * K_letter."""


@dataclass
class Expansion:
    """What expanding one prefix gave.

    Attributes
    ----------
    word : tuple of int
        The best word evaluated exactly; () if none was.
    value : float
        Its form; -1 if none was.
    prefixes, bounds : list
        Longer prefixes, each with a bound on all sorted words that begin with it.
    """

    word: tuple[int, ...] = ()
    value: float = -1.0
    prefixes: list[tuple[int, ...]] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)


class Tree(Protocol):
    """Sorted words of one length as a tree of prefixes, for one a."""

    def root(self, length: int) -> tuple[float, Expansion]:
        """A bound on all words of this length, and the best word that was evaluated.

        For lengths 0 and 1 that is the best of all.
        """

    def expand(self, prefix: tuple[int, ...], length: int) -> Expansion:
        """The prefix made one letter longer, or all of its words evaluated."""


class ProductBases(abc.ABC):
    """The base kernels, scaled, and what is kept of their products.

    Attributes
    ----------
    n_rows, n_base, degree, nbytes : int
    width : int
        Multiplications that one more letter costs one word.
    rank_one : bool
    """

    n_rows: int
    n_base: int
    degree: int
    nbytes: int
    width: int
    rank_one: bool

    @abc.abstractmethod
    def sums(self, a: Array) -> Array:
        """<S^d, a a'> for d = 0 .. degree, shape (degree + 1,)."""

    @abc.abstractmethod
    def walk(self, a: Array) -> Walk:
        """The start of a word."""

    @abc.abstractmethod
    def tree(self, a: Array, sums: Array) -> Tree:
        """For the search of the largest form."""

    @abc.abstractmethod
    def forms(self, a: Array, words: Words) -> Array:
        """a'K a of the words, shape (len(words),)."""

    @abc.abstractmethod
    def forms_of_length(self, a: Array, length: int, merged: bool) -> Array:
        """a'K a of all (sorted) words of one length, lexicographic order."""

    @abc.abstractmethod
    def features(self, words: Words, scales: Array) -> Array:
        """sqrt(scale) phi of each word, shape (n_rows, len(words)); rank one only."""

    @abc.abstractmethod
    def gram(self, word: Sequence[int]) -> Array:
        """The product of one word, shape (n_rows, n_rows), new memory."""

    @abc.abstractmethod
    def combine(self, words: Words, weights: Array) -> CombinedKernel:
        """sum_w weights_w K_w."""

    @abc.abstractmethod
    def predictor(self, words: Words, weights: Array, a: Array) -> ProductPredictor:
        """sum_w weights_w K_w(., rows) a, for new rows."""


def clipped(values: Array) -> Array:
    """Forms of semidefinite matrices are below zero by rounding only."""
    return np.maximum(values, 0.0, out=values)
