"""The polynomial kernel with offset one."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

from mkldash.errors import InputError
from mkldash.kernels.base import Array, ProductKernel

__all__ = ["Polynomial"]


@dataclass(frozen=True)
class Polynomial(ProductKernel):
    """(1 + x'x')^degree; the offset is there at degree 1 too.

    Parameters
    ----------
    degree : int
        At least 1.

    Raises
    ------
    InputError
        If the degree is not a positive whole number.
    """

    degree: int = 2

    name: ClassVar[str] = "polynomial"
    reference: ClassVar[str] = "Schoelkopf and Smola, Learning with Kernels, 2002, eq. 2.67"

    def __post_init__(self) -> None:
        if not isinstance(self.degree, Integral) or self.degree < 1:
            raise InputError(f"polynomial degree must be a whole number >= 1, got {self.degree}")

    @property
    def label(self) -> str:
        """Such as ``polynomial 2``."""
        return f"polynomial {self.degree}"

    def profile(self, products: Array) -> Array:
        """Kernel values from inner products, same shape."""
        base = products + 1.0
        values = base.copy()
        for _ in range(self.degree - 1):
            values *= base
        return values
