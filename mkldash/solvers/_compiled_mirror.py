"""Compiled parts of the mirror step: the roots that put a point back into the ball."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["onto_ball", "soft_threshold"]

#: Steps that halve or better; doubles are used up long before.
_MOST_STEPS = 200

#: Quadruplings that span the doubles.
_MOST_DOUBLINGS = 520


@njit(cache=True, nogil=True)
def _mass(z: Array, lam: float, m: float) -> float:
    """Sum of grad Psi*((z - lam)_+), lam below the largest entry."""
    top = z.max() - lam
    powers = 0.0
    masses = 0.0
    for i in range(z.shape[0]):
        w = z[i] - lam
        if w > 0.0:
            share = w / top
            power = share ** (m - 1.0)
            masses += power
            powers += power * share
    # ||w||_m^(2-m) sum w^(m-1), by the shares of the largest.
    return top * powers ** ((2.0 - m) / m) * masses


@njit(cache=True, nogil=True)
def _shrunk(z: float, c: float, nu: float) -> float:
    """The theta in [0, z] with theta + c theta^(nu-1) = z, nu > 2, by safeguarded Newton."""
    if c <= 0.0 or z <= 0.0:
        return z
    low, high = 0.0, z
    theta = min(z, (z / c) ** (1.0 / (nu - 1.0)))
    for _ in range(_MOST_STEPS):
        power = c * theta ** (nu - 2.0)
        value = theta + power * theta - z
        if value > 0.0:
            high = theta
        else:
            low = theta
        step = value / (1.0 + (nu - 1.0) * power)
        following = theta - step
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - theta) <= 2e-16 * theta:
            return following
        theta = following
    return theta


@njit(cache=True, nogil=True)
def _norm(z: Array, lam: float, nu: float, out: Array) -> float:
    """||theta||_nu with theta_i + lam nu theta_i^(nu-1) = z_i, theta into `out`."""
    largest = 0.0
    for i in range(z.shape[0]):
        out[i] = _shrunk(z[i], lam * nu, nu)
        largest = max(largest, out[i])
    total = 0.0
    for i in range(z.shape[0]):
        total += (out[i] / largest) ** nu
    return largest * total ** (1.0 / nu)


@njit(cache=True, nogil=True)
def _excess(z: Array, lam: float, exponent: float, out: Array) -> float:
    """What is too much at lam; falls as lam grows.  Mass if `out` is empty, else norm."""
    if out.shape[0] == 0:
        return _mass(z, lam, exponent) - 1.0
    return _norm(z, lam, exponent, out) - 1.0


@njit(cache=True, nogil=True)
def _root(z: Array, low: float, high: float, exponent: float, out: Array) -> float:
    """Where `_excess` is zero in [low, high], from the side where it is not above."""
    f_low = _excess(z, low, exponent, out)
    f_high = _excess(z, high, exponent, out)
    if f_high > 0.0:  # by rounding
        return high
    side = 0
    for _ in range(_MOST_STEPS):
        if high - low <= 2e-16 * abs(high):
            break
        # Illinois: a secant that halves the end which stays.
        middle = (low * f_high - high * f_low) / (f_high - f_low)
        if not low < middle < high:
            middle = 0.5 * (low + high)
            if middle == low or middle == high:
                break
        f = _excess(z, middle, exponent, out)
        if f > 0.0:
            low, f_low = middle, f
            if side == 1:
                f_high *= 0.5
            side = 1
        else:
            high, f_high = middle, f
            if side == -1:
                f_low *= 0.5
            side = -1
            if f > -4e-16:
                break
    return high


@njit(cache=True, nogil=True)
def soft_threshold(z: Array, m: float) -> Array:
    """(z - lam)_+ with lam >= 0 such that sum grad Psi* of it is 1 (MATH 1.2, nu = 1).

    Parameters
    ----------
    z : array, shape (s,)
        Not negative, with a mass above 1 at lam = 0.
    m : float
        r/(r - 1), above 1 and large: shares are taken before powers.

    Returns
    -------
    array, shape (s,)
        With a mass of at most 1, up to rounding.
    """
    # What is left of the largest coordinate is between 1/s and 1, as its mass alone is that,
    # and each of s at most as much.  Relative to it nothing is lost, however large z is.
    below = z - z.max()
    lam = _root(below, -1.0, -1.0 / z.shape[0], m, np.empty(0))
    return np.maximum(below - lam, 0.0)


@njit(cache=True, nogil=True)
def onto_ball(z: Array, nu: float) -> Array:
    """The point of the unit nu-ball nearest to z >= 0, 2 < nu < inf (MATH 1.2).

    Parameters
    ----------
    z : array, shape (s,)
        Outside the ball, not negative.
    nu : float

    Returns
    -------
    array, shape (s,)
        Inside the ball, up to rounding on its boundary.
    """
    out = np.empty_like(z)
    low, high = 0.0, 1.0
    for _ in range(_MOST_DOUBLINGS):
        if not _excess(z, high, nu, out) > 0.0:
            break
        low, high = high, 4.0 * high
    _norm(z, _root(z, low, high, nu, out), nu, out)
    return out
