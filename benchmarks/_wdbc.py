"""WDBC as MATH 8 of the design states it: 341 rows, z-scored, the papers' 403 kernels."""

from __future__ import annotations

import numpy as np

from mkldash.datasets.cards import load
from mkldash.datasets.splits import row_list
from mkldash.kernels.banks import make_terms
from mkldash.kernels.base import KernelBank
from mkldash.kernels.building import build_bank
from mkldash.kernels.normalization import Standardizer

__all__ = ["full_stack", "wdbc", "wdbc_bank"]


def wdbc() -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Standardised training rows, labels, feature names."""
    data, rows = load("wdbc"), row_list("wdbc-math8")
    X = Standardizer.fit(data.X[rows]).transform(data.X[rows])
    return X, data.y[rows], tuple(data.feature_names)


def wdbc_bank(storage: str) -> tuple[KernelBank, np.ndarray]:
    """The bank in the given storage, and the labels."""
    X, y, names = wdbc()
    return build_bank(X, make_terms("paper", names), storage=storage), y


def full_stack() -> tuple[np.ndarray, np.ndarray]:
    """The same kernels as full square matrices, shape (403, 341, 341), and the labels."""
    X, y, names = wdbc()
    stack = []
    for term in make_terms("paper", names):
        gram = term.kernel.gram(X[:, list(term.columns)])
        stack.append(gram / np.trace(gram))
    return np.array(stack), y
