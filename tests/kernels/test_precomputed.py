"""Matrices that a person gives: what is accepted, refused, noted."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from mkldash.errors import InputError
from mkldash.kernels.normalization import ConstantKernelWarning
from mkldash.kernels.precomputed import precomputed_bank
from tests.kernels.recipes import normal_rows
from tests.recipes import GOLDEN, golden_blocks, golden_data, golden_kernels

BAD = np.load(Path(__file__).parents[1] / "files" / "kernels_bad.npz")


def linear_gram():
    """G of case K11: XX'/trace on ten rows."""
    X = normal_rows(10)
    gram = X @ X.T
    return gram / np.trace(gram)


def test_not_semidefinite_is_refused_with_its_eigenvalue():  # K01
    with pytest.raises(ValueError, match=r"kernel 0 is not positive semidefinite.* -1, its"):
        precomputed_bank([BAD["indef"]])
    with pytest.raises(InputError, match=r"kernel 1 \('sigmoid'\) is not positive"):
        precomputed_bank([np.eye(2), BAD["indef"]], names=["identity", "sigmoid"])


def test_clipping_is_asked_for_and_reported():  # K01
    with pytest.warns(ConstantKernelWarning, match="kernel 0 is constant"):
        bank = precomputed_bank([BAD["indef"]], repair="clip")
    np.testing.assert_allclose(bank.combine([1.0]).matrix(), 1.5 * np.ones((2, 2)), atol=1e-15)
    assert bank.warnings == (
        "kernel 0 was not positive semidefinite: 1 negative eigenvalue (least -1) set to zero",
        "kernel 0 is constant: it cannot separate the classes; all points get the same decision",
    )
    assert bank.quadratic_forms([1.0, -1.0]) == pytest.approx(0.0, abs=1e-15)


def test_nan_is_refused_with_its_place():  # K03
    with pytest.raises(ValueError, match=r"kernel 1: 1 entry is NaN, first at position \(1, 4\)"):
        precomputed_bank([BAD["ok"], BAD["has_nan"]])
    assert precomputed_bank([BAD["ok"]]).n_kernels == 1


def test_lists_stacks_and_single_matrices():  # K08
    kernels = golden_kernels()
    stacked, listed = precomputed_bank(kernels), precomputed_bank(list(kernels))
    a = np.random.default_rng(0).standard_normal(20)
    np.testing.assert_array_equal(stacked.quadratic_forms(a), listed.quadratic_forms(a))
    theta = np.array(GOLDEN[0.5][1])
    np.testing.assert_array_equal(stacked.combine(theta).matrix(), listed.combine(theta).matrix())
    assert stacked.key == listed.key
    for bare in (kernels[0], kernels[0].tolist(), scipy.sparse.csr_array(kernels[0])):
        bank = precomputed_bank(bare)
        assert bank.names == ("kernel 0",)
        np.testing.assert_array_equal(bank.combine([1.0]).matrix(), kernels[0])
    with pytest.raises(ValueError, match="item 0 is itself a list of 2; concatenate"):
        precomputed_bank([[kernels[0], kernels[1]], [kernels[2], kernels[3]]])


def test_float32_and_integers_become_float64():  # D15
    kernels = golden_kernels()
    single = precomputed_bank(kernels.astype(np.float32))
    y = golden_data()[1]
    expected = precomputed_bank(kernels).quadratic_forms(y)
    np.testing.assert_allclose(single.quadratic_forms(y), expected, rtol=1e-5)
    assert single.combine(np.ones(4)).matrix().dtype == np.float64
    whole = precomputed_bank([np.array([[2, 1], [1, 2]])])
    np.testing.assert_array_equal(whole.combine([1.0]).matrix(), [[2.0, 1.0], [1.0, 2.0]])


@pytest.mark.parametrize("s", [2, 3, 5])
def test_unequal_traces_are_noted(s):  # K11
    G = linear_gram()
    bank = precomputed_bank([G, s * G])
    assert bank.warnings == (f"kernels have traces 1 and {s}: weights are not comparable",)
    np.testing.assert_array_equal(bank.scales, 1.0)
    scaled = precomputed_bank([G, s * G], normalize=True)
    assert scaled.warnings == ()
    np.testing.assert_allclose(scaled.scales, [1.0, 1 / s], rtol=1e-14)
    np.testing.assert_allclose(scaled.traces, [1.0, s], rtol=1e-14)
    u = scaled.quadratic_forms(np.arange(10.0))
    assert u[0] == pytest.approx(u[1], rel=1e-14)
    three = precomputed_bank([G, s * G, 2 * s * G])
    assert "from 1 to" in three.warnings[0]


def test_equal_traces_are_not_noted():
    assert precomputed_bank(golden_kernels()).warnings == ()
    assert precomputed_bank(7 * golden_kernels()).warnings == ()


