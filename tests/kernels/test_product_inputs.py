"""What a product family refuses, with what words, and what it only notes."""

import re

import numpy as np
import pytest

from mkldash.errors import InputError, MemoryLimitError
from mkldash.kernels._linear_products import linear_bytes
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.polynomial import Polynomial
from mkldash.kernels.products import (
    product_family,
    product_family_of,
    product_family_of_terms,
)
from mkldash.kernels.weights import Weights
from tests.kernels.recipes import normal_rows

X = normal_rows(10, 3)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"degree": -1}, "degree must be a whole number from 0 to 20, got -1"),
        ({"degree": 21}, "degree must be a whole number from 0 to 20, got 21"),
        ({"degree": 2.0}, "degree must be a whole number from 0 to 20, got 2.0"),
        ({"degree": True}, "degree must be a whole number"),
        ({"growth": 0.5}, "growth must be a finite number of at least 1, got 0.5"),
        ({"growth": np.inf}, "growth must be a finite number"),
        ({"growth": "4"}, "growth must be a finite number"),
        ({"penalty": 0.0}, "penalty must be a positive finite number, got 0.0"),
        ({"penalty": np.nan}, "penalty must be a positive finite number"),
        ({"penalty": -1.0}, "penalty must be a positive finite number"),
        ({"growth": 1e200}, "penalty growth^degree leaves the range of double precision"),
        ({"penalty": 1e10, "growth": 1e150}, "penalty growth^degree leaves the range"),
        ({"rho": (1.0, 2.0)}, "rho must have 4 values, one for each degree from 0 to 3"),
        ({"rho": (1.0, 2.0, 3.0, 0.0)}, "rho must be positive and finite"),
        ({"rho": (1.0, 2.0, 3.0, np.inf)}, "rho must be positive and finite"),
        ({"rho": "abcd"}, "rho must be a sequence of numbers"),
        ({"rho": (1e-200, 1.0, 1.0, 1.0)}, "rho squared leaves the range"),
        ({"base_names": ("a", "b")}, "base_names has 2 names for 3 base kernels"),
        ({"base_names": "abc"}, "base_names must be a sequence of names"),
        ({"base_names": ("a", "b", "a")}, "base_names holds 'a' more than once; rename one"),
    ],
)
def test_parameters_that_cannot_be_used_are_named(choices, message):
    given = dict(choices)
    builders = (
        lambda names, **rest: product_family(X, names, **rest),
        lambda names, **rest: product_family_of([np.outer(x, x) for x in X.T], names, **rest),
        lambda names, **rest: product_family_of_terms(
            X, [KernelTerm(Gaussian(), (j,), f"x{j}") for j in range(3)], names, **rest
        ),
    )
    names = given.pop("base_names", None)
    for build in builders:
        with pytest.raises(InputError, match=re.escape(message)):
            build(names, **given)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.array([[1.0, np.nan], [0.0, 1.0]]), "X holds nan in row 0, column 1"),
        (np.array([[1.0, np.inf], [0.0, 1.0]]), "X holds inf"),
        (np.ones(4), "X must have shape"),
        (np.ones((1, 3)), "at least two rows"),
        (np.ones((3, 0)), "one feature"),
        (np.zeros((5, 2)), "every base kernel is zero: there is nothing to learn from"),
        (np.full((5, 2), 1e200), "standardise the features"),
        ([["a", "b"], ["c", "d"]], "X must be a table of numbers"),
    ],
)
def test_rows_that_cannot_be_used(rows, message):
    with pytest.raises(InputError, match=message):
        product_family(rows)


def test_powers_beyond_double_precision_are_refused():
    with pytest.raises(InputError, match="set scale=True or standardise"):
        product_family(1e10 * X, degree=20, scale=False)
    assert np.isfinite(product_family(1e10 * X, degree=20).total(np.ones(10)))


def test_gram_matrices_are_checked_by_name():
    good = np.eye(3)
    bad = np.diag([1.0, -1.0, 1.0])
    with pytest.raises(InputError, match=r"base kernel 1 \('rbf'\) is not positive semidefinite"):
        product_family_of([good, bad], ("linear", "rbf"))
    with pytest.raises(InputError, match=r"base kernel 0 \('x0'\) is not symmetric"):
        product_family_of([np.triu(np.ones((3, 3))), good])
    with pytest.raises(InputError, match=r"base kernel 1 \('x1'\): 1 entry is NaN"):
        product_family_of([good, np.diag([1.0, np.nan, 1.0])])
    with pytest.raises(InputError, match="kernel 1 has shape"):
        product_family_of([good, np.eye(2)])
    with pytest.raises(InputError, match="no kernel matrix was given"):
        product_family_of([])
    with pytest.raises(InputError, match="every base kernel is zero"):
        product_family_of([np.zeros((3, 3))])


def test_terms_are_checked_by_name():
    with pytest.raises(InputError, match=r"'gaussian 1 · far' asks for columns \(7,\), X has 3"):
        product_family_of_terms(X, [KernelTerm(Gaussian(), (7,), "far")])
    with pytest.raises(InputError, match="got 0 terms"):
        product_family_of_terms(X, [])
    with pytest.raises(InputError, match=r"terms: kernel 'polynomial 2 · x0' overflows"):
        product_family_of_terms(1e200 * X, [KernelTerm(Polynomial(2), (0,), "x0")])


