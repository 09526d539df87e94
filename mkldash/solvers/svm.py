"""The inner solver: a support vector machine on one Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.base import CombinedKernel
from mkldash.kernels.block_memory import BlockMemory
from mkldash.problems.losses.hinge import Hinge

Array = NDArray[np.float64]

__all__ = ["SVMSolution", "solve_combined", "solve_roughly", "solve_shifted", "solve_svm"]

_STEPS_PER_ROW = 2000
_STEPS_AT_LEAST = 200_000
#: Below this share of support vectors a working set beats the whole matrix.
_FEW_SUPPORT_VECTORS = 0.4
_WORTH_SELECTING = 100
_LEAST_ADDED = 16
#: Rows added to the support vectors, as a share of them: when all must be right, and
#: when only the likeliest need be looked at.
_ADDED, _ADDED_ROUGHLY = 0.25, 1.0
#: Share of each class that a rough solve begins with.
_FIRST_SHARE = 0.2
_MOST_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class SVMSolution:
    """Dual coefficients of a support vector machine.

    Attributes
    ----------
    alpha : array, shape (n_rows,)
        0 <= alpha <= C, y'alpha = 0.
    decision : array, shape (n_rows,)
        K (y * alpha), without the bias.
    steps : int
        Pair updates.
    violation : float
        Largest violation of the optimality conditions, in units of the margin.
    """

    alpha: Array
    decision: Array
    steps: int
    violation: float


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
    from mkldash.solvers._compiled import train

    a, limit, flag = _begin(y, C, alpha, cancel, max_steps)
    steps, worst, decision = train(K, y, float(C), a, tol, limit, flag)
    return SVMSolution(y * a + 0.0, decision, int(steps), float(worst))


def _begin(
    y: Array,
    C: float,
    alpha: Array | None,
    cancel: NDArray[np.uint8] | None,
    max_steps: int | None,
) -> tuple[Array, int, NDArray[np.uint8]]:
    """A feasible a = y * alpha of its own, the most steps, and a flag."""
    from mkldash.solvers._compiled import feasible

    a = np.zeros_like(y) if alpha is None else y * alpha
    if not feasible(a, y, C):
        a = y * Hinge(C).feasible(y * a, y)
    limit = max(_STEPS_AT_LEAST, _STEPS_PER_ROW * y.size) if max_steps is None else max_steps
    return a, limit, np.zeros(1, dtype=np.uint8) if cancel is None else cancel


def solve_shifted(
    K: Array,
    y: Array,
    C: float,
    rho: float,
    *,
    alpha: Array | None = None,
    decision: Array | None = None,
    tol: float = 1e-3,
    cancel: NDArray[np.uint8] | None = None,
    max_steps: int | None = None,
) -> SVMSolution:
    """Solve max over alpha of sum(alpha) - 1/2 a'K a - ||a||^4 / (8 rho), a = y * alpha.

    Parameters
    ----------
    K, y, C, alpha, tol, cancel, max_steps
        As for `solve_svm`.
    rho : float
        Positive; infinite for the plain support vector machine.
    decision : array, shape (n_rows,), optional
        K a at the start, when it is at hand; ignored if `alpha` is not feasible.

    Returns
    -------
    SVMSolution
        `decision` is K a, without the shift.
    """
    from mkldash.kernels._compiled_square import symmetric_product
    from mkldash.solvers._compiled_shifted import shifted_train

    a, limit, flag = _begin(y, C, alpha, cancel, max_steps)
    known = decision is not None and alpha is not None and np.array_equal(a, y * alpha)
    begun = np.array(decision) if known else symmetric_product(K, a)
    steps, worst, f = shifted_train(K, y, float(C), float(rho), a, begun, tol, limit, flag)
    return SVMSolution(y * a + 0.0, f, int(steps), float(worst))


def solve_combined(
    combined: CombinedKernel,
    y: Array,
    C: float,
    *,
    alpha: Array | None = None,
    decision: Array | None = None,
    tol: float = 1e-3,
    cancel: NDArray[np.uint8] | None = None,
    memory: BlockMemory | None = None,
) -> SVMSolution:
    """`solve_svm` on a combined kernel, forming only what it needs of the matrix.

    Parameters
    ----------
    combined : CombinedKernel
        As a bank's ``combine`` gives it.
    decision : array, shape (n_rows,), optional
        K a at nearby weights; tells which rows may matter, so that the first
        product with this K is saved.
    y, C, alpha, tol, cancel
        As for `solve_svm`.
    memory : BlockMemory, optional
        Of the calls before, at other weights of the same bank.

    Returns
    -------
    SVMSolution
    """
    nonzero = 0 if alpha is None else int(np.count_nonzero(alpha))
    few = 0 < nonzero < _FEW_SUPPORT_VECTORS * y.size
    if alpha is not None and few and y.size >= _WORTH_SELECTING and combined.cheap_blocks:
        flag = np.zeros(1, dtype=np.uint8) if cancel is None else cancel
        found = _on_working_set(combined, y, float(C), alpha, decision, tol, flag, memory)
        if found.violation <= tol or flag[0]:
            return found
        alpha = found.alpha
    return solve_svm(combined.matrix(), y, C, alpha=alpha, tol=tol, cancel=cancel)


def solve_roughly(
    combined: CombinedKernel,
    y: Array,
    C: float,
    *,
    alpha: Array | None = None,
    decision: Array | None = None,
    tol: float = 1e-3,
    cancel: NDArray[np.uint8] | None = None,
) -> SVMSolution:
    """Solve on the likeliest rows only: a feasible point at a fraction of the cost.

    Far from the optimum of the weights an exact solution is thrown away at once.
    Without a start a fifth of each class is taken, spread evenly; then the support
    vectors and as many of the rows that violate most.  `SVMSolution.violation` is
    that of all rows.

    Parameters
    ----------
    combined, y, C, alpha, decision, tol, cancel
        As for `solve_combined`, which it falls back to for few rows and where parts
        of the matrix are not cheap.
    """
    if y.size < _WORTH_SELECTING or not combined.cheap_blocks:
        return solve_combined(
            combined, y, C, alpha=alpha, decision=decision, tol=tol, cancel=cancel
        )
    from mkldash.solvers._compiled import train, worst_pair

    a, limit, flag = _begin(y, C, alpha, cancel, None)
    if alpha is None:
        rows = _spread(y)
    else:
        known = decision is not None and np.array_equal(a, y * alpha)
        e = y - (decision if known else combined.apply(a))  # type: ignore[operator]
        rows = _working_set(a, e, y, C, np.empty(0, dtype=np.intp), False, _ADDED_ROUGHLY)
    part = a[rows]
    steps, _, _ = train(combined.block(rows), y[rows], float(C), part, 0.5 * tol, limit, flag)
    a[rows] = part
    decision = combined.apply(a)
    worst = float(worst_pair(a, y - decision, y, float(C)))
    return SVMSolution(y * a + 0.0, decision, int(steps), worst)


def _spread(y: Array) -> NDArray[np.intp]:
    """A share of the rows of each class, spread evenly."""
    chosen = []
    for label in (-1.0, 1.0):
        rows = np.flatnonzero(y == label)
        if rows.size:
            count = int(np.ceil(_FIRST_SHARE * rows.size))
            chosen.append(rows[np.linspace(0, rows.size - 1, count).astype(np.intp)])
    return np.sort(np.concatenate(chosen))


def _on_working_set(
    combined: CombinedKernel,
    y: Array,
    C: float,
    alpha: Array,
    guess: Array | None,
    tol: float,
    cancel: NDArray[np.uint8],
    memory: BlockMemory | None,
) -> SVMSolution:
    """Solve on the support vectors and the likeliest rows, then add what violates.

    Rows outside the working set have a = 0, so their matrix entries are not
    needed; one product with K per round checks them all.
    """
    from mkldash.solvers._compiled import feasible, train, worst_pair

    a = y * alpha
    if not feasible(a, y, C):
        a, guess = y * Hinge(C).feasible(alpha, y), None
    decision = combined.apply(a) if guess is None else guess
    worst = np.inf if guess is not None else float(worst_pair(a, y - decision, y, C))
    limit, steps = max(_STEPS_AT_LEAST, _STEPS_PER_ROW * y.size), 0
    rows = np.empty(0, dtype=np.intp)
    for round_number in range(_MOST_ROUNDS):
        if worst <= tol or cancel[0]:
            break
        certain = guess is None or round_number > 0
        rows = _working_set(a, y - decision, y, C, rows, certain)
        if rows.size > 2 * _FEW_SUPPORT_VECTORS * y.size:
            break
        part = a[rows]
        # Inside the set the tolerance is tighter, so that only the rows left
        # out can still violate and a second round is rare.
        block = combined.block(rows, memory)
        taken, _, _ = train(block, y[rows], C, part, 0.5 * tol, limit, cancel)
        a[rows] = part
        steps += int(taken)
        decision = combined.apply(a)
        worst = float(worst_pair(a, y - decision, y, C))
    if worst == np.inf:  # left before any product with this K
        decision = combined.apply(a)
        worst = float(worst_pair(a, y - decision, y, C))
    return SVMSolution(y * a + 0.0, decision, steps, worst)


def _working_set(
    a: Array,
    e: Array,
    y: Array,
    C: float,
    before: NDArray[np.intp],
    certain: bool,
    share: float = _ADDED,
) -> NDArray[np.intp]:
    """Rows of the last set, the support vectors, and those of the rest nearest to violating.

    When `e` is only a guess (`certain` is false), rows that do not violate yet
    are taken too.
    """
    chosen = a != 0.0
    chosen[before] = True
    bound = y * a
    rise = np.where(y > 0, bound < C, bound > 0.0)
    fall = np.where(y > 0, bound > 0.0, bound < C)
    # A row at zero can only rise (y = +1) or only fall (y = -1).
    excess = np.where(y > 0, e - e[fall].min(initial=np.inf), e[rise].max(initial=-np.inf) - e)
    excess[chosen] = -np.inf
    room = max(_LEAST_ADDED, int(share * np.count_nonzero(chosen)))
    nearest = np.argpartition(-excess, min(room, excess.size - 1))[:room]
    chosen[nearest[excess[nearest] > 0.0] if certain else nearest] = True
    return np.flatnonzero(chosen)
