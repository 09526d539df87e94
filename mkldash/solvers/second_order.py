"""Newton's method on the kernel weights, held back by cuts (MATH 8 and 8.1)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers._bank_step import (
    BankSnapshot,
    changes,
    check_positive,
    evaluate,
    start,
    svm_tolerance,
)
from mkldash.solvers._bundle import NewtonMetric, Step, best_step, newton_metric
from mkldash.solvers._live_kernels import DROPPED_SHARE
from mkldash.solvers._weight_cuts import WeightCut, cut_of
from mkldash.solvers.base import (
    CANCELLED,
    Snapshot,
    Solver,
    WarmStart,
    needs_hinge_over_bank,
    option,
)

Array = NDArray[np.float64]

__all__ = ["SecondOrder", "SecondOrderSnapshot"]

#: Cuts beyond which those that hold nothing up are dropped, oldest first.
_MOST_CUTS = 60
_WEIGHT_TOLERANCE = 1e-8
#: Damping never exceeds this, however wide the gap.
_MOST_DAMPING = 0.1
#: Relative gap above which an SVM looks at the likeliest rows only.
_ROUGH_ABOVE = 2.0
#: SVM tolerance per relative gap, and its largest, until the gap is near.
_TOLERANCE_PER_GAP, _LOOSEST_TOLERANCE, _NEAR = 0.05, 0.03, 1e-2
#: Idle iterations after which a step of Algorithm 1 takes turns with the model, which
#: rounding may leave without an answer, and the least share that counts as progress.
_PATIENCE, _PROGRESS = 2, 0.01
#: Share of the outer gap that the SVM's own gap may take while the bounds come together,
#: and while they do not; beyond it the tolerance falls at once, and comes back slowly.
#: With a huge C it must be far below the gap.
_SVM_SHARE, _SVM_SHARE_IDLE = 0.5, 0.05
_TIGHTEN, _LOOSEN, _TIGHTEST_TOLERANCE = 0.1, 2.0, 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class SecondOrderSnapshot(BankSnapshot):
    """State after a step.

    Attributes
    ----------
    cuts : tuple of WeightCut
        Planes below the reduced cost, one for each evaluation, oldest first; the
        one at the best point is among them.
    multipliers : array, shape (n_cuts,)
        Share of each in the minimum of the model that led here; zero for the newest.
    model_lower : float
        Best lower bound that the cuts certified together; minus infinity before
        the first model.
    accepted : bool
        Whether the primal value fell; the point is kept as a cut in any case.
    rank : int
        Of the Hessian in the model that led here.
    damping : float
        Share of the majorant's curvature in it.
    model_steps : int
        Interior-point steps that minimised it.
    idle : int
        Iterations in a row that hardly brought the bounds together.
    """

    cuts: tuple[WeightCut, ...]
    multipliers: Array
    model_lower: float
    accepted: bool
    rank: int
    damping: float
    model_steps: int
    idle: int


@dataclass(frozen=True)
class SecondOrder(Solver):
    """A bundle of cuts with the Hessian of the reduced cost as its metric.

    Each step minimises the largest of all cuts so far plus the Newton term at the
    best point.  The cuts stop it from stepping where the quadratic model is known to
    be wrong, so that no line search is needed; a point that is no better is one more cut.

    Parameters
    ----------
    inner_tol : float or None
        Tolerance of each SVM solve; None ties it to the outer gap.
    damping : float
        Curvature of Algorithm 1's majorant that is added per relative gap, at
        most a tenth of it; 0 takes Newton's step alone.
    first_steps : int
        Steps of Algorithm 1 before the first model.
    """

    inner_tol: float | None = option(
        None,
        "SVM tolerance",
        "Tolerance of each SVM solve; empty ties it to the gap (0.02 x gap, 1e-10 to 1e-3)",
        bounds=(1e-12, 1e-1),
    )
    damping: float = option(
        0.3,
        "damping per gap",
        "Curvature of Algorithm 1's majorant added to Newton's, per relative gap (at most 0.1)",
        bounds=(0.0, 10.0),
    )
    first_steps: int = option(
        0, "first steps", "Steps of Algorithm 1 before the first Newton model", bounds=(0, 20)
    )
    name: ClassVar[str] = "second-order"
    title: ClassVar[str] = "Second-order bundle"
    reference: ClassVar[str] = "mkldash's own: cuts with a Newton metric"
    snapshot_type: ClassVar[type[Snapshot]] = SecondOrderSnapshot
    reach: ClassVar[float] = 1e-6

    def __post_init__(self) -> None:
        check_positive(self, "inner_tol")
        if not (math.isfinite(self.damping) and self.damping >= 0.0):
            raise InputError(f"damping must be a number of at least 0, not {self.damping!r}")
        if not (isinstance(self.first_steps, int | np.integer) and self.first_steps >= 0):
            raise InputError(
                f"first_steps must be a whole number of at least 0, not {self.first_steps!r}"
            )

    def supports(self, problem: Problem) -> str | None:
        reason = needs_hinge_over_bank(self.name, problem)
        if reason is None and not isinstance(problem.weight_set, ElasticNet | Fixed):
            reason = f"second-order has no model over the set {problem.weight_set.name!r}"
        return reason

    def _iterate(
        self,
        problem: Problem,
        resume: Snapshot | None,
        warm: WarmStart | None,
        cancel: NDArray[np.uint8],
    ) -> Iterator[Snapshot]:
        last, local = resume, _Local()
        if last is None:
            theta, alpha = start(problem, warm)
            last = self._evaluate(problem, None, theta, alpha, None, cancel)
            yield last
        while cancel[0] != CANCELLED:
            assert isinstance(last, SecondOrderSnapshot)
            theta, move = self._next(problem, last, local)
            last = self._evaluate(problem, last, theta, last.alpha, move, cancel)
            if cancel[0] == CANCELLED:
                return
            yield last

    def _next(
        self, problem: Problem, last: SecondOrderSnapshot, local: _Local
    ) -> tuple[Array, _Move | None]:
        """The next weights: by Algorithm 2 at first, then by the model."""
        weight_set = problem.weight_set
        if not isinstance(weight_set, ElasticNet):
            return last.weights.values, None
        if last.bounded == problem.n_rows:
            # alpha does not react to small changes of the weights: Algorithm 3 is exact.
            return weight_set.maximise(last.quadratic_forms)[0], None
        best = last.best
        centre = next(cut for cut in last.cuts if cut.iteration == best.iteration)
        stuck = last.idle >= _PATIENCE and (last.idle - _PATIENCE) % 2 == 0
        if last.iteration < self.first_steps or stuck:
            return _first_order(weight_set, best.weights.values, centre.forms, last.gap), None
        metric = local.metric(problem, best.iteration, best.weights.values, best.alpha)
        damping = min(_MOST_DAMPING, self.damping * last.gap)
        step = best_step(
            problem, last.cuts, best.weights.values, centre.forms, metric, damping,
            best.objective, last.gap,
        )  # fmt: skip
        return step.theta, _Move(step, metric, damping)

    def _evaluate(
        self,
        problem: Problem,
        last: SecondOrderSnapshot | None,
        theta: Array,
        alpha: Array | None,
        move: _Move | None,
        cancel: NDArray[np.uint8],
    ) -> SecondOrderSnapshot:
        """The SVM at `theta`, a new cut, both bounds."""
        tol = self._tolerance(last)
        rough = self.inner_tol is None and (
            last is None or (last.accepted and last.gap > _ROUGH_ABOVE)
        )
        decision = None if last is None else last.decision
        found = evaluate(
            problem, theta, alpha=alpha, decision=decision, tol=tol, cancel=cancel, rough=rough
        )
        iteration = 0 if last is None else last.iteration + 1
        model_lower = -math.inf if last is None else last.model_lower
        if move is not None:
            model_lower = max(model_lower, move.step.lower)
        fields = found.fields(problem, last, lower=model_lower)
        accepted = fields["best_iteration"] == iteration
        cuts: tuple[WeightCut, ...] = (cut_of(problem, found, iteration),)
        multipliers = np.zeros(1)
        if last is not None:
            held = np.zeros(len(last.cuts)) if move is None else move.step.multipliers
            keep = _kept(last.cuts, held, fields["best_iteration"])
            cuts = (*(last.cuts[j] for j in keep), *cuts)
            multipliers = np.append(held[keep], 0.0)
        return SecondOrderSnapshot(
            **fields,
            events=_events(problem, last, fields["weights"].active(), accepted, move),
            cuts=cuts,
            multipliers=multipliers,
            model_lower=model_lower,
            accepted=accepted,
            rank=0 if move is None else len(move.metric.B),
            damping=0.0 if move is None else move.damping,
            model_steps=0 if move is None else move.step.steps,
            idle=_idle(last, fields["upper"] - fields["lower"]),
        )

    def _tolerance(self, last: SecondOrderSnapshot | None) -> float:
        """0.05 x gap while it is wide, tighter where the SVM keeps it wide; then as usual."""
        if self.inner_tol is not None:
            return self.inner_tol
        if last is None:
            return _LOOSEST_TOLERANCE
        if last.gap <= _NEAR:
            return svm_tolerance(None, last)
        tol = min(_LOOSEST_TOLERANCE, _TOLERANCE_PER_GAP * last.gap)
        if last.svm_violation > last.svm_tolerance:  # rows were left out: no tolerance mends that
            return min(tol, last.svm_tolerance)
        share = _SVM_SHARE if last.idle == 0 else _SVM_SHARE_IDLE
        if last.svm_gap > share * (last.upper - last.lower):
            return max(_TIGHTEN * last.svm_tolerance, _TIGHTEST_TOLERANCE)
        return min(tol, _LOOSEN * last.svm_tolerance)


def _first_order(weight_set: ElasticNet, theta: Array, forms: Array, gap: float) -> Array:
    """A step of Algorithm 1 from `theta`, which lowers the reduced cost if anything can.

    Kernels without weight that the dual asks for get a little first: raising weights
    never raises the cost, and shrinking back into the set costs no more than the share.
    """
    wanted = DROPPED_SHARE * min(gap, 0.1) * weight_set.maximise(forms)[0]
    raised = np.maximum(theta, wanted)
    raised /= weight_set.gauge(raised)
    beta = raised**2 * forms
    if not beta.any():
        return theta
    return weight_set.minimise(beta, raised, _WEIGHT_TOLERANCE).theta


def _idle(last: SecondOrderSnapshot | None, apart: float) -> int:
    """Iterations in a row after which the bounds are nearly as far apart as before."""
    if last is None or apart <= (1.0 - _PROGRESS) * (last.upper - last.lower):
        return 0
    return last.idle + 1


@dataclass(frozen=True, eq=False)
class _Move:
    """The model's step, and what made the model."""

    step: Step
    metric: NewtonMetric
    damping: float


