"""Certified and derived values, through the estimator."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from mkldash import ElasticNetMKLClassifier
from mkldash.estimators.reports import UnequalTracesWarning
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.linear import Linear
from mkldash.kernels.normalization import ConstantKernelWarning
from mkldash.kernels.polynomial import Polynomial
from tests.estimators.recipes import (
    GOLDEN_OBJECTIVE,
    T8,
    T8_LABELS,
    T8_OBJECTIVE,
    T8_THETA,
    exact,
    scaled_pair,
    three_classes,
)
from tests.recipes import GOLDEN, golden_blocks, golden_data, golden_kernels

SHARP = (math.sqrt(5) - 1) / 2


def test_default_parameters_are_the_papers() -> None:
    parameters = ElasticNetMKLClassifier().get_params()
    assert parameters["kernels"] == "paper"
    assert parameters["eta"] == 0.5
    assert parameters["C"] == 100.0
    assert parameters["tol"] == 1e-3
    assert parameters["max_iter"] == 500
    assert parameters["solver"] == "block-coordinate"
    assert parameters["time_limit"] is None


@pytest.mark.parametrize("eta", sorted(GOLDEN))
@pytest.mark.parametrize("kernels", ["golden", "precomputed"])
def test_golden(kernels: str, eta: float) -> None:
    X, y = golden_data()
    given = golden_kernels() if kernels == "precomputed" else X
    model = exact(kernels, eta=eta, standardize=False).fit(given, y)
    objective, theta = GOLDEN[eta]
    assert model.lower_ <= objective * (1 + 1e-6)
    assert model.upper_ == pytest.approx(objective, rel=1e-6)
    np.testing.assert_allclose(model.weights_, theta, atol=1e-4)
    assert model.status_ == "converged"
    assert model.gap_ <= 1e-9
    assert model.upper_ / model.lower_ - 1 == pytest.approx(model.gap_, abs=1e-15)


@pytest.mark.parametrize(
    "coding",
    [(0, 1), (1, 2), ("bad", "good"), (False, True), (-1.0, 1.0), (7, 3)],
    ids=str,
)
@pytest.mark.parametrize("swap", [False, True], ids=["straight", "swapped"])
def test_every_coding_of_the_labels_gives_the_same_fit(coding: tuple, swap: bool) -> None:
    X, signs = golden_data()
    low, high = coding[::-1] if swap else coding
    y = np.where(signs > 0, high, low)
    model = exact("golden", standardize=False).fit(X, y)
    assert model.upper_ == pytest.approx(GOLDEN_OBJECTIVE, rel=1e-6)
    np.testing.assert_allclose(model.weights_, GOLDEN[0.5][1], atol=1e-4)
    assert model.classes_.tolist() == sorted(coding)
    assert model.classes_.dtype == y.dtype
    predicted = model.predict(X)
    assert predicted.dtype == y.dtype
    decision = model.decision_function(X)
    np.testing.assert_array_equal(predicted == model.classes_[1], decision > 0)
    straight = exact("golden", standardize=False).fit(X, signs).decision_function(X)
    flip = -1.0 if model.classes_[1] == low else 1.0
    np.testing.assert_allclose(decision, flip * straight, atol=1e-5)


def test_one_against_the_rest_equals_the_binary_fits() -> None:
    X, y = three_classes()
    kernels = [Gaussian(width) for width in (0.1, 1.0, 10.0)]
    model = exact(kernels, C=10.0).fit(X, y)
    assert model.weights_.shape == (3, 3)
    assert model.classes_.tolist() == ["a", "b", "c"]
    decision = model.decision_function(X)
    assert decision.shape == (30, 3)
    for k, label in enumerate("abc"):
        binary = exact(kernels, C=10.0).fit(X, y == label)
        assert binary.weights_.shape == (3,)
        np.testing.assert_allclose(model.weights_[k], binary.weights_, atol=1e-6)
        np.testing.assert_allclose(decision[:, k], binary.decision_function(X), atol=1e-8)
        assert model.upper_[k] == pytest.approx(binary.upper_, rel=1e-9)
        assert model.status_[k] == binary.status_ == "converged"
    np.testing.assert_array_equal(model.predict(X), model.classes_[decision.argmax(axis=1)])
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.intercept_.shape == model.gap_.shape == model.n_iter_.shape == (3,)
    assert model.score(X, y) > 0.8


def test_given_blocks_predict_with_the_training_traces() -> None:
    X, y = golden_data()
    new = np.random.default_rng(7).standard_normal((5, 4))
    raw, blocks = golden_blocks(X, X), golden_blocks(new, X)
    raw = 0.5 * (raw + raw.transpose(0, 2, 1))
    expected = (-0.221366, -0.091480, 1.156419, -1.011693, -0.715371)
    traces = np.trace(raw, axis1=1, axis2=2)[:, None, None]
    divided = exact().fit(raw / traces, y)
    np.testing.assert_allclose(divided.decision_function(blocks / traces), expected, atol=1e-4)
    assert divided.intercept_ == pytest.approx(-0.408554, abs=1e-4)
    normalized = exact(normalize=True).fit(raw, y)
    np.testing.assert_allclose(normalized.decision_function(blocks), expected, atol=1e-4)
    table = exact("golden", standardize=False).fit(X, y)
    np.testing.assert_allclose(table.decision_function(new), expected, atol=1e-4)


def test_given_matrices_are_used_as_they_are_unless_asked() -> None:
    kernels, y = golden_kernels() * 7.0, golden_data()[1]
    model = exact(C=100 / 7).fit(kernels, y)
    assert model.upper_ == pytest.approx(43.669242, rel=1e-6)
    np.testing.assert_allclose(model.weights_, GOLDEN[0.5][1], atol=1e-4)
    assert exact(normalize=True).fit(kernels, y).upper_ == pytest.approx(GOLDEN_OBJECTIVE, rel=1e-6)


def test_a_list_and_a_stack_agree_bitwise_and_a_bare_matrix_is_one_kernel() -> None:
    kernels, y = golden_kernels(), golden_data()[1]
    stacked, listed = exact().fit(kernels, y), exact().fit(list(kernels), y)
    np.testing.assert_array_equal(stacked.weights_, listed.weights_)
    np.testing.assert_array_equal(stacked.dual_coef_, listed.dual_coef_)
    assert stacked.upper_ == listed.upper_ == pytest.approx(GOLDEN_OBJECTIVE, rel=1e-6)
    single = exact().fit(kernels[0], y)
    assert single.weights_.tolist() == [1.0]
    np.testing.assert_array_equal(
        single.decision_function(kernels[0]), single.decision_function(kernels[:1])
    )


@pytest.mark.parametrize(
    ("eta", "scale", "theta"),
    [
        (0.5, 2.0, ((math.sqrt(2) - 1) / 2, math.sqrt(2) - 0.5)),
        (0.5, 5.0, (0.0, 1.0)),
        (0.0, 3.0, (1 / math.sqrt(10), 3 / math.sqrt(10))),
        (1.0, 2.0, (0.0, 1.0)),
    ],
)
def test_without_normalisation_the_scale_decides(
    eta: float, scale: float, theta: tuple[float, float]
) -> None:
    kernels, y = scaled_pair(scale)
    note = f"kernels have traces 1 and {scale:g}: weights are not comparable"
    with pytest.warns(UnequalTracesWarning, match=note):
        # The objective is flat in theta: at a gap of 1e-9 they are still 1.0005e-4 apart.
        model = exact(eta=eta, C=10.0, tol=1e-11).fit(kernels, y)
    np.testing.assert_allclose(model.weights_, theta, atol=1e-4)
    assert note in model.notes_[0]


def test_unequal_traces_of_features_are_noted_too() -> None:
    X, y = golden_data()
    with pytest.warns(UnequalTracesWarning, match="normalize=True scales every kernel"):
        model = ElasticNetMKLClassifier("golden", normalize=False).fit(X, y)
    assert "weights are not comparable" in model.notes_[0]
    # Kernels scaled together and cut to a fold differ a little; that is no news.
    rows = np.arange(3, 20)
    fold = ElasticNetMKLClassifier("precomputed").fit(
        golden_kernels()[:, rows][:, :, rows], y[rows]
    )
    assert "weights are not comparable" in fold.notes_[0]


def test_at_the_pruning_edge_the_weights_come_within_a_thousandth() -> None:
    kernels, y = scaled_pair(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UnequalTracesWarning)
        model = exact(C=10.0).fit(kernels, y)
    np.testing.assert_allclose(model.weights_, (0.0, 1.0), atol=1e-3)


def test_unit_traces_make_equal_kernels_equal() -> None:
    kernels, y = scaled_pair(5.0)
    model = exact(C=10.0, normalize=True).fit(kernels, y)
    np.testing.assert_allclose(model.weights_, SHARP, atol=1e-6)
    assert model.notes_ == ()


@pytest.mark.parametrize(
    ("eta", "weight", "objective"),
    [(0.5, SHARP, 32.628692), (0.0, math.sqrt(0.5), 31.483208), (1.0, None, 34.750302)],
)
def test_identical_kernels_share(eta: float, weight: float | None, objective: float) -> None:
    kernels, y = scaled_pair(1.0)
    model = exact(eta=eta, C=10.0).fit(kernels, y)
    assert model.upper_ == pytest.approx(objective, rel=1e-6)
    if weight is None:
        assert model.weights_.sum() == pytest.approx(1.0, abs=1e-6)
    else:
        np.testing.assert_allclose(model.weights_, weight, atol=1e-6)
    constraint = eta * model.weights_.sum() + (1 - eta) * (model.weights_**2).sum()
    assert constraint == pytest.approx(1.0, abs=1e-9)
    single = exact(eta=eta, C=10.0).fit(kernels[:1], y)
    assert single.weights_.tolist() == [1.0]
    assert single.upper_ == pytest.approx(34.750302, rel=1e-6)


def test_t8_and_its_constant_column() -> None:
    plain = exact("linear").fit(T8, T8_LABELS)
    assert plain.upper_ == pytest.approx(T8_OBJECTIVE, rel=1e-6)
    np.testing.assert_allclose(plain.weights_, T8_THETA, atol=1e-4)
    frame = pd.DataFrame({"size": T8[:, 0], "zero": 0.0, "weight": T8[:, 1]})
    with pytest.warns(ConstantKernelWarning) as caught:
        model = exact("linear").fit(frame, T8_LABELS)
    assert len(caught) == 1
    assert "'zero' is constant" in str(caught[0].message)
    assert caught[0].filename == __file__
    with pytest.warns(ConstantKernelWarning) as caught:
        make_pipeline(exact("linear")).fit(frame, T8_LABELS)
    assert caught[0].filename == __file__
    assert model.kernel_names_ == (
        "linear · size",
        "linear · zero",
        "linear · weight",
        "linear · all",
    )
    assert model.upper_ == pytest.approx(T8_OBJECTIVE, rel=1e-6)
    assert model.weights_[1] == 0.0
    np.testing.assert_allclose(model.weights_[[0, 2, 3]], T8_THETA, atol=1e-4)
    assert [kernel.name for kernel in model.dropped_] == ["linear · zero"]
    frame["zero"] = 5.0
    np.testing.assert_allclose(model.decision_function(frame), plain.decision_function(T8))


def golden_terms() -> list[KernelTerm]:
    kernels = (Linear(), Gaussian(math.sqrt(0.5)), Gaussian(math.sqrt(5.0)), Polynomial(2))
    return [KernelTerm(kernel, (0, 1, 2, 3), "all") for kernel in kernels]


def test_a_constant_with_a_computed_deviation_gets_weight_zero() -> None:
    X, y = golden_data()
    X = np.column_stack([X, np.full(20, 0.3)])
    assert X[:, 4].std() > 0.0
    terms = [*golden_terms(), KernelTerm(Linear(), (4,), "null")]
    with pytest.warns(ConstantKernelWarning, match="'null' is constant"):
        model = exact(terms, standardize=False).fit(X, y)
    assert model.upper_ == pytest.approx(GOLDEN_OBJECTIVE, rel=1e-6)
    assert model.weights_[4] == 0.0
    terms.insert(0, terms.pop())
    with pytest.warns(ConstantKernelWarning, match="'null' is constant"):
        first = exact(terms, standardize=True).fit(X, y)
    assert first.weights_[0] == 0.0
    assert (first.weights_[1:] > 0.0).any()


def test_a_tiny_column_is_no_constant() -> None:
    X, y = golden_data()
    tiny = X.copy()
    tiny[:, 0] *= 1e-12
    big, small = exact("linear").fit(X, y), exact("linear").fit(tiny, y)
    assert small.dropped_ == ()
    assert small.upper_ == pytest.approx(big.upper_, rel=1e-9)
    np.testing.assert_allclose(small.weights_, big.weights_, atol=1e-6)


def test_float32_kernels_are_promoted() -> None:
    kernels, y = golden_kernels().astype(np.float32), golden_data()[1]
    model = exact().fit(kernels, y)
    assert model.upper_ == pytest.approx(GOLDEN_OBJECTIVE, rel=1e-6)
    np.testing.assert_allclose(
        model.decision_function(golden_kernels()), model.decision_function(kernels), atol=1e-4
    )


def test_every_type_of_table_may_be_fitted_and_predicted() -> None:
    X, y = golden_data()
    whole = np.round(10 * X).astype(np.int64)
    csr = sparse.csr_matrix(whole)
    frame = pd.DataFrame(whole, columns=list("abcd"))
    reference = ElasticNetMKLClassifier("golden").fit(whole, y)
    expected = reference.decision_function(whole)
    models = {
        "float64": ElasticNetMKLClassifier("golden").fit(whole.astype(float), y),
        "csr": ElasticNetMKLClassifier("golden").fit(csr, y),
        "csc": ElasticNetMKLClassifier("golden").fit(sparse.csc_array(whole), y),
        "float32": ElasticNetMKLClassifier("golden").fit(whole.astype(np.float32), y),
        "list": ElasticNetMKLClassifier("golden").fit(whole.tolist(), y.tolist()),
        "frame": ElasticNetMKLClassifier("golden").fit(frame, pd.Series(y)),
    }
    for name, model in models.items():
        np.testing.assert_array_equal(model.weights_, reference.weights_, err_msg=name)
        assert model.upper_ == reference.upper_, name
        new = frame if name == "frame" else whole
        np.testing.assert_array_equal(model.decision_function(new), expected, err_msg=name)
    for new in (csr, whole.astype(np.float32), whole.tolist()):
        np.testing.assert_array_equal(reference.decision_function(new), expected)
    assert models["frame"].feature_names_in_.tolist() == list("abcd")


def test_sparse_kernel_matrices_are_taken() -> None:
    kernels, y = golden_kernels(), golden_data()[1]
    csr = [sparse.csr_matrix(kernel) for kernel in kernels]
    model = exact().fit(csr, y)
    np.testing.assert_array_equal(model.weights_, exact().fit(kernels, y).weights_)
    np.testing.assert_array_equal(model.decision_function(csr), model.decision_function(kernels))


def test_a_repair_is_opt_in() -> None:
    indefinite = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match=r"kernel 0 is not positive semidefinite.* -1,"):
        exact(C=5.0).fit([indefinite], [1, -1])
    with pytest.warns(ConstantKernelWarning, match="kernel 0 is constant"):
        model = exact(C=5.0, repair="clip").fit([indefinite], [1, -1])
    assert model.upper_ == pytest.approx(10.0, rel=1e-6)
    assert "set to zero" in model.notes_[0]


@pytest.mark.parametrize("storage", ["dense", "factored"])
def test_both_storages_give_the_same_optimum(storage: str) -> None:
    X, y = golden_data()
    model = exact("golden", standardize=False, storage=storage, tol=1e-7).fit(X, y)
    assert model.upper_ == pytest.approx(GOLDEN_OBJECTIVE, rel=1e-6)


def test_attributes_tell_the_decision_function() -> None:
    X, y = golden_data()
    model = ElasticNetMKLClassifier("golden", standardize=False).fit(X, y)
    kernels = golden_kernels()[:, :, model.support_]
    by_hand = np.tensordot(model.weights_, kernels, axes=1) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), by_hand, atol=1e-10)
    assert (np.abs(model.dual_coef_) <= 100.0).all()
    assert model.dual_coef_.sum() == pytest.approx(0.0, abs=1e-9)
    assert model.n_features_in_ == 4
    assert model.result_.best.objective == model.upper_
    assert model.n_iter_ == model.result_.iterations > 0


def test_a_single_feature_is_enough() -> None:
    model = exact("linear").fit(T8[:, :1], T8_LABELS)
    assert model.kernel_names_ == ("linear · x0", "linear · all")
    # Both kernels are x x': they share as identical kernels do.
    np.testing.assert_allclose(model.weights_, SHARP, atol=1e-6)


def test_only_support_rows_and_live_kernels_are_kept_and_read() -> None:
    X, y = golden_data()
    kernels = golden_kernels()
    model = ElasticNetMKLClassifier("precomputed", eta=1.0).fit(kernels, y)
    blocks = kernels.copy()
    blocks[model.weights_ == 0.0] = np.nan
    outside = np.setdiff1d(np.arange(20), model.support_)
    assert (model.weights_ == 0.0).any()
    np.testing.assert_array_equal(model.decision_function(blocks), model.decision_function(kernels))
    table = ElasticNetMKLClassifier("golden", eta=1.0, standardize=False).fit(X, y)
    assert len(table._model.predictor.X) == len(table.support_) == 20 - len(outside)
    assert len(table._model.predictor.terms) == (table.weights_ > 0.0).sum() < 4


@pytest.mark.parametrize(
    ("dtype", "kind"), [("Int64", "i"), ("UInt8", "u"), ("boolean", "b"), ("Float64", "f")]
)
def test_labels_of_nullable_dtypes_keep_their_kind(dtype: str, kind: str) -> None:
    X, y = golden_data()
    labels = pd.Series((y > 0).astype(int)).astype(dtype)
    model = ElasticNetMKLClassifier("golden").fit(X, labels)
    assert model.classes_.dtype.kind == kind
    assert model.classes_.tolist() == [0, 1]
    assert model.predict(X).dtype == model.classes_.dtype
    labels[3] = pd.NA
    with pytest.raises(ValueError, match="in row 3, counted from 0; drop that row"):
        ElasticNetMKLClassifier("golden").fit(X, labels)


def test_k12_from_features() -> None:
    X = np.random.default_rng(0).standard_normal((10, 3))
    y = scaled_pair(1.0)[1]
    model = exact([Linear(), Linear()], C=10.0, standardize=False).fit(X, y)
    assert model.kernel_names_ == ("linear · all", "linear · all (2)")
    assert model.upper_ == pytest.approx(32.628692, rel=1e-6)
    np.testing.assert_allclose(model.weights_, (math.sqrt(5) - 1) / 2, atol=1e-6)
