"""Small real runs of the neighborhood problem, by loops of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog, minimize

from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.projection import project
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers._one_kernel import OneKernel, OneKernelSnapshot
from mkldash.views.base import Gram


@dataclass(frozen=True, kw_only=True, eq=False)
class FakeCut:
    iteration: int
    alpha: np.ndarray
    value: float
    gradient: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class LevelSnapshot(OneKernelSnapshot):
    level: float
    model_upper: float
    cuts: tuple[FakeCut, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class GradientSnapshot(OneKernelSnapshot):
    curvature: float
    trials: int
    target: np.ndarray
    multiplier: float


def rows(n: int = 24, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes in two dimensions: X of shape (n, 2) and labels, unsorted."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, -1.0, 1.0)
    return rng.standard_normal((n, 2)) + 0.7 * y[:, None], y


def gaussian(X: np.ndarray, Z: np.ndarray, width: float = 1.5) -> np.ndarray:
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(-1) / width)


def problem(K: np.ndarray, y: np.ndarray, C: float = 1.0, rho: float = 1.0) -> Problem:
    return Problem(precomputed_bank([K]), y, Hinge(C), Fixed((1.0,)), rho)


def triangle(y: tuple[float, float, float] = (-1.0, 1.0, 1.0), C: float = 1.0, rho: float = 0.5):
    """Three rows whose optimum lies inside the triangle, sorted by class."""
    X = np.array([[0.0, 0.0], [1.1, 0.2], [-0.2, 1.5]])
    return problem(gaussian(X, X, 3.0) + 0.2 * np.eye(3), np.array(y), C, rho)


def gram_of(problem: Problem) -> Gram:
    """All rows, sorted by class."""
    order = np.argsort(problem.y, kind="stable")
    K = OneKernel.of(problem).K
    return Gram(order, K[np.ix_(order, order)], problem.y[order], len(order))


def gradient_run(problem: Problem, steps: int = 12) -> list[GradientSnapshot]:
    """Projected gradient steps of fixed length."""
    kernel = OneKernel.of(problem)
    n, C = problem.n_rows, problem.loss.C
    curvature = np.linalg.eigvalsh(kernel.K)[-1] + 3 * C**2 * n / (2 * problem.rho)
    alpha = np.zeros(n)
    found: list[GradientSnapshot] = []
    target, multiplier = alpha, 0.0
    for _ in range(steps):
        decision = kernel.decision(alpha)
        last = found[-1] if found else None
        found.append(
            GradientSnapshot(
                **kernel.certified(last, alpha, decision), inner_solves=0,
                elapsed=0.002 * len(found), curvature=curvature, trials=1, target=target,
                multiplier=multiplier,
            )
        )  # fmt: skip
        target = alpha - kernel.gradient(alpha, decision) / curvature
        step = project(target, problem.y, C)
        alpha, multiplier = step.x, step.shift
    return found


def _projected(alpha: np.ndarray, A: np.ndarray, b: np.ndarray, y: np.ndarray, C: float):
    """The nearest point to `alpha` in {A a <= b, y'a = 0, 0 <= a <= C}."""
    return minimize(
        lambda a: 0.5 * (a - alpha) @ (a - alpha), alpha, jac=lambda a: a - alpha, method="SLSQP",
        bounds=[(0, C)] * len(y), options={"ftol": 1e-15, "maxiter": 300},
        constraints=[
            {"type": "eq", "fun": lambda a: y @ a, "jac": lambda a: y},
            {"type": "ineq", "fun": lambda a: b - A @ a, "jac": lambda a: -A},
        ],
    ).x  # fmt: skip


def level_run(problem: Problem, steps: int = 8, tau: float = 0.5) -> list[LevelSnapshot]:
    """Algorithm 1 of Liu et al. 2009 with general solvers."""
    kernel = OneKernel.of(problem)
    y, C, n = problem.y, problem.loss.C, problem.n_rows
    alpha, cuts = np.zeros(n), ()
    found: list[LevelSnapshot] = []
    for k in range(steps):
        decision = kernel.decision(alpha)
        value = kernel.objective(alpha, decision)
        cut = FakeCut(
            iteration=k, alpha=alpha, value=value, gradient=kernel.gradient(alpha, decision)
        )
        cuts = (*cuts, cut)
        A = np.array([c.gradient for c in cuts])
        b = np.array([c.gradient @ c.alpha - c.value for c in cuts])
        lp = linprog(
            np.r_[np.zeros(n), 1.0], np.c_[A, -np.ones(len(cuts))], b, np.r_[y, 0.0][None], [0.0],
            bounds=[(0, C)] * n + [(None, None)],
        )  # fmt: skip
        level = tau * min(c.value for c in cuts) + (1 - tau) * lp.fun
        last = found[-1] if found else None
        certified = kernel.certified(last, alpha, decision)
        found.append(
            LevelSnapshot(
                **certified, inner_solves=k, elapsed=0.05 * k, level=-level, model_upper=-lp.fun,
                cuts=cuts,
            )
        )  # fmt: skip
        alpha = _projected(alpha, A, b + level, y, C)
    return found
