"""The plane of three rows: cuts, level sets and the projection that follows."""

import math

import numpy as np
import pytest

from mkldash.solvers._one_kernel import OneKernel
from mkldash.views._plane import ThreeRows, clip, clip_segment
from mkldash.views.base import Scene
from mkldash.views.level_plane import LevelPlaneView, _numbered
from tests.views import _neighborhood as fake

SIDES = [(-1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0)]


def scene_of(problem):
    return Scene(cost=problem.loss.C, rho=problem.rho, gram=fake.gram_of(problem), tol=1e-3)


def rows_of(problem):
    gram = fake.gram_of(problem)
    return ThreeRows(gram.K, gram.y, problem.loss.C, problem.rho)


@pytest.fixture(scope="module")
def level():
    problem = fake.triangle()
    return problem, fake.level_run(problem, 8)


@pytest.mark.parametrize("y", SIDES)
def test_p_is_feasible_and_f_is_that_of_the_problem(y):
    problem = fake.triangle(y)
    rows, gram, kernel = rows_of(problem), fake.gram_of(problem), OneKernel.of(problem)
    for p in rows.triangle / 3 + rows.triangle.mean(0) / 2:
        alpha = np.empty(3)
        alpha[gram.rows] = rows.basis @ p
        assert problem.y @ alpha == pytest.approx(0.0, abs=1e-15)
        value = kernel.objective(alpha, kernel.decision(alpha))
        assert rows.f(p) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("rho", [0.5, 100.0, math.inf])
@pytest.mark.parametrize("C", [0.2, 1.0, 50.0])
@pytest.mark.parametrize("y", SIDES)
def test_the_optimum_is_below_every_other_feasible_point(y, C, rho):
    rows = rows_of(fake.triangle(y, C, rho))
    best = rows.optimum()
    assert np.all(best >= 0)
    assert best.sum() <= C * (1 + 1e-15)
    p = np.random.default_rng(0).dirichlet(np.ones(3), 4000)[:, :2] * C
    near = best + 1e-4 * (p - best)
    least = rows.f(best)
    assert np.all(rows.f(np.vstack([p, near, rows.triangle])) >= least - 1e-14 * abs(least))


def test_the_picture_keeps_distances():
    rows = rows_of(fake.triangle())
    p, q = np.array([0.1, 0.7]), np.array([0.4, 0.2])
    apart = np.linalg.norm(rows.basis @ (p - q))
    assert math.sqrt(2) * np.linalg.norm(rows.drawn(p - q)) == pytest.approx(apart)


@pytest.mark.parametrize("y", SIDES)
def test_the_level_set_is_what_all_cuts_leave_and_the_next_iterate_lies_in_it(y):
    problem = fake.triangle(y)
    trace, scene = fake.level_run(problem, 7), scene_of(problem)
    order = scene.gram.rows
    for k in range(6):
        info = LevelPlaneView.prepare(trace, k, scene)
        corners = info.level_set
        assert len(corners) >= 3
        alpha = np.empty((len(corners), 3))
        alpha[:, order] = corners @ info.rows.basis.T
        assert np.all((alpha >= -1e-12) & (alpha <= 1 + 1e-12))
        model = np.max([c.value + (alpha - c.alpha) @ c.gradient for c in trace[k].cuts], axis=0)
        assert np.all(model <= -trace[k].level + 1e-9)
        assert np.any(model >= -trace[k].level - 1e-9)  # no larger set would do
        # The next iterate is the nearest point of it, at right angles in the picture.
        assert list(info.following) == list(trace[k + 1].alpha[order[info.rows.pair]])
        here, after = info.rows.drawn(info.path[-1]), info.rows.drawn(info.following)
        away = (info.rows.drawn(corners) - after) @ (here - after)
        assert np.all(away <= 1e-6)


def test_lines_of_cuts_end_on_the_edge_of_the_triangle(level):
    problem, trace = level
    info = LevelPlaneView.prepare(trace, 4, scene_of(problem))
    assert len(info.cuts) > 0
    for line, number in zip(info.cuts, info.cut_iterations, strict=True):
        cut = next(c for c in trace[4].cuts if c.iteration == number)
        alpha = line @ info.rows.basis.T  # all rows, sorted already
        assert cut.value + (alpha - cut.alpha) @ cut.gradient == pytest.approx(-trace[4].level)
        slack = np.column_stack([line, 1 - line.sum(1)])
        assert slack.min(1) == pytest.approx(0.0, abs=1e-12)


