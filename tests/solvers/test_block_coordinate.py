"""Algorithm 1 on the cases whose values are certified."""

import dataclasses
import math

import numpy as np
import pytest

from mkldash.datasets.cards import load
from mkldash.datasets.splits import split
from mkldash.errors import InputError
from mkldash.kernels.banks import make_terms
from mkldash.kernels.building import build_bank
from mkldash.kernels.normalization import Standardizer
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers.base import WarmStart
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import Status, StopRule
from tests.recipes import GOLDEN, golden_data, golden_kernels, golden_problem

TIGHT = BlockCoordinateDescent(inner_tol=1e-10, weight_tol=1e-12)
EXACT = StopRule(tol=1e-9, max_iter=5000)


def exact(problem, start=None):
    seen = []
    result = solve(TIGHT, problem, start=start, stop=EXACT, callbacks=[seen.append])
    return result, seen


@pytest.mark.parametrize("eta", sorted(GOLDEN))
def test_golden(eta):
    objective, theta = GOLDEN[eta]
    result, _ = exact(golden_problem(eta))
    assert result.upper == pytest.approx(objective, rel=1e-6)
    assert result.lower == pytest.approx(objective, rel=1e-6)
    np.testing.assert_allclose(result.best.weights.values, theta, atol=1e-4)


def test_first_iteration_and_every_gap_of_golden():  # S06
    result, seen = exact(golden_problem(0.5))
    first = seen[0]
    assert first.iteration == 0
    np.testing.assert_allclose(first.weights.values, 0.366025, atol=1e-6)
    assert first.upper == pytest.approx(478.730129, rel=1e-6)
    assert first.lower == pytest.approx(161.971292, rel=1e-6)
    assert first.gap == pytest.approx(1.955648, rel=1e-6)
    for snapshot in seen:
        assert snapshot.lower <= 305.684692 * (1 + 1e-8)
        assert snapshot.upper >= 305.684692 * (1 - 1e-8)
        assert snapshot.gap >= 0
    assert result.status is Status.CONVERGED
    assert result.gap <= 1e-9


@pytest.mark.parametrize("C", [1e4, 1e6])
@pytest.mark.parametrize(
    ("eta", "objective"),
    [(1.0, 323.858233), (0.5, 305.835439), (0.2, 284.063165), (0.0, 268.941941)],
)
def test_huge_C_ends_with_the_separable_value(C, eta, objective):  # S01
    stop = StopRule(tol=1e-7, max_iter=5000, time_limit=10.0)
    result = solve(BlockCoordinateDescent(), golden_problem(eta, C), stop=stop)
    assert result.status in {
        Status.CONVERGED,
        Status.ITERATION_LIMIT,
        Status.TIME_LIMIT,
        Status.STALLED,
    }
    assert result.upper == pytest.approx(objective, rel=1e-6)
    assert result.lower <= objective * (1 + 1e-6)


@pytest.mark.parametrize("C", [1e-6, 0.1, 1.0])
@pytest.mark.parametrize(
    ("eta", "theta"),
    [
        (0.5, (0.801478, 0.145218, 0.0, 0.299906)),
        (0.0, (0.765321, 0.379414, 0.221530, 0.470376)),
        (1.0, (1.0, 0.0, 0.0, 0.0)),
    ],
)
def test_tiny_C_is_pure_alignment(C, eta, theta):  # S02
    _, y = golden_data()
    alignment = np.array([y @ K @ y for K in golden_kernels()])
    np.testing.assert_allclose(alignment, (1.654200, 0.820083, 0.478826, 1.016694), atol=1e-6)
    result, _ = exact(golden_problem(eta, C))
    assert result.last.bounded == 20
    np.testing.assert_allclose(result.best.weights.values, theta, atol=1e-4)
    expected = C * (20 - 0.5 * C * alignment @ np.array(theta))
    assert result.upper == pytest.approx(expected, rel=1e-6)


def test_row_and_kernel_order_only_permute_the_answer():  # S04
    rows, kernels = np.random.default_rng(1).permutation(20), [2, 0, 3, 1]
    stack = golden_kernels()[kernels][:, rows][:, :, rows]
    problem = Problem(
        precomputed_bank(np.ascontiguousarray(stack)), golden_data()[1][rows], Hinge(100.0)
    )
    result, _ = exact(problem)
    assert result.upper == pytest.approx(305.684692, rel=1e-6)
    np.testing.assert_allclose(
        result.best.weights.values, (0, 0.082282, 0.187963, 0.891997), atol=1e-4
    )


def linear_gram():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 3))
    y = np.sign(X[:, 0] + 0.3 * rng.standard_normal(10))
    G = X @ X.T
    return G / np.trace(G), y


