"""The optimal neighborhood kernel as a support vector machine on K + c I."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.problems.problem import Problem
from mkldash.solvers._one_kernel import OneKernel, OneKernelSnapshot, OneKernelSolver
from mkldash.solvers.base import CANCELLED, Snapshot, WarmStart, option
from mkldash.solvers.svm import solve_shifted

__all__ = ["ShiftedSVM", "ShiftedSnapshot"]

#: Where rounding of the margin is met.
_TIGHTEST = 1e-15


@dataclass(frozen=True, kw_only=True, eq=False)
class ShiftedSnapshot(OneKernelSnapshot):
    """State of the shifted support vector machine.

    Attributes
    ----------
    svm_steps : int
        Pair updates of this iteration.
    svm_tolerance, svm_violation : float
        Asked for and reached, in units of the margin.
    """

    svm_steps: int
    svm_tolerance: float
    svm_violation: float


@dataclass(frozen=True)
class ShiftedSVM(OneKernelSolver):
    """One SMO whose diagonal shift follows alpha at every pair step.

    Each iteration tightens the tolerance by `factor` and goes on where the last
    one stopped; bounds are certified in between.

    Parameters
    ----------
    first_tol : float
        Violation of the margin at which the first iteration stops.
    factor : float
        Tolerance of an iteration over that of the one before, below 1.

    References
    ----------
    J. Liu, J. Chen, S. Chen and J. Ye, "Learning the optimal neighborhood
    kernel for classification", IJCAI 2009, eq. 7; that its optimum is that of a
    support vector machine on K + c I with c = ||alpha||^2 / (2 rho) follows
    from the gradient.
    """

    first_tol: float = option(
        1e-1, "first tolerance", "Margin violation at which iteration 0 stops", bounds=(1e-6, 1.0)
    )
    factor: float = option(
        0.1, "tolerance factor", "Tolerance of an iteration over the last one", bounds=(1e-3, 0.9)
    )
    name: ClassVar[str] = "shifted-svm"
    title: ClassVar[str] = "Shifted SVM"
    reference: ClassVar[str] = "Liu et al. 2009, eq. 7, as an SVM on K + cI"
    snapshot_type: ClassVar[type[Snapshot]] = ShiftedSnapshot

    def __post_init__(self) -> None:
        if not (math.isfinite(self.first_tol) and self.first_tol > 0.0):
            raise InputError(f"first_tol must be a positive number, not {self.first_tol!r}")
        if not 0.0 < self.factor < 1.0:
            raise InputError(f"factor must lie between 0 and 1, not {self.factor!r}")

    def _iterate(
        self,
        problem: Problem,
        resume: Snapshot | None,
        warm: WarmStart | None,
        cancel: NDArray[np.uint8],
    ) -> Iterator[Snapshot]:
        kernel = OneKernel.of(problem)
        assert resume is None or isinstance(resume, ShiftedSnapshot)
        last, alpha = resume, kernel.start(warm)
        while cancel[0] != CANCELLED:
            if last is not None and last.svm_tolerance <= _TIGHTEST:
                return
            tol = self.first_tol if last is None else last.svm_tolerance * self.factor
            svm = solve_shifted(
                kernel.K, problem.y, problem.loss.C, problem.rho,
                alpha=alpha if last is None else last.alpha,
                decision=None if last is None else last.decision,
                tol=max(tol, _TIGHTEST), cancel=cancel,
            )  # fmt: skip
            if cancel[0] == CANCELLED:
                return
            last = ShiftedSnapshot(
                **kernel.certified(last, svm.alpha, svm.decision),
                inner_solves=1 if last is None else last.inner_solves + 1,
                svm_steps=svm.steps,
                svm_tolerance=max(tol, _TIGHTEST),
                svm_violation=svm.violation,
            )
            yield last
