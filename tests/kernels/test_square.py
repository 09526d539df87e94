"""Banks of one kernel whose matrix is held whole."""

import math
import pickle
import tracemalloc

import numpy as np
import pytest

from mkldash.errors import InputError, MemoryLimitError
from mkldash.kernels import spectrum
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.building import build_bank, estimate_memory
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.linear import Linear
from mkldash.kernels.normalization import ConstantKernelWarning
from mkldash.kernels.polynomial import Polynomial
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.kernels.prediction import CHUNK_BYTES
from mkldash.kernels.square import build_square, given_square
from tests.kernels.recipes import naive_kernels, normal_rows

N = 60
X = normal_rows(N, 3)
NEW = normal_rows(23, 3, seed=9)
each_kernel = pytest.mark.parametrize(
    "kernel", [Gaussian(1.3), Linear(), Polynomial(3)], ids=["radial", "linear", "polynomial"]
)


def term_of(kernel):
    return KernelTerm(kernel, (0, 2), "pair")


def coefficients(support, seed=1):
    a = np.zeros(N)
    rng = np.random.default_rng(seed)
    a[rng.choice(N, support, replace=False)] = rng.standard_normal(support)
    return a


def gram():
    """A symmetric positive definite matrix, shape (60, 60)."""
    K = naive_kernels(X, (term_of(Gaussian(1.0)),), X)[0]
    return np.ascontiguousarray(0.5 * (K + K.T))


@pytest.fixture
def large(monkeypatch):
    """Sixty rows count as many: matrices are checked without a copy."""
    monkeypatch.setattr(spectrum, "LANCZOS_ABOVE", 30)


def pairs(kernel):
    """(square, dense) from features and from matrices."""
    term = term_of(kernel)
    K = naive_kernels(X, (term,), X)[0]
    K = 0.5 * (K + K.T)
    yield build_square(X, term), build_bank(X, [term], storage="dense", normalize=False), NEW
    block = naive_kernels(NEW, (term,), X)
    yield given_square(K), precomputed_bank(K), block


@each_kernel
@pytest.mark.parametrize("theta", [1.0, 0.0, 2.5])
@pytest.mark.parametrize("support", [0, 1, 17, 60])
def test_it_says_what_a_dense_bank_says(kernel, theta, support):
    a, weights = coefficients(support), np.array([theta])
    for square, dense, new in pairs(kernel):
        size = float(square.traces[0])
        # Sums of up to 60 x 60 products, in another order.
        close = {"rtol": 1e-12, "atol": 1e-13 * size}
        one, other = square.combine(weights), dense.combine(weights)
        assert one.n_rows == N
        np.testing.assert_allclose(one.matrix(), other.matrix(), **close)
        np.testing.assert_array_equal(one.matrix(), one.matrix().T)
        np.testing.assert_allclose(one.apply(a), other.apply(a), **close)
        for rows in ([], [3], [5, 2, 40], range(N)):
            rows = np.array(rows, dtype=np.intp)
            np.testing.assert_allclose(one.block(rows), other.block(rows), **close)
            columns = square.columns(a, rows)
            assert columns.shape == (len(rows), 1)
            np.testing.assert_allclose(columns, dense.columns(a, rows), **close)
        total, diagonal = one.residual()
        assert total == 0.0
        assert not diagonal.any()
        np.testing.assert_allclose(square.quadratic_forms(a), dense.quadratic_forms(a), **close)
        np.testing.assert_allclose(
            square.decision(new, weights, a), dense.decision(new, weights, a), **close
        )


@each_kernel
def test_its_facts_are_those_of_a_dense_bank(kernel):
    for square, dense, _ in pairs(kernel):
        for fact in ("names", "terms", "n_given", "n_rows", "n_kernels", "dropped", "warnings"):
            assert getattr(square, fact) == getattr(dense, fact), fact
        for fact in ("kept", "scales", "residuals"):
            np.testing.assert_array_equal(getattr(square, fact), getattr(dense, fact))
        np.testing.assert_allclose(square.traces, dense.traces, rtol=1e-13)
        assert square.storage == ("square" if square.terms else "precomputed")
        assert square.nbytes == 8 * N * N
        assert square.ranks is None


