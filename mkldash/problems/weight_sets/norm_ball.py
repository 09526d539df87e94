"""The ball of the nu-norm: the weights that the p-norm penalty stands for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.kernels.family import ENUMERABLE, KernelFamily
from mkldash.problems.weight_sets.base import Support, WeightSet

Array = NDArray[np.float64]

__all__ = ["NormBall"]

_NOTHING = np.empty(0)
_NOTHING.flags.writeable = False


@dataclass(frozen=True)
class NormBall(WeightSet):
    """theta >= 0 with ||theta||_nu <= 1 (MATH 1.1).

    nu = 1 is the simplex (p = 1, sparse), nu = inf the box (p = 2).

    Parameters
    ----------
    nu : float
        At least 1; may be infinite.

    Raises
    ------
    InputError
        For a nu below 1, or one that is no number.
    """

    nu: float = 1.0
    name: ClassVar[str] = "norm-ball"

    def __post_init__(self) -> None:
        if not (isinstance(self.nu, int | float | np.number) and self.nu >= 1.0):
            raise InputError(f"nu must be a number of at least 1, or infinite, not {self.nu!r}")
        object.__setattr__(self, "nu", float(self.nu))

    @classmethod
    def of_p(cls, p: float) -> NormBall:
        """The ball that the penalty (sum_i rho_i^p ||w_i||^p)^(2/p) stands for: nu = p/(2 - p).

        Raises
        ------
        InputError
            For a p outside [1, 2].
        """
        if not (isinstance(p, int | float | np.number) and 1.0 <= p <= 2.0):
            raise InputError(f"p must lie between 1 and 2, not {p!r}")
        return cls(math.inf if p == 2.0 else float(p) / (2.0 - float(p)))

    @property
    def dual_exponent(self) -> float:
        """nu* with 1/nu + 1/nu* = 1."""
        if math.isinf(self.nu):
            return 1.0
        return math.inf if self.nu == 1.0 else self.nu / (self.nu - 1.0)

    def constraint(self, theta: Array) -> float:
        return _norm(np.abs(theta), self.nu)

    def start(self, n_kernels: int) -> Array:
        return np.full(n_kernels, float(n_kernels) ** (-1.0 / self.nu))

    def pull_inside(self, theta: Array) -> Array:
        inside = np.maximum(np.asarray(theta, dtype=np.float64), 0.0)
        size = _norm(inside, self.nu)
        if not (np.isfinite(size) and size > 0.0):
            return self.start(inside.size)
        mixed = 0.9 * inside / size + 0.1 * self.start(inside.size)
        return mixed / _norm(mixed, self.nu)

    def maximise(self, u: Array) -> tuple[Array, float]:
        largest = float(u.max(initial=0.0))
        if largest <= 0.0:
            return self.start(u.size), 0.0
        if self.nu == 1.0:
            theta = np.zeros(u.size)
            theta[int(np.argmax(u))] = 1.0
            return theta, largest
        value = _norm(u, self.dual_exponent)
        return (u / value) ** (self.dual_exponent - 1.0), value

    def check_family(self) -> None:
        """Every nu has a bound over an implicit family."""

    def support_of_family(self, family: KernelFamily, a: Array, budget: int) -> Support:
        """||u||_nu* over the family, or a bound on it (MATH 1.4).

        nu = inf: the sum of u, exact.  nu = 1: the largest u, by a search that
        may stop early.  Between them the family is enumerated while it is
        small; beyond, (max u)^(1/nu) C^(1 - 1/nu) with C the sum of u.
        """
        if math.isinf(self.nu):
            value, exact, how = family.total(a), True, "exact"
        elif self.nu > 1.0 and family.size <= ENUMERABLE:
            value, exact, how = _norm(family.all_forms(a), self.dual_exponent), True, "exact"
        else:
            found = family.largest(a, budget)
            how = "exact" if found.exact else f"search stopped at {found.nodes} nodes"
            value, exact = found.bound, found.exact
            if self.nu > 1.0:
                total = family.total(a)
                # The largest is part of the sum: rounding must not turn them round.
                value = min(value, total) ** (1.0 / self.nu) * total ** (1.0 - 1.0 / self.nu)
                exact, how = False, "bound by the largest and the sum"
        return Support(value, exact, _NOTHING, _NOTHING, how)


def _norm(u: Array, exponent: float) -> float:
    """||u||_exponent for u >= 0, without overflow on the way."""
    largest = float(u.max(initial=0.0))
    if not largest > 0.0 or math.isinf(exponent) or math.isinf(largest):
        return largest
    return largest * float(((u / largest) ** exponent).sum()) ** (1.0 / exponent)
