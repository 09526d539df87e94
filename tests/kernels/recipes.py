"""Banks and exact arithmetic that several tests of the room use."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer

from mkldash.kernels.banks import make_terms
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.normalization import Standardizer


def normal_rows(n: int, p: int = 3, seed: int = 0) -> np.ndarray:
    """Standard normal features, shape (n, p)."""
    return np.random.default_rng(seed).standard_normal((n, p))


def paper_terms(p: int) -> tuple[KernelTerm, ...]:
    """The papers' bank on p features x0, x1, ..."""
    return make_terms("paper", [f"x{j}" for j in range(p)])


def naive_kernels(X: np.ndarray, terms: tuple[KernelTerm, ...], Y: np.ndarray) -> np.ndarray:
    """Unscaled kernels between rows of X and Y, shape (Q, n, m), by the formulas."""
    out = []
    for term in terms:
        A, B = X[:, term.columns], Y[:, term.columns]
        kernel = term.kernel
        if kernel.name == "gaussian":
            squared = ((A[:, None] - B[None]) ** 2).sum(-1)
            out.append(np.exp(-squared / (2 * kernel.width**2)))
        elif kernel.name == "polynomial":
            out.append((1 + A @ B.T) ** kernel.degree)
        else:
            out.append(A @ B.T)
    return np.array(out)


def unit_trace(kernels: np.ndarray) -> np.ndarray:
    """Each (n, n) matrix of a stack divided by its trace."""
    return kernels / np.trace(kernels, axis1=1, axis2=2)[:, None, None]


def wdbc_rows() -> np.ndarray:
    """The 341 standardised training rows of the published WDBC optima."""
    data = load_breast_cancer().data
    rows = np.random.default_rng(0).permutation(569)[:341]
    return Standardizer.fit(data[rows]).transform(data[rows])
