"""Randomized mirror descent over kernels that are drawn, not listed (Afkanpour et al. 2013)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mkldash.problems.problem import Problem
from mkldash.solvers._checks import check_choice, check_positive, check_whole
from mkldash.solvers._draws import adaptive_step, ideal_draw, take, uniform_draw
from mkldash.solvers._mirror import MirrorSolver, will_not_converge
from mkldash.solvers._mirror_map import MirrorMap
from mkldash.solvers._mirror_snapshot import Drawn, MirrorSnapshot
from mkldash.solvers._mirror_state import Iterate
from mkldash.solvers.base import option

__all__ = ["MirrorSnapshot", "RandomizedMirrorDescent", "will_not_converge"]

_RULES = ("recent", "adaptive", "theoretical")
_SAMPLINGS = ("ideal", "uniform")


@dataclass(frozen=True)
class RandomizedMirrorDescent(MirrorSolver):
    """One kernel is drawn at every step, likely where the gradient is large.

    Parameters
    ----------
    seed : int
        Of the draws.
    step : float
        Factor on the step of the rule.
    step_rule : {"recent", "adaptive", "theoretical"}
        Adaptive: eta_k = sqrt((r - 1) / sum of ||ghat_j||^2 up to k), which never
        forgets the large gradients of the first steps.  Recent: the same with
        the sum over the steps that the average covers, so that their regret has
        the same bound.  Theoretical: the constant sqrt(2 delta (r - 1) / (B T)),
        which is far too small in practice (MATH 1.2).
    horizon : int
        T of the theoretical step.
    sampling : {"ideal", "uniform"}
        Ideal: in proportion to the gradient (Algorithm 3).
    certify_every, search_nodes
        See `MirrorSolver`.

    References
    ----------
    A. Afkanpour, A. Gyorgy, C. Szepesvari and M. Bowling, "A randomized mirror
    descent algorithm for large scale multiple kernel learning", ICML 2013,
    Algorithms 1 to 3.
    """

    seed: int = option(
        0, "Seed of the draws", "the same seed gives the same draws", bounds=(0, 2**31 - 1), step=1
    )
    step: float = option(
        1.0, "Step factor", "a positive factor on the step of the rule", bounds=(1e-3, 1e3)
    )
    step_rule: str = option(
        "recent",
        "Step rule",
        "recent: from the gradients of the averaged steps; adaptive: from all gradients; "
        "theoretical: the constant of the proof, far too small",
        choices=_RULES,
    )
    horizon: int = option(
        2000,
        "Planned iterations",
        "for the theoretical step only",
        bounds=(1, 10_000_000),
        step=1,
    )
    sampling: str = option(
        "ideal",
        "Sampling",
        "ideal: in proportion to the gradient; uniform: every word alike",
        choices=_SAMPLINGS,
    )

    name: ClassVar[str] = "mirror-descent"
    title: ClassVar[str] = "Randomized mirror descent"
    reference: ClassVar[str] = "Afkanpour et al. 2013, Algorithms 1-3"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "seed", 0)
        check_whole(self, "horizon", 1)
        check_positive(self, "step")
        check_choice(self, "step_rule", _RULES)
        check_choice(self, "sampling", _SAMPLINGS)

    def _seed(self) -> int:
        return self.seed

    def _move(
        self, problem: Problem, geometry: MirrorMap, at: Iterate, rng: np.random.Generator
    ) -> Drawn:
        drawn = ideal_draw(at, rng) if self.sampling == "ideal" else uniform_draw(at, rng)
        at.see(drawn.gradient)
        return take(at, drawn, self._step_size(problem, geometry, at))

    def _step_size(self, problem: Problem, geometry: MirrorMap, at: Iterate) -> float:
        """eta of this step, MATH 1.2."""
        if self.step_rule != "theoretical":
            squares = at.recent_squares if self.step_rule == "recent" else at.squares
            return self.step * adaptive_step(geometry, squares)
        bound = self._second_moment(problem)
        if bound <= 0.0:
            return 0.0
        reach = 2.0 * geometry.diameter * (geometry.r - 1.0)
        return self.step * math.sqrt(reach / (bound * self.horizon))

    def _second_moment(self, problem: Problem) -> float:
        """B, with the value at theta = 0 for the supremum over the ball."""
        total = problem.family.total(problem.y)
        if self.sampling == "ideal":
            return total**2 / 4.0
        largest = problem.family.largest(problem.y, self.search_nodes).bound
        return float(problem.family.n_words) * total * largest / 4.0