def test_columns_that_say_nothing_are_noted():
    rows = np.column_stack([X, np.zeros(10), np.full(10, 2.0)])
    family = product_family(rows, ("a", "b", "c", "none", "same"))
    zero, constant = family.warnings
    assert zero == "zero on all rows, so that no product with them gets weight: none"
    assert constant.startswith("constant, so that products with them repeat shorter ones: same;")
    a = normal_rows(10, 1, seed=1)[:, 0]
    assert family.quadratic_forms(a, [(3,), (0, 3)]).tolist() == [0.0, 0.0]
    draws = [family.sample(a, np.random.default_rng(seed)) for seed in range(50)]
    assert not any(3 in draw.word for draw in draws)
    given = product_family_of([np.outer(x, x) for x in rows.T], family.base_names)
    assert given.warnings == family.warnings
    assert product_family(X).warnings == ()


@pytest.mark.parametrize(
    ("n", "r", "degree"), [(400, 30, 4), (300, 5, 2), (200, 150, 8), (50, 2, 9)]
)
def test_linear_families_take_the_bytes_they_say(n, r, degree):
    family = product_family(normal_rows(n, r), degree=degree)
    bases = family._bases
    if degree > 1 + bases.plan.kept:
        bases.power(degree - 1)
    if bases.plan.square:
        family.total(np.ones(n))
    arrays = [bases.X, bases.columns, bases.blocks, *bases._powers]
    arrays += [vars(bases)["S"]] if "S" in vars(bases) else []
    assert family.nbytes == linear_bytes(n, r, degree) == sum(array.nbytes for array in arrays)


def test_what_does_not_fit_is_refused_before_it_is_built():
    rows = normal_rows(1000, 40)
    needed = linear_bytes(1000, 40, 6)
    with pytest.raises(
        MemoryLimitError, match=f"{needed:,} bytes.*a subsample of the rows"
    ) as error:
        product_family(rows, degree=6, memory_limit=needed - 1)
    assert "higher memory_limit" in str(error.value)
    assert product_family(rows, degree=6, memory_limit=needed).nbytes == needed
    with pytest.raises(MemoryLimitError, match="fewer base kernels, a lower degree"):
        product_family_of([np.eye(30)] * 4, memory_limit=10_000)
    with pytest.raises(MemoryLimitError, match="fewer base kernels"):
        product_family_of_terms(rows, [KernelTerm(Gaussian(), (0,), "x0")], memory_limit=10_000)


@pytest.mark.parametrize(
    "key", [(3,), (-1,), (0, 0, 0, 0), "a", ("a",), 3, None, (0, None), (0.5,), [0, 1]]
)
def test_keys_of_another_family_are_refused(key):
    family = product_family(X)
    with pytest.raises(InputError, match="names no product of the family"):
        family.quadratic_forms(np.ones(10), [(), key])
    with pytest.raises(InputError, match="a tuple of at most 3 positions from 0 to 2"):
        family.combine(Weights.of((key,), [1.0]))


def test_new_rows_of_another_shape_are_refused():
    weights, a = Weights.of(((0, 1),), [1.0]), np.ones(10)
    with pytest.raises(InputError, match="new rows have 2 columns, the training rows 3"):
        product_family(X).decision(np.ones((4, 2)), weights, a)
    terms = [KernelTerm(Gaussian(), (j,), f"x{j}") for j in range(3)]
    with pytest.raises(InputError, match="new rows have 2 columns, the training rows 3"):
        product_family_of_terms(X, terms).decision(np.ones((4, 2)), weights, a)
    given = product_family_of([np.outer(x, x) for x in X.T])
    with pytest.raises(InputError, match="expected"):
        given.decision(np.ones((2, 4, 10)), weights, a)
    blocks = np.ones((3, 4, 10))
    blocks[1, 2, 3] = np.nan
    with pytest.raises(InputError, match=r"block of kernel 1 holds nan at position \(2, 3\)"):
        given.decision(blocks, weights, a)


def test_names_that_read_like_products_are_quoted():
    """Else a² and the square of a, or a feature called offset, would be one line of a table."""
    X = np.random.default_rng(0).standard_normal((8, 4))
    family = product_family(X, ("a", "a²", "offset", "a · b"), degree=2)
    labels = [family.label(key) for key in family.keys()]
    assert len(set(labels)) == len(labels)
    assert family.label((1,)) == "'a²'"
    assert family.label((0, 0)) == "a²"
    assert family.label((2,)) == "'offset'"
    assert family.label(()) == "offset"
    assert family.label((0, 3)) == "a · 'a · b'"


@pytest.mark.parametrize("penalty", [1e-300, 1e-16, 1e16])
def test_penalties_that_cost_all_digits_are_refused(penalty):
    X = np.random.default_rng(0).standard_normal((8, 2))
    with pytest.raises(InputError, match="penalty must lie between 1e-15 and 1e\\+15"):
        product_family(X, degree=1, penalty=penalty)
