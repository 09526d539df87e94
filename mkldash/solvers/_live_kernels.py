"""Which kernels an iteration of block-coordinate descent may leave out, and which it may not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["DROPPED_SHARE", "live_part", "missed"]

#: Share of the gap that kernels left out of an iteration may carry together.
DROPPED_SHARE = 0.01


def live_part(iterate: Array, influence: Array, gap: float) -> Array:
    """`iterate` with exact zeros where a weight is too small to matter yet.

    The kernels dropped carry together at most 0.01 x gap of
    sum_k theta_k u_k, as far as the last u tells; `missed` looks afterwards.
    The set is closed downwards, so the result stays feasible and its primal
    value is a valid upper bound; the iterate itself keeps every weight.
    """
    share = iterate * influence
    order = np.argsort(share, kind="stable")
    allowed = DROPPED_SHARE * min(gap, 0.1) * float(share.sum())
    small = order[np.cumsum(share[order]) <= allowed]
    live = iterate.copy()
    live[small] = 0.0
    return live


def missed(theta: Array, iterate: Array, influence: Array, gap: float) -> Array | None:
    """Weights with dropped kernels back that turn out to matter; None when none does.

    J is convex in the weights with slope -u_k/2, u_k at the alpha without the
    dropped kernels; so with them it is lower by at most half the sum of their
    theta_k u_k.  The u_k before may have been tiny just because a kernel with
    much weight did its work well.
    """
    dropped = np.flatnonzero((theta == 0.0) & (iterate > 0.0))
    if not dropped.size:
        return None
    share = iterate * influence
    allowed = 2.0 * DROPPED_SHARE * min(gap, 0.1) * float(share.sum())
    if float(share[dropped].sum()) <= allowed:
        return None
    return live_part(iterate, influence, gap)
