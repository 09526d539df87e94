"""Compiled interior-point method for the model of the second-order step.

    minimise over theta, t   t + 1/2 |B theta - target|^2
                               + 1/2 sum_k metric_k (theta_k - centre_k)^2
    subject to               t >= values_j - forms_j'theta / 2,   theta >= 0,
                             eta sum(theta) + (1 - eta) |theta|^2 <= 1

Primal-dual with Mehrotra's predictor and corrector.  B and the cuts have few rows, so
that with many kernels the step is solved through a matrix of the size of their number,
and with few kernels through one of the kernels'.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mkldash.solvers._compiled_algebra import cholesky, room, solve_cholesky

Array = NDArray[np.float64]

__all__ = ["minimise_bundle"]

#: Up to so many kernels the matrix of the kernels is the better conditioned way.
_FEW = 128
#: Share of the way to the boundary that a step takes at most.
_SHORT, _LONG = 0.9, 0.999
#: Steps without a smaller error after which rounding has had its way.
_PATIENCE = 5


@njit(cache=True, nogil=True)
def _factor(H: Array, P: Array, weights: Array, static: int, D: Array, few: bool) -> Array:
    """Factor of the matrix of the kernels, t taken out; or of that of the rows of P.

    The first is diag(D) + H + sum_i weights_i p_i p_i' with the cuts about their mean, the
    second diag(1/weights) + P diag(1/D) P': there nothing large is subtracted.
    """
    if few:
        omega = weights[static + 1 :]
        rows = P[static:].copy()
        mean = np.dot(omega, rows[1:]) / omega.sum()
        rows[1:] -= mean
        for i in range(rows.shape[0]):
            rows[i] *= np.sqrt(weights[static + i])
        M = H + np.dot(np.ascontiguousarray(rows.T), rows)
        for k in range(D.shape[0]):
            M[k, k] += D[k]
    else:
        M = np.dot(P / D, np.ascontiguousarray(P.T))
        for i in range(P.shape[0]):
            M[i, i] += 1.0 / weights[i]
    cholesky(M)
    return M


@njit(cache=True, nogil=True)
def _first(
    values: Array, forms: Array, centre: Array, eta: float
) -> tuple[Array, float, float, Array, Array, float]:
    """A strictly feasible point near the centre, and multipliers on the central path."""
    q, m = centre.shape[0], values.shape[0]
    s0 = 0.5 * (eta * q + np.sqrt(eta * eta * q * q + 4.0 * (1.0 - eta) * q))
    theta = 0.5 * centre + 0.45 / s0
    low = values - 0.5 * np.dot(forms, theta)
    t = low.max() + max(low.max() - low.min(), 1e-2)
    r = t - low
    lam = (1.0 / r) / (1.0 / r).sum()
    w = 1.0 - eta * theta.sum() - (1.0 - eta) * np.dot(theta, theta)
    tau = np.dot(lam, r) / m
    slope = 0.5 * np.dot(lam, forms).max()
    s = np.maximum(tau / theta, 0.1 * slope)
    return theta, t, w, lam, s, max(tau / w, 0.5 * slope)


@njit(cache=True, nogil=True)
def minimise_bundle(
    values: Array,
    forms: Array,
    B: Array,
    target: Array,
    metric: Array,
    centre: Array,
    eta: float,
    tol: float,
    most: int,
) -> tuple[Array, Array, Array, float, int, float]:
    """Minimise the model; see the head of the module.

    Parameters
    ----------
    values : array, shape (n_cuts,)
    forms : array, shape (n_cuts, n_kernels)
        Of size one or less together with `values`.
    B : array, shape (rank, n_kernels)
    target : array, shape (rank,)
    metric, centre : array, shape (n_kernels,)
        Not negative; `centre` inside the set.
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
    q, m, static = centre.shape[0], values.shape[0], B.shape[0]
    few = q <= max(_FEW, static + m + 1)
    e2 = 1.0 - eta
    P, weights = np.empty((static + 1 + m, q)), np.ones(static + 1 + m)
    P[:static], P[static + 1 :] = B, -0.5 * forms
    H = np.dot(np.ascontiguousarray(B.T), B) if few else np.empty((0, 0))
    theta, t, w, lam, s, nu = _first(values, forms, centre, eta)
    best, kept, steps = np.inf, (theta, lam, s, nu), 0
    for step in range(most):
        r = t - values + 0.5 * np.dot(forms, theta)
        gradient = eta + 2.0 * e2 * theta
        rw = w - (1.0 - eta * theta.sum() - e2 * np.dot(theta, theta))
        rd = (
            np.dot(np.dot(B, theta) - target, B) + metric * (theta - centre)
            - 0.5 * np.dot(lam, forms) - s + nu * gradient
        )  # fmt: skip
        comp = np.dot(lam, r) + np.dot(s, theta) + nu * w
        error = max(comp, 1e-2 * np.abs(rd).max(), abs(rw))
        if not error < np.inf or step - steps > _PATIENCE:
            break
        if error < best:
            best, kept, steps = error, (theta, lam, s, nu), step
        if error <= tol or comp <= 1e-3 * tol:
            break
        D = metric + s / theta + 2.0 * nu * e2
        P[static], weights[static], weights[static + 1 :] = gradient, nu / w, lam / r
        L = _factor(H, P, weights, static, D, few)
        state = (theta, r, w, lam, s, nu, rd, rw)
        zero_r, zero_q = np.zeros(m), np.zeros(q)
        d = _direction(L, P, weights, D, few, state, (0.0, zero_r, zero_q, 0.0, 0.0, zero_q))
        share = min(_primal_room(state, d), _dual_room(state, d))
        after = (
            np.dot(lam + share * d[2], r + share * d[5])
            + np.dot(s + share * d[3], theta + share * d[0])
            + (nu + share * d[4]) * (w + share * d[6])
        )
        tau = (max(after, 0.0) / comp) ** 3 * comp / (m + q + 1)
        bend = share * share * e2
        more = (
            tau, d[2] * d[5], d[3] * d[0], d[4] * d[6],
            bend * np.dot(d[0], d[0]), 2.0 * bend * d[4] * d[0],
        )  # fmt: skip
        d = _direction(L, P, weights, D, few, state, more)
        share = min(_LONG, max(_SHORT, 1.0 - 10.0 * comp))
        share *= min(_primal_room(state, d), _dual_room(state, d))
        theta, t, w = theta + share * d[0], t + share * d[1], w + share * d[6]
        lam, s, nu = lam + share * d[2], s + share * d[3], nu + share * d[4]
    return kept[0], kept[1], kept[2], kept[3], steps, best


