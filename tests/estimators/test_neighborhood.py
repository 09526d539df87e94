"""The neighborhood classifier: values, what predicts, what is scaled, and its attributes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.svm import SVC

from mkldash import ElasticNetMKLClassifier, KernelStack, NeighborhoodKernelClassifier
from mkldash.errors import InputError
from mkldash.estimators import base
from mkldash.estimators.reports import UnequalTracesWarning
from mkldash.kernels import spectrum
from mkldash.kernels.banks import mean_squared_distance
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.linear import Linear
from mkldash.kernels.square import SquareBank, given_square
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers import available_solvers
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.shifted_svm import ShiftedSVM
from tests.estimators.recipes import exact, exact_neighborhood, scaled_pair, three_classes
from tests.recipes import golden_data, golden_kernels
from tests.solvers.test_shifted import S10


def golden_rbf() -> tuple[np.ndarray, np.ndarray]:
    """exp(-|x - x'|^2) of GOLDEN, not scaled, and labels."""
    X, y = golden_data()
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1)), y


def whole(model: Any) -> np.ndarray:
    """y * alpha on the twenty rows, in their order."""
    a = np.zeros(20)
    a[model.support_] = model.dual_coef_.ravel()
    return a


@pytest.fixture
def problems(monkeypatch: pytest.MonkeyPatch) -> list[Problem]:
    """The problems that are solved from here on."""
    seen: list[Problem] = []
    solve = base.solve

    def spy(solver: Any, problem: Problem, **options: Any) -> Any:
        seen.append(problem)
        return solve(solver, problem, **options)

    monkeypatch.setattr(base, "solve", spy)
    return seen


def test_default_parameters_are_the_papers() -> None:
    parameters = NeighborhoodKernelClassifier().get_params()
    assert parameters["kernels"] == "single"
    assert parameters["rho"] == 100.0
    assert parameters["C"] == 1.0
    assert parameters["sigma_factor"] == 4.0
    assert parameters["eta"] == 0.5
    assert parameters["solver"] == "auto"
    assert parameters["tol"] == 1e-3
    assert parameters["max_iter"] == 500


@pytest.mark.parametrize(("rho", "value", "square"), S10)
@pytest.mark.parametrize("solver", ["auto", "block-coordinate", ShiftedSVM(factor=0.5)], ids=str)
def test_s10_values(rho: float, value: float, square: float, solver: Any) -> None:
    K, y = golden_rbf()
    model = exact_neighborhood(rho=rho, solver=solver).fit(K, y)
    assert 2 * model.upper_ == pytest.approx(value, abs=1e-6)
    assert 2 * model.lower_ == pytest.approx(value, abs=1e-6)
    assert model.status_ == "converged"
    # ||alpha||^2 is settled to about the root of the gap.
    assert 2 * rho * model.shift_ == pytest.approx(square, abs=1e-3)
    assert model.weights_.tolist() == [1.0]


@pytest.mark.parametrize("rho", [1e12, np.inf])
@pytest.mark.parametrize("C", [1.0, 30.0])
def test_without_a_penalty_it_is_the_support_vector_machine(rho: float, C: float) -> None:
    K, y = golden_rbf()
    model = exact_neighborhood(rho=rho, C=C).fit(K, y)
    svc = SVC(kernel="precomputed", C=C, tol=1e-9).fit(K, y)
    np.testing.assert_allclose(whole(model), whole(svc), atol=1e-5)
    np.testing.assert_allclose(
        model.decision_function(K), svc.decision_function(K), rtol=0, atol=1e-5
    )
    assert model.shift_ == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(model.rank_one_, 0.0, atol=1e-4)


