"""What every discovered solver must do; a new solver file gets these for free."""

import dataclasses
import math
from functools import partial

import cvxpy as cp
import numpy as np
import pytest

from mkldash.errors import UnsupportedProblemError
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.kernels.products import product_family
from mkldash.kernels.weights import Weights
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.problems.weight_sets.simplex import Simplex
from mkldash.solvers import available_solvers
from mkldash.solvers.base import Snapshot, WarmStart, new_cancel_flag
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import Status, StopRule

SOLVERS = sorted(available_solvers().items())
ETAS = [0.0, 0.25, 0.5, 0.9, 1.0]


def small_problem(weight_set, C=1.0, seed=3, n=24, rho=math.inf, only=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 - 0.4 + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)
    squared = ((X[:, None] - X[None]) ** 2).sum(-1)
    kernels = [np.exp(-g * squared) for g in (0.05, 0.3, 1.5)]
    kernels += [X @ X.T, (X @ X.T + 1) ** 2]
    kernels += [np.exp(-0.5 * (X[:, [0]] - X[:, 0]) ** 2)]
    stack = np.array([n * K / np.trace(K) for K in kernels]) + 1e-8 * np.eye(n)
    stack = stack if only is None else stack[[only]]
    return Problem(precomputed_bank(stack), y, Hinge(C), weight_set, rho), stack


def one_kernel(C=1.0, rho=1.0):
    """The optimal neighborhood kernel of a single kernel."""
    return small_problem(Fixed((1.0,)), C, rho=rho, only=1)


def several_with_penalty(C=1.0, rho=1.0):
    """The same over a bank."""
    return small_problem(ElasticNet(0.5), C, rho=rho)


def targets(n=24, seed=7):
    """Features, and a target that is a product and a main effect."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, 2.0 * X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(n)


def products(penalty=1.0, p=1.0):
    """Squared loss over the products of three features up to degree 2, and their kernels."""
    X, y = targets()
    family = product_family(X, ("x1", "x2", "x3"), degree=2, penalty=penalty, merged=p == 1.0)
    stack = np.array([family.gram(key) for key in family.keys()])
    return Problem(family, y, Squared(), NormBall.of_p(p)), stack


def several_squared(p=1.0):
    """Squared loss over an explicit bank."""
    _, y = targets()
    _, stack = small_problem(ElasticNet(0.5))
    return Problem(precomputed_bank(stack), y, Squared(), NormBall.of_p(p)), stack


def at_home(solver, C=1.0):
    """A small problem that the solver takes, its kernels, and the same at another scale."""
    makers = (lambda c: small_problem(ElasticNet(0.5), c), one_kernel, products)
    sets = (lambda c: small_problem(NormBall(1.5), c), lambda c: small_problem(ElasticNet(1.0), c))
    for make in (*makers, partial(products, p=2.0), *sets):
        problem, stack = make(C)
        if supported(solver, problem):
            return problem, stack, make(10.0 * C)[0]
    raise AssertionError(f"{solver.name} takes none of the problems")


def corner(problem, stack):
    """All weight on one kernel."""
    at = len(stack) // 2
    if problem.has_family:
        return Weights((problem.family.keys()[at],), np.ones(1))
    return problem.bank.weights(np.eye(len(stack))[at])


def shown(problem, weights):
    """Weights as `Problem.primal` and the weight set take them."""
    return (weights, weights.values) if problem.has_family else (weights.values, weights.values)


def conic_optimum(stack, problem):
    """max over a of -L*(a) - 1/2 support function, by clarabel."""
    return (
        squared_optimum(stack, problem)
        if problem.loss == Squared()
        else hinge_optimum(stack, problem)
    )


def root(K):
    """F with K = F F', of full column rank."""
    values, vectors = np.linalg.eigh(K)
    keep = values > 1e-12 * values.max()
    return vectors[:, keep] * np.sqrt(values[keep])


def squared_optimum(stack, problem):
    a = cp.Variable(problem.n_rows)
    bounds = cp.Variable(len(stack))
    forms = [cp.sum_squares(root(K).T @ a) for K in stack]
    star = problem.weight_set.dual_exponent
    support = cp.max(bounds) if math.isinf(star) else cp.pnorm(bounds, star, approx=False)
    value = 0.5 * support + 0.5 * cp.sum_squares(a) - problem.y @ a
    constraints = [bounds[k] >= form for k, form in enumerate(forms)]
    reference = cp.Problem(cp.Minimize(value), constraints)
    reference.solve(solver=cp.CLARABEL)
    return -reference.value


