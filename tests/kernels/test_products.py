"""The product family: what it lists, draws, sums up and predicts, against enumeration."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.kernels import _linear_products
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.linear import Linear
from mkldash.kernels.products import (
    product_family,
    product_family_of,
    product_family_of_terms,
)
from mkldash.kernels.weights import Weights
from tests.kernels.recipes import normal_rows

#: The 0.9999 quantile of chi-square with 6 degrees of freedom is below this (case S13).
CHI_SQUARE_6 = 27.9


def gaussian_terms(r):
    return [KernelTerm(Gaussian(1.0), (j,), f"x{j}") for j in range(r)]


def linear(X, **choices):
    return product_family(X, **choices)


def grams(X, **choices):
    return product_family_of([np.outer(x, x) for x in X.T], **choices)


def gaussians(X, **choices):
    return product_family_of_terms(X, gaussian_terms(X.shape[1]), **choices)


def base_matrices(build, X, scale=True):
    """The base kernels by their formulas, shape (r, n, n)."""
    if build is gaussians:
        K = np.exp(-0.5 * (X.T[:, :, None] - X.T[:, None, :]) ** 2)
    else:
        K = np.einsum("ij,kj->jik", X, X)
    return K / (np.einsum("jii->i", K).mean() if scale else 1.0)


def naive(K, word, rho):
    return K[list(word)].prod(axis=0) / rho[len(word)] ** 2


BUILDS = pytest.mark.parametrize("build", [linear, grams, gaussians])
SHAPES = pytest.mark.parametrize(
    ("n", "r", "degree"), [(12, 4, 3), (9, 2, 6), (30, 1, 3), (7, 9, 2), (8, 3, 1), (8, 3, 0)]
)


def s13():
    """Rows, target and the family of case S13."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((6, 2))
    y = X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(6)
    family = product_family(X, degree=2, rho=(1.0, 1.0, math.sqrt(2.0)), scale=False, merged=False)
    return X, y, family


def s13_solution():
    X, y, family = s13()
    K = family.combine(Weights.of(family.keys(), np.full(7, 1 / 7))).matrix()
    return X, y, family, np.linalg.solve(K + np.eye(6), y)


def test_s13_lists_its_words_and_their_shares():
    _, y, family, a = s13_solution()
    assert family.keys() == ((), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1))
    assert (family.size, family.n_words) == (7, 7)
    u = family.all_forms(a)
    expected = (0.072625, 0.013902, 0.091682, 0.049168, 0.244107, 0.244107, 0.284409)
    assert np.abs(u / u.sum() - expected).max() < 5e-7
    assert abs(y @ a / 2 - 0.679891) < 5e-7
    # MATH 1.3's totals are those of u, twice the gradient's.
    assert np.abs(family.degree_totals(a) / 2 - (0.141462, 0.205660, 1.600716)).max() < 5e-7
    assert family.label((0, 1)) == "x0 · x1"


def test_s13_the_squared_sum_holds_all_words_of_length_two():
    X, _, family, _ = s13_solution()
    words = itertools.product(range(2), repeat=2)
    total = 2.0 * sum(family.gram(word) for word in words)
    assert np.allclose(total, (X @ X.T) ** 2, rtol=1e-13, atol=1e-14)


def test_s13_draws_follow_the_gradient():
    _, _, family, a = s13_solution()
    u, rng = family.all_forms(a), np.random.default_rng(0)
    counts = Counter(family.sample(a, rng).word for _ in range(20_000))
    seen = np.array([counts[key] for key in family.keys()])
    expected = 20_000 * u / u.sum()
    assert seen.sum() == 20_000
    assert ((seen - expected) ** 2 / expected).sum() < CHI_SQUARE_6


