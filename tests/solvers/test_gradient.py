"""Both gradient methods: values, bounds, the line search, extreme scales, ends."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.problems.projection import imbalance, project
from mkldash.solvers._gradient import REFRESH, first_curvature, multiply
from mkldash.solvers._one_kernel import OneKernel
from mkldash.solvers.accelerated_gradient import AcceleratedGradient
from mkldash.solvers.base import CANCELLED, TIME_IS_UP, WarmStart, new_cancel_flag
from mkldash.solvers.constrained_gradient import ConstrainedGradientDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import Status, StopRule
from mkldash.solvers.svm import solve_svm
from tests.contracts.test_solvers import same
from tests.solvers.neighborhood import given, golden, optimum, random_kernel, take, value
from tests.solvers.test_shifted import S10

BOTH = [ConstrainedGradientDescent, AcceleratedGradient]


@pytest.fixture(params=BOTH, ids=[kind.name for kind in BOTH])
def kind(request):
    return request.param


def to_the_end(solver, problem, tol=1e-12, **more):
    seen = []
    stop = StopRule(tol=tol, max_iter=20000)
    result = solve(solver, problem, stop=stop, callbacks=[seen.append], **more)
    return result, seen


@pytest.mark.parametrize(("rho", "saddle", "square"), S10)
def test_s10_values(kind, rho, saddle, square):
    result, _ = to_the_end(kind(), golden(rho=rho))
    assert result.status is Status.CONVERGED
    assert 2 * result.lower == pytest.approx(saddle, abs=1e-6)
    assert 2 * result.upper == pytest.approx(saddle, abs=1e-6)
    assert result.last.alpha @ result.last.alpha == pytest.approx(square, abs=2e-6)
    assert result.last.shift == pytest.approx(square / (2 * rho), rel=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_and_certified_bounds_at_every_step(kind, seed):
    rng = np.random.default_rng(100 + seed)
    problem = given(*random_kernel(seed), C=10 ** rng.uniform(-1, 2), rho=10 ** rng.uniform(-1, 3))
    best, _ = optimum(problem)
    result, seen = to_the_end(kind(), problem, tol=1e-9)
    assert result.status is Status.CONVERGED
    assert -result.lower == pytest.approx(best, rel=1e-7)
    for snapshot in seen:
        short = value(problem, snapshot.alpha) - best
        slack = 1e-8 * abs(best)
        assert -slack <= short
        dual = -value(problem, snapshot.alpha)
        assert short <= snapshot.objective - dual + slack
        assert snapshot.lower - slack <= -best <= snapshot.upper + slack
        assert snapshot.lower >= dual - slack


def test_without_a_penalty_it_is_the_support_vector_machine(kind):
    problem = golden()
    assert problem.rho == math.inf
    plain = solve_svm(OneKernel.of(problem).K, problem.y, 1.0, tol=1e-10)
    result, _ = to_the_end(kind(), problem)
    np.testing.assert_allclose(result.last.alpha, plain.alpha, atol=1e-6)
    np.testing.assert_allclose(result.last.decision, plain.decision, atol=1e-6)
    assert result.last.shift == 0.0


@pytest.mark.parametrize("k", [0, 1, 7, REFRESH - 2, REFRESH - 1, REFRESH, REFRESH + 1])
def test_resume_is_exact_across_restarts_and_fresh_products(kind, k):
    problem = given(*random_kernel(1), C=10.0, rho=10.0)
    whole = take(kind(), problem, REFRESH + 12)
    assert len(whole) == REFRESH + 12
    again = take(kind(), problem, REFRESH + 11 - k, start=whole[k])
    for one, other in zip(whole[k + 1 :], again, strict=True):
        same(one, other)


def test_the_decision_is_that_of_alpha_all_along(kind):
    problem = given(*random_kernel(1), C=10.0, rho=10.0)
    kernel = OneKernel.of(problem)
    seen = take(kind(), problem, 2 * REFRESH + 20)
    size = max(float(np.abs(s.decision).max()) for s in seen)
    for snapshot in seen:
        fresh = kernel.decision(snapshot.alpha)
        np.testing.assert_allclose(snapshot.decision, fresh, rtol=0, atol=1e-11 * size)
    exact = [np.array_equal(s.decision, multiply(kernel, s.alpha)) for s in seen]
    assert exact[REFRESH]
    assert exact[2 * REFRESH]
    assert not all(exact)


def test_alpha_is_the_projection_of_the_target_and_the_multiplier_a_root(kind):
    problem = given(*random_kernel(2), C=0.7, rho=5.0)
    y, C = problem.y, problem.loss.C
    for snapshot in take(kind(), problem, 40):
        found = project(snapshot.target, y, C)
        np.testing.assert_allclose(found.x, snapshot.alpha, rtol=0, atol=1e-14)
        assert abs(y @ snapshot.alpha) <= 1e-12
        if snapshot.iteration:
            root = imbalance(snapshot.multiplier, snapshot.target, y, C)
            assert abs(float(root)) <= 1e-11
            assert abs(float(imbalance(found.shift + 0.1, snapshot.target, y, C))) > 1e-3


def model_difference(kernel, point, target, alpha, curvature):
    """f - (its quadratic model) where a step from `point` led, in extended precision."""
    wide = np.longdouble
    K, y, rho = kernel.K.astype(wide), kernel.problem.y.astype(wide), wide(kernel.problem.rho)
    x, z = point.astype(wide), alpha.astype(wide)

    def f(a):
        return (y * a) @ (K @ (y * a)) / 2 + (a @ a) ** 2 / (8 * rho) - a.sum()

    slope = y * (K @ (y * x)) + (x @ x) / (2 * rho) * x - 1
    np.testing.assert_allclose((point - slope / curvature).astype(float), target, atol=1e-9)
    return f(z) - f(x) - slope @ (z - x), float((z - x) @ (z - x))


def test_the_test_of_a_step_is_equation_13(kind):
    problem = given(*random_kernel(3), C=2.0, rho=3.0)
    kernel = OneKernel.of(problem)
    seen = take(kind(), problem, 25)
    for last, now in itertools.pairwise(seen):
        start = last.point if kind is AcceleratedGradient else last.alpha
        rise, length = model_difference(kernel, start, now.target, now.alpha, now.curvature)
        assert now.needed == pytest.approx(float(2 * rise) / length, rel=1e-8)
        assert now.needed <= now.curvature
        assert now.inner_solves == last.inner_solves + now.trials
    assert {s.trials for s in seen[1:]} >= {1, 2}


def naive(problem, tol, most):
    """Iterations of the line search that compares values of f; `most` when it got stuck."""
    kernel = OneKernel.of(problem)
    alpha, g = np.zeros(problem.n_rows), 1.0
    for iteration in range(1, most + 1):
        decision = kernel.decision(alpha)
        slope, f = kernel.gradient(alpha, decision), kernel.objective(alpha, decision)
        g /= 2
        while True:
            z = project(alpha - slope / g, problem.y, 1.0).x
            dz = z - alpha
            if kernel.objective(z, kernel.decision(z)) <= f + slope @ dz + g / 2 * dz @ dz:
                break
            g *= 2
        alpha = z
        fields = kernel.certified(None, alpha, kernel.decision(alpha))
        if fields["upper"] <= fields["lower"] * (1 + tol):
            return iteration
    return most


def test_the_difference_of_values_fails_where_this_test_does_not():
    """The naive line search reaches the accuracy that values of f have, and then luck."""
    stuck = 0
    for rho in (1.0, 3.0, 10.0, 30.0, 100.0, 300.0):
        problem = golden(rho=rho)
        ours = {
            tol: to_the_end(ConstrainedGradientDescent(), problem, tol)[0] for tol in (1e-6, 1e-10)
        }
        assert all(result.status is Status.CONVERGED for result in ours.values())
        assert ours[1e-10].iterations <= 40
        assert naive(problem, 1e-6, 1000) <= 2 * ours[1e-6].iterations
        stuck += naive(problem, 1e-10, 1000) == 1000
    assert stuck >= 3


def test_f_never_rises_in_gradient_descent():
    for seed in range(5):
        problem = given(*random_kernel(seed), C=5.0, rho=20.0)
        f = np.array(
            [value(problem, s.alpha) for s in take(ConstrainedGradientDescent(), problem, 200)]
        )
        assert np.all(np.diff(f) <= 1e-13 * abs(f[-1]))
        assert f[-1] < f[0]


def lipschitz(problem):
    """L of f' on the feasible set (MATH 2.1)."""
    top = float(np.linalg.eigvalsh(OneKernel.of(problem).K)[-1])
    return top + 3 * problem.loss.C**2 * problem.n_rows / (2 * problem.rho)


