"""The checks of given matrices, one by one."""

import re

import numpy as np
import pytest
import scipy.sparse.linalg

from mkldash.errors import InputError
from mkldash.kernels import spectrum
from mkldash.kernels.checks import as_matrices, check_gram
from mkldash.kernels.spectrum import extreme_eigenvalues, is_semidefinite, offending_eigenvalues


def with_eigenvalues(values, seed=0):
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values),) * 2))
    matrix = (q * values) @ q.T
    return 0.5 * (matrix + matrix.T)


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ([], "no kernel matrix"),
        (5, "must be an array .* got 5 of type int"),
        ("abc", "must be an array .* got 'abc' of type str"),
        (np.zeros(3), r"got \(3,\)"),
        (np.zeros((1, 2, 3, 3)), r"got \(1, 2, 3, 3\)"),
        ([np.eye(3), np.zeros((3, 2))], r"kernel 1 must be a square matrix.*\(3, 2\)"),
        (np.zeros((3, 2)), r"kernel 0 must be a square matrix.*\(3, 2\)"),
        ([np.eye(3), np.eye(2)], r"kernel 1 has shape \(2, 2\), kernel 0 has \(3, 3\)"),
        ([np.zeros((0, 0))], "kernel 0 must be a square matrix"),
        ([np.eye(2), 5.0], r"kernel 1 must be a square matrix.*shape \(\)"),
        (["ab", "cd"], "kernel 0 is not a matrix of numbers"),
        ([np.eye(2), [[np.eye(2)], [np.eye(2)]]], "item 1 is itself a list of 2"),
    ],
)
def test_refused_shapes(kernels, message):
    with pytest.raises(InputError, match=message):
        as_matrices(kernels)


def test_asymmetry_is_measured_by_the_largest_entry():
    matrix = np.diag([100.0, 1.0])
    matrix[0, 1] = 0.9e-6
    checked, note = check_gram(matrix, "kernel 0")
    assert note == ""
    np.testing.assert_array_equal(checked, checked.T)
    assert checked[0, 1] == 0.45e-6
    matrix[0, 1] = 1.1e-6
    with pytest.raises(InputError, match=r"not symmetric: entries \(0, 1\) and \(1, 0\) differ"):
        check_gram(matrix, "kernel 0")
    check_gram(matrix.astype(np.float32), "kernel 0")
    matrix[0, 1] = 1.1e-3
    with pytest.raises(InputError, match=r"not symmetric: .* differ by 0\.0011, more than 1e-05"):
        check_gram(matrix.astype(np.float32), "kernel 0")


def test_a_symmetric_matrix_comes_back_bitwise_and_copied():
    matrix = with_eigenvalues(np.arange(1.0, 9.0))
    checked, _ = check_gram(matrix, "kernel 0")
    np.testing.assert_array_equal(checked, matrix)
    assert not np.shares_memory(checked, matrix)


@pytest.mark.parametrize("n", [12, 60])
def test_the_line_is_at_a_millionth_of_the_largest(n):
    values = np.linspace(0.0, 5.0, n)
    values[0] = -5 * 0.9e-6
    checked, note = check_gram(with_eigenvalues(values), "kernel 0")
    assert (note, checked.shape) == ("", (n, n))
    values[0] = -5 * 1.1e-6
    with pytest.raises(InputError, match=r"least eigenvalue is -5\.5e-06"):
        check_gram(with_eigenvalues(values), "kernel 0")


