"""The second-order bundle: its Hessian, its model, its certified optima and their price."""

import math

import cvxpy as cp
import numpy as np
import pytest

from mkldash.datasets.cards import load
from mkldash.datasets.splits import row_list
from mkldash.errors import InputError, UnsupportedProblemError
from mkldash.kernels.banks import make_terms
from mkldash.kernels.building import build_bank
from mkldash.kernels.normalization import Standardizer
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers import _bundle
from mkldash.solvers._weight_cuts import WeightCut, certified_minimum, stacked
from mkldash.solvers.driver import solve
from mkldash.solvers.second_order import SecondOrder, _kept
from mkldash.solvers.stopping import Status, StopRule
from mkldash.solvers.svm import solve_combined, solve_roughly, solve_svm
from tests.recipes import GOLDEN, golden_kernels, golden_problem

EXACT = SecondOrder(inner_tol=1e-11)
#: eta -> (optimum, SVM solves in which a relative gap of 1e-6 must be certified)
WDBC = {
    0.0: (1557.661, 12),
    0.25: (3259.327, 12),
    0.5: (4238.5565, 12),
    0.9: (5115.2017, 25),
    1.0: (5288.4919, 25),
}


@pytest.fixture(scope="module")
def wdbc():
    data, rows = load("wdbc"), row_list("wdbc-math8")
    X = Standardizer.fit(data.X[rows]).transform(data.X[rows])
    return build_bank(X, make_terms("paper", data.feature_names)), data.y[rows]


@pytest.mark.parametrize("eta", sorted(WDBC))
def test_wdbc_to_a_millionth_in_few_svm_solves(wdbc, eta):
    bank, y = wdbc
    optimum, most = WDBC[eta]
    seen = []
    result = solve(
        SecondOrder(),
        Problem(bank, y, Hinge(100.0), ElasticNet(eta)),
        stop=StopRule(tol=1e-6),
        callbacks=[seen.append],
    )
    assert result.status is Status.CONVERGED
    assert result.inner_solves <= most
    assert result.lower <= optimum * (1 + 1e-6)
    assert result.upper >= optimum * (1 - 1e-6)
    assert all(s.lower <= optimum * (1 + 1e-6) and s.upper >= optimum * (1 - 1e-6) for s in seen)
    assert all(s.model_lower <= s.lower for s in seen)


def test_wdbc_keeps_few_kernels_at_eta_1(wdbc):
    bank, y = wdbc
    problem = Problem(bank, y, Hinge(100.0), ElasticNet(1.0))
    weights = solve(SecondOrder(), problem, stop=StopRule(tol=1e-6)).best.weights.values
    assert np.count_nonzero(weights) == 14  # exact zeros, as MATH 8 counts them
    assert weights.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("eta", sorted(GOLDEN))
def test_golden(eta):
    objective, theta = GOLDEN[eta]
    result = solve(EXACT, golden_problem(eta), stop=StopRule(tol=1e-9, max_iter=200))
    assert result.status is Status.CONVERGED
    assert result.upper == pytest.approx(objective, rel=1e-6)
    np.testing.assert_allclose(result.best.weights.values, theta, atol=1e-4)


@pytest.mark.parametrize("C", [1e4, 1e6])
@pytest.mark.parametrize(
    ("eta", "optimum"), [(1.0, 323.858233), (0.5, 305.835439), (0.2, 284.063165), (0.0, 268.941941)]
)
def test_huge_C(C, eta, optimum):  # S01
    result = solve(EXACT, golden_problem(eta, C), stop=StopRule(tol=1e-6, max_iter=200))
    assert result.status is Status.CONVERGED
    assert result.upper == pytest.approx(optimum, rel=3e-6)


@pytest.mark.parametrize("C", [1e-6, 0.1, 1.0])
@pytest.mark.parametrize(
    ("eta", "theta"),
    [
        (0.5, (0.801478, 0.145218, 0.0, 0.299906)),
        (0.0, (0.765321, 0.379414, 0.221530, 0.470376)),
        (1.0, (1.0, 0.0, 0.0, 0.0)),
    ],
)
def test_all_points_at_the_bound(C, eta, theta):  # S02
    result = solve(SecondOrder(), golden_problem(eta, C), stop=StopRule(tol=1e-9))
    assert result.status is Status.CONVERGED
    assert result.iterations <= 2
    np.testing.assert_allclose(result.best.weights.values, theta, atol=1e-5)
    assert any("Algorithm 3" in event for event in result.last.events)


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0 - 1e-9, 1.0])
def test_twin_kernels_share_or_split(eta):
    K = golden_kernels()
    y = golden_problem().y
    twins = np.array([K[0], K[1], K[1], K[3]])
    result = solve(
        EXACT,
        Problem(precomputed_bank(twins), y, Hinge(100.0), ElasticNet(eta)),
        stop=StopRule(tol=1e-8, max_iter=200),
    )
    assert result.gap <= 1e-8
    if eta < 0.9:  # strictly convex: equal weights
        first, second = result.best.weights.values[1:3]
        assert first == pytest.approx(second, abs=1e-4)