def test_the_bias_comes_from_the_learnt_kernel_and_predictions_from_the_given_one() -> None:
    K, y = golden_rbf()
    model = exact_neighborhood(rho=1.0, tol=1e-10).fit(K, y)
    a = model.rank_one_ * math.sqrt(2.0 * 1.0)
    np.testing.assert_allclose(a, whole(model), atol=1e-12)
    learnt = K + np.outer(model.rank_one_, model.rank_one_)
    free = (np.abs(a) > 1e-6) & (np.abs(a) < 1.0 - 1e-6)
    assert free.sum() >= 5
    biases = (y - learnt @ a)[free]
    assert np.ptp(biases) < 1e-6
    assert model.intercept_ == pytest.approx(biases.mean(), abs=1e-6)
    assert np.ptp((y - K @ a)[free]) > 0.01
    # The training rows, predicted as new ones, have no rank-one part.
    decision = model.decision_function(K)
    np.testing.assert_allclose(decision, K @ a + model.intercept_, atol=1e-12)
    assert np.abs(decision - (learnt @ a + model.intercept_)).max() > 0.1
    X = golden_data()[0]
    table = exact_neighborhood(Gaussian(math.sqrt(0.5)), rho=1.0, tol=1e-10, standardize=False)
    np.testing.assert_allclose(table.fit(X, y).decision_function(X), decision, atol=1e-9)


def test_the_shift_is_that_of_a_support_vector_machine() -> None:
    K, y = golden_rbf()
    model = exact_neighborhood(rho=1.0, tol=1e-10).fit(K, y)
    assert model.shift_ == pytest.approx(model.rank_one_ @ model.rank_one_, rel=1e-12)
    svc = SVC(kernel="precomputed", C=1.0, tol=1e-9).fit(K + model.shift_ * np.eye(20), y)
    np.testing.assert_allclose(whole(model), whole(svc), atol=1e-5)


@pytest.mark.parametrize("standardize", [True, False])
def test_sigma_follows_the_rows_as_the_kernel_sees_them(standardize: bool) -> None:
    X, y = golden_data()
    X = X * [1.0, 10.0, 1.0, 0.1] + 3.0
    model = exact_neighborhood("single", sigma_factor=2.5, standardize=standardize, rho=5.0)
    model.fit(X, y)
    seen = (X - X.mean(axis=0)) / X.std(axis=0) if standardize else X
    mean = ((seen[:, None] - seen[None]) ** 2).sum(-1).mean()
    assert model.sigma_ == pytest.approx(2.5 * mean, rel=1e-12)
    if standardize:
        assert model.sigma_ == pytest.approx(2.5 * 2 * 4, rel=1e-12)
    width = math.sqrt(model.sigma_ / 2)
    same = exact_neighborhood(Gaussian(width), standardize=standardize, rho=5.0).fit(X, y)
    np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))
    assert same.sigma_ is None
    K = np.exp(-((seen[:, None] - seen[None]) ** 2).sum(-1) / model.sigma_)
    given = exact_neighborhood(rho=5.0).fit(K, y)
    assert given.upper_ == pytest.approx(model.upper_, rel=1e-8)
    assert given.sigma_ is None


def test_one_kernel_is_not_scaled_and_several_have_trace_n(problems: list[Problem]) -> None:
    X, y = golden_data()
    several = [Gaussian(1.0), Linear()]

    def bank(kernels: Any, data: Any, **options: Any) -> Any:
        problems.clear()
        NeighborhoodKernelClassifier(kernels, **options).fit(data, y)
        return problems[0].bank

    single = bank("single", X)
    assert isinstance(single, SquareBank)
    np.testing.assert_array_equal(single.combine([1.0]).matrix().diagonal(), 1.0)
    linear = bank([Linear()], 3 * X, standardize=False)
    np.testing.assert_allclose(linear.combine([1.0]).matrix(), 9 * X @ X.T, atol=1e-12)
    scaled = bank(Linear(), X, normalize=True)
    assert scaled.combine([1.0]).matrix().trace() == pytest.approx(20.0)
    for normalize in ("auto", True):
        both = bank(several, X, normalize=normalize)
        np.testing.assert_allclose(both.traces * both.scales, 20.0)
    raw = bank([Gaussian(1.0), Gaussian(3.0)], X, normalize=False)
    np.testing.assert_array_equal(raw.scales, 1.0)
    kernels = golden_kernels()
    given = bank("precomputed", kernels)
    np.testing.assert_array_equal(given.scales, 1.0)
    for count in (1, 4):
        full = bank("precomputed", kernels[:count], normalize=True)
        np.testing.assert_allclose(full.traces * full.scales, 20.0)


