"""Cutting planes over the kernel weights (Yang et al. 2011; Sonnenburg et al. 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mkldash.problems.problem import Problem
from mkldash.solvers._cut_solver import CutSnapshot, CutSolver, Move
from mkldash.solvers.base import Snapshot

__all__ = ["CuttingPlane", "CuttingPlaneSnapshot"]


class CuttingPlaneSnapshot(CutSnapshot):
    """State after a cut; `minimiser` is where the next SVM is solved."""


@dataclass(frozen=True)
class CuttingPlane(CutSolver):
    """Each SVM solve gives a plane below the reduced cost; the next weights minimise them all.

    At eta = 1 the model's minimum is the linear program of SILP, else a conic one.

    Parameters
    ----------
    inner_tol : float or None
        Tolerance of each SVM solve; None ties it to the outer gap: 0.02 times
        the last relative gap, between 1e-10 and 1e-3.

    References
    ----------
    H. Yang, Z. Xu, J. Ye, I. King and M. R. Lyu, "Efficient sparse generalized multiple
    kernel learning", 2011: the cutting-plane method.
    S. Sonnenburg, G. Raetsch, C. Schaefer and B. Schoelkopf, "Large scale multiple kernel
    learning", 2006: the semi-infinite linear program.
    """

    name: ClassVar[str] = "cutting-plane"
    title: ClassVar[str] = "Cutting planes"
    reference: ClassVar[str] = "Yang et al. 2011; SILP of Sonnenburg et al. 2006 at eta = 1"
    snapshot_type: ClassVar[type[Snapshot]] = CuttingPlaneSnapshot
    reach: ClassVar[float] = 1e-6

    def _next(self, problem: Problem, last: CutSnapshot) -> Move:
        return Move(last.minimiser)

    def _snapshot(self, fields: dict[str, Any]) -> CutSnapshot:
        return CuttingPlaneSnapshot(**fields)
