"""What an implicit family of kernels must answer: far too many to list, named by keys.

Solvers reach the kernels of a family through `KernelFamily` and nothing else.
"""

from __future__ import annotations

import abc
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mkldash.kernels.base import Array, CombinedKernel
from mkldash.kernels.weights import Weights

__all__ = ["ENUMERABLE", "Draw", "KernelFamily", "Key", "Search"]

#: How a kernel of a family is named.
Key = Hashable

#: Most kernels that a family lists when it is asked for all of them.
ENUMERABLE = 1_000_000


@dataclass(frozen=True, eq=False)
class Draw:
    """One word drawn with probability proportional to its u, and all that was likely.

    Attributes
    ----------
    word : tuple of int
        The base kernels in the order in which they were drawn.
    key : Key
        The stored key of the word: sorted where permutations are one kernel.
    orderings : int
        How many words mean that key (m in the papers' terms); 1 if permutations
        are kernels of their own.
    probability : float
        Of the word: the product of the probabilities used.
    total : float
        C, the sum of u over all words.
    degree_totals : array, shape (degree + 1,)
        The part of C that the words of each length have.
    position_laws : array, shape (len(word), n_base)
        Conditional law of each position given those before; rows sum to one.
    """

    word: tuple[int, ...]
    key: Key
    orderings: int
    probability: float
    total: float
    degree_totals: Array
    position_laws: Array


@dataclass(frozen=True, eq=False)
class Search:
    """What a search for the largest u found.

    Attributes
    ----------
    key : Key
        The best kernel seen.
    value : float
        Its u.
    bound : float
        No kernel of the family has a larger u; equals `value` if `exact`.
    exact : bool
    nodes : int
        Prefixes that were expanded; 0 when all kernels were simply evaluated.
    """

    key: Key
    value: float
    bound: float
    exact: bool
    nodes: int


class KernelFamily(abc.ABC):
    """Kernels K_i over the training rows, i in a set that need not be listed.

    The factors rho^-2 of the penalty are in the kernels, so that
    u_i = a'K_i a is minus twice the gradient of the reduced cost.

    Attributes
    ----------
    n_rows, n_base, degree : int
        Training rows; base kernels; most factors in a product.
    merged : bool
        Whether the orderings of a word are one kernel.
    size : int
        Number of kernels (stored keys), exact, however large.
    n_words : int
        Number of words; more than `size` where orderings are merged.
    base_names : tuple of str
    key : str
        Hash of the content: equal keys mean equal families.
    nbytes : int
        Bytes that the family takes, what it makes when first asked included.
    warnings : tuple of str
        Sentences for the person.
    """

    n_rows: int
    n_base: int
    degree: int
    merged: bool
    size: int
    n_words: int
    base_names: tuple[str, ...]
    key: str
    nbytes: int
    warnings: tuple[str, ...]

    @abc.abstractmethod
    def combine(self, weights: Weights) -> CombinedKernel:
        """sum_i theta_i K_i over the keys that carry weight."""

    @abc.abstractmethod
    def degree_totals(self, a: ArrayLike) -> Array:
        """Sum of u over the words of each length, shape (degree + 1,), at least zero."""

    def total(self, a: ArrayLike) -> float:
        """C, the sum of u over all words."""
        return float(self.degree_totals(a).sum())

    @abc.abstractmethod
    def sample(self, a: ArrayLike, rng: np.random.Generator) -> Draw:
        """A word drawn with probability u / C; calls `rng.random` only."""

    @abc.abstractmethod
    def uniform(self, rng: np.random.Generator) -> tuple[int, ...]:
        """A word drawn uniformly from all words; calls `rng.random` only."""

    @abc.abstractmethod
    def largest(self, a: ArrayLike, budget: int) -> Search:
        """The largest u, or after `budget` expanded nodes a bound on it."""

    @abc.abstractmethod
    def keys(self) -> tuple[Key, ...]:
        """All keys; an InputError if there are more than `ENUMERABLE`."""

    @abc.abstractmethod
    def all_forms(self, a: ArrayLike) -> Array:
        """u of all keys, shape (size,), in the order of `keys`."""

    @abc.abstractmethod
    def quadratic_forms(self, a: ArrayLike, keys: Sequence[Key]) -> Array:
        """u_i = a'K_i a of the given keys, shape (len(keys),), at least zero."""

    @abc.abstractmethod
    def features(self, keys: Sequence[Key]) -> Array | None:
        """phi, shape (n_rows, len(keys)), with K_i = phi_i phi_i'; None if not rank one."""

    @abc.abstractmethod
    def gram(self, key: Key) -> Array:
        """K_i, shape (n_rows, n_rows)."""

    @abc.abstractmethod
    def decision(self, X_new: ArrayLike, weights: Weights, a: ArrayLike) -> Array:
        """sum_i theta_i K_i(X_new, X) a, shape (n_new,)."""

    @abc.abstractmethod
    def stored(self, word: Sequence[int]) -> Key:
        """The key that a word means."""

    @abc.abstractmethod
    def has(self, key: object) -> bool:
        """Whether `key` names a kernel of this family."""

    @abc.abstractmethod
    def orderings(self, key: Key) -> int:
        """How many words mean this key."""

    @abc.abstractmethod
    def label(self, key: Key) -> str:
        """The key as a person reads it, such as ``bmi · bp``."""