def test_quadratic_forms_are_not_negative():
    singular = np.ones((3, 3))
    singular[2] = singular[:, 2] = 0.0
    bank = given_square(singular)
    assert bank.quadratic_forms([1.0, -1.0 - 1e-17, 0.0])[0] >= 0.0
    vector = np.array([0.1, 0.2, -0.3])
    outer = given_square(np.outer(vector, vector))
    across = np.array([0.2, -0.1, 0.0])
    assert vector @ across == pytest.approx(0.0, abs=1e-17)
    assert outer.quadratic_forms(across)[0] >= 0.0


def test_with_weight_one_the_matrix_is_the_banks_own():
    bank = build_square(X, term_of(Gaussian(1.0)))
    matrix = bank.combine([1.0]).matrix()
    assert np.shares_memory(matrix, bank.combine([1.0]).matrix())
    assert not np.shares_memory(matrix, bank.combine([2.0]).matrix())
    assert matrix.flags.c_contiguous


@pytest.mark.usefixtures("large")
def test_a_sound_large_matrix_is_not_copied():
    K = gram()
    before = K.copy()
    bank = given_square(K)
    assert np.shares_memory(bank.combine([1.0]).matrix(), K)
    bank.combine([1.0]).apply(coefficients(9))
    np.testing.assert_array_equal(K, before)
    assert np.shares_memory(given_square(K[None]).combine([1.0]).matrix(), K)


def test_a_small_matrix_is_copied():
    K = gram()
    assert not np.shares_memory(given_square(K).combine([1.0]).matrix(), K)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("how", ["single precision", "Fortran order", "nearly symmetric", "lists"])
def test_a_large_matrix_in_another_form_is_made_sound(how):
    K = gram()
    given = {
        "single precision": K.astype(np.float32),
        "Fortran order": np.asfortranarray(K),
        "nearly symmetric": K + 1e-10 * np.triu(np.ones((N, N))),
        "lists": K.tolist(),
    }[how]
    matrix = given_square(given).combine([1.0]).matrix()
    assert not np.shares_memory(matrix, K)
    np.testing.assert_array_equal(matrix, matrix.T)
    assert matrix.flags.c_contiguous
    assert matrix.dtype == np.float64
    np.testing.assert_allclose(matrix, K, atol=1e-7 if how == "single precision" else 1e-10)


def spoilt(what):
    K = gram()
    if what == "asymmetric":
        K[3, 7] += 0.5
    elif what == "nan":
        K[3, 7] = K[7, 3] = np.nan
    elif what == "infinite":
        K[3, 3] = np.inf
    elif what == "indefinite":
        K -= 0.5 * np.eye(N)
    elif what == "slightly":
        values, vectors = np.linalg.eigh(K)
        values[0] = -1e-5 * values[-1]
        K = (vectors * values) @ vectors.T
        K = np.ascontiguousarray(0.5 * (K + K.T))
    elif what == "zero":
        K[:] = 0.0
    elif what == "huge":
        K *= 1e200
    elif what == "tiny":
        K *= 1e-200
    return K


@pytest.mark.parametrize("rows", ["few", "many"])
@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("asymmetric", r"is not symmetric: entries \(3, 7\) and \(7, 3\) differ by 0.5"),
        ("nan", r"2 entries are NaN, first at position \(3, 7\)"),
        ("infinite", r"1 entry is infinite, first at position \(3, 3\)"),
        ("indefinite", r"is not positive semidefinite.* or ask for repair='clip'"),
        ("slightly", r"is not positive semidefinite: its least eigenvalue is -"),
        ("zero", "is zero: there is nothing to learn from; give a kernel that is not"),
        ("huge", r"is too large: .* rescale it or set normalize=True"),
        ("tiny", r"is too small: .* rescale it or set normalize=True"),
    ],
)
def test_what_cannot_be_used_is_refused_as_in_every_bank(what, message, rows, monkeypatch):
    if rows == "many":
        monkeypatch.setattr(spectrum, "LANCZOS_ABOVE", 30)
    K = spoilt(what)
    with pytest.raises(InputError, match=f"kernel 0:? {message}"):
        given_square(K)
    with pytest.raises(InputError, match=rf"kernel 0 \('mine'\):? {message}"):
        given_square(K, "mine")
    with pytest.raises(InputError) as usual:
        precomputed_bank(K)
    with pytest.raises(InputError) as here:
        given_square(K)
    assert str(here.value) == str(usual.value)


