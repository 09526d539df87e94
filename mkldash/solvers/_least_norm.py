"""The level method's quadratic program: the shortest step below a level, in two solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["FEW_STEPS", "SOLVERS", "LeastNorm", "Shortest", "by_daqp", "by_piqp"]

#: DAQP takes a step for each bound that becomes active, and each costs more than the
#: last; a program that needs more is PIQP's.  docs/qp-solvers.md has the measurement.
FEW_STEPS = 250
#: In units of a lower bound on the step.  Tighter, nearly parallel cuts make DAQP cycle.
_DAQP_TOLERANCE = 1e-9
_DAQP_STEPS = 100_000
_DAQP_OPTIMAL = 1
_PIQP_TOLERANCE = 1e-10
#: What the solvers take for no bound at all.
_UNBOUNDED = 1e30


@dataclass(frozen=True, eq=False)
class LeastNorm:
    """min ||x||, low <= x <= high, rows[0]'x = 0, rows[1:] x <= most.

    The step to the nearest point below a level, x = (a - alpha) / unit; the tangents'
    rows have length one.

    Attributes
    ----------
    rows : array, shape (1 + n_cuts, n_rows)
    most : array, shape (n_cuts,)
    low, high : array, shape (n_rows,)
    unit : float
        The least distance at which the point can be, so that ||x|| >= 1.
    """

    rows: Array
    most: Array
    low: Array
    high: Array
    unit: float

    @classmethod
    def of(cls, rows: Array, apart: Array, below: Array, above: Array, unit: float) -> LeastNorm:
        """The program in units of `unit`, with bounds farther than any step cut short."""

        def scaled(side: Array) -> Array:
            with np.errstate(over="ignore"):
                return np.clip(side / unit, -_UNBOUNDED, _UNBOUNDED)

        return cls(rows, scaled(apart), scaled(below), scaled(above), unit)


@dataclass(frozen=True, eq=False)
class Shortest:
    """What a solver returned.

    Attributes
    ----------
    x : array, shape (n_rows,)
    iterations : int
        Changes of the active set, or interior-point steps.
    optimal : bool
        Whether the solver says so.
    """

    x: Array
    iterations: int
    optimal: bool


def by_daqp(program: LeastNorm, steps: int = _DAQP_STEPS) -> Shortest:
    """A dual active-set method; not optimal when it needs more than `steps`."""
    import daqp

    n_rows, n_cuts = program.low.size, program.most.size
    upper = np.concatenate((program.high, [0.0], program.most))
    lower = np.concatenate((program.low, [0.0], np.full(n_cuts, -_UNBOUNDED)))
    sense = np.zeros(upper.size, dtype=np.int32)
    sense[n_rows] = 5  # an equality, always in the active set
    x, _, flag, info = daqp.solve(
        None, None, program.rows, upper, lower, sense,
        primal_tol=_DAQP_TOLERANCE, dual_tol=_DAQP_TOLERANCE, iter_limit=steps,
    )  # fmt: skip
    return Shortest(np.asarray(x), int(info["iterations"]), flag == _DAQP_OPTIMAL)


def by_piqp(program: LeastNorm) -> Shortest:
    """An interior-point method: its steps cost the same whatever is active."""
    import piqp
    from scipy import sparse

    n_rows = program.low.size
    solver = piqp.SparseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_duality_gap_abs = _PIQP_TOLERANCE
    settings.eps_rel = settings.eps_duality_gap_rel = 0.0
    solver.setup(
        sparse.eye(n_rows, format="csc"), np.zeros(n_rows),
        sparse.csc_matrix(program.rows[:1]), np.zeros(1),
        sparse.csc_matrix(program.rows[1:]), None, program.most, program.low, program.high,
    )  # fmt: skip
    status = solver.solve()
    optimal = status == piqp.PIQP_SOLVED
    return Shortest(np.array(solver.result.x), int(solver.result.info.iter), optimal)


#: In the order in which they are asked, until one returns a sound point.
SOLVERS: tuple[Callable[[LeastNorm], Shortest], ...] = (
    partial(by_daqp, steps=FEW_STEPS),
    by_piqp,
    by_daqp,
)