def test_s13_merged_draws_one_kernel_for_both_orderings():
    X, _, _, a = s13_solution()
    merged = product_family(X, degree=2, rho=(1.0, 1.0, math.sqrt(2.0)), scale=False)
    assert merged.keys() == ((), (0,), (1,), (0, 0), (0, 1), (1, 1))
    assert [merged.orderings(key) for key in merged.keys()] == [1, 1, 1, 1, 2, 1]
    u, rng = merged.all_forms(a), np.random.default_rng(1)
    q = u * [1, 1, 1, 1, 2, 1] / merged.total(a)
    assert math.isclose(q.sum(), 1.0, rel_tol=1e-12)
    counts = Counter(merged.sample(a, rng).key for _ in range(20_000))
    seen, expected = np.array([counts[key] for key in merged.keys()]), 20_000 * q
    assert ((seen - expected) ** 2 / expected).sum() < CHI_SQUARE_6


@BUILDS
@SHAPES
@pytest.mark.parametrize("merged", [True, False])
def test_forms_of_all_keys_are_those_of_the_matrices(build, n, r, degree, merged):
    X, a = normal_rows(n, r), normal_rows(n, 1, seed=1)[:, 0]
    family = build(X, degree=degree, penalty=0.5, growth=3.0, merged=merged)
    K, keys = base_matrices(build, X), family.keys()
    rho = np.sqrt(0.5 * 3.0 ** np.arange(degree + 1))
    expected = np.array([a @ naive(K, key, rho) @ a for key in keys])
    close = {"rtol": 1e-9, "atol": 1e-13 * expected.max()}
    assert np.allclose(family.all_forms(a), expected, **close)
    assert np.allclose(family.quadratic_forms(a, keys), expected, **close)
    assert all(np.allclose(family.gram(key), naive(K, key, rho), rtol=1e-11) for key in keys[:40])
    words = Counter(
        family.stored(word)
        for d in range(degree + 1)
        for word in itertools.product(range(r), repeat=d)
    )
    assert set(keys) == set(words)
    assert (len(keys), sum(words.values())) == (family.size, family.n_words)
    assert list(keys) == sorted(keys, key=lambda key: (len(key), key))
    assert all(family.orderings(key) == words[key] for key in keys)
    by_degree = [
        sum(expected[i] * words[k] for i, k in enumerate(keys) if len(k) == d)
        for d in range(degree + 1)
    ]
    assert np.allclose(family.degree_totals(a), by_degree, rtol=1e-9)
    assert math.isclose(family.total(a), sum(by_degree), rel_tol=1e-9)


class Replay:
    """Hands out the given numbers, then 0.5 for ever."""

    def __init__(self, numbers):
        self._numbers = list(numbers)

    def random(self):
        return self._numbers.pop(0) if self._numbers else 0.5


def middle(law, letter):
    """A number that makes the inverse distribution function choose this letter."""
    return float(law[:letter].sum() + 0.5 * law[letter])


def drawn(family, a, word):
    """The draw of exactly this word, found letter by letter."""
    law = family.degree_totals(a) / family.total(a)
    numbers = [middle(law, len(word))]
    for position, letter in enumerate(word):
        laws = family.sample(a, Replay(numbers)).position_laws
        numbers.append(middle(laws[position], letter))
    return family.sample(a, Replay(numbers))


@BUILDS
@pytest.mark.parametrize("n", [10, 300])
def test_conditional_laws_multiply_to_the_share_of_each_word(build, n):
    """All 85 words of four base kernels up to degree three."""
    X, a = normal_rows(n, 4), normal_rows(n, 1, seed=2)[:, 0]
    family = build(X, degree=3, growth=1.0, merged=False)
    words, total = family.keys(), family.total(a)
    assert len(words) == 85
    for word, u in zip(words, family.all_forms(a), strict=True):
        draw = drawn(family, a, word)
        assert draw.word == draw.key == word
        assert draw.orderings == 1
        assert draw.position_laws.shape == (len(word), 4)
        assert np.allclose(draw.position_laws.sum(axis=1), 1.0, rtol=0.0, atol=1e-13)
        chosen = draw.position_laws[np.arange(len(word)), list(word)]
        product = draw.degree_totals[len(word)] / draw.total * chosen.prod()
        assert math.isclose(draw.probability, product, rel_tol=1e-12)
        assert math.isclose(product, u / total, rel_tol=1e-8)
        assert math.isclose(draw.total, total, rel_tol=1e-12)


