"""Banks of kernel matrices that the user gives."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mkldash.kernels import _compiled
from mkldash.kernels.base import Array, KernelBank
from mkldash.kernels.dense import DenseBank, packed_size
from mkldash.kernels.prediction import GivenPredictor
from mkldash.kernels.stored import BankFacts

__all__ = ["precomputed_bank"]


def precomputed_bank(
    kernels: ArrayLike | Sequence[Array],
    names: Sequence[str] | None = None,
    *,
    normalize: bool = False,
) -> KernelBank:
    """A bank of given matrices (checks come next)."""
    stack = [np.asarray(item, dtype=np.float64) for item in kernels]
    n = len(stack[0])
    names = tuple(names) if names is not None else tuple(f"kernel {k}" for k in range(len(stack)))
    packed = np.empty((len(stack), packed_size(n)))
    for k, matrix in enumerate(stack):
        _compiled.pack(matrix, packed[k])
    traces = np.array([_compiled.packed_trace(row, n) for row in packed])
    scales = 1.0 / traces if normalize else np.ones(len(stack))
    packed *= scales[:, None]
    kept = np.arange(len(stack), dtype=np.intp)
    key = hashlib.sha256(packed.tobytes()).hexdigest()
    facts = BankFacts(names, None, scales, traces, kept, len(stack), (), (), n, key)
    return DenseBank(packed, facts, GivenPredictor(kept, len(stack), n), "precomputed")
