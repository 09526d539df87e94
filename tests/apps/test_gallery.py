"""The pictures of a page: which come first, and the names of their curves."""

import numpy as np
import panel as pn
import pytest

from mkldash.apps.gallery import Gallery, Picture
from mkldash.views.base import Points
from mkldash.views.bounds import BoundsView
from mkldash.views.decision_boundary import DecisionBoundaryInfo, DecisionBoundaryView


@pytest.fixture
def gallery(monkeypatch):
    later = []
    monkeypatch.setattr(pn.state, "execute", lambda callback, schedule: later.append(callback))
    found = Gallery()
    found.later = later
    return found


def names(gallery):
    return {picture.view.name for picture in gallery.pictures if picture.mounted}


def test_a_page_opens_with_what_is_drawn_every_frame_and_brings_the_rest_one_by_one(gallery):
    assert names(gallery) == {"bounds", "gap"}
    assert gallery.first.name in ("bounds", "gap")
    shown = {picture.view.name for picture in gallery.visible}
    assert "decision-boundary" not in shown  # most data sets have more than two features
    for n in range(len(shown) - 2):
        assert gallery._mount_next()
        assert gallery._mount_next()  # asked again before it came: not twice
        assert len(gallery.later) == 1
        gallery.later.pop()()
        assert len(names(gallery)) == 3 + n
    assert not gallery._mount_next()
    assert names(gallery) == shown


def test_the_head_names_the_curves_that_have_data_and_hides_them_on_a_click():
    picture = Picture(BoundsView())
    plot = picture.mount()
    assert not plot.legend[0].visible
    assert picture.head.keys == []
    trace = [one(0, 10.0, -5.0), one(1, 9.0, 2.0)]
    picture.view.update(BoundsView.prepare(trace, 1))
    assert [key[0] for key in picture._keys()] == ["upper bound", "lower bound"]
    (label, colour, dashes, drawn), other = picture._keys()
    assert (bool(dashes), other[2], drawn) == (True, [], True)
    assert colour != other[1]
    picture.head.on_message({"key": label})
    assert [key[3] for key in picture.head.keys] == [False, True]
    hidden = [r for r in plot.renderers if not r.visible]
    assert [r.glyph.y for r in hidden] == ["upper"]
    picture.head.on_message({"key": label})
    assert all(r.visible for r in plot.renderers)
    picture.head.on_message({"key": "no such curve"})
    assert all(r.visible for r in plot.renderers)


def one(iteration, upper, lower):
    from types import SimpleNamespace

    return SimpleNamespace(
        iteration=iteration, upper=upper, lower=lower, weights=np.ones(1), gap=np.inf
    )


def test_the_decision_boundary_has_a_key_of_its_own_classes():
    points = Points(X=np.zeros((2, 2)), y=np.array([1.0, -1.0]), classes=("lower", "upper"))
    none = np.zeros(0, dtype=bool)
    info = DecisionBoundaryInfo(0, None, {}, points, none, none)
    meanings = [meaning for _, _, meaning in DecisionBoundaryView.marks(info)]
    assert meanings == ["lower", "upper", "support vector", "at the bound C", "margin"]
    assert DecisionBoundaryView.marks(info._replace(points=None)) == ()
