"""The Gaussian kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mkldash.errors import InputError
from mkldash.kernels.base import Array, RadialKernel

__all__ = ["Gaussian"]


@dataclass(frozen=True)
class Gaussian(RadialKernel):
    r"""exp(-\|x - x'\|^2 / (2 width^2)).

    Parameters
    ----------
    width : float
        Standard deviation of the bell, in units of the features.  exp(-g d2) of
        other libraries has width 1/sqrt(2 g).

    Raises
    ------
    InputError
        If the width is not a positive finite number.
    """

    width: float = 1.0

    name: ClassVar[str] = "gaussian"
    reference: ClassVar[str] = "Schoelkopf and Smola, Learning with Kernels, 2002, eq. 2.68"

    def __post_init__(self) -> None:
        # The square is what is used: it must neither vanish nor overflow.
        squared = float(self.width) * float(self.width)
        if not (self.width > 0.0 and 0.0 < squared < math.inf):
            raise InputError(f"gaussian width must be positive and finite, got {self.width}")

    @property
    def label(self) -> str:
        """Such as ``gaussian 0.125``."""
        return f"gaussian {self.width:g}"

    @property
    def exact_label(self) -> str:
        """Such as ``gaussian 0.7071067811865476``: the shortest that is this width."""
        exact = float(f"{self.width:g}") == self.width
        return self.label if exact else f"gaussian {float(self.width)!r}"

    def profile(self, squared: Array) -> Array:
        """Kernel values from squared distances, same shape."""
        values = squared * (-0.5 / (self.width * self.width))
        return np.exp(values, out=values)
