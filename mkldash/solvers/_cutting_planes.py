"""A convex function seen through its tangents, over 0 <= a <= C, y'a = 0.

The model is the largest tangent, max_j value_j + gradient_j'(a - alpha_j); it lies
nowhere above the function.  Its minimum is a linear program, the nearest point below
a level a projection (Liu et al. 2009, eqs. 8 and 10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.projection import project
from mkldash.solvers._least_norm import SOLVERS, LeastNorm

Array = NDArray[np.float64]

__all__ = ["Cut", "Minimum", "Model", "Nearest", "least_linear"]

#: Tightest that HiGHS takes; the program is scaled to bounds and slopes of size one.
_LP_TOLERANCE = 1e-10


@dataclass(frozen=True, kw_only=True, eq=False)
class Cut:
    """One tangent.  Snapshots share it; its arrays are read-only.

    Attributes
    ----------
    iteration : int
        Where it was taken.
    alpha : array, shape (n_rows,)
    value : float
        f(alpha).
    gradient : array, shape (n_rows,)
        f'(alpha).
    """

    iteration: int
    alpha: Array
    value: float
    gradient: Array

    def __post_init__(self) -> None:
        for name in ("alpha", "gradient"):
            array = getattr(self, name)
            if array.flags.writeable:
                array = array.copy()
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    @property
    def intercept(self) -> float:
        """Value of the tangent at zero."""
        return self.value - float(self.gradient @ self.alpha)


@dataclass(frozen=True, eq=False)
class Minimum:
    """What the linear program found.

    Attributes
    ----------
    multipliers : array, shape (n_cuts,)
        Not negative, of sum one: which tangents hold the minimum up.
    point : array, shape (n_rows,)
        A minimiser, feasible within rounding.
    iterations : int
        Simplex steps.
    """

    multipliers: Array
    point: Array
    iterations: int


@dataclass(frozen=True, eq=False)
class Nearest:
    """What the quadratic program found.

    Attributes
    ----------
    point : array, shape (n_rows,)
        Feasible within rounding, whatever became of the program.
    excess : float
        How far the model lies above the level at `point`; negative below it.
    iterations : int
        Changes of the active set, or interior-point steps, of all solvers asked.
    optimal : bool
        Whether a solver ended as it should, at a point close enough to the level.
    """

    point: Array
    excess: float
    iterations: int
    optimal: bool


@dataclass(frozen=True, eq=False)
class Model:
    """The largest of some tangents.

    Attributes
    ----------
    gradients : array, shape (n_cuts, n_rows)
    intercepts : array, shape (n_cuts,)
        Values of the tangents at zero.
    y : array, shape (n_rows,)
        Labels, -1 or +1.
    C : float
        Side of the box.
    """

    gradients: Array
    intercepts: Array
    y: Array
    C: float

    @classmethod
    def of(cls, cuts: Sequence[Cut], y: Array, C: float) -> Model:
        """The model of `cuts`."""
        gradients = np.array([cut.gradient for cut in cuts])
        return cls(gradients, np.array([cut.intercept for cut in cuts]), y, C)

    def values(self, alpha: Array) -> Array:
        """Values of the tangents at `alpha`, shape (n_cuts,)."""
        return np.asarray(self.intercepts + self.gradients @ alpha)

    def bound(self, multipliers: Array) -> float:
        """A lower bound on the model's minimum, and so on the function's.

        Any average of the tangents lies nowhere above the model, and its minimum
        over the feasible set is exact; so the bound holds however rough the
        multipliers are, and is the minimum itself at the right ones.

        Parameters
        ----------
        multipliers : array, shape (n_cuts,)
            Not negative, of sum one.
        """
        slope = multipliers @ self.gradients
        return float(multipliers @ self.intercepts) + least_linear(slope, self.y, self.C)

    def minimise(self) -> Minimum | None:
        """Minimum of the model by HiGHS, dual simplex; None when it fails.

        It starts from nothing each time, so that a resumed run makes the same steps.
        """
        from scipy.optimize import linprog

        n_rows = self.y.size
        # With a huge C slopes differ by many powers of ten: each row has its own scale.
        scale = np.abs(self.gradients).max(axis=1)
        scale[scale == 0.0] = 1.0
        unit = float(scale.min())
        if not (np.isfinite(scale).all() and np.isfinite(self.intercepts).all()):
            return None
        cost = np.zeros(n_rows + 1)
        cost[-1] = 1.0
        box = np.tile([0.0, 1.0], (n_rows + 1, 1))
        box[-1] = -np.inf, np.inf
        found = linprog(
            cost,
            A_ub=np.column_stack((self.gradients / scale[:, None], -unit / scale)),
            b_ub=-self.intercepts / (scale * self.C),
            A_eq=np.append(self.y, 0.0)[None],
            b_eq=[0.0],
            bounds=box,
            method="highs-ds",
            options={
                "primal_feasibility_tolerance": _LP_TOLERANCE,
                "dual_feasibility_tolerance": _LP_TOLERANCE,
            },
        )
        if found.status != 0 or found.x is None:
            return None
        multipliers = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0) / scale
        total = float(multipliers.sum())
        if not (np.isfinite(total) and total > 0.0 and np.isfinite(found.x).all()):
            return None
        point = project(found.x[:-1] * self.C, self.y, self.C).x
        return Minimum(multipliers / total, point, int(found.nit))

    def nearest(self, alpha: Array, level: float, slack: float) -> Nearest:
        """The point nearest to feasible `alpha` at which no tangent exceeds `level`.

        The solver works in units of the least distance at which the point can be: so
        its tolerances are relative to the step, however small that gets.  The exact
        projection then takes away the last rounding errors of feasibility, and the
        point is judged, not the status; the next solver is asked when it fails.

        Parameters
        ----------
        alpha : array, shape (n_rows,)
        level : float
            Not below the model's minimum.
        slack : float
            How far the model may lie above the level there.
        """
        room = level - self.values(alpha)
        program = self.least_norm(alpha, level)
        if program is None:
            return Nearest(alpha, -float(room.min()), 0, True)
        iterations = 0
        for solve in SOLVERS:
            found = solve(program)
            iterations += found.iterations
            sound = bool(np.isfinite(found.x).all())
            x = found.x if sound else np.zeros(alpha.size)
            point = project(alpha + program.unit * x, self.y, self.C).x
            excess = float((self.gradients @ (point - alpha) - room).max())
            optimal = sound and found.optimal and excess <= slack
            if optimal:
                break
        return Nearest(point, excess, iterations, optimal)

    def towards(self, point: Array, minimiser: Array, level: float) -> Array:
        """The first point below `level` on the way from `point` to the model's minimiser."""
        above, below = self.values(point) - level, self.values(minimiser) - level
        blocking = above > 0.0
        # The minimiser may lie above the level within rounding: then all the way.
        drop = np.maximum(above - below, above)[blocking]
        share = float((above[blocking] / drop).max(initial=0.0))
        return np.asarray(point + share * (minimiser - point))

    def least_norm(self, alpha: Array, level: float) -> LeastNorm | None:
        """The program that `nearest` solves; None when `alpha` is the nearest point."""
        room = level - self.values(alpha)
        steepness = np.linalg.norm(self.gradients, axis=1)
        tilted = steepness > 0.0
        gradients, steepness = self.gradients[tilted], steepness[tilted]
        apart = room[tilted] / steepness
        unit = -float(apart.min(initial=0.0))
        if not unit > 0.0:
            return None
        rows = np.vstack((self.y / np.sqrt(self.y.size), gradients / steepness[:, None]))
        return LeastNorm.of(rows, apart, -alpha, self.C - alpha, unit)


def least_linear(slope: Array, y: Array, C: float) -> float:
    """Minimum of slope'a over 0 <= a <= C, y'a = 0: exact, in O(n log n).

    Raising one row of each label by C is worth the sum of their slopes; the best
    pairs are those of least slopes, taken while that sum is negative.
    """
    positive, negative = np.sort(slope[y > 0.0]), np.sort(slope[y < 0.0])
    pairs = min(positive.size, negative.size)
    return C * float(np.minimum(positive[:pairs] + negative[:pairs], 0.0).sum())
