"""What becomes of a classifier when only rho changes, from the plain SVM downwards."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.experiments.scores import class_scores
from mkldash.experiments.workload import Workload
from mkldash.problems.problem import Problem
from mkldash.solvers import available_solvers
from mkldash.solvers.base import Solver, WarmStart
from mkldash.solvers.driver import Result, solve
from mkldash.solvers.stopping import StopRule

Array = NDArray[np.float64]

__all__ = ["GRID", "SweepPoint", "is_affordable", "sweep", "sweep_solver"]

#: Values of rho, ascending: thirteen from where the rank-one part rules to where it is nothing.
GRID: tuple[float, ...] = tuple(float(f"{10.0**power:.3g}") for power in np.linspace(-2.0, 6.0, 13))

#: Relative gap of each point: with one kernel, and where weights are learnt.
TOL_SINGLE, TOL_SEVERAL = 1e-5, 1e-3

#: Seconds of the solver's work that one point may take.
SECONDS = 5.0

#: Training rows with one kernel, and entries of all kernels, that are swept at most.
MOST_ROWS, MOST_ENTRIES = 3000, 2_000_000

#: Solves one problem; None when it was cancelled.
Run = Callable[[Solver, Problem, WarmStart | None, StopRule], Result | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class SweepPoint:
    """The classifier at one rho.

    Attributes
    ----------
    rho : float
    train, test : float
        Share of rows classified correctly; NaN without test rows.
    support_vectors : int
    gap : float
        Certified relative gap that was reached.
    grid : array, shape (n_places,), or None
        Decision values at the places that were asked for.
    """

    rho: float
    train: float
    test: float
    support_vectors: int
    gap: float
    grid: Array | None = None


def is_affordable(problem: Problem) -> bool:
    """Whether a sweep over rho takes seconds rather than minutes."""
    n, kernels = problem.n_rows, problem.bank.n_kernels
    return n <= MOST_ROWS if kernels == 1 else n * n * kernels <= MOST_ENTRIES


def sweep_solver(problem: Problem) -> Solver:
    """The quickest solver that takes `problem`: the shifted SVM where no weight is learnt."""
    kinds = available_solvers()
    shifted = kinds["shifted-svm"]()
    return kinds["block-coordinate"]() if shifted.supports(problem) else shifted


def sweep(
    workload: Workload,
    rhos: Iterable[float],
    *,
    places: Array | None = None,
    start: WarmStart | None = None,
    run: Run | None = None,
    turn: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext,
) -> Iterator[SweepPoint]:
    """Solve the workload's problem at each rho, each from the point before.

    Parameters
    ----------
    workload : Workload
        Its bank, C and rows are kept.
    rhos : iterable of float
        In the order in which they are solved; infinite for the plain SVM.
    places : array, shape (n_places, n_features), optional
        Where decision values are wanted, as the kernels see them.
    start : WarmStart, optional
        Where the first begins.
    run : callable, optional
        Solves, in place of `mkldash.solvers.driver.solve`.
    turn : callable, optional
        Gives a context in which a point is scored.

    Yields
    ------
    SweepPoint
        It ends early when `run` gives None.
    """
    solver = sweep_solver(workload.problem)
    single = workload.problem.bank.n_kernels == 1
    stop = StopRule(
        tol=TOL_SINGLE if single else TOL_SEVERAL,
        max_iter=workload.stop.max_iter,
        time_limit=SECONDS,
    )
    for rho in rhos:
        problem = dataclasses.replace(workload.problem, rho=rho)
        result = (_plainly if run is None else run)(solver, problem, start, stop)
        if result is None:
            return
        start = WarmStart(weights=result.best.weights, alpha=result.best.alpha)
        with turn():
            point = _scored(dataclasses.replace(workload, problem=problem), result, places)
        yield point


def _plainly(
    solver: Solver, problem: Problem, start: WarmStart | None, stop: StopRule
) -> Result | None:
    return solve(solver, problem, start=start, stop=stop)


def _scored(workload: Workload, result: Result, places: Array | None) -> SweepPoint:
    problem, best = workload.problem, result.best
    found = class_scores(workload, best)
    grid = None
    if places is not None:
        signed = problem.signed(best.alpha)
        grid = problem.bank.decision(places, best.weights.values, signed) + best.bias
    return SweepPoint(
        rho=problem.rho,
        train=found.train_accuracy,
        test=math.nan if found.test_accuracy is None else found.test_accuracy,
        support_vectors=found.support_vectors,
        gap=result.gap,
        grid=grid,
    )
