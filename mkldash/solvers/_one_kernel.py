"""What the solvers for a single combined kernel share: its matrix, f, and certified bounds.

    f(alpha) = 1/2 a'K a + ||a||^4 / (8 rho) - sum(alpha),   a = y * alpha

is minimised over 0 <= alpha <= C, y'alpha = 0; -f is the dual of `Problem`
(Liu et al. 2009, eq. 7; an infinite rho makes it the support vector machine).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.problem import PrimalValue, Problem
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers.base import Best, Snapshot, Solver, WarmStart, needs_hinge_over_bank

Array = NDArray[np.float64]

__all__ = ["OneKernel", "OneKernelSnapshot", "OneKernelSolver"]

#: Unless the bound is below this share of C, the box stays as the paper has it.
_FAR_BELOW = 0.1


@dataclass(frozen=True, kw_only=True, eq=False)
class OneKernelSnapshot(Snapshot):
    """State that all of them have.

    Attributes
    ----------
    decision : array, shape (n_rows,)
        K a, without the shift and the bias.
    shift : float
        c = ||alpha||^2 / (2 rho): the optimum is that of a support vector
        machine on K + c I.
    support_vectors, bounded : int
        Rows with alpha > 0, and those of them at C.
    """

    decision: Array
    shift: float
    support_vectors: int
    bounded: int


@dataclass(frozen=True)
class OneKernelSolver(Solver):
    """Base of the solvers that learn no kernel weights."""

    def supports(self, problem: Problem) -> str | None:
        reason = needs_hinge_over_bank(self.name, problem)
        if reason is not None:
            return reason
        if problem.bank.n_kernels > 1 and not isinstance(problem.weight_set, Fixed):
            return (
                f"{self.name} learns no kernel weights, and there are "
                f"{_count(problem.bank.n_kernels)}; take one kernel, or block-coordinate"
            )
        return None


def _count(n_kernels: int) -> str:
    # A probe of two stands for however many there will be.
    return "several kernels" if n_kernels == 2 else f"{n_kernels} kernels"


@dataclass(frozen=True, eq=False)
class OneKernel:
    """A problem whose kernel weights are given, as one matrix.

    Attributes
    ----------
    problem : Problem
    theta : array, shape (n_kernels,)
    K : array, shape (n_rows, n_rows)
        Combined matrix; not to be written to.
    """

    problem: Problem
    theta: Array
    K: Array

    @classmethod
    def of(cls, problem: Problem) -> OneKernel:
        """The combined matrix at the weights that the problem's set gives."""
        theta = problem.weight_set.start(problem.bank.n_kernels)
        return cls(problem, theta, problem.bank.combine(theta).matrix())

    def decision(self, alpha: Array) -> Array:
        """K a, shape (n_rows,); one product with the matrix."""
        from mkldash.kernels._compiled_square import symmetric_product

        return symmetric_product(self.K, self.problem.signed(alpha))

    def shift(self, alpha: Array) -> float:
        """c = ||alpha||^2 / (2 rho)."""
        return float(alpha @ alpha) / (2.0 * self.problem.rho)

    def objective(self, alpha: Array, decision: Array) -> float:
        """f(alpha), given `decision` = K a."""
        square = float(alpha @ alpha)
        quadratic = 0.5 * float(self.problem.signed(alpha) @ decision)
        return quadratic + square**2 / (8.0 * self.problem.rho) - float(alpha.sum())

    def gradient(self, alpha: Array, decision: Array) -> Array:
        """f'(alpha) = y * (K a) + c alpha - 1, shape (n_rows,)."""
        return self.problem.y * decision + self.shift(alpha) * alpha - 1.0

    @property
    def box(self) -> float:
        """A bound on the optimum's coefficients: C, or (2 rho sqrt(n))^(1/3) far below it.

        Shrinking the optimum does not make f smaller, so its slope along the ray is
        not positive there: a'Ka + ||alpha||^4/(2 rho) <= sum(alpha) <= sqrt(n) ||alpha||.
        """
        problem = self.problem
        reach = (2.0 * problem.n_rows**0.5) ** (1 / 3) * problem.rho ** (1 / 3)
        return reach if reach < _FAR_BELOW * problem.loss.C else problem.loss.C

    def start(self, warm: WarmStart | None) -> Array:
        """Feasible dual coefficients to begin with: the warm ones, else zeros."""
        problem = self.problem
        if warm is None or warm.alpha is None or warm.alpha.shape != (problem.n_rows,):
            return np.zeros(problem.n_rows)
        return problem.loss.feasible(warm.alpha, problem.y)

    def certified(
        self,
        last: Snapshot | None,
        alpha: Array,
        decision: Array,
        others: Sequence[tuple[Array, Array]] = (),
    ) -> dict[str, Any]:
        """The fields of `OneKernelSnapshot` after `last`, both bounds certified.

        Parameters
        ----------
        last : Snapshot or None
            The one before; None for iteration 0.
        alpha, decision : array, shape (n_rows,)
            Feasible, and K a.
        others : sequence of the same pairs
            More points that may be the best one and that bound the optimum.
        """
        problem = self.problem
        primal = self.primal(alpha, decision)
        weights = problem.bank.weights(self.theta)
        iteration = 0 if last is None else last.iteration + 1
        best = None if last is None else last.best
        # alpha = 0 certifies zero, so no bound below it is ever reported.
        lower = 0.0 if last is None else last.lower
        for point, product in ((alpha, decision), *others):
            value = primal if point is alpha else self.primal(point, product)
            lower = max(lower, self._dual(point, product))
            if best is None or value.objective < best.objective:
                best = Best(
                    iteration=iteration,
                    objective=value.objective,
                    weights=weights,
                    alpha=point,
                    bias=value.bias,
                )
        assert best is not None
        return {
            "iteration": iteration,
            "objective": primal.objective,
            "upper": best.objective,
            "lower": lower,
            "best_iteration": best.iteration,
            "best": best,
            "weights": weights,
            "alpha": alpha,
            "bias": primal.bias,
            "decision": decision,
            "shift": self.shift(alpha),
            "support_vectors": int(np.count_nonzero(alpha)),
            "bounded": int(np.count_nonzero(alpha >= problem.loss.C)),
        }

    def primal(self, alpha: Array, decision: Array) -> PrimalValue:
        """`Problem.primal`, given `decision` = K a."""
        problem = self.problem
        return problem.primal(self.theta, alpha, problem.bank.combine(self.theta), decision)

    def _dual(self, alpha: Array, decision: Array) -> float:
        """`Problem.dual`, given `decision` = K a."""
        problem, forms = self.problem, None
        if problem.bank.n_kernels == 1 and self.theta[0] > 0.0:
            forms = np.array([max(0.0, float(problem.signed(alpha) @ decision)) / self.theta[0]])
        return problem.dual(alpha, forms).objective
