"""The model of the second-order step: all cuts, with a Newton metric at the best point.

    minimise over theta in Theta, t   t + 1/2 |B (theta - theta0)|^2 + damping/2 |.|_D^2
    subject to                        t >= every cut at theta

B'B is the Hessian of the reduced cost at theta0, the best point so far (MATH 8, 8.1).
D = diag(u_k / theta0_k) is the curvature of the upper bound that Algorithm 1 minimises,
beta_k / theta_k: far from the optimum a Newton step alone goes much too far, as the free
support vectors change on the way; a little of D holds it back, and fades with the gap.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers._weight_cuts import WeightCut, certified_minimum, stacked

Array = NDArray[np.float64]

__all__ = ["NewtonMetric", "Step", "best_step", "newton_metric"]

#: Eigenvalues of the kernel on the free support vectors below this share of the largest
#: are those of duplicate or low-rank kernels, and are left out.
_LEAST_EIGENVALUE = 1e-12
#: Least weight, relative to the largest, that the damping counts with.
_LEAST_WEIGHT = 1e-2
#: Kernels whose weight counts when the model is solved again to more digits.
_LEAST_SHARE = 1e-7
_TIGHTEST, _LOOSEST, _PER_GAP = 1e-12, 1e-7, 1e-5
_MOST_STEPS = 50
#: Up to so many kernels one solve is as exact as needed; with more, it is rough.
_FEW_KERNELS, _ROUGHLY = 128, 1e-7
#: Share of its reduced cost, in units of the largest, below which a weight is zero.
_CLEARLY = 0.1
#: Times that kernels which were left out by mistake are added.
_MOST_ROUNDS = 4


@dataclass(frozen=True, eq=False)
class NewtonMetric:
    """A factor of the Hessian of the reduced cost at some weights.

    Attributes
    ----------
    B : array, shape (rank, n_kernels)
        The Hessian is B'B.
    free : int
        Support vectors between the bounds.
    """

    B: Array
    free: int


@dataclass(frozen=True, eq=False)
class Step:
    """What the model proposes.

    Attributes
    ----------
    theta : array, shape (n_kernels,)
        In the set, with exact zeros.
    multipliers : array, shape (n_cuts,)
        Not negative: which cuts hold the model up.
    lower : float
        A certified lower bound on the optimum, from those multipliers.
    steps : int
        Of the interior-point method.
    solved : bool
        Whether it ended as it should.
    """

    theta: Array
    multipliers: Array
    lower: float
    steps: int
    solved: bool


def newton_metric(problem: Problem, theta: Array, alpha: Array) -> NewtonMetric:
    """The Hessian of the reduced cost at `theta` and the dual coefficients there.

    With F the free support vectors, A[:, k] = (K_k a)_F and K_F the combined kernel
    on F: A' (K_F^-1 - K_F^-1 1 1' K_F^-1 / 1' K_F^-1 1) A, the second part for the bias.
    A finite rho adds (|a|^2 I + 2 a a') / (2 rho) to K_F.

    Parameters
    ----------
    problem : Problem
    theta : array, shape (n_kernels,)
    alpha : array, shape (n_rows,)
    """
    C = problem.loss.C
    free = np.flatnonzero((alpha > 0.0) & (alpha < C))
    if free.size < 2:  # one alone cannot move: sum(a) = 0
        return NewtonMetric(np.empty((0, theta.size)), free.size)
    a = problem.signed(alpha)
    K = np.array(problem.bank.combine(theta).block(free))
    if math.isfinite(problem.rho):
        K += np.outer(a[free], a[free]) / problem.rho
        K[np.diag_indices(free.size)] += float(a @ a) / (2.0 * problem.rho)
    values, vectors = np.linalg.eigh(K)
    kept = values > _LEAST_EIGENVALUE * values[-1]
    whitened = (vectors[:, kept] / np.sqrt(values[kept])).T
    B = whitened @ problem.bank.columns(a, free)
    ones = whitened.sum(axis=1)
    size = float(ones @ ones)
    if size > 0.0:
        B -= np.outer(ones, (ones @ B) / size)
    return NewtonMetric(B, free.size)


def best_step(
    problem: Problem,
    cuts: Sequence[WeightCut],
    centre: Array,
    forms: Array,
    metric: NewtonMetric,
    damping: float,
    objective: float,
    gap: float,
) -> Step:
    """Minimise the model.

    Parameters
    ----------
    problem : Problem
        Over an elastic-net set.
    cuts : sequence of WeightCut
    centre : array, shape (n_kernels,)
        The best weights so far.
    forms : array, shape (n_kernels,)
        u there.
    metric : NewtonMetric
        There.
    damping : float
        Share of D.
    objective : float
        Primal value there, which errors are relative to: the forms of kernels of
        different sizes may be many powers of ten apart.
    gap : float
        Relative; how exact the model's minimum need be.
    """
    weight_set = problem.weight_set
    assert isinstance(weight_set, ElasticNet)
    intercepts, slopes = stacked(cuts)
    scale = max(objective, 1e-300)
    floor = _LEAST_WEIGHT * float(centre.max())
    D = (damping / scale) * forms / np.maximum(centre, floor)
    B = metric.B / math.sqrt(scale)
    tol = max(_TIGHTEST, min(_LOOSEST, _PER_GAP * gap))
    model = _Model(intercepts / scale, slopes / scale, B, B @ centre, D, centre)
    hint = np.maximum(forms, slopes[-1])
    found = model.minimise(weight_set.eta, tol, hint)
    lower = certified_minimum(intercepts, slopes, found.multipliers, weight_set)
    size = weight_set.gauge(found.theta)
    theta = found.theta / size if size > 0.0 else weight_set.start(centre.size)
    return Step(theta, found.multipliers, lower, found.steps, found.error <= math.sqrt(tol))


@dataclass(frozen=True, eq=False)
class _Minimum:
    theta: Array
    multipliers: Array
    price: float
    steps: int
    error: float

    def after(self, before: _Minimum) -> _Minimum:
        """This one, with the steps of `before` counted."""
        return dataclasses.replace(self, steps=self.steps + before.steps)


@dataclass(frozen=True, eq=False)
class _Model:
    """The scaled model; arrays as `minimise_bundle` takes them."""

    values: Array
    forms: Array
    B: Array
    target: Array
    metric: Array
    centre: Array

    def minimise(self, eta: float, tol: float, hint: Array) -> _Minimum:
        """The minimum over all kernels.

        With many kernels rounding limits the interior-point method.  While the centre
        is sparse only the likeliest kernels are given to it, and those whose reduced
        cost turns out negative afterwards are added; else its first answer is rough,
        and the kernels that it gives weight are solved again.

        Parameters
        ----------
        eta, tol : float
        hint : array, shape (n_kernels,)
            Larger for kernels that are likelier to get weight.
        """
        n_kernels = self.centre.size
        alive = np.flatnonzero(self.centre)
        if n_kernels <= _FEW_KERNELS:
            return self._over(np.arange(n_kernels), eta, tol)
        if alive.size > _FEW_KERNELS // 2:
            found = self._over(np.arange(n_kernels), eta, max(tol, _ROUGHLY))
            near = np.flatnonzero(found.theta > _LEAST_SHARE * found.theta.max())
            if found.error <= tol or near.size == n_kernels:
                return found
            again = self._over(near, eta, tol)
            return again.after(found) if again.error < found.error else found
        hint = np.where(self.centre > 0.0, np.inf, hint)
        working = np.sort(np.argsort(-hint, kind="stable")[:_FEW_KERNELS])
        found = self._over(working, eta, tol)
        for _ in range(_MOST_ROUNDS):
            cost = self._reduced(found, eta)
            cost[working] = 0.0
            missed = np.flatnonzero(cost < -max(tol, found.error) * max(1.0, found.price))
            if not missed.size:
                return found
            working = np.union1d(working, missed)
            found = self._over(working, eta, tol).after(found)
        return self._over(np.arange(n_kernels), eta, tol).after(found)

    def _reduced(self, found: _Minimum, eta: float) -> Array:
        """Reduced costs of all kernels, those left out included."""
        theta = found.theta
        newton = (self.B @ theta - self.target) @ self.B
        damped = self.metric * (theta - self.centre)
        slope = eta + 2.0 * (1.0 - eta) * theta
        return newton + damped - 0.5 * found.multipliers @ self.forms + found.price * slope

    def _over(self, kernels: NDArray[np.intp], eta: float, tol: float) -> _Minimum:
        """The minimum with all other weights zero, and exact zeros where weights go there."""
        from mkldash.solvers._compiled_bundle import minimise_bundle

        forms = np.ascontiguousarray(self.forms[:, kernels])
        found, multipliers, reduced, price, steps, error = minimise_bundle(
            self.values, forms, np.ascontiguousarray(self.B[:, kernels]), self.target,
            self.metric[kernels], self.centre[kernels], eta, tol, _MOST_STEPS,
        )  # fmt: skip
        # Of a weight and its reduced cost one goes to zero; in doubt the weight stays.
        weight = found * (0.5 * float(forms.max()))
        dead = weight <= _CLEARLY * reduced * float(found.max())
        theta = np.zeros(self.centre.size)
        theta[kernels] = np.where(dead, 0.0, found)
        return _Minimum(theta, multipliers, float(price), int(steps), float(error))
