"""The primal point that a model's minimum holds up.

The multipliers that prove the model's minimum average its points: with sum one,
alpha = sum_j multiplier_j alpha_j is feasible, and K a is the same average of products
that the tangents have already paid for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mkldash.solvers._cutting_planes import Cut
from mkldash.solvers._one_kernel import OneKernel

Array = NDArray[np.float64]

__all__ = ["recovered"]


def recovered(
    kernel: OneKernel, cuts: Sequence[Cut], multipliers: Array
) -> list[tuple[Array, Array]]:
    """The average of the points, and the multiple of it that leaves no loss.

    Parameters
    ----------
    kernel : OneKernel
    cuts : sequence of Cut
        Tangents of `OneKernel.objective`.
    multipliers : array, shape (n_cuts,)
        Not negative, of sum one.

    Returns
    -------
    list of (alpha, decision)
        One or two feasible points, each with its K a; read-only.
    """
    problem = kernel.problem
    active = multipliers > 0.0
    held = [cut for cut, holds in zip(cuts, active, strict=True) if holds]
    share = multipliers[active]
    points = np.array([cut.alpha for cut in held])
    slope = share @ np.array([cut.gradient for cut in held])
    shifts = np.array([kernel.shift(point) for point in points])
    alpha = np.minimum(share @ points, problem.loss.C)
    # gradient = y * (K a) + shift alpha - 1, solved for K a.
    decision = problem.y * (slope + 1.0 - (share * shifts) @ points)
    found = [(alpha, decision)]
    factor = _separating(kernel, alpha, decision)
    if factor > 1.0 and factor * float(alpha.max()) <= problem.loss.C:
        found.append((factor * alpha, factor * decision))
    for pair in found:
        for array in pair:
            array.flags.writeable = False
    return found


def _separating(kernel: OneKernel, alpha: Array, decision: Array) -> float:
    """The factor on alpha with which no row has a hinge loss; 0 when there is none.

    The function of s alpha has margins of at least s times the present ones for
    s >= 1, since the share of the shift grows with its cube.  Where C is far above
    alpha, losses that hardly matter to alpha are all that the primal value is made of.
    """
    positive = kernel.problem.y > 0.0
    if positive.all() or not positive.any():
        return 0.0
    f = decision + kernel.shift(alpha) * kernel.problem.signed(alpha)
    margin = 0.5 * float(f[positive].min() - f[~positive].max())
    return 1.0 / margin if margin > 0.0 else 0.0