@pytest.mark.parametrize("kernels", ["single", [Gaussian(1.0), Linear()]], ids=["one", "two"])
def test_every_storage_gives_the_same_optimum(kernels: Any) -> None:
    X, y = golden_data()
    settings = {"rho": 3.0, "tol": 1e-7}
    usual = exact_neighborhood(kernels, **settings).fit(X, y)
    for storage in ("dense", "factored"):
        model = exact_neighborhood(kernels, storage=storage, **settings).fit(X, y)
        assert model.upper_ == pytest.approx(usual.upper_, rel=1e-6)
        np.testing.assert_allclose(
            model.decision_function(X), usual.decision_function(X), atol=1e-3
        )


def test_a_large_given_matrix_is_not_copied(
    problems: list[Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spectrum, "LANCZOS_ABOVE", 10)
    K, y = golden_rbf()
    before = K.copy()
    NeighborhoodKernelClassifier("precomputed").fit(K, y)
    NeighborhoodKernelClassifier("precomputed").fit(KernelStack(K), y)
    for problem in problems:
        assert np.shares_memory(problem.bank.combine(np.ones(1)).matrix(), K)
    np.testing.assert_array_equal(K, before)


def test_the_usual_solver_follows_the_number_of_kernels() -> None:
    X, y = golden_data()

    def solver(kernels: Any, data: Any = X, **options: Any) -> str:
        model = NeighborhoodKernelClassifier(kernels, **options).fit(data, y)
        return model.result_.last.origin.solver

    assert solver("single") == "shifted-svm"
    assert solver([Linear()]) == "shifted-svm"
    assert solver("precomputed", golden_kernels()[:1]) == "shifted-svm"
    assert solver("golden") == "block-coordinate"
    assert solver("precomputed", golden_kernels()) == "block-coordinate"
    assert solver("single", solver="block-coordinate") == "block-coordinate"
    assert solver("golden", solver=BlockCoordinateDescent(inner_tol=1e-8)) == "block-coordinate"


def squared_losses_only() -> set[str]:
    """Solvers that no classifier can use."""
    X, y = golden_data()
    given = Problem(given_square(X @ X.T), y, Squared(), NormBall(math.inf))
    return {name for name, kind in available_solvers().items() if kind().supports(given) is None}


@pytest.mark.parametrize("solver", sorted(squared_losses_only()))
def test_a_solver_for_regression_is_refused_with_its_reason(solver: str) -> None:
    X, y = golden_data()
    with pytest.raises(InputError, match="is for the squared loss, not for hinge"):
        NeighborhoodKernelClassifier(solver=solver).fit(X, y)


def weights_to_learn_only() -> set[str]:
    """Solvers for the hinge loss that have nothing to do when the weight is fixed."""
    X, y = golden_data()
    given = Problem(given_square(X @ X.T), y, Hinge(1.0), Fixed((1.0,)), 2.0)
    refusing = {n for n, kind in available_solvers().items() if kind().supports(given) is not None}
    return refusing - squared_losses_only()


@pytest.mark.parametrize("solver", sorted(weights_to_learn_only()))
def test_a_solver_without_a_kernel_weight_to_learn_is_refused(solver: str) -> None:
    X, y = golden_data()
    with pytest.raises(InputError, match="learns the kernel weights, and here they are fixed"):
        NeighborhoodKernelClassifier(rho=2.0, solver=solver).fit(X, y)


@pytest.mark.parametrize(
    "solver", sorted(set(available_solvers()) - squared_losses_only() - weights_to_learn_only())
)
def test_every_solver_may_be_named(solver: str) -> None:
    X, y = golden_data()
    usual = exact_neighborhood("single", rho=2.0).fit(X, y)
    model = NeighborhoodKernelClassifier(rho=2.0, solver=solver, max_iter=5000).fit(X, y)
    assert model.result_.last.origin.solver == solver
    assert model.lower_ <= usual.upper_ * (1 + 1e-9)
    assert usual.upper_ * (1 - 1e-8) <= model.upper_ <= usual.upper_ * (1 + 1e-3)


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
def test_with_several_kernels_and_no_penalty_it_is_elastic_net_mkl(eta: float) -> None:
    kernels, y = 20.0 * golden_kernels(), golden_data()[1]
    near = exact_neighborhood(rho=np.inf, eta=eta, C=5.0).fit(kernels, y)
    plain = exact(eta=eta, C=5.0).fit(kernels, y)
    assert near.upper_ == pytest.approx(plain.upper_, rel=1e-8)
    np.testing.assert_allclose(near.weights_, plain.weights_, atol=1e-4)


def test_several_kernels_with_a_penalty_are_one_kernel_at_their_optimum() -> None:
    """MATH 2.6: at the best weights, alpha is that of the single combined kernel."""
    kernels, y = 20.0 * golden_kernels(), golden_data()[1]
    model = exact_neighborhood(rho=2.0, C=5.0, tol=1e-10).fit(kernels, y)
    assert (model.weights_ > 1e-3).sum() > 1
    combined = np.tensordot(model.weights_, kernels, 1)
    single = exact_neighborhood(rho=2.0, C=5.0, tol=1e-10).fit(combined, y)
    assert single.upper_ == pytest.approx(model.upper_, rel=1e-8)
    np.testing.assert_allclose(single.rank_one_, model.rank_one_, atol=1e-4)
    # The derivative in each weight: no feasible direction does better.
    a = 2.0 * model.rank_one_  # y * alpha, as 2 rho = 4
    u = np.einsum("i,kij,j->k", a, kernels, a)
    margin = (
        (0.5 + model.weights_) * (u @ model.weights_) / ((0.5 + model.weights_) @ model.weights_)
    )
    assert (u <= margin + 1e-3 * u.max()).all()


def test_one_against_the_rest_equals_the_binary_fits() -> None:
    X, y = three_classes()
    model = exact_neighborhood("single", rho=4.0).fit(X, y)
    assert model.weights_.shape == (3, 1)
    assert model.rank_one_.shape == (3, 30)
    assert model.shift_.shape == (3,)
    decision = model.decision_function(X)
    for k, label in enumerate("abc"):
        binary = exact_neighborhood("single", rho=4.0).fit(X, y == label)
        assert isinstance(binary.shift_, float)
        assert model.shift_[k] == binary.shift_
        np.testing.assert_array_equal(model.rank_one_[k], binary.rank_one_)
        np.testing.assert_allclose(decision[:, k], binary.decision_function(X), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[decision.argmax(axis=1)])
    assert model.score(X, y) > 0.8


def test_every_type_of_table_may_be_fitted_and_predicted() -> None:
    X, y = golden_data()
    whole = np.round(10 * X).astype(np.int64)
    reference = NeighborhoodKernelClassifier().fit(whole, y)
    expected = reference.decision_function(whole)
    frame = pd.DataFrame(whole, columns=list("abcd"))
    for data in (whole.astype(np.float32), whole.tolist(), sparse.csr_matrix(whole), frame):
        model = NeighborhoodKernelClassifier().fit(data, y)
        assert model.sigma_ == reference.sigma_
        np.testing.assert_array_equal(model.decision_function(data), expected)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.kernel_names_[0].endswith("· all")


def test_a_kernel_on_some_of_the_features() -> None:
    X, y = golden_data()
    term = KernelTerm(Linear(), (0, 2), "pair")
    model = exact_neighborhood(term, standardize=False, rho=1.0).fit(X, y)
    given = exact_neighborhood(rho=1.0).fit(X[:, [0, 2]] @ X[:, [0, 2]].T, y)
    assert model.kernel_names_ == ("linear · pair",)
    np.testing.assert_allclose(model.rank_one_, given.rank_one_, atol=1e-6)


def test_elastic_net_takes_the_same_width_as_a_kernel() -> None:
    X, y = golden_data()
    sigma = 4.0 * mean_squared_distance((X - X.mean(axis=0)) / X.std(axis=0))
    kernel = Gaussian(math.sqrt(sigma / 2))
    one = ElasticNetMKLClassifier(kernel, normalize=False, C=1.0, tol=1e-9).fit(X, y)
    other = exact_neighborhood("single", rho=np.inf).fit(X, y)
    assert one.upper_ == pytest.approx(other.upper_, rel=1e-8)
    assert other.sigma_ == pytest.approx(sigma, rel=1e-12)


def test_unequal_traces_are_noted_with_the_trace_that_helps() -> None:
    kernels, y = scaled_pair(5.0)
    with pytest.warns(UnequalTracesWarning, match="normalize=True scales every kernel to trace n"):
        NeighborhoodKernelClassifier("precomputed").fit(kernels, y)
    model = NeighborhoodKernelClassifier("precomputed", normalize=True, tol=1e-9).fit(kernels, y)
    assert model.weights_[0] == pytest.approx(model.weights_[1], abs=1e-6)
    assert model.notes_ == ()
