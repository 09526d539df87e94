"""Problems for the level method, their optimum by another solver, and runs."""

import dataclasses
import math

import cvxpy as cp
import numpy as np

from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers._cutting_planes import Cut
from mkldash.solvers.level import LevelMethod


def problem_of(K, y, C=1.0, rho=math.inf):
    return Problem(precomputed_bank(np.array([K])), y, Hinge(C), Fixed((1.0,)), rho)


def random_problem(seed, n=30, C=None, rho=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(-1))
    K = 0.5 * (K + K.T)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    C = 10 ** rng.uniform(-1, 1) if C is None else C
    rho = 10 ** rng.uniform(-1, 3) if rho is None else rho
    return problem_of(K, y, C, rho), K


def conic_optimum(problem, K):
    """-min of f over the feasible set, by clarabel: an interior-point method."""
    n, y, C, rho = problem.n_rows, problem.y, problem.loss.C, problem.rho
    x = cp.Variable(n)  # alpha / C
    f = 0.5 * C * cp.quad_form(x, cp.psd_wrap(y[:, None] * K * y)) - cp.sum(x)
    constraints = [x >= 0, x <= 1, y @ x == 0]
    if math.isfinite(rho):
        square = cp.Variable()
        f += C**3 / (8 * rho) * n**2 * cp.square(square)
        constraints.append(square >= cp.sum_squares(x / math.sqrt(n)))
    reference = cp.Problem(cp.Minimize(f), constraints)
    reference.solve(solver=cp.CLARABEL)
    return -C * reference.value


def snapshots(problem, n=40, solver=None, start=None):
    found = []
    for snapshot in (solver or LevelMethod()).iterate(problem, start):
        found.append(snapshot)
        if len(found) == n:
            break
    return found


def same(one, other):
    """Equal in everything but the clock."""
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "cuts":
            assert [cut.iteration for cut in a] == [cut.iteration for cut in b]
            for cut, twin in zip(a, b, strict=True):
                assert cut.value == twin.value
                np.testing.assert_array_equal(cut.gradient, twin.gradient)
                np.testing.assert_array_equal(cut.alpha, twin.alpha)
        elif field.name not in {"elapsed", "best", "weights"}:
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b), err_msg=field.name)


def tangent(kernel, alpha):
    decision = kernel.decision(alpha)
    return Cut(
        iteration=0, alpha=alpha, value=kernel.objective(alpha, decision),
        gradient=kernel.gradient(alpha, decision),
    )  # fmt: skip


def corner(problem):
    """As many rows of each class at C as there can be."""
    return problem.loss.feasible(np.full(problem.n_rows, problem.loss.C), problem.y)
