"""What rho does to the classifier: warm-started, certified, and the plain SVM at its end."""

import math

import numpy as np
import pytest

from mkldash.experiments.choices import Choices
from mkldash.experiments.rho_sweep import (
    GRID,
    MOST_ROWS,
    TOL_SEVERAL,
    TOL_SINGLE,
    is_affordable,
    sweep,
    sweep_solver,
)
from mkldash.experiments.scores import score
from mkldash.experiments.workload import prepare
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import StopRule
from mkldash.solvers.svm import solve_svm


def work(**choices):
    return prepare(Choices(**{"problem": "neighborhood", "data": "two-moons", **choices}))


def test_the_grid_goes_up_by_equal_factors_over_eight_decades():
    assert (GRID[0], GRID[-1], len(GRID)) == (0.01, 1e6, 13)
    assert np.allclose(np.diff(np.log10(GRID)), 2 / 3, atol=2e-3)


@pytest.mark.parametrize("rho", [0.1, 100.0])
def test_a_point_is_what_a_run_at_that_rho_gives(rho):
    workload = work()
    points = list(sweep(workload, [math.inf, 1e4, rho]))
    alone = work(rho=rho)
    result = solve(alone.solver, alone.problem, stop=StopRule(tol=1e-10))
    found = score(alone, result.best)
    last = points[-1]
    assert [p.rho for p in points] == [math.inf, 1e4, rho]
    assert last.train == pytest.approx(found.train_accuracy, abs=0.01)
    assert last.test == pytest.approx(found.test_accuracy, abs=0.02)
    assert all(p.gap <= TOL_SINGLE for p in points)
    assert all(0 < p.support_vectors <= 120 for p in points)


def test_at_infinity_it_is_the_plain_machine():
    workload = work()
    (point,) = sweep(workload, [math.inf])
    K = workload.bank.combine(np.ones(1)).matrix()
    svm = solve_svm(K, workload.y_train, 1.0, tol=1e-8)
    assert point.support_vectors == pytest.approx(np.count_nonzero(svm.alpha), abs=2)


def test_places_give_decision_values_and_no_test_rows_no_test_accuracy():
    workload = work(train_fraction=1.0)
    (point,) = sweep(workload, [1.0], places=workload.X_train)
    assert math.isnan(point.test)
    assert point.grid.shape == (200,)
    assert np.mean((point.grid > 0) == (workload.y_train > 0)) == point.train


def test_it_ends_when_the_run_is_cancelled():
    calls = []

    def run(solver, problem, start, stop):
        calls.append((problem.rho, start is not None))
        return None if len(calls) == 3 else solve(solver, problem, start=start, stop=stop)

    assert len(list(sweep(work(), GRID, run=run))) == 2
    assert calls == [(GRID[0], False), (GRID[1], True), (GRID[2], True)]


def test_several_kernels_are_swept_by_a_solver_that_learns_their_weights():
    workload = work(bank="golden", data="golden", train_fraction=1.0)
    assert sweep_solver(workload.problem).name == "block-coordinate"
    assert sweep_solver(work().problem).name == "shifted-svm"
    (point,) = sweep(workload, [10.0])
    assert point.gap <= TOL_SEVERAL


def test_what_would_take_minutes_is_not_swept():
    assert is_affordable(work().problem)
    assert is_affordable(work(bank="paper").problem)
    assert not is_affordable(work(data="ionosphere", bank="paper").problem)
    assert MOST_ROWS < 4781
