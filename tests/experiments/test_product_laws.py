"""Laws of draws and second moments against full enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from mkldash.experiments.choices import Choices
from mkldash.experiments.product_laws import ProductLaws, product_values
from mkldash.experiments.scores import regression_scores
from mkldash.experiments.workload import prepare
from mkldash.kernels.products import ProductFamily, product_family
from mkldash.solvers.driver import solve


def family_of(merged: bool, degree: int = 3) -> tuple[ProductFamily, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    return product_family(X, degree=degree, growth=2.0, merged=merged), rng.standard_normal(12)


def forms_of_words(family: ProductFamily, a: np.ndarray) -> dict[tuple[int, ...], float]:
    """u of every word; all orderings of a product have the same."""
    words = [w for d in range(family.degree + 1) for w in itertools.product(range(3), repeat=d)]
    keys = [tuple(sorted(word)) for word in words]
    return dict(zip(words, family.quadratic_forms(a, keys), strict=True))


@pytest.mark.parametrize("merged", [True, False])
def test_the_laws_are_those_of_all_words(merged: bool) -> None:
    family, a = family_of(merged)
    forms = forms_of_words(family, a)
    first, pair = np.zeros(3), np.zeros((3, 3))
    for word, u in forms.items():
        if word:
            first[word[0]] += u
        if len(word) == 2:
            pair[word] += u
    laws = ProductLaws(family)
    assert laws.first(a) == pytest.approx(first / first.sum(), abs=1e-13)
    assert laws.pair(a) == pytest.approx(pair / pair.sum(), abs=1e-13)


def test_without_anything_to_tell_letters_apart_the_laws_are_uniform() -> None:
    laws = ProductLaws(family_of(True)[0])
    assert laws.first(np.zeros(12)) == pytest.approx(np.full(3, 1 / 3))
    assert laws.pair(np.zeros(12)) == pytest.approx(np.full((3, 3), 1 / 9))


def test_words_too_short_have_no_law() -> None:
    offset, a = family_of(True, degree=0)
    assert np.isnan(ProductLaws(offset).first(a)).all()
    single = ProductLaws(family_of(True, degree=1)[0])
    assert single.first(a).sum() == pytest.approx(1.0)
    assert np.isnan(single.pair(a)).all()


@pytest.mark.parametrize("merged", [True, False])
def test_second_moments_are_expectations_over_all_words(merged: bool) -> None:
    family, a = family_of(merged)
    forms = forms_of_words(family, a)
    total, n_words = sum(forms.values()), len(forms)
    ideal = uniform = 0.0
    for word, u in forms.items():
        m = family.orderings(word)
        ideal += u / total * (total / (2 * m)) ** 2
        uniform += 1 / n_words * (n_words * u / (2 * m)) ** 2
    found = ProductLaws(family).moments(a)
    # A kernel that m words mean is an estimate of 1/m of its entry for each.
    assert found == pytest.approx((ideal, uniform), rel=1e-12)
    assert found[0] <= found[1]


def test_families_too_large_to_list_say_what_is_known() -> None:
    merged, a = family_of(True)
    assert all(math.isnan(v) for v in ProductLaws(merged, most_kernels=5).moments(a))
    ordered, _ = family_of(False)
    ideal, uniform = ProductLaws(ordered, most_kernels=5).moments(a)
    assert ideal == pytest.approx(ProductLaws(ordered).moments(a)[0])
    assert math.isnan(uniform)
    assert np.isnan(ProductLaws(ordered, most_rows=5).first(a)).all()
    assert np.isnan(ProductLaws(ordered, most_rows=5).pair(a)).all()


def test_a_session_gets_errors_laws_and_moments() -> None:
    work = prepare(Choices(problem="products", data="diabetes", degree=2, max_iter=20))
    best = solve(work.solver, work.problem, stop=work.stop).best
    assert isinstance(work.family, ProductFamily)
    values = product_values(work, ProductLaws(work.family), best)
    scores = regression_scores(work, best)
    assert values["train_mse"] == scores.train_mse
    assert values["test_mse"] == scores.test_mse
    assert np.shape(values["first_law"]) == (10,)
    assert np.shape(values["pair_law"]) == (10, 10)
    assert 0.0 < values["moment_ideal"] < values["moment_uniform"]
    every = prepare(Choices(problem="products", data="diabetes", degree=2, train_fraction=1.0))
    assert isinstance(every.family, ProductFamily)
    last = solve(every.solver, every.problem, stop=work.stop).best
    bare = product_values(every, ProductLaws(every.family), last)
    assert set(values) - set(bare) == {"test_mse"}
