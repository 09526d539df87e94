"""scikit-learn estimators over the solvers."""

from __future__ import annotations

from mkldash.estimators.elastic_net import ElasticNetMKLClassifier
from mkldash.estimators.neighborhood import NeighborhoodKernelClassifier
from mkldash.estimators.stack import KernelStack

__all__ = ["ElasticNetMKLClassifier", "KernelStack", "NeighborhoodKernelClassifier"]