@pytest.mark.parametrize("seed", range(2, 7))
def test_rate_of_gradient_descent(seed):
    """f - f* <= L R^2 / (2 N) with g = L, and R^2 / (2 sum 1/g) with the line search."""
    problem = given(*random_kernel(seed), C=1.0, rho=10.0)
    best, alpha = optimum(problem)
    R2, L = float(alpha @ alpha), lipschitz(problem)
    constant = ConstrainedGradientDescent(first_curvature=L, shrink=1.0)
    for snapshot in take(constant, problem, 150)[1:]:
        assert (snapshot.curvature, snapshot.trials) == (L, 1)
        bound = L * R2 / (2 * snapshot.iteration)
        assert value(problem, snapshot.alpha) - best <= bound + 1e-9 * abs(best)
    total = 0.0
    for snapshot in take(ConstrainedGradientDescent(), problem, 150)[1:]:
        total += 1 / snapshot.curvature
        assert snapshot.curvature <= 2 * L
        assert value(problem, snapshot.alpha) - best <= R2 / (2 * total) + 1e-9 * abs(best)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("rho", [1e-3, 1e3, 1e12])
def test_any_scale(kind, size, C, rho):
    kernel = OneKernel.of(golden())
    problem = given(size * kernel.K, kernel.problem.y, C, rho)
    result, seen = to_the_end(kind(), problem, tol=1e-6)
    # The hinge sum is of size n and rounded; times C it is all that bounds can tell.
    rounding = problem.n_rows * C * np.finfo(float).eps
    # Both at once: a loss off by eps in every row leaves nothing for the gap asked for.
    assert result.upper - result.lower <= 1e-6 * result.lower + rounding
    assert result.iterations <= 250
    # Nor does the search start absurdly: it soon tries about one step an iteration.
    assert seen[min(5, len(seen) - 1)].inner_solves <= 25
    assert result.inner_solves <= 2.5 * result.iterations + 10


