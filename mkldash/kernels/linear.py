"""The linear kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mkldash.kernels.base import Array, ProductKernel

__all__ = ["Linear"]


@dataclass(frozen=True)
class Linear(ProductKernel):
    """x'x', without an offset (`Polynomial(1)` has one)."""

    name: ClassVar[str] = "linear"
    reference: ClassVar[str] = "Schoelkopf and Smola, Learning with Kernels, 2002, ch. 2"

    @property
    def label(self) -> str:
        """``linear``."""
        return "linear"

    def profile(self, products: Array) -> Array:
        """The inner products themselves, copied."""
        return products.copy()