@BUILDS
def test_each_law_is_the_share_of_the_words_that_go_on_with_a_letter(build):
    X, a = normal_rows(40, 3), normal_rows(40, 1, seed=3)[:, 0]
    family = build(X, degree=5, merged=False)
    draw = drawn(family, a, (2, 0, 1, 1, 2))
    for position in range(5):
        prefix = draw.word[:position]
        sums = []
        for letter in range(3):
            ends = itertools.product(range(3), repeat=4 - position)
            sums.append(family.quadratic_forms(a, [(*prefix, letter, *end) for end in ends]).sum())
        assert np.allclose(draw.position_laws[position], np.divide(sums, sum(sums)), rtol=1e-8)


@BUILDS
def test_merged_draws_by_chi_square(build):
    X, a = normal_rows(25, 3), normal_rows(25, 1, seed=13)[:, 0]
    family = build(X, degree=2, growth=1.0)
    keys, rng = family.keys(), np.random.default_rng(3)
    m = np.array([family.orderings(key) for key in keys])
    q = m * family.all_forms(a) / family.total(a)
    draws = [family.sample(a, rng) for _ in range(10_000)]
    assert all(draw.key == tuple(sorted(draw.word)) for draw in draws)
    assert all(draw.orderings == family.orderings(draw.key) for draw in draws)
    counts = Counter(draw.key for draw in draws)
    seen, expected = np.array([counts[key] for key in keys]), 10_000 * q
    assert expected.min() > 5.0
    # The 0.9999 quantile of chi-square with nine degrees of freedom.
    assert ((seen - expected) ** 2 / expected).sum() < 33.8


def test_the_merged_gradient_estimate_is_unbiased():
    """E[-C/(2 m) e_key] = -u/2, the expectation over all words by enumeration."""
    X, a = normal_rows(15, 3), normal_rows(15, 1, seed=5)[:, 0]
    family = product_family(X, degree=3)
    mean = dict.fromkeys(family.keys(), 0.0)
    for d in range(4):
        for word in itertools.product(range(3), repeat=d):
            draw = drawn(family, a, word)
            mean[draw.key] += draw.probability * -draw.total / (2 * draw.orderings)
    u = family.all_forms(a)
    assert np.allclose(list(mean.values()), -u / 2, rtol=1e-9, atol=1e-14 * u.max())


def test_the_law_does_not_depend_on_the_order_of_letters_drawn():
    """Every ordering of a word is as likely, whatever came first."""
    X, a = normal_rows(20, 4), normal_rows(20, 1, seed=6)[:, 0]
    family = product_family(X, degree=3, growth=1.0)
    for word in [(0, 1, 3), (2, 2, 1)]:
        chances = [drawn(family, a, other).probability for other in itertools.permutations(word)]
        assert np.allclose(chances, chances[0], rtol=1e-9)


def test_features_permuted_permute_the_laws():
    X, a = normal_rows(30, 4), normal_rows(30, 1, seed=7)[:, 0]
    order = [2, 0, 3, 1]  # feature order[j] of X is feature j of the other family
    one, other = product_family(X, degree=3), product_family(X[:, order], degree=3)
    assert np.allclose(one.degree_totals(a), other.degree_totals(a), rtol=1e-10)
    word = (1, 0, 2)
    first = drawn(other, a, word)
    second = drawn(one, a, tuple(order[j] for j in word))
    assert np.allclose(first.position_laws, second.position_laws[:, order], rtol=1e-8)


@BUILDS
def test_draws_repeat_with_the_seed_and_use_one_number_a_letter(build):
    X, a = normal_rows(20, 3), normal_rows(20, 1, seed=8)[:, 0]
    family = build(X, degree=4, growth=1.0)
    one, other = np.random.default_rng(0), np.random.default_rng(0)
    words = [family.sample(a, one).word for _ in range(50)]
    assert words == [family.sample(a, other).word for _ in range(50)]
    third = np.random.default_rng(0)
    third.random(sum(len(word) + 1 for word in words))
    assert one.bit_generator.state == third.bit_generator.state


