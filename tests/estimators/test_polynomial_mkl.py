"""Regression over products: values, what must not matter, and how it explains itself."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from mkldash import LearntPolynomialKernel, PolynomialMKLRegressor, PolynomialRidge
from mkldash.datasets.cards import load
from mkldash.errors import InputError, MemoryLimitError, UnsupportedProblemError
from mkldash.estimators.interactions import Interaction
from mkldash.estimators.reports import SlowConvergenceWarning
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.linear import Linear
from mkldash.kernels.normalization import ConstantKernelWarning
from mkldash.solvers.full_gradient import FullGradient
from mkldash.solvers.mirror_descent import RandomizedMirrorDescent
from tests.estimators.test_polynomials import data, standard


def fitted(*arguments: Any, **parameters: Any) -> PolynomialMKLRegressor:
    """A model of the shared data, with the same draws every time."""
    return PolynomialMKLRegressor(*arguments, **{"random_state": 0, **parameters}).fit(*data())


def monomials(rows: np.ndarray, degree: int, *, merged: bool) -> dict[tuple[int, ...], np.ndarray]:
    """Each key and the product of its columns, without its factor rho."""
    choose = itertools.combinations_with_replacement if merged else _ordered
    keys = [key for d in range(degree + 1) for key in choose(range(rows.shape[1]), d)]
    return {key: rows[:, list(key)].prod(axis=1) for key in keys}


def _ordered(letters: range, length: int) -> Any:
    return itertools.product(letters, repeat=length)


@pytest.mark.parametrize("p", [1.0, 1.2, 4 / 3, 1.5, 2.0])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_predictions_are_the_formula_of_the_weights(p: float) -> None:
    X, y = data()
    model = fitted(2, p=p, penalty=0.5, growth=2.0, max_iter=60, tol=1e-12, solver="full-gradient")
    rows, target = standard(X, y)
    new = ((data(1)[0] - X.mean(0)) / X.std(0)) / np.sqrt(
        (((X - X.mean(0)) / X.std(0)) ** 2).sum(1).mean()
    )
    kernel, block = np.zeros((40, 40)), np.zeros((40, 40))
    train, test = (monomials(part, 2, merged=p == 1.0) for part in (rows, new))
    best = model.result_.best.weights
    for key, weight in zip(best.keys, best.values, strict=True):
        factor = weight / (0.5 * 2.0 ** len(key))
        kernel += factor * np.outer(train[key], train[key])
        block += factor * np.outer(test[key], train[key])
    a = np.linalg.solve(kernel + np.eye(40), target)
    np.testing.assert_allclose(model.dual_coef_, a, atol=1e-8)
    np.testing.assert_allclose(model.predict(data(1)[0]), y.mean() + y.std() * block @ a, rtol=1e-7)
    assert model.upper_ == pytest.approx(0.5 * target @ a, rel=1e-8)
    nu = np.inf if p == 2.0 else p / (2.0 - p)
    assert np.linalg.norm(best.values, nu) <= 1 + 1e-12
    assert model.family_size_ == 1 + 4 + 16


@pytest.mark.parametrize("penalty", [0.1, 1.0])
def test_the_bounds_hold_the_optimum_of_a_convex_solver(penalty: float) -> None:
    import cvxpy as cp

    X, y = data(rows=25)
    rows, target = standard(X, y)
    features = monomials(rows, 2, merged=True)
    table = np.stack([phi / np.sqrt(penalty * 4.0 ** len(key)) for key, phi in features.items()], 1)
    # For p = 1 the penalty is half the squared sum of the norms.
    c = cp.Variable(table.shape[1])
    best = cp.Problem(
        cp.Minimize(cp.sum_squares(target - table @ c) / 2 + cp.square(cp.norm1(c)) / 2)
    )
    best.solve(solver=cp.CLARABEL)
    model = PolynomialMKLRegressor(2, penalty=penalty, tol=0.02, random_state=0).fit(X, y)
    assert model.status_ == "converged"
    assert model.lower_ <= best.value * (1 + 1e-7)
    assert best.value <= model.upper_ * (1 + 1e-7)
    assert model.gap_ == model.upper_ / model.lower_ - 1 <= 0.02
    # Its weights are |c| over their sum.
    theta = dict(zip(features, np.abs(c.value) / np.abs(c.value).sum(), strict=True))
    exact = FullGradient(certify_every=10)
    tight = PolynomialMKLRegressor(2, penalty=penalty, tol=2e-4, max_iter=5000, solver=exact)
    learnt = tight.fit(X, y).weights_
    for key, value in theta.items():
        assert learnt.get(key, 0.0) == pytest.approx(value, abs=0.02), key


@pytest.mark.parametrize(
    ("solver", "tol"), [("box-coordinate-descent", 1e-4), ("mirror-descent", 0.05)]
)
def test_p_two_is_ridge_with_every_product_alike(solver: str, tol: float) -> None:
    X, y = data()
    model = fitted(2, p=2.0, penalty=0.3, growth=2.0, solver=solver, tol=tol, max_iter=4000)
    ridge = PolynomialRidge(2, penalty=0.3, growth=2.0, weight=1.0).fit(X, y)
    assert model.status_ == "converged"
    assert model.lower_ <= ridge.objective_ * (1 + 1e-9)
    assert ridge.objective_ <= model.upper_ * (1 + 1e-9)
    # The loss is strongly convex in the fitted values: half the squared distance is in the gap.
    away = (model.predict(X) - ridge.predict(X)) / y.std()
    assert 0.5 * away @ away <= (model.upper_ - ridge.objective_) * (1 + 1e-6)
    assert max(model.weights_.values()) == pytest.approx(1.0, abs=1e-9)
    # What was not drawn yet matters little; all of it is in the family.
    assert set(model.weights_) <= {key for d in (0, 1, 2) for key in _ordered(range(4), d)}


def known() -> tuple[pd.DataFrame, np.ndarray]:
    """The data set of which the true products are known."""
    table = load("known-products")
    return pd.DataFrame(table.X, columns=table.feature_names), table.y


@pytest.mark.parametrize("p", [1.0, 4 / 3])
def test_known_products_are_found(p: float) -> None:
    X, y = known()
    model = PolynomialMKLRegressor(p=p, random_state=0).fit(X, y)
    first, second = model.interactions_[:2]
    assert (first.product, first.degree) == ("x2 · x5", 2)
    assert (second.product, second.degree, second.orderings) == ("x3", 1, 1)
    assert first.orderings == 2
    assert model.certificate_ == "exact"
    assert model.family_size_ == 1 + 8 + 64 + 512
    assert model.kernel_names_ == tuple(X.columns)
    if p == 1.0:
        assert first.weight + second.weight == pytest.approx(1.0, abs=0.02)
        assert model.weights_[1, 4] == first.weight
    else:
        assert first.weight == model.weights_[1, 4] + model.weights_[4, 1]


def test_the_table_is_sorted_and_sums_orderings() -> None:
    model = fitted(3, p=1.3, penalty=0.1, max_iter=300, tol=0.05)
    table = model.interactions_
    assert all(isinstance(row, Interaction) for row in table)
    assert [row.weight for row in table] == sorted((row.weight for row in table), reverse=True)
    assert len({row.product for row in table}) == len(table)
    assert sum(row.orderings for row in table) == len(model.weights_)
    assert sum(row.weight for row in table) == pytest.approx(sum(model.weights_.values()))
    weights = list(model.weights_.values())
    assert weights == sorted(weights, reverse=True)
    assert all(row.degree == 0 for row in table if row.product == "offset")


def test_a_square_is_named_so_and_one_feature_is_enough() -> None:
    x = np.linspace(-2, 2, 50)[:, None]
    y = 3 * x[:, 0] ** 2 - 1
    model = PolynomialMKLRegressor(3, penalty=0.3, random_state=0).fit(x, y)
    assert model.interactions_[0][:2] == ("x0²", 2)
    assert model.score(x, y) > 0.95
    assert model.family_size_ == 4
    np.testing.assert_allclose(model.predict([[0.0], [2.0]]), [-1.0, 11.0], atol=1.5)


@pytest.mark.parametrize("unit", [-3.0, 0.01, 100.0])
@pytest.mark.parametrize("p", [1.0, 1.3])
def test_units_do_not_matter(unit: float, p: float) -> None:
    X, y = data()
    new = data(1)[0]
    plain = fitted(p=p)
    expected = plain.predict(new)
    close: dict[str, Any] = {"rtol": 1e-7, "atol": 1e-7}
    other = clone(plain).fit(unit * X + 7, y)
    np.testing.assert_allclose(other.predict(unit * new + 7), expected, **close)
    assert other.upper_ == pytest.approx(plain.upper_)
    moved = clone(plain).fit(X, unit * y - 50)
    np.testing.assert_allclose((moved.predict(new) + 50) / unit, expected, **close)
    assert moved.weights_ == pytest.approx(plain.weights_)


def test_random_state_is_the_seed() -> None:
    X, y = data()
    one, two = fitted(max_iter=100, tol=0.05), fitted(max_iter=100, tol=0.05)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    assert one.weights_ == two.weights_
    other = fitted(max_iter=100, tol=0.05, random_state=1)
    assert other.weights_ != one.weights_
    # An instance keeps its own seed, unless another is asked for.
    solver = RandomizedMirrorDescent(seed=0)
    assert fitted(tol=0.05, solver=solver, random_state=None).weights_ == one.weights_
    assert fitted(tol=0.05, solver=solver, random_state=1).weights_ == other.weights_
    assert solver == RandomizedMirrorDescent(seed=0)
    # A RandomState is drawn from at every fit, as scikit-learn does.
    model = PolynomialMKLRegressor(tol=0.05, random_state=np.random.RandomState(3))
    first, again = model.fit(X, y).weights_, model.fit(X, y).weights_
    assert first != again
    fresh = PolynomialMKLRegressor(tol=0.05, random_state=np.random.RandomState(3))
    assert fresh.fit(X, y).weights_ == first
    np.random.seed(5)  # noqa: NPY002
    unseeded = fitted(tol=0.05, random_state=None)
    np.random.seed(5)  # noqa: NPY002
    assert fitted(tol=0.05, random_state=None).weights_ == unseeded.weights_


def test_a_solver_that_draws_nothing_takes_any_random_state() -> None:
    one = fitted(2, solver="full-gradient", random_state=0, tol=0.05)
    two = fitted(2, solver="full-gradient", random_state=7, tol=0.05)
    assert one.weights_ == two.weights_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_warm_start_goes_on_where_the_last_fit_ended() -> None:
    X, y = data()
    settings: dict[str, Any] = {"penalty": 0.1, "tol": 1e-6}
    whole = fitted(max_iter=230, **settings)
    model = fitted(max_iter=130, warm_start=True, **settings)
    model.set_params(max_iter=230).fit(X, y)
    assert model.n_iter_ == whole.n_iter_ == 230
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    # Other data: its weights are only a start, and bounds begin afresh.
    model.fit(X[:30, :2], y[:30])
    fresh = clone(model).set_params(warm_start=False).fit(X[:30, :2], y[:30])
    assert model.lower_ <= fresh.upper_ * (1 + 1e-9)
    assert fresh.lower_ <= model.upper_ * (1 + 1e-9)


def test_a_list_of_kernels_is_multiplied() -> None:
    X, y = data()
    terms = [KernelTerm(Linear(), (0,), "a"), KernelTerm(Linear(), (1,), "b"), Gaussian(2.0)]
    model = fitted(2, kernels=terms, penalty=0.1)
    assert model.kernels is terms
    assert clone(model).get_params()["kernels"] is not None
    assert "'linear · a' · 'linear · b'" in {row.product for row in model.interactions_}
    assert model.family_size_ == 1 + 3 + 9
    Z = (X - X.mean(0)) / X.std(0)
    new = (data(1)[0] - X.mean(0)) / X.std(0)

    def bases(left: np.ndarray) -> list[np.ndarray]:
        return [t.kernel.gram(left[:, list(t.columns)], Z[:, list(t.columns)]) for t in
                [*terms[:2], KernelTerm(terms[2], (0, 1, 2, 3), "all")]]  # fmt: skip

    scale = sum(np.diag(base).mean() for base in bases(Z))
    block = np.zeros((40, 40))
    best = model.result_.best.weights
    for key, weight in zip(best.keys, best.values, strict=True):
        product = np.ones((40, 40))
        for letter in key:
            product *= bases(new)[letter] / scale
        block += weight / (0.1 * 4.0 ** len(key)) * product
    expected = y.mean() + y.std() * block @ model.dual_coef_
    np.testing.assert_allclose(model.predict(data(1)[0]), expected, rtol=1e-9)
    alone = fitted(2, kernels=Gaussian(2.0), penalty=0.1)
    assert alone.kernel_names_ == ("gaussian 2 · all",)


def test_linear_terms_in_a_list_are_the_default() -> None:
    X, _ = data()
    terms = [KernelTerm(Linear(), (j,), f"x{j}") for j in range(4)]
    listed, usual = fitted(2, kernels=terms), fitted(2)
    np.testing.assert_allclose(listed.predict(X), usual.predict(X), rtol=1e-6)
    assert listed.weights_ == pytest.approx(usual.weights_, rel=1e-6)


def test_a_pickle_predicts_bitwise_alike_and_holds_no_matrix() -> None:
    X, y = data(rows=300)
    model = PolynomialMKLRegressor(random_state=0, tol=0.05).fit(X, y)
    stored = pickle.dumps(model)
    assert len(stored) < 8 * 300 * 300 / 10
    copy = pickle.loads(stored)
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert copy.interactions_ == model.interactions_
    listed = PolynomialMKLRegressor(2, kernels=[Linear()], random_state=0, tol=0.05).fit(X, y)
    assert len(pickle.dumps(listed)) < 8 * 300 * 300 / 10
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(listed)).predict(X), listed.predict(X))


def test_clone_parameters_and_a_new_fit_equal_a_fresh_one() -> None:
    X, y = data()
    solver = RandomizedMirrorDescent(certify_every=20)
    model = PolynomialMKLRegressor(2, p=1.2, solver=solver, random_state=4, tol=0.05)
    assert model.get_params()["solver"] is solver
    before = pickle.dumps(model.get_params())
    assert clone(model).get_params() == model.get_params()
    assert is_regressor(model)
    model.fit(X, y)
    assert pickle.dumps(model.get_params()) == before
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    again = model.set_params(p=1.0, penalty=0.5).fit(X, y)
    fresh = PolynomialMKLRegressor(2, penalty=0.5, solver=solver, random_state=4, tol=0.05).fit(
        X, y
    )
    np.testing.assert_array_equal(again.predict(X), fresh.predict(X))


def test_fitted_attributes_are_documented() -> None:
    X, y = known()
    model = PolynomialMKLRegressor(random_state=0)
    parameters = set(vars(model))
    documented = PolynomialMKLRegressor.__doc__ or ""
    for name in set(vars(model.fit(X, y))) - parameters:
        assert name.startswith("_") or (name.endswith("_") and name in documented), name


@pytest.mark.slow
def test_a_pipeline_with_a_grid_search_in_two_processes() -> None:
    X, y = data(rows=80)
    model = PolynomialMKLRegressor(2, random_state=0, tol=0.05)
    pipeline = Pipeline([("scale", StandardScaler()), ("mkl", model)])
    grid = {"mkl__penalty": [0.1, 1.0, 10.0]}
    try:
        search = GridSearchCV(pipeline, grid, cv=3, n_jobs=2, error_score="raise").fit(X, y)
    finally:
        get_reusable_executor().shutdown(wait=True)
    assert search.best_params_ == {"mkl__penalty": 0.1}
    direct = clone(pipeline).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_allclose(search.predict(X), direct.predict(X), rtol=1e-12)
    alone = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    np.testing.assert_array_equal(
        alone.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"]
    )


def test_a_constant_feature_is_left_out_and_said() -> None:
    X, y = data()
    wider = np.insert(X, 1, 0.3, axis=1)
    with pytest.warns(ConstantKernelWarning, match="x1 is constant on the training rows") as caught:
        model = PolynomialMKLRegressor(random_state=0).fit(wider, y)
    assert len(caught) == 1
    plain = fitted()
    np.testing.assert_array_equal(model.predict(wider), plain.predict(X))
    assert model.family_size_ == plain.family_size_
    assert model.kernel_names_ == ("x0", "x1", "x2", "x3", "x4")
    moved = {tuple(j + (j > 0) for j in key): value for key, value in plain.weights_.items()}
    assert model.weights_ == moved
    assert model.notes_ == (str(caught[0].message),)
    # What it would be on new rows, nobody knows.
    changed = wider.copy()
    changed[:, 1] = 9.0
    np.testing.assert_array_equal(model.predict(changed), plain.predict(X))
    with pytest.raises(InputError, match="every feature is constant on the training rows"):
        PolynomialMKLRegressor().fit(np.ones((40, 2)), y)


def test_a_limit_is_a_warning_with_the_gap_and_what_to_do() -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        model = fitted(penalty=0.1, tol=1e-8, max_iter=60)
    assert len(caught) == 1
    assert str(caught[0].message) == (
        f"the certified relative gap is {model.gap_:.6g}, above tol=1e-08, after 60 iterations: "
        "it reached max_iter; raise max_iter (now 60), raise penalty, or accept this gap with a "
        "larger tol (now 1e-08)"
    )
    assert (model.status_, model.n_iter_) == ("iteration_limit", 60)
    with pytest.warns(ConvergenceWarning, match="the certified relative gap is inf|above tol"):
        start = fitted(max_iter=0)
    assert (start.n_iter_, start.weights_, start.interactions_) == (1, {}, ())
    X, y = data()
    np.testing.assert_allclose(start.predict(X), y.mean())


def test_a_search_that_stopped_is_said() -> None:
    # Features all but alike share every sum in equal parts, so that no sum bounds the search.
    x = np.linspace(-1.0, 1.0, 60)
    X = x[:, None] + 1e-3 * np.random.default_rng(0).standard_normal((60, 12))
    y = np.random.default_rng(3).standard_normal(60)
    model = PolynomialMKLRegressor(
        12,
        growth=1.0,
        solver=RandomizedMirrorDescent(certify_every=10, search_nodes=3),
        random_state=0,
        max_iter=20,
        tol=1e-6,
    )
    with pytest.warns(ConvergenceWarning, match=r"\(lower bound: search stopped at 3 nodes\)$"):
        model.fit(X, y)
    assert model.certificate_ == "search stopped at 3 nodes"
    assert model.family_size_ == sum(12**d for d in range(13))


def test_many_kernels_at_a_large_p_are_a_warning_before_the_first_step() -> None:
    X = np.random.default_rng(0).standard_normal((60, 12))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    said = r"p = 2 is above 4/3 and there are 1,885 kernels.*for p = 2 PolynomialRidge is"
    with pytest.warns(ConvergenceWarning) as caught:
        model = PolynomialMKLRegressor(p=2, max_iter=50, random_state=0).fit(X, y)
    assert [type(w.message) for w in caught] == [SlowConvergenceWarning, ConvergenceWarning]
    assert any("above 4/3" in note for note in model.notes_)
    with pytest.warns(SlowConvergenceWarning, match=said):
        PolynomialMKLRegressor(p=2, tol=10.0, random_state=0).fit(X, y)
    # Neither below 1,000 kernels nor at 4/3.
    PolynomialMKLRegressor(2, p=1.5, tol=0.1, random_state=0).fit(X, y)
    PolynomialMKLRegressor(p=4 / 3, tol=0.1, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"degree": 0}, "degree must be a whole number, at least 1, not 0"),
        ({"degree": 2.0}, "degree must be a whole number"),
        ({"degree": 21}, "degree must be a number from 1 to 20, not 21"),
        ({"p": 0.9}, "p must be a number from 1 to 2, not 0.9"),
        ({"p": 2.1}, "p must be a number from 1 to 2"),
        ({"p": np.nan}, "p must be a number from 1 to 2"),
        ({"p": True}, "p must be a number from 1 to 2"),
        ({"p": "1"}, "p must be a number from 1 to 2, not '1'"),
        ({"penalty": 0.0}, "penalty must be a positive number"),
        ({"growth": 0.5}, "growth must be a number, at least 1"),
        ({"penalty": 1e10, "growth": 1e150}, "penalty growth.degree leaves the range"),
        ({"tol": 0.0}, "tol must be a positive number"),
        ({"tol": None}, "tol must be a positive number, not None"),
        ({"max_iter": 1.5}, "max_iter must be a whole number"),
        ({"max_iter": -1}, "max_iter must not be negative"),
        ({"time_limit": "1"}, "time_limit must be None or a positive number of seconds"),
        ({"random_state": -1}, "random_state must be None, a whole number"),
        ({"random_state": "a"}, "random_state must be None, a whole number.*not 'a'"),
        ({"standardize": 1}, "standardize must be True or False"),
        ({"warm_start": None}, "warm_start must be True or False, not None"),
        ({"memory_limit": 0}, "memory_limit must be a whole number of bytes"),
        ({"solver": "descent"}, "solver must be one of .*mirror-descent"),
        ({"kernels": "paper"}, "kernels must be 'linear' .*not 'paper'"),
        ({"kernels": []}, "kernels must be 'linear' .*the list is empty"),
        ({"kernels": np.eye(3)}, "kernels must be 'linear' "),
        ({"kernels": ["linear"]}, "item 0 of kernels is a str, not a Kernel"),
        ({"kernels": [KernelTerm(Linear(), (9,), "far")]}, "asks for columns"),
    ],
)  # fmt: skip
def test_parameters_that_cannot_be_used_are_named(parameters: dict[str, Any], message: str) -> None:
    model = PolynomialMKLRegressor(**parameters)
    with pytest.raises(InputError, match=message):
        model.fit(*data())
    with pytest.raises(NotFittedError):
        model.predict(data()[0])


def test_solvers_for_other_problems_say_so() -> None:
    with pytest.raises(UnsupportedProblemError, match="block-coordinate takes kernels that are"):
        fitted(solver="block-coordinate")
    with pytest.raises(UnsupportedProblemError, match="box-coordinate-descent"):
        fitted(solver="box-coordinate-descent", p=1.0)


def test_too_much_memory_is_refused() -> None:
    with pytest.raises(MemoryLimitError, match="the limit is 1,000"):
        fitted(memory_limit=1000)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (None, np.full(40, 0.3), "y is constant on the training rows"),
        (None, np.r_[np.nan, np.ones(39)], "y holds NaN in row 0"),
        (np.where(np.eye(40, 4), np.nan, 1.0), None, "X holds NaN in row 0, column 0"),
        (None, ["a"] * 40, "y holds 'a' in row 0.*which is no number"),
        (np.ones((40, 0)), None, "0 feature"),
        (pd.DataFrame(np.eye(40, 2), columns=["a", "a"]), None, "unique column names"),
    ],
)
def test_data_that_cannot_be_used_are_refused(X: Any, y: Any, message: str) -> None:
    table, target = data()
    with pytest.raises(InputError, match=message):
        PolynomialMKLRegressor().fit(table if X is None else X, target if y is None else y)


@pytest.mark.parametrize("kind", [PolynomialMKLRegressor, PolynomialRidge, LearntPolynomialKernel])
def test_a_refused_fit_leaves_the_last_one(kind: type) -> None:
    X, y = data()
    model = kind().fit(pd.DataFrame(X, columns=list("abcd")), y)
    expected, before = model.predict(pd.DataFrame(X, columns=list("abcd"))), dict(vars(model))
    with pytest.raises(InputError, match="y is constant"):
        model.fit(X[:, :2], np.ones(40))
    with pytest.raises(InputError, match="too far to be standardised"):
        model.fit(X[:, :2], np.r_[-1.7e308, 1.7e308 * np.ones(39)])
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict(pd.DataFrame(X, columns=list("abcd"))), expected)