def test_contours_are_lines_of_equal_f(level):
    problem, trace = level
    scene = scene_of(problem)
    for k in (0, 7):
        info = LevelPlaneView.prepare(trace, k, scene)
        least = info.rows.f(info.optimum)
        values = info.rows.f(info.contours)
        assert np.isfinite(values).any(axis=1).sum() >= 10
        values = values[np.isfinite(values).any(axis=1)]
        drawn = np.nanmean(values, axis=1, keepdims=True)
        assert np.nanmax(np.abs(values - drawn)) <= 1e-7 * (drawn[-1] - least)
        assert np.all(np.diff(drawn[:, 0]) > 0)
        assert np.all(info.bands >= -1e-12)
        near = info.rows.f(info.near)
        assert -least / -near.max() - 1 == pytest.approx(1e-3, rel=1e-3)


def test_the_path_and_who_gets_a_number(level):
    problem, trace = level
    info = LevelPlaneView.prepare(trace, 5, scene_of(problem))
    assert list(info.iterations) == [0, 1, 2, 3, 4, 5]
    assert info.path == pytest.approx(np.array([s.alpha[1:] for s in trace[:6]]))
    assert info.numbered[-1] == 5
    last = LevelPlaneView.prepare(trace, 7, scene_of(problem))
    assert last.following is None
    crowd = np.array([[0.0, 0.0], [0.01, 0.0], [1.0, 0.0], [1.01, 0.0]])
    assert list(_numbered(crowd, (-1.0, 2.0, -1.0, 1.0))) == [0, 3]
    assert list(_numbered(crowd, (0.5, 2.0, -1.0, 1.0))) == [3]  # the others are outside


def test_late_steps_are_zoomed_into_and_their_level_set_is_in_the_picture(level):
    problem, _ = level
    trace = fake.level_run(problem, 12)
    info = LevelPlaneView.prepare(trace, 10, scene_of(problem))
    assert not info.whole
    x0, x1, y0, y1 = info.window
    spots = info.rows.drawn(np.vstack([info.level_set, info.path[-1:], info.following[None]]))
    assert np.all((spots > (x0, y0)) & (spots < (x1, y1)))
    view = LevelPlaneView()
    view.update(info)
    assert "zoomed in" in view.figure().xaxis[0].axis_label
    assert view._words.data["text"] == []
    assert len(view._locator.data["xs"]) == 3
    view.update(view.prepare(trace, 0, scene_of(problem)))
    assert view._locator.data["xs"] == []
    assert "α₂ →" in view._words.data["text"]
    assert view.figure().xaxis[0].axis_label == (
        "below: α₂ (row 2); left: α₃ (row 3); α₁ (row 1) = their sum"
    )


def test_rows_keep_their_own_numbers_whatever_their_order():
    problem = fake.triangle((1.0, -1.0, 1.0))
    trace = fake.level_run(problem, 2)
    info = LevelPlaneView.prepare(trace, 1, scene_of(problem))
    assert info.names == ("α₁ (row 1)", "α₃ (row 3)", "α₂ (row 2)")
    assert info.path[1] == pytest.approx(trace[1].alpha[[0, 2]])


def test_without_cuts_there_is_a_path_only():
    problem = fake.triangle()
    trace = fake.gradient_run(problem, 6)
    info = LevelPlaneView.prepare(trace, 3, scene_of(problem))
    assert len(info.path) == 4
    assert len(info.level_set) == len(info.cuts) == 0
    assert "cut" not in LevelPlaneView.describe(info)
    view = LevelPlaneView()
    view.update(info)
    assert len(view._step.data["x0"]) == 1
    assert [m[2] for m in view.marks(info)][-1] == "next step"


def test_other_problems_are_not_drawn():
    X, y = fake.rows()
    problem = fake.problem(fake.gaussian(X, X), y)
    info = LevelPlaneView.prepare(fake.gradient_run(problem, 2), 1, scene_of(problem))
    assert info.rows is None
    assert "exactly three" in LevelPlaneView.describe(info)


def test_clipping_by_a_half_plane():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    half = clip(square, np.array([1.0, 0.0]), 0.25)
    assert sorted(map(tuple, half)) == [(0, 0), (0, 1), (0.25, 0), (0.25, 1)]
    assert len(clip(square, np.array([1.0, 0.0]), -1.0)) == 0
    assert len(clip(np.empty((0, 2)), np.array([1.0, 0.0]), 0.0)) == 0
    assert np.array_equal(clip(square, np.array([1.0, 1.0]), 5.0), square)
    line = clip_segment(square, np.array([1.0, 1.0]), 1.0)
    assert line.sum(1) == pytest.approx(1.0)
    assert len(clip_segment(square, np.array([1.0, 1.0]), 5.0)) == 0