@BUILDS
@pytest.mark.parametrize("degree", [0, 3])
def test_where_every_form_is_zero_words_are_uniform(build, degree):
    family = build(normal_rows(10, 2), degree=degree)
    rng = np.random.default_rng(2)
    draws = [family.sample(np.zeros(10), rng) for _ in range(500)]
    assert {draw.word for draw in draws} == {
        word for d in range(degree + 1) for word in itertools.product(range(2), repeat=d)
    }
    for draw in draws:
        assert draw.total == 0.0
        assert math.isclose(draw.probability, 1 / family.n_words, rel_tol=1e-12)
        assert np.all(draw.degree_totals == 0.0)
        assert np.all(draw.position_laws == 0.5)
    assert family.largest(np.zeros(10), 5).value == 0.0


def test_uniform_words_by_chi_square():
    family, rng = product_family(normal_rows(10, 2), degree=2), np.random.default_rng(6)
    counts = Counter(family.uniform(rng) for _ in range(7_000))
    words = [word for d in range(3) for word in itertools.product(range(2), repeat=d)]
    assert set(counts) == set(words)
    assert sum((counts[word] - 1000) ** 2 / 1000 for word in words) < CHI_SQUARE_6


def test_a_family_beyond_any_list_is_sized_exactly_and_drawn_from():
    X, a = normal_rows(60, 200), normal_rows(60, 1, seed=9)[:, 0]
    family = product_family(X, degree=8, growth=1.0)
    assert family.n_words == (200**9 - 1) // 199
    assert family.n_words > 10**18
    assert family.size == math.comb(208, 8)
    assert family.nbytes < 2_000_000
    rng = np.random.default_rng(0)
    longest = max((family.sample(a, rng) for _ in range(20)), key=lambda draw: len(draw.word))
    u = family.quadratic_forms(a, [longest.key])[0]
    assert math.isclose(longest.probability, u / longest.total, rel_tol=1e-6)
    with pytest.raises(InputError, match="more than the 1,000,000 that are listed"):
        family.keys()
    with pytest.raises(InputError, match="lower the degree"):
        family.all_forms(a)


@pytest.mark.parametrize("build", [linear, gaussians])
def test_coefficients_that_are_not_finite_are_refused(build):
    family = build(normal_rows(10, 2))
    with pytest.raises(ValueError, match="not finite"):
        family.sample(np.full(10, np.nan), np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"must have shape \(10,\)"):
        family.total(np.zeros(9))


@BUILDS
@pytest.mark.parametrize("scale", [True, False])
def test_the_combined_kernel_and_its_predictions(build, scale):
    X, new, a = normal_rows(14, 3), normal_rows(6, 3, seed=1), normal_rows(14, 1, seed=2)[:, 0]
    family = build(X, degree=3, penalty=0.7, growth=2.0, scale=scale)
    keys = ((), (1,), (0, 2), (1, 1, 2), (2, 2, 2))
    weights = Weights.of(keys, [0.3, 0.2, 0.0, 0.4, 0.1])
    rho, K = np.sqrt(0.7 * 2.0 ** np.arange(4)), base_matrices(build, X, scale)
    expected = sum(w * naive(K, key, rho) for key, w in zip(keys, weights.values, strict=True))
    combined, rows = family.combine(weights), np.array([3, 0, 7])
    assert np.allclose(combined.matrix(), expected, rtol=1e-12)
    assert np.allclose(combined.apply(a), expected @ a, rtol=1e-10)
    assert np.allclose(combined.block(rows), expected[np.ix_(rows, rows)], rtol=1e-12)
    assert combined.n_rows == 14
    residual, diagonal = combined.residual()
    assert residual == 0.0
    assert np.array_equal(diagonal, np.zeros(14))
    both = base_matrices(build, np.vstack([new, X]), False)[:, :6, 6:]
    divisor = np.einsum("jii->i", base_matrices(build, X, False)).mean() if scale else 1.0
    wanted = sum(
        w * naive(both / divisor, key, rho) @ a for key, w in zip(keys, weights.values, strict=True)
    )
    given = both if build is grams else new
    assert np.allclose(family.decision(given, weights, a), wanted, rtol=1e-10)
    offset = family.decision(given, Weights.of(((),), [1.0]), a)
    assert np.allclose(offset, a.sum() / 0.7, rtol=1e-12)


