"""Compiles every loop of the room ahead of the first click."""

from __future__ import annotations

import numpy as np

from mkldash.kernels import _compiled_square
from mkldash.kernels.banks import make_terms
from mkldash.kernels.base import Array, KernelBank
from mkldash.kernels.block_memory import BlockMemory
from mkldash.kernels.building import build_bank
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.kernels.products import ProductFamily, product_family, product_family_of
from mkldash.kernels.square import build_square
from mkldash.kernels.weights import Weights

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
    few = X[:8]
    for family in (
        product_family(few, degree=6),
        product_family_of([np.outer(x, x) for x in few.T], degree=6),
    ):
        _draw(family, few)


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


def _draw(family: ProductFamily, X: Array) -> None:
    a = np.ones(family.n_rows)
    weights = Weights.of(((), (0, 1)), [0.5, 0.5])
    family.sample(a, np.random.default_rng(0))
    family.search(a, 4)
    family.all_forms(a)
    family.quadratic_forms(a, weights.keys)
    family.combine(weights).matrix()
    blocks = [np.outer(x, x) for x in X.T]
    family.decision(X if family.features(weights.keys) is not None else blocks, weights, a)
