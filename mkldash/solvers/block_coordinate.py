"""Block-coordinate descent on the SVM and the kernel weights (Citi 2019, Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.kernels.base import CombinedKernel
from mkldash.kernels.block_memory import BlockMemory
from mkldash.kernels.weights import Weights
from mkldash.problems.problem import DualValue, Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers._live_kernels import DROPPED_SHARE, live_part, missed
from mkldash.solvers.base import (
    CANCELLED,
    Best,
    Snapshot,
    Solver,
    WarmStart,
    needs_hinge_over_bank,
    option,
)
from mkldash.solvers.svm import SVMSolution, solve_combined, solve_shifted

Array = NDArray[np.float64]

__all__ = ["BlockCoordinateDescent", "BlockCoordinateSnapshot"]

_FIRST_TOLERANCE = 1e-3
_TIGHTEST_TOLERANCE = 1e-10
_TOLERANCE_PER_GAP = 0.02
#: Share of the outer gap that the SVM's own gap may take before it is tightened.
_SVM_SHARE = 0.1
_ROUNDING_TOLERANCE = 1e-12
#: Most by which the tolerance may grow from one iteration to the next.
_LOOSEN = 1.5
#: What is kept of a kernel's influence from one iteration to the next.
_FADING = 0.7
#: SVM solves of one iteration after which nothing is left out any more.
_MOST_SOLVES = 4
_EMPTY: Array = np.empty(0)


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockCoordinateSnapshot(Snapshot):
    """State of Algorithm 1.

    Attributes
    ----------
    iterate : array, shape (n_kernels,)
        The strictly positive weights that Algorithm 2 multiplies.  `weights`
        equals them but for exact zeros below the live threshold.
    decision : array, shape (n_rows,)
        f on the training rows, without the bias.
    quadratic_forms : array, shape (n_kernels,)
        u_k = a' K_k a.
    influence : array, shape (n_kernels,)
        Largest u_k lately, also at alphas that were tried without kernel k: what
        leaving kernel k out may cost.
    inner_upper, inner_lower : array
        Bounds h and p^2 per step of the Algorithm 2 run that made `iterate`
        (minus infinity where a step certifies nothing); empty at iteration 0.
    support_vectors, bounded : int
        Rows with alpha > 0, and those of them at C.
    svm_steps : int
        Pair updates of this iteration's SVM solve.
    svm_tolerance, svm_violation : float
        Asked for and reached, in units of the margin.
    svm_gap : float
        Primal minus dual value of the SVM at `weights`, in units of the
        objective: the part of the outer gap that the inner solve leaves.
    """

    iterate: Array
    decision: Array
    quadratic_forms: Array
    influence: Array
    inner_upper: Array
    inner_lower: Array
    support_vectors: int
    bounded: int
    svm_steps: int
    svm_tolerance: float
    svm_violation: float
    svm_gap: float


@dataclass(frozen=True)
class BlockCoordinateDescent(Solver):
    """Alternate an SVM on the combined kernel with the weight step of Algorithm 2.

    Parameters
    ----------
    inner_tol : float or None
        Tolerance of each SVM solve; None ties it to the outer gap: 0.02 times
        the last relative gap, between 1e-10 and 1e-3.
    weight_tol : float
        Relative accuracy of each weight step.

    References
    ----------
    L. Citi, "A simple yet efficient algorithm for multiple kernel learning
    under elastic-net constraints", 2019, Algorithm 1.
    """

    inner_tol: float | None = option(
        None,
        "SVM tolerance",
        "Tolerance of each SVM solve; empty ties it to the gap (0.02 x gap, 1e-10 to 1e-3)",
        bounds=(1e-12, 1e-1),
    )
    weight_tol: float = option(
        1e-8, "weight-step tolerance", "Relative accuracy of Algorithm 2", bounds=(1e-14, 1e-2)
    )
    name: ClassVar[str] = "block-coordinate"
    title: ClassVar[str] = "Block-coordinate descent"
    reference: ClassVar[str] = "Citi 2019, Algorithm 1"
    snapshot_type: ClassVar[type[Snapshot]] = BlockCoordinateSnapshot

    def __post_init__(self) -> None:
        for field in ("inner_tol", "weight_tol"):
            value = getattr(self, field)
            if value is not None and not (math.isfinite(value) and value > 0.0):
                raise InputError(f"{field} must be a positive number, not {value!r}")

    def supports(self, problem: Problem) -> str | None:
        reason = needs_hinge_over_bank(self.name, problem)
        if reason is None and not isinstance(problem.weight_set, ElasticNet | Fixed):
            reason = f"block-coordinate has no weight step for the set {problem.weight_set.name!r}"
        return reason

    def _iterate(
        self,
        problem: Problem,
        resume: Snapshot | None,
        warm: WarmStart | None,
        cancel: NDArray[np.uint8],
    ) -> Iterator[Snapshot]:
        last, memory = resume, BlockMemory()
        if last is None:
            theta, alpha = _start(problem, warm)
            last = self._evaluate(problem, None, theta, alpha, (_EMPTY, _EMPTY), cancel, memory)
            yield last
        while cancel[0] != CANCELLED:
            assert isinstance(last, BlockCoordinateSnapshot)
            theta, inner = _weight_step(problem, last, self.weight_tol)
            last = self._evaluate(problem, last, theta, last.alpha, inner, cancel, memory)
            if cancel[0] == CANCELLED:
                return
            yield last

    def _evaluate(
        self,
        problem: Problem,
        last: BlockCoordinateSnapshot | None,
        iterate: Array,
        alpha: Array | None,
        inner: tuple[Array, Array],
        cancel: NDArray[np.uint8],
        memory: BlockMemory,
    ) -> BlockCoordinateSnapshot:
        """Solve the SVM at the live part of `iterate` and certify both bounds."""
        tol = self._svm_tolerance(last)
        theta = _next_weights(problem, last, iterate)
        theta, combined, svm, dual, influence, solves = _solve(
            problem, last, iterate, theta, alpha, tol, cancel, memory
        )
        primal = problem.primal(theta, svm.alpha, combined, svm.decision)
        weights = problem.bank.weights(theta)
        iteration = 0 if last is None else last.iteration + 1
        best = None if last is None else last.best
        if best is None or primal.objective < best.objective:
            best = Best(
                iteration=iteration,
                objective=primal.objective,
                weights=weights,
                alpha=svm.alpha,
                bias=primal.bias,
            )
        # alpha = 0 certifies zero, so no bound below it is ever reported.
        lower = max(0.0 if last is None else last.lower, float(dual.objective))
        return BlockCoordinateSnapshot(
            iteration=iteration,
            objective=primal.objective,
            upper=best.objective,
            lower=lower,
            best_iteration=best.iteration,
            best=best,
            weights=weights,
            alpha=svm.alpha,
            bias=primal.bias,
            inner_solves=solves if last is None else last.inner_solves + solves,
            events=_events(problem, last, weights, svm, tol),
            iterate=iterate,
            decision=svm.decision,
            quadratic_forms=dual.support.quadratic_forms,
            influence=influence,
            inner_upper=inner[0],
            inner_lower=inner[1],
            support_vectors=int(np.count_nonzero(svm.alpha)),
            bounded=int(np.count_nonzero(svm.alpha >= problem.loss.C)),
            svm_steps=svm.steps,
            svm_tolerance=tol,
            svm_violation=svm.violation,
            svm_gap=primal.objective - _dual_at(problem, svm),
        )

    def _svm_tolerance(self, last: BlockCoordinateSnapshot | None) -> float:
        """0.02 x gap; tighter when the SVM's own gap is what keeps the bounds apart.

        A violation of the margin costs up to C times itself in every row, so
        with a huge C the tolerance must be far below the relative gap.
        """
        if self.inner_tol is not None:
            return self.inner_tol
        if last is None:
            return _FIRST_TOLERANCE
        relative = _TOLERANCE_PER_GAP * min(last.gap, 1.0)
        tol = min(max(relative, _TIGHTEST_TOLERANCE), _FIRST_TOLERANCE)
        allowed = _SVM_SHARE * (last.upper - last.lower)
        if last.svm_gap > 0.0:
            # The SVM's gap is about proportional to its tolerance.  One lucky solve
            # must not loosen it at once, or tight and useless solves alternate.
            # When the primal value rose, its error hides the progress: halve.
            most = _LOOSEN if last.best_iteration == last.iteration else 0.5
            fitting = last.svm_tolerance * min(allowed / last.svm_gap, most)
            tol = min(tol, max(fitting, _ROUNDING_TOLERANCE))
        return tol


def _solve(
    problem: Problem,
    last: BlockCoordinateSnapshot | None,
    iterate: Array,
    theta: Array,
    alpha: Array | None,
    tol: float,
    cancel: NDArray[np.uint8],
    memory: BlockMemory,
) -> tuple[Array, CombinedKernel, SVMSolution, DualValue, Array, int]:
    """The SVM at `theta`; again with kernels that were left out and turn out to matter.

    Returns the weights it ended with, their kernel, the solution, its dual
    value, the influence of each kernel and the number of solves.
    """
    decision = None if last is None else last.decision
    influence = np.zeros(iterate.size) if last is None else _FADING * last.influence
    for solves in range(1, _MOST_SOLVES + 2):
        combined = problem.bank.combine(theta)
        svm = _solve_svm(problem, combined, alpha, decision, tol, cancel, memory)
        dual = problem.dual(svm.alpha)
        influence = np.maximum(influence, dual.support.quadratic_forms)
        # With every row at its bound, Algorithm 3 chose the weights: nothing was left out.
        if last is None or last.bounded == problem.n_rows:
            break
        restored = missed(theta, iterate, influence, last.gap)
        if restored is None or cancel[0]:
            break
        theta = restored if solves < _MOST_SOLVES else iterate
        alpha, decision = svm.alpha, None
    return theta, combined, svm, dual, influence, solves


def _solve_svm(
    problem: Problem,
    combined: CombinedKernel,
    alpha: Array | None,
    decision: Array | None,
    tol: float,
    cancel: NDArray[np.uint8],
    memory: BlockMemory,
) -> SVMSolution:
    """The alpha step; with a finite rho, that of the support vector machine on K + c I."""
    y, C = problem.y, problem.loss.C
    if math.isfinite(problem.rho):
        K = combined.matrix()
        return solve_shifted(K, y, C, problem.rho, alpha=alpha, tol=tol, cancel=cancel)
    return solve_combined(
        combined, y, C, alpha=alpha, decision=decision, tol=tol, cancel=cancel, memory=memory
    )


def _start(problem: Problem, warm: WarmStart | None) -> tuple[Array, Array | None]:
    """Uniform weights on the boundary, or the warm ones pulled inside the set."""
    n_kernels = problem.bank.n_kernels
    theta = problem.weight_set.start(n_kernels)
    if warm is None:
        return theta, None
    if warm.weights is not None and warm.weights.keys == problem.bank.names:
        theta = problem.weight_set.pull_inside(warm.weights.values)
    alpha = warm.alpha
    if alpha is None or alpha.shape != (problem.n_rows,):
        return theta, None
    return theta, problem.loss.feasible(alpha, problem.y)


def _weight_step(
    problem: Problem, last: BlockCoordinateSnapshot, tol: float
) -> tuple[Array, tuple[Array, Array]]:
    """Next iterate by Algorithm 2 on beta = theta^2 u, with its inner bounds."""
    if not isinstance(problem.weight_set, ElasticNet):
        return last.iterate, (_EMPTY, _EMPTY)
    beta = last.iterate**2 * last.quadratic_forms
    if not beta.any():  # all alpha are zero: every weight is optimal
        return last.iterate, (_EMPTY, _EMPTY)
    result = problem.weight_set.minimise(beta, last.iterate, tol)
    theta = _with_newcomers(problem, last, result.theta)
    inner = result.steps[1:]
    upper = np.array([step.upper for step in inner])
    lower = np.array([step.lower for step in inner])
    return theta, (upper, lower)


def _with_newcomers(problem: Problem, last: BlockCoordinateSnapshot, theta: Array) -> Array:
    """`theta` with a little weight for kernels that the dual asks for and that have none.

    The update multiplies weights, so that a kernel which once fell to 1e-150
    would take hundreds of iterations to come back, and one that underflowed
    would never.  Raising weights never raises the objective; shrinking back
    into the set costs no more than the share that was added.
    """
    share = DROPPED_SHARE * min(last.gap, 0.1)
    wanted = share * problem.weight_set.maximise(last.quadratic_forms)[0]
    if np.all(theta >= wanted):
        return theta
    assert isinstance(problem.weight_set, ElasticNet)
    raised = np.maximum(theta, wanted)
    return raised / problem.weight_set.gauge(raised)


def _next_weights(problem: Problem, last: BlockCoordinateSnapshot | None, iterate: Array) -> Array:
    """The weights to solve the SVM at: the live part of `iterate`.

    When every row was at the bound C, alpha does not react to small changes of
    the weights; then the linear program over the set gives the exact optimum
    for that alpha, and is tried instead (tiny C, balanced classes).
    """
    if last is not None and last.bounded == problem.n_rows:
        return problem.weight_set.maximise(last.quadratic_forms)[0]
    if last is None or not isinstance(problem.weight_set, ElasticNet):
        return iterate
    return live_part(iterate, last.influence, last.gap)


def _dual_at(problem: Problem, svm: SVMSolution) -> float:
    """Dual value of the SVM at the weights it was solved with."""
    value = float(svm.alpha.sum() - 0.5 * problem.signed(svm.alpha) @ svm.decision)
    return value - float(svm.alpha @ svm.alpha) ** 2 / (8.0 * problem.rho)


def _events(
    problem: Problem,
    last: BlockCoordinateSnapshot | None,
    weights: Weights,
    svm: SVMSolution,
    tol: float,
) -> tuple[str, ...]:
    """What is worth a line in the log."""
    said = []
    if last is not None and 0 < last.support_vectors == last.bounded:
        said.append(f"all {last.bounded} points at the bound C: weights by Algorithm 3")
    if svm.violation > tol:
        said.append(f"SVM stopped at violation {svm.violation:.1e}, asked for {tol:.1e}")
    if last is not None:
        said.extend(_changes(problem.bank.names, last.weights.active(), weights.active()))
        if last.svm_tolerance > 5.0 * tol:
            said.append(f"SVM tolerance tightened to {tol:.1e}")
    return tuple(said)


def _changes(names: tuple[str, ...], before: NDArray[np.intp], now: NDArray[np.intp]) -> list[str]:
    """Which kernels left or joined those above 1e-5 of the largest weight."""
    said = []
    for what, kernels in (
        ("kernel dropped (below 1e-5 of the largest weight)", np.setdiff1d(before, now)),
        ("kernel back (above 1e-5 of the largest weight)", np.setdiff1d(now, before)),
    ):
        if kernels.size:
            listed = ", ".join(names[k] for k in kernels[:3])
            more = f" and {kernels.size - 3} more" if kernels.size > 3 else ""
            said.append(f"{what}: {listed}{more}")
    return said
