"""Base kernels between new rows and the training rows, in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mkldash.errors import InputError
from mkldash.kernels.base import Array, KernelTerm
from mkldash.kernels.normalization import as_features
from mkldash.kernels.prediction import CHUNK_BYTES, GivenPredictor, finite_block

__all__ = ["GivenBlocks", "TermBlocks"]


@dataclass(frozen=True, eq=False)
class TermBlocks:
    """Kernel terms evaluated on new rows; see `BaseBlocks`.

    Parameters
    ----------
    X : array, shape (n_rows, n_features)
    terms : tuple of KernelTerm
    """

    X: Array
    terms: tuple[KernelTerm, ...]

    def pieces(self, new: ArrayLike, letters: Sequence[int]) -> Iterator[tuple[slice, Array]]:
        """Rows, and the blocks (len(letters), n_piece, n_rows) on them."""
        rows = as_features(new)
        if rows.shape[1] != self.X.shape[1]:
            raise InputError(
                f"new rows have {rows.shape[1]} columns, the training rows {self.X.shape[1]}"
            )
        for piece in _pieces(len(rows), len(self.X), len(letters)):
            part = rows[piece]
            blocks = np.empty((len(letters), len(part), len(self.X)))
            for block, letter in zip(blocks, letters, strict=True):
                columns = list(self.terms[letter].columns)
                block[:] = self.terms[letter].kernel.gram(part[:, columns], self.X[:, columns])
            yield piece, blocks


@dataclass(frozen=True, eq=False)
class GivenBlocks:
    """Blocks that the person hands in for given Gram matrices; see `BaseBlocks`.

    Parameters
    ----------
    n_base, n_rows : int
    """

    n_base: int
    n_rows: int

    def pieces(self, new: ArrayLike, letters: Sequence[int]) -> Iterator[tuple[slice, Array]]:
        """Rows, and the blocks (len(letters), n_piece, n_rows) on them."""
        given = GivenPredictor(np.arange(self.n_base), self.n_base, self.n_rows).blocks(new)
        used = [finite_block(given[letter], letter) for letter in letters]
        for piece in _pieces(len(given[0]), self.n_rows, len(letters)):
            blocks = np.empty((len(letters), len(given[0][piece]), self.n_rows))
            for block, whole in zip(blocks, used, strict=True):
                block[:] = whole[piece]
            yield piece, blocks


def _pieces(n_new: int, n_rows: int, n_blocks: int) -> Iterator[slice]:
    step = max(1, CHUNK_BYTES // (8 * n_rows * (n_blocks + 2)))
    for low in range(0, max(n_new, 1), step):
        yield slice(low, low + step)
