"""The lp-norm of Kloft et al. (2011): an SVM and a closed form for the weights, in turn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.block_memory import BlockMemory
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.base import WeightSet
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers._bank_step import (
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

__all__ = ["LpNorm", "LpNormSnapshot", "lp_weights"]

#: Share of the gap's reach that a kernel without weight gets when the dual asks for it.
_NEWCOMER_SHARE = 0.01


@dataclass(frozen=True, kw_only=True, eq=False)
class LpNormSnapshot(BankSnapshot):
    """State after an SVM solve.

    Attributes
    ----------
    iterate : array, shape (n_kernels,)
        The weights of the closed form.  `weights` equals them, except after an
        iteration with every row at the bound C.
    """

    iterate: Array


@dataclass(frozen=True)
class LpNorm(Solver):
    """Alternate an SVM on the combined kernel with the closed-form weights on the lp ball.

    Over ||theta||_P <= 1 the weights that go with functions f_k are
    theta_k = ||f_k||^(2/(P+1)) / (sum_j ||f_j||^(2P/(P+1)))^(1/P).

    Parameters
    ----------
    inner_tol : float or None
        Tolerance of each SVM solve; None ties it to the outer gap: 0.02 times
        the last relative gap, between 1e-10 and 1e-3.

    References
    ----------
    M. Kloft, U. Brefeld, S. Sonnenburg and A. Zien, "lp-norm multiple kernel
    learning", Journal of Machine Learning Research 12, 2011, Algorithm 1.
    """

    inner_tol: float | None = option(
        None,
        "SVM tolerance",
        "Tolerance of each SVM solve; empty ties it to the gap (0.02 x gap, 1e-10 to 1e-3)",
        bounds=(1e-12, 1e-1),
    )
    name: ClassVar[str] = "lp-norm"
    title: ClassVar[str] = "Lp-norm, closed form"
    reference: ClassVar[str] = "Kloft et al. 2011, Algorithm 1"
    snapshot_type: ClassVar[type[Snapshot]] = LpNormSnapshot

    def __post_init__(self) -> None:
        check_positive(self, "inner_tol")

    def supports(self, problem: Problem) -> str | None:
        reason = needs_hinge_over_bank(self.name, problem)
        if reason is not None or _exponent(problem.weight_set) is not None:
            return reason
        weight_set = problem.weight_set
        if isinstance(weight_set, Fixed):
            return "lp-norm learns the kernel weights, and here they are fixed"
        if isinstance(weight_set, ElasticNet):
            return (
                "lp-norm needs a weight norm P, the set ||theta||_P <= 1; of the elastic nets only "
                f"eta = 0 (P = 2) and eta = 1 (P = 1) are such a set, not eta = {weight_set.eta:g}"
            )
        return f"lp-norm has no closed form for the set {weight_set.name!r}"

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
            tol = svm_tolerance(self.inner_tol, None)
            found = evaluate(problem, theta, alpha=alpha, decision=None, tol=tol, cancel=cancel,
                             memory=memory)  # fmt: skip
            last = _snapshot(problem, None, theta, found)
            yield last
        while cancel[0] != CANCELLED:
            assert isinstance(last, LpNormSnapshot)
            iterate = _next_iterate(problem, last)
            # alpha does not react to the weights while every row is at the bound C:
            # then the linear program over the set gives the optimum at once.
            stuck = last.bounded == problem.n_rows
            theta = _corner(problem.weight_set, last.quadratic_forms) if stuck else iterate
            tol = svm_tolerance(self.inner_tol, last)
            found = evaluate(problem, theta, alpha=last.alpha, decision=last.decision, tol=tol,
                             cancel=cancel, memory=memory)  # fmt: skip
            if cancel[0] == CANCELLED:
                return
            last = _snapshot(problem, last, iterate, found)
            yield last


def lp_weights(theta: Array, quadratic_forms: Array, P: float) -> Array:
    """Weights of ||theta||_P <= 1 that minimise sum_k ||f_k||^2 / theta_k.

    Parameters
    ----------
    theta : array, shape (n_kernels,)
        Weights at which the SVM was solved.
    quadratic_forms : array, shape (n_kernels,)
        u_k there: ||f_k||^2 = theta_k^2 u_k.
    P : float
        At least 1; infinite for the box, whose answer is all ones.

    Returns
    -------
    array, shape (n_kernels,)
        Zeros where f_k = 0, unless P is infinite; all zeros when every f_k is.
    """
    if math.isinf(P):
        return np.ones_like(theta)
    # By logarithms: theta^2 u underflows long before the weights do.
    with np.errstate(divide="ignore"):
        logs = 2.0 * np.log(theta) + np.log(np.maximum(quadratic_forms, 0.0))
    largest = float(logs.max(initial=-math.inf))
    if not math.isfinite(largest):
        return np.zeros_like(theta)
    weights = np.exp((logs - largest) / (P + 1.0))
    return weights / NormBall(P).constraint(weights)


def _exponent(weight_set: WeightSet) -> float | None:
    """P of the ball ||theta||_P <= 1, or None for a set that is no such ball."""
    if isinstance(weight_set, NormBall):
        return weight_set.nu
    if isinstance(weight_set, ElasticNet):
        return {0.0: 2.0, 1.0: 1.0}.get(weight_set.eta)
    return None


def _next_iterate(problem: Problem, last: LpNormSnapshot) -> Array:
    """The closed form, with a little weight for kernels the dual asks for and that have none.

    It multiplies weights, so that a kernel which underflowed would never come back.
    Raising weights never raises the objective; shrinking back into the set costs no
    more than the share that was added.
    """
    P = _exponent(problem.weight_set)
    assert P is not None
    forms = last.quadratic_forms
    theta = lp_weights(last.iterate, forms, P)
    if not theta.any():  # all alpha are zero: every weight is optimal
        return last.iterate
    wanted = _NEWCOMER_SHARE * min(last.gap, 0.1) * _corner(problem.weight_set, forms)
    if np.all(theta >= wanted):
        return theta
    raised = np.maximum(theta, wanted)
    return raised / NormBall(P).constraint(raised)


def _corner(weight_set: WeightSet, forms: Array) -> Array:
    """Maximiser of forms'theta over the set, in it even where P is all but 1."""
    theta = weight_set.maximise(forms)[0]
    P = _exponent(weight_set)
    assert P is not None
    return theta / max(1.0, NormBall(P).constraint(theta))


def _snapshot(
    problem: Problem, last: LpNormSnapshot | None, iterate: Array, found: Evaluation
) -> LpNormSnapshot:
    """State after an SVM solve, with what is worth a line in the log."""
    said = []
    weights = problem.bank.weights(found.theta)
    if last is not None and 0 < last.support_vectors == last.bounded == problem.n_rows:
        said.append(f"all {last.bounded} points at the bound C: weights by the linear program")
    if found.svm.violation > found.tol:
        said.append(
            f"SVM stopped at violation {found.svm.violation:.1e}, asked for {found.tol:.1e}"
        )
    if last is not None:
        said.extend(changes(problem.bank.names, last.weights.active(), weights.active()))
    return LpNormSnapshot(**found.fields(problem, last), events=tuple(said), iterate=iterate)