class _Local:
    """The metric at the best point, which many steps may share; made again on a resume."""

    def __init__(self) -> None:
        self._at = -1
        self._metric: NewtonMetric | None = None

    def metric(self, problem: Problem, iteration: int, theta: Array, alpha: Array) -> NewtonMetric:
        if self._metric is None or self._at != iteration:
            self._metric = newton_metric(problem, theta, alpha)
            self._at = iteration
        return self._metric


def _kept(cuts: tuple[WeightCut, ...], multipliers: Array, best: int) -> NDArray[np.intp]:
    """Positions of the cuts that stay: all while they are few."""
    n_cuts = len(cuts)
    if n_cuts < _MOST_CUTS:
        return np.arange(n_cuts)
    stays = multipliers > 1e-9 * multipliers.max(initial=0.0)
    stays |= np.array([cut.iteration == best for cut in cuts])
    stays[n_cuts - _MOST_CUTS // 2 :] = True
    return np.flatnonzero(stays)


def _events(
    problem: Problem,
    last: SecondOrderSnapshot | None,
    active: NDArray[np.intp],
    accepted: bool,
    move: _Move | None,
) -> tuple[str, ...]:
    """What is worth a line in the log."""
    if last is None:
        return ()
    said = []
    if not accepted:
        said.append("the step raised the primal value: it stays as a cut")
    if move is not None and not len(move.metric.B):
        said.append("no free support vectors: the cuts alone made the step")
    if move is not None and not move.step.solved:
        said.append("interior-point method inexact: its point is taken as it is")
    if last.bounded == problem.n_rows:
        said.append(f"all {last.bounded} points at the bound C: weights by Algorithm 3")
    said.extend(changes(problem.bank.names, last.weights.active(), active))
    return tuple(said)
