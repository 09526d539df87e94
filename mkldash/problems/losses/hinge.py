"""The hinge loss of the support vector machine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.problems.certificates import hinge_bias
from mkldash.problems.losses.base import Loss

Array = NDArray[np.float64]

__all__ = ["Hinge"]

#: C is squared and divided by: beyond this and its inverse, digits are lost to the range.
_SMALLEST = 1e-100


@dataclass(frozen=True)
class Hinge(Loss):
    """C times the SUM of max(0, 1 - y f), with a free bias.

    Parameters
    ----------
    C : float
        Price of the losses; dual coefficients lie in [0, C].

    Raises
    ------
    InputError
        Unless C is a number from 1e-100 to 1e100: it is squared on the way.
    """

    C: float = 100.0
    name: ClassVar[str] = "hinge"
    task: ClassVar[str] = "binary"

    def __post_init__(self) -> None:
        if not (isinstance(self.C, int | float | np.number) and math.isfinite(self.C)) or (
            self.C <= 0
        ):
            raise InputError(f"C must be a positive number, not {self.C!r}")
        if not _SMALLEST <= self.C <= 1.0 / _SMALLEST:
            raise InputError(
                f"C must lie between {_SMALLEST:g} and {1.0 / _SMALLEST:g}, not {self.C:g}; "
                "rescale the kernels instead"
            )
        object.__setattr__(self, "C", float(self.C))

    def check(self, y: Array) -> None:
        if not np.all(np.abs(y) == 1.0):
            raise InputError("labels must be -1 or +1")

    def signed(self, alpha: Array, y: Array) -> Array:
        return y * alpha

    def fit(self, decision: Array, y: Array) -> tuple[float, float]:
        bias, loss = hinge_bias(decision, y)
        return bias, self.C * loss

    def slack(self, decision: Array, y: Array, errors: Array) -> float:
        return self.C * float(errors.sum())

    def dual(self, alpha: Array, y: Array, norm: float) -> float:
        return float(alpha.sum()) - 0.5 * norm

    def feasible(self, alpha: Array, y: Array) -> Array:
        """`alpha` moved into {0 <= alpha <= C, y'alpha = 0}.

        Clips, then scales down the class with the larger sum: cheap, and
        exact zeros stay zero.

        Parameters
        ----------
        alpha, y : array, shape (n_rows,)

        Returns
        -------
        array, shape (n_rows,)
        """
        inside = np.clip(alpha, 0.0, self.C)
        positive = y > 0
        up, down = inside[positive].sum(), inside[~positive].sum()
        if up <= 0.0 or down <= 0.0:
            return np.zeros_like(inside)
        if up > down:
            inside[positive] *= down / up
        else:
            inside[~positive] *= up / down
        return inside
