"""The extended level method: counts, the projection onto a level, WDBC."""

import itertools
import math

import cvxpy as cp
import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers._cut_model import CutModel
from mkldash.solvers.cutting_plane import CuttingPlane
from mkldash.solvers.driver import solve
from mkldash.solvers.level_set import LevelSet
from mkldash.solvers.stopping import Status, StopRule
from tests.recipes import golden_problem
from tests.solvers.cut_runs import take, toy

#: (lambda, eta) -> SVM solves to a relative gap of 1e-4, by an independent conic solver.
COUNTS = {
    (0.5, 0.0): 10, (0.5, 0.5): 8, (0.5, 1.0): 11,
    (0.9, 0.0): 57, (0.9, 0.5): 48, (0.9, 1.0): 28,
}  # fmt: skip


@pytest.mark.parametrize(("share", "eta"), sorted(COUNTS))
def test_counts_are_those_of_a_general_conic_solver(share, eta):
    solver = LevelSet(inner_tol=1e-10, level_lambda=share)
    result = solve(solver, toy(eta), stop=StopRule(tol=1e-4))
    assert abs(result.last.inner_solves - COUNTS[share, eta]) <= 1  # rounding may move it by one


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
def test_the_next_weights_are_the_nearest_ones_below_the_level(eta):
    run = take(LevelSet(inner_tol=1e-10), toy(eta), 7)
    for last, now in itertools.pairwise(run):
        theta = cp.Variable(6, nonneg=True)
        below = [cut.intercept - 0.5 * cut.forms @ theta <= last.level for cut in last.cuts]
        ball = eta * cp.sum(theta) + (1 - eta) * cp.sum_squares(theta) <= 1
        distance = cp.Minimize(cp.sum_squares(theta - last.weights.values))
        cp.Problem(distance, [ball, *below]).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(now.weights.values, theta.value, atol=2e-5)
        assert max(c.value(now.weights.values) for c in last.cuts) <= last.level * (1 + 1e-10)
        assert ElasticNet(eta).constraint(now.weights.values) <= 1 + 1e-12


def test_the_level_lies_between_the_bounds():
    for s in take(LevelSet(level_lambda=0.3), golden_problem(0.5), 10):
        assert s.level == pytest.approx(0.7 * s.model_lower + 0.3 * s.upper, rel=1e-14)


def test_a_failed_projection_is_moved_below_the_level(monkeypatch):
    problem = golden_problem(0.5)
    last = take(LevelSet(), problem, 4)[-1]
    monkeypatch.setattr("mkldash.solvers._cut_model._MOST_STEPS", 3)
    model = CutModel.of(last.cuts, problem.weight_set, last.upper)
    found = model.nearest(last.weights.values, last.level, last.minimiser, 0.0)
    assert found.failed
    assert model.heights(found.theta).max() <= last.level * (1 + 1e-12)
    again = take(LevelSet(), problem, 2, start=last)
    said = "conic program failed: its point is moved towards the model's minimiser"
    assert said in again[0].events


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, math.nan])
def test_refuses_a_lambda_outside_the_interval(value):
    with pytest.raises(InputError, match="level_lambda"):
        LevelSet(level_lambda=value)


@pytest.mark.parametrize("C", [1e-6, 0.1, 1.0])
@pytest.mark.parametrize(
    ("eta", "theta"),
    [
        (0.5, (0.801478, 0.145218, 0.0, 0.299906)),
        (0.0, (0.765321, 0.379414, 0.221530, 0.470376)),
        (1.0, (1.0, 0.0, 0.0, 0.0)),
    ],
)
@pytest.mark.parametrize("solver", [LevelSet(), CuttingPlane()])
def test_all_points_at_the_bound(solver, C, eta, theta):  # S02
    result = solve(solver, golden_problem(eta, C), stop=StopRule(tol=1e-9))
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.best.weights.values, theta, atol=1e-5)
