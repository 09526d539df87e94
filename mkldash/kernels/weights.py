"""Kernel weights: keys and values, never changed once made."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ACTIVE_THRESHOLD", "Weights"]

#: A kernel counts as active above this fraction of the largest weight.
#: Block-coordinate weights only approach zero, so a threshold is needed.
ACTIVE_THRESHOLD = 1e-5


@dataclass(frozen=True, eq=False)
class Weights:
    """Kernel weights theta.

    Parameters
    ----------
    keys : tuple
        For a bank the names of all its kernels, in order; for an implicit
        family the keys of the kernels that carry weight.
    values : array, shape (n_keys,)
        Copied and made read-only.
    """

    keys: tuple[Hashable, ...]
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        if values.flags.writeable:
            values = values.copy()
            values.flags.writeable = False
        if values.shape != (len(self.keys),):
            raise ValueError(f"{len(self.keys)} keys but values of shape {values.shape}")
        object.__setattr__(self, "values", values)

    @classmethod
    def of(cls, keys: tuple[Hashable, ...], values: ArrayLike) -> Weights:
        """Weights from anything array-like."""
        return cls(keys, np.array(values, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.keys)

    def active(self, threshold: float = ACTIVE_THRESHOLD) -> NDArray[np.intp]:
        """Positions of the weights above `threshold` times the largest."""
        top = self.values.max(initial=0.0)
        if top <= 0.0:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self.values > threshold * top)

    def as_dict(self, threshold: float = ACTIVE_THRESHOLD) -> dict[Hashable, float]:
        """Active weights by key, largest first."""
        keep = self.active(threshold)
        order = keep[np.argsort(-self.values[keep], kind="stable")]
        return {self.keys[i]: float(self.values[i]) for i in order}
