"""The inner solver: a support vector machine on one Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.base import CombinedKernel
from mkldash.problems.certificates import hinge_bias
from mkldash.problems.losses.hinge import Hinge

Array = NDArray[np.float64]

__all__ = ["SVMSolution", "solve_combined", "solve_svm", "violation"]

_STEPS_PER_ROW = 2000
_STEPS_AT_LEAST = 200_000


@dataclass(frozen=True, eq=False)
class SVMSolution:
    """Dual coefficients of a support vector machine.

    Attributes
    ----------
    alpha : array, shape (n_rows,)
        0 <= alpha <= C, y'alpha = 0.
    bias : float
        Exact minimiser of the hinge sum at `decision`.
    decision : array, shape (n_rows,)
        K (y * alpha), without the bias.
    steps : int
        Pair updates.
    violation : float
        Largest violation of the optimality conditions, in units of the margin.
    """

    alpha: Array
    bias: float
    decision: Array
    steps: int
    violation: float


def violation(a: Array, e: Array, y: Array, C: float) -> float:
    """Largest violating pair: max e over {a can rise} - min e over {a can fall}.

    Parameters
    ----------
    a, e, y : array, shape (n_rows,)
        Signed dual coefficients, y - K a, labels.
    C : float
    """
    rise = np.where(y > 0, a < C, a < 0.0)
    fall = np.where(y > 0, a > 0.0, a > -C)
    if not rise.any() or not fall.any():
        return 0.0
    return max(0.0, float(e[rise].max() - e[fall].min()))


def solve_svm(
    K: Array,
    y: Array,
    C: float,
    *,
    alpha: Array | None = None,
    tol: float = 1e-3,
    cancel: NDArray[np.uint8] | None = None,
    max_steps: int | None = None,
) -> SVMSolution:
    """Solve max over alpha of sum(alpha) - 1/2 a'K a, a = y * alpha.

    Parameters
    ----------
    K : array, shape (n_rows, n_rows)
        Symmetric, positive semidefinite.
    y : array, shape (n_rows,)
        Labels, -1 or +1.
    C : float
        0 <= alpha <= C.
    alpha : array, shape (n_rows,), optional
        Warm start; moved into the feasible set first.
    tol : float
        Violation of the optimality conditions at which to stop (the same
        quantity that libsvm's ``tol`` bounds).
    cancel : array of uint8, shape (1,), optional
        Read every 256 steps; once set the present point is returned.
    max_steps : int, optional
        Default 200,000 or 2,000 per row: with a huge C the tolerance may be
        out of reach, and the caller's certificate shows it.

    Returns
    -------
    SVMSolution
    """
    from mkldash.solvers._compiled import product, smo

    flag = np.zeros(1, dtype=np.uint8) if cancel is None else cancel
    limit = max(_STEPS_AT_LEAST, _STEPS_PER_ROW * y.size) if max_steps is None else max_steps
    if alpha is None:
        a = np.zeros_like(y)
        e = y.copy()
    else:
        a = y * Hinge(C).feasible(alpha, y)
        e = y - product(K, a)
    steps, worst, before = 0, np.inf, np.inf
    while steps < limit and not flag[0]:
        taken, _ = smo(K, y, C, a, e, tol, limit - steps, flag)
        steps += int(taken)
        e = y - product(K, a)  # removes what rounding gathered over the steps
        before, worst = worst, violation(a, e, y, C)
        if worst <= tol or taken == 0 or worst >= before:
            break
    decision = y - e
    bias, _ = hinge_bias(decision, y)
    return SVMSolution(y * a, bias, decision, steps, float(worst))



def solve_combined(
    combined: CombinedKernel,
    y: Array,
    C: float,
    *,
    alpha: Array | None = None,
    tol: float = 1e-3,
    cancel: NDArray[np.uint8] | None = None,
) -> SVMSolution:
    """`solve_svm` on a combined kernel, forming only what it needs of the matrix.

    Parameters
    ----------
    combined : CombinedKernel
        As a bank's ``combine`` gives it.
    y, C, alpha, tol, cancel
        As for `solve_svm`.

    Returns
    -------
    SVMSolution
    """
    return solve_svm(combined.matrix(), y, C, alpha=alpha, tol=tol, cancel=cancel)
