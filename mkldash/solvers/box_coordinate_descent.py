"""Random coordinate descent on the box of weights: p = 2, one kernel at a time."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers._checks import check_whole
from mkldash.solvers._draws import uniform_draw
from mkldash.solvers._mirror import MirrorSolver
from mkldash.solvers._mirror_map import MirrorMap
from mkldash.solvers._mirror_snapshot import Drawn
from mkldash.solvers._mirror_state import Iterate
from mkldash.solvers.base import option

__all__ = ["BoxCoordinateDescent"]


@dataclass(frozen=True)
class BoxCoordinateDescent(MirrorSolver):
    """theta_i <- min(theta_i - g_i/L_i, 1) for a kernel i drawn uniformly.

    L_i bounds the curvature of J along theta_i from here on: it is
    a'K_i (K + I)^-1 K_i a, which only falls as theta_i grows, and that is at
    most trace(K_i) a'K_i a.  With g_i = -a'K_i a/2 the step is 1/(2 trace(K_i)).

    Parameters
    ----------
    seed : int
        Of the draws.
    certify_every, search_nodes
        See `MirrorSolver`.

    References
    ----------
    Y. Nesterov, "Efficiency of coordinate descent methods on huge-scale
    optimization problems", SIAM J. Optim. 2012, Section 2.
    """

    seed: int = option(
        0, "Seed of the draws", "the same seed gives the same draws", bounds=(0, 2**31 - 1), step=1
    )

    name: ClassVar[str] = "box-coordinate-descent"
    title: ClassVar[str] = "Coordinate descent on the box"
    reference: ClassVar[str] = "Nesterov 2012, Section 2"
    reach: ClassVar[float] = 1e-5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "seed", 0)

    def supports(self, problem: Problem) -> str | None:
        reason = super().supports(problem)
        if reason is None:
            assert isinstance(problem.weight_set, NormBall)
            if not math.isinf(problem.weight_set.nu):
                reason = "box-coordinate-descent needs p = 2, whose weights fill a box"
        return reason

    def _seed(self) -> int:
        return self.seed

    def _move(
        self, problem: Problem, geometry: MirrorMap, at: Iterate, rng: np.random.Generator
    ) -> Drawn:
        drawn = uniform_draw(at, rng)
        position = at.position(drawn.key)
        trace = _trace(at, drawn)
        before = float(at.theta[position])
        step = 1.0 / (2.0 * trace) if trace > 0.0 else 1.0
        at.move(position, min(before + step, 1.0))
        return dataclasses.replace(drawn, gradient=0.5 * drawn.value, step=step)


def _trace(at: Iterate, drawn: Drawn) -> float:
    """Trace of the kernel drawn."""
    features = at.family.features((drawn.key,))
    if features is not None:
        return float((features**2).sum())
    return float(np.trace(at.family.gram(drawn.key)))
