"""Kernel functions by their formulas."""

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.linear import Linear
from mkldash.kernels.polynomial import Polynomial

X = np.array([[0.0, 0.0], [3.0, 4.0]])


@pytest.mark.parametrize("width", [0.125, 1.0, 5.0, 64.0])
def test_gaussian_is_exp_of_minus_distance_over_two_width_squared(width):
    expected = np.exp(-25 / (2 * width**2))
    np.testing.assert_allclose(Gaussian(width).gram(X), [[1, expected], [expected, 1]], rtol=1e-14)


def test_polynomial_has_its_offset_at_every_degree():
    Y = np.array([[1.0, 2.0]])
    for degree in (1, 2, 3):
        np.testing.assert_allclose(Polynomial(degree).gram(X, Y), [[1.0], [12.0**degree]])


def test_linear_has_no_offset():
    np.testing.assert_array_equal(Linear().gram(X), [[0, 0], [0, 25]])


def test_labels():
    assert Gaussian(0.125).label == "gaussian 0.125"
    assert Polynomial(2).label == "polynomial 2"
    assert Linear().label == "linear"


def test_near_rows_far_from_the_origin_do_not_cancel():
    # |x|^2 + |y|^2 - 2 x'y would be wrong in its first digit here.
    far = np.array([[1e8], [1e8 + 1.0]])
    assert Gaussian(1.0).gram(far)[0, 1] == pytest.approx(np.exp(-0.5), rel=1e-12)


@pytest.mark.parametrize("width", [0.0, -1.0, np.inf, np.nan, 1e-200, 1e200])
def test_a_gaussian_needs_a_positive_width(width):
    with pytest.raises(InputError, match="width must be positive"):
        Gaussian(width)


@pytest.mark.parametrize("degree", [0, -1, 1.5])
def test_a_polynomial_needs_a_whole_degree(degree):
    with pytest.raises(InputError, match="degree must be a whole number"):
        Polynomial(degree)
