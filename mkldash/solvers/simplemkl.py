"""SimpleMKL: the reduced gradient on the simplex (Rakotomamonjy et al. 2008)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers._bank_step import (
    EMPTY,
    BankSnapshot,
    Evaluation,
    changes,
    check_positive,
    evaluate,
    start,
    svm_tolerance,
)
from mkldash.solvers.base import (
    CANCELLED,
    Snapshot,
    Solver,
    WarmStart,
    needs_hinge_over_bank,
    option,
)

Array = NDArray[np.float64]

__all__ = ["SimpleMKL", "SimpleMKLSnapshot"]

#: Weights that a move brings below this share of the largest are at zero.
_ZERO = 1e-13
#: The line search ends once this share of the first slope is left.
_SLOPE_LEFT = 0.1
#: SVM solves of a line search, and moves to a face of the simplex in one iteration: a new
#: direction after so many costs nothing, and the run stays in view.
_MOST_TRIALS, _MOST_MOVES = 20, 20


@dataclass(frozen=True, kw_only=True, eq=False)
class SimpleMKLSnapshot(BankSnapshot):
    """State after a step along a reduced gradient.

    Attributes
    ----------
    step : float
        Length of the last move along the direction; 0 where none was made.
    trial_steps, trial_slopes : array
        Of the line search: the steps tried and the slopes of J there.
    """

    step: float
    trial_steps: Array
    trial_slopes: Array


@dataclass(frozen=True)
class SimpleMKL(Solver):
    """Descend the reduced cost J along its reduced gradient on the simplex.

    A step first moves to the nearest face of the simplex, and on to the next, as
    long as J falls; kernels whose weight it uses up are dropped.  Then a line
    search by false position on the slope of J, which each SVM solve gives for
    nothing, ends with a tenth of the first slope.

    Parameters
    ----------
    inner_tol : float or None
        Tolerance of each SVM solve; None ties it to the outer gap: 0.02 times
        the last relative gap, between 1e-10 and 1e-3.

    References
    ----------
    A. Rakotomamonjy, F. Bach, S. Canu and Y. Grandvalet, "SimpleMKL", Journal
    of Machine Learning Research 9, 2008, Algorithm 1.
    """

    inner_tol: float | None = option(
        None,
        "SVM tolerance",
        "Tolerance of each SVM solve; empty ties it to the gap (0.02 x gap, 1e-10 to 1e-3)",
        bounds=(1e-12, 1e-1),
    )
    name: ClassVar[str] = "simplemkl"
    title: ClassVar[str] = "SimpleMKL"
    reference: ClassVar[str] = "Rakotomamonjy et al. 2008, Algorithm 1"
    snapshot_type: ClassVar[type[Snapshot]] = SimpleMKLSnapshot

    def __post_init__(self) -> None:
        check_positive(self, "inner_tol")

    def supports(self, problem: Problem) -> str | None:
        reason = needs_hinge_over_bank(self.name, problem)
        if reason is not None:
            return reason
        weight_set = problem.weight_set
        if isinstance(weight_set, ElasticNet):
            if weight_set.eta == 1.0:
                return None
            return f"simplemkl needs eta = 1, weights that sum to one, not eta = {weight_set.eta:g}"
        if isinstance(weight_set, NormBall):
            if weight_set.nu == 1.0:
                return None
            return (
                "simplemkl needs eta = 1 (a weight norm of 1), weights that sum to one, "
                f"not a weight norm of {weight_set.nu:g}"
            )
        if isinstance(weight_set, Fixed):
            return "simplemkl learns the kernel weights, and here they are fixed"
        return f"simplemkl needs eta = 1, the simplex, not the set {weight_set.name!r}"

    def _iterate(
        self,
        problem: Problem,
        resume: Snapshot | None,
        warm: WarmStart | None,
        cancel: NDArray[np.uint8],
    ) -> Iterator[Snapshot]:
        last = resume
        if last is None:
            theta, alpha = start(problem, warm)
            tol = svm_tolerance(self.inner_tol, None)
            search = _Search(problem, tol, cancel, alpha, None)
            last = _snapshot(problem, None, search, search.at(theta))
            yield last
        while cancel[0] != CANCELLED:
            assert isinstance(last, SimpleMKLSnapshot)
            tol = svm_tolerance(self.inner_tol, last)
            search = _Search(problem, tol, cancel, last.alpha, last.decision)
            found = _descend(search, last)
            if cancel[0] == CANCELLED:
                return
            last = _snapshot(problem, last, search, found)
            yield last


@dataclass(eq=False)
class _Search:
    """The SVM solves of one iteration, each from the one before."""

    problem: Problem
    tol: float
    cancel: NDArray[np.uint8]
    alpha: Array | None
    decision: Array | None
    solves: int = 0
    lower: float = -math.inf
    step: float = 0.0
    moves: int = 0
    steps: list[float] = field(default_factory=list)
    slopes: list[float] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def at(self, theta: Array) -> Evaluation:
        found = evaluate(
            self.problem, theta,
            alpha=self.alpha, decision=self.decision, tol=self.tol, cancel=self.cancel,
        )  # fmt: skip
        self.alpha, self.decision = found.svm.alpha, found.svm.decision
        self.solves += 1
        # Every alpha on the way certifies a bound.
        self.lower = max(self.lower, float(found.dual.objective))
        return found


def _cost(found: Evaluation) -> float:
    """J at the weights, from below by the SVM's own accuracy."""
    support = found.dual.support
    return found.dual.objective + 0.5 * (
        support.value - float(support.quadratic_forms @ found.theta)
    )