def test_other_things_than_one_matrix_are_refused():
    with pytest.raises(InputError, match="one kernel matrix is wanted, got 2"):
        given_square([np.eye(3), np.eye(3)])
    with pytest.raises(InputError, match=r"must be a square matrix.*\(3, 2\)"):
        given_square(np.zeros((3, 2)))
    with pytest.raises(InputError, match="Complex data not supported"):
        given_square(np.eye(3) + 0j)


@pytest.mark.parametrize("rows", ["few", "many"])
def test_clipping_is_asked_for_and_reported(rows, monkeypatch):
    if rows == "many":
        monkeypatch.setattr(spectrum, "LANCZOS_ABOVE", 30)
    K = spoilt("slightly")
    before = K.copy()
    bank = given_square(K, repair="clip")
    assert "1 negative eigenvalue" in bank.warnings[0]
    assert np.linalg.eigvalsh(bank.combine([1.0]).matrix())[0] > -1e-12
    np.testing.assert_array_equal(K, before)


def test_a_constant_kernel_is_kept_with_a_warning():
    with pytest.warns(ConstantKernelWarning, match=r"gaussian 1 · pair is constant: it cannot"):
        bank = build_square(np.ones((5, 3)), term_of(Gaussian(1.0)))
    assert bank.n_kernels == 1
    assert "is constant" in bank.warnings[0]
    with pytest.warns(ConstantKernelWarning, match="kernel 0 is constant: it cannot separate"):
        bank = given_square(np.full((4, 4), 2.0))
    np.testing.assert_array_equal(bank.combine([1.0]).matrix(), 2.0)


@pytest.mark.parametrize(
    ("rows", "kernel", "message"),
    [
        (X[:1], Linear(), "at least two training rows, got 1"),
        (np.full((3, 3), np.nan), Linear(), "X holds nan in row 0"),
        (1e200 * X, Linear(), "kernel 'linear · pair' overflows; standardise the features"),
        (1e120 * X, Polynomial(3), "overflows"),
    ],
)
def test_rows_that_cannot_be_used(rows, kernel, message):
    with pytest.raises(InputError, match=message):
        build_square(rows, term_of(kernel))


