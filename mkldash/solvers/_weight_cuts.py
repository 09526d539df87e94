"""The reduced cost J seen through its tangents over the kernel weights.

J(theta) = max over a of the saddle-point function is convex in theta, and each
feasible a gives a plane below it: intercept - forms'theta / 2 (MATH 0.8, 8.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.base import WeightSet
from mkldash.solvers._bank_step import Evaluation

Array = NDArray[np.float64]

__all__ = ["WeightCut", "certified_minimum", "cut_of", "stacked"]


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightCut:
    """J(theta) >= intercept - forms'theta / 2.  Snapshots share it; read-only.

    Attributes
    ----------
    iteration : int
        Where it was taken.
    intercept : float
        -L*(a) - ||a||^4 / (8 rho).
    forms : array, shape (n_kernels,)
        a' K_k a; with factored storage plus what it may have left out, so that the
        plane lies below the J of the exact kernels.
    """

    iteration: int
    intercept: float
    forms: Array

    def __post_init__(self) -> None:
        if self.forms.flags.writeable:
            forms = self.forms.copy()
            forms.flags.writeable = False
            object.__setattr__(self, "forms", forms)

    def value(self, theta: Array) -> float:
        """Height of the plane at `theta`."""
        return self.intercept - 0.5 * float(self.forms @ theta)


def cut_of(problem: Problem, found: Evaluation, iteration: int) -> WeightCut:
    """The plane that the dual coefficients of an SVM solve give."""
    alpha, forms = found.svm.alpha, found.dual.support.quadratic_forms
    square = float(alpha @ alpha)
    residuals = problem.bank.residuals
    if residuals.any():
        forms = forms + residuals * square
    intercept = float(alpha.sum())
    if math.isfinite(problem.rho):
        intercept -= square**2 / (8.0 * problem.rho)
    return WeightCut(iteration=iteration, intercept=intercept, forms=forms)


def stacked(cuts: Sequence[WeightCut]) -> tuple[Array, Array]:
    """Intercepts, shape (n_cuts,), and forms, shape (n_cuts, n_kernels)."""
    return np.array([cut.intercept for cut in cuts]), np.array([cut.forms for cut in cuts])


def certified_minimum(
    intercepts: Array, forms: Array, multipliers: Array, weight_set: WeightSet
) -> float:
    """A lower bound on the least height of the cuts over the set, and so on the optimum.

    An average of planes lies nowhere above their maximum, and its minimum over the set
    is exact: so the bound holds however rough the multipliers are, and is the model's
    minimum itself at the right ones (MATH 9).

    Parameters
    ----------
    intercepts : array, shape (n_cuts,)
    forms : array, shape (n_cuts, n_kernels)
    multipliers : array, shape (n_cuts,)
        Not negative; need not have sum one.
    weight_set : WeightSet
    """
    total = float(multipliers.sum())
    if not (np.isfinite(multipliers).all() and total > 0.0):
        return -math.inf
    share = multipliers / total
    return float(share @ intercepts) - 0.5 * weight_set.maximise(share @ forms)[1]
