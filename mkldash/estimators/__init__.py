"""scikit-learn estimators over the solvers, and baselines beside them."""

from __future__ import annotations

from mkldash.estimators.elastic_net import ElasticNetMKLClassifier
from mkldash.estimators.neighborhood import NeighborhoodKernelClassifier
from mkldash.estimators.polynomial_kernel import LearntPolynomialKernel
from mkldash.estimators.polynomial_mkl import PolynomialMKLRegressor
from mkldash.estimators.polynomial_ridge import PolynomialRidge
from mkldash.estimators.stack import KernelStack

__all__ = [
    "ElasticNetMKLClassifier",
    "KernelStack",
    "LearntPolynomialKernel",
    "NeighborhoodKernelClassifier",
    "PolynomialMKLRegressor",
    "PolynomialRidge",
]
