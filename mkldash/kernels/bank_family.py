"""An explicit bank, asked as if it were an implicit family."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.kernels.base import CombinedKernel, KernelBank
from mkldash.kernels.family import Draw, KernelFamily, Key, Search
from mkldash.kernels.weights import Weights

Array = NDArray[np.float64]

__all__ = ["BankFamily"]


class BankFamily(KernelFamily):
    """The kernels of a bank as words of one letter, for solvers that sample.

    Parameters
    ----------
    bank : KernelBank
        Exactly stored (not factored): the family has no way to bound what is left out.
    """

    def __init__(self, bank: KernelBank) -> None:
        self._bank = bank
        self.n_rows = bank.n_rows
        self.n_base = self.size = self.n_words = bank.n_kernels
        self.degree = 1
        self.merged = False
        self.base_names = bank.names
        self.key = bank.key
        self.nbytes = bank.nbytes
        self.warnings = bank.warnings

    def combine(self, weights: Weights) -> CombinedKernel:
        theta = np.zeros(self.size)
        for key, value in zip(weights.keys, weights.values, strict=True):
            theta[_position(key)] = value
        return self._bank.combine(theta)

    def degree_totals(self, a: ArrayLike) -> Array:
        return np.array([0.0, self.total(a)])

    def total(self, a: ArrayLike) -> float:
        return float(self.all_forms(a).sum())

    def sample(self, a: ArrayLike, rng: np.random.Generator) -> Draw:
        forms = self.all_forms(a)
        total = float(forms.sum())
        law = forms / total if total > 0.0 else np.full(self.size, 1.0 / self.size)
        reached = np.searchsorted(np.cumsum(law), rng.random(), side="right")
        position = int(np.flatnonzero(law)[-1]) if reached >= self.size else int(reached)
        return Draw(
            word=(position,),
            key=(position,),
            orderings=1,
            probability=float(law[position]),
            total=total,
            degree_totals=np.array([0.0, total]),
            position_laws=law[None, :],
        )

    def uniform(self, rng: np.random.Generator) -> tuple[int, ...]:
        return (min(int(rng.random() * self.size), self.size - 1),)

    def largest(self, a: ArrayLike, budget: int) -> Search:
        forms = self.all_forms(a)
        position = int(np.argmax(forms))
        value = float(forms[position])
        return Search(key=(position,), value=value, bound=value, exact=True, nodes=1)

    def keys(self) -> tuple[Key, ...]:
        return tuple((k,) for k in range(self.size))

    def all_forms(self, a: ArrayLike) -> Array:
        return self._bank.quadratic_forms(np.asarray(a, dtype=np.float64))

    def quadratic_forms(self, a: ArrayLike, keys: Sequence[Key]) -> Array:
        return self.all_forms(a)[[_position(key) for key in keys]]

    def features(self, keys: Sequence[Key]) -> Array | None:
        return None

    def gram(self, key: Key) -> Array:
        theta = np.zeros(self.size)
        theta[_position(key)] = 1.0
        return self._bank.combine(theta).matrix()

    def decision(self, X_new: ArrayLike, weights: Weights, a: ArrayLike) -> Array:
        theta = np.zeros(self.size)
        for key, value in zip(weights.keys, weights.values, strict=True):
            theta[_position(key)] = value
        return self._bank.decision(np.asarray(X_new), theta, np.asarray(a, dtype=np.float64))

    def stored(self, word: Sequence[int]) -> Key:
        return tuple(word)

    def has(self, key: object) -> bool:
        return isinstance(key, tuple) and len(key) == 1 and key[0] in range(self.size)

    def orderings(self, key: Key) -> int:
        return 1

    def label(self, key: Key) -> str:
        return self._bank.names[_position(key)]


def _position(key: Key) -> int:
    """The kernel that a word of one letter names."""
    assert isinstance(key, tuple)
    return int(key[0])
