"""mkldash: watch multiple kernel learning solvers think.

Importing this package loads no graphics library and compiles nothing; the
estimators are imported when first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "ElasticNetMKLClassifier",
    "KernelStack",
    "LearntPolynomialKernel",
    "NeighborhoodKernelClassifier",
    "PolynomialMKLRegressor",
    "PolynomialRidge",
    "__version__",
]

if TYPE_CHECKING:
    from mkldash.estimators import (
        ElasticNetMKLClassifier,
        KernelStack,
        LearntPolynomialKernel,
        NeighborhoodKernelClassifier,
        PolynomialMKLRegressor,
        PolynomialRidge,
    )


def __getattr__(name: str) -> Any:
    if name in __all__:
        from mkldash import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'mkldash' has no attribute {name!r}")
