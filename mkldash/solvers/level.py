"""The level method for the optimal neighborhood kernel (Liu et al. 2009, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.solvers._cutting_planes import Cut, Minimum, Model
from mkldash.solvers._one_kernel import OneKernel, OneKernelSnapshot, OneKernelSolver
from mkldash.solvers._recovery import recovered
from mkldash.solvers.base import CANCELLED, Snapshot, WarmStart, option

Array = NDArray[np.float64]

__all__ = ["Cut", "LevelMethod", "LevelSnapshot"]

#: Share of the model's gap by which a point may lie above the level.
_ABOVE_LEVEL = 1e-3
#: Relative gap that rounding leaves.
_ROUNDING = 1e-14
#: Iterations without any progress of the gap after which there will be none, and as
#: many when each of them also saw its quadratic program fail.
_PATIENCE, _PATIENCE_FAILING = 50, 10


@dataclass(frozen=True, kw_only=True, eq=False)
class LevelSnapshot(OneKernelSnapshot):
    """State of Algorithm 1.

    Attributes
    ----------
    level : float
        The next point lies where the model of -f is not below it.  Like all
        bounds on the scale of the objective: minus the paper's l.
    model_upper : float
        Upper bound from the model: minus its minimum; infinite when storage is
        not exact, since the tangents are then those of another kernel.  `upper`
        is the primal value of `best` and may lie on either side.
    model_minimum : float
        The highest certified lower bound on the model's minimum so far, on the
        paper's scale.
    cuts : tuple of Cut
        The tangents of the model, oldest first.
    multipliers : array, shape (n_cuts,)
        Share of each in the model's minimum; zero for the inactive ones.
    halving_gap : float
        The model's gap when it last fell to half.
    dropped : int
        Cuts dropped in this iteration.
    idle : int
        Iterations since the model's gap last became smaller.
    failures : int
        Iterations in a row, up to this one, whose quadratic program failed.
    lp_iterations, qp_iterations : int
        Simplex steps, and changes of the active set, of this iteration.
    """

    level: float
    model_upper: float
    model_minimum: float
    cuts: tuple[Cut, ...]
    multipliers: Array
    halving_gap: float
    dropped: int
    idle: int
    failures: int
    lp_iterations: int
    qp_iterations: int

    @property
    def least(self) -> float:
        """Least value of f so far, on the paper's scale."""
        return min(cut.value for cut in self.cuts)

    @property
    def model_gap(self) -> float:
        """The paper's gap: least value of f minus the model's minimum."""
        return self.least - self.model_minimum


