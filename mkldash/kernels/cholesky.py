"""Low-rank factors of one kernel, from its diagonal and a few of its columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg.lapack
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.kernels import _compiled_factors
from mkldash.kernels.base import Array, Kernel, KernelTerm, ProductKernel, RadialKernel

__all__ = ["PROBE_ROWS", "DistinctRows", "Factor", "estimate_rank", "pivoted_cholesky"]

#: Distinct rows on which `estimate_rank` factors a kernel.
PROBE_ROWS = 128

_UNIT = 2.0**-53  # rounding unit of float64


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of some columns: equal rows have equal kernel rows.

    A single feature often has far fewer values than there are rows.

    Attributes
    ----------
    X : array, shape (n_distinct, n_columns)
    inverse : array of int, shape (n_rows,)
        Row i of the table is X[inverse[i]].
    counts : array, shape (n_distinct,)
        How many rows of the table each stands for.
    """

    X: Array
    inverse: NDArray[np.int64]
    counts: Array

    @classmethod
    def of(cls, X: Array, columns: tuple[int, ...]) -> DistinctRows:
        """Distinct rows of X[:, columns]; looked for in single columns only."""
        part = np.ascontiguousarray(X[:, columns])
        if len(columns) == 1:
            values, inverse, counts = np.unique(part[:, 0], return_inverse=True, return_counts=True)
            return cls(values[:, None], inverse.astype(np.int64), counts.astype(np.float64))
        return cls(part, np.arange(len(part)), np.ones(len(part)))

    def sample(self, size: int) -> DistinctRows:
        """Evenly spaced rows, at most `size`, each counted once."""
        picks = np.unique(np.linspace(0, len(self.X) - 1, min(size, len(self.X))).astype(int))
        return DistinctRows(self.X[picks], np.arange(len(picks)), np.ones(len(picks)))


@dataclass(frozen=True, eq=False)
class Factor:
    """K = L L' + R on the distinct rows, with |R_ij| <= sqrt(left_i left_j).

    So |a'Ra| <= residual |a|^2 and |(Ra)_i| <= sqrt(left_i residual) |a|.

    Attributes
    ----------
    columns : array, shape (rank, n_distinct)
        L', one column of L in each row.
    left : array, shape (n_distinct,)
        Bound on the diagonal of R that bounds its other entries too, as above;
        rounding included.
    trace : float
        trace(K) over all rows.
    residual : float
        Bound on trace(R) over all rows, rounding included.
    centred_trace : float
        trace(H L L' H) over all rows, H = I - 11'/n.
    """

    columns: Array
    left: Array
    trace: float
    residual: float
    centred_trace: float

    @property
    def rank(self) -> int:
        """Columns of L."""
        return len(self.columns)


def pivoted_cholesky(
    term: KernelTerm, rows: DistinctRows, residual: float, max_rank: int | None = None
) -> Factor:
    """Factor a kernel by Cholesky with the largest remaining diagonal as pivot.

    Asks the kernel for its diagonal and one column a step and never forms the
    matrix; n_distinct x rank^2 operations.

    Parameters
    ----------
    term : KernelTerm
    rows : DistinctRows
    residual : float
        Stop when trace(R) <= residual x trace(K), or at the rounding of K.
    max_rank : int, optional
        Stop at this many columns, whatever is left.

    Raises
    ------
    InputError
        If the diagonal of the kernel is not finite.

    Notes
    -----
    Harbrecht, Peters and Schneider [1]_ bound the exact R; rounding is `_rounding`.

    References
    ----------
    .. [1] On the low-rank approximation by the pivoted Cholesky decomposition,
       Applied Numerical Mathematics 62, 2012, algorithm 1.
    """
    column_of = _column_source(term.kernel, rows.X)
    with np.errstate(over="ignore", invalid="ignore"):
        diagonal = term.kernel.diagonal(rows.X)
    trace = _finite_trace(term, diagonal, rows.counts)
    n_distinct = len(rows.X)
    max_rank = n_distinct if max_rank is None else max_rank
    left = diagonal.copy()
    factor = np.empty((min(32, n_distinct), n_distinct))
    pivots = np.zeros(n_distinct, dtype=np.int64)
    rank, total, pivot = 0, trace, int(left.argmax())
    while rank < max_rank and total > max(residual, (2 * rank + 8) * _UNIT) * trace:
        if rank == len(factor):
            grown = np.empty((min(2 * rank, n_distinct), n_distinct))
            grown[:rank] = factor
            factor = grown
        pivots[rank] = pivot
        column = column_of(pivot)
        total, pivot = _compiled_factors.cholesky_step(
            factor, rank, pivots, column, left, rows.counts
        )
        rank += 1
    columns = factor[:rank].copy()
    left += _rounding(columns, pivots[:rank], diagonal)
    centred = _compiled_factors.centred_trace(columns, rows.counts)
    return Factor(columns, left, trace, float(rows.counts @ left), centred)


