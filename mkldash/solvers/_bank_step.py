"""What solvers over a bank share: an SVM at given weights, with both bounds certified."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.kernels.base import CombinedKernel
from mkldash.kernels.block_memory import BlockMemory
from mkldash.problems.problem import DualValue, Problem
from mkldash.solvers.base import Best, Snapshot, WarmStart
from mkldash.solvers.svm import SVMSolution, solve_combined, solve_roughly, solve_shifted

Array = NDArray[np.float64]

__all__ = [
    "EMPTY",
    "BankSnapshot",
    "Evaluation",
    "changes",
    "check_positive",
    "evaluate",
    "solve_at",
    "start",
    "svm_tolerance",
]

_FIRST_TOLERANCE = 1e-3
_TIGHTEST_TOLERANCE = 1e-10
_TOLERANCE_PER_GAP = 0.02
#: Share of the outer gap that the SVM's own gap may take before it is tightened.
_SVM_SHARE = 0.1
_ROUNDING_TOLERANCE = 1e-12
#: Most by which the tolerance may grow from one iteration to the next.
_LOOSEN = 1.5
EMPTY: Array = np.empty(0)


@dataclass(frozen=True, kw_only=True, eq=False)
class BankSnapshot(Snapshot):
    """State after an SVM solve at `weights`.

    Attributes
    ----------
    decision : array, shape (n_rows,)
        f on the training rows, without the bias.
    quadratic_forms : array, shape (n_kernels,)
        u_k = a' K_k a.
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

    decision: Array
    quadratic_forms: Array
    support_vectors: int
    bounded: int
    svm_steps: int
    svm_tolerance: float
    svm_violation: float
    svm_gap: float


@dataclass(frozen=True, eq=False)
class Evaluation:
    """An SVM solved at some weights.

    Attributes
    ----------
    theta : array, shape (n_kernels,)
    combined : CombinedKernel
    svm : SVMSolution
    dual : DualValue
    tol : float
        What the SVM was asked for.
    """

    theta: Array
    combined: CombinedKernel
    svm: SVMSolution
    dual: DualValue
    tol: float

    def fields(
        self, problem: Problem, last: Snapshot | None, *, solves: int = 1, lower: float = 0.0
    ) -> dict[str, Any]:
        """The fields of a `BankSnapshot`, events and those of `Solver.iterate` apart.

        Parameters
        ----------
        problem : Problem
        last : Snapshot or None
            The one before; its bounds and best point are carried on.
        solves : int
            SVM solves since then.
        lower : float
            A certified bound from elsewhere, such as a model of all cuts.
        """
        svm = self.svm
        primal = problem.primal(self.theta, svm.alpha, self.combined, svm.decision)
        weights = problem.bank.weights(self.theta)
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
        known = 0.0 if last is None else last.lower
        return {
            "iteration": iteration,
            "objective": primal.objective,
            "upper": best.objective,
            "lower": float(max(known, lower, self.dual.objective)),
            "best_iteration": best.iteration,
            "best": best,
            "weights": weights,
            "alpha": svm.alpha,
            "bias": primal.bias,
            "inner_solves": solves if last is None else last.inner_solves + solves,
            "decision": svm.decision,
            "quadratic_forms": self.dual.support.quadratic_forms,
            "support_vectors": int(np.count_nonzero(svm.alpha)),
            "bounded": int(np.count_nonzero(svm.alpha >= problem.loss.C)),
            "svm_steps": svm.steps,
            "svm_tolerance": self.tol,
            "svm_violation": svm.violation,
            "svm_gap": primal.objective - _dual_at(problem, svm),
        }


def evaluate(
    problem: Problem,
    theta: Array,
    *,
    alpha: Array | None,
    decision: Array | None,
    tol: float,
    cancel: NDArray[np.uint8],
    memory: BlockMemory | None = None,
    rough: bool = False,
) -> Evaluation:
    """Solve the SVM at `theta` from `alpha`.

    Parameters
    ----------
    problem : Problem
        Hinge loss over a bank.
    theta : array, shape (n_kernels,)
        In the weight set.
    alpha, decision : array, shape (n_rows,), or None
        A warm start, and f there at nearby weights.
    tol : float
        See `mkldash.solvers.svm.solve_svm`.
    cancel : array of uint8, shape (1,)
    memory : BlockMemory, optional
        Of the run; worth its upkeep where the weights move little.
    rough : bool
        Look at the likeliest rows only; see `mkldash.solvers.svm.solve_roughly`.
    """
    combined = problem.bank.combine(theta)
    if rough and math.isinf(problem.rho):
        svm = solve_roughly(
            combined, problem.y, problem.loss.C,
            alpha=alpha, decision=decision, tol=tol, cancel=cancel,
        )  # fmt: skip
    else:
        svm = solve_at(problem, combined, alpha, decision, tol, cancel, memory)
    return Evaluation(theta, combined, svm, problem.dual(svm.alpha), tol)


def solve_at(
    problem: Problem,
    combined: CombinedKernel,
    alpha: Array | None,
    decision: Array | None,
    tol: float,
    cancel: NDArray[np.uint8],
    memory: BlockMemory | None,
) -> SVMSolution:
    """The alpha step; with a finite rho, that of the support vector machine on K + c I."""
    y, C = problem.y, problem.loss.C
    if math.isfinite(problem.rho):
        K = combined.matrix()
        return solve_shifted(K, y, C, problem.rho, alpha=alpha, tol=tol, cancel=cancel)
    return solve_combined(
        combined, y, C, alpha=alpha, decision=decision, tol=tol, cancel=cancel, memory=memory
    )


def svm_tolerance(inner_tol: float | None, last: BankSnapshot | None) -> float:
    """0.02 x gap; tighter when the SVM's own gap is what keeps the bounds apart.

    A violation of the margin costs up to C times itself in every row, so
    with a huge C the tolerance must be far below the relative gap.

    Parameters
    ----------
    inner_tol : float or None
        A fixed tolerance; None ties it to the gap.
    last : BankSnapshot or None
        The one before.
    """
    if inner_tol is not None:
        return inner_tol
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


def start(problem: Problem, warm: WarmStart | None) -> tuple[Array, Array | None]:
    """Uniform weights on the boundary, or the warm ones pulled inside the set; alpha or None."""
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


def check_positive(solver: Any, *names: str) -> None:
    """Refuse hyper-parameters that are not positive numbers; None passes.

    Raises
    ------
    InputError
        Naming the hyper-parameter.
    """
    for field in dataclasses.fields(solver):
        value = getattr(solver, field.name)
        if field.name not in names or value is None:
            continue
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not (number and math.isfinite(value) and value > 0):
            raise InputError(f"{field.name} must be a positive number, not {value!r}")


def _dual_at(problem: Problem, svm: SVMSolution) -> float:
    """Dual value of the SVM at the weights it was solved with."""
    value = float(svm.alpha.sum() - 0.5 * problem.signed(svm.alpha) @ svm.decision)
    return value - float(svm.alpha @ svm.alpha) ** 2 / (8.0 * problem.rho)


def changes(names: tuple[str, ...], before: NDArray[np.intp], now: NDArray[np.intp]) -> list[str]:
    """Which kernels left or joined those above 1e-5 of the largest weight, for the log."""
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