def test_features_are_roots_of_the_kernels():
    X = normal_rows(9, 3)
    family = product_family(X, degree=3)
    keys = [(), (0,), (1, 2), (0, 0, 2)]
    phi = family.features(keys)
    assert phi.shape == (9, 4)
    for column, key in zip(phi.T, keys, strict=True):
        assert column.flags.c_contiguous
        assert np.allclose(np.outer(column, column), family.gram(key), rtol=1e-12)
    assert grams(X).features(keys) is None
    assert family.features([]).shape == (9, 0)


def test_features_beyond_memory_are_made_in_pieces(monkeypatch):
    X, a = normal_rows(12, 5), normal_rows(12, 1, seed=1)[:, 0]
    family = product_family(X, degree=3)
    weights = Weights.of(family.keys(), np.linspace(0.0, 1.0, family.size))
    kept = family.combine(weights)
    expected, product, decision = kept.matrix(), kept.apply(a), family.decision(X, weights, a)
    monkeypatch.setattr(_linear_products, "FEATURE_BYTES", 0)
    monkeypatch.setattr(_linear_products, "_PIECE_BYTES", 8 * 12 * 7)
    monkeypatch.setattr(_linear_products, "_PREFIX_BYTES", 8 * 12 * 7)
    pieces = family.combine(weights)
    assert np.allclose(pieces.matrix(), expected, rtol=1e-12)
    assert np.allclose(pieces.apply(a), product, rtol=1e-12)
    assert np.allclose(family.decision(X, weights, a), decision, rtol=1e-12)
    assert np.allclose(product, decision, rtol=1e-12)
    forms = family.all_forms(a)
    assert np.allclose(forms, family.quadratic_forms(a, family.keys()), rtol=1e-9)


def test_linear_terms_are_the_products_of_the_features():
    X, a = normal_rows(12, 3), normal_rows(12, 1, seed=1)[:, 0]
    terms = [KernelTerm(Linear(), (j,), name) for j, name in enumerate(("a", "b", "c"))]
    family = product_family_of_terms(X, terms)
    assert family.base_names == ("linear · a", "linear · b", "linear · c")
    assert np.allclose(family.all_forms(a), product_family(X).all_forms(a), rtol=1e-9)


@pytest.mark.parametrize(
    ("merged", "key", "label"),
    [
        (True, (), "offset"),
        (True, (1,), "sex"),
        (True, (2, 3), "bmi · bp"),
        (True, (0, 0, 1), "age² · sex"),
        (True, (3, 3, 3), "bp³"),
        (True, (1,) * 12, "sex¹²"),
        (False, (3, 2), "bp · bmi"),
        (False, (0, 1, 0), "age · sex · age"),
        (False, (1, 0, 0), "sex · age²"),
    ],
)
def test_labels(merged, key, label):
    X = normal_rows(6, 4)
    family = product_family(X, ("age", "sex", "bmi", "bp"), degree=12, merged=merged)
    assert family.label(key) == label


def test_the_key_follows_the_content():
    X = normal_rows(8, 2)
    same = product_family(X.copy()).key
    assert product_family(X).key == same
    others = [
        product_family(X + 1e-12),
        product_family(X, ("a", "b")),
        product_family(X, degree=2),
        product_family(X, penalty=2.0),
        product_family(X, scale=False),
        product_family(X, merged=False),
        grams(X),
        gaussians(X),
    ]
    assert len({same, *(family.key for family in others)}) == 1 + len(others)


def test_the_rows_given_are_copied():
    X, a = normal_rows(8, 2), normal_rows(8, 1)[:, 0]
    family = product_family(X)
    before = family.all_forms(a)
    X[:] = 0.0
    assert np.array_equal(family.all_forms(a), before)
