"""The shared inputs of the cases, and their certified values."""

from __future__ import annotations

import numpy as np

from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet

#: eta -> (objective, theta) of GOLDEN at C = 100.
GOLDEN = {
    1.0: (323.641927, (0.0, 1.0, 0.0, 0.0)),
    0.5: (305.684692, (0.082282, 0.891997, 0.0, 0.187963)),
    0.2: (284.063165, (0.159836, 0.894532, 0.007242, 0.292654)),
    0.0: (268.941941, (0.205498, 0.910406, 0.104127, 0.343640)),
}


def golden_data() -> tuple[np.ndarray, np.ndarray]:
    """X of shape (20, 4), not standardised, and balanced labels."""
    X = np.random.default_rng(42).standard_normal((20, 4))
    score = X[:, 0] * X[:, 1] + 0.5 * X[:, 2]
    return X, np.where(score > np.median(score), 1.0, -1.0)


def golden_blocks(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The four golden kernels between X and Y, shape (4, n, m), not scaled."""
    inner = X @ Y.T
    distance = (X**2).sum(1)[:, None] + (Y**2).sum(1)[None] - 2 * inner
    return np.array([inner, np.exp(-distance), np.exp(-0.1 * distance), (1 + inner) ** 2])


def golden_kernels() -> np.ndarray:
    """Unit-trace golden kernels, shape (4, 20, 20), exactly symmetric."""
    X, _ = golden_data()
    kernels = golden_blocks(X, X)
    kernels = 0.5 * (kernels + kernels.transpose(0, 2, 1))
    return kernels / np.trace(kernels, axis1=1, axis2=2)[:, None, None]


def golden_problem(eta: float = 0.5, C: float = 100.0) -> Problem:
    """GOLDEN as a problem."""
    _, y = golden_data()
    return Problem(precomputed_bank(golden_kernels()), y, Hinge(C), ElasticNet(eta))