def test_one_kernel_needs_no_step():
    K = golden_kernels()[1:2]
    problem = Problem(precomputed_bank(K), golden_problem().y, Hinge(100.0), ElasticNet(0.5))
    result = solve(SecondOrder(), problem, stop=StopRule(tol=1e-8))
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.best.weights.values, [1.0])


@pytest.mark.parametrize("rho", [1.0, 100.0])
def test_with_the_neighborhood_penalty(rho):
    K, y = golden_kernels(), golden_problem().y
    problem = Problem(precomputed_bank(K), y, Hinge(10.0), ElasticNet(0.5), rho)
    alpha, theta = cp.Variable(y.size), cp.Variable()
    # max over a of the dual: sup over the set in closed form needs eta = 0.5's cone.
    forms = [cp.quad_form(cp.multiply(y, alpha), cp.psd_wrap(k)) for k in K]
    slack = cp.Variable(len(K), nonneg=True)
    t = [cp.quad_over_lin(slack[k], theta) for k in range(len(K))]
    support = theta + sum(t) / (4 * 0.5)
    constraints = [alpha >= 0, alpha <= 10.0, y @ alpha == 0, theta >= 1e-9]
    constraints += [form <= s + 0.5 * theta for form, s in zip(forms, slack, strict=True)]
    square = cp.sum_squares(alpha)
    value = cp.Problem(
        cp.Maximize(cp.sum(alpha) - support / 2 - cp.square(square) / (8 * rho)), constraints
    ).solve(solver=cp.CLARABEL)
    result = solve(EXACT, problem, stop=StopRule(tol=1e-8, max_iter=200))
    assert result.gap <= 1e-8
    assert result.upper == pytest.approx(value, rel=1e-5)


def test_the_hessian_is_that_of_the_reduced_cost():
    problem = golden_problem(0.5)
    theta = problem.weight_set.start(4)

    def forms(weights):
        K = problem.bank.combine(weights).matrix()
        svm = solve_svm(K, problem.y, 100.0, tol=1e-12)
        return problem.bank.quadratic_forms(problem.signed(svm.alpha)), svm.alpha

    _, alpha = forms(theta)
    metric = _bundle.newton_metric(problem, theta, alpha)
    assert metric.free > 1
    step = 1e-5
    for k in range(4):
        ahead, behind = theta.copy(), theta.copy()
        ahead[k] += step
        behind[k] -= step
        slope = -0.5 * (forms(ahead)[0] - forms(behind)[0]) / (2 * step)
        np.testing.assert_allclose(
            metric.B.T @ metric.B[:, k], slope, rtol=1e-4, atol=1e-4 * np.abs(slope).max()
        )


def test_fewer_than_two_free_support_vectors_give_no_curvature():
    problem = golden_problem(0.5)
    alpha = np.where(problem.y > 0, 100.0, 100.0)
    assert _bundle.newton_metric(problem, problem.weight_set.start(4), alpha).B.shape == (0, 4)


def model(rng, n_kernels, n_cuts, rank, eta, sparse):
    centre = rng.random(n_kernels) * (rng.random(n_kernels) < (0.2 if sparse else 1.1))
    centre[0] += 0.1
    centre /= ElasticNet(eta).gauge(centre)
    forms = rng.random((n_cuts, n_kernels)) ** 3
    B = 0.5 * rng.standard_normal((rank, n_kernels))
    values = rng.random(n_cuts)
    metric = 0.01 * rng.random(n_kernels)
    return _bundle._Model(values, forms, B, B @ centre, metric, centre)


def conic(made, eta):
    theta, t = cp.Variable(made.centre.size), cp.Variable()
    set_ = eta * cp.sum(theta) + (1 - eta) * cp.sum_squares(theta) <= 1
    newton = 0.5 * cp.sum_squares(made.B @ theta - made.target)
    damped = 0.5 * cp.sum_squares(cp.multiply(np.sqrt(made.metric), theta - made.centre))
    cuts = t >= made.values - 0.5 * made.forms @ theta
    return cp.Problem(cp.Minimize(t + newton + damped), [set_, theta >= 0, cuts]).solve(
        solver=cp.CLARABEL
    )


