"""Second moments of the gradient estimate: by enumeration, and estimated where that is too much."""

import itertools

import numpy as np
import pytest

from mkldash.experiments import sampling_laws
from mkldash.experiments.sampling_laws import DRAWS, second_moments
from mkldash.kernels.products import product_family

X = np.random.default_rng(3).standard_normal((20, 4))
A = np.random.default_rng(4).standard_normal(20)


def by_words(family):
    """E ||ghat||^2 over all words, one after another, under both laws."""
    ideal = uniform = 0.0
    total = family.total(A)
    for length in range(family.degree + 1):
        for word in itertools.product(range(family.n_base), repeat=length):
            key = family.stored(word)
            u, m = family.quadratic_forms(A, (key,))[0], family.orderings(key)
            ideal += u / total * (total / (2 * m)) ** 2
            uniform += (family.n_words * u / (2 * m)) ** 2 / family.n_words
    return ideal, uniform


@pytest.mark.parametrize("merged", [True, False])
def test_both_are_the_means_over_all_words(merged):
    family = product_family(X, degree=3, merged=merged)
    found = second_moments(family, A)
    assert (found.ideal, found.uniform) == pytest.approx(by_words(family), rel=1e-10)
    assert found.draws == 0
    assert found.ideal < found.uniform


def test_where_orders_are_kernels_the_ideal_law_has_a_constant_estimate():
    family = product_family(X, degree=3, merged=False)
    assert second_moments(family, A).ideal == pytest.approx(family.total(A) ** 2 / 4, rel=1e-12)


@pytest.mark.parametrize("merged", [True, False])
def test_estimates_are_unbiased_and_say_that_they_are(monkeypatch, merged):
    family = product_family(X, degree=3, merged=merged)
    exact = second_moments(family, A)
    monkeypatch.setattr(sampling_laws, "ALL", 0.0)
    found = [second_moments(family, A, seed) for seed in range(300)]
    assert {one.draws for one in found} == {DRAWS}
    for name in ("ideal", "uniform"):
        values = np.array([getattr(one, name) for one in found])
        error = values.std() / np.sqrt(len(values)) + 1e-9 * values.mean()
        assert abs(values.mean() - getattr(exact, name)) < 5 * error
    assert found[0] == second_moments(family, A, 0)


def test_a_family_of_over_10_to_the_18_has_an_estimate():
    wide = product_family(np.random.default_rng(0).standard_normal((30, 200)), degree=8)
    found = second_moments(wide, np.random.default_rng(1).standard_normal(30))
    assert wide.n_words > 10**18
    assert found.draws == DRAWS
    assert 0 < found.ideal < found.uniform


def test_no_gradient_has_no_noise():
    family = product_family(X, degree=2)
    found = second_moments(family, np.zeros(20))
    assert (found.ideal, found.uniform) == (0.0, 0.0)