def _slope(found: Evaluation, direction: Array) -> float:
    return -0.5 * float(found.dual.support.quadratic_forms @ direction)


def _direction(theta: Array, forms: Array) -> Array:
    """Minus the reduced gradient, without what would leave the simplex (MATH 0.8)."""
    largest = float(theta.max())
    tied = np.flatnonzero(theta >= largest * (1.0 - 1e-12))
    # Of several largest weights the one that J wants most: it is not about to shrink.
    m = int(tied[np.argmax(forms[tied])])
    direction = 0.5 * (forms - forms[m])
    direction[(theta <= 0.0) & (direction < 0.0)] = 0.0
    direction[m] = 0.0
    direction[m] = -float(direction.sum())
    return direction


def _descend(search: _Search, last: SimpleMKLSnapshot) -> Evaluation:
    """One outer iteration: faces while J falls, then the line search."""
    problem, forms = search.problem, last.quadratic_forms
    theta = last.weights.values
    if 0 < last.bounded == problem.n_rows:
        # alpha does not react to the weights: the best corner for it is the optimum.
        corner = search.at(problem.weight_set.maximise(forms)[0])
        if _cost(corner) < last.objective or search.cancel[0]:
            search.said.append(f"all {last.bounded} points at the bound C: the best single kernel")
            return corner
    cost = last.objective - last.svm_gap
    direction = _direction(theta, forms)
    slope = -0.5 * float(forms @ direction)
    here: Evaluation | None = None
    while slope < 0.0 and not search.cancel[0]:
        longest, beyond = _to_the_face(theta, direction)
        found = search.at(beyond)
        ahead = _slope(found, direction)
        if _cost(found) >= cost:
            return _line_search(search, here, theta, direction, longest, (slope, ahead))
        search.moves += 1
        search.step = longest
        here, cost, theta = found, _cost(found), beyond
        direction = _bent(theta, direction)
        slope = _slope(here, direction)
        if search.moves == _MOST_MOVES:
            break
    # Nothing to descend: the same weights, to the tolerance that the gap now asks for.
    return search.at(theta) if here is None else here


def _to_the_face(theta: Array, direction: Array) -> tuple[float, Array]:
    """The largest feasible step, and the weights there."""
    shrinking = direction < 0.0
    longest = float((theta[shrinking] / -direction[shrinking]).min())
    return longest, _moved(theta, direction, longest, face=True)


def _moved(theta: Array, direction: Array, step: float, *, face: bool = False) -> Array:
    moved = np.maximum(theta + step * direction, 0.0)
    if face:
        moved[(direction < 0.0) & (moved <= _ZERO * moved.max())] = 0.0
    return moved / moved.sum()


def _bent(theta: Array, direction: Array) -> Array:
    """The direction on the face that was reached: the largest weight takes up the rest."""
    bent = np.where((theta <= 0.0) & (direction < 0.0), 0.0, direction)
    m = int(np.argmax(theta))
    bent[m] = 0.0
    bent[m] = -float(bent.sum())
    return bent


def _line_search(
    search: _Search,
    here: Evaluation | None,
    theta: Array,
    direction: Array,
    longest: float,
    slopes: tuple[float, float],
) -> Evaluation:
    """False position on the slope of J, which is convex along the line.

    Where one end stays twice, its slope is halved (the Illinois rule), so that both close
    in.  Every point that still falls is better than the start.
    """
    low, high, (at_low, at_high) = 0.0, longest, slopes
    wanted, best, side = _SLOPE_LEFT * abs(at_low), here, 0
    for _ in range(_MOST_TRIALS):
        if search.cancel[0] or not (at_low < 0.0 < at_high):
            break
        step = low + (high - low) * at_low / (at_low - at_high)
        if not low < step < high:
            break
        found = search.at(_moved(theta, direction, step))
        slope = _slope(found, direction)
        search.steps.append(step)
        search.slopes.append(slope)
        if slope <= 0.0 or abs(slope) <= wanted:
            best, search.step = found, step
        if abs(slope) <= wanted:
            break
        if slope < 0.0:
            low, at_low = step, slope
            at_high *= 0.5 if side < 0 else 1.0
            side = -1
        else:
            high, at_high = step, slope
            at_low *= 0.5 if side > 0 else 1.0
            side = 1
    search.said.append(f"line search, {len(search.steps)} SVM solves: step {search.step:.3g}")
    return search.at(theta) if best is None else best


def _snapshot(
    problem: Problem, last: SimpleMKLSnapshot | None, search: _Search, found: Evaluation
) -> SimpleMKLSnapshot:
    """State after an iteration, with what is worth a line in the log."""
    said = list(search.said)
    weights = problem.bank.weights(found.theta)
    if found.svm.violation > found.tol:
        said.append(
            f"SVM stopped at violation {found.svm.violation:.1e}, asked for {found.tol:.1e}"
        )
    if last is not None:
        said.extend(changes(problem.bank.names, last.weights.active(), weights.active()))
    return SimpleMKLSnapshot(
        **found.fields(problem, last, solves=search.solves, lower=max(search.lower, 0.0)),
        events=tuple(said),
        step=search.step,
        trial_steps=np.array(search.steps) if search.steps else EMPTY,
        trial_slopes=np.array(search.slopes) if search.slopes else EMPTY,
    )
