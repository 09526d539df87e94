"""From features to a bank: scales, constant columns, refusals."""

import pickle
import warnings

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.kernels.banks import make_terms
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.building import build_bank
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.linear import Linear
from mkldash.kernels.normalization import ConstantKernelWarning, Standardizer
from mkldash.kernels.polynomial import Polynomial
from tests.kernels.recipes import naive_kernels, normal_rows, paper_terms, unit_trace
from tests.recipes import golden_data

STORAGES = ["dense", "factored"]


@pytest.mark.parametrize("storage", STORAGES)
def test_unit_trace_on_the_training_rows_and_the_same_scale_at_prediction(storage):
    X, new = normal_rows(40), normal_rows(6, seed=5)
    terms = paper_terms(3)
    bank = build_bank(X, terms, storage=storage)
    theta = np.random.default_rng(1).random(len(terms))
    a = np.random.default_rng(2).standard_normal(40)
    raw = naive_kernels(X, terms, X)
    traces = np.trace(raw, axis1=1, axis2=2)
    np.testing.assert_allclose(bank.traces, traces, rtol=1e-12)
    np.testing.assert_allclose(bank.scales, 1 / traces, rtol=1e-12)
    assert np.trace(bank.combine(theta).matrix()) == pytest.approx(theta.sum(), rel=1e-11)
    blocks = naive_kernels(new, terms, X) / traces[:, None, None]
    expected = np.tensordot(theta, blocks, 1) @ a
    np.testing.assert_allclose(bank.decision(new, theta, a), expected, rtol=1e-11)


def test_without_normalising_scales_are_one():
    X, terms = normal_rows(15), paper_terms(3)
    bank = build_bank(X, terms, normalize=False)
    np.testing.assert_array_equal(bank.scales, 1.0)
    np.testing.assert_allclose(
        bank.combine(np.ones(len(terms))).matrix(), naive_kernels(X, terms, X).sum(0), rtol=1e-12
    )


def test_golden_bank_alignments():  # S02
    X, y = golden_data()
    bank = build_bank(X, make_terms("golden", "abcd"))
    expected = (1.654200, 0.820083, 0.478826, 1.016694)
    np.testing.assert_allclose(bank.quadratic_forms(y), expected, atol=1e-6)
    assert [name.split(" · ")[0] for name in bank.names] == [
        "linear",
        "gaussian 0.707107",
        "gaussian 2.23607",
        "polynomial 2",
    ]


@pytest.mark.parametrize("storage", STORAGES)
def test_kernels_of_a_constant_column_are_dropped_with_one_warning(storage):  # K09
    X = normal_rows(20, 2)
    X = np.insert(X, 1, 0.0, axis=1)
    terms = make_terms("paper", ["size", "zero", "weight"])
    with pytest.warns(ConstantKernelWarning) as caught:
        bank = build_bank(X, terms, storage=storage)
    assert len(caught) == 1
    assert str(caught[0].message) == bank.warnings[0]
    assert caught[0].filename == __file__
    assert "column 'zero' is constant on the training rows: 13 kernels are" in bank.warnings[0]
    assert [kernel.name for kernel in bank.dropped] == [term.name for term in terms[13:26]]
    assert all("'zero'" in kernel.reason for kernel in bank.dropped)
    assert bank.n_given == 52
    np.testing.assert_array_equal(bank.kept, np.r_[0:13, 26:52])
    assert bank.names == tuple(terms[k].name for k in bank.kept)
    raw = unit_trace(naive_kernels(X, bank.terms, X))
    u = bank.quadratic_forms(X[:, 0])
    np.testing.assert_allclose(u, np.einsum("i,kij,j->k", X[:, 0], raw, X[:, 0]), rtol=1e-9)


@pytest.mark.parametrize("storage", STORAGES)
def test_a_column_of_three_tenths_is_constant_and_a_tiny_one_is_not(storage):  # D13
    X, _ = golden_data()
    wide = np.column_stack([X, np.full(20, 0.3), X[:, 0] * 1e-12])
    terms = [
        KernelTerm(Linear(), (0,), "first"),
        KernelTerm(Linear(), (4,), "three tenths"),
        KernelTerm(Polynomial(2), (4,), "three tenths"),
        KernelTerm(Gaussian(1.0), (4,), "three tenths"),
        KernelTerm(Linear(), (5,), "tiny"),
    ]
    with pytest.warns(ConstantKernelWarning, match="column 'three tenths' is constant"):
        bank = build_bank(wide, terms, storage=storage)
    np.testing.assert_array_equal(bank.kept, [0, 4])
    np.testing.assert_allclose(
        bank.combine([1.0, 0.0]).matrix(), bank.combine([0.0, 1.0]).matrix(), rtol=1e-12
    )
    with pytest.warns(ConstantKernelWarning):
        standard = build_bank(Standardizer.fit(wide).transform(wide), terms, storage=storage)
    np.testing.assert_array_equal(standard.kept, [0, 4])


