"""New rows: the weighted sum of kernels, also where a column has few values."""

import numpy as np
import pytest

from mkldash.kernels import prediction
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.linear import Linear
from mkldash.kernels.polynomial import Polynomial
from mkldash.kernels.prediction import TermPredictor

KERNELS = (Gaussian(0.7), Polynomial(3), Linear())


def truth(predictor, new, weights, a):
    out = np.zeros(len(new))
    for term, weight in zip(predictor.terms, weights, strict=True):
        columns = list(term.columns)
        out += weight * (term.kernel.gram(new[:, columns], predictor.X[:, columns]) @ a)
    return out


@pytest.fixture(params=["bits", "many values"])
def predictor(request):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    if request.param == "bits":
        X = np.where(X > 0, 1.0, -0.5)
    columns = ((0,), (2,), (0, 1, 2))
    terms = [KernelTerm(kernel, c, str(c)) for c in columns for kernel in KERNELS]
    return TermPredictor(X, tuple(terms))


def test_decision_is_the_weighted_sum_over_support_rows(predictor):
    rng = np.random.default_rng(1)
    a = rng.standard_normal(50) * (rng.random(50) < 0.6)
    weights = rng.random(len(predictor.terms)) * (rng.random(len(predictor.terms)) < 0.8)
    new = np.vstack([predictor.X[:7], rng.standard_normal((9, 3)), predictor.X[:7]])
    found = predictor.decision(new, weights, a)
    np.testing.assert_allclose(found, truth(predictor, new, weights, a), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[:7], found[-7:], rtol=1e-13, atol=1e-13)


def test_in_pieces_it_is_the_same(predictor, monkeypatch):
    rng = np.random.default_rng(2)
    a, weights = rng.standard_normal(50), rng.random(len(predictor.terms))
    new = rng.standard_normal((40, 3))
    whole = predictor.decision(new, weights, a)
    monkeypatch.setattr(prediction, "CHUNK_BYTES", 4 * 8 * 50 * 3)  # three rows at a time
    np.testing.assert_allclose(predictor.decision(new, weights, a), whole, rtol=1e-12)


def test_equal_values_are_one_row_of_the_matrix(predictor, monkeypatch):
    shapes = []
    weighted = prediction._weighted

    def noting(kernels, new, train):
        shapes.append((new.shape, train.shape))
        return weighted(kernels, new, train)

    monkeypatch.setattr(prediction, "_weighted", noting)
    predictor.decision(predictor.X, np.ones(len(predictor.terms)), np.ones(50))
    n = len(np.unique(predictor.X[:, 0]))
    assert shapes == [((n, 1), (n, 1)), ((n, 1), (n, 1)), ((50, 3), (50, 3))]


def test_nothing_supports_nothing(predictor):
    assert not predictor.decision(predictor.X, np.ones(len(predictor.terms)), np.zeros(50)).any()
