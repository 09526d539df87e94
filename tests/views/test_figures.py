"""Figures are built once, only written into, and hold what was prepared."""

import re

import numpy as np
import pytest
from bokeh.models import ColumnDataSource, DataRange1d

from mkldash.views import available_views
from mkldash.views._plotting import fit, nice_ceiling, write
from mkldash.views.base import Points, Scene
from tests.views._fakes import history, snapshot

GRID = np.add.outer(np.linspace(-1, 1, 7), np.linspace(-1, 1, 7))
SCENE = Scene(
    tol=1e-3,
    cost=1.0,
    ghost=history((9.0, 1.0), (7.0, 6.0)),
    points=Points(X=np.zeros((4, 2)), y=np.array([1.0, -1.0, 1.0, -1.0])),
)


def run(n):
    return [
        snapshot(
            k, 10.0 - k / n, float(k) / n, train_accuracy=0.5, test_accuracy=0.5,
            decision_grid=GRID, inner_upper=np.array([2.0, 1.5]), inner_lower=np.array([1.0, 1.4]),
        )
        for k in range(n)
    ]  # fmt: skip


@pytest.mark.parametrize("kind", available_views().values(), ids=lambda v: v.name)
class TestEveryView:
    def test_draws_streams_and_scrubs_without_rebuilding(self, kind):
        view = kind()
        plot = view.figure()
        for n, k in ((0, 0), (1, 0), (5, 4), (30, 29), (30, 3), (2, 1)):
            info = kind.prepare(run(n), k, SCENE)
            view.update(info)
            assert isinstance(kind.describe(info), str)
        assert view.figure() is plot

    def test_is_made_for_streaming(self, kind):
        plot = kind().figure()
        assert plot.toolbar_location is None
        assert not plot.select({"type": DataRange1d})
        assert plot.title.text
        assert any(axis.axis_label for axis in plot.xaxis)

    def test_says_what_it_shows(self, kind):
        assert kind.title
        assert len(kind.caption) > 40
        assert "\\" in kind.formula
        # A command that runs into the next letter is another, unknown command.
        assert not re.search(r"\\q?quad[A-Za-z]", kind.formula)
        assert not kind.caption.startswith("A plot")


def test_a_growing_history_is_streamed_and_another_run_replaces_it():
    source = ColumnDataSource({"x": [], "y": []})
    events = []
    source.on_change("data", lambda a, o, n: events.append("data"))
    write(source, {"x": np.arange(3.0), "y": np.ones(3)})
    write(source, {"x": np.arange(5.0), "y": np.ones(5)})
    assert list(source.data["x"]) == [0, 1, 2, 3, 4]
    write(source, {"x": np.arange(2.0), "y": np.zeros(2)})
    assert list(source.data["y"]) == [0, 0]


def test_ranges_grow_in_steps():
    assert [nice_ceiling(n) for n in (0, 20, 21, 51, 400, 501)] == [20, 20, 50, 100, 500, 1000]


def test_a_range_moves_only_when_the_data_ask_for_it():
    from bokeh.models import Range1d

    axis = Range1d(0, 1)
    fit(axis, 0.0, 9.0)
    first = (axis.start, axis.end)
    fit(axis, 0.3, 8.5)
    assert (axis.start, axis.end) == first
    assert first[0] <= 0
    assert first[1] >= 9.0


def test_no_line_leads_to_an_infinite_gap_and_its_marker_is_whole():
    from mkldash.views.gap import GapView

    view = GapView()
    view.update(GapView.prepare([snapshot(0, 9.0, 0.0), snapshot(1, 8.0, 4.0)], 1, SCENE))
    assert np.array_equal(view._run.data["y"], [np.nan, 1.0], equal_nan=True)
    assert list(view._edge.data["x"]) == [0]
    plot = view.figure()
    assert plot.x_range.start < 0
    assert plot.y_range.end > view._edge.data["y"][0]
