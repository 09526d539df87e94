"""Laws of the first letter, of pairs, and of orderings, against enumeration of all words."""

import itertools

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.kernels.products import family_size, product_family, product_family_of
from tests.kernels.recipes import normal_rows


def gram_family(X, **choices):
    return product_family_of([np.outer(x, x) for x in X.T], **choices)


def words(family):
    letters = range(family.n_base)
    lengths = range(family.degree + 1)
    return [w for d in lengths for w in itertools.product(letters, repeat=d)]


BUILDS = pytest.mark.parametrize("build", [product_family, gram_family])


@BUILDS
@pytest.mark.parametrize(("r", "degree", "merged"), [(4, 3, True), (3, 4, False), (5, 1, True)])
def test_the_law_of_the_first_letter_is_the_share_of_the_words_that_begin_with_it(
    build, r, degree, merged
):
    family = build(normal_rows(11, r), degree=degree, merged=merged)
    a = np.linspace(-1.0, 2.0, 11)
    shares = np.zeros(r)
    for word in words(family):
        if word:
            shares[word[0]] += family.quadratic_forms(a, (tuple(sorted(word)),))[0]
    np.testing.assert_allclose(family.first_law(a), shares / shares.sum(), rtol=1e-9)


@BUILDS
def test_the_law_of_pairs_is_the_share_of_each_word_of_two(build):
    family = build(normal_rows(9, 4), degree=3)
    a = np.linspace(-2.0, 1.0, 9)
    u = np.array([[family.quadratic_forms(a, (tuple(sorted((i, j))),))[0] for j in range(4)]
                  for i in range(4)])  # fmt: skip
    np.testing.assert_allclose(family.pair_law(a), u / u.sum(), rtol=1e-9)


def test_without_any_gradient_no_letter_has_a_share():
    family = product_family(normal_rows(6, 3), degree=2)
    assert not family.first_law(np.zeros(6)).any()
    assert not family.pair_law(np.zeros(6)).any()


@pytest.mark.parametrize(("r", "degree"), [(4, 3), (3, 6), (1, 4), (5, 0)])
@pytest.mark.parametrize("merged", [True, False])
def test_orderings_of_all_keys_are_those_of_each(r, degree, merged):
    family = product_family(normal_rows(8, r), degree=degree, merged=merged)
    each = [family.orderings(key) for key in family.keys()]
    assert family.all_orderings().tolist() == each
    assert sum(each) == family.n_words


def test_orderings_of_what_is_not_listed_are_refused():
    family = product_family(normal_rows(5, 200), degree=8)
    with pytest.raises(InputError, match="more than the 1,000,000 that are listed"):
        family.all_orderings()


@pytest.mark.parametrize("merged", [True, False])
def test_the_size_is_counted_before_anything_is_built(merged):
    family = product_family(normal_rows(30, 6), degree=4, merged=merged)
    found = family_size(30, 6, 4, merged)
    assert (found.n_words, found.n_keys) == (family.n_words, family.size)
    assert found.nbytes == family.nbytes