def test_blocks_for_new_rows():  # K06
    X, y = golden_data()
    new = np.random.default_rng(7).standard_normal((5, 4))
    bank = precomputed_bank(golden_kernels())
    traces = np.trace(golden_blocks(X, X), axis1=1, axis2=2)[:, None, None]
    blocks = golden_blocks(new, X) / traces
    theta = np.array(GOLDEN[0.5][1])
    expected = np.tensordot(theta, blocks, 1) @ y
    np.testing.assert_allclose(bank.decision(blocks, theta, y), expected, rtol=1e-13)
    np.testing.assert_allclose(bank.decision(list(blocks), theta, y), expected, rtol=1e-13)
    single = bank.decision(blocks.astype(np.float32), theta, y)
    np.testing.assert_allclose(single, expected, rtol=1e-4)
    with pytest.raises(ValueError, match=r"expected \(4 kernels, n_test, 20\).*looks transposed"):
        bank.decision(blocks.transpose(0, 2, 1), theta, y)
    square = golden_blocks(new, new) / traces
    with pytest.raises(ValueError, match=r"expected \(4 kernels, n_test, 20\), got \(5, 5\)"):
        bank.decision(square, theta, y)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (np.zeros((3, 5, 20)), r"expected \(4 kernels, n_test, 20\), got shape \(3, 5, 20\)"),
        (np.zeros((5, 20)), "got shape"),
        (np.full((4, 5, 20), np.nan), r"block of kernel 1 holds nan at position \(0, 0\)"),
        ([np.zeros((5, 20))] * 3 + [np.zeros((6, 20))], r"got \(6, 20\) for kernel 3"),
        ([["a"]] * 4, "block of kernel 0 is not a matrix of numbers"),
        ([[[1.0], [1.0, 2.0]]] * 4, r"expected \(4 kernels"),
    ],
)
def test_refused_blocks(blocks, message):  # K06
    bank = precomputed_bank(golden_kernels())
    with pytest.raises(InputError, match=message):
        bank.decision(blocks, GOLDEN[1.0][1], np.ones(20))


def test_training_scales_apply_to_new_rows():
    X, y = golden_data()
    raw = golden_blocks(X, X)
    bank = precomputed_bank(0.5 * (raw + raw.transpose(0, 2, 1)), normalize=True)
    new = golden_blocks(normal_rows(5, 4), X)
    theta = np.array(GOLDEN[0.5][1])
    expected = np.tensordot(theta / np.trace(raw, axis1=1, axis2=2), new, 1) @ y
    np.testing.assert_allclose(bank.decision(new, theta, y), expected, rtol=1e-12)
    one = precomputed_bank(golden_kernels()[:1])
    np.testing.assert_array_equal(one.decision(new[0], [1.0], y), one.decision(new[:1], [1.0], y))


def test_constant_kernels_are_dropped_and_their_blocks_still_expected():  # D13, K09
    kernels = [*golden_kernels(), 0.09 * np.ones((20, 20)), np.zeros((20, 20))]
    with pytest.warns(ConstantKernelWarning, match=r"kernel 4 \(it is constant") as caught:
        bank = precomputed_bank(kernels, normalize=True)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert [kernel.name for kernel in bank.dropped] == ["kernel 4", "kernel 5"]
    assert bank.n_given == 6
    np.testing.assert_array_equal(bank.kept, [0, 1, 2, 3])
    y = golden_data()[1]
    blocks = np.array([kernel[:3] for kernel in kernels])
    expected = np.tensordot(np.ones(4), blocks[:4], 1) @ y
    np.testing.assert_allclose(bank.decision(blocks, np.ones(4), y), expected, rtol=1e-12)


def test_dropping_one_in_the_middle_keeps_the_others_right():
    kernels = golden_kernels()
    with pytest.warns(ConstantKernelWarning):
        bank = precomputed_bank([kernels[0], np.ones((20, 20)), kernels[1], kernels[2]])
    y = np.arange(20.0)
    expected = precomputed_bank(kernels[:3]).quadratic_forms(y)
    np.testing.assert_array_equal(bank.quadratic_forms(y), expected)
    np.testing.assert_array_equal(bank.kept, [0, 2, 3])


@pytest.mark.parametrize("normalize", [False, True])
def test_a_constant_kernel_alone_is_kept_and_said_to_be_useless(normalize):
    with pytest.warns(ConstantKernelWarning) as caught:
        bank = precomputed_bank([np.ones((3, 3))], ["ones"], normalize=normalize)
    said = "ones is constant: it cannot separate the classes; all points get the same decision"
    assert [str(warning.message) for warning in caught] == [said]
    assert caught[0].filename == __file__
    assert bank.warnings == (said,)
    assert bank.n_kernels == 1