@pytest.mark.parametrize(
    ("eta", "s", "theta"),
    [
        (0.5, 2, ((math.sqrt(2) - 1) / 2, math.sqrt(2) - 0.5)),
        (0.5, 5, (0.0, 1.0)),
        (0.0, 3, (0.316228, 0.948683)),
        (1.0, 3, (0.0, 1.0)),
    ],
)
@pytest.mark.filterwarnings("ignore:.*traces")
def test_scale_decides_the_weights_when_nothing_normalises(eta, s, theta):  # K11
    G, y = linear_gram()
    assert "".join("+" if v > 0 else "-" for v in y) == "-++---+++-"
    problem = Problem(precomputed_bank([G, s * G]), y, Hinge(10.0), ElasticNet(eta))
    result, _ = exact(problem)
    np.testing.assert_allclose(result.best.weights.values, theta, atol=1e-4)


@pytest.mark.filterwarnings("ignore:.*traces")
def test_at_the_pruning_edge_the_weight_falls_as_one_over_k():  # K11, s = 3
    G, y = linear_gram()
    problem = Problem(precomputed_bank([G, 3 * G]), y, Hinge(10.0), ElasticNet(0.5))
    result, _ = exact(problem)
    np.testing.assert_allclose(result.best.weights.values, (0.0, 1.0), atol=1e-3)


@pytest.mark.parametrize(
    ("eta", "weight", "objective"),
    [
        (0.5, (math.sqrt(5) - 1) / 2, 32.628692),
        (0.0, math.sqrt(0.5), 31.483208),
        (1.0, None, 34.750302),
    ],
)
def test_identical_kernels_share_equally(eta, weight, objective):  # K12
    G, y = linear_gram()
    result, _ = exact(Problem(precomputed_bank([G, G]), y, Hinge(10.0), ElasticNet(eta)))
    values = result.best.weights.values
    assert result.upper == pytest.approx(objective, rel=1e-6)
    assert ElasticNet(eta).constraint(values) == pytest.approx(1.0, abs=1e-9)
    if weight is not None:
        np.testing.assert_allclose(values, weight, atol=1e-6)


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
def test_one_kernel_has_weight_one(eta):  # K12
    G, y = linear_gram()
    result, _ = exact(Problem(precomputed_bank([G]), y, Hinge(10.0), ElasticNet(eta)))
    assert result.best.weights.values == pytest.approx([1.0])
    assert result.upper == pytest.approx(34.750302, rel=1e-6)


def test_kernels_times_seven_divide_the_objective_by_seven():  # K11
    _, y = golden_data()
    problem = Problem(precomputed_bank(7 * golden_kernels()), y, Hinge(100 / 7))
    result, _ = exact(problem)
    assert result.upper == pytest.approx(43.669242, rel=1e-6)
    np.testing.assert_allclose(result.best.weights.values, GOLDEN[0.5][1], atol=1e-4)


def test_one_class_certifies_zero_at_once():  # L03
    bank = precomputed_bank(golden_kernels())
    result = solve(BlockCoordinateDescent(), Problem(bank, np.ones(20)))
    assert (result.upper, result.lower, result.gap, result.iterations) == (0.0, 0.0, 0.0, 0)


def test_a_negative_lower_bound_never_stops_a_run():
    problem = golden_problem(1.0, C=1e5)
    raw = problem.dual(next(TIGHT.iterate(problem)).alpha).objective
    assert raw < 0
    result, seen = exact(problem)
    assert seen[0].lower == 0.0
    assert math.isinf(seen[0].gap)
    assert result.iterations > 0


def test_weights_that_underflow_do_not_spoil_the_run():
    result = solve(
        BlockCoordinateDescent(),
        golden_problem(1.0, C=1.0),
        stop=StopRule(tol=1e-15, max_iter=3000),
    )
    assert result.status in {Status.STALLED, Status.CONVERGED, Status.ITERATION_LIMIT}
    assert np.isfinite(result.last.iterate).all()
    assert result.upper == pytest.approx(19.172900, rel=1e-6)


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
def test_warm_start_from_another_eta_gives_the_same_optimum(eta):
    first = solve(TIGHT, golden_problem(1.0), stop=EXACT)  # has exact zeros
    start = WarmStart(weights=first.best.weights, alpha=first.best.alpha)
    result, _ = exact(golden_problem(eta), start=start)
    assert result.upper == pytest.approx(GOLDEN[eta][0], rel=1e-6)