@dataclass(frozen=True)
class LevelMethod(OneKernelSolver):
    """Cutting planes whose next point is a projection onto a level set of the model.

    Parameters
    ----------
    tau : float
        Where the level lies between the model's minimum, 0, and the least value
        found, 1.
    drop_cuts : bool
        Right after the gap has halved, forget the cuts that do not hold the
        model's minimum up.

    References
    ----------
    J. Liu, J. Chen, S. Chen and J. Ye, "Learning the optimal neighborhood
    kernel for classification", IJCAI 2009, Algorithm 1 and eqs. 8 to 10.
    """

    tau: float = option(
        0.5,
        "level tau",
        "Level between the model's minimum, 0, and the least value found, 1",
        bounds=(0.01, 0.99),
        slider=True,
    )
    drop_cuts: bool = option(
        True, "drop cuts", "Forget inactive cuts right after the gap has halved"
    )
    name: ClassVar[str] = "level"
    title: ClassVar[str] = "Level method"
    reference: ClassVar[str] = "Liu et al. 2009, Algorithm 1"
    snapshot_type: ClassVar[type[Snapshot]] = LevelSnapshot

    def __post_init__(self) -> None:
        if not 0.0 < self.tau < 1.0:
            raise InputError(f"tau must lie between 0 and 1, not {self.tau!r}")

    def _iterate(
        self,
        problem: Problem,
        resume: Snapshot | None,
        warm: WarmStart | None,
        cancel: NDArray[np.uint8],
    ) -> Iterator[Snapshot]:
        kernel = OneKernel.of(problem)
        assert resume is None or isinstance(resume, LevelSnapshot)
        last = resume
        if last is None:
            last = self._evaluate(kernel, None, _Step(_start(kernel, warm)), cancel)
            yield last
        while cancel[0] != CANCELLED and not _finished(last):
            step = _next_point(kernel, last)
            if step is None or np.array_equal(step.alpha, last.alpha):
                return
            last = self._evaluate(kernel, last, step, cancel)
            if cancel[0] == CANCELLED:
                return
            yield last

    def _evaluate(
        self, kernel: OneKernel, last: LevelSnapshot | None, step: _Step, cancel: NDArray[np.uint8]
    ) -> LevelSnapshot:
        """f and its tangent at the new point, the model's minimum, the next level."""
        problem, alpha = kernel.problem, step.alpha
        decision = kernel.decision(alpha)
        cut = Cut(
            iteration=0 if last is None else last.iteration + 1,
            alpha=alpha,
            value=kernel.objective(alpha, decision),
            gradient=kernel.gradient(alpha, decision),
        )
        cuts = (cut,) if last is None else (*last.cuts, cut)
        least = min(cut.value for cut in cuts)
        events = list(step.events)
        model = Model.of(cuts, problem.y, kernel.box)
        # With the time up, any average of the tangents still certifies a bound.
        found = None if cancel[0] else model.minimise()
        solved = found is not None
        if found is None:
            found = Minimum(np.eye(len(cuts))[-1], alpha, 0)
            if not cancel[0]:
                events.append("linear program failed: the model's bound waits")
        minimum = model.bound(found.multipliers)
        if last is not None:
            minimum = max(minimum, last.model_minimum)
        gap = least - minimum
        kept, halving_gap = self._kept(cuts, found.multipliers, last, gap, solved)
        if kept.size < len(cuts):
            events.append(f"gap halved: {len(cuts) - kept.size} of {len(cuts)} cuts dropped")
        exact = not problem.bank.residuals.any()
        others = recovered(kernel, cuts, found.multipliers) if solved else ()
        return LevelSnapshot(
            **kernel.certified(last, cut.alpha, decision, others),
            inner_solves=1 if last is None else last.inner_solves + 1,
            events=tuple(events),
            level=-(self.tau * least + (1.0 - self.tau) * minimum),
            model_upper=-minimum if exact else np.inf,
            model_minimum=minimum,
            cuts=tuple(cuts[j] for j in kept),
            multipliers=found.multipliers[kept],
            halving_gap=halving_gap,
            dropped=len(cuts) - kept.size,
            idle=0 if last is None or gap < last.model_gap else last.idle + 1,
            failures=last.failures + 1 if last is not None and step.failed else 0,
            lp_iterations=found.iterations,
            qp_iterations=step.iterations,
        )

    def _kept(
        self,
        cuts: tuple[Cut, ...],
        multipliers: Array,
        last: LevelSnapshot | None,
        gap: float,
        solved: bool,
    ) -> tuple[NDArray[np.intp], float]:
        """Which cuts stay, and the gap that the next halving is measured from.

        The active ones alone have the same minimum, so bounds and level stand; which
        they are is known only when the linear program was solved.
        The newest must stay, or the last point would already lie below the level,
        and the one of the least value, which is the other bound.
        """
        everything = np.arange(len(cuts))
        if last is None:
            return everything, gap
        if gap > 0.5 * last.halving_gap:
            return everything, last.halving_gap
        if not (self.drop_cuts and solved):
            return everything, gap
        stays = multipliers > 0.0
        stays[-1] = True
        stays[int(np.argmin([cut.value for cut in cuts]))] = True
        return np.flatnonzero(stays), gap


@dataclass(frozen=True, eq=False)
class _Step:
    """A new point, and how the quadratic program fared."""

    alpha: Array
    iterations: int = 0
    events: tuple[str, ...] = ()
    failed: bool = False


def _start(kernel: OneKernel, warm: WarmStart | None) -> Array:
    """Where to begin: in the box that holds the optimum, which may be smaller than C's."""
    alpha, box = kernel.start(warm), kernel.box
    if float(alpha.max()) <= box:
        return alpha
    return Hinge(box).feasible(alpha, kernel.problem.y)


def _next_point(kernel: OneKernel, last: LevelSnapshot) -> _Step | None:
    """The last point's projection onto the level set; None when there is no next point.

    Near the optimum all gradients are nearly parallel where alpha is free, and the
    quadratic program may fail.  The model's minimiser lies below every level, and so
    does some point on the way there.
    """
    level = -last.level
    model = Model.of(last.cuts, kernel.problem.y, kernel.box)
    nearest = model.nearest(last.alpha, level, _ABOVE_LEVEL * last.model_gap)
    if nearest.optimal:
        return _Step(nearest.point, nearest.iterations)
    found = model.minimise()
    if found is None:
        return None
    said = "quadratic program inexact: its point is moved towards the model's minimiser"
    point = model.towards(nearest.point, found.point, level)
    return _Step(point, nearest.iterations, (said,), failed=True)


def _finished(last: LevelSnapshot) -> bool:
    """Whether only rounding separates the bounds, or nothing has moved them for long."""
    rounding = _ROUNDING * max(abs(last.least), abs(last.model_minimum))
    if last.model_gap <= rounding or last.idle >= _PATIENCE:
        return True
    return min(last.idle, last.failures) >= _PATIENCE_FAILING
