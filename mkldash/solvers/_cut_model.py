"""The cut model over the kernel weights: its lowest point, and the nearest below a level.

Over theta in Theta the model is the largest of all cuts, max_j c_j - u_j'theta / 2
(MATH 0.8).  Theta is the simplex, or the part of a ball in the orthant: so both programs
are conic with a single cone, and the compiled interior-point method solves them through
a matrix of as many rows as there are cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.reciprocals import gauge
from mkldash.problems.weight_sets.base import WeightSet
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers._weight_cuts import WeightCut, certified_minimum, stacked

Array = NDArray[np.float64]

__all__ = ["CutModel", "Lowest", "Nearest", "needs_cut_set"]

_TOLERANCE, _MOST_STEPS = 1e-12, 80
#: Error above which a program counts as failed.
_FAILED = 1e-8
#: An eta so near one is one (MATH 0.4).
_ONE = 1.0 - 1e-9


@dataclass(frozen=True, eq=False)
class Lowest:
    """The lowest point of the model.

    Attributes
    ----------
    theta : array, shape (n_kernels,)
        In the set, with exact zeros.
    multipliers : array, shape (n_cuts,)
        Not negative, of sum one: which cuts hold the point up.
    bound : float
        A certified lower bound on the optimum, from those multipliers.
    steps : int
        Of the interior-point method.
    error : float
        Relative; see `failed`.
    """

    theta: Array
    multipliers: Array
    bound: float
    steps: int
    error: float

    @property
    def failed(self) -> bool:
        """Whether the answer is worth a warning; the bound holds all the same."""
        return not self.error <= _FAILED


@dataclass(frozen=True, eq=False)
class Nearest:
    """The projection onto a level set of the model.

    Attributes
    ----------
    theta : array, shape (n_kernels,)
        In the set, with exact zeros.
    steps : int
    failed : bool
        Whether the point had to be moved below the level.
    """

    theta: Array
    steps: int
    failed: bool


@dataclass(frozen=True, eq=False)
class CutModel:
    """The largest of some cuts over a weight set.

    Attributes
    ----------
    values : array, shape (n_cuts,)
    forms : array, shape (n_cuts, n_kernels)
    weight_set : WeightSet
    unit : float
        What heights are measured in: the size of the optimum.
    """

    values: Array
    forms: Array
    weight_set: WeightSet
    unit: float

    @classmethod
    def of(cls, cuts: Sequence[WeightCut], weight_set: WeightSet, unit: float) -> CutModel:
        """The model of `cuts`."""
        values, forms = stacked(cuts)
        return cls(values, forms, weight_set, unit if unit > 0.0 else 1.0)

    def heights(self, theta: Array) -> Array:
        """Heights of the cuts at `theta`, shape (n_cuts,)."""
        return np.asarray(self.values - 0.5 * self.forms @ theta)

    def lowest(self, centre: Array) -> Lowest:
        """The minimum over the set; `centre`, in the set, is where the method begins."""
        eta = _eta_of(self.weight_set)
        if eta is None or not self.forms.any():
            theta = centre if eta is None else self.weight_set.start(centre.size)
            multipliers = np.zeros(self.values.size)
            multipliers[int(np.argmax(self.heights(theta)))] = 1.0
            return Lowest(theta, multipliers, self._bound(multipliers), 0, 0.0)
        from mkldash.solvers._compiled_cuts import lowest_or_nearest

        theta, multipliers, reduced, _, steps, error = lowest_or_nearest(
            self.values / self.unit, self.forms / self.unit, centre, 0.0, 0.0, True, eta,
            _TOLERANCE, _MOST_STEPS,
        )  # fmt: skip
        theta = self._sparse(theta, multipliers, reduced, centre)
        size = gauge(theta, eta)
        multipliers = multipliers / multipliers.sum()
        return Lowest(theta / size, multipliers, self._bound(multipliers), steps, float(error))

    def nearest(self, centre: Array, level: float, lowest: Array, slack: float) -> Nearest:
        """The point of the set nearest to `centre` at which no cut is higher than `level`.

        Parameters
        ----------
        centre : array, shape (n_kernels,)
            In the set.
        level : float
            Above the model's minimum.
        lowest : array, shape (n_kernels,)
            Where that is.
        slack : float
            How far above the level counts as on it.
        """
        eta = _eta_of(self.weight_set)
        above = self.heights(centre) - level
        steepness = 0.5 * np.linalg.norm(self.forms, axis=1)
        if eta is None or not above.max() > 0.0:
            return Nearest(centre, 0, False)
        from mkldash.solvers._compiled_cuts import lowest_or_nearest

        # In units of the least distance that the point can have.
        blocking = (above > 0.0) & (steepness > 0.0)
        distance = float((above[blocking] / steepness[blocking]).max(initial=1e-300))
        theta, multipliers, reduced, _, steps, _ = lowest_or_nearest(
            self.values / self.unit, self.forms / self.unit, centre, 1.0 / distance,
            level / self.unit, False, eta, _TOLERANCE, _MOST_STEPS,
        )  # fmt: skip
        theta = self._sparse(theta, multipliers, reduced, centre)
        theta = theta / max(gauge(theta, eta), 1.0)
        failed = bool((self.heights(theta) - level).max() > slack)
        if failed:
            theta = self._towards(theta, lowest, level)
        return Nearest(theta, steps, failed)

    def _towards(self, theta: Array, lowest: Array, level: float) -> Array:
        """The first point below `level` on the way from `theta` to the lowest one."""
        above, below = self.heights(theta) - level, self.heights(lowest) - level
        blocking = above > 0.0
        drop = np.maximum(above - below, above)[blocking]
        share = float((above[blocking] / drop).max(initial=0.0))
        return np.asarray(theta + share * (lowest - theta))

    def _sparse(self, theta: Array, multipliers: Array, reduced: Array, centre: Array) -> Array:
        """`theta` with exact zeros where it is smaller than its reduced cost."""
        slope = 0.5 * float((multipliers @ self.forms).max()) / self.unit
        sparse = np.where(theta * slope <= reduced * theta.max(), 0.0, theta)
        return sparse if sparse.any() else centre

    def _bound(self, multipliers: Array) -> float:
        return certified_minimum(self.values, self.forms, multipliers, self.weight_set)


def needs_cut_set(name: str, weight_set: WeightSet) -> str | None:
    """Why the cut model has no minimum over `weight_set` that we know, or None."""
    if isinstance(weight_set, Fixed) or _eta_of(weight_set) is not None:
        return None
    if isinstance(weight_set, NormBall):
        return (
            f"{name} takes the norm-ball of exponent 1 (the simplex) or 2 (the ball), "
            f"not of {weight_set.nu:g}"
        )
    return f"{name} has no cut model over the set {weight_set.name!r}"


def _eta_of(weight_set: WeightSet) -> float | None:
    """The elastic net that a set is, or None."""
    eta = None
    if isinstance(weight_set, ElasticNet):
        eta = weight_set.eta
    elif isinstance(weight_set, NormBall):
        eta = {1.0: 1.0, 2.0: 0.0}.get(weight_set.nu)
    return 1.0 if eta is not None and eta > _ONE else eta
