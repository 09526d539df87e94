"""The baselines with polynomial kernels: values, derivatives, and what must not matter."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV

from mkldash import LearntPolynomialKernel, PolynomialRidge
from mkldash.errors import InputError, MemoryLimitError
from mkldash.estimators import regression
from mkldash.estimators.polynomial_kernel import Power, objective, projection
from mkldash.estimators.regression import PolynomialRegressor

each = pytest.mark.parametrize("kind", [PolynomialRidge, LearntPolynomialKernel])
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=25, deadline=None)


def data(seed: int = 0, rows: int = 40, features: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Raw features of unequal scales, and a target with a product in it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, features)) * (1 + np.arange(features)) + 3
    y = 5 + 2 * (X[:, 0] - 3) * (X[:, 1] - 3) + X[:, 2] + rng.standard_normal(rows)
    return X, y


def standard(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both standardised, the rows of squared length 1 on average."""
    Z = (X - X.mean(0)) / X.std(0)
    return Z / np.sqrt((Z**2).sum(1).mean()), (y - y.mean()) / y.std()


@pytest.mark.parametrize(("degree", "penalty", "growth", "weight"), [
    (1, 1.0, 1.0, 1.0), (2, 0.1, 4.0, 1.0), (3, 1.0, 4.0, 1.0), (4, 5.0, 2.0, 0.01),
])  # fmt: skip
def test_ridge_is_scikit_learns_on_the_sum_over_all_ordered_products(
    degree: int, penalty: float, growth: float, weight: float
) -> None:
    X, y = data()
    rows, target = standard(X, y)
    kernel = np.zeros((40, 40))
    words = [w for d in range(degree + 1) for w in itertools.product(range(4), repeat=d)]
    for word in words:
        column = np.prod(rows[:, list(word)], axis=1)
        kernel += weight * np.outer(column, column) / (penalty * growth ** len(word))
    model = PolynomialRidge(degree, penalty=penalty, growth=growth, weight=weight).fit(X, y)
    other = KernelRidge(alpha=1.0, kernel="precomputed").fit(kernel, target)
    np.testing.assert_allclose(model.dual_coef_, other.dual_coef_, atol=1e-11)
    expected = y.mean() + y.std() * other.predict(kernel)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-11)
    assert model.n_products_ == len(words)
    # The dual value is the primal one: loss and half the squared norm.
    fitted = kernel @ model.dual_coef_
    primal = 0.5 * ((target - fitted) ** 2).sum() + 0.5 * model.dual_coef_ @ fitted
    assert model.objective_ == pytest.approx(primal, rel=1e-12)


def test_ridge_of_degree_one_is_linear_ridge() -> None:
    X, y = data()
    new = data(1)[0]
    Z = (X - X.mean(0)) / X.std(0)
    linear = Ridge(alpha=0.3 * 4.0 * 4, fit_intercept=True).fit(Z, y)
    model = PolynomialRidge(1, penalty=0.3, growth=4.0).fit(X, y)
    # Columns and target are centred, so the penalised offset is 0, as the free one is.
    expected = linear.predict((new - X.mean(0)) / X.std(0))
    np.testing.assert_allclose(model.predict(new), expected, rtol=1e-10)


def test_ridge_on_raw_features() -> None:
    X, y = data()
    model = PolynomialRidge(2, standardize=False, growth=1.0).fit(X, y)
    s = (X**2).sum(1).mean()
    assert model.kernel_scale_ == pytest.approx(s)
    kernel = 1 + X @ X.T / s + (X @ X.T / s) ** 2
    target = (y - y.mean()) / y.std()
    expected = kernel @ np.linalg.solve(kernel + np.eye(40), target)
    np.testing.assert_allclose(model.predict(X), y.mean() + y.std() * expected, rtol=1e-10)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_the_gradient_is_that_of_finite_differences(degree: int, offset: float) -> None:
    rows, target = standard(*data(rows=25))
    mu, power = np.array([0.5, 1.0, 0.2, 2.0]), Power(degree, offset)
    at = objective(mu, rows, target, power, 0.3)
    kernel = (offset + (rows * mu) @ rows.T) ** degree
    assert at.value == pytest.approx(target @ np.linalg.solve(kernel + 0.3 * np.eye(25), target))
    differences = np.empty(4)
    for k, step in itertools.product(range(4), [1e-5]):
        ends = [
            objective(mu + sign * step * np.eye(4)[k], rows, target, power, 0.3).value
            for sign in (1, -1)
        ]
        differences[k] = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(at.gradient, differences, rtol=1e-6, atol=1e-7)
    assert (at.gradient <= 0).all()