def hinge_optimum(stack, problem):
    n, C, y = problem.n_rows, problem.loss.C, problem.y
    eta = getattr(problem.weight_set, "eta", 1.0)
    star = getattr(problem.weight_set, "dual_exponent", math.inf)
    alpha = cp.Variable(n)
    forms = [cp.quad_form(alpha, cp.psd_wrap(y[:, None] * K * y)) for K in stack]
    constraints = [alpha >= 0, alpha <= C, y @ alpha == 0]
    if math.isfinite(star):
        bounds = cp.Variable(len(stack))
        constraints += [bounds[k] >= form for k, form in enumerate(forms)]
        support = cp.pnorm(bounds, star, approx=False)
    elif eta == 1.0:
        support = cp.Variable()
        constraints += [support >= form for form in forms]
    else:
        scale = cp.Variable(nonneg=True)
        excess = cp.Variable(len(stack), nonneg=True)
        constraints += [excess[k] >= forms[k] - scale * eta for k in range(len(stack))]
        support = scale + cp.quad_over_lin(excess, scale) / (4 * (1 - eta))
    value = 0.5 * support - cp.sum(alpha)
    if math.isfinite(problem.rho):
        value += cp.square(cp.sum_squares(alpha)) / (8 * problem.rho)
    reference = cp.Problem(cp.Minimize(value), constraints)
    reference.solve(solver=cp.CLARABEL)
    return -reference.value


CASES = {
    **{f"eta={eta:g}": partial(small_problem, ElasticNet(eta)) for eta in ETAS},
    **{
        f"weight norm {P:g}": partial(small_problem, NormBall(P))
        for P in (1.0, 4.0 / 3.0, 2.0, 4.0, math.inf)
    },
    "one kernel, rho=1": one_kernel,
    "one kernel, rho=100": partial(one_kernel, rho=100.0),
    "one kernel, no penalty": partial(one_kernel, rho=math.inf),
    "several, rho=1": several_with_penalty,
    **{f"products, p={p:g}": partial(products, p=p) for p in (1.0, 4.0 / 3.0, 1.5, 2.0)},
    **{f"several, squared, p={p:g}": partial(several_squared, p=p) for p in (1.0, 1.5, 2.0)},
}


def supported(solver, problem):
    return solver.supports(problem) is None


def run(solver, problem, n, start=None):
    found = []
    for snapshot in solver.iterate(problem, start):
        found.append(snapshot)
        if len(found) == n:
            break
    return found


def same(one, other):
    """Equal in everything but the clock."""
    for field in dataclasses.fields(one):
        if field.name in {"elapsed", "best", "checkpoint"}:
            continue
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, Weights):
            assert a.keys == b.keys
            a, b = a.values, b.values
        if isinstance(a, tuple) and not (a and dataclasses.is_dataclass(a[0])):
            assert a == b, field.name
            continue
        if isinstance(a, tuple) and a and dataclasses.is_dataclass(a[0]):
            for piece, twin in zip(a, b, strict=True):
                same(piece, twin)
        else:
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b), err_msg=field.name)


@pytest.fixture(params=SOLVERS, ids=[name for name, _ in SOLVERS])
def solver(request):
    return request.param[1]()


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_bounds_hold_the_optimum_at_every_step_and_meet_it(solver, make):
    problem, stack = make()
    if not supported(solver, problem):
        with pytest.raises(UnsupportedProblemError):
            next(solver.iterate(problem))
        return
    optimum = conic_optimum(stack, problem)
    seen = []
    tol = max(1e-4, solver.reach)
    result = solve(solver, problem, stop=StopRule(tol=tol, max_iter=3000), callbacks=[seen.append])
    assert result.status is Status.CONVERGED
    upper = np.array([s.upper for s in seen])
    lower = np.array([s.lower for s in seen])
    assert np.all(lower <= optimum * (1 + 1e-6))
    assert np.all(upper >= optimum * (1 - 1e-6))
    assert np.all(np.diff(upper) <= 0)
    assert np.all(np.diff(lower) >= 0)
    assert result.upper == pytest.approx(optimum, rel=2 * tol)


