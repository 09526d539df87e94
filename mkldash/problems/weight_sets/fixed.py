"""Weights that are given: the plain support vector machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.problems.weight_sets.base import WeightSet

Array = NDArray[np.float64]

__all__ = ["Fixed"]


@dataclass(frozen=True)
class Fixed(WeightSet):
    """The single point `theta`.

    Parameters
    ----------
    theta : tuple of float
        One weight per kernel of the bank, not negative.

    Raises
    ------
    InputError
        For a negative or infinite weight.
    """

    theta: tuple[float, ...]
    name: ClassVar[str] = "fixed"

    def __post_init__(self) -> None:
        for k, value in enumerate(self.theta):
            if not (np.isfinite(value) and value >= 0.0):
                raise InputError(f"weight of kernel {k} must be finite and not negative: {value!r}")

    def _values(self) -> Array:
        return np.array(self.theta, dtype=np.float64)

    def start(self, n_kernels: int) -> Array:
        if n_kernels != len(self.theta):
            raise InputError(f"{len(self.theta)} fixed weights for a bank of {n_kernels} kernels")
        return self._values()

    def constraint(self, theta: Array) -> float:
        """1 at the point itself; 1 plus the distance elsewhere."""
        return 1.0 + float(np.linalg.norm(theta - self._values()))

    def pull_inside(self, theta: Array) -> Array:
        return self._values()

    def maximise(self, u: Array) -> tuple[Array, float]:
        theta = self._values()
        return theta, float(theta @ u)
