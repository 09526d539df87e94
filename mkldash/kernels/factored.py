"""Banks that store low-rank factors, K_k = L_k L_k' + R_k with a bound on R_k."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.kernels import _compiled_factors
from mkldash.kernels.base import Array
from mkldash.kernels.block_memory import BlockMemory
from mkldash.kernels.stored import BankFacts, Predictor, StoredBank, as_support

__all__ = ["FactoredBank", "FactoredCombined"]

#: Above this share of live columns, reading whole rows four at a time is faster.
_READ_ALL_ABOVE = 0.6


class FactoredCombined:
    """sum_k theta_k L_k L_k', never formed unless asked for; see `CombinedKernel`."""

    cheap_blocks = True

    def __init__(self, bank: FactoredBank, theta: Array) -> None:
        self.n_rows = bank.n_rows
        self._bank = bank
        self._theta = theta
        self._live = np.flatnonzero(theta > 0.0)
        self._weights = theta[self._live]
        self._starts, self._stops = _runs(bank.offsets, self._live)
        self._column_weights = np.repeat(np.where(theta > 0.0, theta, 0.0), np.diff(bank.offsets))

    def matrix(self) -> Array:
        """All of the stored K, shape (n_rows, n_rows)."""
        return self.block(np.arange(self.n_rows))

    def block(self, rows: NDArray[np.intp], memory: BlockMemory | None = None) -> Array:
        """K[rows][:, rows], shape (m, m); costs m^2 times the live columns.

        With a `memory` of earlier calls, m^2 times the live kernels.
        """
        if memory is not None:
            factors, offsets = self._bank.factors, self._bank.offsets
            found = memory.block(factors, offsets, self._theta, rows)
            if found is not None:
                return found
        scaled = _compiled_factors.gather_live(
            self._bank.factors,
            np.array(rows, dtype=np.int64),
            self._starts,
            self._stops,
            np.sqrt(self._column_weights),
        )
        return scaled @ scaled.T

    def apply(self, a: ArrayLike) -> Array:
        """K a, shape (n_rows,), through the live columns."""
        support, values = as_support(np.array(a, dtype=np.float64))
        factors, runs = self._bank.factors, (self._starts, self._stops)
        if (self._stops - self._starts).sum() > _READ_ALL_ABOVE * factors.shape[1]:
            sums = _compiled_factors.support_sums(factors, support, values)
        else:
            sums = _compiled_factors.live_sums(factors, *runs, support, values)
        return _compiled_factors.live_dots(factors, *runs, self._column_weights * sums)

    def residual(self) -> tuple[float, Array]:
        """(sum_k theta_k eps_k, diagonal of sum_k theta_k R_k), both upper bounds."""
        diagonal = self._weights @ self._bank.residual_diagonals[self._live]
        return float(self._weights @ self._bank.residuals[self._live]), diagonal


def _runs(
    offsets: NDArray[np.int64], live: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Live columns as few long runs: neighbouring kernels are joined."""
    joined = np.diff(live) == 1
    first = np.concatenate(([True], ~joined))[: live.size]
    last = np.concatenate((~joined, [True]))[: live.size]
    return offsets[live[first]], offsets[live[last] + 1]


class FactoredBank(StoredBank):
    """All factors side by side in one row-major array.

    Parameters
    ----------
    factors : array, shape (n_rows, n_columns)
        Scaled factors; kernel k owns columns offsets[k] to offsets[k + 1].
        Made read-only, not copied.
    offsets : array of int, shape (n_kernels + 1,)
    residual_diagonals : array, shape (n_kernels, n_rows)
        Bounds on the diagonals of the scaled R_k, rounding included.
    facts : BankFacts
    predictor : Predictor
    """

    def __init__(
        self,
        factors: Array,
        offsets: NDArray[np.int64],
        residual_diagonals: Array,
        facts: BankFacts,
        predictor: Predictor,
    ) -> None:
        super().__init__(facts, predictor)
        for array in (factors, offsets, residual_diagonals):
            array.flags.writeable = False
        self.factors = factors
        self.offsets = offsets
        self.residual_diagonals = residual_diagonals
        self.residuals = residual_diagonals.sum(axis=1)
        self.residuals.flags.writeable = False
        self.ranks = np.diff(offsets).astype(np.intp)
        self.storage = "factored"
        self.nbytes = factors.nbytes + residual_diagonals.nbytes

    def combine(self, theta: ArrayLike) -> FactoredCombined:
        """The weighted kernel, lazily; only live kernels' columns are ever read."""
        return FactoredCombined(self, self._weights(theta))

    def quadratic_forms(self, a: ArrayLike) -> Array:
        """|L_k'a|^2, shape (n_kernels,); a'K_k a is at most residuals_k |a|^2 more."""
        support, values = as_support(self._coefficients(a))
        t = _compiled_factors.support_sums(self.factors, support, values)
        return _compiled_factors.segment_squares(t, self.offsets)

    def columns(self, a: ArrayLike, rows: NDArray[np.intp]) -> Array:
        """(L_k L_k'a) on `rows`, shape (len(rows), n_kernels)."""
        support, values = as_support(self._coefficients(a))
        t = _compiled_factors.support_sums(self.factors, support, values)
        rows = np.array(rows, dtype=np.int64)
        return _compiled_factors.segment_columns(self.factors, self.offsets, rows, t)
