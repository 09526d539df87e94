"""What predicts after a fit over products: no Gram matrix, only what new rows need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.errors import InputError
from mkldash.kernels import _compiled_products
from mkldash.kernels._words import Words
from mkldash.kernels.base import Array
from mkldash.kernels.normalization import as_features

__all__ = ["BaseBlocks", "BlockPredictor", "MonomialPredictor", "ProductPredictor"]

#: Bytes of features of new rows that are made at a time.
_PIECE_BYTES = 16 * 2**20


class BaseBlocks(Protocol):
    """The base kernels between new rows and the training rows."""

    def pieces(
        self, new: ArrayLike, letters: Sequence[int]
    ) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Rows, and the unscaled blocks (len(letters), n_piece, n_rows) on them.

        At least one piece, also when there are no letters or no new rows.
        """


class ProductPredictor(Protocol):
    """sum_w weights_w K_w(., X) a as a function of new rows."""

    def decision(self, new: ArrayLike) -> Array:
        """Its values, shape (n_new,)."""


@dataclass(frozen=True, eq=False)
class MonomialPredictor:
    """Over linear base kernels: a polynomial of the features.

    Parameters
    ----------
    n_base : int
        Features.
    scale : float
        What new rows are multiplied with.
    words : array of int, shape (n_words, degree)
    coefficients : array, shape (n_words,)
        Of the monomials of the scaled features.
    """

    n_base: int
    scale: float
    words: Words
    coefficients: Array

    def decision(self, new: ArrayLike) -> Array:
        """Values on new rows (n_new, n_base), shape (n_new,)."""
        rows = as_features(new)
        if rows.shape[1] != self.n_base:
            raise InputError(
                f"new rows have {rows.shape[1]} columns, the training rows {self.n_base}"
            )
        columns = np.ascontiguousarray((rows * self.scale).T)
        out = np.zeros(len(rows))
        step = max(1, _PIECE_BYTES // (8 * max(1, len(rows))))
        for low in range(0, len(self.words), step):
            part, some = self.words[low : low + step], self.coefficients[low : low + step]
            out += some @ _compiled_products.products(
                columns, np.ascontiguousarray(part), np.ones(len(rows)), np.ones(len(part))
            )
        return out


@dataclass(frozen=True, eq=False)
class BlockPredictor:
    """Over base kernels of any kind: evaluated between new and training rows.

    Parameters
    ----------
    blocks : BaseBlocks
    letters : tuple of int
        Base kernels that occur.
    places : array of int, shape (n_words, degree)
        Words by position in `letters`.
    values : array, shape (n_words,)
        Weights with the scales of the base kernels.
    a : array, shape (n_rows,)
    """

    blocks: BaseBlocks
    letters: tuple[int, ...]
    places: Words
    values: Array
    a: Array

    def decision(self, new: ArrayLike) -> Array:
        """Values on new rows, as the blocks take them, shape (n_new,)."""
        out = []
        for _, blocks in self.blocks.pieces(new, self.letters):
            columns = blocks.reshape(len(blocks), blocks.shape[1] * len(self.a))
            combined = _compiled_products.weighted_products(columns, self.places, self.values)
            out.append(combined.reshape(-1, len(self.a)) @ self.a)
        return np.concatenate(out)
