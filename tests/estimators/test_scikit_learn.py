"""The estimator among scikit-learn's tools."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from mkldash import (
    ElasticNetMKLClassifier,
    LearntPolynomialKernel,
    NeighborhoodKernelClassifier,
    PolynomialMKLRegressor,
    PolynomialRidge,
)
from mkldash.estimators.base import KernelClassifier
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.linear import Linear
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from tests.estimators.recipes import each_classifier, three_classes
from tests.recipes import golden_data, golden_kernels


def checks() -> Iterator[Any]:
    """Every check of scikit-learn on every estimator."""
    for name, estimator in {
        "paper": ElasticNetMKLClassifier(),
        "linear": ElasticNetMKLClassifier("linear", eta=1.0, C=10.0),
        "list": ElasticNetMKLClassifier([Gaussian(1.0), Linear()], normalize=False, eta=0.0),
        "neighborhood": NeighborhoodKernelClassifier(),
        "neighborhood-svm": NeighborhoodKernelClassifier(Linear(), rho=np.inf),
        "neighborhood-list": NeighborhoodKernelClassifier(
            [Gaussian(1.0), Linear()], rho=10.0, solver="block-coordinate"
        ),
        "polynomial ridge": PolynomialRidge(),
        "polynomial ridge, raw": PolynomialRidge(2, penalty=0.1, growth=1, standardize=False),
        "polynomial mkl": PolynomialMKLRegressor(tol=0.05),
        "polynomial mkl, ordered": PolynomialMKLRegressor(2, p=1.5, penalty=0.1, tol=0.05),
        "polynomial mkl, kernels": PolynomialMKLRegressor(
            2, kernels=[Gaussian(1.0), Linear()], standardize=False, max_iter=100
        ),
        "learnt polynomial": LearntPolynomialKernel(),
        "learnt polynomial, pure": LearntPolynomialKernel(3, offset=0.0, center=1, radius=0.5),
    }.items():
        for instance, check in estimator_checks_generator(estimator, mark=None):
            function = getattr(check, "func", check).__name__
            yield pytest.param(instance, check, id=f"{name}-{function}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::mkldash.kernels.normalization.ConstantKernelWarning",
    "ignore::mkldash.estimators.reports.UnequalTracesWarning",
)
def test_scikit_learns_own_checks(
    estimator: BaseEstimator, check: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One of the checks runs only when arrays of other libraries are let in.
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    check(estimator)


@each_classifier
def test_tags_and_type(kind: type[KernelClassifier]) -> None:
    table, given = kind(), kind("precomputed")
    assert is_classifier(table)
    assert not get_tags(table).input_tags.pairwise
    assert get_tags(given).input_tags.pairwise
    assert get_tags(table).classifier_tags.multi_class
    assert get_tags(make_pipeline(given)).input_tags.pairwise


@each_classifier
def test_a_clone_has_equal_parameters_and_the_original_keeps_its_own(
    kind: type[KernelClassifier],
) -> None:
    kernels = [Gaussian(1.0), KernelTerm(Linear(), (0, 2), "pair")]
    solver = BlockCoordinateDescent(inner_tol=1e-9)
    model = kind(kernels, eta=0.2, solver=solver)
    assert model.get_params()["kernels"] is kernels
    assert model.get_params()["solver"] is solver
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    X, y = golden_data()
    before = pickle.dumps(model.get_params())
    model.fit(X, y)
    assert pickle.dumps(model.get_params()) == before
    assert model.kernels is kernels
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


@each_classifier
def test_fitted_attributes_end_in_an_underscore(kind: type[KernelClassifier]) -> None:
    X, y = golden_data()
    model = kind("golden")
    parameters = set(vars(model))
    new = set(vars(model.fit(X, y))) - parameters
    assert all(name.endswith("_") or name.startswith("_") for name in new)
    documented = kind.__doc__ or ""
    for name in new:
        assert name.startswith("_") or name in documented, name


@each_classifier
def test_new_parameters_and_a_new_fit_equal_a_fresh_one(kind: type[KernelClassifier]) -> None:
    X, y = golden_data()
    model = kind("golden").fit(X, y)
    again = model.set_params(C=2, kernels="linear").fit(X, y)
    fresh = kind("linear", C=2).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), fresh.decision_function(X))
    assert again.upper_ == fresh.upper_


@each_classifier
@pytest.mark.parametrize("kernels", ["golden", "precomputed"])
def test_a_pickle_decides_bitwise_alike(kind: type[KernelClassifier], kernels: str) -> None:
    X, y = golden_data()
    given = golden_kernels() if kernels == "precomputed" else X
    unfitted = pickle.loads(pickle.dumps(kind(kernels, eta=0.2)))
    model = unfitted.fit(given, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(given), model.decision_function(given))
    assert copy.get_params() == model.get_params()
    assert copy.result_.status is model.result_.status


def test_a_pickle_holds_no_kernel_matrix() -> None:
    X = np.random.default_rng(0).standard_normal((300, 4))
    y = X[:, 0] > 0
    model = ElasticNetMKLClassifier("paper", storage="dense").fit(X, y)
    assert len(pickle.dumps(model)) < 65 * 300 * 301 * 4 / 10
    single = NeighborhoodKernelClassifier().fit(X, y)
    assert len(pickle.dumps(single)) < 8 * 300 * 300 / 10
    given = NeighborhoodKernelClassifier("precomputed").fit(X @ X.T, y)
    assert len(pickle.dumps(given)) < 8 * 300 * 300 / 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (ElasticNetMKLClassifier("golden"), {"mkl__eta": [0, 0.5, 1], "mkl__C": [1, 100]}),
        (
            NeighborhoodKernelClassifier(),
            {"mkl__rho": [1, 100, np.inf], "mkl__C": [1, 10], "mkl__sigma_factor": [1, 4]},
        ),
    ],
    ids=["elastic net", "neighborhood"],
)
def test_a_pipeline_with_a_grid_search_in_two_processes(
    model: KernelClassifier, grid: dict[str, list[float]]
) -> None:
    X, y = golden_data()
    pipeline = Pipeline([("scale", StandardScaler()), ("mkl", model)])
    try:
        search = GridSearchCV(pipeline, grid, cv=2, n_jobs=2, error_score="raise").fit(X, y)
    finally:
        get_reusable_executor().shutdown(wait=True)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    direct = clone(pipeline).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_allclose(
        search.decision_function(X), direct.decision_function(X), rtol=1e-12, atol=0
    )
    alone = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert alone.best_params_ == search.best_params_


@each_classifier
def test_a_warm_start_resumes_or_starts_from_the_last_weights(
    kind: type[KernelClassifier],
) -> None:
    X, y = golden_data()
    settings = {"standardize": False, "tol": 1e-9, "max_iter": 1000}
    cold = kind("golden", C=100.0, **settings).fit(X, y)
    warm = kind("golden", C=99.0, warm_start=True, **settings).fit(X, y)
    assert warm.set_params(C=100.0).fit(X, y).upper_ == pytest.approx(cold.upper_, rel=1e-8)
    assert warm.n_iter_ <= cold.n_iter_
    before = warm.n_iter_
    # The same problem goes on where it ended.
    assert warm.fit(X, y).n_iter_ == before + 1
    # Other data, other classes: nothing to go on from, and no error.
    other, labels = three_classes()
    warm.set_params(tol=1e-3)
    assert warm.fit(other, labels).weights_.shape == (3, 4)
    assert warm.fit(X[:15], y[:15]).weights_.shape == (4,)


@each_classifier
def test_a_start_that_is_good_enough_counts_as_an_iteration(kind: type[KernelClassifier]) -> None:
    X, y = golden_data()
    model = kind("golden", C=0.01, tol=0.5).fit(X, y)
    assert model.result_.iterations == 0
    assert model.n_iter_ == 1


def test_one_kernel_is_fitted_again_from_where_it_ended() -> None:
    X, y = golden_data()
    model = NeighborhoodKernelClassifier(warm_start=True, tol=1e-6).fit(X, y)
    steps = [model.n_iter_]
    decision = model.decision_function(X)
    # Long after the solver has reached rounding, and never with a warning.
    steps += [model.fit(X, y).n_iter_ for _ in range(15)]
    assert steps[1] == steps[0] + 1
    assert steps[-1] == steps[-2] > steps[1]
    assert model.status_ == "converged"
    np.testing.assert_allclose(model.decision_function(X), decision, atol=1e-2)
    # Another rho starts from the old alpha and ends at its own optimum.
    fresh = NeighborhoodKernelClassifier(rho=5.0, tol=1e-9).fit(X, y)
    model.set_params(rho=5.0, tol=1e-9).fit(X, y)
    assert model.upper_ == pytest.approx(fresh.upper_, rel=1e-8)
    np.testing.assert_allclose(model.decision_function(X), fresh.decision_function(X), atol=1e-4)


def test_the_package_gives_the_estimator_when_asked() -> None:
    import mkldash
    from mkldash import estimators

    assert mkldash.ElasticNetMKLClassifier is estimators.ElasticNetMKLClassifier
    assert mkldash.KernelStack is estimators.KernelStack
    assert mkldash.LearntPolynomialKernel is estimators.LearntPolynomialKernel
    assert mkldash.NeighborhoodKernelClassifier is estimators.NeighborhoodKernelClassifier
    assert mkldash.PolynomialMKLRegressor is estimators.PolynomialMKLRegressor
    assert mkldash.PolynomialRidge is estimators.PolynomialRidge
    with pytest.raises(AttributeError, match="no attribute 'Classifier'"):
        mkldash.Classifier  # noqa: B018
