"""Projected gradient descent with a line search for the curvature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.problem import Problem
from mkldash.solvers._gradient import (
    GradientSnapshot,
    GradientSolver,
    eased,
    progress,
    refreshed,
    search,
)
from mkldash.solvers._one_kernel import OneKernel
from mkldash.solvers.base import CANCELLED, Snapshot, WarmStart

__all__ = ["ConstrainedGradientDescent", "GradientSnapshot"]


@dataclass(frozen=True)
class ConstrainedGradientDescent(GradientSolver):
    """alpha <- project(alpha - f'(alpha) / g), with g found by doubling.

    f never rises, and after N steps f - f* <= ||alpha_0 - alpha*||^2 / (2 sum 1/g).
    One product with the matrix and one projection per trial; `inner_solves`
    counts the trials, plus one for the start.

    References
    ----------
    J. Liu, J. Chen, S. Chen and J. Ye, "Learning the optimal neighborhood
    kernel for classification", IJCAI 2009, Algorithm 2.
    """

    name: ClassVar[str] = "gradient"
    title: ClassVar[str] = "Constrained gradient descent"
    reference: ClassVar[str] = "Liu et al. 2009, Algorithm 2"
    snapshot_type: ClassVar[type[Snapshot]] = GradientSnapshot

    def _iterate(
        self,
        problem: Problem,
        resume: Snapshot | None,
        warm: WarmStart | None,
        cancel: NDArray[np.uint8],
    ) -> Iterator[Snapshot]:
        kernel = OneKernel.of(problem)
        assert resume is None or isinstance(resume, GradientSnapshot)
        last = resume
        if last is None:
            last = GradientSnapshot(**self._begin(kernel, warm))
            yield last
        while cancel[0] != CANCELLED:
            first = eased(last.curvature, last.needed, self.shrink)
            step = search(kernel, last.alpha, last.decision, first, self.growth, cancel)
            if cancel[0] == CANCELLED:
                return
            if step.accepted and np.array_equal(step.alpha, last.alpha):
                return
            alpha, decision = last.alpha, last.decision
            if step.accepted:
                alpha = step.alpha
                decision = refreshed(kernel, last.iteration + 1, alpha, decision + step.change)
            last = GradientSnapshot(
                **kernel.certified(last, alpha, decision), **progress(last, step)
            )
            yield last