def test_bounds_can_be_recomputed_from_what_a_snapshot_shows(solver):
    problem, _, _ = at_home(solver)
    for snapshot in run(solver, problem, 6):
        theta, values = shown(problem, snapshot.weights)
        value = problem.primal(theta, snapshot.alpha).objective
        assert snapshot.objective == pytest.approx(value, rel=1e-9)
        if snapshot.bounds_evaluated and not problem.has_family:
            assert snapshot.lower >= problem.dual(snapshot.alpha).objective * (1 - 1e-12)
        best = snapshot.best
        at_best = problem.primal(shown(problem, best.weights)[0], best.alpha).objective
        assert best.objective == pytest.approx(at_best, rel=1e-9)
        assert snapshot.upper == best.objective
        assert problem.weight_set.constraint(values) <= 1 + 1e-9


@pytest.mark.parametrize("k", [0, 3, 5])
def test_resume_is_exact(solver, k):
    problem, _, _ = at_home(solver, C=10.0)
    whole = run(solver, problem, 10)
    if k >= len(whole) - 1:
        assert not run(solver, problem, 1, start=whole[-1])  # it had nothing left to do
        return
    again = run(solver, problem, len(whole) - 1 - k, start=whole[k])
    assert again[0].iteration == k + 1
    for one, other in zip(whole[k + 1 :], again, strict=True):
        same(one, other)
    assert again[0].elapsed > whole[k].elapsed


def test_another_problem_makes_a_snapshot_a_warm_start(solver):
    other, stack, problem = at_home(solver)
    start = run(solver, problem, 8)[-1]
    warm = run(solver, other, 1, start=start)[0]
    assert warm.iteration == 0
    assert warm.inner_solves == 1
    optimum = conic_optimum(stack, other)
    assert warm.lower <= optimum * (1 + 1e-6)
    assert warm.upper >= optimum * (1 - 1e-6)


def test_any_feasible_start_reaches_the_optimum_exact_zeros_included(solver):
    problem, stack, _ = at_home(solver)
    optimum = conic_optimum(stack, problem)
    for alpha in (None, np.zeros(24), np.ones(24)):
        start = WarmStart(weights=corner(problem, stack), alpha=alpha)
        stop = StopRule(tol=solver.reach, max_iter=3000)
        result = solve(solver, problem, start=start, stop=stop)
        assert result.upper == pytest.approx(optimum, rel=2 * solver.reach)


def test_snapshots_are_read_only_and_do_not_alias(solver):
    problem, _, _ = at_home(solver)
    found = run(solver, problem, 4)
    before = [(s.alpha.tobytes(), s.weights.values.tobytes()) for s in found]
    run(solver, problem, 4)
    assert [(s.alpha.tobytes(), s.weights.values.tobytes()) for s in found] == before
    for snapshot in found:
        assert isinstance(snapshot, solver.snapshot_type)
        assert isinstance(snapshot, Snapshot)
        with pytest.raises(ValueError, match="read-only"):
            snapshot.alpha[0] = 1.0
        with pytest.raises(dataclasses.FrozenInstanceError):
            snapshot.upper = 0.0


def test_same_input_same_stream(solver):
    problem, _, _ = at_home(solver)
    for one, other in zip(run(solver, problem, 6), run(solver, problem, 6), strict=True):
        same(one, other)


def test_cancel_takes_effect_within_one_iteration(solver):
    problem, _, _ = at_home(solver)
    flag = new_cancel_flag()
    seen = []
    for snapshot in solver.iterate(problem, cancel=flag):
        seen.append(snapshot)
        if len(seen) == 3:
            flag[0] = 1
        assert len(seen) <= 3


@pytest.mark.parametrize("weight_set", [Simplex(), Fixed((0.2, 0.0, 0.3, 0.1, 0.1, 0.5))])
def test_other_weight_sets_are_solved_or_refused_with_a_reason(solver, weight_set):
    problem, _ = small_problem(weight_set)
    if not supported(solver, problem):
        assert len(solver.supports(problem)) > 20
        return
    result = solve(solver, problem, stop=StopRule(tol=1e-3, max_iter=3000))
    assert result.status is Status.CONVERGED


def test_states_its_facts(solver):
    assert solver.name
    assert solver.title
    assert solver.reference
    for field in dataclasses.fields(solver):
        assert field.metadata["label"]
        assert field.metadata["help"]
