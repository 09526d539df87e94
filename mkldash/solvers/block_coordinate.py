"""Block-coordinate descent on the SVM and the kernel weights (Citi 2019, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.block_memory import BlockMemory
from mkldash.kernels.weights import Weights
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
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
from mkldash.solvers._live_kernels import DROPPED_SHARE, live_part, missed
from mkldash.solvers.base import (
    CANCELLED,
    Snapshot,
    Solver,
    WarmStart,
    needs_hinge_over_bank,
    option,
)
from mkldash.solvers.svm import SVMSolution

Array = NDArray[np.float64]

__all__ = ["BlockCoordinateDescent", "BlockCoordinateSnapshot"]

#: What is kept of a kernel's influence from one iteration to the next.
_FADING = 0.7
#: SVM solves of one iteration after which nothing is left out any more.
_MOST_SOLVES = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockCoordinateSnapshot(BankSnapshot):
    """State of Algorithm 1.

    Attributes
    ----------
    iterate : array, shape (n_kernels,)
        The strictly positive weights that Algorithm 2 multiplies.  `weights`
        equals them but for exact zeros below the live threshold.
    influence : array, shape (n_kernels,)
        Largest u_k lately, also at alphas that were tried without kernel k: what
        leaving kernel k out may cost.
    inner_upper, inner_lower : array
        Bounds h and p^2 per step of the Algorithm 2 run that made `iterate`
        (minus infinity where a step certifies nothing); empty at iteration 0.
    """

    iterate: Array
    influence: Array
    inner_upper: Array
    inner_lower: Array


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
        check_positive(self, "inner_tol", "weight_tol")

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
            theta, alpha = start(problem, warm)
            last = self._evaluate(problem, None, theta, alpha, (EMPTY, EMPTY), cancel, memory)
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
        tol = svm_tolerance(self.inner_tol, last)
        theta = _next_weights(problem, last, iterate)
        found, influence, solves = _solve(problem, last, iterate, theta, alpha, tol, cancel, memory)
        weights = problem.bank.weights(found.theta)
        return BlockCoordinateSnapshot(
            **found.fields(problem, last, solves=solves),
            events=_events(problem, last, weights, found.svm, tol),
            iterate=iterate,
            influence=influence,
            inner_upper=inner[0],
            inner_lower=inner[1],
        )


def _solve(
    problem: Problem,
    last: BlockCoordinateSnapshot | None,
    iterate: Array,
    theta: Array,
    alpha: Array | None,
    tol: float,
    cancel: NDArray[np.uint8],
    memory: BlockMemory,
) -> tuple[Evaluation, Array, int]:
    """The SVM at `theta`; again with kernels that were left out and turn out to matter.

    Returns what it ended with, the influence of each kernel and the number of solves.
    """
    decision = None if last is None else last.decision
    influence = np.zeros(iterate.size) if last is None else _FADING * last.influence
    for solves in range(1, _MOST_SOLVES + 2):
        found = evaluate(
            problem, theta, alpha=alpha, decision=decision, tol=tol, cancel=cancel, memory=memory
        )
        influence = np.maximum(influence, found.dual.support.quadratic_forms)
        # With every row at its bound, Algorithm 3 chose the weights: nothing was left out.
        if last is None or last.bounded == problem.n_rows:
            break
        restored = missed(theta, iterate, influence, last.gap)
        if restored is None or cancel[0]:
            break
        theta = restored if solves < _MOST_SOLVES else iterate
        alpha, decision = found.svm.alpha, None
    return found, influence, solves


def _weight_step(
    problem: Problem, last: BlockCoordinateSnapshot, tol: float
) -> tuple[Array, tuple[Array, Array]]:
    """Next iterate by Algorithm 2 on beta = theta^2 u, with its inner bounds."""
    if not isinstance(problem.weight_set, ElasticNet):
        return last.iterate, (EMPTY, EMPTY)
    beta = last.iterate**2 * last.quadratic_forms
    if not beta.any():  # all alpha are zero: every weight is optimal
        return last.iterate, (EMPTY, EMPTY)
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
        said.extend(changes(problem.bank.names, last.weights.active(), weights.active()))
        if last.svm_tolerance > 5.0 * tol:
            said.append(f"SVM tolerance tightened to {tol:.1e}")
    return tuple(said)
