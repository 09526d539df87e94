"""Banks that store every kernel matrix, each symmetric matrix once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.kernels import _compiled
from mkldash.kernels.base import Array
from mkldash.kernels.block_memory import BlockMemory
from mkldash.kernels.stored import BankFacts, Predictor, StoredBank, as_support

__all__ = ["GATHER_BELOW", "DenseBank", "DenseCombined", "packed_size"]

#: Below this share of support vectors their entries are gathered one by one;
#: above it, reading whole matrices in order is faster (measured).
GATHER_BELOW = 0.3


def packed_size(n_rows: int) -> int:
    """Entries of the upper triangle, n (n + 1) / 2."""
    return n_rows * (n_rows + 1) // 2


class DenseCombined:
    """sum_k theta_k K_k over packed matrices; see `CombinedKernel`.

    The packed sum is made at the first question that needs it, and kept.
    """

    cheap_blocks = False

    def __init__(self, packed: Array, n_rows: int, theta: Array) -> None:
        self.n_rows = n_rows
        self._stack = packed
        self._live = np.flatnonzero(theta > 0.0).astype(np.int64, copy=False)
        self._weights = theta[self._live]
        self._sum: Array | None = None

    def matrix(self) -> Array:
        """All of K, shape (n_rows, n_rows)."""
        return _compiled.unpack(self._packed(), self.n_rows)

    def block(self, rows: NDArray[np.intp], memory: BlockMemory | None = None) -> Array:
        """K[rows][:, rows], shape (m, m)."""
        rows = np.array(rows, dtype=np.int64)
        positions = _compiled.pair_positions(rows, self.n_rows)
        if self._sum is None and len(rows) < GATHER_BELOW * self.n_rows:
            values = _compiled.gather_combine(self._stack, self._live, self._weights, positions)
        else:
            values = self._packed()[positions]
        return _compiled.unpack(values, len(rows))

    def apply(self, a: ArrayLike) -> Array:
        """K a, shape (n_rows,)."""
        return _compiled.packed_apply(self._packed(), np.array(a, dtype=np.float64))

    def residual(self) -> tuple[float, Array]:
        """Zeros: dense storage leaves nothing out."""
        return 0.0, np.zeros(self.n_rows)

    def _packed(self) -> Array:
        if self._sum is None:
            self._sum = _compiled.combine_packed(self._stack, self._live, self._weights)
        return self._sum


class DenseBank(StoredBank):
    """Every kernel's upper triangle, scaled, in one array.

    Parameters
    ----------
    packed : array, shape (n_kernels, n_rows (n_rows + 1) / 2)
        Scaled upper triangles by rows; made read-only, not copied.
    facts : BankFacts
    predictor : Predictor
    storage : str
        ``"dense"``, or ``"precomputed"`` for matrices that the user gave.
    """

    def __init__(
        self, packed: Array, facts: BankFacts, predictor: Predictor, storage: str = "dense"
    ) -> None:
        super().__init__(facts, predictor)
        packed.flags.writeable = False
        self._packed = packed
        self.storage = storage
        self.nbytes = packed.nbytes

    def combine(self, theta: ArrayLike) -> DenseCombined:
        """The weighted Gram matrix, made when asked for; reads live kernels only."""
        return DenseCombined(self._packed, self.n_rows, self._weights(theta))

    def quadratic_forms(self, a: ArrayLike) -> Array:
        """u_k = a' K_k a, shape (n_kernels,), clipped at zero."""
        a = self._coefficients(a)
        support, values = as_support(a)
        if len(support) < GATHER_BELOW * self.n_rows:
            positions = _compiled.pair_positions(support, self.n_rows)
            products = _compiled.pair_products(values)
            forms = _compiled.gather_forms(self._packed, positions, products)
        else:
            forms = _compiled.all_forms(self._packed, _compiled.pair_products(a))
        return np.maximum(forms, 0.0)

    def columns(self, a: ArrayLike, rows: NDArray[np.intp]) -> Array:
        """(K_k a) on `rows`, shape (len(rows), n_kernels)."""
        a = self._coefficients(a)
        rows = np.array(rows, dtype=np.int64)
        support, values = as_support(a)
        if len(rows) * len(support) < GATHER_BELOW * packed_size(self.n_rows):
            return _compiled.gather_columns(self._packed, self.n_rows, rows, support, values)
        return _compiled.pass_columns(self._packed, rows, a)
