"""Neighborhood problems of one given matrix, and their values by other means."""

from __future__ import annotations

import math
from itertools import islice

import cvxpy as cp
import numpy as np

from mkldash.datasets.cards import load
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers._one_kernel import OneKernel
from mkldash.solvers.base import Snapshot


def given(K: np.ndarray, y: np.ndarray, C: float = 1.0, rho: float = math.inf) -> Problem:
    """The problem of exactly this matrix."""
    return Problem(precomputed_bank(K[None]), y, Hinge(C), Fixed((1.0,)), rho)


def golden(C: float = 1.0, rho: float = math.inf) -> Problem:
    """Case S10."""
    data = load("golden")
    return given(np.exp(-((data.X[:, None] - data.X[None]) ** 2).sum(-1)), data.y, C, rho)


def random_kernel(seed: int, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """A matrix of random rank below n with its labels; no structure to lean on."""
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((n, int(rng.integers(2, n))))
    K = factor @ factor.T
    return 0.5 * (K + K.T), np.where(rng.random(n) < 0.4, 1.0, -1.0)


def value(problem: Problem, alpha: np.ndarray) -> float:
    """f(alpha), its product made afresh."""
    kernel = OneKernel.of(problem)
    return kernel.objective(alpha, kernel.decision(alpha))


def optimum(problem: Problem) -> tuple[float, np.ndarray]:
    """f* and alpha* by an interior-point solver."""
    a, y = cp.Variable(problem.n_rows), problem.y
    K = OneKernel.of(problem).K
    eigenvalues, vectors = np.linalg.eigh(y[:, None] * K * y)
    real = eigenvalues > 1e-13 * eigenvalues[-1]
    root = np.sqrt(eigenvalues[real])[:, None] * vectors.T[real]
    f = 0.5 * cp.sum_squares(root @ a) - cp.sum(a)
    if math.isfinite(problem.rho):
        f += cp.square(cp.sum_squares(a)) / (8 * problem.rho)
    conic = cp.Problem(cp.Minimize(f), [a >= 0, a <= problem.loss.C, y @ a == 0])
    tight = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    conic.solve(solver=cp.CLARABEL, **tight)
    return float(conic.value), np.asarray(a.value)


def take(solver, problem, n, start=None, cancel=None) -> list[Snapshot]:
    """The first n snapshots, fewer if it ends before."""
    return list(islice(solver.iterate(problem, start, cancel), n))
