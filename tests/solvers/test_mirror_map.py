"""Potentials and Bregman steps of MATH 1.2, against an independent convex solver."""

import math

import cvxpy as cp
import numpy as np
import pytest

from mkldash.solvers._mirror_map import MirrorMap

NUS = [1.0, 1.2, 1.5, 2.0, 2.5, 4.0, 20.0, math.inf]


def points(size=6):
    rng = np.random.default_rng(0)
    yield 0.05 * rng.exponential(size=size)
    yield 2.0 * rng.exponential(size=size)
    yield np.where(np.arange(size) == 2, 5.0, 0.0)
    yield 1e-3 + np.where(np.arange(size) < 2, 1.0, 0.0)
    yield np.full(size, 3.0)


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("n_keys", [6, 10**12])
def test_the_dual_and_back_is_the_same_point(nu, n_keys):
    geometry = MirrorMap.of(nu, n_keys)
    for theta in points():
        again = geometry.primal(geometry.dual(theta))
        assert again == pytest.approx(theta, rel=1e-12, abs=1e-14)
    assert geometry.dual(np.zeros(3)) == pytest.approx(0.0, abs=0.0)
    assert geometry.primal(np.zeros(3)) == pytest.approx(0.0, abs=0.0)


@pytest.mark.parametrize("nu", NUS)
def test_the_dual_is_the_gradient_of_the_potential(nu):
    geometry = MirrorMap.of(nu, 85)
    theta = 0.1 + np.random.default_rng(1).random(5)
    for i in range(5):
        h = 1e-6 * np.eye(5)[i]
        psi = [0.5 * np.linalg.norm(t, geometry.r) ** 2 for t in (theta + h, theta - h)]
        assert (psi[0] - psi[1]) / 2e-6 == pytest.approx(geometry.dual(theta)[i], rel=1e-7)


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("n_keys", [6, 85])
def test_the_step_ends_where_the_bregman_projection_is(nu, n_keys):
    geometry = MirrorMap.of(nu, n_keys)
    for z in points():
        theta, dual = geometry.inside(z)
        assert dual == pytest.approx(geometry.dual(theta), rel=1e-9, abs=1e-12)
        size = theta.max() if math.isinf(nu) else np.linalg.norm(theta, nu)
        assert size <= 1 + 1e-13
        x = cp.Variable(len(z), nonneg=True)
        norm = cp.norm_inf(x) if math.isinf(nu) else cp.pnorm(x, nu, approx=False)
        psi = 0.5 * cp.square(cp.pnorm(x, geometry.r, approx=False))
        best = cp.Problem(cp.Minimize(psi - z @ x), [norm <= 1]).solve(solver=cp.CLARABEL)
        value = 0.5 * np.linalg.norm(theta, geometry.r) ** 2 - z @ theta
        assert value == pytest.approx(best, rel=1e-6, abs=1e-7)
        assert value <= best + 1e-7 * max(1.0, abs(best))


@pytest.mark.parametrize("nu", [1.0, 1.2, 2.0, 3.0, 50.0])
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_first_order_conditions_hold_at_any_scale(nu, scale):
    """On the support z - grad Psi(theta) is a multiple of the ball's normal, elsewhere less."""
    geometry = MirrorMap.of(nu, 10**6)
    z = scale * np.random.default_rng(5).exponential(size=40)
    theta, dual = geometry.inside(z)
    rest = z - geometry.dual(theta) if nu > 2 else z - dual
    if scale < 1:  # inside the ball: nothing is taken away
        assert np.abs(rest).max() <= 1e-12 * scale
        return
    normal = theta ** (nu - 1.0) if nu > 1 else np.ones(40)
    support = theta > 0
    ratio = rest[support] / normal[support]
    assert ratio == pytest.approx(np.full(support.sum(), ratio.max()), rel=1e-6)
    assert np.all(rest[~support] <= ratio.max() * (1 + 1e-9))
    assert np.linalg.norm(theta, nu) == pytest.approx(1.0, rel=1e-12)


def test_with_nu_equal_r_all_other_weights_share_one_factor():
    geometry = MirrorMap.of(1.5, 100)
    theta, z = geometry.inside(np.array([0.9, 0.5, 0.2, 0.7]))
    z[1] += 0.4
    after, _ = geometry.inside(z)
    factors = np.delete(after / theta, 1)
    assert geometry.rescales
    assert factors == pytest.approx(np.full(3, factors[0]), rel=1e-13)
    assert factors[0] < 1


def test_with_nu_one_they_do_not():
    """MATH 1.2: a soft threshold, which sets weights to zero."""
    geometry = MirrorMap.of(1.0, 100)
    theta, z = geometry.inside(np.array([0.9, 0.5, 0.2, 0.7]))
    z[1] += 5.0
    after, _ = geometry.inside(z)
    assert not geometry.rescales
    assert after[1] > 0
    assert np.count_nonzero(after) < np.count_nonzero(theta)


def test_the_diameter_grows_with_the_family_beyond_nu_two():
    assert MirrorMap.of(2.0, 10**6).diameter == 0.5
    assert MirrorMap.of(1.0, 10**18).diameter == 0.5
    assert MirrorMap.of(math.inf, 100).diameter == 50.0
    assert MirrorMap.of(4.0, 10_000).diameter == pytest.approx(50.0)


@pytest.mark.parametrize("n_keys", [1, 2, 3, 10**18, 7**30])
def test_families_of_any_size_have_a_potential(n_keys):
    geometry = MirrorMap.of(1.0, n_keys)
    assert 1.0 < geometry.r <= 2.0
    theta, _ = geometry.inside(np.array([2.0, 1.0]))
    assert theta.sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("nu", [1.0, 1.5, 2.5, 3.0, math.inf])
@pytest.mark.parametrize("size", [1e17, 1e40])
def test_a_step_of_any_length_ends_on_the_boundary(nu, size):
    """The largest coordinate takes what it can; nothing is lost beside its size."""
    theta, _ = MirrorMap.of(nu, 286).inside(np.array([size, 0.5 * size, 0.0]))
    norm = theta.max() if math.isinf(nu) else np.linalg.norm(theta, nu)
    assert norm == pytest.approx(1.0, rel=1e-12)
    assert theta[0] >= theta[1] >= 0.0
    assert theta[2] == 0.0
