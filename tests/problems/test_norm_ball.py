"""The ball of the nu-norm: support function, bounds over families, refusals."""

import itertools
import math

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.kernels.products import product_family
from mkldash.problems.weight_sets import norm_ball
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.norm_ball import NormBall

NUS = [1.0, 1.25, 2.0, 3.0, 8.0, math.inf]


def family(degree=3, merged=True, seed=0):
    X = np.random.default_rng(seed).standard_normal((12, 4))
    return product_family(X, tuple("abcd"), degree=degree, merged=merged)


@pytest.mark.parametrize(("p", "nu"), [(1.0, 1.0), (4.0 / 3.0, 2.0), (1.5, 3.0), (2.0, math.inf)])
def test_p_names_its_ball(p, nu):
    assert NormBall.of_p(p).nu == pytest.approx(nu, rel=1e-15)


@pytest.mark.parametrize("p", [0.99, 2.01, math.nan, math.inf, "1"])
def test_another_p_is_refused(p):
    with pytest.raises(InputError, match="p must lie between 1 and 2"):
        NormBall.of_p(p)


@pytest.mark.parametrize("nu", [0.5, math.nan, -1.0, "2"])
def test_another_nu_is_refused(nu):
    with pytest.raises(InputError, match="nu must be"):
        NormBall(nu)


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_maximum_is_the_dual_norm_and_is_reached(nu, scale):
    u = scale * np.random.default_rng(1).exponential(size=7)
    ball = NormBall(nu)
    theta, value = ball.maximise(u)
    assert theta @ u == pytest.approx(value, rel=1e-13)
    assert ball.constraint(theta) <= 1 + 1e-13
    star = ball.dual_exponent
    shares = u / scale
    norm = shares.max() if math.isinf(star) else (shares**star).sum() ** (1 / star)
    assert value / scale == pytest.approx(norm, rel=1e-13)


@pytest.mark.parametrize("nu", NUS)
def test_no_gradient_at_all_has_maximum_zero(nu):
    theta, value = NormBall(nu).maximise(np.zeros(5))
    assert value == 0.0
    assert NormBall(nu).constraint(theta) == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("nu", NUS)
def test_points_are_pulled_to_the_boundary(nu):
    ball = NormBall(nu)
    for theta in (np.zeros(4), np.array([3.0, 0.0, -1.0, 1e-9]), ball.start(4)):
        inside = ball.pull_inside(theta)
        assert np.all(inside > 0)
        assert ball.constraint(inside) == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("budget", [1, 3, 1000])
def test_over_a_family_it_bounds_the_norm_of_all_forms(nu, budget, monkeypatch):
    """MATH 1.4; the sizes at which enumeration ends are put to zero for the bound between."""
    a = np.random.default_rng(2).standard_normal(12)
    ordered = family(merged=False)
    words = [w for d in range(4) for w in itertools.product(range(4), repeat=d)]
    u = ordered.quadratic_forms(a, words)
    star = NormBall(nu).dual_exponent
    norm = u.max() if math.isinf(star) else (u**star).sum() ** (1 / star)
    kernels = family() if nu == 1.0 else ordered
    support = NormBall(nu).support_of_family(kernels, a, budget)
    assert support.value >= norm * (1 - 1e-12)
    if support.exact:
        assert support.value == pytest.approx(norm, rel=1e-12)
        assert support.how == "exact"
    monkeypatch.setattr(norm_ball, "ENUMERABLE", 0)
    bound = NormBall(nu).support_of_family(kernels, a, budget)
    assert bound.value >= norm * (1 - 1e-12)
    assert bound.value <= u.sum() * (1 + 1e-12)


def test_a_set_without_a_bound_over_families_says_so():
    with pytest.raises(InputError, match="no certificate over an implicit family"):
        ElasticNet(0.5).support_of_family(family(), np.ones(12), 5)
