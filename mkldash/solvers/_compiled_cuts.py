"""Compiled interior-point method for the two programs over cuts and an elastic-net set.

Free height, the lowest point of the cuts (a linear or a conic program):

    minimise over theta in Theta, t   t   subject to   t >= values_j - forms_j'theta / 2

Fixed height, the projection onto a level set:

    minimise over theta in Theta   metric/2 |theta - centre|^2
    subject to                     level >= values_j - forms_j'theta / 2

with Theta: theta >= 0, eta sum(theta) + (1 - eta) |theta|^2 <= 1.  Primal-dual with
Mehrotra's predictor and corrector; slacks start apart from the point, so that the
point need not lie below the level.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mkldash.solvers._compiled_algebra import cholesky, room, solve_cholesky

Array = NDArray[np.float64]

__all__ = ["lowest_or_nearest"]

#: Share of the way to the boundary that a step takes at most.
_SHORT, _LONG = 0.9, 0.9999
#: Steps without a smaller error after which rounding has had its way.
_PATIENCE = 20


#: Relative increase of the diagonal, so that nearly equal cuts do not end the factor.
_PROXIMAL = 3e-14


@njit(cache=True, nogil=True)
def _first(  # type: ignore[no-untyped-def]
    values: Array, forms: Array, centre: Array, metric: float, level: float, free: bool, eta: float
):
    """A point inside the set, positive slacks and multipliers near the central path."""
    q, m = centre.shape[0], values.shape[0]
    s0 = 0.5 * (eta * q + np.sqrt(eta * eta * q * q + 4.0 * (1.0 - eta) * q))
    theta = 0.5 * centre + 0.45 / s0 if free else 0.9 * centre + 0.09 / s0
    low = values - 0.5 * np.dot(forms, theta)
    w = 1.0 - eta * theta.sum() - (1.0 - eta) * np.dot(theta, theta)
    if free:
        t = low.max() + max(low.max() - low.min(), 1e-2)
        r = t - low
        lam = (1.0 / r) / (1.0 / r).sum()
    else:
        t = level
        r = np.maximum(t - low, max(low.max() - t, 1e-12))
        lam = np.full(m, 1.0 / m)
    tau = np.dot(lam, r) / m
    slope = 0.5 * np.dot(lam, forms).max()
    s = np.maximum(tau / theta, 0.1 * slope)
    return theta, r, w, lam, s, max(tau / w, 0.5 * slope)


@njit(cache=True, nogil=True)
def _prepared(  # type: ignore[no-untyped-def]
    forms: Array, gradient: Array, slack: Array, lam: Array, D: Array, free: bool
):
    """Rows A of the constraints and the factor of diag(slack) + A D^-1 A'.

    With a free height the sum of the multipliers is known: then the cuts are taken about
    their average, or what they have in common would hide their differences, and the
    matrix is made definite along that sum.
    """
    m, q = forms.shape
    A = np.empty((m + 1, q))
    mean = np.dot(lam, forms) / lam.sum() if free else np.zeros(q)
    for j in range(m):
        A[j] = 0.5 * (forms[j] - mean)
    A[m] = -gradient
    N = np.dot(A / D, np.ascontiguousarray(A.T))
    size = 0.0
    for j in range(m + 1):
        N[j, j] += slack[j]
        if j < m:
            size += lam[j] * N[j, j]
    size /= lam.sum()
    if free:
        for j in range(m):
            for i in range(m):
                N[i, j] += size
    for j in range(m + 1):
        N[j, j] *= 1.0 + _PROXIMAL
    cholesky(N)
    return A, N, size


@njit(cache=True, nogil=True)
def lowest_or_nearest(
    values: Array,
    forms: Array,
    centre: Array,
    metric: float,
    level: float,
    free: bool,
    eta: float,
    tol: float,
    most: int,
) -> tuple[Array, Array, Array, float, int, float]:
    """Solve one of the two programs; see the head of the module.

    Parameters
    ----------
    values : array, shape (n_cuts,)
    forms : array, shape (n_cuts, n_kernels)
    centre : array, shape (n_kernels,)
        In the set.
    metric : float
        Zero with a free height.
    level : float
        Ignored with a free height.
    free : bool
        Which program.
    eta, tol : float
        `tol` bounds the complementarity and the residuals.
    most : int
        Steps at most.

    Returns
    -------
    theta : array, shape (n_kernels,)
        Strictly positive.
    multipliers : array, shape (n_cuts,)
    reduced : array, shape (n_kernels,)
        Multipliers of theta >= 0.
    price : float
        Multiplier of the set's constraint.
    steps : int
    error : float
        What `tol` bounds, at the point returned, which is the best one seen.
    """
    q, m = centre.shape[0], values.shape[0]
    e2 = 1.0 - eta
    theta, r, w, lam, s, nu = _first(values, forms, centre, metric, level, free, eta)
    sizes = np.empty(values.shape[0])  # what rounding of the cuts' heights is relative to
    for j in range(values.shape[0]):
        sizes[j] = max(1.0, max(abs(values[j]), 0.5 * forms[j].max()))
    best, kept, steps = np.inf, (theta, lam, s, nu), 0
    for step in range(most):
        height = values - 0.5 * np.dot(forms, theta)
        rr = r - (level - height)
        if free:  # the height that leaves the least of them
            rr -= np.dot(lam, rr) / lam.sum()
        gradient = eta + 2.0 * e2 * theta
        rw = w - (1.0 - eta * theta.sum() - e2 * np.dot(theta, theta))
        rd = metric * (theta - centre) - 0.5 * np.dot(lam, forms) - s + nu * gradient
        comp = np.dot(lam, r) + np.dot(s, theta) + nu * w
        error = max(max(comp, 1e-2 * np.abs(rd).max()), max(abs(rw), np.abs(rr / sizes).max()))
        if not error < np.inf or step - steps > _PATIENCE:
            break
        if error < best:
            best, kept, steps = error, (theta, lam, s, nu), step
        if error <= tol:
            break
        D = metric + s / theta + 2.0 * nu * e2
        slack = np.append(r / lam, w / nu)
        system = _prepared(forms, gradient, slack, lam, D, free)
        state = (theta, r, w, lam, s, nu, rd, rw, rr)
        zero_r, zero_q = np.zeros(m), np.zeros(q)
        d = _direction(system, D, forms, free, state, (0.0, zero_r, zero_q, 0.0, 0.0, zero_q))
        share = _share(state, d)
        after = (
            np.dot(lam + share * d[1], r + share * d[4])
            + np.dot(s + share * d[2], theta + share * d[0])
            + (nu + share * d[3]) * (w + share * d[5])
        )
        tau = (max(after, 0.0) / comp) ** 3 * comp / (m + q + 1)
        bend = share * share * e2
        more = (
            tau, d[1] * d[4], d[2] * d[0], d[3] * d[5],
            bend * np.dot(d[0], d[0]), 2.0 * bend * d[3] * d[0],
        )  # fmt: skip
        d = _direction(system, D, forms, free, state, more)
        share = min(_LONG, max(_SHORT, 1.0 - 10.0 * comp))
        share *= _share(state, d)
        theta, r, w = theta + share * d[0], r + share * d[4], w + share * d[5]
        lam, s, nu = lam + share * d[1], s + share * d[2], nu + share * d[3]
    return kept[0], kept[1], kept[2], kept[3], steps, best


@njit(cache=True, nogil=True)
def _direction(  # type: ignore[no-untyped-def]
    system, D: Array, forms: Array, free: bool, state, aim
):
    """Newton's step for complementarity products `aim[0]`, with corrections of second order.

    Solved for the multipliers, the slacks by their products with them: a tiny slack would
    not tell its multiplier.
    """
    A, N, size = system
    theta, r, w, lam, s, nu, rd, rw, rr = state
    tau, by_r, by_s, by_w, bend, turn = aim
    m = lam.shape[0]
    cs = (tau - by_s) / theta - s
    base = cs - rd - turn
    missing = 1.0 - lam.sum() if free else 0.0
    if free:
        base = base + 0.5 * missing * np.dot(lam, forms) / lam.sum()
    y = -np.dot(A, base / D)
    for j in range(m):
        y[j] += (tau - by_r[j]) / lam[j] - r[j] + rr[j]
    y[m] += (tau - by_w) / nu - w + rw + bend
    if free:
        y[:m] += size * missing
        along = np.ones(m + 1)
        along[m] = 0.0
        solve_cholesky(N, along)
        solve_cholesky(N, y)
        y -= (y[:m].sum() - missing) / along[:m].sum() * along
    else:
        solve_cholesky(N, y)
    dtheta = (base + np.dot(y, A)) / D
    dlam, dnu = y[:m].copy(), y[m]
    return (
        dtheta, dlam, cs - s / theta * dtheta, dnu,
        (tau - by_r) / lam - r - r / lam * dlam, (tau - by_w) / nu - w - w / nu * dnu,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _share(state, d) -> float:  # type: ignore[no-untyped-def]
    """Largest share of a step, at most 1, that keeps all slacks and multipliers positive."""
    share = min(
        min(room(state[0], d[0]), room(state[1], d[4])),
        min(room(state[3], d[1]), room(state[4], d[2])),
    )
    if d[5] < 0.0:
        share = min(share, -state[2] / d[5])
    return min(share, -state[5] / d[3]) if d[3] < 0.0 else share
