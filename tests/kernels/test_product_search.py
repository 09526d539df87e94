"""The search for the largest form: exact against enumeration, and never a bound too low."""

import itertools
import math

import numpy as np
import pytest

from mkldash.kernels import _compiled_products, _gram_search
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.products import (
    product_family,
    product_family_of,
    product_family_of_terms,
)
from tests.kernels.recipes import normal_rows

EVERYTHING = 10**6


def linear(X, **choices):
    return product_family(X, **choices)


def grams(X, **choices):
    return product_family_of([np.outer(x, x) for x in X.T], **choices)


def gaussians(X, **choices):
    terms = [KernelTerm(Gaussian(0.7), (j,), f"x{j}") for j in range(X.shape[1])]
    return product_family_of_terms(X, terms, **choices)


def rows(kind, n, r, seed):
    X = normal_rows(n, r, seed)
    if kind == "signs":  # x^2 = 1: many words are the same kernel
        return np.sign(X)
    if kind == "skewed":
        return np.sinh(1.5 * X)
    if kind == "alike":
        return 0.5 * X + normal_rows(n, 1, seed + 1)
    return X


def families():
    kinds = ("normal", "signs", "skewed", "alike")
    shapes = ((9, 3, 4), (40, 6, 3), (25, 2, 4), (12, 12, 2), (20, 1, 4), (80, 5, 4))
    return [
        (kind, *shape, growth, scale)
        for (kind, shape), (growth, scale) in zip(
            itertools.product(kinds, shapes),
            itertools.cycle(((1.0, True), (1.0, False), (4.0, False), (2.0, True))),
            strict=False,
        )
    ]


BUILDS = pytest.mark.parametrize("build", [linear, grams, gaussians])
FAMILIES = pytest.mark.parametrize(("kind", "n", "r", "degree", "growth", "scale"), families())


@BUILDS
@FAMILIES
@pytest.mark.parametrize("merged", [True, False])
def test_the_search_finds_the_largest_and_its_bounds_hold(
    build, kind, n, r, degree, growth, scale, merged
):
    X, a = rows(kind, n, r, seed=n), normal_rows(n, 1, seed=r + degree)[:, 0]
    family = build(X, degree=degree, growth=growth, scale=scale, merged=merged)
    forms = family.all_forms(a)
    top = forms.max()
    for found in (family.search(a, EVERYTHING), family.largest(a, EVERYTHING)):
        assert found.exact
        assert found.bound == found.value
        assert math.isclose(found.value, top, rel_tol=1e-9)
        assert math.isclose(family.quadratic_forms(a, [found.key])[0], top, rel_tol=1e-9)
    for budget in (0, 1, 2, 5):
        early = family.search(a, budget)
        assert early.nodes <= budget
        assert early.bound >= top * (1.0 - 1e-9)
        assert early.value <= top * (1.0 + 1e-9)
        assert early.exact == (early.bound == early.value)
        assert early.bound <= family.total(a) * (1.0 + 1e-9)
        value = family.quadratic_forms(a, [early.key])[0]
        assert math.isclose(value, early.value, rel_tol=1e-7, abs_tol=1e-12 * top)


@BUILDS
def test_more_budget_never_gives_a_worse_bound(build):
    X, a = rows("signs", 60, 7, seed=3), normal_rows(60, 1, seed=4)[:, 0]
    family = build(X, degree=4, growth=1.0, scale=False)
    found = [family.search(a, budget) for budget in range(12)]
    assert not found[0].exact
    bounds = [search.bound for search in found]
    assert bounds == sorted(bounds, reverse=True)
    assert [search.value for search in found] == sorted(search.value for search in found)


@BUILDS
def test_the_search_is_the_same_every_time(build):
    X, a = rows("alike", 30, 5, seed=1), normal_rows(30, 1, seed=2)[:, 0]
    one, other = (build(X, degree=4, growth=1.0, scale=False) for _ in range(2))
    for budget in (1, 3, EVERYTHING):
        first, second = one.search(a, budget), other.search(a, budget)
        assert (first.key, first.value, first.bound) == (second.key, second.value, second.bound)
        assert first.nodes == second.nodes


def test_a_family_beyond_any_list_is_searched():
    """Eight factors of 200: over 10^18 words, the best of which is known to be in it."""
    X = normal_rows(100, 200)
    a = X[:, 3] * X[:, 150]
    family = product_family(X, degree=8)
    assert family.n_words > 10**18
    found = family.largest(a, 200)
    planted = family.quadratic_forms(a, [(3, 150), (3,), ()])
    assert found.value >= planted.max() * (1.0 - 1e-12)
    assert found.bound >= found.value
    assert found.bound < family.total(a)
    assert found.exact


def test_completion_bounds_hold_for_every_completion():
    rng = np.random.default_rng(0)
    X = np.ascontiguousarray(rng.standard_normal((11, 4)))
    for left in (2, 3, 4):
        U = rng.standard_normal((11, 4))
        inner, above = U.T @ X**left, np.abs(U).T @ np.abs(X**left)
        laws = np.einsum("ij,ik,kj->j", U, (X @ X.T) ** left, U)
        for triangular, sums in itertools.product((0, 1), (laws, np.full(4, np.inf))):
            bounds, letters, values = _compiled_products.completion_bounds(
                inner, above, sums, triangular, left
            )
            for j in range(4):
                first = j if triangular else 0
                ends = itertools.combinations_with_replacement(range(first, 4), left)
                forms = [(U[:, j] @ X[:, list(end)].prod(axis=1)) ** 2 for end in ends]
                assert bounds[j] >= max(forms) * (1.0 - 1e-12)
                repeated = (U[:, j] @ X[:, letters[j]] ** left) ** 2
                assert math.isclose(values[j], repeated, rel_tol=1e-10)


def test_hoelders_bound_for_gram_matrices_holds():
    rng = np.random.default_rng(1)
    K, M = np.abs(rng.standard_normal((4, 30))), rng.standard_normal(30)
    for left in (2, 3):
        above = (np.abs(M) * K**left).sum(axis=1)
        bounds = _gram_search._mixed(above, left)
        for j in range(4):
            words = [
                (j, *end)
                for end in itertools.combinations_with_replacement(range(j, 4), left - 1)
                if set(end) != {j}
            ]
            forms = [abs((M * K[list(word)].prod(axis=0)).sum()) for word in words]
            assert bounds[j] >= max(forms, default=0.0) * (1.0 - 1e-12)
