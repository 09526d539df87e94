"""The squared loss: values of MATH 1.1, the ray of the dual, refusals, and case S13's J."""

import math

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.kernels.base import KernelBank
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.kernels.products import product_family
from mkldash.kernels.weights import Weights
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.norm_ball import NormBall


def data(n=15, r=3, seed=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, r))
    return X, X[:, 0] * X[:, 1] + 0.2 * rng.standard_normal(n)


def problem(p=1.0, **options):
    X, y = data()
    family = product_family(X, ("a", "b", "c"), degree=2, merged=p == 1.0, **options)
    return Problem(family, y, Squared(), NormBall.of_p(p))


def s13():
    """Case S13: six rows, two features, words up to degree 2."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((6, 2))
    y = x[:, 0] * x[:, 1] + 0.1 * rng.standard_normal(6)
    rho = (1.0, 1.0, math.sqrt(2.0))
    return product_family(x, ("x0", "x1"), degree=2, rho=rho, scale=False, merged=False), y


def ridge(K, y):
    return np.linalg.solve(K + np.eye(len(y)), y)


def test_at_the_ridge_solution_the_primal_is_half_y_a():
    """MATH 1.1: a = (K + I)^-1 y and J = y'a/2."""
    given = problem()
    weights = Weights(((), (0,), (0, 1)), np.array([0.2, 0.3, 0.5]))
    a = ridge(given.combine(weights).matrix(), given.y)
    value = given.primal(weights, a)
    assert value.objective == pytest.approx(given.y @ a / 2, rel=1e-13)
    assert value.bias == 0.0
    other = given.primal(weights, a + 0.01 * np.random.default_rng(0).standard_normal(len(a)))
    assert other.objective > value.objective


def test_s13_value_and_totals_by_degree():
    family, y = s13()
    given = Problem(family, y, Squared(), NormBall.of_p(1.0 + 1e-9))
    keys = family.keys()
    assert len(keys) == 7
    weights = Weights(keys, np.full(7, 1.0 / 7.0))
    a = ridge(family.combine(weights).matrix(), y)
    assert given.primal(weights, a).objective == pytest.approx(0.679891, abs=5e-7)
    halves = family.degree_totals(a) / 2.0
    assert halves == pytest.approx([0.141462, 0.205660, 1.600716], abs=5e-7)


@pytest.mark.parametrize("p", [1.0, 4.0 / 3.0, 1.5, 2.0])
def test_the_dual_is_a_lower_bound_and_the_best_on_its_ray(p):
    given = problem(p)
    rng = np.random.default_rng(1)
    family, y = given.family, given.y
    least = min(
        given.primal(w, ridge(given.combine(w).matrix(), y)).objective
        for w in (_random_weights(given, rng) for _ in range(40))
    )
    for _ in range(20):
        a = rng.standard_normal(len(y))
        dual = given.dual(a)
        assert dual.objective <= least
        assert dual.support.exact
        star = given.weight_set.dual_exponent
        u = family.all_forms(a)
        norm = u.max() if math.isinf(star) else (u**star).sum() ** (1 / star)

        def along(c, a=a, norm=norm):
            return c * (a @ y) - c**2 * (a @ a + norm) / 2

        c = (a @ y) / (a @ a + norm)
        assert dual.objective == pytest.approx(along(c), rel=1e-12)
        assert along(1.01 * c) <= dual.objective
        assert along(0.99 * c) <= dual.objective
        assert given.dual(-3.0 * a).objective == pytest.approx(dual.objective, rel=1e-12)


def _random_weights(given, rng):
    values = rng.exponential(size=given.family.size)
    return Weights(given.family.keys(), values / given.weight_set.constraint(values))


def test_the_gap_at_a_ridge_solution_is_maths():
    """MATH 1.4 along the ray: J / lower - 1 = (||u||_nu* - theta'u) / (2 J)."""
    given = problem()
    weights = _random_weights(given, np.random.default_rng(3))
    a = ridge(given.combine(weights).matrix(), given.y)
    J, lower = given.primal(weights, a).objective, given.dual(a).objective
    u = given.family.all_forms(a)
    assert J / lower - 1 == pytest.approx((u.max() - weights.values @ u) / (2 * J), rel=1e-11)


def test_the_gradient_of_J_is_half_of_u():
    """MATH 1.1: dJ/dtheta_i = -u_i/2, by central differences."""
    given = problem(1.5)
    keys = given.family.keys()
    theta = np.full(len(keys), 0.1)

    def J(values):
        K = given.combine(Weights(keys, values)).matrix()
        return given.y @ ridge(K, given.y) / 2

    a = ridge(given.combine(Weights(keys, theta)).matrix(), given.y)
    u = given.family.quadratic_forms(a, keys)
    for i in range(len(keys)):
        h = 1e-5 * np.eye(len(keys))[i]
        assert (J(theta + h) - J(theta - h)) / 2e-5 == pytest.approx(-u[i] / 2, rel=1e-7, abs=1e-9)


def test_zero_coefficients_certify_nothing():
    assert problem().dual(np.zeros(15)).objective == 0.0


def test_refusals_name_what_is_wrong():
    X, y = data()
    family = product_family(X, ("a", "b", "c"), degree=2)
    with pytest.raises(InputError, match="row 2 is not finite"):
        Problem(family, np.where(np.arange(15) == 2, np.nan, y), Squared(), NormBall())
    with pytest.raises(InputError, match="too large to be squared"):
        Problem(family, 1e100 * y, Squared(), NormBall())
    with pytest.raises(InputError, match="14 targets"):
        Problem(family, y[:-1], Squared(), NormBall())
    with pytest.raises(InputError, match="labels must be"):
        Problem(family, y, weight_set=NormBall())
    with pytest.raises(InputError, match="leave rho infinite"):
        Problem(family, y, Squared(), NormBall(), rho=1.0)
    with pytest.raises(InputError, match="no certificate over an implicit family"):
        Problem(family, y, Squared(), ElasticNet(0.5))
    with pytest.raises(TypeError, match="come with their keys"):
        Problem(family, y, Squared(), NormBall()).combine(np.ones(3))


def test_a_bank_answers_as_a_family():
    X, y = data()
    bank = precomputed_bank([np.outer(x, x) for x in X.T], normalize=False)
    assert isinstance(bank, KernelBank)
    given = Problem(bank, y, Squared(), NormBall(2.0))
    a = np.random.default_rng(8).standard_normal(15)
    u = bank.quadratic_forms(a)
    assert not given.has_family
    assert given.family.total(a) == pytest.approx(u.sum(), rel=1e-14)
    assert given.family.largest(a, 1).value == u.max()
    weights = Weights(((2,), (0,)), np.array([0.5, 0.25]))
    expected = bank.combine(np.array([0.25, 0.0, 0.5])).matrix()
    np.testing.assert_array_equal(given.family.combine(weights).matrix(), expected)
    law = given.family.sample(a, np.random.default_rng(0)).position_laws[0]
    assert law == pytest.approx(u / u.sum(), rel=1e-14)
