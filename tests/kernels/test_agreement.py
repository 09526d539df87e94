"""Dense, factored and naive banks say the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkldash.kernels import dense, prediction
from mkldash.kernels.building import build_bank
from mkldash.kernels.factored import FactoredBank
from mkldash.kernels.precomputed import precomputed_bank
from tests.kernels.recipes import naive_kernels, normal_rows, paper_terms, unit_trace

N = 60
TERMS = paper_terms(2)
X = normal_rows(N, 2)
KERNELS = unit_trace(naive_kernels(X, TERMS, X))
BANKS = {
    "dense": build_bank(X, TERMS, storage="dense"),
    "factored": build_bank(X, TERMS, storage="factored"),
    "precomputed": precomputed_bank(KERNELS),
}
each_bank = pytest.mark.parametrize("bank", BANKS.values(), ids=BANKS)
# Entries are at most 1; factors leave out 1e-12 of the unit trace, and what that
# does to a sum is at most its number of terms.
CLOSE = {"rtol": 1e-10, "atol": 1e-11}


def weights(live, seed=0):
    theta = np.zeros(len(TERMS))
    rng = np.random.default_rng(seed)
    theta[rng.choice(len(TERMS), live, replace=False)] = rng.random(live)
    return theta


def coefficients(support, seed=1):
    a = np.zeros(N)
    rng = np.random.default_rng(seed)
    a[rng.choice(N, support, replace=False)] = rng.standard_normal(support)
    return a


# Counts on both sides of every switch between gathering and streaming, and
# remainders of the loops that take four at a time.
lives = pytest.mark.parametrize("live", [0, 1, 2, 5, 39])
supports = pytest.mark.parametrize("support", [0, 1, 7, 17, 18, 19, 60])


@each_bank
@lives
def test_matrix(bank, live):
    theta = weights(live)
    matrix = bank.combine(theta).matrix()
    np.testing.assert_allclose(matrix, np.tensordot(theta, KERNELS, 1), **CLOSE)
    np.testing.assert_array_equal(matrix, matrix.T)


@each_bank
@lives
@pytest.mark.parametrize("rows", [[], [3], [5, 2, 40], range(17), range(18), range(60)])
def test_block(bank, live, rows):
    theta, rows = weights(live), np.array(rows, dtype=np.intp)
    expected = np.tensordot(theta, KERNELS, 1)[np.ix_(rows, rows)]
    combined = bank.combine(theta)
    np.testing.assert_allclose(combined.block(rows), expected, **CLOSE)
    combined.matrix()
    np.testing.assert_allclose(combined.block(rows), expected, **CLOSE)


@each_bank
@lives
@supports
def test_apply(bank, live, support):
    theta, a = weights(live), coefficients(support)
    expected = np.tensordot(theta, KERNELS, 1) @ a
    np.testing.assert_allclose(bank.combine(theta).apply(a), expected, **CLOSE)


@each_bank
@supports
def test_quadratic_forms(bank, support):
    a = coefficients(support)
    u = bank.quadratic_forms(a)
    assert (u >= 0).all()
    np.testing.assert_allclose(u, np.einsum("i,kij,j->k", a, KERNELS, a), **CLOSE)


@each_bank
@supports
@pytest.mark.parametrize("rows", [[], [3], [5, 2, 40], range(60)])
def test_columns(bank, support, rows):
    a, rows = coefficients(support), np.array(rows, dtype=np.intp)
    expected = (KERNELS @ a)[:, rows].T
    assert expected.shape == bank.columns(a, rows).shape
    np.testing.assert_allclose(bank.columns(a, rows), expected, **CLOSE)


@pytest.mark.parametrize("bank", [BANKS["dense"], BANKS["factored"]], ids=["dense", "factored"])
@lives
@supports
def test_decision(bank, live, support, monkeypatch):
    theta, a, new = weights(live), coefficients(support), normal_rows(23, 2, seed=9)
    scales = 1 / np.trace(naive_kernels(X, TERMS, X), axis1=1, axis2=2)
    expected = np.tensordot(theta * scales, naive_kernels(new, TERMS, X), 1) @ a
    whole = bank.decision(new, theta, a)
    np.testing.assert_allclose(whole, expected, rtol=1e-11, atol=1e-14)
    monkeypatch.setattr(prediction, "CHUNK_BYTES", 5 * 4 * 8 * N)
    np.testing.assert_allclose(bank.decision(new, theta, a), whole, rtol=1e-13, atol=1e-15)


def test_decision_evaluates_only_what_carries_weight(monkeypatch):
    seen = []

    def spy(kernels, new, train):
        seen.append((len(kernels), len(train)))
        return np.zeros((len(new), len(train)))

    monkeypatch.setattr(prediction, "_weighted", spy)
    theta = np.zeros(len(TERMS))
    theta[[0, 4, 38]] = 1.0
    BANKS["dense"].decision(X, theta, coefficients(7))
    assert seen == [(2, 7), (1, 7)]


def test_the_residual_of_a_dense_bank_is_zero():
    total, diagonal = BANKS["dense"].combine(weights(5)).residual()
    assert total == 0.0
    assert not diagonal.any()
    assert not BANKS["dense"].residuals.any()


def test_gathering_and_streaming_agree(monkeypatch):
    a, bank, rows = coefficients(30), BANKS["dense"], np.arange(30)
    results = []
    for share in (0.0, 2.0):
        monkeypatch.setattr(dense, "GATHER_BELOW", share)
        results.append(
            (
                bank.quadratic_forms(a),
                bank.columns(a, rows),
                bank.combine(weights(5)).block(rows),
            )
        )
    for streamed, gathered in zip(*results, strict=True):
        np.testing.assert_allclose(gathered, streamed, rtol=1e-12, atol=1e-16)


def test_loops_over_more_than_a_tile():
    # 2048 doubles a tile: both stores must be longer than one, and uneven.
    wide = normal_rows(90, 2, seed=3)
    terms = paper_terms(2)
    exact, factored = (build_bank(wide, terms, storage=s) for s in ("dense", "factored"))
    assert isinstance(factored, FactoredBank)
    tall = normal_rows(150, 30, seed=4)
    many = build_bank(tall, paper_terms(30), storage="factored")
    assert many.factors.shape[1] > 2048
    a = np.random.default_rng(0).standard_normal(90)
    theta = np.random.default_rng(1).random(len(terms))
    np.testing.assert_allclose(exact.quadratic_forms(a), factored.quadratic_forms(a), **CLOSE)
    np.testing.assert_allclose(
        exact.combine(theta).matrix(), factored.combine(theta).matrix(), **CLOSE
    )
    b = np.random.default_rng(2).standard_normal(150)
    raw = unit_trace(naive_kernels(tall, paper_terms(30), tall))
    np.testing.assert_allclose(many.quadratic_forms(b), np.einsum("i,kij,j->k", b, raw, b), **CLOSE)
    np.testing.assert_allclose(
        many.combine(np.ones(many.n_kernels)).apply(b), raw.sum(0) @ b, rtol=1e-9
    )


@settings(deadline=None, max_examples=30)
@given(n=st.integers(2, 24), p=st.integers(1, 3), seed=st.integers(0, 10**6))
def test_any_bank_agrees_with_the_formulas(n, p, seed):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, p))
    terms = paper_terms(p)
    raw = unit_trace(naive_kernels(rows, terms, rows))
    a, theta = rng.standard_normal(n), rng.random(len(terms))
    for storage in ("dense", "factored"):
        bank = build_bank(rows, terms, storage=storage)
        np.testing.assert_allclose(
            bank.quadratic_forms(a), np.einsum("i,kij,j->k", a, raw, a), rtol=1e-9, atol=1e-10
        )
        np.testing.assert_allclose(
            bank.combine(theta).apply(a), np.tensordot(theta, raw, 1) @ a, rtol=1e-9, atol=1e-10
        )


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_order_of_rows_and_of_kernels(seed):  # S04
    rng = np.random.default_rng(seed)
    rows, kernels = rng.permutation(N), rng.permutation(len(TERMS))
    a = rng.standard_normal(N)
    terms = [TERMS[k] for k in kernels]
    for storage in ("dense", "factored"):
        moved = build_bank(X[rows], terms, storage=storage)
        assert moved.names == tuple(BANKS[storage].names[k] for k in kernels)
        expected = BANKS[storage].quadratic_forms(a)[kernels]
        np.testing.assert_allclose(moved.quadratic_forms(a[rows]), expected, **CLOSE)
