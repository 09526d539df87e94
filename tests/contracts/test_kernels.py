"""What every discovered kernel must do; a new kernel file gets these for free."""

import dataclasses

import numpy as np
import pytest

import mkldash.kernels
from mkldash._discovery import discover
from mkldash.kernels.base import Kernel, KernelTerm
from mkldash.kernels.building import build_bank

KERNELS = sorted(discover(mkldash.kernels, Kernel).items())

pytestmark = pytest.mark.parametrize(
    "kernel", [kind() for _, kind in KERNELS], ids=[name for name, _ in KERNELS]
)


def rows(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 3))


def test_the_papers_kernels_are_found(kernel):
    assert {"gaussian", "polynomial", "linear"} <= {name for name, _ in KERNELS}
    assert kernel.name in dict(KERNELS)


def test_is_a_frozen_dataclass_with_a_label(kernel):
    assert dataclasses.is_dataclass(kernel)
    assert kernel.label.startswith(kernel.name)
    assert kernel == type(kernel)()
    assert hash(kernel) == hash(type(kernel)())
    with pytest.raises(dataclasses.FrozenInstanceError):
        kernel.name = "other"


def test_gram_is_symmetric_and_positive_semidefinite(kernel):
    gram = kernel.gram(rows(30))
    assert gram.shape == (30, 30)
    np.testing.assert_array_equal(gram, gram.T)
    eigenvalues = np.linalg.eigvalsh(gram)
    assert eigenvalues[0] >= -1e-13 * eigenvalues[-1]
    assert eigenvalues[-1] > 0


def test_diagonal_agrees_with_the_matrix(kernel):
    X = rows(12)
    np.testing.assert_allclose(kernel.diagonal(X), kernel.gram(X).diagonal(), rtol=1e-14)


def test_between_two_sets_agrees_with_the_whole(kernel):
    X = rows(12)
    np.testing.assert_array_equal(kernel.gram(X[:5], X[5:]), kernel.gram(X)[:5, 5:])


def test_permuting_rows_permutes_the_matrix(kernel):
    X, order = rows(15), np.random.default_rng(1).permutation(15)
    expected = kernel.gram(X)[np.ix_(order, order)]
    np.testing.assert_array_equal(kernel.gram(X[order]), expected)


def test_does_not_change_its_input(kernel):
    X = rows(8)
    before = X.copy()
    kernel.gram(X)
    kernel.diagonal(X)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("storage", ["dense", "factored"])
def test_works_in_a_bank(kernel, storage):
    X, new = rows(40), rows(7, seed=1)
    a = np.random.default_rng(2).standard_normal(40)
    bank = build_bank(X, [KernelTerm(kernel, (0, 2), "two")], storage=storage)
    gram = kernel.gram(X[:, [0, 2]])
    np.testing.assert_allclose(bank.traces, np.trace(gram), rtol=1e-13)
    stored = bank.combine([1.0]).matrix()
    np.testing.assert_allclose(stored, gram / np.trace(gram), atol=1e-12)
    expected = kernel.gram(new[:, [0, 2]], X[:, [0, 2]]) @ a / np.trace(gram)
    np.testing.assert_allclose(bank.decision(new, [1.0], a), expected, atol=1e-13)