def test_weights_shown_have_exact_zeros_where_the_iterate_is_too_small():
    seen = []
    stop = StopRule(tol=1e-6, max_iter=2000)
    solve(BlockCoordinateDescent(), golden_problem(1.0), stop=stop, callbacks=[seen.append])
    first_zero = next(s for s in seen if (s.weights.values == 0.0).any())
    assert np.all(first_zero.iterate > 0)
    dropped = [line for s in seen for line in s.events if line.startswith("kernel dropped")]
    assert any("kernel 2" in line for line in dropped)


@pytest.mark.parametrize("name", ["inner_tol", "weight_tol"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_refuses_useless_tolerances(name, value):
    with pytest.raises(InputError, match=name):
        BlockCoordinateDescent(**{name: value})


@pytest.mark.parametrize("C", [0.0, -1.0, math.inf, math.nan, "1"])
def test_refuses_a_useless_C(C):
    with pytest.raises(InputError, match="C must be"):
        Hinge(C)


@pytest.mark.parametrize("eta", [-0.1, 1.1, math.nan, "x"])
def test_refuses_an_eta_outside_the_interval(eta):
    with pytest.raises(InputError, match="eta must lie"):
        ElasticNet(eta)


def real_problem(name, train_fraction, C, eta):
    """The papers' protocol on a shipped set, seed 0."""
    data = load(name)
    rows = split(data, train_fraction=train_fraction, seed=0).train
    X = Standardizer.fit(data.X[rows]).transform(data.X[rows])
    bank = build_bank(X, make_terms("paper", data.feature_names))
    return Problem(bank, data.y[rows], Hinge(C), ElasticNet(eta))


def test_small_C_and_unbalanced_classes_still_converge():
    # Every support vector is at the bound, but which rows they are moves with the weights.
    problem = real_problem("german", 0.15, 0.1, 1.0)
    result = solve(BlockCoordinateDescent(), problem, stop=StopRule(tol=1e-4))
    assert result.status is Status.CONVERGED


def test_huge_C_on_the_simplex_does_not_stall():
    # The SVM's own error must shrink as the progress per iteration does.
    problem = real_problem("wpbc", 0.6, 1e5, 1.0)
    result = solve(BlockCoordinateDescent(), problem, stop=StopRule(tol=5e-3))
    assert result.status is Status.CONVERGED


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_a_kernel_that_does_its_work_well_is_not_left_out_for_good(C, eta):
    """Unscaled age and income: u of the income kernel is tiny just because it has weight.

    Left out for that, the objective rises, the next step takes it back, and so
    on for ever: the run "stalled" at several times the optimum.
    """
    rng = np.random.default_rng(0)
    age, income = rng.uniform(20, 70, 40), rng.lognormal(10, 1, 40)
    y = np.where(age / 50 + np.log(income) / 10 + 0.3 * rng.standard_normal(40) > 1.9, 1.0, -1.0)
    near = np.exp(-(((age[:, None] - age) / 10) ** 2))
    bank = precomputed_bank([np.outer(age, age), np.outer(income, income), near])
    result = solve(
        BlockCoordinateDescent(), Problem(bank, y, Hinge(C), ElasticNet(eta)),
        stop=StopRule(tol=1e-3, max_iter=200),
    )  # fmt: skip
    assert result.status is Status.CONVERGED
    assert result.gap <= 1e-3


@pytest.mark.parametrize("seed", range(12))
def test_kernels_of_very_different_scale_converge(seed):
    rng = np.random.default_rng(seed)
    n, kernels = 30, []
    for _ in range(4):
        factor = rng.standard_normal((n, int(rng.integers(1, 8)))) * 10 ** rng.uniform(-3, 3)
        kernels.append(factor @ factor.T)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    problem = Problem(precomputed_bank(kernels), y, Hinge(1.0), ElasticNet(0.5))
    result = solve(BlockCoordinateDescent(), problem, stop=StopRule(tol=1e-3, max_iter=500))
    assert result.status is Status.CONVERGED


def test_a_kernel_whose_weight_underflowed_comes_back_when_the_dual_asks_for_it():
    problem = golden_problem(0.5)
    optimum, _ = exact(problem)
    solver = BlockCoordinateDescent()
    start = next(solver.iterate(problem))
    best = int(np.argmax(optimum.best.weights.values))
    iterate = start.iterate.copy()
    iterate[best] = 0.0
    gone = dataclasses.replace(start, iterate=iterate)
    result = solve(solver, problem, start=gone, stop=StopRule(tol=1e-4, max_iter=300))
    assert result.status is Status.CONVERGED
    assert result.upper == pytest.approx(optimum.upper, rel=1e-4)
    assert result.best.weights.values[best] > 0.1