def test_cholesky_only_says_yes_when_it_is_sure():
    assert is_semidefinite(np.eye(5))
    assert is_semidefinite(np.zeros((5, 5)))
    assert is_semidefinite(np.ones((5, 5)))
    assert not is_semidefinite(-np.eye(5))
    assert not is_semidefinite(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert not is_semidefinite(with_eigenvalues(np.array([-1e-5, 0.5, 1.0])))


@pytest.mark.parametrize(
    "values",
    [
        np.r_[np.zeros(150), np.linspace(1, 9, 50)],
        np.r_[-2e-5, np.zeros(150), np.linspace(1, 9, 49)],
        np.r_[-9.0, np.linspace(0, 5, 199)],
        np.r_[np.full(199, -3.0), 2.0],
        np.full(200, -1.0),
    ],
    ids=["singular", "slightly", "clearly", "mostly", "entirely"],
)
def test_lanczos_agrees_with_the_full_decomposition(values, monkeypatch):
    matrix = with_eigenvalues(values)
    monkeypatch.setattr(spectrum, "LANCZOS_ABOVE", 100)
    least, largest = extreme_eigenvalues(matrix)
    size = np.abs(values).max()
    assert least == pytest.approx(values.min(), abs=1e-7 * size)
    assert largest == pytest.approx(values.max(), abs=1e-4 * size)


def test_lanczos_decides_on_large_matrices(monkeypatch):
    monkeypatch.setattr(spectrum, "LANCZOS_ABOVE", 100)
    values = np.r_[np.zeros(150), np.linspace(1, 9, 50)]
    checked, note = check_gram(with_eigenvalues(values), "kernel 0")
    assert (note, checked.shape) == ("", (200, 200))
    values[0] = -2e-5
    with pytest.raises(InputError, match="least eigenvalue is -2e-05"):
        check_gram(with_eigenvalues(values), "kernel 0")


@pytest.mark.parametrize("shift", [0.0, -1e-3])
def test_where_lanczos_does_not_tell_a_factor_does(shift, monkeypatch):
    """Wide Gaussian kernels: their small eigenvalues are a crowd that it cannot tell apart."""
    monkeypatch.setattr(spectrum, "LANCZOS_ABOVE", 100)
    monkeypatch.setattr(spectrum, "_RESTARTS", 1)
    X = np.random.default_rng(1).standard_normal((400, 8))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 30)
    matrix = K + shift * np.trace(K) / 400 * np.eye(400)
    with pytest.raises(scipy.sparse.linalg.ArpackNoConvergence):
        spectrum._lanczos(matrix)
    ends = offending_eigenvalues(matrix)
    exact = np.linalg.eigvalsh(matrix)[[0, -1]]
    if exact[0] < -1e-6 * exact[1]:
        assert ends == pytest.approx(exact)
    else:
        assert ends is None


def test_a_large_zero_matrix_has_eigenvalues_zero(monkeypatch):
    monkeypatch.setattr(spectrum, "LANCZOS_ABOVE", 10)
    assert extreme_eigenvalues(np.zeros((20, 20))) == (0.0, 0.0)
    checked, note = check_gram(np.zeros((20, 20)), "kernel 0")
    assert (note, checked.any()) == ("", False)


def test_infinite_entries_are_counted():
    matrix = np.eye(3)
    matrix[0, 2] = matrix[2, 0] = np.inf
    with pytest.raises(InputError, match=r"2 entries are infinite, first at position \(0, 2\)"):
        check_gram(matrix, "kernel 3")
    matrix[1, 1] = np.nan
    with pytest.raises(InputError, match="3 entries are NaN or infinite"):
        check_gram(matrix, "kernel 3")


def test_clip_keeps_what_is_positive():
    values = np.array([-2.0, -1.0, 3.0, 4.0])
    matrix = with_eigenvalues(values)
    clipped, note = check_gram(matrix, "kernel 0", repair="clip")
    np.testing.assert_allclose(np.linalg.eigvalsh(clipped), [0, 0, 3, 4], atol=1e-14)
    assert "2 negative eigenvalues (least -2)" in note
    with pytest.raises(InputError, match="no positive eigenvalue"):
        check_gram(-np.eye(3), "kernel 0", repair="clip")
    with pytest.raises(InputError, match="repair must be None or one of clip"):
        check_gram(matrix, "kernel 0", repair="flip")


@pytest.mark.parametrize("size", [1e-250, 1e250])
def test_no_size_makes_a_matrix_look_worse_than_it_is(size):
    good = with_eigenvalues(np.linspace(1.0, 5.0, 6)) * size
    checked, note = check_gram(good, "kernel 0")
    assert note == ""
    np.testing.assert_array_equal(checked, good)
    bad = with_eigenvalues(np.array([-2.0, 3.0, 4.0])) * size
    with pytest.raises(InputError, match=re.escape(f"eigenvalue is {-2.0 * size:.6g}, its")):
        check_gram(bad, "kernel 0")
    clipped, note = check_gram(bad, "kernel 0", repair="clip")
    assert f"(least {-2.0 * size:.6g})" in note
    np.testing.assert_allclose(np.linalg.eigvalsh(clipped / size), [0, 3, 4], atol=1e-14)


@pytest.mark.parametrize(("size", "word"), [(1e-320, "small"), (1e300, "large")])
def test_a_size_out_of_all_range_is_called_that(size, word):
    with pytest.raises(InputError, match=f"kernel 0 is too {word}: its largest entry is"):
        check_gram(size * np.eye(2), "kernel 0")