def test_a_kernel_that_sees_no_difference_is_dropped_too():
    X = np.column_stack([normal_rows(10, 1), 1e-9 * normal_rows(10, 1, seed=1)])
    terms = [KernelTerm(Gaussian(64.0), (0,), "a"), KernelTerm(Gaussian(64.0), (1,), "b")]
    with pytest.warns(ConstantKernelWarning, match="some kernels are constant"):
        bank = build_bank(X, terms)
    assert bank.names == ("gaussian 64 · a",)
    assert "to rounding" in bank.dropped[0].reason


def test_only_columns_are_called_constant():
    X = np.column_stack([np.ones(6), np.zeros(6)])
    with pytest.raises(InputError) as caught:
        build_bank(X, make_terms("linear", ["x0", "x1"]))
    assert "columns 'x0', 'x1' are constant on the training rows: 3 kernels" in str(caught.value)
    wide = np.column_stack([normal_rows(6, 1), X])
    with pytest.warns(ConstantKernelWarning, match=r"^columns 'b', 2 are constant") as warned:
        bank = build_bank(
            wide,
            [
                KernelTerm(Linear(), (0,), "a"),
                KernelTerm(Linear(), (1,), "b"),
                KernelTerm(Linear(), (1, 2), "b and c"),
            ],
        )
    assert [kernel.reason for kernel in bank.dropped] == [
        "column 'b' is constant on the training rows",
        "columns 'b', 2 are constant on the training rows",
    ]
    assert warned[0].filename == __file__
    with pytest.raises(InputError, match="column 0 is constant"):
        build_bank(np.ones((5, 1)), [KernelTerm(Linear(), (0,), "all")])


@pytest.mark.parametrize("storage", ["dense", "factored"])
def test_a_column_that_underflows_is_not_called_constant(storage):
    X = np.column_stack([normal_rows(10, 1), 1e-300 * normal_rows(10, 1, seed=1)])
    with pytest.warns(ConstantKernelWarning) as caught:
        bank = build_bank(X, make_terms("linear", ["a", "b"]), storage=storage)
    said = "column 'b' is too small: the kernel underflows; standardise or rescale"
    assert [kernel.reason for kernel in bank.dropped] == [said]
    assert str(caught[0].message) == bank.warnings[0]
    assert bank.warnings[0].startswith(said)
    assert "constant" not in bank.warnings[0]


def test_widths_that_agree_to_six_digits_are_told_apart():
    widths = (0.5, 0.1234567, 0.1234568, 0.1234567, 1.0, 1.0000001)
    terms = [KernelTerm(Gaussian(width), (0, 1, 2), "all") for width in widths]
    bank = build_bank(normal_rows(10), terms)
    assert bank.names == (
        "gaussian 0.5 · all",
        "gaussian 0.1234567 · all",
        "gaussian 0.1234568 · all",
        "gaussian 0.1234567 · all (2)",
        "gaussian 1 · all",
        "gaussian 1.0000001 · all",
    )


@pytest.mark.parametrize("storage", ["dense", "factored"])
def test_one_kernel_may_be_given_twice(storage):  # K12
    terms = [KernelTerm(Linear(), (0, 1, 2), "all")] * 3
    bank = build_bank(normal_rows(10), terms, storage=storage)
    assert bank.names == ("linear · all", "linear · all (2)", "linear · all (3)")
    u = bank.quadratic_forms(np.arange(10.0))
    np.testing.assert_array_equal(u, u[0])


def test_a_feature_may_be_called_like_the_second_of_two():
    twice = [KernelTerm(Linear(), (0,), "a")] * 2
    bank = build_bank(normal_rows(10), [*twice, KernelTerm(Linear(), (1,), "a (2)")])
    assert bank.names == ("linear · a", "linear · a (3)", "linear · a (2)")


