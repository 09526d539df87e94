"""Projected gradient steps from extrapolated points."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.problem import Problem
from mkldash.solvers._gradient import (
    GradientSnapshot,
    GradientSolver,
    Step,
    eased,
    progress,
    refreshed,
    search,
)
from mkldash.solvers._one_kernel import OneKernel
from mkldash.solvers.base import CANCELLED, Snapshot, WarmStart

Array = NDArray[np.float64]

__all__ = ["AcceleratedGradient", "AcceleratedSnapshot"]

_RESTARTED = "momentum restarted: step against the gradient"


@dataclass(frozen=True, kw_only=True, eq=False)
class AcceleratedSnapshot(GradientSnapshot):
    """State of the accelerated method.

    Attributes
    ----------
    point : array, shape (n_rows,)
        Where the next step goes from: alpha, carried on beyond by the momentum;
        it may lie outside the feasible set.
    point_decision : array, shape (n_rows,)
        K (y point).
    momentum : float
        t of the sequence 1, (1 + sqrt 5)/2, ...; 1 after a restart.
    restarts : int
        So far.
    """

    point: Array
    point_decision: Array
    momentum: float
    restarts: int


@dataclass(frozen=True)
class AcceleratedGradient(GradientSolver):
    """Nesterov's method; its momentum starts anew when it points uphill.

    f may rise; M steps after a restart at x, f - f* <= 2 g ||x - alpha*||^2 / (M + 1)^2
    with g the curvature of the last step.  One product with the matrix and one
    projection per trial; `inner_solves` counts the trials, plus one for the start.

    References
    ----------
    Y. Nesterov, "A method of solving a convex programming problem with
    convergence rate O(1/k^2)", Soviet Mathematics Doklady 27, 1983; named as
    future work by Liu et al. 2009.  B. O'Donoghue and E. Candes, "Adaptive
    restart for accelerated gradient schemes", Foundations of Computational
    Mathematics 15, 2015, section 3.2 (gradient scheme).
    """

    name: ClassVar[str] = "accelerated"
    title: ClassVar[str] = "Accelerated gradient"
    reference: ClassVar[str] = "Nesterov 1983, restarts of O'Donoghue and Candes 2015"
    snapshot_type: ClassVar[type[Snapshot]] = AcceleratedSnapshot

    def _iterate(
        self,
        problem: Problem,
        resume: Snapshot | None,
        warm: WarmStart | None,
        cancel: NDArray[np.uint8],
    ) -> Iterator[Snapshot]:
        kernel = OneKernel.of(problem)
        assert resume is None or isinstance(resume, AcceleratedSnapshot)
        last = resume
        if last is None:
            begun = self._begin(kernel, warm)
            last = AcceleratedSnapshot(
                **begun, point=begun["alpha"], point_decision=begun["decision"],
                momentum=1.0, restarts=0,
            )  # fmt: skip
            yield last
        while cancel[0] != CANCELLED:
            first = last.curvature
            if last.momentum == 1.0:
                # Only where a sequence of momenta starts: the proof of the rate needs a
                # curvature that does not fall within it.
                first = eased(first, last.needed, self.shrink)
            step = search(kernel, last.point, last.point_decision, first, self.growth, cancel)
            if cancel[0] == CANCELLED:
                return
            if step.accepted and _still(last, step):
                return
            last = _moved(kernel, last, step) if step.accepted else _stayed(kernel, last, step)
            yield last


def _still(last: AcceleratedSnapshot, step: Step) -> bool:
    """Whether nothing moves any more, neither alpha nor the point beyond it."""
    return np.array_equal(step.alpha, last.alpha) and np.array_equal(step.alpha, last.point)


def _stayed(kernel: OneKernel, last: AcceleratedSnapshot, step: Step) -> AcceleratedSnapshot:
    """The state when time was up before a curvature was accepted."""
    return AcceleratedSnapshot(
        **kernel.certified(last, last.alpha, last.decision), **progress(last, step),
        point=last.point, point_decision=last.point_decision,
        momentum=last.momentum, restarts=last.restarts,
    )  # fmt: skip


def _moved(kernel: OneKernel, last: AcceleratedSnapshot, step: Step) -> AcceleratedSnapshot:
    """The state after an accepted step, and the point from which the next one goes."""
    iteration = last.iteration + 1
    alpha = step.alpha
    decision = refreshed(kernel, iteration, alpha, last.point_decision + step.change)
    fields = {**kernel.certified(last, alpha, decision), **progress(last, step)}
    advance = alpha - last.alpha
    # By the gradient, never by the value of f: near the optimum a rise of f is
    # rounding noise, and restarts on noise can go on for ever.
    if float((last.point - alpha) @ advance) > 0.0:
        fields["events"] += (_RESTARTED,)
        return AcceleratedSnapshot(
            **fields, point=alpha, point_decision=decision,
            momentum=1.0, restarts=last.restarts + 1,
        )  # fmt: skip
    momentum = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * last.momentum**2))
    share = (last.momentum - 1.0) / momentum
    point = alpha + share * advance
    beyond = decision + share * (decision - last.decision)
    return AcceleratedSnapshot(
        **fields, point=point, point_decision=refreshed(kernel, iteration, point, beyond),
        momentum=momentum, restarts=last.restarts,
    )  # fmt: skip
