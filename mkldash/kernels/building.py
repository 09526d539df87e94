"""From features and kernel terms to a bank."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mkldash.errors import InputError
from mkldash.kernels import _compiled, _compiled_factors
from mkldash.kernels.base import (
    Array,
    KernelBank,
    KernelTerm,
    ProductKernel,
    RadialKernel,
)
from mkldash.kernels.cholesky import (
    PROBE_ROWS,
    DistinctRows,
    Factor,
    estimate_rank,
    pivoted_cholesky,
)
from mkldash.kernels.dense import DenseBank, packed_size
from mkldash.kernels.dropping import explain_dropped
from mkldash.kernels.factored import FactoredBank
from mkldash.kernels.memory import (
    DEFAULT_MEMORY_LIMIT,
    MemoryEstimate,
    estimate_memory,
    refuse,
)
from mkldash.kernels.naming import unique_names
from mkldash.kernels.normalization import (
    ConstantKernelWarning,
    as_features,
    is_constant_kernel,
    trace_scale,
)
from mkldash.kernels.notices import warn_caller
from mkldash.kernels.prediction import CHUNK_BYTES, TermPredictor
from mkldash.kernels.stored import BankFacts

__all__ = [
    "DEFAULT_MEMORY_LIMIT",
    "FACTORED_SHARE",
    "STORAGES",
    "MemoryEstimate",
    "build_bank",
    "estimate_memory",
]

STORAGES = ("auto", "dense", "factored")

#: ``storage="auto"`` takes factors when their columns are expected to number at
#: most this share of n_kernels x n_rows; then both memory and time are won.
FACTORED_SHARE = 1 / 6


def build_bank(
    X: ArrayLike,
    terms: Sequence[KernelTerm],
    *,
    storage: str = "auto",
    normalize: bool | float = True,
    residual: float = 1e-12,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    n_test: int = 0,
) -> KernelBank:
    """The bank of the given kernels over the training rows.

    Kernels that are zero after double centring (those of constant columns) are
    left out, with one `ConstantKernelWarning`, and listed in `bank.dropped`.

    Parameters
    ----------
    X : array-like, shape (n_rows, n_features)
        Training rows as the kernels see them, standardised already; copied.
    terms : sequence of KernelTerm
        See `mkldash.kernels.banks.make_terms`.
    storage : {"auto", "dense", "factored"}
        ``"dense"`` keeps each symmetric matrix once, exactly.  ``"factored"``
        keeps low-rank factors.  ``"auto"`` is dense up to 128 rows; above that
        factored when, from a probe of 128 rows, the ranks are expected to sum to
        at most `FACTORED_SHARE` of n_kernels x n_rows or dense would not fit.
    normalize : bool or float
        Scale each kernel to unit trace on the training rows, or to the trace that
        is given.
    residual : float
        Largest trace of K_k minus its factored form, relative to the trace of
        K_k; never asked below rounding.  What was reached is in `bank.residuals`.
    memory_limit : int
        Bytes that the chosen storage may take, test blocks included.
    n_test : int
        Rows that will be predicted; their kernels are evaluated in pieces of at
        most 32 MiB, which is what is counted.

    Raises
    ------
    InputError
        If X is not a finite table, a term names a missing column, two terms on
        different columns have one name, a kernel overflows, or every kernel is
        constant.
    MemoryLimitError
        If the chosen storage does not fit; nothing has been allocated, unless the
        probe was wrong about the ranks.
    """
    X = as_features(X) + 0.0  # a copy; the key must not tell -0.0 from 0.0
    terms = _checked(X, terms, storage, residual)
    names = unique_names(terms)
    estimate = estimate_memory(len(X), len(terms), n_test)
    request = _Request(X, terms, names, normalize, residual, memory_limit, estimate)
    chosen = request.choose(storage)
    if chosen == "factored":
        bank = _build_factored(request)
        if bank is None and (storage == "factored" or not request.fits(estimate.packed)):
            raise refuse(memory_limit + 1, estimate, memory_limit, "factored, still growing")
        if bank is not None:
            return bank
    return _build_dense(request)


@dataclass(frozen=True, eq=False)
class _Request:
    X: Array
    terms: tuple[KernelTerm, ...]
    names: tuple[str, ...]
    normalize: bool | float
    residual: float
    limit: int
    estimate: MemoryEstimate

    @property
    def test_bytes(self) -> int:
        return min(self.estimate.test_blocks, CHUNK_BYTES)

    def fits(self, stored: int) -> bool:
        return stored + self.test_bytes <= self.limit

    def factored_bytes(self, columns: int) -> int:
        # The factors, and a bound on each residual's diagonal.
        return 8 * len(self.X) * (columns + len(self.terms))

    def choose(self, storage: str) -> str:
        """The storage to build, before anything of its size is allocated."""
        dense_fits = self.fits(self.estimate.packed)
        if storage == "dense" or (storage == "auto" and len(self.X) <= PROBE_ROWS and dense_fits):
            if not dense_fits:
                needed = self.estimate.packed + self.test_bytes
                raise refuse(needed, self.estimate, self.limit, "dense")
            return "dense"
        if self.fits(self.estimate.factored_ceiling) and storage == "factored":
            return "factored"
        room = (self.limit - self.test_bytes) // (8 * len(self.X)) - len(self.terms)
        worth = int(FACTORED_SHARE * len(self.terms) * len(self.X))
        most = min(worth, room) if storage == "auto" and dense_fits else room
        columns = self._estimate_columns(most)
        if columns <= most:
            return "factored"
        if storage == "auto" and dense_fits:
            return "dense"
        needed = self.factored_bytes(columns) + self.test_bytes
        raise refuse(needed, self.estimate, self.limit, "factored, and more to come")

    def _estimate_columns(self, stop: int) -> int:
        """About the sum of the ranks; stops counting above `stop`."""
        distinct = _Distinct(self.X)
        total = 0
        for term in self.terms:
            total += estimate_rank(term, distinct.of(term.columns), self.residual)
            if total > stop:
                break
        return total


class _Distinct:
    """The distinct rows of the last columns asked for."""

    def __init__(self, X: Array) -> None:
        self._X = X
        self._columns: tuple[int, ...] | None = None

    def of(self, columns: tuple[int, ...]) -> DistinctRows:
        if columns != self._columns:
            self._rows = DistinctRows.of(self._X, columns)
            self._columns = columns
        return self._rows


def _build_factored(request: _Request) -> FactoredBank | None:
    """None when the factors outgrow the limit on the way."""
    n = len(request.X)
    distinct = _Distinct(request.X)
    parts: list[tuple[Factor, DistinctRows]] = []
    traces: list[float] = []
    keep: list[int] = []
    columns = 0
    for position, term in enumerate(request.terms):
        rows = distinct.of(term.columns)
        factor = pivoted_cholesky(term, rows, request.residual)
        if is_constant_kernel(factor.trace, factor.centred_trace):
            continue
        columns += factor.rank
        if not request.fits(request.factored_bytes(columns)):
            return None
        parts.append((factor, rows))
        traces.append(factor.trace)
        keep.append(position)
    facts, terms = _facts(request, "factored", keep, traces)
    factors = np.empty((n, columns))
    left = np.empty((len(keep), n))
    offsets = np.zeros(len(keep) + 1, dtype=np.int64)
    parts.reverse()
    for k, scale in enumerate(facts.scales):
        # Popped, so that the pieces go as the bank grows and memory peaks once.
        factor, rows = parts.pop()
        offsets[k + 1] = offsets[k] + factor.rank
        root = math.sqrt(scale)
        _compiled_factors.place(factor.columns, rows.inverse, root, factors, offsets[k])
        left[k] = scale * factor.left[rows.inverse]
    return FactoredBank(factors, offsets, left, facts, TermPredictor(request.X, terms))


def _build_dense(request: _Request) -> DenseBank:
    X, n = request.X, len(request.X)
    packed = np.empty((len(request.terms), packed_size(n)))
    shared = _Shared(X)
    traces: list[float] = []
    keep: list[int] = []
    for position, term in enumerate(request.terms):
        row = packed[len(keep)]
        shared.fill(term, row)
        trace = float(_compiled.packed_trace(row, n))
        if not math.isfinite(trace):
            raise InputError(f"kernel {term.name!r} overflows; standardise the features")
        if is_constant_kernel(trace, trace - _compiled.packed_sum(row, n) / n):
            continue
        row *= trace_scale(trace, request.normalize)
        traces.append(trace)
        keep.append(position)
    facts, terms = _facts(request, "dense", keep, traces)
    return DenseBank(packed[: len(keep)], facts, TermPredictor(X, terms))


class _Shared:
    """Packed distances and products of the last columns asked for."""

    def __init__(self, X: Array) -> None:
        self._X = X
        self._columns: tuple[int, ...] | None = None

    def fill(self, term: KernelTerm, out: Array) -> None:
        """Write the packed kernel matrix of `term`."""
        if term.columns != self._columns:
            self._columns = term.columns
            self._part = np.ascontiguousarray(self._X[:, term.columns])
            self._distances: Array | None = None
            self._products: Array | None = None
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(term.kernel, RadialKernel):
                if self._distances is None:
                    self._distances = _compiled.packed_distances(self._part)
                out[:] = term.kernel.profile(self._distances)
            elif isinstance(term.kernel, ProductKernel):
                if self._products is None:
                    self._products = _compiled.packed_products(self._part)
                out[:] = term.kernel.profile(self._products)
            else:
                _compiled.pack(np.ascontiguousarray(term.kernel.gram(self._part)), out)


def _checked(
    X: Array, terms: Sequence[KernelTerm], storage: str, residual: float
) -> tuple[KernelTerm, ...]:
    terms = tuple(terms)
    if storage not in STORAGES:
        raise InputError(f"storage must be one of {', '.join(STORAGES)}, got {storage!r}")
    if not 0.0 <= residual < 1.0:
        raise InputError(f"residual must be in [0, 1), got {residual}")
    if not terms:
        raise InputError("a bank needs at least one kernel")
    if len(X) < 2:
        raise InputError(f"a bank needs at least two training rows, got {len(X)}")
    for term in terms:
        if not term.columns or min(term.columns) < 0 or max(term.columns) >= X.shape[1]:
            raise InputError(
                f"kernel {term.name!r} asks for columns {term.columns}, X has {X.shape[1]}"
            )
    return terms


def _facts(
    request: _Request, storage: str, keep: list[int], traces: list[float]
) -> tuple[BankFacts, tuple[KernelTerm, ...]]:
    kept = np.array(keep, dtype=np.intp)
    dropped, note = explain_dropped(request.X, request.terms, request.names, set(keep))
    if not keep:
        raise InputError(f"no kernel is left to learn with: {note}")
    if note is not None:
        warn_caller(note, ConstantKernelWarning)
    terms = tuple(request.terms[k] for k in keep)
    scales = [trace_scale(trace, request.normalize) for trace in traces]
    facts = BankFacts(
        names=tuple(request.names[k] for k in keep),
        terms=terms,
        scales=np.array(scales),
        traces=np.array(traces),
        kept=kept,
        n_given=len(request.terms),
        dropped=dropped,
        warnings=() if note is None else (note,),
        n_rows=len(request.X),
        key=_key(request, storage),
    )
    return facts, terms


def _key(request: _Request, storage: str) -> str:
    digest = hashlib.sha256(request.X.tobytes())
    accuracy = request.residual if storage == "factored" else 0.0
    described = (request.X.shape, request.terms, request.normalize, storage, accuracy)
    digest.update(repr(described).encode())
    return digest.hexdigest()
