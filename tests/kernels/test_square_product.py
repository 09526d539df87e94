"""The symmetric product: any size, any number of zeros."""

import numpy as np
import pytest

from mkldash.kernels._compiled_square import symmetric_product


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 33, 130])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.39, 0.41, 1.0])
def test_it_is_the_product(n, share):
    rng = np.random.default_rng(n)
    factor = rng.standard_normal((n, n))
    K, a = factor + factor.T, rng.standard_normal(n)
    a[round(share * n) :] = 0.0
    np.testing.assert_allclose(symmetric_product(K, a), K @ a, rtol=0, atol=1e-12 * n)
