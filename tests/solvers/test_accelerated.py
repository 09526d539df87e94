"""The accelerated gradient: its rate from each restart, its restarts, its point."""

import itertools
import math

import numpy as np
import pytest

from mkldash.solvers._one_kernel import OneKernel
from mkldash.solvers.accelerated_gradient import AcceleratedGradient
from mkldash.solvers.constrained_gradient import ConstrainedGradientDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import Status, StopRule
from tests.solvers.neighborhood import given, golden, optimum, random_kernel, take, value

RESTARTED = "momentum restarted: step against the gradient"


def segments(seen):
    """Runs of snapshots that one sequence of momenta covers, each with where it began."""
    for _, group in itertools.groupby(seen[1:], key=lambda s: s.restarts - (RESTARTED in s.events)):
        steps = list(group)
        yield seen[steps[0].iteration - 1], steps


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("seed", range(2, 7))
def test_rate_from_each_restart(seed, constant):
    """f - f* <= 2 g R^2 / (N + 1)^2, and g falls nowhere but at a restart."""
    problem = given(*random_kernel(seed), C=1.0, rho=10.0)
    best, alpha = optimum(problem)
    solver = AcceleratedGradient()
    if constant:
        top = float(np.linalg.eigvalsh(OneKernel.of(problem).K)[-1])
        # A point is within C of alpha in each coefficient, so at most 2 C.
        g = top + 3 * 4 * problem.n_rows / (2 * problem.rho)
        solver = AcceleratedGradient(first_curvature=g, shrink=1.0)
    seen = take(solver, problem, 150)
    assert seen[-1].restarts > 0
    for begun, steps in segments(seen):
        R2 = float(np.sum((begun.alpha - alpha) ** 2))
        curvatures = [s.curvature for s in steps]
        assert all(np.diff(curvatures) >= 0)
        if constant:
            assert set(curvatures) == {g}
        for n, snapshot in enumerate(steps, start=1):
            bound = 2 * snapshot.curvature * R2 / (n + 1) ** 2
            assert value(problem, snapshot.alpha) - best <= bound + 1e-8 * abs(best)


def test_momentum_and_point_follow_the_recursion():
    problem = given(*random_kernel(1), C=10.0, rho=10.0)
    kernel = OneKernel.of(problem)
    seen = take(AcceleratedGradient(), problem, 120)
    size = max(float(np.abs(s.point_decision).max()) for s in seen)
    for last, now in itertools.pairwise(seen):
        uphill = float((last.point - now.alpha) @ (now.alpha - last.alpha)) > 0.0
        assert (RESTARTED in now.events) == uphill
        assert now.restarts == last.restarts + uphill
        if uphill:
            assert now.momentum == 1.0
            np.testing.assert_array_equal(now.point, now.alpha)
        else:
            assert now.momentum == (1 + math.sqrt(1 + 4 * last.momentum**2)) / 2
            share = (last.momentum - 1) / now.momentum
            expected = now.alpha + share * (now.alpha - last.alpha)
            np.testing.assert_array_equal(now.point, expected)
        fresh = kernel.decision(now.point)
        np.testing.assert_allclose(now.point_decision, fresh, rtol=0, atol=1e-11 * size)
    assert seen[-1].restarts >= 2


def test_points_outside_the_feasible_set_are_stepped_from():
    problem = given(*random_kernel(1), C=1.0, rho=10.0)
    seen = take(AcceleratedGradient(), problem, 40)
    assert min(s.point.min() for s in seen) < 0.0
    for snapshot in seen:
        assert snapshot.alpha.min() >= 0.0
        assert snapshot.alpha.max() <= 1.0


def test_it_takes_fewer_steps_where_the_problem_is_hard():
    problem = golden(C=1e3, rho=1e6)
    stop = StopRule(tol=1e-6, max_iter=5000)
    plain = solve(ConstrainedGradientDescent(), problem, stop=stop)
    faster = solve(AcceleratedGradient(), problem, stop=stop)
    assert plain.status is faster.status is Status.CONVERGED
    assert faster.inner_solves < 0.6 * plain.inner_solves


def test_it_stays_at_the_optimum_when_only_rounding_is_left():
    """Restarts on noise must neither lose the point nor go on with growing steps."""
    problem = golden(rho=10.0)
    seen = take(AcceleratedGradient(), problem, 400)
    late = [s for s in seen if s.iteration > 100]
    best = min(value(problem, s.alpha) for s in seen)
    for snapshot in late:
        assert value(problem, snapshot.alpha) - best <= 1e-13 * abs(best)
        assert snapshot.trials <= 3
