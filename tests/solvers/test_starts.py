"""Starts that are not numbers, and problems whose numbers would leave the range of doubles."""

import math
import pickle

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.kernels.square import given_square
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers import available_solvers
from mkldash.solvers.base import WarmStart
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import Status, StopRule
from tests.recipes import golden_data


def problem(C=1.0, rho=100.0):
    X, y = golden_data()
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
    return Problem(given_square(K), y, Hinge(C), Fixed((1.0,)), rho)


SOLVERS = sorted(n for n, kind in available_solvers().items() if kind().supports(problem()) is None)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_start_with_nan_is_a_cold_start(name):
    solver, given = available_solvers()[name](), problem()
    start = WarmStart(alpha=np.full(given.n_rows, np.nan))
    result = solve(solver, given, start=start, stop=StopRule(tol=1e-3))
    assert result.status is Status.CONVERGED
    assert np.isfinite(result.best.alpha).all()


@pytest.mark.parametrize("name", SOLVERS)
def test_a_start_that_is_no_array_is_refused_or_read(name):
    solver, given = available_solvers()[name](), problem()
    listed = WarmStart(alpha=[0.1] * given.n_rows)
    assert solve(solver, given, start=listed).status is Status.CONVERGED
    with pytest.raises(InputError, match="alpha of the start"):
        solver.iterate(given, WarmStart(alpha="none"))


@pytest.mark.parametrize("name", SOLVERS)
def test_unpickled_snapshots_are_read_only(name):
    snapshot = next(available_solvers()[name]().iterate(problem()))
    again = pickle.loads(pickle.dumps(snapshot))
    assert not again.alpha.flags.writeable
    assert not again.decision.flags.writeable


@pytest.mark.parametrize(
    ("C", "rho", "words"),
    [
        (1e-200, 100.0, "C must lie between"),
        (1e150, 100.0, "C must lie between"),
        (1.0, 1e-308, "rho must be at least"),
        (1e77, 1.0, "too large for rho"),
        (1e60, 1e-90, "too large for rho"),
    ],
)
def test_what_would_overflow_is_refused_with_the_range(C, rho, words):
    with pytest.raises(InputError, match=words):
        problem(C, rho)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize(
    ("C", "rho"), [(1e50, 1e12), (1e-90, 1e-30), (1e3, 1e-95), (1e60, math.inf)]
)
def test_what_is_allowed_gives_finite_bounds(name, C, rho):
    given = problem(C, rho)
    result = solve(available_solvers()[name](), given, stop=StopRule(tol=1e-3, max_iter=15))
    assert math.isfinite(result.upper)
    assert result.lower <= result.upper * (1 + 1e-9)
