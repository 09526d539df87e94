"""The squared loss of kernel ridge regression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.problems.losses.base import Loss

Array = NDArray[np.float64]

__all__ = ["Squared"]

_LARGEST = 1e70


@dataclass(frozen=True)
class Squared(Loss):
    """Half the SUM of (y - f)^2, without a bias.

    The dual coefficients are the coefficients a of f = K a themselves, and every
    a is feasible.  There is no price of the losses: the scale of the kernels
    plays that role (MATH 1.1).
    """

    name: ClassVar[str] = "squared"
    task: ClassVar[str] = "regression"

    def check(self, y: Array) -> None:
        if not np.all(np.isfinite(y)):
            raise InputError(f"target of row {int(np.argmin(np.isfinite(y)))} is not finite")
        # The bounds square the sum of squares.
        if not float(np.abs(y).max(initial=0.0)) < _LARGEST:
            raise InputError("targets are too large to be squared; standardise them")

    @property
    def C(self) -> float:
        return math.inf

    def feasible(self, alpha: Array, y: Array) -> Array:
        return alpha

    def signed(self, alpha: Array, y: Array) -> Array:
        return alpha

    def fit(self, decision: Array, y: Array) -> tuple[float, float]:
        residual = y - decision
        return 0.0, 0.5 * float(residual @ residual)

    def slack(self, decision: Array, y: Array, errors: Array) -> float:
        return float(np.abs(y - decision) @ errors + 0.5 * (errors @ errors))

    def dual(self, alpha: Array, y: Array, norm: float) -> float:
        """The best value along the ray of `alpha`: never negative.

        c a'y - c^2 (||a||^2 + norm)/2 is largest at c = a'y/(||a||^2 + norm);
        at the ridge solution of some weights this is MATH 1.4's bound with its
        gap (norm - theta'u)/(2 J) relative to J, where c = 1 would give less.
        """
        size = float(alpha @ alpha) + norm
        return 0.5 * float(alpha @ y) ** 2 / size if size > 0.0 else 0.0
