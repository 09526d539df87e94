"""What the gradient methods for one kernel share: the step, its test, its snapshot.

A step from x with curvature g goes to z = project(x - f'(x) / g).  With dz = z - x
and dl = ||z||^2 - ||x||^2 = 2 x'dz + ||dz||^2 it is accepted when the quadratic of
curvature g lies above f at z, which is

    1/2 (y dz)'K (y dz) + (2 ||x||^2 ||dz||^2 + dl^2) / (8 rho)  <=  g/2 ||dz||^2.

That is Liu et al. 2009, eq. 13, without a difference of values of f: near the
optimum those agree in all their digits, and the difference is only noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.problems.projection import project
from mkldash.solvers._one_kernel import OneKernel, OneKernelSnapshot, OneKernelSolver
from mkldash.solvers.base import WarmStart, option

Array = NDArray[np.float64]

__all__ = [
    "REFRESH",
    "GradientSnapshot",
    "GradientSolver",
    "Step",
    "eased",
    "first_curvature",
    "multiply",
    "progress",
    "refreshed",
    "search",
]

#: K a is made afresh at every such iteration.  In between it is the last one plus
#: the step's product, whose rounding errors add up, and the bounds are made of it.
REFRESH = 50

#: No step asks for more than this many times C in any coefficient: the box ends
#: long before, and the multiplier of the projection would lose its digits.
_FAR = 1e3


@dataclass(frozen=True, kw_only=True, eq=False)
class GradientSnapshot(OneKernelSnapshot):
    """State of a gradient method.

    Attributes
    ----------
    curvature : float
        g of this iteration's step; its length is 1/g.
    needed : float
        The least g with which that step would have been accepted.
    trials : int
        Projections that this iteration's line search tried.
    target : array, shape (n_rows,)
        x - f'(x)/g, whose projection is alpha; alpha itself at iteration 0.
    multiplier : float
        The root that the projection found (`Projection.shift`).
    """

    curvature: float
    needed: float
    trials: int
    target: Array
    multiplier: float


@dataclass(frozen=True)
class GradientSolver(OneKernelSolver):
    """Base of the gradient methods, with the options of their line search.

    Parameters
    ----------
    first_curvature : float or None
        Where the line search begins; None for `first_curvature`'s guess.
    growth : float
        Factor on the curvature after a rejected step, above 1.
    shrink : float
        Factor by which it may fall, as often as the last step allowed; 1 keeps
        it from falling.
    """

    first_curvature: float | None = option(
        None,
        "first curvature",
        "Where the line search begins; empty for a guess from two numbers of the kernel",
        bounds=(1e-6, 1e6),
    )
    growth: float = option(
        2.0, "growth", "Factor on the curvature after a rejected step", bounds=(1.1, 10.0)
    )
    shrink: float = option(
        0.5, "shrink", "Factor by which the curvature may fall; 1 never lets it", bounds=(0.1, 1.0)
    )

    def __post_init__(self) -> None:
        first = self.first_curvature
        if first is not None and not (math.isfinite(first) and first > 0.0):
            raise InputError(f"first_curvature must be a positive number or None, not {first!r}")
        if not (math.isfinite(self.growth) and self.growth > 1.0):
            raise InputError(f"growth must be a number above 1, not {self.growth!r}")
        if not 0.0 < self.shrink <= 1.0:
            raise InputError(f"shrink must be above 0 and at most 1, not {self.shrink!r}")

    def _begin(self, kernel: OneKernel, warm: WarmStart | None) -> dict[str, Any]:
        """The fields of the `GradientSnapshot` of iteration 0."""
        alpha = kernel.start(warm)
        decision = multiply(kernel, alpha)
        curvature = self.first_curvature
        if curvature is None:
            curvature = first_curvature(kernel, alpha, decision)
        return {
            **kernel.certified(None, alpha, decision),
            "inner_solves": 1,
            "curvature": curvature,
            "needed": curvature,
            "trials": 0,
            "target": alpha,
            "multiplier": 0.0,
        }


@dataclass(frozen=True, eq=False)
class Step:
    """What a line search found.

    Attributes
    ----------
    accepted : bool
        False when it was told to end before it found an appropriate curvature.
    alpha : array, shape (n_rows,)
        Where the last trial led.
    change : array, shape (n_rows,)
        K (y dz) of that trial.
    curvature : float
        Its g; where to go on, when not accepted.
    needed, trials, target, multiplier
        See `GradientSnapshot`.
    """

    accepted: bool
    alpha: Array
    change: Array
    curvature: float
    needed: float
    trials: int
    target: Array
    multiplier: float


def multiply(kernel: OneKernel, alpha: Array) -> Array:
    """K (y alpha), shape (n_rows,)."""
    # Imported here: compiled code must not load with the module.
    from mkldash.kernels._compiled_square import symmetric_product

    return np.asarray(symmetric_product(kernel.K, kernel.problem.signed(alpha)))


def search(
    kernel: OneKernel,
    point: Array,
    decision: Array,
    curvature: float,
    growth: float,
    cancel: NDArray[np.uint8],
) -> Step:
    """A projected gradient step from `point` with the first curvature that is accepted.

    Parameters
    ----------
    kernel : OneKernel
    point, decision : array, shape (n_rows,)
        Where from, feasible or not, and K (y point).
    curvature : float
        Tried first.
    growth : float
        Factor on it after each rejection.
    cancel : array of uint8, shape (1,)
        Once set, the search ends after the trial it is at.

    Returns
    -------
    Step
    """
    problem = kernel.problem
    gradient = kernel.gradient(point, decision)
    least = _least_curvature(gradient, problem.loss.C)
    curvature, trials = max(curvature, least), 0
    square = float(point @ point)
    while True:
        trials += 1
        target = point - gradient / curvature
        found = project(target, problem.y, problem.loss.C)
        step = found.x - point
        change = multiply(kernel, step)
        length = float(step @ step)
        if length == 0.0:
            needed = curvature
        else:
            form = float(problem.signed(step) @ change)
            needed = _needed(form, square, float(point @ step), length, problem.rho)
        # What is not a number is accepted: the driver sees it, and no loop would end it.
        accepted = not needed > curvature
        if not accepted:
            curvature *= growth
        if accepted or cancel[0]:
            return Step(
                accepted=accepted, alpha=found.x, change=change, curvature=curvature,
                needed=max(needed, least), trials=trials, target=target, multiplier=found.shift,
            )  # fmt: skip


def _needed(form: float, square: float, inner: float, length: float, rho: float) -> float:
    """The least g that accepts a step with (y dz)'K (y dz), ||x||^2, x'dz and ||dz||^2."""
    dl = 2.0 * inner + length
    return (form + (2.0 * square * length + dl * dl) / (4.0 * rho)) / length


def _least_curvature(gradient: Array, C: float) -> float:
    return float(np.abs(gradient).max()) / (_FAR * C)


def eased(curvature: float, needed: float, shrink: float) -> float:
    """`curvature` times `shrink`, as often as that is no less than `needed`.

    The paper halves before it doubles; halving only as far as the last step
    would have allowed saves most of the products of steps that are rejected.
    """
    if shrink < 1.0:
        while curvature * shrink >= needed:
            curvature *= shrink
    return curvature


def first_curvature(kernel: OneKernel, alpha: Array, decision: Array) -> float:
    """A guess at the curvature, for one product with the matrix.

    The larger of the mean of K's diagonal and of d'YKYd / d'd along the steepest
    feasible direction d: both are at most the largest eigenvalue.  Doubled until
    a step along d, no longer than the feasible set, passes the test; that adds
    the quartic term, and takes no product.

    Parameters
    ----------
    kernel : OneKernel
    alpha, decision : array, shape (n_rows,)
        A point and K (y alpha).

    Returns
    -------
    float
        Positive.
    """
    problem = kernel.problem
    gradient, y, n = kernel.gradient(alpha, decision), problem.y, problem.n_rows
    direction = (float(gradient @ y) / n) * y - gradient
    length = float(direction @ direction)
    if length == 0.0:  # one class, or nothing to descend: any curvature is accepted
        return 1.0
    form = float(problem.signed(direction) @ multiply(kernel, direction))
    diagonal = float(np.trace(kernel.K)) / n
    curvature = max(form / length, diagonal, _least_curvature(gradient, problem.loss.C))
    across = problem.loss.C * math.sqrt(n / length)
    square, inner = float(alpha @ alpha), float(alpha @ direction)
    while True:
        s = min(1.0 / curvature, across)
        needed = _needed(s * s * form, square, s * inner, s * s * length, problem.rho)
        if not needed > curvature:
            return curvature
        curvature *= 2.0


def progress(last: GradientSnapshot, step: Step) -> dict[str, Any]:
    """The fields that `GradientSnapshot` adds, and counters and events, after `step`.

    A step that was not accepted leaves alpha, and so its target, where they were.
    """
    events: tuple[str, ...] = ()
    if step.curvature > last.curvature:
        events = (
            f"line search: curvature raised from {last.curvature:.1e} to {step.curvature:.1e}",
        )
    return {
        "inner_solves": last.inner_solves + step.trials,
        "events": events,
        "curvature": step.curvature,
        "needed": step.needed,
        "trials": step.trials,
        "target": step.target if step.accepted else last.target,
        "multiplier": step.multiplier if step.accepted else last.multiplier,
    }


def refreshed(kernel: OneKernel, iteration: int, alpha: Array, decision: Array) -> Array:
    """`decision`, which is K (y alpha) by adding up, made afresh every `REFRESH` iterations."""
    return multiply(kernel, alpha) if iteration % REFRESH == 0 else decision
