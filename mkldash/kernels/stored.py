"""What dense and factored banks share: their facts and how they predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.kernels.base import Array, DroppedKernel, KernelBank, KernelTerm

__all__ = ["BankFacts", "Predictor", "StoredBank", "as_support"]


class Predictor(Protocol):
    """Evaluates the weighted kernels between new rows and the training rows."""

    def decision(self, new: ArrayLike, weights: Array, a: Array) -> Array:
        """sum_k weights_k k_k(new, rows) a, shape (n_new,); scales are in `weights`."""


@dataclass(frozen=True, eq=False)
class BankFacts:
    """The attributes of `KernelBank` that do not depend on how it is stored."""

    names: tuple[str, ...]
    terms: tuple[KernelTerm, ...] | None
    scales: Array
    traces: Array
    kept: NDArray[np.intp]
    n_given: int
    dropped: tuple[DroppedKernel, ...]
    warnings: tuple[str, ...]
    n_rows: int
    key: str


class StoredBank(KernelBank):
    """A bank whose kernels are stored; see `KernelBank` for its attributes.

    Parameters
    ----------
    facts : BankFacts
    predictor : Predictor
        Answers `decision`.
    """

    def __init__(self, facts: BankFacts, predictor: Predictor) -> None:
        self.names = facts.names
        self.terms = facts.terms
        self.scales = _frozen(facts.scales)
        self.traces = _frozen(facts.traces)
        self.kept = _frozen(facts.kept)
        self.n_given = facts.n_given
        self.dropped = facts.dropped
        self.warnings = facts.warnings
        self.n_rows = facts.n_rows
        self.key = facts.key
        self.residuals = _frozen(np.zeros(len(facts.names)))
        self.ranks = None
        self._predictor = predictor

    def decision(self, X_new: ArrayLike, theta: ArrayLike, a: ArrayLike) -> Array:
        """sum_k theta_k K_k(X_new, X) a, shape (n_new,), without the bias.

        Only kernels with theta_k > 0 and rows with a_i != 0 are evaluated.

        Parameters
        ----------
        X_new : array-like, shape (n_new, n_features)
            For given matrices the stack (n_given, n_new, n_rows), unscaled.
        theta : array-like, shape (n_kernels,)
        a : array-like, shape (n_rows,)

        Raises
        ------
        InputError
            If X_new has the wrong shape or holds NaN or infinity.
        """
        weights = self._weights(theta) * self.scales
        return self._predictor.decision(X_new, weights, self._coefficients(a))

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        # Pickle forgets that the arrays were read-only.
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def _weights(self, theta: ArrayLike) -> Array:
        values = np.array(theta, dtype=np.float64)
        if values.shape != (self.n_kernels,):
            raise ValueError(f"theta must have shape ({self.n_kernels},), got {values.shape}")
        return values

    def _coefficients(self, a: ArrayLike) -> Array:
        # A copy, for compiled loops: read-only arrays would be compiled for anew.
        values = np.array(a, dtype=np.float64)
        if values.shape != (self.n_rows,):
            raise ValueError(f"a must have shape ({self.n_rows},), got {values.shape}")
        return values


def as_support(a: Array) -> tuple[NDArray[np.int64], Array]:
    """Rows with a_i != 0, as int64, and the values there."""
    rows = np.flatnonzero(a).astype(np.int64, copy=False)
    return rows, a[rows]


def _frozen(values: NDArray) -> NDArray:
    values = np.array(values)
    values.flags.writeable = False
    return values