def _rounding(columns: Array, pivots: NDArray[np.int64], diagonal: Array) -> Array:
    """What rounding adds to `Factor.left`, shape (n_distinct,).

    Each column of L solves its pivot's equations to g sqrt(K_ii K_pp) in row i,
    g = (r + 8) 2^-53 [1]_ (the 8: scaling and the diagonal).  A row that is no
    pivot is a combination of pivots, its interpolation weights W = L_pivots^-T L',
    so the errors of the pivots reach it through W:

        error_ij <= g (sqrt(K_ii) + w_i) (sqrt(K_jj) + w_j),
        w_i = sum_p |W_pi| sqrt(K_pp).

    References
    ----------
    .. [1] Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002,
       sections 10.1 and 10.3.
    """
    roots = np.sqrt(diagonal)
    through = roots
    if len(columns) < len(diagonal):
        through = _compiled_factors.interpolation_sums(columns, pivots, roots)
    return (len(columns) + 8) * _UNIT * (roots + through) ** 2


def estimate_rank(term: KernelTerm, rows: DistinctRows, residual: float) -> int:
    """About the rank that `pivoted_cholesky` would reach, from `PROBE_ROWS` rows.

    Rank grows slowly with the number of rows once it has levelled off, so half is
    added; a kernel that still uses nearly every probed row counts as full.  By
    LAPACK, not by the compiled loops: a bank that is too large is then refused at
    once in a fresh process too.

    Raises
    ------
    InputError
        If the kernel is not finite on the probed rows.
    """
    sample = rows.sample(PROBE_ROWS)
    with np.errstate(over="ignore", invalid="ignore"):
        gram = term.kernel.gram(sample.X)
        diagonal = gram.diagonal().copy()
    trace = _finite_trace(term, diagonal, sample.counts)
    factor, _, reached, _ = scipy.linalg.lapack.dpstrf(gram, lower=1)
    captured = (np.tril(factor)[:, :reached] ** 2).sum(axis=0)
    left = trace - np.concatenate([[0.0], np.cumsum(captured)[:-1]])
    rank = int((left > residual * trace).sum())
    if len(rows.X) <= PROBE_ROWS:
        return rank
    return len(rows.X) if rank > 0.85 * PROBE_ROWS else min(rank + rank // 2, len(rows.X))


def _finite_trace(term: KernelTerm, diagonal: Array, counts: Array) -> float:
    trace = float(counts @ diagonal)
    if not math.isfinite(trace):
        raise InputError(f"kernel {term.name!r} overflows; standardise the features")
    return trace


def _column_source(kernel: Kernel, X: Array) -> Callable[[int], Array]:
    """A function from a row's position to that row's kernel values."""
    columns = np.ascontiguousarray(X.T)
    if isinstance(kernel, RadialKernel):
        return lambda i: kernel.profile(_compiled_factors.distance_column(columns, i))
    if isinstance(kernel, ProductKernel):
        return lambda i: kernel.profile(_compiled_factors.product_column(columns, i))
    return lambda i: np.ascontiguousarray(kernel.gram(X, X[i : i + 1])[:, 0])
