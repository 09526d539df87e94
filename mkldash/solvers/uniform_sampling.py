"""Mirror descent with kernels drawn uniformly: what ideal sampling is measured against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mkldash.problems.problem import Problem
from mkldash.solvers._checks import check_positive, check_whole
from mkldash.solvers._draws import adaptive_step, take, uniform_draw
from mkldash.solvers._mirror import MirrorSolver
from mkldash.solvers._mirror_map import MirrorMap
from mkldash.solvers._mirror_snapshot import Drawn
from mkldash.solvers._mirror_state import Iterate
from mkldash.solvers.base import option

__all__ = ["UniformSampling"]


@dataclass(frozen=True)
class UniformSampling(MirrorSolver):
    """Mirror descent with every word equally likely, and the step rule "recent".

    Parameters
    ----------
    seed : int
        Of the draws.
    step : float
        Factor on the step.
    certify_every, search_nodes
        See `MirrorSolver`.

    References
    ----------
    Y. Nesterov, "Efficiency of coordinate descent methods on huge-scale
    optimization problems", SIAM J. Optim. 2012, for sampling; the steps are
    those of Afkanpour et al. 2013.
    """

    seed: int = option(
        0, "Seed of the draws", "the same seed gives the same draws", bounds=(0, 2**31 - 1), step=1
    )
    step: float = option(
        1.0, "Step factor", "a positive factor on the step of the rule", bounds=(1e-3, 1e3)
    )

    name: ClassVar[str] = "uniform-sampling"
    title: ClassVar[str] = "Mirror descent, uniform sampling"
    reference: ClassVar[str] = "Afkanpour et al. 2013, Section 3, against Nesterov 2012"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "seed", 0)
        check_positive(self, "step")

    def _seed(self) -> int:
        return self.seed

    def _move(
        self, problem: Problem, geometry: MirrorMap, at: Iterate, rng: np.random.Generator
    ) -> Drawn:
        drawn = uniform_draw(at, rng)
        at.see(drawn.gradient)
        return take(at, drawn, self.step * adaptive_step(geometry, at.recent_squares))
