"""Kernel values on a working set, kept while only the weights change."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels import _compiled_factors

__all__ = ["BlockMemory"]

Array = NDArray[np.float64]

#: Bytes that are kept at most: beyond them, one product of factors is as fast.
MOST_BYTES = 64_000_000

#: Share of live kernels above which nothing is kept.
MOST_LIVE = 0.5


class BlockMemory:
    """L_k L_k' on pairs of rows for every live kernel, between two weighted sums.

    From one iteration to the next a working set keeps most of its rows and the
    live kernels get fewer, so most of what a weighted block needs is there
    already: it costs one sum over kernels for each pair of rows instead of one
    over all columns of all factors.  What is remembered changes the time and
    never the result: a block is the same, bit by bit, whatever came before.

    Parameters
    ----------
    most_bytes : int
        Blocks that would need more than this are refused.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._rows = np.empty(0, dtype=np.int64)
        self._kernels = np.empty(0, dtype=np.int64)
        self._pairs = np.empty((0, 0))
        self._of: Array | None = None

    def block(
        self, factors: Array, offsets: NDArray[np.int64], theta: Array, rows: NDArray[np.intp]
    ) -> Array | None:
        """sum_k theta_k (L_k L_k')[rows][:, rows], shape (m, m).

        Parameters
        ----------
        factors, offsets : array
            As in a `FactoredBank`.
        theta : array, shape (n_kernels,)
        rows : array of int, shape (m,)
            Without repetition.

        Returns
        -------
        array or None
            None when it would take too much memory, or when so many kernels live
            that the weights have not settled: then little would be needed again.
        """
        live = np.flatnonzero(theta > 0.0)
        crowded = live.size > MOST_LIVE * theta.size
        if crowded or 8 * _n_pairs(rows.size) * live.size > self._most_bytes:
            return None
        self._keep_kernels(factors, live)
        self._keep_rows(factors, offsets, rows)
        position = np.empty(factors.shape[0], dtype=np.int64)
        position[self._rows] = np.arange(self._rows.size)
        return _compiled_factors.weighted_pairs(
            self._pairs, position[rows], np.ascontiguousarray(theta[self._kernels])
        )

    def _keep_kernels(self, factors: Array, live: NDArray[np.intp]) -> None:
        """Forget all when another kernel lives; forget dead kernels when they are many."""
        known = np.isin(live, self._kernels, assume_unique=True).all()
        if self._of is not factors or not known:
            self._of, self._kernels = factors, live
            self._rows, self._pairs = self._rows[:0], np.empty((0, live.size))
        elif live.size < 0.8 * self._kernels.size:
            kept = np.searchsorted(self._kernels, live)
            used = _n_pairs(self._rows.size)
            self._kernels, self._pairs = live, self._pairs[:used, kept]

    def _keep_rows(
        self, factors: Array, offsets: NDArray[np.int64], rows: NDArray[np.intp]
    ) -> None:
        """Add the rows that are not known; forget all when most are not asked for."""
        new = np.setdiff1d(rows, self._rows, assume_unique=True)
        known = self._rows.size
        if known + new.size > 2 * rows.size:
            self._rows, new, known = self._rows[:0], rows, 0
        if new.size == 0:
            return
        self._rows = np.concatenate((self._rows, new)).astype(np.int64)
        needed = _n_pairs(self._rows.size)
        if needed > len(self._pairs):
            room = _n_pairs(self._rows.size + self._rows.size // 4)
            grown = np.empty((room, self._kernels.size))
            grown[: _n_pairs(known)] = self._pairs[: _n_pairs(known)]
            self._pairs = grown
        starts, stops = offsets[self._kernels], offsets[self._kernels + 1]
        _compiled_factors.fill_pairs(factors, starts, stops, self._rows, known, self._pairs)


def _n_pairs(m: int) -> int:
    return m * (m + 1) // 2
