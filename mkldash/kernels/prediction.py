"""Kernels between new rows and the training rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.errors import InputError
from mkldash.kernels.base import (
    Array,
    KernelTerm,
    ProductKernel,
    RadialKernel,
    squared_distances,
)
from mkldash.kernels.checks import refuse_other_numbers
from mkldash.kernels.normalization import as_features

__all__ = ["CHUNK_BYTES", "GivenPredictor", "TermPredictor", "by_columns", "finite_block"]

#: New rows are taken in pieces whose kernel blocks stay below this many bytes.
CHUNK_BYTES = 32 * 2**20


def by_columns(terms: tuple[KernelTerm, ...]) -> dict[tuple[int, ...], list[int]]:
    """Positions of the terms on the same columns, which share their distances."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for position, term in enumerate(terms):
        groups.setdefault(term.columns, []).append(position)
    return groups


@dataclass(frozen=True, eq=False)
class TermPredictor:
    """Evaluates kernel terms on new rows; keeps the training rows.

    Parameters
    ----------
    X : array, shape (n_rows, n_features)
    terms : tuple of KernelTerm
    """

    X: Array
    terms: tuple[KernelTerm, ...]

    def decision(self, new: ArrayLike, weights: Array, a: Array) -> Array:
        """sum_k weights_k k_k(new, X) a, shape (n_new,)."""
        rows = as_features(new)
        if rows.shape[1] != self.X.shape[1]:
            raise InputError(
                f"new rows have {rows.shape[1]} columns, the training rows {self.X.shape[1]}"
            )
        out = np.zeros(len(rows))
        support = np.flatnonzero(a)
        if not len(support):
            return out
        for columns, positions in by_columns(self.terms).items():
            live = [k for k in positions if weights[k] != 0.0]
            if live:
                kernels = [(self.terms[k].kernel, weights[k]) for k in live]
                train, values, _ = _distinct(self.X[support][:, list(columns)], a[support])
                block, _, inverse = _distinct(rows[:, columns])
                found = np.empty(len(block))
                for piece in _pieces(len(block), len(train)):
                    found[piece] = _weighted(kernels, block[piece], train) @ values
                out += found[inverse]
        return out


def _distinct(rows: Array, values: Array | None = None) -> tuple[Array, Array, NDArray | slice]:
    """Distinct values of a single column, sums of `values` on each, and the way back.

    A column of two values among thousands of rows (adult's bits) is then a
    matrix of two by two.  Several columns are left as they are.
    """
    sums = np.zeros(len(rows)) if values is None else values
    if rows.shape[1] != 1:
        return np.ascontiguousarray(rows), sums, slice(None)
    found, inverse = np.unique(rows[:, 0], return_inverse=True)
    totals: Array = np.bincount(inverse, weights=sums, minlength=len(found)).astype(np.float64)
    return found[:, None], totals, inverse


def _weighted(kernels: list, new: Array, train: Array) -> Array:
    """sum_k weight_k k_k(new, train), distances and products computed once."""
    total = np.zeros((len(new), len(train)))
    distances: Array | None = None
    products: Array | None = None
    for kernel, weight in kernels:
        if isinstance(kernel, RadialKernel):
            if distances is None:
                distances = squared_distances(new, train)
            values = kernel.profile(distances)
        elif isinstance(kernel, ProductKernel):
            if products is None:
                products = new @ train.T
            values = kernel.profile(products)
        else:
            values = kernel.gram(new, train)
        values *= weight
        total += values
    return total


def _pieces(n_new: int, n_support: int) -> Iterator[slice]:
    # A piece holds distances, products, one kernel and the sum at the same time.
    step = max(1, CHUNK_BYTES // (4 * 8 * n_support))
    for start in range(0, n_new, step):
        yield slice(start, start + step)


@dataclass(frozen=True, eq=False)
class GivenPredictor:
    """Weights the blocks that the user hands in for given matrices.

    Parameters
    ----------
    kept : array of int, shape (n_kernels,)
        Position of each kernel in the stack.
    n_given, n_rows : int
    """

    kept: NDArray[np.intp]
    n_given: int
    n_rows: int

    def decision(self, new: ArrayLike, weights: Array, a: Array) -> Array:
        """sum_k weights_k new[kept_k] a, shape (n_new,); blocks (n_given, n_new, n_rows)."""
        blocks = self.blocks(new)
        support = np.flatnonzero(a)
        out = np.zeros(len(blocks[0]))
        for k in np.flatnonzero(weights):
            block = finite_block(blocks[self.kept[k]], int(self.kept[k]))
            out += weights[k] * (block[:, support] @ a[support])
        return out

    def blocks(self, new: ArrayLike) -> list[Array]:
        """The blocks as arrays (n_new, n_rows), one for each kernel given.

        Raises
        ------
        InputError
            If they are not of these shapes, or not numbers.
        """
        items: list = [new] if _is_matrix(new) and self.n_given == 1 else list(new)  # type: ignore[arg-type]
        expected = f"expected ({self.n_given} kernels, n_test, {self.n_rows})"
        if len(items) != self.n_given:
            shape = getattr(new, "shape", None)
            got = f"{len(items)} blocks" if shape is None else f"shape {shape}"
            raise InputError(f"{expected}, got {got}; hand in one test-by-train block per kernel")
        try:
            blocks = [_as_block(item, k) for k, item in enumerate(items)]
        except InputError:
            raise
        except (TypeError, ValueError) as error:
            raise InputError(f"{expected}: {error}") from error
        for k, block in enumerate(blocks):
            wrong = block.ndim != 2 or block.shape[1] != self.n_rows
            if wrong or len(block) != len(blocks[0]):
                raise InputError(f"{expected}, got {block.shape} for kernel {k}{self._hint(block)}")
        return blocks

    def _hint(self, block: Array) -> str:
        if block.ndim == 2 and block.shape[0] == self.n_rows:
            return ": it looks transposed; rows are the new samples, columns the training samples"
        if block.ndim == 2 and block.shape[0] == block.shape[1]:
            return ": it looks like test-by-test; columns must be the training samples"
        return ""


def finite_block(block: Array, position: int) -> Array:
    """The block itself; an InputError that names the kernel if it is not finite."""
    if not np.isfinite(block).all():
        row, column = np.argwhere(~np.isfinite(block))[0]
        raise InputError(
            f"block of kernel {position} holds {block[row, column]} at position ({row}, {column})"
        )
    return block


def _as_block(item: ArrayLike, position: int) -> Array:
    values = np.asarray(item)
    refuse_other_numbers(values, f"block of kernel {position}")
    return values.astype(np.float64, copy=False)


def _is_matrix(value: ArrayLike) -> bool:
    return getattr(value, "ndim", None) == 2
