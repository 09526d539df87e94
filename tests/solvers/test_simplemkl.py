"""The reduced gradient on the simplex: certified values, faces, line search, guards."""

import itertools
import math

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.problems.weight_sets.simplex import Simplex
from mkldash.solvers import simplemkl
from mkldash.solvers._bank_step import evaluate
from mkldash.solvers.base import CANCELLED, TIME_IS_UP, WarmStart, new_cancel_flag
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.simplemkl import SimpleMKL, SimpleMKLSnapshot, _direction
from mkldash.solvers.stopping import Status, StopRule
from tests.recipes import GOLDEN, golden_data, golden_kernels, golden_problem

EXACT = StopRule(tol=1e-9, max_iter=5000)


def spread(C=100.0, n=60, seed=0, weight_set=None):
    """Twelve kernels of which several carry weight at eta = 1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    stack = [np.exp(-0.5 * (X[:, [k]] - X[:, k]) ** 2) for k in range(6)]
    stack += [np.exp(-g * ((X[:, None] - X[None]) ** 2).sum(-1)) for g in (0.03, 0.1, 0.3)]
    stack += [(1 + X @ X.T) ** d for d in (1, 2, 3)]
    bank = precomputed_bank(np.array([K / np.trace(K) for K in stack]))
    return Problem(bank, y, Hinge(C), Simplex() if weight_set is None else weight_set)


def record(problem, stop, solver=None, start=None):
    seen = []
    solver = SimpleMKL() if solver is None else solver
    return solve(solver, problem, start=start, stop=stop, callbacks=[seen.append]), seen


def test_golden():
    objective, theta = GOLDEN[1.0]
    result, seen = record(golden_problem(1.0), EXACT, SimpleMKL(inner_tol=1e-10))
    assert result.upper == pytest.approx(objective, rel=1e-6)
    assert result.lower == pytest.approx(objective, rel=1e-6)
    np.testing.assert_allclose(result.best.weights.values, theta, atol=1e-4)
    # Dropped to an exact zero: no multiplicative step could do that.
    assert np.count_nonzero(result.best.weights.values) == 1
    assert any("kernel dropped" in event for s in seen for event in s.events)


def test_the_same_optimum_as_block_coordinate_descent():
    ours, seen = record(spread(), StopRule(tol=1e-6, max_iter=2000))
    theirs = solve(BlockCoordinateDescent(), spread(), stop=StopRule(tol=1e-4, max_iter=2000))
    assert ours.status is Status.CONVERGED
    assert theirs.lower <= ours.upper * (1 + 1e-9)
    assert ours.lower <= theirs.upper * (1 + 1e-9)
    assert sum(s.weights.values[0] > 0 for s in seen) > 0
    # J falls from step to step, up to what the SVM solves leave open.
    falls = [(a.objective - b.objective) / a.objective for a, b in itertools.pairwise(seen)]
    assert min(falls) > -1e-3


def test_every_evaluation_is_a_counted_svm_solve(monkeypatch):
    solves = []

    def counted(*arguments, **options):
        solves.append(arguments[1])
        return evaluate(*arguments, **options)

    monkeypatch.setattr(simplemkl, "evaluate", counted)
    result, seen = record(spread(), StopRule(tol=1e-3, max_iter=100))
    assert result.inner_solves == len(solves)
    assert seen[0].inner_solves == 1
    assert result.inner_solves > result.iterations + 1  # line searches
    for theta in solves:
        assert theta.min() >= 0.0
        assert theta.sum() == pytest.approx(1.0, abs=1e-12)
    searches = [s for s in seen if s.trial_steps.size]
    assert searches
    for snapshot in searches:
        assert snapshot.trial_steps.shape == snapshot.trial_slopes.shape
        assert any("line search" in event for event in snapshot.events)


def test_the_direction_of_descent():
    theta, forms = np.array([0.5, 0.5, 0.0, 0.0]), np.array([1.0, 3.0, 5.0, 2.0])
    # Ties: the largest weight that J wants most takes up the rest.
    np.testing.assert_allclose(_direction(theta, forms), (-1.0, 0.0, 1.0, 0.0))
    assert not _direction(theta, np.zeros(4)).any()
    assert not _direction(np.array([1.0]), np.array([3.0])).any()


def test_weights_at_exact_zero_come_back():
    problem = spread()
    optimum, _ = record(problem, StopRule(tol=1e-6, max_iter=2000))
    used = np.flatnonzero(optimum.best.weights.values)
    assert used.size > 1
    unused = np.setdiff1d(np.arange(12), used)[0]
    _, seen = record(problem, StopRule(tol=1e-300, max_iter=3))
    # As if everything had gone to a kernel that is not part of the answer.
    solver, flag = SimpleMKL(), new_cancel_flag()
    found = evaluate(problem, np.eye(12)[unused], alpha=None, decision=None, tol=1e-3, cancel=flag)
    origin = seen[0].origin
    cornered = SimpleMKLSnapshot(
        **found.fields(problem, None), events=(), step=0.0,
        trial_steps=np.empty(0), trial_slopes=np.empty(0), origin=origin,
    )  # fmt: skip
    assert np.count_nonzero(cornered.weights.values) == 1
    again, _ = record(problem, StopRule(tol=1e-6, max_iter=2000), solver, start=cornered)
    assert again.upper == pytest.approx(optimum.upper, rel=2e-6)
    assert (again.best.weights.values[used] > 0).all()


@pytest.mark.parametrize("C", [1e-6, 0.1, 1.0])
def test_all_points_at_the_bound(C):
    _, y = golden_data()
    alignment = np.array([y @ K @ y for K in golden_kernels()])
    result, seen = record(golden_problem(1.0, C), EXACT)
    assert result.upper == pytest.approx(C * (20 - 0.5 * C * alignment.max()), rel=1e-9)
    assert result.iterations <= 2
    assert any("best single kernel" in event for s in seen for event in s.events)


def test_one_class_and_one_kernel():
    bank = precomputed_bank(golden_kernels())
    result, _ = record(Problem(bank, np.ones(20), Hinge(1.0), Simplex()), EXACT)
    assert (result.upper, result.lower, result.status) == (0.0, 0.0, Status.CONVERGED)
    _, y = golden_data()
    one = Problem(precomputed_bank(golden_kernels()[:1]), y, Hinge(1.0), Simplex())
    alone, _ = record(one, StopRule(tol=1e-8, max_iter=50))
    assert alone.status is Status.CONVERGED
    np.testing.assert_array_equal(alone.best.weights.values, (1.0,))


def test_identical_kernels_share_the_weight():
    _, y = golden_data()
    kernels = golden_kernels()[[1, 1, 1]]
    result, _ = record(Problem(precomputed_bank(kernels), y, Hinge(100.0), Simplex()), EXACT)
    assert result.upper == pytest.approx(GOLDEN[1.0][0], rel=1e-6)
    assert result.best.weights.values.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("value", [CANCELLED, TIME_IS_UP])
def test_a_flag_ends_it_within_one_svm_solve(monkeypatch, value):
    flag, after = new_cancel_flag(), []

    def flagged(*arguments, **options):
        after.append(int(flag[0]))
        if len(after) == 4:  # within the second iteration
            flag[0] = value
        return evaluate(*arguments, **options)

    monkeypatch.setattr(simplemkl, "evaluate", flagged)
    steps = SimpleMKL().iterate(spread(), cancel=flag)
    first = next(steps)
    last = next(steps, None)
    assert len(after) == 4
    assert first.iteration == 0
    if value == CANCELLED:
        assert last is None
    else:
        assert last.inner_solves == 4
        assert math.isfinite(last.upper)


def test_the_set_is_named_where_it_is_the_wrong_one():
    solver = SimpleMKL()
    assert solver.supports(spread(weight_set=ElasticNet(1.0))) is None
    assert solver.supports(spread(weight_set=NormBall(1.0))) is None
    assert "needs eta = 1" in solver.supports(spread(weight_set=ElasticNet(0.5)))
    assert "not eta = 0.5" in solver.supports(spread(weight_set=ElasticNet(0.5)))
    assert "weight norm of 2" in solver.supports(spread(weight_set=NormBall(2.0)))
    fixed = Fixed((1.0 / 12.0,) * 12)
    assert "fixed" in solver.supports(spread(weight_set=fixed))
    with pytest.raises(InputError, match="inner_tol"):
        SimpleMKL(inner_tol=0.0)


def test_a_warm_start_from_elsewhere_is_pulled_into_the_simplex():
    problem = spread()
    start = WarmStart(weights=problem.bank.weights(np.full(12, 7.0)))
    result, seen = record(problem, StopRule(tol=1e-4, max_iter=500), start=start)
    assert seen[0].weights.values.sum() == pytest.approx(1.0)
    assert result.status is Status.CONVERGED