@njit(cache=True, nogil=True)
def _direction(  # type: ignore[no-untyped-def]
    L: Array, P: Array, weights: Array, D: Array, few: bool, state, aim
):
    """Newton's step for complementarity products `aim[0]`, with corrections of second order."""
    theta, r, w, lam, s, nu, rd, rw = state
    tau, by_r, by_s, by_w, bend, turn = aim
    m = lam.shape[0]
    ball = P.shape[0] - m - 1
    cl = (tau - by_r) / r - lam
    cs = (tau - by_s) / theta - s
    cn = (tau - by_w + nu * (rw + bend)) / w - nu
    omega, gradient, cuts = weights[ball + 1 :], P[ball], P[ball + 1 :]
    missing = 1.0 - lam.sum()
    rhs = cs - rd - turn
    if few:
        total = omega.sum()
        mean = np.dot(omega, cuts) / total
        rest = cl.sum() - missing
        dtheta = rhs - cn * gradient - np.dot(cl, cuts) + rest * mean
        solve_cholesky(L, dtheta)
        dt = rest / total + np.dot(mean, dtheta)
        dr = dt - np.dot(cuts, dtheta)
        dlam = cl - omega * dr
        dnu = cn + weights[ball] * np.dot(gradient, dtheta)
    else:
        y = np.dot(P, rhs / D)
        y[ball] += cn / weights[ball]
        y[ball + 1 :] += cl / omega
        by_t = np.zeros(P.shape[0])
        by_t[ball + 1 :] = 1.0
        solve_cholesky(L, y)
        solve_cholesky(L, by_t)
        dt = (y[ball + 1 :].sum() - missing) / by_t[ball + 1 :].sum()
        y -= dt * by_t
        dtheta = (rhs - np.dot(y, P)) / D
        dlam, dnu = y[ball + 1 :].copy(), y[ball]
        dr = dt - np.dot(cuts, dtheta)
    dw = -np.dot(gradient, dtheta) - rw - bend
    return dtheta, dt, dlam, cs - s / theta * dtheta, dnu, dr, dw


@njit(cache=True, nogil=True)
def _primal_room(state, d) -> float:  # type: ignore[no-untyped-def]
    share = min(room(state[0], d[0]), room(state[1], d[5]))
    return min(share, -state[2] / d[6]) if d[6] < 0.0 else share


@njit(cache=True, nogil=True)
def _dual_room(state, d) -> float:  # type: ignore[no-untyped-def]
    share = min(room(state[3], d[2]), room(state[4], d[3]))
    return min(share, -state[5] / d[4]) if d[4] < 0.0 else share
