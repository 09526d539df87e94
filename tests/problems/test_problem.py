"""Weak duality at any feasible point, whatever the storage and rho."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkldash.errors import InputError
from mkldash.kernels.banks import make_terms
from mkldash.kernels.building import build_bank
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.problems.weight_sets.simplex import Simplex
from tests.recipes import GOLDEN, golden_data, golden_kernels, golden_problem


def feasible_point(problem, rng):
    theta = rng.exponential(size=problem.bank.n_kernels) ** 2
    theta /= problem.weight_set.gauge(theta)
    alpha = problem.loss.feasible(problem.loss.C * rng.random(problem.n_rows) ** 3, problem.y)
    return theta, alpha


@settings(deadline=None)
@given(
    st.integers(0, 10**6),
    st.floats(0.0, 1.0),
    st.floats(-2, 3).map(lambda v: 10**v),
    st.sampled_from([math.inf, 100.0, 0.1]),
)
def test_weak_duality_between_any_two_feasible_points(seed, eta, C, rho):
    rng = np.random.default_rng(seed)
    _, y = golden_data()
    problem = Problem(precomputed_bank(golden_kernels()), y, Hinge(C), ElasticNet(eta), rho)
    theta, alpha = feasible_point(problem, rng)
    _, other = feasible_point(problem, rng)
    upper = problem.primal(theta, alpha).objective
    assert problem.dual(other).objective <= upper * (1 + 1e-12)


@pytest.mark.parametrize("eta", sorted(GOLDEN))
def test_any_point_brackets_the_certified_optimum(eta):
    problem, rng = golden_problem(eta), np.random.default_rng(0)
    for _ in range(50):
        theta, alpha = feasible_point(problem, rng)
        assert problem.primal(theta, alpha).objective >= GOLDEN[eta][0] * (1 - 1e-8)
        assert problem.dual(alpha).objective <= GOLDEN[eta][0] * (1 + 1e-8)


@pytest.mark.parametrize("residual", [1e-12, 1e-4, 1e-2])
def test_factored_bounds_hold_for_the_exact_kernels(residual):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    terms = make_terms("paper", ["a", "b", "c"])
    exact = Problem(build_bank(X, terms, storage="dense"), y, Hinge(10.0))
    short = Problem(build_bank(X, terms, storage="factored", residual=residual), y, Hinge(10.0))
    for _ in range(20):
        theta, alpha = feasible_point(exact, rng)
        upper = exact.primal(theta, alpha).objective
        lower = exact.dual(alpha).objective
        slack = 1e-10 * max(abs(upper), abs(lower))
        assert short.primal(theta, alpha).objective >= upper - slack
        assert short.dual(alpha).objective <= lower + slack
    assert residual > 1e-12 or short.dual(alpha).objective == pytest.approx(lower, rel=1e-6)


def test_infinite_rho_is_the_limit_of_a_large_one():
    _, y = golden_data()
    bank = precomputed_bank(golden_kernels())
    rng = np.random.default_rng(2)
    plain, near = Problem(bank, y), Problem(bank, y, rho=1e14)
    theta, alpha = feasible_point(plain, rng)
    assert near.primal(theta, alpha).objective == pytest.approx(
        plain.primal(theta, alpha).objective, rel=1e-6
    )
    assert near.dual(alpha).objective == pytest.approx(plain.dual(alpha).objective, rel=1e-6)


def test_key_tells_problems_apart():
    bank = precomputed_bank(golden_kernels())
    _, y = golden_data()
    keys = {
        Problem(bank, y).key,
        Problem(bank, y, Hinge(1.0)).key,
        Problem(bank, y, weight_set=ElasticNet(0.25)).key,
        Problem(bank, y, weight_set=Simplex()).key,
        Problem(bank, y, rho=1.0).key,
        Problem(bank, -y).key,
        Problem(precomputed_bank(2 * golden_kernels()), y).key,
    }
    assert len(keys) == 7
    assert Problem(bank, y).key == Problem(precomputed_bank(golden_kernels()), y).key


def test_refuses_what_has_no_meaning():
    bank = precomputed_bank(golden_kernels())
    _, y = golden_data()
    with pytest.raises(InputError, match="3 labels for a bank of 20"):
        Problem(bank, np.ones(3))
    with pytest.raises(InputError, match="-1 or \\+1"):
        Problem(bank, np.arange(20.0))
    with pytest.raises(InputError, match="rho"):
        Problem(bank, y, rho=0.0)
    with pytest.raises(InputError, match="2 fixed weights"):
        Problem(bank, y, weight_set=Fixed((1.0, 0.5)))
    with pytest.raises(InputError, match="kernel 1"):
        Fixed((1.0, -0.5))


@settings(deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 100.0))
def test_feasible_moves_into_the_set_and_keeps_zeros(seed, C):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(30) < 0.4, 1.0, -1.0)
    wild = rng.standard_normal(30) * C
    inside = Hinge(C).feasible(wild, y)
    assert inside.min() >= 0
    assert inside.max() <= C
    assert abs(y @ inside) <= 1e-10 * C
    assert np.all(inside[wild <= 0] == 0)


@pytest.mark.parametrize("eta", [0.0, 0.3, 1.0])
def test_pulled_inside_means_positive_and_on_the_boundary(eta):
    weight_set = ElasticNet(eta)
    for theta in (np.array([1.0, 0.0, 0.0]), np.zeros(3), np.array([5.0, 1e-300, 2.0])):
        inside = weight_set.pull_inside(theta)
        assert inside.min() > 0
        assert weight_set.constraint(inside) == pytest.approx(1.0, abs=1e-12)
