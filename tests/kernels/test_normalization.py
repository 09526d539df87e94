"""Standardising, and which columns are constant."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mkldash.errors import InputError
from mkldash.kernels.normalization import Standardizer, is_constant_kernel
from tests.kernels.recipes import normal_rows


def test_mean_zero_and_deviation_one_with_ddof_zero():
    X = 5 + 3 * normal_rows(20, 4)
    standardizer = Standardizer.fit(X)
    np.testing.assert_allclose(standardizer.scale, X.std(axis=0, ddof=0), rtol=1e-13)
    Z = standardizer.transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(Z.std(axis=0), 1, rtol=1e-14)
    np.testing.assert_allclose(standardizer.transform(X[:3]), Z[:3])


@pytest.mark.parametrize("value", [0.3, 14.62, 0.0, -1e9, 1e-300])
def test_a_constant_column_is_constant_and_becomes_zero(value):  # D13
    column = np.full(20, value)
    standardizer = Standardizer.fit(np.column_stack([normal_rows(20, 1), column]))
    np.testing.assert_array_equal(standardizer.constant, [False, True])
    assert standardizer.scale[1] == 1.0
    # It may vary on new rows; what that would mean was never seen.
    assert not standardizer.transform([[1.0, value + 7.0]])[0, 1]


def test_a_computed_deviation_above_zero_does_not_make_a_column_vary():  # D13
    assert np.full(20, 0.3).std() > 0
    assert Standardizer.fit(np.full((20, 1), 0.3)).constant.all()


@pytest.mark.parametrize("scale", [1e-12, 1e-200, 1e12, 1e200])
def test_a_tiny_or_huge_column_is_not_constant(scale):  # D13
    column = normal_rows(20, 1)
    standardizer = Standardizer.fit(column * scale)
    assert not standardizer.constant.any()
    Z = standardizer.transform(column * scale)
    assert Z.std() == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_allclose(Z, Standardizer.fit(column).transform(column), rtol=1e-12)


def test_rounding_noise_on_a_constant_is_constant():
    column = np.array([[0.3], [0.1 + 0.2], [0.3]])
    assert np.ptp(column) > 0
    assert Standardizer.fit(column).constant.all()


@given(
    shift=st.floats(-1e3, 1e3),
    scale=st.floats(1e-3, 1e3),
    seed=st.integers(0, 100),
)
def test_units_do_not_matter(shift, scale, seed):
    X = normal_rows(12, 2, seed)
    Z = Standardizer.fit(X).transform(X)
    moved = shift + scale * X
    rounding = 1e-13 * (1 + abs(shift) / scale)
    np.testing.assert_allclose(Standardizer.fit(moved).transform(moved), Z, atol=rounding)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), r"shape \(n_rows, n_features\), got \(3,\)"),
        ([["a"]], "must be a table of numbers"),
        ([[1.0, 2.0], [3.0, np.nan]], "nan in row 1, column 1; drop or fill"),
        (np.zeros((0, 2)), "at least one training row"),
    ],
)
def test_refusals(X, message):
    with pytest.raises(InputError, match=message):
        Standardizer.fit(X)


def test_another_number_of_columns_is_refused():
    with pytest.raises(InputError, match="X has 3 columns, the training rows had 2"):
        Standardizer.fit(normal_rows(5, 2)).transform(normal_rows(5, 3))


def test_which_kernels_are_constant():
    assert is_constant_kernel(0.0, 0.0)
    assert is_constant_kernel(20.0, 1e-15)
    assert is_constant_kernel(20.0, -1e-15)
    assert not is_constant_kernel(1e-24, 9e-25)
