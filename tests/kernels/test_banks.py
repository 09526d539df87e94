"""Named lists of kernels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mkldash.errors import InputError
from mkldash.kernels.banks import BANKS, SINGLE, make_terms, mean_squared_distance
from tests.kernels.recipes import normal_rows


def test_paper_has_thirteen_kernels_per_feature_and_on_all():
    terms = make_terms("paper", [f"V{j}" for j in range(34)])
    assert len(terms) == 13 * 35 == 455
    assert [term.kernel.label for term in terms[:13]] == [
        *(f"gaussian {2.0**power:g}" for power in range(-3, 7)),
        "polynomial 1",
        "polynomial 2",
        "polynomial 3",
    ]
    assert {term.columns for term in terms[:13]} == {(0,)}
    assert terms[0].name == "gaussian 0.125 · V0"
    assert terms[-1].columns == tuple(range(34))
    assert terms[-1].name == "polynomial 3 · all"


@pytest.mark.parametrize(("bank", "count"), [("linear", 3), ("gaussian", 30), ("golden", 4)])
def test_sizes_on_two_features(bank, count):
    assert len(make_terms(bank, ["size", "weight"])) == count


@pytest.mark.parametrize("bank", BANKS)
def test_every_described_bank_can_be_made(bank):
    terms = make_terms(bank, ["a", "b"], sigma=3.0 if bank == SINGLE else None)
    assert terms
    assert len({term.name for term in terms}) == len(terms)


def test_single_is_one_gaussian_on_all_features_in_the_neighborhood_papers_form():
    (term,) = make_terms("single", ["a", "b"], sigma=3.0)
    assert (term.columns, term.feature) == ((0, 1), "all")
    X = np.array([[0.0, 0.0], [1.0, 2.0]])
    # Over sigma, and not over twice that.
    np.testing.assert_allclose(term.kernel.gram(X)[0, 1], np.exp(-5.0 / 3.0), rtol=1e-14)


@given(n=st.integers(2, 12), p=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_the_mean_squared_distance_is_over_all_pairs(n, p, seed):
    X = normal_rows(n, p, seed) * 10.0 ** (seed % 5) + seed
    brute = np.mean([[((x - z) ** 2).sum() for z in X] for x in X])
    assert mean_squared_distance(X) == pytest.approx(brute, rel=1e-9)


def test_of_standardised_rows_it_is_twice_the_number_of_columns():
    X = normal_rows(50, 7)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert mean_squared_distance(Z) == pytest.approx(14.0, rel=1e-12)
    # A constant column adds nothing, its computed deviation neither.
    with_constant = np.column_stack([Z, np.full(50, 0.3)])
    assert mean_squared_distance(with_constant) == pytest.approx(14.0, rel=1e-12)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.tile([0.3, 5.0], (20, 1)), "all training rows are the same, .*take other columns or"),
        ([[0.3], [0.1 + 0.2], [0.3]], "all training rows are the same"),
        ([[1.0, 2.0]], "all training rows are the same"),
        ([[1e200], [-1e200]], "overflow; standardise the features"),
        ([[0.0], [np.nan]], "nan in row 1, column 0"),
        (np.zeros((0, 3)), "needs training rows, got none"),
    ],
)
def test_rows_that_give_no_width(X, message):
    with pytest.raises(InputError, match=message):
        mean_squared_distance(X)


def test_a_tiny_column_still_has_a_width():
    X = normal_rows(20, 2)
    assert mean_squared_distance(1e-12 * X) == pytest.approx(1e-24 * mean_squared_distance(X))


def test_a_feature_called_all_does_not_collide():
    names = [term.name for term in make_terms("linear", ["all", "b"])]
    assert names == ["linear · all", "linear · b", "linear · all features"]


@pytest.mark.parametrize(
    ("bank", "names", "message"),
    [
        ("papers", ["a"], "no bank named 'papers'; there are gaussian, golden, linear, paper"),
        ("paper", [], "at least one feature"),
        ("paper", ["a", "b", "a"], "two feature columns are named 'a'"),
    ],
)
def test_refusals(bank, names, message):
    with pytest.raises(InputError, match=message):
        make_terms(bank, names)


@pytest.mark.parametrize("sigma", [0.0, -1.0, np.inf, np.nan])
def test_a_sigma_that_cannot_be_used_is_refused(sigma):
    with pytest.raises(InputError, match="sigma must be a positive number"):
        make_terms("single", ["a"], sigma)


def test_single_without_a_sigma_names_the_ways_out():
    with pytest.raises(InputError, match="hand in sigma, or take a Gaussian of your own"):
        make_terms("single", ["a"])
