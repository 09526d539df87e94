"""The elastic-net set of Citi (2019) and Yang et al. (2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.problems.linear_program import maximise_linear
from mkldash.problems.reciprocals import ReciprocalsResult, gauge, minimise_reciprocals
from mkldash.problems.weight_sets.base import WeightSet

Array = NDArray[np.float64]

__all__ = ["ElasticNet"]


@dataclass(frozen=True)
class ElasticNet(WeightSet):
    """theta >= 0 with eta ||theta||_1 + (1 - eta) ||theta||_2^2 <= 1.

    The second part is squared.  eta = 1 is the simplex (sparse), eta = 0 the
    Euclidean ball.

    Parameters
    ----------
    eta : float
        In [0, 1].

    Raises
    ------
    InputError
        For an eta outside [0, 1].
    """

    eta: float = 0.5
    name: ClassVar[str] = "elastic-net"

    def __post_init__(self) -> None:
        if not (isinstance(self.eta, int | float | np.number) and 0.0 <= self.eta <= 1.0):
            raise InputError(f"eta must lie between 0 and 1, not {self.eta!r}")
        object.__setattr__(self, "eta", float(self.eta))

    def gauge(self, theta: Array) -> float:
        """s(theta): at most 1 exactly for the points of the set."""
        return gauge(theta, self.eta)

    def constraint(self, theta: Array) -> float:
        return float(self.eta * theta.sum() + (1.0 - self.eta) * (theta @ theta))

    def start(self, n_kernels: int) -> Array:
        ones = np.ones(n_kernels)
        return ones / gauge(ones, self.eta)

    def pull_inside(self, theta: Array) -> Array:
        inside = np.maximum(np.asarray(theta, dtype=np.float64), 0.0)
        size = gauge(inside, self.eta)
        if not (np.isfinite(size) and size > 0.0):
            return self.start(inside.size)
        mixed = 0.9 * inside / size + 0.1 * self.start(inside.size)
        return mixed / gauge(mixed, self.eta)

    def maximise(self, u: Array) -> tuple[Array, float]:
        result = maximise_linear(u, self.eta)
        return result.theta, result.value

    def minimise(self, beta: Array, start: Array | None, tol: float) -> ReciprocalsResult:
        """min sum_k beta_k/theta_k over the set, by Algorithm 2."""
        return minimise_reciprocals(beta, self.eta, start=start, tol=tol)
