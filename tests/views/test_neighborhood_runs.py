"""Bounds with a level, and several solvers on one problem."""

import math

import numpy as np
import pytest

from mkldash.solvers.shifted_svm import ShiftedSVM
from mkldash.views import available_views
from mkldash.views._palette import LINES
from mkldash.views._race import MOST
from mkldash.views.base import FACTS, Rival, Scene
from mkldash.views.bounds import BoundsView
from mkldash.views.level_bounds import NeighborhoodBoundsView
from mkldash.views.solvers_by_iteration import SolversByIterationView
from mkldash.views.solvers_by_time import SolversByTimeView
from tests.views import _neighborhood as fake
from tests.views._fakes import history, snapshot


@pytest.fixture(scope="module")
def problem():
    X, y = fake.rows()
    return fake.problem(fake.gaussian(X, X), y)


def test_the_level_lies_between_the_lower_and_the_models_bound(problem):
    run = fake.level_run(problem, 6)
    info = NeighborhoodBoundsView.prepare(run, 3)
    assert np.all((info.lower <= info.level) & (info.level <= info.model))
    assert list(info.model) == [s.model_upper for s in run]
    assert info.level_at == run[3].level
    assert f"level {run[3].level:,.4f}" in NeighborhoodBoundsView.describe(info)
    view = NeighborhoodBoundsView()
    view.update(info)
    assert list(view._level.data["y"]) == [s.level for s in run]
    assert list(view._model.data["y"]) == list(info.model)


def test_without_a_level_the_bounds_are_those_of_the_other_view(problem):
    run = list(ShiftedSVM().iterate(problem))
    info = NeighborhoodBoundsView.prepare(run, 1)
    plain = BoundsView.prepare(run, 1)
    assert list(info.upper) == list(plain.upper)
    assert info.window == plain.window
    assert len(info.level) == 0
    assert "level" not in NeighborhoodBoundsView.describe(info)
    view = NeighborhoodBoundsView()
    view.update(info)
    named = {item.label.value: item.visible for item in view.figure().legend[0].items}
    assert named == {
        "previous run": False, "upper bound": True, "lower bound": True, "level": False,
        "model's bound": False,
    }  # fmt: skip


def test_a_view_that_replaces_another_names_one_that_exists():
    views = available_views()
    replaced = {v.name: v.replaces for v in views.values() if v.replaces is not None}
    assert replaced["neighborhood-bounds"] == "bounds"
    assert set(replaced.values()) <= set(views)


def test_kernel_weights_are_shown_for_several_kernels_only():
    for name in ("weights-bars", "weights-heatmap"):
        view = available_views()[name]
        assert not view.offered(frozenset({"weights"}))
        assert view.offered(frozenset({"weights", "several_kernels"}))
    assert "several_kernels" in FACTS


def race_scene(**fields):
    slow = history((9.0, 0.0), (8.0, 4.0), (6.0, 5.0), (5.0, 5.0))
    fast = [snapshot(0, 8.0, 7.0, elapsed=0.25)]
    return Scene(
        tol=0.25, solver="A", rivals=(Rival("B", slow, False), Rival("A", fast, True)), **fields
    )


def test_every_run_has_its_curve_and_its_own_name():
    run = [snapshot(0, 9.0, 3.0, elapsed=0.5), snapshot(1, 9.0, 8.0, elapsed=1.5)]
    info = SolversByIterationView.prepare(run, 1, race_scene())
    assert info.names == ("A", "B", "A (2)")
    assert list(info.curves.curves[1].kind) == ["ceiling", "value", "value", "floor"]
    assert info.reached == (1.0, 2.0, 0.0)
    assert info.done == (True, False, True)
    assert (info.cursor, info.at) == (1.0, 0.125)
    assert "A (2) at iteration 0, A at iteration 1, B at iteration 2" in (
        SolversByIterationView.describe(info)
    )


def test_by_time_the_same_gaps_lie_at_seconds_and_never_at_zero():
    run = [snapshot(0, 9.0, 3.0, elapsed=0.5), snapshot(1, 9.0, 8.0, elapsed=1.5)]
    info = SolversByTimeView.prepare(run, 1, race_scene())
    assert list(info.along[0]) == [0.5, 1.5]
    assert list(info.along[1]) == [1e-5] * 4  # a log axis has no zero
    assert info.cursor == 1.5
    assert "within 12.5 percent after 1.5 s" in SolversByTimeView.describe(info)


def test_curves_take_the_names_of_their_solvers_and_lose_them():
    view = SolversByIterationView()
    run = [snapshot(0, 9.0, 3.0), snapshot(1, 9.0, 8.0)]
    view.update(SolversByIterationView.prepare(run, 1, race_scene()))
    named = [i.label.value for i in view.figure().legend[0].items if i.visible]
    assert named == ["A", "B", "A (2)"]
    ends = view._ends.data
    assert list(ends["marker"]) == ["square", "triangle", "diamond", "square"]
    view.update(SolversByIterationView.prepare(run, 0, Scene(solver="A")))
    named = [i.label.value for i in view.figure().legend[0].items if i.visible]
    assert named == ["A"]
    assert len(view._runs[1].data["x"]) == 0


def test_more_solvers_than_colours_are_counted_not_drawn():
    run = history((9.0, 3.0))
    scene = Scene(rivals=tuple(Rival(f"r{i}", run, True) for i in range(7)))
    info = SolversByTimeView.prepare(run, 0, scene)
    assert len(info.names) == MOST == len(LINES)
    assert "2 more solvers are not drawn" in SolversByTimeView.describe(info)
    assert all(math.isnan(x) for x in info.reached)


def test_lines_differ_by_colour_and_by_dashes():
    assert len({colour for colour, _ in LINES}) == len({dashes for _, dashes in LINES}) == MOST
