"""Pivoted Cholesky: its rank, its honesty, its memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkldash.kernels.base import KernelTerm
from mkldash.kernels.building import FACTORED_SHARE, build_bank
from mkldash.kernels.cholesky import PROBE_ROWS, DistinctRows, estimate_rank, pivoted_cholesky
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.linear import Linear
from mkldash.kernels.polynomial import Polynomial
from tests.kernels.recipes import normal_rows, paper_terms, wdbc_rows

ALL = KernelTerm(Gaussian(1.0), (0, 1, 2), "all")


def exact_residual(term, X, factor, rows):
    """K - L L' in extended precision, from the float64 kernel."""
    gram = term.kernel.gram(X[:, term.columns]).astype(np.longdouble)
    L = factor.columns.T[rows.inverse].astype(np.longdouble)
    return gram - L @ L.T


@pytest.mark.parametrize("residual", [1e-2, 1e-6, 1e-12, 0.0])
@pytest.mark.parametrize(
    "term",
    [
        ALL,
        KernelTerm(Gaussian(0.125), (0,), "x0"),
        KernelTerm(Gaussian(64.0), (0,), "x0"),
        KernelTerm(Polynomial(3), (0, 1), "two"),
        KernelTerm(Linear(), (2,), "x2"),
    ],
    ids=lambda term: term.name,
)
def test_the_residual_is_a_bound_with_rounding(term, residual):
    X = np.round(normal_rows(80), 2)
    rows = DistinctRows.of(X, term.columns)
    factor = pivoted_cholesky(term, rows, residual)
    left_out = exact_residual(term, X, factor, rows)
    assert np.trace(left_out) <= factor.residual
    bounds = np.sqrt(factor.left[rows.inverse])
    assert (np.abs(left_out) <= np.outer(bounds, bounds)).all()
    assert factor.residual <= max(2 * residual, 1e-12) * factor.trace
    # u_k <= u_k(L) + eps |a|^2, and |(R a)_i| <= sqrt(R_ii eps) |a|: MATH's bounds.
    for seed in range(20):
        a = np.random.default_rng(seed).standard_normal(80).astype(np.longdouble)
        assert abs(a @ left_out @ a) <= factor.residual * (a @ a)
        error = np.abs(left_out @ a)
        assert (error <= bounds * np.sqrt(factor.residual * (a @ a))).all()


