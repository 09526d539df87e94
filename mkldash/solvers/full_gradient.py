"""Mirror descent with the whole gradient: every kernel is listed at every step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mkldash.kernels.family import Key
from mkldash.problems.problem import Problem
from mkldash.solvers._checks import check_positive
from mkldash.solvers._draws import adaptive_step
from mkldash.solvers._mirror import MirrorSolver
from mkldash.solvers._mirror_map import MirrorMap
from mkldash.solvers._mirror_snapshot import Drawn
from mkldash.solvers._mirror_state import Iterate
from mkldash.solvers.base import option

__all__ = ["FullGradient"]

#: Kernels beyond which listing them at every step makes no sense.
MOST_KERNELS = 200_000


@dataclass(frozen=True)
class FullGradient(MirrorSolver):
    """The same mirror steps without sampling, for families that can be listed.

    Parameters
    ----------
    step : float
        Factor on the step of the rule "recent" (see mirror descent).
    certify_every, search_nodes
        See `MirrorSolver`.
    """

    step: float = option(
        1.0, "Step factor", "a positive factor on the step of the rule", bounds=(1e-3, 1e3)
    )

    name: ClassVar[str] = "full-gradient"
    title: ClassVar[str] = "Mirror descent, full gradient"
    reference: ClassVar[str] = "Afkanpour et al. 2013, Section 2 (without sampling)"
    one_at_a_time: ClassVar[bool] = False
    reach: ClassVar[float] = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "step")

    def supports(self, problem: Problem) -> str | None:
        reason = super().supports(problem)
        if reason is None and problem.family.size > MOST_KERNELS:
            reason = (
                f"full-gradient lists every kernel at every step, and there are "
                f"{problem.family.size:,} (at most {MOST_KERNELS:,}); take mirror-descent, "
                "or a lower degree"
            )
        return reason

    def _keys(self, problem: Problem) -> tuple[Key, ...]:
        return problem.family.keys()

    def _move(
        self, problem: Problem, geometry: MirrorMap, at: Iterate, rng: np.random.Generator
    ) -> Drawn:
        family = at.family
        gradient = 0.5 * family.all_forms(at.ridge.a)
        size = geometry.gradient_norm(gradient)
        at.see(size)
        eta = self.step * adaptive_step(geometry, at.recent_squares)
        totals = family.degree_totals(at.ridge.a)
        at.step_all(eta * gradient)
        total = float(totals.sum())
        return Drawn(
            total=total,
            degree_law=totals / total if total > 0.0 else np.full(totals.size, math.nan),
            position_laws=np.empty((0, family.n_base)),
            gradient=size,
            step=eta,
        )