def test_scaling_the_problem_scales_the_run(kind):
    """K s, C / s and rho / s^3 are the same problem with alpha / s: so is the search."""
    kernel, s = OneKernel.of(golden()), 2.0**20
    y = kernel.problem.y
    plain = take(kind(), given(kernel.K, y, 1.0, 10.0), 15)
    scaled = take(kind(), given(s * kernel.K, y, 1.0 / s, 10.0 / s**3), 15)
    for one, other in zip(plain, scaled, strict=True):
        np.testing.assert_allclose(one.alpha, s * other.alpha, rtol=0, atol=1e-12)
        assert one.curvature * s == other.curvature
        assert one.trials == other.trials


@pytest.mark.parametrize("rho", [0.01, 1.0, math.inf])
def test_the_first_curvature_is_a_guess_of_the_right_size(rho):
    for seed in range(10):
        problem = given(*random_kernel(seed), C=3.0, rho=rho)
        kernel = OneKernel.of(problem)
        zero = np.zeros(problem.n_rows)
        guess = first_curvature(kernel, zero, zero)
        assert np.trace(kernel.K) / problem.n_rows <= guess <= 2 * lipschitz(problem)
        again = take(ConstrainedGradientDescent(), problem, 1)[0]
        assert again.curvature == guess
    assert take(AcceleratedGradient(first_curvature=7.0), problem, 1)[0].curvature == 7.0


def test_the_first_curvature_where_the_first_direction_shows_no_curvature():
    y = golden().y.copy()
    y[:3] = 1.0
    u = y - y.mean()
    K = np.eye(len(y)) - np.outer(u, u) / (u @ u)
    kernel, zero = OneKernel.of(given(K, y)), np.zeros(len(y))
    assert first_curvature(kernel, zero, zero) == pytest.approx(1 - 1 / len(y))