@pytest.mark.parametrize("eta", [0.0, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n_kernels", [6, 200])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_model_is_minimised(eta, n_kernels, sparse):
    rng = np.random.default_rng(7)
    for n_cuts, rank in ((1, 0), (5, 3), (12, 20)):
        made = model(rng, n_kernels, n_cuts, rank, eta, sparse)
        found = made.minimise(eta, 1e-9, made.forms.max(axis=0))
        theta = found.theta
        assert np.all(theta >= 0.0)
        assert ElasticNet(eta).gauge(theta) <= 1.0 + 1e-6
        value = (made.values - 0.5 * made.forms @ theta).max()
        value += 0.5 * float(((made.B @ theta - made.target) ** 2).sum())
        value += 0.5 * float((made.metric * (theta - made.centre) ** 2).sum())
        assert value == pytest.approx(conic(made, eta), abs=1e-6)


def test_any_multipliers_certify_a_bound():
    rng = np.random.default_rng(1)
    forms, intercepts = rng.random((6, 9)), rng.random(6)
    cuts = [WeightCut(iteration=j, intercept=intercepts[j], forms=forms[j]) for j in range(6)]
    weight_set = ElasticNet(0.5)
    theta, t = cp.Variable(9, nonneg=True), cp.Variable()
    least = cp.Problem(
        cp.Minimize(t),
        [
            0.5 * cp.sum(theta) + 0.5 * cp.sum_squares(theta) <= 1,
            t >= intercepts - forms @ theta / 2,
        ],
    ).solve(solver=cp.CLARABEL)
    for _ in range(50):
        bound = certified_minimum(*stacked(cuts), rng.random(6), weight_set)
        assert bound <= least + 1e-9
    assert certified_minimum(*stacked(cuts), np.zeros(6), weight_set) == -math.inf


def test_cuts_that_hold_nothing_up_are_dropped_once_they_are_many():
    cuts = tuple(WeightCut(iteration=j, intercept=0.0, forms=np.ones(2)) for j in range(80))
    multipliers = np.zeros(80)
    multipliers[[3, 70]] = 0.5
    kept = _kept(cuts, multipliers, best=11)
    assert {3, 11, 70, 79} <= set(kept)
    assert kept.size < 40
    assert _kept(cuts[:20], multipliers[:20], best=11).size == 20


def test_a_rough_solve_is_feasible_and_honest(wdbc):
    bank, y = wdbc
    combined = bank.combine(ElasticNet(0.5).start(bank.n_kernels))
    alpha = decision = None
    exact = solve_combined(combined, y, 100.0, tol=1e-6)

    def value(svm):
        return svm.alpha.sum() - 0.5 * (y * svm.alpha) @ svm.decision

    violations = []
    for _ in range(12):
        rough = solve_roughly(combined, y, 100.0, alpha=alpha, decision=decision, tol=1e-6)
        alpha, decision = rough.alpha, rough.decision
        assert np.all((alpha >= 0) & (alpha <= 100.0))
        assert abs(y @ alpha) <= 1e-9 * alpha.sum()
        np.testing.assert_allclose(decision, combined.matrix() @ (y * alpha), atol=1e-9)
        assert value(rough) <= value(exact) * (1 + 1e-9)
        violations.append(rough.violation)
    assert violations[0] > 0.1  # a fifth of the rows is not all of them
    assert violations[-1] <= 1e-6  # again and again it becomes exact
    assert value(rough) == pytest.approx(value(exact), rel=1e-6)


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"damping": -1.0}, "damping"),
        ({"damping": math.nan}, "damping"),
        ({"first_steps": -1}, "first_steps"),
        ({"first_steps": 1.5}, "first_steps"),
        ({"inner_tol": 0.0}, "inner_tol"),
    ],
)
def test_hyper_parameters_are_checked(bad, named):
    with pytest.raises(InputError, match=named):
        SecondOrder(**bad)


def test_sets_without_a_model_are_refused():
    problem = Problem(golden_problem().bank, golden_problem().y, Hinge(1.0), NormBall(2.0))
    with pytest.raises(UnsupportedProblemError, match="norm-ball"):
        solve(SecondOrder(), problem)


@pytest.mark.parametrize("C", [1e3, 1e4, 1e6])
@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
def test_a_huge_C_is_certified_without_a_tolerance_of_ones_own(C, eta):
    # The SVM's own gap, C times its tolerance, must not keep the bounds apart.
    result = solve(SecondOrder(), golden_problem(eta, C), stop=StopRule(tol=1e-3))
    assert result.status is Status.CONVERGED


def test_kernels_of_very_different_sizes():
    K, y = golden_kernels(), golden_problem().y
    sizes = np.array([1e-3, 1.0, 1e3, 1e5])[:, None, None]
    problem = Problem(precomputed_bank(K * sizes), y, Hinge(100.0), ElasticNet(0.9))
    result = solve(SecondOrder(), problem, stop=StopRule(tol=1e-4))
    known = solve(EXACT, problem, stop=StopRule(tol=1e-6))
    assert result.status is Status.CONVERGED
    assert known.lower * (1 - 1e-6) <= result.upper <= known.upper * (1 + 1e-4)


@pytest.mark.parametrize("bad", ["abc", True, [1e-3]])
def test_a_tolerance_that_is_no_number_is_refused_by_name(bad):
    with pytest.raises(InputError, match="inner_tol must be a positive number"):
        SecondOrder(inner_tol=bad)
