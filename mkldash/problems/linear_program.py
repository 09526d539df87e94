"""Maximise a linear function on the elastic-net set.

Algorithm 3 of Citi (2019): max over theta of u'theta subject to theta >= 0
and eta ||theta||_1 + (1 - eta) ||theta||_2^2 <= 1, for u >= 0.  For eta < 1
the set is the positive part of a ball with centre -d (in every coordinate),
d = eta / (2 (1 - eta)); the farthest point of the ball is the answer unless
it has negative coordinates, which are zero at the optimum and pruned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.reciprocals import gauge

Array = NDArray[np.float64]

__all__ = ["LinearProgramResult", "PruningStep", "linear_program_steps", "maximise_linear"]


@dataclass(frozen=True, eq=False)
class PruningStep:
    """One pass.

    Attributes
    ----------
    kept : array of int
        Coordinates not pruned before this pass.
    point : array, shape (n_kernels,)
        Farthest point q of the disc in those coordinates (eq. 29).
    radius : float
        Of that disc (eq. 28); infinite at eta = 1.
    multiplier : float
        lambda of the KKT form theta_k = (u_k/lambda - eta)_+ / (2 (1 - eta)).
    pruned : array of int
        Coordinates found negative, zero from here on (eq. 30).
    """

    kept: NDArray[np.intp]
    point: Array
    radius: float
    multiplier: float
    pruned: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class LinearProgramResult:
    """Attributes
    ----------
    theta : array, shape (n_kernels,)
        A maximiser, in the set.
    value : float
        The maximum, from the dual form, so never below it by rounding in theta.
    steps : tuple of PruningStep
    """

    theta: Array
    value: float
    steps: tuple[PruningStep, ...]

    @property
    def passes(self) -> int:
        """Number of pruning passes."""
        return len(self.steps)


def linear_program_steps(u: Array, eta: float) -> Iterator[PruningStep]:
    """Yield the passes of Algorithm 3; the last prunes nothing.

    q_k < 0 is tested as u_k < eta lambda with
    lambda = ||u|| / sqrt(m eta^2 + 4 (1 - eta)), the same condition without
    the cancellation that a centre far away (eta near 1) would bring.

    Parameters
    ----------
    u : array, shape (n_kernels,)
        Not negative, not all zero.
    eta : float
        In [0, 1).

    Yields
    ------
    PruningStep
    """
    kept = np.flatnonzero(u > 0.0) if eta > 0.0 else np.arange(u.size)
    while True:
        m = kept.size
        norm = float(np.linalg.norm(u[kept]))
        multiplier = norm / np.sqrt(m * eta * eta + 4.0 * (1.0 - eta))
        point = np.zeros_like(u)
        point[kept] = _farthest(u[kept] / norm, eta)
        d = eta / (2.0 * (1.0 - eta))
        # The largest entry never leaves; at eta = 1 - 1e-16 rounding might say so.
        leaves = u[kept] < min(eta * multiplier, float(u.max()))
        pruned = kept[leaves]
        yield PruningStep(
            kept, point, float(np.sqrt(m * d * d + 2.0 * d + 1.0)), multiplier, pruned
        )
        if pruned.size == 0:
            return
        kept = kept[~leaves]


def _farthest(direction: Array, eta: float) -> Array:
    """q = (r S - eta) / (2 (1 - eta)) for a unit vector r, S = sqrt(m eta^2 + 4 (1 - eta)).

    For large eta written as a difference of squares over a sum, since the
    plain form loses everything as eta nears 1.
    """
    m = direction.size
    scaled = direction * np.sqrt(m * eta * eta + 4.0 * (1.0 - eta))
    if eta < 0.5:
        return (scaled - eta) / (2.0 * (1.0 - eta))
    square = direction**2
    bent = eta * eta * (m * square - 1.0) / (2.0 * (1.0 - eta))
    return (2.0 * square + bent) / (scaled + eta)


def maximise_linear(u: Array, eta: float) -> LinearProgramResult:
    """Algorithm 3: max over the elastic-net set of u'theta.

    Parameters
    ----------
    u : array, shape (n_kernels,)
        Clipped at zero: for positive semidefinite kernels a negative entry is
        rounding.
    eta : float
        Mixing, in [0, 1]; at 1 the answer is a vertex (any, when u ties).

    Returns
    -------
    LinearProgramResult

    Raises
    ------
    ValueError
        If u is not finite or eta lies outside [0, 1].
    """
    u = np.maximum(np.asarray(u, dtype=np.float64), 0.0)
    if not 0.0 <= eta <= 1.0:
        raise ValueError(f"eta must lie in [0, 1], not {eta!r}")
    if not np.all(np.isfinite(u)):
        raise ValueError("u must be finite")
    top = float(u.max(initial=0.0))
    if top == 0.0:
        return LinearProgramResult(np.zeros_like(u), 0.0, ())
    if eta == 1.0:
        theta = np.zeros_like(u)
        theta[np.argmax(u)] = 1.0
        return LinearProgramResult(theta, top, ())
    steps = tuple(linear_program_steps(u / top, eta))
    last = steps[-1]
    theta = np.maximum(last.point, 0.0)
    if not theta.any():  # eta within rounding of 1: a vertex, as at 1
        theta[np.argmax(u)] = 1.0
    theta = theta / gauge(theta, eta)
    excess = np.maximum(u / top - last.multiplier * eta, 0.0)
    value = last.multiplier + float(excess @ excess) / (4.0 * last.multiplier * (1.0 - eta))
    return LinearProgramResult(theta, top * value, steps)