def test_steps_of_an_almost_flat_problem_stay_in_proportion_to_the_box(kind):
    """K is nothing beside C: no step asks for so much that the projection loses digits."""
    problem = given(1e-30 * OneKernel.of(golden()).K, golden().y, C=2.0)
    seen = take(kind(first_curvature=1e-300), problem, 10)
    assert len(seen) > 1
    for snapshot in seen:
        assert np.abs(snapshot.target).max() <= 1e3 * 2.0 * (1 + 1e-12) + 2.0
    np.testing.assert_array_equal(seen[-1].alpha, 2.0)
    assert seen[-1].gap == pytest.approx(0.0, abs=1e-12)


def test_a_low_first_curvature_is_raised_and_said(kind):
    low = take(kind(first_curvature=1e-3), golden(rho=10.0), 2)
    assert low[1].trials > 5
    assert low[1].events[0].startswith("line search: curvature raised from 1.0e-03 to ")
    quick = take(kind(first_curvature=1e-3, growth=10.0), golden(rho=10.0), 2)
    assert quick[1].trials < low[1].trials


def test_warm_starts(kind):
    problem = golden(C=10.0, rho=10.0)
    cold, _ = to_the_end(kind(), problem, tol=1e-8)
    warm, seen = to_the_end(kind(), problem, tol=1e-8, start=WarmStart(alpha=cold.last.alpha))
    assert seen[0].inner_solves == 1
    assert warm.iterations < 0.2 * cold.iterations
    outside, _ = to_the_end(kind(), problem, start=WarmStart(alpha=np.full(problem.n_rows, 50.0)))
    assert outside.lower == pytest.approx(cold.lower, rel=1e-7)


def test_it_ends_by_itself_when_nothing_moves(kind):
    data = golden(C=1e-3, rho=10.0)
    seen = take(kind(), data, 100)
    assert 1 < len(seen) < 20
    assert seen[-1].gap == 0.0
    one_class = given(OneKernel.of(data).K, np.ones(data.n_rows))
    assert len(take(kind(), one_class, 100)) == 1
    result, _ = to_the_end(kind(), one_class)
    assert (result.status, result.upper, result.lower) == (Status.CONVERGED, 0.0, 0.0)


def test_cancelled_before_and_after_the_start(kind):
    flag = new_cancel_flag()
    steps = kind().iterate(golden(), cancel=flag)
    assert next(steps).iteration == 0
    flag[0] = CANCELLED
    assert next(steps, None) is None


def test_time_is_up_in_a_line_search(kind):
    """The point is certified as it is, and the search goes on where it was."""
    problem = golden(rho=10.0)
    flag = new_cancel_flag()
    steps = kind(first_curvature=1e-3).iterate(problem, cancel=flag)
    begun = next(steps)
    flag[0] = TIME_IS_UP
    stopped = next(steps)
    np.testing.assert_array_equal(stopped.alpha, begun.alpha)
    assert (stopped.iteration, stopped.trials, stopped.inner_solves) == (1, 1, 2)
    assert stopped.curvature == 2e-3
    assert stopped.upper == begun.upper
    np.testing.assert_array_equal(stopped.target, begun.target)
    result, _ = to_the_end(kind(first_curvature=1e-3), problem, start=stopped)
    assert result.status is Status.CONVERGED


def test_a_time_limit_ends_a_run_with_bounds(kind):
    stop = StopRule(tol=1e-15, time_limit=1e-4)
    result = solve(kind(), golden(C=100.0, rho=10.0), stop=stop)
    assert result.status is Status.TIME_LIMIT
    assert 0.0 <= result.lower <= result.upper


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"first_curvature": 0.0}, "first_curvature"),
        ({"first_curvature": math.inf}, "first_curvature"),
        ({"growth": 1.0}, "growth"),
        ({"growth": math.nan}, "growth"),
        ({"shrink": 0.0}, "shrink"),
        ({"shrink": 1.5}, "shrink"),
    ],
)
def test_options_that_cannot_be_used_are_named(kind, options, word):
    with pytest.raises(InputError, match=f"^{word} must be"):
        kind(**options)


def test_options_say_what_they_are(kind):
    for field in dataclasses.fields(kind):
        low, high = field.metadata["bounds"]
        assert low < high
        if field.default is not None:
            assert low <= field.default <= high