def test_nothing_left_is_an_error():
    with pytest.raises(InputError, match=r"no kernel is left.*column 'x0' is constant"):
        build_bank(np.ones((5, 1)), make_terms("linear", ["x0"])[:1])


def test_no_warning_without_a_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bank = build_bank(normal_rows(10), paper_terms(3))
    assert bank.dropped == bank.warnings == ()


def test_the_key_follows_the_content():
    X, terms = normal_rows(20), paper_terms(3)
    key = build_bank(X, terms).key
    assert build_bank(X.copy(), list(terms)).key == key
    others = [
        build_bank(X + 1e-12, terms),
        build_bank(X, terms[:-1]),
        build_bank(X, terms[::-1]),
        build_bank(X, terms, normalize=False),
        build_bank(X, terms, storage="factored"),
        build_bank(X, terms, storage="factored", residual=1e-6),
    ]
    keys = {key, *(bank.key for bank in others)}
    assert len(keys) == len(others) + 1


def test_the_input_is_copied_and_left_alone():
    X, terms = normal_rows(20), paper_terms(3)
    before = X.copy()
    bank = build_bank(X, terms)
    a = np.ones(20)
    expected = bank.decision(before, np.ones(52), a)
    np.testing.assert_array_equal(X, before)
    X[:] = 0.0
    np.testing.assert_array_equal(bank.decision(before, np.ones(52), a), expected)


@pytest.mark.parametrize("storage", STORAGES)
def test_a_pickled_bank_answers_bitwise_alike(storage):
    X, terms = normal_rows(20), paper_terms(3)
    bank = build_bank(X, terms, storage=storage)
    copy = pickle.loads(pickle.dumps(bank))
    theta, a = np.random.default_rng(0).random(52), np.random.default_rng(1).standard_normal(20)
    np.testing.assert_array_equal(copy.decision(X, theta, a), bank.decision(X, theta, a))
    np.testing.assert_array_equal(copy.quadratic_forms(a), bank.quadratic_forms(a))
    assert not copy.scales.flags.writeable
    assert copy.key == bank.key


def test_integers_and_float32_are_promoted():  # D15
    X = np.round(10 * normal_rows(20))
    terms = paper_terms(3)
    expected = build_bank(X, terms)
    for other in (X.astype(np.int64), X.astype(np.float32), X.tolist()):
        bank = build_bank(other, terms)
        assert bank.key == expected.key
        np.testing.assert_array_equal(
            bank.quadratic_forms(X[:, 0]), expected.quadratic_forms(X[:, 0])
        )


@pytest.mark.parametrize(
    ("X", "terms", "options", "message"),
    [
        (normal_rows(5), [], {}, "at least one kernel"),
        (normal_rows(1), paper_terms(3), {}, "at least two training rows"),
        (normal_rows(5, 2), paper_terms(3), {}, r"asks for columns \(2,\), X has 2"),
        (
            normal_rows(5),
            [KernelTerm(Gaussian(1.0), (k,), "a") for k in (0, 1)],
            {},
            "two kernels on different columns are named 'gaussian 1 · a'; rename a feature",
        ),
        (normal_rows(5), paper_terms(3), {"storage": "sparse"}, "storage must be one of"),
        (normal_rows(5), paper_terms(3), {"residual": 1.0}, r"residual must be in \[0, 1\)"),
        (1e200 * normal_rows(5), paper_terms(3), {}, "overflows; standardise"),
        (
            1e200 * normal_rows(5),
            paper_terms(3),
            {"storage": "factored"},
            "overflows; standardise",
        ),
        ([[0.0], [np.inf]], paper_terms(1), {}, "inf in row 1, column 0"),
    ],
)
def test_refusals(X, terms, options, message):
    with pytest.raises(InputError, match=message):
        build_bank(X, terms, **options)


def test_wrong_new_rows_are_refused():
    bank = build_bank(normal_rows(5), paper_terms(3))
    with pytest.raises(InputError, match="new rows have 2 columns, the training rows 3"):
        bank.decision(normal_rows(5, 2), np.ones(52), np.ones(5))


def test_wrong_lengths_are_refused():
    bank = build_bank(normal_rows(5), paper_terms(3))
    with pytest.raises(ValueError, match=r"theta must have shape \(52,\)"):
        bank.combine(np.ones(51))
    with pytest.raises(ValueError, match=r"a must have shape \(5,\)"):
        bank.quadratic_forms(np.ones(6))