def test_it_is_refused_before_it_is_built_when_it_does_not_fit():
    term, estimate = term_of(Gaussian(1.0)), estimate_memory(N, 1, n_test=9)
    assert estimate.test_blocks < CHUNK_BYTES
    need = estimate.square + estimate.packed + estimate.test_blocks
    build_square(X, term, memory_limit=need, n_test=9)
    with pytest.raises(MemoryLimitError, match="full matrix and half of that again") as caught:
        build_square(X, term, memory_limit=need - 1, n_test=9)
    # One kernel cannot be fewer, and its solvers need the whole matrix.
    assert str(caught.value).endswith("a subsample of the rows, or a higher memory_limit.")
    assert "factored'" not in str(caught.value)
    many = np.broadcast_to(0.0, (30_000, 2))
    tracemalloc.start()
    try:
        with pytest.raises(MemoryLimitError, match=r"10\.8 GB"):
            build_square(many, KernelTerm(Linear(), (0,), "x"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5e6


@each_kernel
def test_the_memory_counted_is_about_what_building_takes(kernel):
    rows = normal_rows(700, 3)
    term = term_of(kernel)
    build_square(rows[:10], term)
    estimate = estimate_memory(700, 1)
    tracemalloc.start()
    try:
        build_square(rows, term)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 1.1 * (estimate.square + estimate.packed)


def test_the_key_follows_the_content():
    term = term_of(Gaussian(1.0))
    moved, other = X.copy(), normal_rows(N, 3, seed=5)
    moved[4, 2] += 1e-9
    keys = [
        build_square(X, term).key,
        build_square(moved, term).key,
        build_square(other, term).key,
        build_square(X, term_of(Gaussian(1.0 + 1e-12))).key,
        build_square(X, KernelTerm(Gaussian(1.0), (0, 1), "pair")).key,
        build_bank(X, [term], storage="dense", normalize=False).key,
        given_square(gram()).key,
        given_square(gram(), "mine").key,
        given_square(1.5 * gram()).key,
        precomputed_bank(gram()).key,
    ]
    assert len(set(keys)) == len(keys)
    assert build_square(X.copy(), term).key == keys[0]
    assert build_square(np.where(X == X[0, 0], X, X + 0.0), term).key == keys[0]
    assert given_square(gram()).key == keys[6]


def test_the_rows_are_copied():
    rows = X.copy()
    bank = build_square(rows, term_of(Linear()))
    a = coefficients(5)
    before = bank.decision(NEW, [1.0], a)
    rows[:] = 0.0
    np.testing.assert_array_equal(bank.decision(NEW, [1.0], a), before)


def test_a_pickle_says_the_same():
    bank = build_square(X, term_of(Gaussian(1.0)))
    copy = pickle.loads(pickle.dumps(bank))
    a = coefficients(20)
    np.testing.assert_array_equal(copy.combine([1.0]).matrix(), bank.combine([1.0]).matrix())
    np.testing.assert_array_equal(copy.decision(NEW, [1.0], a), bank.decision(NEW, [1.0], a))
    assert copy.key == bank.key
    # numba would compile anew for a read-only matrix.
    assert copy.combine([1.0]).matrix().flags.writeable


def test_weights_and_coefficients_of_the_wrong_shape_are_refused():
    bank = build_square(X, term_of(Linear()))
    with pytest.raises(ValueError, match=r"theta must have shape \(1,\)"):
        bank.combine([1.0, 2.0])
    with pytest.raises(ValueError, match=r"a must have shape \(60,\)"):
        bank.quadratic_forms(np.ones(3))
    with pytest.raises(InputError, match="new rows have 2 columns"):
        bank.decision(NEW[:, :2], [1.0], np.ones(N))


@pytest.mark.parametrize("trace", [1.0, float(N), 0.25])
@pytest.mark.parametrize("storage", ["dense", "factored", "precomputed"])
def test_a_number_for_normalize_is_the_trace(storage, trace):
    terms = [term_of(Gaussian(1.0)), term_of(Linear())]
    raw = naive_kernels(X, tuple(terms), X)
    raw = 0.5 * (raw + raw.transpose(0, 2, 1))
    if storage == "precomputed":
        bank, new = precomputed_bank(raw, normalize=trace), naive_kernels(NEW, tuple(terms), X)
    else:
        bank, new = build_bank(X, terms, storage=storage, normalize=trace), NEW
    np.testing.assert_allclose(bank.scales * bank.traces, trace, rtol=1e-13)
    for k in range(2):
        theta = np.eye(2)[k]
        matrix = bank.combine(theta).matrix()
        assert matrix.trace() == pytest.approx(trace, rel=1e-9)
        np.testing.assert_allclose(matrix, trace * raw[k] / raw[k].trace(), atol=1e-9 * trace)
    a, theta = coefficients(30), np.array([0.4, 1.1])
    blocks = naive_kernels(NEW, tuple(terms), X)
    expected = trace * np.tensordot(theta / np.trace(raw, axis1=1, axis2=2), blocks, 1) @ a
    np.testing.assert_allclose(bank.decision(new, theta, a), expected, atol=1e-9 * trace)


def test_true_is_the_trace_of_one_and_each_trace_has_its_key():
    term = term_of(Gaussian(1.0))
    unit, one, n = (build_bank(X, [term], normalize=trace) for trace in (True, 1.0, float(N)))
    np.testing.assert_array_equal(unit.scales, one.scales)
    assert len({unit.key, n.key, build_bank(X, [term], normalize=False).key}) == 3
    K = gram()
    assert len({precomputed_bank(K, normalize=t).key for t in (False, True, float(N))}) == 3
    assert math.isclose(n.combine([1.0]).matrix()[0, 0], 1.0, rel_tol=1e-12)
