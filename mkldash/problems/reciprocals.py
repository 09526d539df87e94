"""Minimise a weighted sum of reciprocals on the elastic-net set.

Algorithm 2 of Citi (2019): min over theta of sum_k beta_k / theta_k subject
to theta >= 0 and eta ||theta||_1 + (1 - eta) ||theta||_2^2 <= 1.  Each step
costs O(n_kernels) and carries a lower bound on the optimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = [
    "ALTERNATE_BELOW",
    "ReciprocalsResult",
    "ReciprocalsStep",
    "gauge",
    "gauge_gradient",
    "minimise_reciprocals",
    "reciprocals_steps",
]

#: Below this eta the plane step alternates with the quadratic one (section 3.5).
ALTERNATE_BELOW = 0.25


def gauge(x: Array, eta: float) -> float:
    """s(x): the factor that brings x onto the boundary of the elastic-net set.

    Parameters
    ----------
    x : array, shape (n_kernels,)
        Not negative.
    eta : float
        Mixing of the set, 0 (ball) to 1 (simplex).

    Returns
    -------
    float
        Positive root of s^2 - eta ||x||_1 s - (1 - eta) ||x||_2^2 = 0, so that
        x / s(x) meets the constraint with equality (eq. 10 and 12).
    """
    total = float(x.sum())
    return 0.5 * (eta * total + np.sqrt((eta * total) ** 2 + 4.0 * (1.0 - eta) * float(x @ x)))


def gauge_gradient(x: Array, eta: float) -> Array:
    """q = grad s(x), shape (n_kernels,), each entry in (0, 1]; eta when x is 0."""
    total = float(x.sum())
    root = np.sqrt((eta * total) ** 2 + 4.0 * (1.0 - eta) * float(x @ x))
    return 0.5 * (eta + (eta * eta * total + 4.0 * (1.0 - eta) * x) / root)


@dataclass(frozen=True, eq=False)
class ReciprocalsStep:
    """One inner iterate.

    Attributes
    ----------
    x : array, shape (n_kernels,)
        The iterate; theta = x / s(x).
    rule : str
        ``"start"``, ``"plane"`` (eq. 13) or ``"quadratic"`` (eq. 21).
    s, g : float
        Gauge and sum of reciprocals at x.
    upper : float
        h(x) = s(x) g(x), the objective at theta.
    lower : float
        g(x)^2 <= h* after a plane step; minus infinity otherwise.
    """

    x: Array
    rule: str
    s: float
    g: float
    upper: float
    lower: float


@dataclass(frozen=True, eq=False)
class ReciprocalsResult:
    """The minimiser and its certificate.

    Attributes
    ----------
    theta : array, shape (n_kernels,)
        On the boundary of the set; exactly zero where beta is.
    upper, lower : float
        Objective at theta, and a bound below the optimum.
    steps : tuple of ReciprocalsStep
        All iterates on the kernels with beta > 0 (positions in `support`).
    support : array of int
    """

    theta: Array
    upper: float
    lower: float
    steps: tuple[ReciprocalsStep, ...]
    support: NDArray[np.intp]

    @property
    def iterations(self) -> int:
        """Number of steps taken, the start not counted."""
        return len(self.steps) - 1 if self.steps else 0


def reciprocals_steps(
    beta: Array, eta: float, start: Array | None = None
) -> Iterator[ReciprocalsStep]:
    """Yield the iterates of Algorithm 2 for ever, the start first.

    Parameters
    ----------
    beta : array, shape (n_kernels,)
        Positive.
    eta : float
    start : array, shape (n_kernels,), optional
        Positive; only its direction matters.

    Yields
    ------
    ReciprocalsStep
    """
    x = np.ones_like(beta) if start is None else start.astype(np.float64)
    s, g = gauge(x, eta), _ratios(beta, x)
    # The quadratic step lowers s + g, so it wants the scale where s = g.
    x = x * np.sqrt(g / s)
    s = g = float(np.sqrt(s * g))
    yield ReciprocalsStep(x, "start", s, g, s * g, -np.inf)
    plane = eta >= ALTERNATE_BELOW
    while True:
        q = gauge_gradient(x, eta)
        rule = "plane" if plane else "quadratic"
        x = np.sqrt(beta / q) if plane else np.cbrt(beta * x / q)
        s, g = gauge(x, eta), _ratios(beta, x)
        yield ReciprocalsStep(x, rule, s, g, s * g, g * g if plane else -np.inf)
        plane = eta >= ALTERNATE_BELOW or not plane


def minimise_reciprocals(
    beta: Array,
    eta: float,
    *,
    start: Array | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> ReciprocalsResult:
    """Algorithm 2: min over the elastic-net set of sum_k beta_k / theta_k.

    Parameters
    ----------
    beta : array, shape (n_kernels,)
        Not negative; where beta is 0, or so small against the largest that it
        underflows, theta is 0 and the rest is solved (0/0 = 0).
    eta : float
        Mixing, in [0, 1].
    start : array, shape (n_kernels,), optional
        Warm start; used where it is positive throughout the support.
    tol : float
        Relative accuracy eps of eq. 20: stop when s(x) <= (1 + eps) g(x),
        tested after a plane step.
    max_iter : int

    Returns
    -------
    ReciprocalsResult

    Raises
    ------
    ValueError
        If a beta is negative or not finite, or eta lies outside [0, 1].
    """
    beta = np.asarray(beta, dtype=np.float64)
    if not 0.0 <= eta <= 1.0:
        raise ValueError(f"eta must lie in [0, 1], not {eta!r}")
    if not np.all(np.isfinite(beta)) or np.any(beta < 0.0):
        raise ValueError("beta must be finite and not negative")
    theta = np.zeros_like(beta)
    top = beta.max(initial=0.0)
    support = np.flatnonzero(beta > 1e-290 * top) if top > 0.0 else np.empty(0, dtype=np.intp)
    if support.size == 0:
        return ReciprocalsResult(theta, 0.0, 0.0, (), support)
    scaled = beta[support] / top  # theta does not depend on beta's scale
    first = None if start is None else np.asarray(start, dtype=np.float64)[support]
    if first is not None and not (first.min() > 1e-150 * first.max()):
        first = None
    steps: list[ReciprocalsStep] = []
    lower = -np.inf
    for step in reciprocals_steps(scaled, eta, first):
        steps.append(step)
        lower = max(lower, step.lower)
        if step.rule == "plane" and step.s <= (1.0 + tol) * step.g:
            break
        if len(steps) > max_iter:
            break
    last = min(steps, key=lambda step: step.upper)
    if steps[-1].upper <= last.upper * (1.0 + 1e-15):
        last = steps[-1]
    theta[support] = last.x / last.s
    return ReciprocalsResult(
        theta, float(top * last.upper), float(top * lower), _rescaled(steps, float(top)), support
    )


def _rescaled(steps: list[ReciprocalsStep], top: float) -> tuple[ReciprocalsStep, ...]:
    """The steps in the units of the beta that was given."""
    root = np.sqrt(top)
    return tuple(
        ReciprocalsStep(p.x * root, p.rule, p.s * root, p.g * root, p.upper * top, p.lower * top)
        for p in steps
    )


def _ratios(beta: Array, x: Array) -> float:
    """sum_i beta_i/x_i; infinite, without a warning, where an x_i fell to zero."""
    with np.errstate(divide="ignore", over="ignore"):
        return float((beta / x).sum())