@settings(deadline=None, max_examples=40)
@given(
    n=st.integers(2, 40),
    width=st.floats(0.05, 50.0),
    power=st.integers(-13, -1),
    seed=st.integers(0, 10**6),
)
def test_the_bound_holds_for_any_rows_and_width(n, width, power, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    bank = build_bank(
        X, [KernelTerm(Gaussian(width), (0, 1), "all")], storage="factored", residual=10.0**power
    )
    gram = Gaussian(width).gram(X).astype(np.longdouble) / n
    stored = bank.combine([1.0]).matrix()
    total, diagonal = bank.combine([1.0]).residual()
    assert total == bank.residuals[0]
    assert diagonal.sum() == pytest.approx(total)
    assert total <= max(2 * 10.0**power, 1e-12)
    a = rng.standard_normal(n)
    # Forming L L' to compare with rounds as well: n units in the last place.
    slack = 2 * n * np.finfo(float).eps / n * np.abs(a).sum() ** 2
    exact = float(a @ gram @ a)
    assert exact <= bank.quadratic_forms(a)[0] + total * (a @ a) + slack
    assert exact >= bank.quadratic_forms(a)[0] - total * (a @ a) - slack
    error = np.abs(np.asarray((gram - stored) @ a, dtype=float))
    assert (error <= np.sqrt(diagonal * total) * np.linalg.norm(a) + slack).all()


def test_residuals_are_weighted():
    bank = build_bank(normal_rows(30), paper_terms(3), storage="factored", residual=1e-3)
    theta = np.random.default_rng(0).random(52)
    theta[::3] = 0.0
    total, diagonal = bank.combine(theta).residual()
    assert total == pytest.approx(theta @ bank.residuals)
    assert diagonal.sum() == pytest.approx(total)
    assert (bank.residuals > 0).all()
    assert (bank.residuals < 2e-3).all()


def test_ranks_that_are_known():
    bank = build_bank(
        normal_rows(50),
        [
            KernelTerm(Linear(), (0,), "one"),
            KernelTerm(Linear(), (0, 1, 2), "three"),
            KernelTerm(Polynomial(1), (0, 1), "two"),
            KernelTerm(Polynomial(2), (0,), "one"),
            KernelTerm(Polynomial(3), (0,), "one"),
            KernelTerm(Polynomial(2), (0, 1, 2), "three"),
        ],
        storage="factored",
    )
    np.testing.assert_array_equal(bank.ranks, [1, 3, 3, 3, 4, 10])


def test_equal_values_cost_nothing():
    X = np.repeat([[0.0], [1.0], [5.0]], 40, axis=0)
    rows = DistinctRows.of(X, (0,))
    assert rows.X.tolist() == [[0.0], [1.0], [5.0]]
    assert rows.counts.tolist() == [40, 40, 40]
    factor = pivoted_cholesky(KernelTerm(Gaussian(0.5), (0,), "x"), rows, 1e-12)
    assert factor.rank == 3
    assert factor.trace == 120.0
    L = factor.columns.T[rows.inverse]
    np.testing.assert_allclose(L @ L.T, Gaussian(0.5).gram(X), atol=1e-15)


def test_only_columns_are_asked_for():
    class Watched(Gaussian):
        def profile(self, squared):
            sizes.append(squared.size)
            return super().profile(squared)

    sizes: list[int] = []
    X = normal_rows(100)
    term = KernelTerm(Watched(8.0), (0, 1, 2), "all")
    factor = pivoted_cholesky(term, DistinctRows.of(X, term.columns), 1e-8)
    assert factor.rank < 100
    assert sizes == [100] * (factor.rank + 1)


def test_a_rank_limit_stops_early_and_stays_honest():
    X = normal_rows(60)
    rows = DistinctRows.of(X, ALL.columns)
    factor = pivoted_cholesky(ALL, rows, 1e-12, max_rank=10)
    assert factor.rank == 10
    left_out = exact_residual(ALL, X, factor, rows)
    assert float(np.trace(left_out)) == pytest.approx(factor.residual, rel=1e-9)


def test_the_centred_trace():
    X = normal_rows(40)
    gram = Gaussian(1.0).gram(X)
    factor = pivoted_cholesky(ALL, DistinctRows.of(X, ALL.columns), 1e-12)
    assert factor.centred_trace == pytest.approx(np.trace(gram) - gram.sum() / 40, rel=1e-10)


def test_the_probe_knows_low_rank_from_full():
    X = normal_rows(400)
    wide = KernelTerm(Gaussian(16.0), (0,), "x0")
    rows = DistinctRows.of(X, (0,))
    rank = pivoted_cholesky(wide, rows, 1e-12).rank
    assert rank <= estimate_rank(wide, rows, 1e-12) <= 2 * rank
    narrow = KernelTerm(Gaussian(0.05), (0, 1, 2), "all")
    assert estimate_rank(narrow, DistinctRows.of(X, (0, 1, 2)), 1e-12) == 400
    few = DistinctRows.of(np.round(X), (0,))
    assert len(few.X) < PROBE_ROWS
    assert estimate_rank(narrow, few, 1e-12) <= len(few.X)


def test_auto_is_dense_for_few_rows_and_factored_where_ranks_pay():
    assert build_bank(normal_rows(PROBE_ROWS), paper_terms(3)).storage == "dense"
    coarse = np.round(normal_rows(300), 1)
    low = [term for term in paper_terms(3) if len(term.columns) == 1]
    bank = build_bank(coarse, low)
    assert bank.storage == "factored"
    assert bank.ranks.sum() <= FACTORED_SHARE * 300 * len(low)
    narrow = [KernelTerm(Gaussian(0.05 * k), (0, 1, 2), f"all {k}") for k in (1, 2)]
    assert build_bank(normal_rows(300), narrow).storage == "dense"


def test_wdbc_takes_a_tenth_of_square_storage():
    X = wdbc_rows()
    terms = paper_terms(30)
    bank = build_bank(X, terms)
    assert bank.storage == "factored"
    assert bank.n_kernels == len(terms) == 403
    assert bank.ranks.sum() <= 11_500
    assert bank.nbytes <= 8 * 403 * 341**2 / 10
    assert (bank.residuals <= 2e-12).all()
    exact = build_bank(X, terms, storage="dense")
    a = np.random.default_rng(0).standard_normal(341)
    difference = exact.quadratic_forms(a) - bank.quadratic_forms(a)
    assert (difference <= bank.residuals * (a @ a) + 1e-13 * np.abs(a).sum() ** 2 / 341).all()
    np.testing.assert_allclose(difference, 0, atol=1e-12 * (a @ a) * 1.1)
