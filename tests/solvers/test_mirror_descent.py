"""Mirror descent: cases S12 and S13, closed forms, unbiased estimates, events, exact resume."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.kernels.products import product_family
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers import available_solvers, mirror_descent
from mkldash.solvers._draws import ideal_draw, uniform_draw
from mkldash.solvers._mirror import CHECKPOINT_EVERY
from mkldash.solvers._mirror_map import MirrorMap
from mkldash.solvers._mirror_state import Iterate
from mkldash.solvers.box_coordinate_descent import BoxCoordinateDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.full_gradient import FullGradient
from mkldash.solvers.mirror_descent import RandomizedMirrorDescent
from mkldash.solvers.stopping import Status, StopRule
from mkldash.solvers.uniform_sampling import UniformSampling
from tests.contracts.test_solvers import products, run, same, squared_optimum, targets
from tests.problems.test_squared import s13

SOLVERS = [RandomizedMirrorDescent, UniformSampling, FullGradient, BoxCoordinateDescent]

#: S12: c, p, theta, J; exact.
S12 = [
    ((2.0, 1.5), 1.0, (5 / 7, 2 / 7), 49 / 24),
    ((2.0, 1.5), 1.5, (0.864284, 0.707665), 1.731592),
    ((2.0, 1.5), 2.0, (1.0, 1.0), 1.5625),
    ((3.0, 1.0), 1.0, (1.0, 0.0), 2.75),
    ((3.0, 1.0), 1.5, (0.970351, 0.441972), 2.630604),
    ((3.0, 1.0), 2.0, (1.0, 1.0), 2.5),
]


def s12(c, p):
    Q = np.linalg.qr(np.random.default_rng(3).standard_normal((4, 4)))[0]
    bank = precomputed_bank([np.outer(u, u) for u in Q.T[:2]], normalize=False)
    return Problem(bank, Q[:, :2] @ np.array(c), Squared(), NormBall.of_p(p))


@pytest.mark.parametrize(("c", "p", "theta", "J"), S12)
def test_s12_full_gradient_finds_the_optimum_exactly(c, p, theta, J):
    result = solve(FullGradient(), s12(c, p), stop=StopRule(tol=1e-9, max_iter=3000))
    assert result.status is Status.CONVERGED
    assert result.upper == pytest.approx(J, rel=5e-7)
    assert result.best.weights.values == pytest.approx(theta, abs=3e-5)


@pytest.mark.parametrize(("c", "p", "theta", "J"), S12)
@pytest.mark.parametrize("kind", [RandomizedMirrorDescent, UniformSampling])
def test_s12_sampling_comes_near(kind, c, p, theta, J):
    result = solve(kind(), s12(c, p), stop=StopRule(tol=1e-9, max_iter=3000))
    assert result.lower <= J * (1 + 5e-7)
    assert result.upper == pytest.approx(J, rel=1e-6)
    assert result.best.weights.values == pytest.approx(theta, abs=1e-3)


def test_s13_optimum_at_p_one():
    """Only theta_01 + theta_10 is determined; merged it is one key."""
    _, y = s13()
    ordered, _ = s13()
    rng = np.random.default_rng(5)
    x = rng.standard_normal((6, 2))
    rho = (1.0, 1.0, math.sqrt(2.0))
    merged = product_family(x, ("x0", "x1"), degree=2, rho=rho, scale=False, merged=True)
    for family, words in ((merged, [(0, 1)]), (ordered, [(0, 1), (1, 0)])):
        problem = Problem(family, y, Squared(), NormBall(1.0))
        result = solve(FullGradient(), problem, stop=StopRule(tol=1e-9, max_iter=5000))
        assert result.upper == pytest.approx(0.538134, abs=5e-7)
        weights = result.best.weights.as_dict()
        assert sum(weights.get(w, 0.0) for w in words) == pytest.approx(0.770867, abs=2e-5)
        drawn = solve(RandomizedMirrorDescent(), problem, stop=StopRule(tol=1e-9, max_iter=3000))
        assert drawn.lower <= 0.5381345
        assert drawn.upper == pytest.approx(0.538134, rel=1e-3)


def iterate_at(problem, k=7):
    """The state of a run after a few steps."""
    snapshot = run(RandomizedMirrorDescent(), problem, k + 1)[-1]
    state = replace(
        snapshot.checkpoint,
        keys=snapshot.weights.keys,
        theta=snapshot.weights.values,
        **{name: snapshot.weights.values for name in ("z", "whole", "block", "previous")},
    )
    nu = problem.weight_set.nu
    return Iterate(problem, MirrorMap.of(nu, problem.family.size), state)


@pytest.mark.parametrize("p", [1.0, 1.5])
def test_estimates_are_unbiased_over_all_words(p):
    """MATH 1.2 and 1.3: the mean of ghat is -u/2, for both samplings, merged and ordered."""
    problem, _ = products(p=p)
    at = iterate_at(problem)
    family, a = at.family, at.ridge.a
    keys = family.keys()
    u = family.quadratic_forms(a, keys)
    words = [w for d in range(3) for w in itertools.product(range(3), repeat=d)]
    ideal, uniform = dict.fromkeys(keys, 0.0), dict.fromkeys(keys, 0.0)
    total = family.total(a)
    for word in words:
        key = family.stored(word)
        m = family.orderings(key)
        q = family.quadratic_forms(a, (key,))[0] / total
        ideal[key] += q * total / (2 * m)
        uniform[key] += (1 / len(words)) * len(words) * (q * total) / (2 * m)
    assert list(ideal.values()) == pytest.approx(u / 2, rel=1e-12)
    assert list(uniform.values()) == pytest.approx(u / 2, rel=1e-12)


@pytest.mark.parametrize("p", [1.0, 1.5])
def test_draws_state_the_estimate_of_the_formula(p):
    problem, _ = products(p=p)
    at = iterate_at(problem)
    family, a = at.family, at.ridge.a
    rng = np.random.default_rng(0)
    for _ in range(60):
        drawn = ideal_draw(at, rng)
        m = family.orderings(drawn.key)
        assert drawn.gradient == pytest.approx(family.total(a) / (2 * m), rel=1e-12)
        value = family.quadratic_forms(a, (drawn.key,))[0]
        assert drawn.value == pytest.approx(value, rel=1e-9)
        assert drawn.degree_law == pytest.approx(family.degree_totals(a) / family.total(a))
        drawn = uniform_draw(at, rng)
        m = family.orderings(drawn.key)
        value = family.quadratic_forms(a, (drawn.key,))[0]
        assert drawn.gradient == pytest.approx(family.n_words * value / (2 * m), rel=1e-12)
        assert drawn.degree_law == pytest.approx(np.array([1, 3, 9]) / 13)


def test_without_the_division_it_goes_to_the_wrong_point(monkeypatch):
    """MATH 1.3: keys that several words mean must have their estimate divided."""
    problem, stack = products()
    optimum = squared_optimum(stack, problem)
    right = solve(RandomizedMirrorDescent(), problem, stop=StopRule(tol=1e-9, max_iter=2000))

    def undivided(at, rng):
        drawn = ideal_draw(at, rng)
        return replace(drawn, gradient=drawn.gradient * drawn.orderings)

    monkeypatch.setattr(mirror_descent, "ideal_draw", undivided)
    wrong = solve(RandomizedMirrorDescent(), problem, stop=StopRule(tol=1e-9, max_iter=2000))
    assert right.last.average_objective <= optimum * (1 + 1e-3)
    assert wrong.last.average_objective >= optimum * (1 + 5e-3)


@pytest.mark.parametrize("kind", SOLVERS)
def test_p_two_is_kernel_ridge_in_closed_form(kind):
    """MATH 1.1: theta = 1 everywhere, K = sum_d S^(d)/rho_d^2."""
    X, y = targets()
    family = product_family(X, ("x1", "x2", "x3"), degree=2, penalty=2.0, merged=False)
    S = X @ X.T / np.mean((X**2).sum(1))
    K = sum(S**d / (2.0 * 4.0**d) for d in range(3))
    J = y @ np.linalg.solve(K + np.eye(24), y) / 2
    problem = Problem(family, y, Squared(), NormBall.of_p(2.0))
    result = solve(kind(), problem, stop=StopRule(tol=1e-7, max_iter=4000))
    assert result.lower <= J * (1 + 1e-12)
    assert result.upper >= J * (1 - 1e-12)
    assert result.upper == pytest.approx(J, rel=5e-3)
    if kind is BoxCoordinateDescent:
        assert result.upper == pytest.approx(J, rel=1e-9)


@pytest.mark.parametrize("kind", SOLVERS[:3])
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0])
def test_resume_is_exact_across_checkpoints(kind, p):
    """From a snapshot between two checkpoints, from one at a checkpoint, and past the next."""
    problem, _ = products(penalty=0.05, p=p)
    n = CHECKPOINT_EVERY + 40
    whole = run(kind(certify_every=30), problem, n + 1)
    for k in (17, CHECKPOINT_EVERY - 1, CHECKPOINT_EVERY, CHECKPOINT_EVERY + 13):
        again = run(kind(certify_every=30), problem, n - k, start=whole[k])
        for one, other in zip(whole[k + 1 :], again, strict=True):
            same(one, other)


def test_the_average_is_of_the_last_half_at_least():
    problem, _ = products(p=1.5)
    found = run(RandomizedMirrorDescent(), problem, 40)
    for k in (1, 2, 3, 4, 7, 8, 11, 16, 31, 32, 39):
        first = max(1, 2 ** (int(math.log2(k)) - 1))
        mean = {}
        for snapshot in found[first : k + 1]:
            for key, value in snapshot.weights.as_dict(0.0).items():
                mean[key] = mean.get(key, 0.0) + value / (k - first + 1)
        average = found[k].average.as_dict(0.0)
        assert average.keys() == mean.keys()
        assert [average[key] for key in mean] == pytest.approx(list(mean.values()), rel=1e-12)


def test_averages_are_evaluated_at_stated_iterations_only():
    problem, _ = products()
    found = run(RandomizedMirrorDescent(certify_every=10), problem, 31)
    assert [s.iteration for s in found if s.certified] == [0, 10, 20, 30]
    for before, after in itertools.pairwise(found):
        solves = 3 if after.certified else 1
        assert after.inner_solves == before.inner_solves + solves
        if not after.certified:
            assert after.lower == before.lower
            assert after.average_objective == before.average_objective
    at = found[20]
    for theta, stated in ((at.average, at.average_objective),):
        K = problem.family.combine(theta).matrix()
        J = problem.y @ np.linalg.solve(K + np.eye(24), problem.y) / 2
        assert stated == pytest.approx(J, rel=1e-10)


def test_iterates_are_sparse():
    problem, _ = products()
    for snapshot in run(RandomizedMirrorDescent(), problem, 60):
        assert len(snapshot.weights) == snapshot.support_size <= snapshot.iteration


def test_one_seed_one_stream_another_seed_another():
    problem, _ = products()
    words = [
        [s.drawn for s in run(RandomizedMirrorDescent(seed=seed), problem, 40)]
        for seed in (0, 0, 1)
    ]
    assert words[0] == words[1]
    assert words[0] != words[2]


def test_uniform_sampling_is_the_option_of_mirror_descent():
    problem, _ = products()
    named = run(UniformSampling(seed=3), problem, 30)
    chosen = run(RandomizedMirrorDescent(seed=3, sampling="uniform"), problem, 30)
    for one, other in zip(named, chosen, strict=True):
        same(replace(one, origin=other.origin), other)


def test_the_theoretical_step_is_the_constant_of_the_bound():
    """MATH 1.2: sqrt(2 delta (r-1)/(B T)) with B = C^2/4 at the start."""
    problem, _ = products()
    found = run(RandomizedMirrorDescent(step_rule="theoretical", horizon=400, step=2.0), problem, 5)
    mu = 2 * math.log(problem.family.size)
    C = problem.family.total(problem.y)
    eta = 2.0 * math.sqrt(2 * 0.5 * (1 / (mu - 1)) / (C**2 / 4 * 400))
    assert [s.step for s in found[1:]] == pytest.approx([eta] * 4, rel=1e-12)


@pytest.mark.parametrize("p", [1.0, 1.5])
def test_the_adaptive_step_falls_with_the_gradients_seen(p):
    """MATH 1.2; the rule "recent" takes those of the steps that the average covers."""
    problem, _ = products(p=p)
    nu, size = problem.weight_set.nu, problem.family.size
    curvature = MirrorMap.of(nu, size).r - 1.0
    for rule in ("adaptive", "recent"):
        found = run(RandomizedMirrorDescent(step_rule=rule), problem, 130)
        squares = np.array([0.0] + [s.gradient**2 for s in found[1:]])
        for k in range(1, 130):
            first = 1 if rule == "adaptive" else 2 ** int(math.log2(k)) // 2
            expected = math.sqrt(curvature / squares[first : k + 1].sum())
            assert found[k].step == pytest.approx(expected, rel=1e-12)


def test_recent_steps_forget_the_first_gradients():
    """With a small penalty the first gradients are far larger than those near the optimum."""
    problem, stack = products(penalty=0.003)
    optimum = squared_optimum(stack, problem)
    stop = StopRule(tol=1e-9, max_iter=1500)
    excess = {}
    for rule in ("recent", "adaptive"):
        ends = [
            solve(RandomizedMirrorDescent(seed=seed, step_rule=rule), problem, stop=stop)
            for seed in range(5)
        ]
        assert all(r.lower <= optimum * (1 + 1e-6) for r in ends)
        excess[rule] = float(np.median([r.last.average_objective / optimum - 1 for r in ends]))
    assert excess["recent"] < 0.5 * excess["adaptive"]


def test_p_above_four_thirds_on_a_large_family_warns_at_the_start():
    X = np.random.default_rng(0).standard_normal((20, 12))
    for p, degree, warned in [(1.5, 3, True), (2.0, 3, True), (4 / 3, 3, False), (2.0, 2, False)]:
        family = product_family(X, tuple("abcdefghijkl"), degree=degree, merged=False)
        problem = Problem(family, X[:, 0], Squared(), NormBall.of_p(p))
        first = run(RandomizedMirrorDescent(), problem, 2)
        assert bool(first[0].events) is warned
        assert not first[1].events
        if warned:
            assert f"p = {p:g} is above 4/3" in first[0].events[0]


def test_a_family_of_over_10_to_the_18_runs_and_certifies():
    """A stopped search still bounds: the gap says where it stopped.

    Features of -1 and +1 give every product the same size, so that nothing but
    the sums bounds the search.
    """
    rng = np.random.default_rng(1)
    X = rng.choice([-1.0, 1.0], (40, 200))
    y = rng.choice([-1.0, 1.0], 40)
    names = tuple(f"x{j}" for j in range(200))
    family = product_family(X, names, degree=8, growth=1.0, scale=False)
    assert family.n_words > 10**18
    problem = Problem(family, y, Squared(), NormBall())
    solver = RandomizedMirrorDescent(certify_every=10, search_nodes=3)
    found = run(solver, problem, 21)
    assert 0 < found[-1].lower <= found[-1].upper
    assert found[-1].certificate == "search stopped at 3 nodes"
    assert math.isfinite(found[-1].gap)


def test_full_gradient_refuses_what_it_cannot_list():
    X = np.random.default_rng(0).standard_normal((10, 30))
    family = product_family(X, tuple(f"x{j}" for j in range(30)), degree=6)
    problem = Problem(family, X[:, 0], Squared(), NormBall())
    assert "take mirror-descent, or a lower degree" in FullGradient().supports(problem)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"step": 0.0}, "step must be a positive number"),
        ({"step": math.nan}, "step must be a positive number"),
        ({"step": 1e100}, "step must be a positive number from 1e-06 to 1e\\+06"),
        ({"step": True}, "step must be a positive number"),
        ({"step_rule": "fast"}, "step_rule must be recent or adaptive or theoretical"),
        ({"sampling": "best"}, "sampling must be ideal or uniform"),
        ({"certify_every": 0}, "certify_every must be a whole number of at least 1"),
        ({"certify_every": 2.5}, "certify_every must be a whole number"),
        ({"search_nodes": 0}, "search_nodes must be a whole number"),
        ({"horizon": -1}, "horizon must be a whole number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": True}, "seed must be a whole number"),
    ],
)
def test_hyper_parameters_that_cannot_be_used_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        RandomizedMirrorDescent(**options)


@pytest.mark.parametrize("kind", SOLVERS)
def test_a_target_of_zeros_is_solved_at_once(kind):
    X, _ = targets()
    family = product_family(X, ("x1", "x2", "x3"), degree=2, merged=False)
    problem = Problem(family, np.zeros(24), Squared(), NormBall.of_p(2.0))
    found = run(kind(), problem, 4)
    assert all(s.upper == s.lower == s.objective == 0.0 for s in found)
    assert all(s.gap == 0.0 for s in found)


def test_none_of_them_takes_the_hinge_loss_or_another_set():
    from tests.contracts.test_solvers import small_problem

    hinge, _ = small_problem(NormBall(2.0))
    for kind in SOLVERS:
        assert "is for the squared loss, not for hinge" in kind().supports(hinge)
    assert {kind.name for kind in SOLVERS} <= set(available_solvers())


def test_each_snapshot_holds_what_it_was_drawn_from_and_shares_it_with_the_one_before():
    X = np.random.default_rng(1).standard_normal((25, 4))
    problem = Problem(product_family(X, degree=2), X[:, 0] * X[:, 1], Squared(), NormBall.of_p(1.0))
    found = run(RandomizedMirrorDescent(), problem, 205)
    assert not len(found[0].drawn_from)
    for before, here in itertools.pairwise(found):
        np.testing.assert_allclose(here.drawn_from, before.alpha, rtol=1e-8, atol=1e-12)
        total = problem.family.total(here.drawn_from)
        assert total == pytest.approx(here.total, rel=1e-10)
    shared = sum(h.drawn_from is b.alpha for b, h in itertools.pairwise(found))
    assert shared >= len(found) - 5


def test_a_random_run_is_never_called_stalled():
    """Bounds that stand still for a thousand steps may move at the next: S12 at p = 1."""
    seen = []
    result = solve(
        RandomizedMirrorDescent(certify_every=1),
        s12((2.0, 1.5), 1.0),
        stop=StopRule(tol=1e-12, max_iter=1500),
        callbacks=[seen.append],
    )
    bounds = [(s.upper, s.lower) for s in seen]
    assert any(bounds[k] == bounds[k + 21] for k in range(len(bounds) - 21))
    assert result.status is Status.ITERATION_LIMIT


@pytest.mark.parametrize("kind", SOLVERS[:3])
@pytest.mark.parametrize("n", [7, 49])
def test_a_run_that_ends_between_certificates_is_certified_where_it_ends(kind, n):
    problem, stack = products()
    optimum = squared_optimum(stack, problem)
    result = solve(kind(certify_every=50), problem, stop=StopRule(tol=1e-9, max_iter=n))
    assert not result.last.certified
    assert result.final.certified
    assert result.last.lower < result.lower <= optimum * (1 + 1e-6)
    assert optimum * (1 - 1e-6) <= result.upper <= result.last.upper
    assert result.final.certificate == "exact"


def test_a_run_that_its_last_certificate_shows_converged_is_so_called():
    problem, _ = products()
    rule = StopRule(tol=5e-2, max_iter=49)
    assert solve(RandomizedMirrorDescent(), problem, stop=rule).status is Status.CONVERGED


def test_gradients_beyond_the_doubles_move_nothing_and_raise_nothing():
    X, y = targets()
    rho = (1e-90, 1e-90)
    family = product_family(X, ("x1", "x2", "x3"), degree=1, rho=rho, scale=False)
    problem = Problem(family, y, Squared(), NormBall())
    result = solve(RandomizedMirrorDescent(), problem, stop=StopRule(max_iter=3))
    assert result.status in (Status.ITERATION_LIMIT, Status.NOT_FINITE)
    assert math.isfinite(result.upper)


def test_p_so_near_one_that_steps_vanish_is_told():
    problem, _ = products(p=1.0000001)
    assert "take p = 1" in run(RandomizedMirrorDescent(), problem, 1)[0].events[0]
    assert not run(RandomizedMirrorDescent(), products(p=1.001)[0], 1)[0].events
