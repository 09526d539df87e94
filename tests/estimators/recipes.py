"""Inputs that several tests of the estimators share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mkldash import ElasticNetMKLClassifier, NeighborhoodKernelClassifier
from mkldash.estimators.base import KernelClassifier
from mkldash.solvers.block_coordinate import BlockCoordinateDescent

#: For tests of what both classifiers do alike.
each_classifier = pytest.mark.parametrize(
    "kind", [ElasticNetMKLClassifier, NeighborhoodKernelClassifier]
)

#: T8 of the cases: eight rows, and what C = 100 and eta = 0.5 give.
T8 = np.array(
    [
        [1.5, 1200],
        [2.5, 1350],
        [2, 980],
        [3.5, 2100],
        [4, 1750],
        [5.5, 2600],
        [5, 1900],
        [6.5, 3050],
    ]
)
T8_LABELS = ["no", "no", "no", "yes", "no", "yes", "yes", "yes"]
T8_OBJECTIVE = 117.229353
T8_THETA = (0.181630, 0.688048, 0.434839)

GOLDEN_OBJECTIVE = 305.684692


def exact(kernels: Any = "precomputed", **parameters: Any) -> ElasticNetMKLClassifier:
    """An estimator at the tight setting of the exact cases."""
    settings = {
        "solver": BlockCoordinateDescent(inner_tol=1e-10),
        "tol": 1e-9,
        "max_iter": 5000,
        **parameters,
    }
    return ElasticNetMKLClassifier(kernels, **settings)


def exact_neighborhood(
    kernels: Any = "precomputed", **parameters: Any
) -> NeighborhoodKernelClassifier:
    """The other one at a tight setting."""
    settings = {"tol": 1e-9, "max_iter": 5000, **parameters}
    return NeighborhoodKernelClassifier(kernels, **settings)


def exact_of(kind: type[KernelClassifier], kernels: Any = "precomputed", **parameters: Any) -> Any:
    """Either one at a tight setting."""
    make = exact if kind is ElasticNetMKLClassifier else exact_neighborhood
    return make(kernels, **parameters)


def three_classes() -> tuple[np.ndarray, np.ndarray]:
    """L06: 30 rows on two features, ten of each class."""
    X = np.random.default_rng(3).standard_normal((30, 2))
    y = np.repeat(["a", "b", "c"], 10)
    X[y == "b"] += 2
    X[y == "c"] -= 2
    return X, y


def scaled_pair(scale: float) -> tuple[np.ndarray, np.ndarray]:
    """K11: [G, scale G] of ten rows, trace(G) = 1, and labels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 3))
    y = np.sign(X[:, 0] + 0.3 * rng.standard_normal(10))
    G = X @ X.T
    G /= np.trace(G)
    return np.stack([G, scale * G]), y
