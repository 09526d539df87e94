"""Bad input is refused before solving, with the place and a remedy."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from mkldash import ElasticNetMKLClassifier, KernelStack, NeighborhoodKernelClassifier
from mkldash.errors import InputError, MemoryLimitError
from mkldash.estimators.base import KernelClassifier
from mkldash.estimators.checks import refuse_text
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.linear import Linear
from mkldash.kernels.normalization import ConstantKernelWarning
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from tests.estimators.recipes import (
    T8,
    T8_LABELS,
    T8_OBJECTIVE,
    each_classifier,
    exact,
    exact_of,
    three_classes,
)
from tests.recipes import golden_blocks, golden_data, golden_kernels

COLOURS = ["red", "blue", "red", "blue", "red", "blue", "red", "blue"]


def coloured(dtype: str) -> pd.DataFrame:
    frame = pd.DataFrame({"size": T8[:, 0], "colour": COLOURS, "weight": T8[:, 1]})
    if dtype == "bool":
        frame["colour"] = frame["colour"] == "red"
    else:
        frame["colour"] = frame["colour"].astype(dtype)
    return frame


@each_classifier
@pytest.mark.parametrize("dtype", ["object", "string", "category", "str", "bool"])
def test_text_in_a_frame_is_named_for_every_dtype(kind: type[KernelClassifier], dtype: str) -> None:
    values = "'False', 'True'" if dtype == "bool" else "'blue', 'red'"
    with pytest.raises(InputError) as caught:
        kind("linear").fit(coloured(dtype), T8_LABELS)
    assert str(caught.value) == (
        f"column 'colour' holds text or categories, not numbers ({values}): one-hot encode it "
        "(pandas.get_dummies(X, columns=['colour'], dtype=float)), or leave it out"
    )


def test_the_remedies_for_text_work() -> None:
    frame = coloured("object")
    model = exact("linear").fit(frame.drop(columns="colour"), T8_LABELS)
    assert model.upper_ == pytest.approx(T8_OBJECTIVE, rel=1e-6)
    encoded = pd.get_dummies(frame, columns=["colour"], dtype=float)
    assert exact("linear").fit(encoded, T8_LABELS).n_features_in_ == 4


@pytest.mark.parametrize(
    "X",
    [
        pytest.param(np.array([[1, "red"], [2, "blue"]], dtype=object), id="object"),
        pytest.param(np.array([[1, 2], [3, "red"]], dtype=object), id="mixed"),
    ],
)
def test_text_in_an_array_is_named_by_position(X: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"column 1 holds text .*'red'"):
        ElasticNetMKLClassifier("linear").fit(X, [0, 1])


def test_numbers_of_every_frame_dtype_are_no_text() -> None:
    frame = pd.DataFrame(
        {
            "object": pd.Series([1, 2.5], dtype=object),
            "Int64": pd.Series([1, 2], dtype="Int64"),
            "float32": pd.Series([1, 2], dtype="float32"),
            "missing": pd.Series([1, None], dtype=object),
        }
    )
    refuse_text(frame)
    frame["when"] = pd.to_datetime(["2019-01-01", "2020-01-01"])
    with pytest.raises(InputError, match=r"column 'when' .*2019"):
        refuse_text(frame)


@each_classifier
@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_missing_values_are_named_with_their_place(
    kind: type[KernelClassifier], value: float, name: str
) -> None:
    X, y = golden_data()
    model = kind().fit(X, y)
    X[7, 2] = value
    message = f"X holds {name} in row 7, column 2, counted from 0"
    with pytest.raises(InputError, match=message):
        kind().fit(X, y)
    with pytest.raises(InputError, match=message):
        model.predict(X)
    frame = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(InputError, match=f"X holds {name} in row 7, column 'c'"):
        kind().fit(frame, y)
    X[9, 1] = np.nan
    with pytest.raises(InputError, match=r"row 7, column 2 \(2 such values\)"):
        kind().fit(sparse.csr_matrix(X), y)


@each_classifier
def test_labels_are_checked(kind: type[KernelClassifier]) -> None:
    X, y = golden_data()
    model = kind("golden")
    with pytest.raises(InputError, match="X has 20 rows, y has 19 labels"):
        model.fit(X, y[:-1])
    with pytest.raises(InputError, match="X has 20 rows, y has 21 labels"):
        kind("precomputed").fit(golden_kernels(), np.append(y, 1.0))
    with pytest.raises(InputError, match="only class 'yes' found, two needed"):
        model.fit(X, ["yes"] * 20)
    with pytest.raises(InputError, match="only class 1 found, two needed"):
        kind("precomputed").fit(golden_kernels(), np.ones(20, dtype=int))
    with pytest.raises(InputError, match="requires y to be passed"):
        model.fit(X, None)
    gap = y.copy()
    gap[3] = np.nan
    with pytest.raises(InputError, match="y holds nan in row 3"):
        model.fit(X, gap)
    words = np.where(y > 0, "b", "a").astype(object)
    words[5] = None
    with pytest.raises(InputError, match="y holds None in row 5"):
        model.fit(X, words)
    with pytest.raises(InputError, match="Unknown label type"):
        model.fit(X, np.linspace(0.1, 2.3, 20))
    with pytest.raises(InputError, match="one label for each row"):
        model.fit(X, np.column_stack([y, y]))
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit(X, y, sample_weight=np.ones(20))


@each_classifier
def test_other_columns_at_prediction_are_refused(kind: type[KernelClassifier]) -> None:
    X, y = golden_data()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = kind("golden").fit(frame, y)
    with pytest.raises(InputError, match=r"X has 3 features, but .* is expecting 4 features"):
        kind("golden").fit(X, y).predict(X[:, :3])
    with pytest.raises(InputError, match="feature names should match"):
        model.predict(frame[list("abdc")])


@each_classifier
def test_matrices_and_tables_are_told_apart(kind: type[KernelClassifier]) -> None:
    X, y = golden_data()
    with pytest.raises(InputError, match="set kernels='precomputed'"):
        kind().fit(golden_kernels(), y)
    with pytest.raises(InputError, match="kernel 0 must be a square matrix"):
        exact_of(kind).fit(X, y)
    with pytest.raises(InputError, match="kernels='precomputed'"):
        kind().fit(KernelStack(golden_kernels()), y)
    with pytest.raises(InputError, match="matrices go into fit, with kernels='precomputed'"):
        kind(golden_kernels()).fit(X, y)


@each_classifier
def test_complex_matrices_are_refused_however_they_come(kind: type[KernelClassifier]) -> None:
    kernels, y = golden_kernels(), golden_data()[1]
    message = "Complex data not supported: kernel 1 has dtype complex128"
    with pytest.raises(InputError, match=message):
        exact_of(kind).fit([kernels[0], kernels[1] + 0j], y)
    with pytest.raises(InputError, match=message.replace("kernel 1", "kernel 0")):
        exact_of(kind).fit(kernels + 0j, y)
    with pytest.raises(InputError, match=message):
        KernelStack([kernels[0], kernels[1] + 0j])
    model = exact_of(kind).fit(kernels[:1], y)
    with pytest.raises(InputError, match="Complex data not supported: block of kernel 0"):
        model.predict(kernels[:1] + 0j)


def test_nested_lists_of_kernels_are_refused() -> None:
    kernels, y = golden_kernels(), golden_data()[1]
    nested = [[kernels[0], kernels[1]], [kernels[2], kernels[3]]]
    with pytest.raises(InputError, match=r"item 0 .* list of 2.*concatenate"):
        exact().fit(nested, y)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((4, 5, 5), r"expected \(4 kernels, n_test, 20\).*test-by-test"),
        ((4, 20, 5), r"expected \(4 kernels, n_test, 20\).*transposed"),
        ((3, 5, 20), r"expected \(4 kernels, n_test, 20\), got shape \(3, 5, 20\)|got 3 blocks"),
        ((5, 20), r"expected \(4 kernels, n_test, 20\)"),
    ],
)
@each_classifier
def test_blocks_of_the_wrong_shape_are_refused(
    kind: type[KernelClassifier], shape: tuple[int, ...], message: str
) -> None:
    model = kind("precomputed").fit(golden_kernels(), golden_data()[1])
    with pytest.raises(InputError, match=message):
        model.predict(np.zeros(shape))


def test_a_value_missing_in_a_block_that_counts_is_named() -> None:
    X, y = golden_data()
    model = exact().fit(golden_kernels(), y)
    blocks = golden_blocks(X[:3], X)
    blocks[1, 2, 4] = np.nan
    with pytest.raises(InputError, match=r"kernel 1 holds nan at position \(2, 4\)"):
        model.predict(blocks)


@each_classifier
def test_a_value_missing_in_a_training_matrix_is_named(kind: type[KernelClassifier]) -> None:
    kernels = golden_kernels()
    kernels[1, 1, 4] = kernels[1, 4, 1] = np.nan
    with pytest.raises(InputError, match=r"kernel 1: 2 entries .*\(1, 4\)"):
        exact_of(kind).fit(kernels, golden_data()[1])
    with pytest.raises(InputError, match=r"kernel 0: 2 entries .*\(1, 4\)"):
        exact_of(kind).fit(kernels[1], golden_data()[1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernels": "papper"}, "kernels='papper' is no bank; there are gaussian, golden"),
        ({"kernels": []}, "at least one kernel"),
        ({"kernels": [Linear(), "gaussian"]}, "item 1 of kernels is a str"),
        ({"kernels": 3}, "kernels must name a bank"),
        ({"C": 0}, "C must be a positive number"),
        ({"tol": -1.0}, "tol must be a positive number"),
        ({"max_iter": -1}, "max_iter must not be negative"),
        ({"time_limit": 0.0}, "time_limit must be positive"),
        ({"normalize": "yes"}, "normalize must be True, False or 'auto'"),
        ({"storage": "sparse"}, "storage must be one of"),
        ({"solver": "newton"}, "solver must be one of .*block-coordinate"),
        ({"solver": []}, r"solver must be one of .*, or a Solver instance, not \[\] of type list"),
        ({"solver": BlockCoordinateDescent}, "or a Solver instance, not .* of type"),
        ({"tol": "x"}, "tol must be a positive number, not 'x'"),
        ({"tol": None}, "tol must be a positive number, not None"),
        ({"C": "x"}, "C must be a positive number, not 'x'"),
        ({"max_iter": None}, "max_iter must be a whole number, at least 0, not None"),
        ({"max_iter": "a"}, "max_iter must be a whole number, at least 0, not 'a'"),
        ({"max_iter": 1.5}, "max_iter must be a whole number, at least 0, not 1.5 of type float"),
        ({"max_iter": True}, "max_iter must be a whole number, at least 0, not True of type bool"),
        ({"time_limit": "a"}, "time_limit must be None or a positive number of seconds, not 'a'"),
        ({"memory_limit": None}, "memory_limit must be a whole number of bytes, .*, not None"),
        ({"memory_limit": "1GB"}, "memory_limit must be a whole number of bytes, .*, not '1GB'"),
        ({"memory_limit": -1}, "memory_limit must be a whole number of bytes"),
        ({"standardize": "a"}, "standardize must be True or False, not 'a'"),
        ({"warm_start": "x"}, "warm_start must be True or False, not 'x'"),
        ({"normalize": 5}, "normalize must be True, False or 'auto', not 5 of type int"),
        ({"repair": "x"}, "repair must be None or 'clip', not 'x'"),
        ({"storage": None}, "storage must be one of 'auto', 'dense', 'factored', not None"),
    ],
    ids=str,
)
@each_classifier
def test_parameters_are_checked_in_fit(
    kind: type[KernelClassifier], parameters: dict[str, Any], message: str
) -> None:
    refused(kind(**parameters), message)


def refused(model: KernelClassifier, message: str) -> None:
    X, y = golden_data()
    with pytest.raises(InputError, match=message):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"eta": 1.5}, "eta must lie between 0 and 1"),
        ({"eta": None}, "eta must lie between 0 and 1, not None"),
        ({"eta": True}, "eta must lie between 0 and 1, not True of type bool"),
        ({"solver": "auto"}, r"solver must be one of (?!auto).*block-coordinate, .* not 'auto'"),
        (
            {"kernels": "single"},
            r"kernels='single' .* belongs to NeighborhoodKernelClassifier; .*Gaussian\(width\)",
        ),
        ({"kernels": "sngle"}, "there are gaussian, golden, linear, paper, 'precomputed'"),
        (
            {"kernels": "golden", "solver": "shifted-svm"},
            "learns no kernel weights, .* 4 kernels; take one kernel, or block-coordinate",
        ),
    ],
    ids=str,
)
def test_parameters_of_elastic_net(parameters: dict[str, Any], message: str) -> None:
    refused(ElasticNetMKLClassifier(**parameters), message)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rho": 0}, r"rho must be a positive number \(inf: a plain support .*\), not 0 of type"),
        ({"rho": -1.0}, "rho must be a positive number .* not -1.0 of type float"),
        ({"rho": np.nan}, "rho must be a positive number .* not nan"),
        ({"rho": -np.inf}, "rho must be a positive number .* not -inf"),
        ({"rho": "big"}, "rho must be a positive number .* not 'big'"),
        ({"rho": None}, "rho must be a positive number .* not None"),
        ({"rho": True}, "rho must be a positive number .* not True of type bool"),
        ({"sigma_factor": 0.0}, "sigma_factor must be a positive number, not 0.0 of type float"),
        ({"sigma_factor": -4}, "sigma_factor must be a positive number, not -4"),
        ({"sigma_factor": np.nan}, "sigma_factor must be a positive number, not nan"),
        ({"sigma_factor": np.inf}, "sigma_factor must be a positive number, not inf"),
        ({"sigma_factor": "4"}, "sigma_factor must be a positive number, not '4'"),
        ({"sigma_factor": True}, "sigma_factor must be a positive number, not True"),
        ({"sigma_factor": 1e308}, "sigma must be a positive number, not inf"),
        ({"kernels": "sngle"}, "there are gaussian, golden, linear, paper, single, 'precomputed'"),
        ({"kernels": "golden", "eta": 1.5}, "eta must lie between 0 and 1"),
        ({"kernels": "golden", "eta": "x"}, "eta must lie between 0 and 1, not 'x'"),
        (
            {"kernels": "golden", "solver": "shifted-svm"},
            "learns no kernel weights, .* 4 kernels; take one kernel, or block-coordinate",
        ),
        ({"solver": "newton"}, r"solver must be one of auto, .*block-coordinate"),
        ({"memory_limit": 20}, r"needs 4.88 kB .*Ways out: a subsample of the rows, or a higher"),
    ],
    ids=str,
)
def test_parameters_of_the_neighborhood(parameters: dict[str, Any], message: str) -> None:
    refused(NeighborhoodKernelClassifier(**parameters), message)


def test_an_eta_that_nothing_uses_is_not_looked_at() -> None:
    X, y = golden_data()
    plain = NeighborhoodKernelClassifier().fit(X, y)
    other = NeighborhoodKernelClassifier(eta=7).fit(X, y)
    assert other.upper_ == plain.upper_
    with pytest.raises(InputError, match="eta must lie"):
        NeighborhoodKernelClassifier("precomputed", eta=7).fit(golden_kernels(), y)
    NeighborhoodKernelClassifier("precomputed", eta=7).fit(golden_kernels()[0], y)


def test_a_bad_eta_is_refused_before_the_kernels_are_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def built(*_: object, **__: object) -> None:
        raise AssertionError("the kernels were built")

    monkeypatch.setattr("mkldash.estimators.base.build_bank", built)
    refused(NeighborhoodKernelClassifier("paper", eta=2.0), "eta must lie between 0 and 1")


@pytest.mark.parametrize("standardize", [True, False])
def test_rows_that_are_all_the_same_have_no_width(standardize: bool) -> None:
    X, y = np.tile([0.3, 2.0], (20, 1)), golden_data()[1]
    model = NeighborhoodKernelClassifier(standardize=standardize)
    with pytest.raises(InputError, match=r"training rows are the same.*take other columns or more"):
        model.fit(X, y)
    with pytest.warns(ConstantKernelWarning, match="is constant: it cannot separate"):
        NeighborhoodKernelClassifier(Gaussian(1.0), standardize=standardize).fit(X, y)


def test_a_single_given_matrix_is_checked_like_several() -> None:
    y = golden_data()[1]
    K = golden_kernels()[1]
    model = NeighborhoodKernelClassifier("precomputed")
    skew = K.copy()
    skew[0, 1] += 1.0
    with pytest.raises(InputError, match=r"kernel 0 is not symmetric: entries \(0, 1\)"):
        model.fit(skew, y)
    with pytest.raises(InputError, match="kernel 0 is not positive semidefinite"):
        model.fit(-K, y)
    with pytest.raises(InputError, match="kernel 0 is zero"):
        model.fit(0 * K, y)
    with pytest.raises(InputError, match=r"'mine'.* not positive semidefinite"):
        model.fit(KernelStack([-K], names=["mine"]), y)
    with pytest.raises(MemoryLimitError, match=r"3,200 bytes \(1 kernel of 20 rows, a full square"):
        NeighborhoodKernelClassifier("precomputed", memory_limit=3199).fit(K, y)
    NeighborhoodKernelClassifier("precomputed", memory_limit=3200).fit(K, y)
    bent = K - 0.5 * np.eye(20) / 20
    repaired = NeighborhoodKernelClassifier("precomputed", repair="clip").fit(bent, y)
    assert "set to zero" in repaired.notes_[0]


@pytest.mark.parametrize("item", [5, None, "abc"])
def test_what_is_no_list_of_matrices_is_no_stack(item: Any) -> None:
    with pytest.raises(InputError, match=r"must be an array .* or a list of"):
        KernelStack(item)


def test_numbers_of_numpy_are_numbers_too() -> None:
    X, y = golden_data()
    plain = ElasticNetMKLClassifier("golden", tol=0.5, max_iter=3, memory_limit=10**6)
    other = ElasticNetMKLClassifier(
        "golden",
        tol=np.float32(0.5),
        max_iter=np.int64(3),
        memory_limit=1e6,
        standardize=np.True_,
        normalize=np.True_,
    )
    np.testing.assert_array_equal(other.fit(X, y).weights_, plain.fit(X, y).weights_)


def test_kernels_that_do_not_fit_in_memory_are_refused_before_they_are_built() -> None:
    n = 20_000
    X = np.random.default_rng(0).standard_normal((n, 2))
    y = np.arange(n) % 2
    model = ElasticNetMKLClassifier([Gaussian(w) for w in range(1, 101)], storage="dense")
    tracemalloc.start()
    try:
        with pytest.raises(MemoryLimitError) as caught:
            model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "320,000,000,000 bytes" in str(caught.value)
    assert peak < 50 * 2**20
    many = KernelStack(np.broadcast_to(np.zeros((n, n), dtype=np.float32), (100, n, n)))
    with pytest.raises(MemoryLimitError, match=r"160,008,000,000 bytes \(100 kernels of 20000"):
        ElasticNetMKLClassifier("precomputed").fit(many, y)


def test_a_sparse_table_too_large_to_be_dense_is_refused() -> None:
    X = sparse.eye_array(4000, 200_000, format="csr")
    model = ElasticNetMKLClassifier([Linear()])
    with pytest.raises(MemoryLimitError, match="6,400,000,000 bytes when dense"):
        model.fit(X, np.arange(4000) % 2)


def test_a_stalled_single_kernel_is_not_told_of_another_solver() -> None:
    X, y = golden_data()
    model = NeighborhoodKernelClassifier(tol=1e-16, C=100.0)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    assert model.status_ == "stalled"
    said = str(caught[0].message)
    assert "it stalled, the bounds no longer moved; lower C, or accept this gap" in said
    assert "BlockCoordinateDescent" not in said


def test_a_limit_is_reported_with_the_gap_a_reason_and_a_remedy() -> None:
    X, y = golden_data()
    model = ElasticNetMKLClassifier("golden", tol=1e-12, max_iter=2)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert str(caught[0].message) == (
        f"the certified relative gap is {model.gap_:.6g}, above tol=1e-12, after 2 iterations: it "
        "reached max_iter; raise max_iter (now 2), or accept this gap with a larger tol "
        "(now 1e-12)"
    )
    assert model.status_ == "iteration_limit"
    assert model.gap_ > 1e-12
    assert model.predict(X).shape == (20,)
    model.set_params(max_iter=500, time_limit=1e-9)
    with pytest.warns(
        ConvergenceWarning, match=r"reached time_limit; raise time_limit \(now 1e-09"
    ):
        model.fit(X, y)
    assert model.status_ == "time_limit"


def test_a_stall_is_reported() -> None:
    X, y = golden_data()
    model = ElasticNetMKLClassifier(
        "golden", tol=1e-15, max_iter=5000, solver=BlockCoordinateDescent(inner_tol=1e-2)
    )
    with pytest.warns(ConvergenceWarning, match="it stalled.*inner tolerance"):
        model.fit(X, y)
    assert model.status_ == "stalled"


def test_a_limit_names_the_class_that_met_it() -> None:
    X, y = three_classes()
    model = ElasticNetMKLClassifier("gaussian", tol=1e-12, max_iter=1)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    assert len(caught) == 1
    lines = str(caught[0].message).splitlines()
    assert len(lines) == model.status_.count("iteration_limit") > 0
    assert lines[0].startswith("class 'a' against the rest: the certified relative gap is ")