def test_constant_kernels_together_are_kept_without_the_zero_ones():
    kernels = [np.ones((3, 3)), np.zeros((3, 3)), np.ones((3, 3))]
    with pytest.warns(ConstantKernelWarning) as caught:
        bank = precomputed_bank(kernels)
    assert bank.names == ("kernel 0", "kernel 2")
    assert [str(warning.message) for warning in caught] == list(bank.warnings)
    assert bank.warnings == (
        "dropped, weight 0: kernel 1 (it is zero)",
        "kernel 0, kernel 2 are constant: they cannot separate the classes; all points get the "
        "same decision",
    )


@pytest.mark.parametrize("normalize", [False, True])
def test_zero_kernels_alone_are_refused(normalize):
    with pytest.raises(InputError, match=r"kernel 0 \('nil'\) is zero: there is nothing to learn"):
        precomputed_bank([np.zeros((20, 20))], ["nil"], normalize=normalize)
    with pytest.raises(InputError, match="every kernel is zero: there is nothing to learn"):
        precomputed_bank(np.zeros((2, 3, 3)), normalize=normalize)


@pytest.mark.parametrize("size", [1e307, 1e200, 1e101, 1e-101, 1e-200, 1e-320])
def test_sizes_that_the_algorithms_cannot_take_are_refused(size):
    G = linear_gram() / linear_gram().max()
    what = "large" if size > 1 else "small"
    with pytest.raises(InputError, match=f"kernel 1 is too {what}: its largest entry is") as caught:
        precomputed_bank([G, size * G])
    assert "rescale it" in str(caught.value)
    # The remedy that is offered must work.
    if "or set normalize=True" in str(caught.value):
        bank = precomputed_bank([G, size * G], normalize=True)
        u = bank.quadratic_forms(np.arange(10.0))
        assert u[1] == pytest.approx(u[0], rel=1e-13)
        blocks = np.stack([G[:3], size * G[:3]])
        first, second = (bank.decision(blocks, theta, np.arange(10.0)) for theta in np.eye(2))
        np.testing.assert_allclose(second, first, rtol=1e-13)
    else:
        with pytest.raises(InputError, match=f"kernel 1 is too {what}.*; rescale it$"):
            precomputed_bank([G, size * G], normalize=True)


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_sizes_at_the_limits_are_taken_unchanged(size):
    G = linear_gram() / linear_gram().max() * size
    np.testing.assert_array_equal(precomputed_bank([G]).combine([1.0]).matrix(), G)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(2) * (1 + 1j), "kernel 1 has dtype complex128"),
        (np.eye(2).astype(object) * 1j, "kernel 1 has dtype object"),
        (np.array([["1", "0"], ["0", "1"]]), r"kernel 1 .* holds text \(dtype <U1\)"),
        ([["1", "0"], ["0", "1"]], r"kernel 1 .* holds text \(dtype <U1\)"),
        (np.array([["1", 0], [0, 1]], dtype=object), r"kernel 1 .* holds text \(dtype object\)"),
        (np.eye(2).astype("m8[s]"), r"kernel 1 .* holds dates \(dtype timedelta64\[s\]\)"),
    ],
)
def test_numbers_that_would_be_converted_silently_are_refused(matrix, message):
    with pytest.raises(InputError, match=message):
        precomputed_bank([np.eye(2), matrix])
    bank = precomputed_bank([np.eye(2), 2 * np.eye(2)])
    with pytest.raises(InputError, match=message.replace("kernel 1", "block of kernel 1")):
        bank.decision([np.eye(2), matrix], np.ones(2), np.ones(2))


def test_the_input_is_left_alone_and_not_kept():  # N01
    kernels = golden_kernels()
    before = kernels.copy()
    bank = precomputed_bank(kernels, normalize=True)
    matrix = bank.combine(np.ones(4)).matrix()
    np.testing.assert_array_equal(kernels, before)
    kernels[:] = 0.0
    np.testing.assert_array_equal(bank.combine(np.ones(4)).matrix(), matrix)


def test_the_key_follows_the_content():
    kernels = golden_kernels()
    key = precomputed_bank(kernels).key
    assert precomputed_bank(kernels.copy()).key == key
    assert precomputed_bank(2 * kernels).key != key
    assert precomputed_bank(kernels, normalize=True).key != key
    assert precomputed_bank(kernels, names=list("abcd")).key != key


@pytest.mark.parametrize(
    ("names", "message"), [(["a"], "1 names for 4 kernels"), (list("abca"), "named 'a'")]
)
def test_refused_names(names, message):
    with pytest.raises(InputError, match=message):
        precomputed_bank(golden_kernels(), names=names)