@few
@given(seeds, st.sampled_from([0.0, 0.5, 2.0]), st.floats(0.1, 3.0))
def test_the_projection_is_the_nearest_point(seed: int, center: float, radius: float) -> None:
    rng = np.random.default_rng(seed)
    middle = center * rng.random(3)
    # What a gradient step gives: upwards, from inside.
    inside = projection(middle + rng.standard_normal(3), middle, radius)
    stepped = inside + 2 * rng.random(3)
    nearest = projection(stepped, middle, radius)
    for point in (nearest, *(projection(middle + rng.standard_normal(3), middle, radius)
                             for _ in range(50))):  # fmt: skip
        assert (point >= 0).all()
        assert np.linalg.norm(point - middle) <= radius * (1 + 1e-12)
        # No point of the set lies behind the nearest one.
        assert (stepped - nearest) @ (point - nearest) <= 1e-12


@few
@given(
    seeds,
    st.integers(1, 4),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([None, 0.7]),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_objective_never_rises_and_mu_stays_in_its_set(
    seed: int, degree: int, offset: float, center: float, radius: float | None
) -> None:
    X, y = data(seed, rows=20)
    model = LearntPolynomialKernel(
        degree, offset=offset, center=center, radius=radius, penalty=0.2, max_iter=40
    ).fit(X, y)
    assert (np.diff(model.objective_path_) <= 0).all()
    assert model.n_iter_ == max(1, len(model.objective_path_) - 1)
    assert (model.mu_ >= 0).all()
    assert np.linalg.norm(model.mu_ - center) <= (2.0 if radius is None else radius) * (1 + 1e-9)
    assert model.converged_ == (model.status_ == "converged") == (model.stationarity_ <= 1e-4)
    rows, target = standard(X, y)
    at = objective(model.mu_, rows, target, Power(degree, offset), 0.2)
    assert at.value == pytest.approx(model.objective_path_[-1], rel=1e-9)


def test_degree_one_finds_the_optimum_of_a_convex_solver() -> None:
    import cvxpy as cp

    X, y = data(rows=25)
    rows, target = standard(X, y)
    model = LearntPolynomialKernel(1, offset=0.0, penalty=0.3, radius=1.0, tol=1e-9).fit(X, y)
    # y'(K + 0.3 I)^-1 y = min over w of ||y - sum x_k w_k||^2 / 0.3 + sum w_k^2 / mu_k.
    w, mu = cp.Variable(4), cp.Variable(4)
    loss = cp.sum_squares(target - rows @ w) / 0.3
    price = sum(cp.quad_over_lin(w[k], mu[k]) for k in range(4))
    best = cp.Problem(cp.Minimize(loss + price), [mu >= 0, cp.norm(mu) <= 1.0])
    best.solve(solver=cp.CLARABEL)
    assert model.objective_path_[-1] == pytest.approx(best.value, rel=1e-6)
    np.testing.assert_allclose(model.mu_, mu.value, atol=1e-3)


def test_a_stationary_point_is_a_minimum_along_the_boundary() -> None:
    X, y = data()
    model = LearntPolynomialKernel(2, penalty=0.2, tol=1e-8, max_iter=3000).fit(X, y)
    rows, target = standard(X, y)
    rng = np.random.default_rng(0)
    for _ in range(100):
        mu = projection(model.mu_ + 0.05 * rng.standard_normal(4), np.zeros(4), 2.0)
        value = objective(mu, rows, target, Power(2, 1.0), 0.2).value
        assert value >= model.objective_path_[-1] * (1 - 1e-7)
    # The two features of the product are the ones that matter.
    assert set(np.argsort(-model.mu_)[:2]) == {0, 1}


def test_the_start_is_the_uniform_polynomial_kernel_and_the_end_predicts_better() -> None:
    X, y = data()
    with pytest.warns(ConvergenceWarning, match=r"after 1 steps .* raise max_iter \(now 1\)"):
        model = LearntPolynomialKernel(2, penalty=0.2, max_iter=1).fit(X, y)
    assert (model.status_, model.n_iter_, len(model.objective_path_)) == ("iteration_limit", 1, 2)
    rows, target = standard(X, y)
    kernel = (1 + rows @ rows.T) ** 2
    uniform = target @ np.linalg.solve(kernel + 0.2 * np.eye(40), target)
    assert model.objective_path_[0] == pytest.approx(uniform)
    new, truth = data(1, rows=200)
    learnt = LearntPolynomialKernel(2, penalty=0.2).fit(X, y).score(new, truth)
    assert learnt > KernelRidge(alpha=0.2, kernel="poly", degree=2, gamma=0.25).fit(
        (X - X.mean(0)) / X.std(0), y
    ).score((new - X.mean(0)) / X.std(0), truth)


def test_without_an_offset_a_product_kernel_has_no_main_effects() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = X[:, 0] + 0.01 * rng.standard_normal(60)
    # (sum mu_k x_k x_k')^2 is even in X: what it learns is the same at x and -x.
    settings = {"penalty": 0.1, "standardize": False, "tol": 1e-2}
    pure = LearntPolynomialKernel(2, offset=0.0, **settings).fit(X, y)
    np.testing.assert_allclose(pure.predict(X), pure.predict(-X))
    assert LearntPolynomialKernel(2, **settings).fit(X, y).score(X, y) > 0.9


@each
@few
@given(seeds, st.permutations(range(4)), st.sampled_from([-3.0, 0.01, 100.0]))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_units_and_orders_do_not_matter(
    kind: type[PolynomialRegressor], seed: int, order: list[int], unit: float
) -> None:
    X, y = data(seed)
    new = data(seed + 1)[0]
    expected = kind().fit(X, y).predict(new)
    close: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5 * np.abs(y).max()}
    np.testing.assert_allclose(kind().fit(X[:, order], y).predict(new[:, order]), expected, **close)
    np.testing.assert_allclose(kind().fit(X[::-1], y[::-1]).predict(new), expected, **close)
    np.testing.assert_allclose(
        kind().fit(unit * X + 7, y).predict(unit * new + 7), expected, **close
    )
    moved = kind().fit(X, unit * y - 50).predict(new)
    np.testing.assert_allclose((moved + 50) / unit, expected, **close)


