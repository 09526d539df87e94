"""What must hold for any data (Hypothesis)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkldash import ElasticNetMKLClassifier, NeighborhoodKernelClassifier
from tests.estimators.recipes import exact, exact_neighborhood

seeds = st.integers(0, 2**32 - 1)
etas = st.sampled_from([0.0, 0.3, 0.5, 0.8])
prices = st.sampled_from([0.1, 1.0, 20.0])
rhos = st.sampled_from([0.1, 1.0, 100.0])
few = settings(max_examples=25, deadline=None)


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Three unit-trace kernels on 12 rows, and labels of both classes."""
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((3, 12, 5))
    kernels = roots @ roots.transpose(0, 2, 1)
    kernels /= np.trace(kernels, axis1=1, axis2=2)[:, None, None]
    return 0.5 * (kernels + kernels.transpose(0, 2, 1)), rng.permutation(np.arange(12) % 2)


def model(eta: float, C: float) -> ElasticNetMKLClassifier:
    return exact(eta=eta, C=C, tol=1e-7, max_iter=3000)


def near(eta: float, C: float, rho: float) -> NeighborhoodKernelClassifier:
    return exact_neighborhood(eta=eta, C=C, rho=rho, tol=1e-7)


@few
@given(seeds, etas, prices)
def test_flipping_the_labels_flips_the_decision(seed: int, eta: float, C: float) -> None:
    kernels, y = data(seed)
    straight, flipped = model(eta, C).fit(kernels, y), model(eta, C).fit(kernels, 1 - y)
    assert flipped.upper_ == pytest.approx(straight.upper_, rel=1e-6)
    assert flipped.lower_ <= straight.upper_ * (1 + 1e-9)
    np.testing.assert_allclose(flipped.weights_, straight.weights_, atol=2e-3)


@few
@given(seeds, etas, prices, st.permutations(range(3)))
def test_the_order_of_the_kernels_only_orders_the_weights(
    seed: int, eta: float, C: float, order: list[int]
) -> None:
    kernels, y = data(seed)
    straight = model(eta, C).fit(kernels, y)
    other = model(eta, C).fit(kernels[order], y)
    assert other.upper_ == pytest.approx(straight.upper_, rel=1e-6)
    np.testing.assert_allclose(other.weights_, straight.weights_[order], atol=2e-3)


@few
@given(seeds, prices)
def test_duplicates_share_equally_and_leave_the_simplex_optimum(seed: int, C: float) -> None:
    kernels, y = data(seed)
    doubled = np.concatenate([kernels, kernels])
    once, twice = model(1.0, C).fit(kernels, y), model(1.0, C).fit(doubled, y)
    assert twice.lower_ <= once.upper_ * (1 + 1e-9)
    assert once.lower_ <= twice.upper_ * (1 + 1e-9)
    strict = model(0.5, C).fit(doubled, y)
    np.testing.assert_allclose(strict.weights_[:3], strict.weights_[3:], atol=1e-6)


@few
@given(seeds, etas, prices, st.sampled_from([0.01, 7.0, 300.0]))
def test_kernels_times_s_with_c_over_s_divide_the_objective(
    seed: int, eta: float, C: float, scale: float
) -> None:
    kernels, y = data(seed)
    plain, scaled = model(eta, C).fit(kernels, y), model(eta, C / scale).fit(scale * kernels, y)
    assert scaled.upper_ * scale == pytest.approx(plain.upper_, rel=1e-6)
    np.testing.assert_allclose(scaled.weights_, plain.weights_, atol=2e-3)
    np.testing.assert_allclose(
        scaled.intercept_, plain.intercept_, atol=max(1e-3, 1e-3 * abs(plain.intercept_))
    )


@few
@given(seeds, etas, prices)
def test_the_weights_lie_in_the_set_and_the_bounds_are_in_order(
    seed: int, eta: float, C: float
) -> None:
    kernels, y = data(seed)
    fitted = exact(eta=eta, C=C, tol=1e-3, solver="block-coordinate").fit(kernels, y)
    theta = fitted.weights_
    assert (theta >= 0.0).all()
    assert eta * theta.sum() + (1 - eta) * theta @ theta <= 1.0 + 1e-9
    assert fitted.lower_ <= fitted.upper_ * (1 + 1e-12)
    tight = model(eta, C).fit(kernels, y)
    assert fitted.lower_ <= tight.upper_ * (1 + 1e-9)
    assert tight.lower_ <= fitted.upper_ * (1 + 1e-9)


@few
@given(seeds, prices, rhos, st.integers(1, 3))
def test_a_neighborhood_moves_with_the_labels_the_rows_and_the_scale(
    seed: int, C: float, rho: float, count: int
) -> None:
    kernels, y = data(seed)
    kernels = 12.0 * kernels[:count]
    plain = near(0.5, C, rho).fit(kernels, y)
    # ||alpha||^4 makes alpha unique; its square's size says how well it is settled.
    close = {"atol": 1e-3 * C}
    flipped = near(0.5, C, rho).fit(kernels, 1 - y)
    assert flipped.upper_ == pytest.approx(plain.upper_, rel=1e-6)
    np.testing.assert_allclose(flipped.rank_one_, -plain.rank_one_, **close)
    order = np.random.default_rng(seed).permutation(12)
    moved = near(0.5, C, rho).fit(kernels[:, order][:, :, order], y[order])
    assert moved.upper_ == pytest.approx(plain.upper_, rel=1e-6)
    np.testing.assert_allclose(moved.rank_one_, plain.rank_one_[order], **close)
    np.testing.assert_allclose(moved.weights_, plain.weights_, atol=5e-3)
    # K s, C / s and rho / s^3: alpha / s, and with it the objective.
    s = 7.0
    scaled = near(0.5, C / s, rho / s**3).fit(s * kernels, y)
    assert s * scaled.upper_ == pytest.approx(plain.upper_, rel=1e-6)
    assert scaled.shift_ == pytest.approx(s * plain.shift_, rel=1e-3, abs=1e-6)


@few
@given(seeds, prices, st.integers(1, 3))
def test_a_larger_rho_costs_more_and_the_bounds_are_in_order(
    seed: int, C: float, count: int
) -> None:
    kernels, y = data(seed)
    fits = [near(0.5, C, rho).fit(kernels[:count], y) for rho in (0.01, 1.0, 100.0, np.inf)]
    for one, other in itertools.pairwise(fits):
        assert one.lower_ <= one.upper_ * (1 + 1e-12)
        assert one.lower_ <= other.upper_ * (1 + 1e-9)
    svm = exact(C=C, eta=0.5).fit(kernels[:count], y)
    assert fits[-1].upper_ == pytest.approx(svm.upper_, rel=1e-6)
