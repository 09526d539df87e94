"""Compiles every loop of the room ahead of the first click."""

from __future__ import annotations

import numpy as np

from mkldash.kernels import _compiled_square
from mkldash.kernels.banks import make_terms
from mkldash.kernels.base import KernelBank
from mkldash.kernels.block_memory import BlockMemory
from mkldash.kernels.building import build_bank
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.kernels.square import build_square

__all__ = ["warm_up"]


def warm_up() -> None:
    """Run every compiled loop once on a few rows.

    Takes seconds the first time on a machine; later processes read the compiled
    code from disk.  A server calls it before it says that it is ready.
    """
    X = np.random.default_rng(0).standard_normal((160, 2))
    terms = make_terms("paper", ("first", "second"))
    # auto with more rows than the probe, so that the probe is warm as well.
    banks: list[KernelBank] = [
        build_bank(X, terms, storage=storage) for storage in ("auto", "dense", "factored")
    ]
    banks.append(precomputed_bank([np.eye(4)]))
    banks.append(build_square(X, terms[-1]))
    for bank in banks:
        _use(bank)
    _compiled_square.product(np.eye(2), np.ones(2))


def _use(bank: KernelBank) -> None:
    n, rows = bank.n_rows, np.arange(2)
    few = np.zeros(n)
    few[0] = 1.0
    single = np.zeros(bank.n_kernels)
    single[0] = 1.0
    for a in (few, np.ones(n)):
        bank.quadratic_forms(a)
        bank.columns(a, rows)
        bank.columns(a, np.arange(n))
        for theta in (single, np.ones(bank.n_kernels)):
            combined = bank.combine(theta)
            combined.block(rows)
            combined.block(rows, BlockMemory())
            combined.apply(a)
            combined.matrix()
            combined.residual()