@each
def test_score_is_the_share_of_variance_on_new_rows(kind: type[PolynomialRegressor]) -> None:
    X, y = data(rows=200)
    model = kind(penalty=0.01).fit(X[:100], y[:100])
    assert model.score(X[100:], y[100:]) == r2_score(y[100:], model.predict(X[100:])) > 0.8
    assert is_regressor(model)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    # A parameter set after the fit belongs to the next fit.
    before = model.predict(X)
    np.testing.assert_array_equal(model.set_params(degree=5).predict(X), before)
    search = GridSearchCV(kind(), {"degree": [1, 2], "penalty": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"degree": 2, "penalty": 0.01}


@each
def test_tables_of_any_kind_and_pieces_give_the_same(
    kind: type[PolynomialRegressor], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = kind().fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == list("abcd")
    expected = model.predict(frame)
    monkeypatch.setattr(regression, "_PIECE", 8 * 40 * 7)
    np.testing.assert_allclose(model.predict(frame), expected, rtol=1e-12)
    given = kind().fit(sparse.csr_matrix(X), y.tolist())
    np.testing.assert_allclose(given.predict(sparse.csr_matrix(X)), expected, rtol=1e-12)


@each
def test_fitted_attributes_are_documented(kind: type[PolynomialRegressor]) -> None:
    X, y = data()
    model = kind()
    parameters = set(vars(model))
    for name in set(vars(model.fit(X, y))) - parameters:
        assert name.startswith("_") or (name.endswith("_") and name in (kind.__doc__ or "")), name


@each
def test_constant_features_say_nothing(kind: type[PolynomialRegressor]) -> None:
    X, y = data()
    model = kind().fit(np.full((40, 2), 0.3), y)
    np.testing.assert_allclose(model.predict([[0.3, 0.3], [9.0, 9.0]]), y.mean())
    wider = np.column_stack([X, np.full(40, 0.3)])
    narrow = PolynomialRidge().fit(X, y).predict(X)
    np.testing.assert_allclose(PolynomialRidge().fit(wider, y).predict(wider), narrow)


@each
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        (np.ones(40), r"y is constant on the training rows \(1\): there is nothing to learn"),
        (np.full(40, 0.1 + 0.2), "y is constant"),
        (np.r_[np.nan, np.ones(39)], r"y holds NaN in row 0, counted from 0; drop"),
        (np.r_[np.ones(38), np.inf, np.inf], r"y holds inf in row 38 \(2 such values\)"),
        (["a"] * 40, "y holds 'a' in row 0, counted from 0, which is no number"),
        ([None, *range(39)], "y holds NaN in row 0"),
        (pd.Series([pd.NA, *range(39)], dtype="Int64"), "y holds NaN in row 0"),
        (np.arange(39), "X has 40 rows, y has 39 targets"),
        (np.ones((40, 2)), "y must hold one number for each row"),
        (np.arange(40) * 1j, "y holds complex numbers"),
        (np.r_[-1.7e308, 1.7e308 * np.ones(39)], "too far to be standardised"),
    ],
)
def test_targets_are_checked(kind: type[PolynomialRegressor], y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kind().fit(data()[0], y)


@each
@pytest.mark.parametrize("dtype", ["int8", "float32", "bool", "object", "Int64"])
def test_numbers_of_every_type_are_targets(kind: type[PolynomialRegressor], dtype: str) -> None:
    X, y = data()
    signs = pd.Series((y > y.mean()).astype(int)).astype(dtype)
    expected = kind().fit(X, (y > y.mean()).astype(float)).predict(X)
    np.testing.assert_array_equal(kind().fit(X, signs).predict(X), expected)


@each
def test_rows_are_checked(kind: type[PolynomialRegressor]) -> None:
    X, y = data()
    with pytest.raises(InputError, match="minimum of 2 is required"):
        kind().fit(X[:1], y[:1])
    model = kind().fit(X, y)
    X[3, 1] = np.nan
    for call in (lambda: kind().fit(X, y), lambda: model.predict(X)):
        with pytest.raises(InputError, match="X holds NaN in row 3, column 1"):
            call()
    frame = pd.DataFrame({"a": ["u"] * 40, "b": y})
    with pytest.raises(InputError, match=r"column 'a' holds text .*get_dummies"):
        kind().fit(frame, y)
    with pytest.raises(MemoryLimitError, match=r"learning from 40 rows takes 51,200 bytes"):
        kind(memory_limit=51_199).fit(data()[0], y)
    with pytest.raises(InputError, match="too large for inner products; set standardize=True"):
        kind(standardize=False).fit(1e200 * data()[0], y)
    steep = {"growth": 1.0} if kind is PolynomialRidge else {}
    with pytest.raises(InputError, match=r"kernel is too large .*lower degree, a larger penalty"):
        kind(degree=2000, **steep).fit(data()[0], y)


@pytest.mark.parametrize(
    ("kind", "name", "value", "allowed"),
    [
        *((kind, name, value, allowed)
          for kind in (PolynomialRidge, LearntPolynomialKernel)
          for name, value, allowed in (
              ("degree", 0, "a whole number, at least 1"),
              ("degree", 2.0, "a whole number, at least 1"),
              ("degree", True, "a whole number, at least 1"),
              ("penalty", 0, "a positive number"),
              ("penalty", np.inf, "a positive number"),
              ("standardize", "yes", "True or False"),
              ("memory_limit", 0, "a whole number of bytes"))),
        (PolynomialRidge, "growth", 0.5, "a number, at least 1"),
        (PolynomialRidge, "growth", np.nan, "a number, at least 1"),
        (PolynomialRidge, "weight", -1, "a positive number"),
        (LearntPolynomialKernel, "radius", 0, "a positive number"),
        (LearntPolynomialKernel, "offset", -1, "a number, at least 0"),
        (LearntPolynomialKernel, "tol", 0, "a positive number"),
        (LearntPolynomialKernel, "max_iter", 0, "a whole number, at least 1"),
        (LearntPolynomialKernel, "center", -1, "a number, at least 0, or one"),
        (LearntPolynomialKernel, "center", "0", "a number, at least 0, or one"),
        (LearntPolynomialKernel, "center", [[1, 2]], "a number, at least 0, or one"),
        (LearntPolynomialKernel, "center", [1, np.nan], "a number, at least 0, or one"),
    ],
)  # fmt: skip
def test_parameters_are_checked(
    kind: type[PolynomialRegressor], name: str, value: Any, allowed: str
) -> None:
    X, y = data()
    with pytest.raises(InputError, match=f"^{name} must be {allowed}"):
        kind(**{name: value}).fit(X, y)


def test_a_center_for_each_feature() -> None:
    X, y = data()
    with pytest.raises(InputError, match="center has 3 numbers, X has 4 features"):
        LearntPolynomialKernel(center=[1, 1, 1]).fit(X, y)
    one = LearntPolynomialKernel(center=[1, 1, 1, 1], radius=0.5).fit(X, y)
    other = LearntPolynomialKernel(center=1.0, radius=0.5).fit(X, y)
    np.testing.assert_array_equal(one.mu_, other.mu_)
