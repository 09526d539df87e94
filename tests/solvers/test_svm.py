"""The inner solver against libsvm, and its edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from mkldash.problems.certificates import hinge_bias
from mkldash.solvers.svm import solve_combined, solve_svm
from tests.recipes import golden_data, golden_kernels


def dual_value(K, y, alpha):
    return alpha.sum() - 0.5 * (y * alpha) @ K @ (y * alpha)


def random_problem(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(-1)), y


@settings(max_examples=30, deadline=None)  # the first call compiles
@given(st.integers(0, 10**6), st.integers(4, 40), st.sampled_from([0.01, 1.0, 100.0]))
def test_reaches_the_optimality_conditions_and_libsvm_s_value(seed, n, C):
    K, y = random_problem(seed, n)
    found = solve_svm(K, y, C, tol=1e-8)
    assert found.violation <= 1e-8
    assert found.alpha.min() >= 0
    assert found.alpha.max() <= C
    assert abs(y @ found.alpha) <= 1e-9 * C * n
    np.testing.assert_allclose(found.decision, K @ (y * found.alpha), atol=1e-9 * max(1, C))
    model = SVC(C=C, kernel="precomputed", tol=1e-8).fit(K, y)
    reference = np.zeros(n)
    reference[model.support_] = np.abs(model.dual_coef_[0])
    assert dual_value(K, y, found.alpha) >= dual_value(K, y, reference) - 1e-6 * max(1, C)


def test_strong_duality_with_the_exact_bias():
    K, y = random_problem(3, 60)
    found = solve_svm(K, y, 10.0, tol=1e-10)
    _bias, loss = hinge_bias(found.decision, y)
    primal = 0.5 * (y * found.alpha) @ found.decision + 10.0 * loss
    assert primal == pytest.approx(dual_value(K, y, found.alpha), rel=1e-8)


@pytest.mark.parametrize(
    ("C", "alpha", "decision", "objective"),
    [(0.5, (0.25, 0.25, 0.5), (1, 1, 0.75), 0.9375), (10.0, (2, 2, 4), (1, 1, -1), 4.0)],
)
def test_bias_of_three_points_comes_from_margin_vectors(C, alpha, decision, objective):  # S08
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    y = np.array([1.0, 1.0, -1.0])
    found = solve_svm(X @ X.T, y, C, tol=1e-10)
    bias, loss = hinge_bias(found.decision, y)
    np.testing.assert_allclose(found.alpha, alpha, atol=1e-8)
    assert bias == pytest.approx(1.0, abs=1e-8)
    np.testing.assert_allclose(found.decision + bias, decision, atol=1e-8)
    assert 0.5 * (y * found.alpha) @ found.decision + C * loss == pytest.approx(objective)


def test_warm_start_needs_fewer_steps_and_repairs_an_infeasible_point():
    K, y = random_problem(5, 200)
    cold = solve_svm(K, y, 10.0, tol=1e-6)
    warm = solve_svm(1.001 * K, y, 10.0, tol=1e-6, alpha=cold.alpha)
    assert warm.steps < cold.steps / 2
    wild = solve_svm(K, y, 10.0, tol=1e-8, alpha=np.full(200, 1e9))
    assert dual_value(K, y, wild.alpha) == pytest.approx(dual_value(K, y, cold.alpha), rel=1e-5)


def test_one_class_gives_zero():  # L03
    K, _ = random_problem(1, 10)
    found = solve_svm(K, np.ones(10), 1.0)
    assert not found.alpha.any()
    assert found.violation == 0.0


def test_huge_C_ends():  # S01
    _, y = golden_data()
    found = solve_svm(golden_kernels()[1], y, 1e6, tol=1e-6)
    assert np.isfinite(found.alpha).all()
    assert found.violation <= 1e-6


def test_a_set_cancel_flag_ends_it_at_once():
    K, y = random_problem(2, 300)
    flag = np.ones(1, dtype=np.uint8)
    assert solve_svm(K, y, 1e4, tol=1e-12, cancel=flag).steps == 0


class Blocks:
    """A combined kernel that counts what is asked of it."""

    cheap_blocks = True

    def __init__(self, K):
        self.K, self.n_rows, self.largest, self.whole = K, len(K), 0, 0

    def matrix(self):
        self.whole += 1
        return self.K.copy()

    def block(self, rows, memory=None):
        self.largest = max(self.largest, rows.size)
        return np.ascontiguousarray(self.K[np.ix_(rows, rows)])

    def apply(self, a):
        return self.K @ a

    def residual(self):
        return 0.0, np.zeros(self.n_rows)


def test_working_set_agrees_with_the_whole_matrix_without_forming_it():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1))
    cold = solve_svm(K, y, 10.0, tol=1e-3)
    moved = Blocks(K * (1 + 0.05 * np.cos(X[:, :1] - X[:, :1].T)))
    whole = solve_svm(moved.K, y, 10.0, tol=1e-9)
    part = solve_combined(moved, y, 10.0, alpha=cold.alpha, tol=1e-9)
    assert part.violation <= 1e-9
    assert moved.whole == 0
    assert 0 < moved.largest < 300
    np.testing.assert_allclose(
        dual_value(moved.K, y, part.alpha), dual_value(moved.K, y, whole.alpha), rtol=1e-9
    )
