"""The extended level method over the kernel weights (Yang et al. 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mkldash.errors import InputError
from mkldash.problems.problem import Problem
from mkldash.solvers._cut_model import CutModel
from mkldash.solvers._cut_solver import CutSnapshot, CutSolver, Move
from mkldash.solvers.base import Snapshot, option

__all__ = ["LevelSet", "LevelSetSnapshot"]

#: Share of the gap by which a point may lie above the level.
_ABOVE_LEVEL = 1e-3


@dataclass(frozen=True, kw_only=True, eq=False)
class LevelSetSnapshot(CutSnapshot):
    """State after a cut.

    Attributes
    ----------
    level : float
        No cut is higher than this at the next weights.
    """

    level: float


@dataclass(frozen=True)
class LevelSet(CutSolver):
    """Cutting planes whose next weights are the nearest ones below a level of the model.

    Parameters
    ----------
    inner_tol : float or None
        Tolerance of each SVM solve; None ties it to the outer gap: 0.02 times
        the last relative gap, between 1e-10 and 1e-3.
    level_lambda : float
        Where the level lies between the lower bound, 0, and the upper one, 1.

    References
    ----------
    H. Yang, Z. Xu, J. Ye, I. King and M. R. Lyu, "Efficient sparse generalized multiple
    kernel learning", 2011: the extended level method.
    """

    level_lambda: float = option(
        0.5,
        "level lambda",
        "Level between the lower bound, 0, and the upper one, 1",
        bounds=(0.01, 0.99),
        slider=True,
    )
    name: ClassVar[str] = "level-set"
    title: ClassVar[str] = "Extended level method"
    reference: ClassVar[str] = "Yang et al. 2011"
    snapshot_type: ClassVar[type[Snapshot]] = LevelSetSnapshot
    reach: ClassVar[float] = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.level_lambda < 1.0:
            raise InputError(f"level_lambda must lie between 0 and 1, not {self.level_lambda!r}")

    def _next(self, problem: Problem, last: LevelSetSnapshot) -> Move:
        model = CutModel.of(last.cuts, problem.weight_set, last.upper)
        slack = _ABOVE_LEVEL * (last.upper - last.model_lower)
        found = model.nearest(last.weights.values, last.level, last.minimiser, slack)
        events: tuple[str, ...] = ()
        if found.failed:
            events = ("conic program failed: its point is moved towards the model's minimiser",)
        return Move(found.theta, found.steps, events)

    def _snapshot(self, fields: dict[str, Any]) -> CutSnapshot:
        upper, lower = fields["upper"], fields["model_lower"]
        level = (1.0 - self.level_lambda) * lower + self.level_lambda * upper
        return LevelSetSnapshot(**fields, level=level)
