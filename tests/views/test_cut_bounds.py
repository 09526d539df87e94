"""The bounds of solvers that cut over the kernel weights."""

import math

import numpy as np

from mkldash.solvers.cutting_plane import CuttingPlane
from mkldash.solvers.level_set import LevelSet
from mkldash.views.bounds import BoundsView
from mkldash.views.cut_bounds import CutBoundsView
from mkldash.views.level_bounds import NeighborhoodBoundsView
from tests.recipes import golden_problem
from tests.solvers.cut_runs import take, toy


def test_the_level_lies_between_the_bounds():
    run = take(LevelSet(), golden_problem(), 6)
    info = CutBoundsView.prepare(run, 3)
    assert np.all((info.lower <= info.level) & (info.level <= info.upper))
    assert np.all(info.newest <= info.lower)
    assert f"aims at the level {run[3].level:,.2f}"[:-1] in CutBoundsView.describe(info)
    view = CutBoundsView()
    view.update(info)
    assert list(view._level.data["y"]) == [s.level for s in run]
    assert list(view._newest.data["y"]) == list(info.newest)


def test_the_neighborhoods_picture_draws_the_models_lower_bound():
    run = take(LevelSet(), toy(0.5, rho=1.0), 5)
    view = NeighborhoodBoundsView()
    view.update(NeighborhoodBoundsView.prepare(run, 4))
    assert list(view._model.data["y"]) == [s.model_lower for s in run]
    assert list(view._level.data["y"]) == [s.level for s in run]


def test_cutting_planes_have_no_level():
    run = take(CuttingPlane(), golden_problem(), 4)
    info = CutBoundsView.prepare(run, 3)
    assert math.isnan(info.level_at)
    assert len(info.level) == 0
    assert list(info.newest) == [s.newest_lower for s in run]
    view = CutBoundsView()
    view.update(info)
    named = {item.label.value: item.visible for item in view.figure().legend[0].items}
    assert (named["level"], named["newest cut alone"]) == (False, True)
    assert CutBoundsView.describe(info) == BoundsView.describe(info)


def test_it_is_offered_for_cuts_without_a_finite_rho():
    fields = frozenset({"upper", "lower", "model_lower", "level"})
    assert CutBoundsView.offered(fields)
    assert not CutBoundsView.offered(fields | {"shift"})
    assert not CutBoundsView.offered(frozenset({"upper", "lower"}))
