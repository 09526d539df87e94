"""KernelStack: n samples that scikit-learn slices."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)

from mkldash import ElasticNetMKLClassifier, KernelStack, NeighborhoodKernelClassifier
from mkldash.errors import InputError
from mkldash.estimators.base import KernelClassifier
from tests.estimators.recipes import each_classifier
from tests.recipes import golden_data, golden_kernels


def test_it_looks_like_one_matrix_and_slices_all() -> None:
    kernels = golden_kernels()
    stack = KernelStack(kernels, names=["a", "b", "c", "d"])
    assert stack.shape == (20, 20)
    assert len(stack) == 20
    assert stack.n_kernels == 4
    assert stack.names == ("a", "b", "c", "d")
    rows, columns = np.array([3, 1, 4]), np.array([0, 2])
    block = stack[np.ix_(rows, columns)]
    assert block.shape == (3, 2)
    np.testing.assert_array_equal(block.to_array(), kernels[:, rows][:, :, columns])
    np.testing.assert_array_equal(stack[rows].to_array(), kernels[:, rows])
    np.testing.assert_array_equal(stack[rows, ...].to_array(), kernels[:, rows])
    np.testing.assert_array_equal(stack[rows][1:].to_array(), kernels[:, [1, 4]])
    mask = np.arange(20) < 5
    np.testing.assert_array_equal(stack[mask].to_array(), kernels[:, :5])
    np.testing.assert_array_equal(stack[rows].training().to_array(), kernels[:, rows][:, :, rows])
    np.testing.assert_array_equal(np.asarray(stack), kernels)
    assert "4 kernels, 20 rows, 20 columns" in repr(stack)


def test_slices_share_the_matrices() -> None:
    kernels = golden_kernels()
    assert np.shares_memory(KernelStack(kernels).block(0), kernels)
    assert np.shares_memory(KernelStack(list(kernels)).block(3), kernels)


@pytest.mark.parametrize(
    ("kernels", "names", "message"),
    [
        (np.zeros((2, 3, 4)), None, "square"),
        ([np.eye(3), np.eye(4)], None, r"kernel 1 has shape \(4, 4\)"),
        ([], None, "no kernel matrix"),
        ([[np.eye(3), np.eye(3)]], None, "item 0 .*list of 2"),
        ([np.eye(3)], ["a", "b"], "2 names for 1 kernels"),
        ([np.eye(3), np.eye(3)], ["a", "a"], "two kernels are named 'a'"),
    ],
)
def test_what_is_no_stack_is_refused(kernels: object, names: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        KernelStack(kernels, names)


def test_a_key_that_numbers_no_rows_is_refused() -> None:
    with pytest.raises(IndexError, match="row numbers"):
        KernelStack(golden_kernels())[["a"]]
    with pytest.raises(IndexError):
        KernelStack(golden_kernels())[[20]]


@each_classifier
def test_rows_split_off_are_fitted_and_predicted(kind: type[KernelClassifier]) -> None:
    kernels, y = golden_kernels(), golden_data()[1]
    stack = KernelStack(kernels, names=["a", "b", "c", "d"])
    train, test, y_train, y_test = train_test_split(
        stack, y, test_size=6, random_state=0, stratify=y
    )
    rows, new = train_test_split(np.arange(20), test_size=6, random_state=0, stratify=y)
    model = kind("precomputed").fit(train, y_train)
    assert model.kernel_names_ == ("a", "b", "c", "d")
    assert model.n_features_in_ == 14
    by_hand = kind("precomputed").fit(kernels[:, rows][:, :, rows], y[rows])
    expected = by_hand.decision_function(kernels[:, new][:, :, rows])
    np.testing.assert_array_equal(model.decision_function(test), expected)
    np.testing.assert_array_equal(model.decision_function(stack[np.ix_(new, rows)]), expected)
    np.testing.assert_array_equal(model.decision_function(kernels[:, new][:, :, rows]), expected)
    copied = pickle.loads(pickle.dumps((model, test)))
    np.testing.assert_array_equal(copied[0].decision_function(copied[1]), expected)
    assert model.score(test, y_test) == (by_hand.classes_[(expected > 0) * 1] == y[new]).mean()


def test_rows_in_another_order_still_find_their_columns() -> None:
    stack, y = KernelStack(golden_kernels()), golden_data()[1]
    order = np.random.default_rng(1).permutation(20)
    model = ElasticNetMKLClassifier("precomputed").fit(stack[order], y[order])
    by_hand = ElasticNetMKLClassifier("precomputed").fit(
        golden_kernels()[:, order][:, :, order], y[order]
    )
    np.testing.assert_array_equal(
        model.decision_function(stack), by_hand.decision_function(golden_kernels()[:, :, order])
    )


def test_columns_that_were_cut_off_are_named() -> None:
    stack, y = KernelStack(golden_kernels()), golden_data()[1]
    model = ElasticNetMKLClassifier("precomputed")
    with pytest.raises(InputError, match="the one of sample 10 is missing"):
        model.fit(stack[:, :10], y)
    model.fit(stack, y)
    with pytest.raises(InputError, match="training sample 5 is missing"):
        model.predict(stack[:, :5])


@each_classifier
@pytest.mark.parametrize("count", [1, 4])
def test_cross_validation_equals_a_loop_by_hand(kind: type[KernelClassifier], count: int) -> None:
    kernels, y = 20.0 * golden_kernels()[:count], golden_data()[1]
    folds = StratifiedKFold(4)
    model = kind("precomputed")
    scores = cross_val_score(model, KernelStack(kernels), y, cv=folds)
    values = cross_val_predict(model, KernelStack(kernels), y, cv=folds, method="decision_function")
    for (train, test), score in zip(folds.split(y, y), scores, strict=True):
        fitted = kind("precomputed").fit(kernels[:, train][:, :, train], y[train])
        blocks = kernels[:, test][:, :, train]
        assert score == fitted.score(blocks, y[test])
        np.testing.assert_array_equal(values[test], fitted.decision_function(blocks))


@pytest.mark.parametrize(
    ("kind", "count", "grid"),
    [
        (ElasticNetMKLClassifier, 4, {"eta": [0.0, 0.5, 1.0], "C": [1, 100]}),
        (NeighborhoodKernelClassifier, 4, {"rho": [1.0, np.inf], "eta": [0.0, 1.0]}),
        (NeighborhoodKernelClassifier, 1, {"rho": [1.0, 100.0, np.inf], "C": [1, 10]}),
    ],
)
def test_a_grid_search_slices_and_refits_on_all(
    kind: type[KernelClassifier], count: int, grid: dict[str, list[float]]
) -> None:
    kernels, y = golden_kernels()[:count], golden_data()[1]
    grid = {**grid, "normalize": [True, False]}
    search = GridSearchCV(kind("precomputed"), grid, cv=3, error_score="raise")
    search.fit(KernelStack(kernels), y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    direct = kind("precomputed", **search.best_params_).fit(kernels, y)
    np.testing.assert_allclose(
        search.decision_function(kernels), direct.decision_function(kernels), rtol=1e-12
    )
