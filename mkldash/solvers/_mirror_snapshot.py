"""What a mirror-descent run shows of each step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.family import Key
from mkldash.kernels.weights import Weights
from mkldash.solvers._mirror_state import Checkpoint
from mkldash.solvers.base import Snapshot

Array = NDArray[np.float64]

__all__ = ["Drawn", "MirrorSnapshot"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """What one step drew, and from what; see `MirrorSnapshot`."""

    word: tuple[int, ...] | None = None
    key: Key | None = None
    orderings: int = 1
    total: float = math.nan
    degree_law: Array
    position_laws: Array
    value: float = math.nan
    gradient: float = math.nan
    step: float = math.nan


@dataclass(frozen=True, kw_only=True, eq=False)
class MirrorSnapshot(Snapshot):
    """State of a mirror-descent run: the iterate, its average, and what was drawn.

    `weights` is the iterate theta_k and `alpha` its ridge solution.  What was
    drawn, and its laws, belong to the ridge solution of the iterate before.

    Attributes
    ----------
    average : Weights
        Mean of the iterates since the power of two before the last: half to
        three quarters of them.
    average_objective, full_average_objective : float
        Primal value at that mean and at the mean of all iterates, when last
        certified.
    certified : bool
        Whether averages and bounds were evaluated at this iteration.
    certificate : str
        How the best lower bound so far was found: ``"exact"``, or where the
        search stopped.
    step : float
        eta_k; NaN at the start.
    total : float
        C, the sum of u over all words; NaN where the step did not need it.
    degree_law : array, shape (degree + 1,)
        Probability of each degree; of the start nothing is known (NaN).
    drawn : tuple of int or None
        The word, ordered; () is the offset.  None where nothing is drawn.
    drawn_key : Key or None
        The kernel that it means.
    position_laws : array, shape (len(drawn), n_base)
        Conditional law of each position, given the letters before it.
    drawn_from : array, shape (n_rows,) or (0,)
        Dual coefficients of the iterate before, whose laws these are; none at the start.
    orderings : int
        Words that mean the kernel drawn.
    gradient : float
        Size of the gradient estimate, in the dual norm.
    drawn_value : float
        u of the kernel drawn.
    support_size : int
        Kernels with weight.
    generator : tuple of int
        State of the random generator.
    checkpoint : Checkpoint
        From where a resumed run goes on; shared by the snapshots since.
    """

    average: Weights
    average_objective: float
    full_average_objective: float
    certified: bool
    certificate: str
    step: float
    total: float
    degree_law: Array
    drawn: tuple[int, ...] | None
    drawn_key: Key | None
    position_laws: Array
    drawn_from: Array
    orderings: int
    gradient: float
    drawn_value: float
    support_size: int
    generator: tuple[int, ...]
    checkpoint: Checkpoint

    @property
    def bounds_evaluated(self) -> bool:
        """Whether the lower bound and the averages are of this iteration."""
        return self.certified

    @property
    def settles(self) -> bool:
        """No: the best point of a thousand steps may be the next one's."""
        return False
