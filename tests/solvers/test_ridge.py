"""The structured ridge solves agree with a fresh factorisation, along whole runs."""

import math

import numpy as np
import pytest

from mkldash.kernels.products import product_family, product_family_of
from mkldash.kernels.weights import Weights
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers import _ridge
from mkldash.solvers._ridge import Ridge, solve_at
from mkldash.solvers._ridge_rows import RowRidge, solve_fresh
from mkldash.solvers.mirror_descent import RandomizedMirrorDescent
from tests.contracts.test_solvers import run


def data(n=40, r=5, seed=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, r))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(n)


def ridge(K, y):
    return np.linalg.solve(K + np.eye(len(y)), y)


def gaussians(X):
    return np.array([np.exp(-((x[:, None] - x) ** 2)) for x in X.T])


@pytest.mark.parametrize("p", [1.0, 4.0 / 3.0, 1.5, 2.0])
@pytest.mark.parametrize("few", [0, 3, 1000])
@pytest.mark.parametrize("penalty", [1e-4, 1.0])
@pytest.mark.parametrize("bases", ["linear", "gaussian"])
def test_along_a_run_every_way_is_the_fresh_solve(p, few, penalty, bases, monkeypatch):
    """To 1e-8, as the issue of speed asks: small systems, followed inverses, fresh ones."""
    monkeypatch.setattr(_ridge, "most_columns", lambda n_rows, follows, rescales: few)
    X, y = data()
    options = {"degree": 3, "penalty": penalty, "merged": p == 1.0}
    if bases == "linear":
        family = product_family(X, tuple("abcde"), **options)
    else:
        family = product_family_of(gaussians(X), tuple("abcde"), **options)
    problem = Problem(family, y, Squared(), NormBall.of_p(p))
    for snapshot in run(RandomizedMirrorDescent(certify_every=1000), problem, 130):
        a = ridge(family.combine(snapshot.weights).matrix(), y)
        assert np.abs(snapshot.alpha - a).max() <= 1e-8 * np.abs(a).max()
        J = snapshot.objective
        assert pytest.approx(y @ a / 2, rel=1e-9) == J


def test_words_of_the_same_letters_share_a_column():
    X, y = data()
    family = product_family(X, tuple("abcde"), degree=2, merged=False)
    keys, theta = [(0, 1), (1, 0), (2,)], np.array([0.5, 0.25, 1.0])
    found = Ridge(family, y, keys, theta, follows=False)
    K = family.combine(Weights(tuple(keys), theta)).matrix()
    np.testing.assert_allclose(found.a, ridge(K, y), rtol=1e-11)
    assert found._small.count == 2


def test_rows_follow_scale_and_rank_one_and_refactor_when_far():
    """A common factor of a thousand makes the old inverse useless: it is renewed."""
    X, y = data(seed=5)
    K = X @ X.T
    rows = RowRidge(y, K.copy())
    rng = np.random.default_rng(1)
    for scale, extra in [(1.0, 0.5), (0.9, 0.1), (1000.0, 3.0), (1e-4, 0.0), (0.5, 1e4)]:
        feature = rng.standard_normal(40)
        K = scale * K + extra * np.outer(feature, feature)
        rows.change(scale, extra, feature)
        a = ridge(K, y)
        assert np.abs(rows.a - a).max() <= 1e-8 * np.abs(a).max()
        np.testing.assert_allclose(rows.fitted, K @ rows.a, atol=1e-8 * np.abs(y).max())


def test_rows_follow_kernels_of_full_rank():
    X, y = data(seed=6)
    first, second = gaussians(X)[:2]
    K = first.copy()
    rows = RowRidge(y, K.copy())
    for scale, extra in [(0.9, 0.1), (1.0, 2.0), (0.2, 0.7)]:
        K = scale * K + extra * second
        rows.change_full(scale, extra, second)
        np.testing.assert_allclose(rows.a, ridge(K, y), rtol=1e-9)


def test_more_changes_than_room_at_first():
    X, y = data(seed=7)
    K = X @ X.T
    rows = RowRidge(y, K.copy())
    rng = np.random.default_rng(3)
    for _ in range(150):
        feature = rng.standard_normal(40)
        K = 0.99 * K + 0.01 * np.outer(feature, feature)
        rows.change(0.99, 0.01, feature)
    a = ridge(K, y)
    assert np.abs(rows.a - a).max() <= 1e-8 * np.abs(a).max()


def test_at_one_point_both_ways_agree():
    X, y = data()
    family = product_family(X, tuple("abcde"), degree=3)
    keys = family.keys()
    theta = np.random.default_rng(0).exponential(size=len(keys)) / len(keys)
    small, many = theta * (np.arange(len(keys)) < 9), theta
    for values in (small, many):
        K = family.combine(Weights(keys, values)).matrix()
        a, fitted = solve_at(family, y, keys, values)
        np.testing.assert_allclose(a, ridge(K, y), rtol=1e-9)
        np.testing.assert_allclose(fitted, K @ a, rtol=1e-9)


def test_what_is_not_finite_is_said_not_raised():
    y = np.ones(3)
    a, fitted = solve_fresh(y, np.full((3, 3), math.nan))
    assert np.isnan(a).all()
    assert np.isnan(fitted).all()
