"""What the benchmarks of mirror descent share: problems, and a run that is stepped and timed."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs
from threadpoolctl import threadpool_limits

from mkldash.kernels.products import ProductFamily, product_family
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers._mirror_snapshot import MirrorSnapshot
from mkldash.solvers.base import Solver, new_cancel_flag

Array = NDArray[np.float64]

__all__ = [
    "LongRun",
    "cholesky",
    "mirror_problem",
    "noisy",
    "one_thread",
    "size",
    "standardised",
    "verdict",
]


def noisy(n: int, r: int, seed: int = 0) -> tuple[Array, Array]:
    """Standard normal features; a target of a product, a main effect and as much noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, r))
    y = X[:, 0] * X[:, 1 % r] + X[:, 2 % r] + 1.5 * rng.standard_normal(n)
    return standardised(X, y)


def standardised(X: Array, y: Array) -> tuple[Array, Array]:
    """Columns and target of mean zero and variance one."""
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def mirror_problem(
    n: int,
    r: int,
    degree: int,
    p: float = 1.0,
    penalty: float = 1.0,
    growth: float = 4.0,
    rho: Sequence[float] | None = None,
) -> Problem:
    """The squared loss on `noisy` rows over the products of their features."""
    X, y = noisy(n, r)
    family: ProductFamily = product_family(
        X, degree=degree, penalty=penalty, growth=growth, rho=rho, merged=p == 1.0
    )
    return Problem(family, y, Squared(), NormBall.of_p(p))


class LongRun:
    """A run that is taken a few steps at a time, so that contenders can share the rounds."""

    def __init__(self, solver: Solver, problem: Problem) -> None:
        self._steps = solver.iterate(problem, None, new_cancel_flag())
        self.last = self._next()

    def take(self, count: int) -> float:
        """CPU seconds of this thread, the only one, in the next `count` iterations."""
        begun = time.thread_time()
        for _ in range(count):
            self.last = self._next()
        return time.thread_time() - begun

    def _next(self) -> MirrorSnapshot:
        snapshot = next(self._steps)
        assert isinstance(snapshot, MirrorSnapshot)
        return snapshot


def cholesky(K: Array, y: Array) -> Array:
    """(K + I)^-1 y by one factorisation; K is left as it is."""
    system = K.copy()
    system.flat[:: len(K) + 1] += 1.0
    factor, failed = dpotrf(system.T, lower=1, overwrite_a=1, clean=0)
    assert not failed
    return np.asarray(dpotrs(factor, y, lower=1)[0])


def one_thread() -> threadpool_limits:
    """One BLAS thread, as within the driver."""
    return threadpool_limits(limits=1, user_api="blas")


def size(count: int) -> str:
    """A number of kernels in few characters."""
    return f"{count:,}" if count < 10_000_000 else f"{float(count):.1e}"


def verdict(met: bool) -> str:
    """For the last column."""
    return "met" if met else "MISSED"
