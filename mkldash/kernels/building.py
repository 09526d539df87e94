"""From features and kernel terms to a bank."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mkldash.errors import InputError, MemoryLimitError
from mkldash.kernels import _compiled
from mkldash.kernels.base import (
    Array,
    DroppedKernel,
    KernelBank,
    KernelTerm,
    ProductKernel,
    RadialKernel,
)
from mkldash.kernels.dense import DenseBank, packed_size
from mkldash.kernels.normalization import (
    ConstantKernelWarning,
    as_features,
    is_constant_kernel,
    unit_trace_scale,
)
from mkldash.kernels.prediction import TermPredictor, by_columns
from mkldash.kernels.stored import BankFacts

__all__ = ["DEFAULT_MEMORY_LIMIT", "MemoryEstimate", "build_bank", "estimate_memory"]

#: Bytes that a bank may take unless told otherwise: 4 GiB.
DEFAULT_MEMORY_LIMIT = 4 * 2**30


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes that a bank would take, by way of storing it."""

    square: int
    packed: int
    factored_ceiling: int
    test_blocks: int


def estimate_memory(n_rows: int, n_kernels: int, n_test: int = 0) -> MemoryEstimate:
    """Bytes of a bank, counted before anything is built."""
    return MemoryEstimate(
        square=8 * n_kernels * n_rows**2,
        packed=8 * n_kernels * packed_size(n_rows),
        factored_ceiling=8 * n_kernels * n_rows**2,
        test_blocks=8 * n_kernels * n_rows * n_test,
    )


def build_bank(
    X: ArrayLike,
    terms: Sequence[KernelTerm],
    *,
    storage: str = "auto",
    normalize: bool = True,
    residual: float = 1e-12,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    n_test: int = 0,
) -> KernelBank:
    """The bank of the given kernels over the training rows (dense for now)."""
    X = as_features(X).copy()
    terms = tuple(terms)
    estimate = estimate_memory(len(X), len(terms), n_test)
    if estimate.packed > memory_limit:
        raise MemoryLimitError(f"the bank would take {estimate.packed} bytes")
    if not terms:
        raise InputError("a bank needs at least one kernel")
    packed = np.empty((len(terms), packed_size(len(X))))
    for columns, positions in by_columns(terms).items():
        part = np.ascontiguousarray(X[:, columns])
        distances = _compiled.packed_distances(part)
        products = _compiled.packed_products(part)
        for k in positions:
            kernel = terms[k].kernel
            if isinstance(kernel, RadialKernel):
                packed[k] = kernel.profile(distances)
            elif isinstance(kernel, ProductKernel):
                packed[k] = kernel.profile(products)
            else:
                _compiled.pack(kernel.gram(part), packed[k])
    n = len(X)
    traces = np.array([_compiled.packed_trace(row, n) for row in packed])
    sums = np.array([_compiled.packed_sum(row, n) for row in packed])
    keep = [k for k in range(len(terms)) if not is_constant_kernel(traces[k], traces[k] - sums[k] / n)]
    dropped = tuple(
        DroppedKernel(term.name, "constant on the training rows")
        for k, term in enumerate(terms)
        if k not in keep
    )
    notes = ()
    if dropped:
        notes = (f"{len(dropped)} kernels of constant columns were dropped",)
        warnings.warn(notes[0], ConstantKernelWarning, stacklevel=2)
    kept = np.array(keep, dtype=np.intp)
    scales = np.array([unit_trace_scale(traces[k], normalize) for k in keep])
    packed = packed[kept] * scales[:, None]
    terms = tuple(terms[k] for k in keep)
    digest = hashlib.sha256(X.tobytes() + repr((X.shape, terms, normalize)).encode())
    facts = BankFacts(
        tuple(term.name for term in terms), terms, scales, traces[kept], kept,
        len(estimate.__dict__) and len(dropped) + len(terms), dropped, notes, n, digest.hexdigest(),
    )
    return DenseBank(packed, facts, TermPredictor(X, terms))
