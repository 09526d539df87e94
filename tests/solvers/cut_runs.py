"""What the tests of the two cut solvers share."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet


def toy(eta: float, C: float = 1.0, weight_set=None, rho: float = math.inf) -> Problem:
    """24 rows, six kernels of unlike shapes: the problem whose counts are known (MATH 0.8)."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((24, 4))
    y = np.sign(X[:, 0] + 0.5 * X[:, 1] ** 2 - 0.4 + 0.3 * rng.standard_normal(24))
    squared = ((X[:, None] - X[None]) ** 2).sum(-1)
    kernels = [np.exp(-g * squared) for g in (0.05, 0.3, 1.5)]
    kernels += [X @ X.T + 1e-3 * np.eye(24), (X @ X.T + 1) ** 2]
    kernels += [np.exp(-0.5 * (X[:, [0]] - X[:, 0]) ** 2)]
    stack = np.array([24 * K / np.trace(K) for K in kernels]) + 1e-8 * np.eye(24)
    chosen = ElasticNet(eta) if weight_set is None else weight_set
    return Problem(precomputed_bank(stack), y, Hinge(C), chosen, rho)


def take(solver, problem, n, start=None):
    """The first snapshots of a run."""
    return [s for s, _ in zip(solver.iterate(problem, start), range(n), strict=False)]


def differ(one, other):
    """Names of the fields in which two snapshots differ, the clock apart."""
    found = []
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name in {"elapsed", "best", "weights"}:
            continue
        if field.name == "cuts":
            same = len(a) == len(b) and all(
                c.iteration == d.iteration
                and c.intercept == d.intercept
                and np.array_equal(c.forms, d.forms)
                for c, d in zip(a, b, strict=True)
            )
        else:
            same = np.array_equal(np.asarray(a), np.asarray(b))
        found += [] if same else [field.name]
    return found
