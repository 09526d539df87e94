"""Pictures of several lanes: what is drawn, as numbers."""

import numpy as np
import pytest

from mkldash.kernels.weights import Weights
from mkldash.views._lane_weights import MOST_KERNELS, WeightsFigure, read_weights
from mkldash.views._lanes import Curve, GapFigure, gap_axis, read_gaps

LANES = {"a": ("#12876f", ()), "b": ("#2f81c7", (10, 4))}


def curve(key, gaps, k=-1, **more):
    n = np.arange(len(gaps), dtype=float)
    along = {"iteration": n, "elapsed": 0.01 * n}
    return Curve(key, key.upper(), np.array(gaps, dtype=float), along, k, **more)


def figures():
    shared = gap_axis()
    return (
        GapFigure("one", "iteration", "iterations", LANES, shared),
        GapFigure("two", "elapsed", "seconds", LANES, shared, log=True),
    )


def test_zeros_infinities_and_empty_lanes_are_drawn_and_nothing_is_not_positive():
    info = read_gaps(
        [curve("a", [np.inf, 1e-2, 0.0], k=1), curve("b", [np.nan, 1e-3, -1e-16], k=2)], 1e-3
    )
    for made in (*figures(), GapFigure("no", "iteration", "x", LANES, gap_axis())):
        made.draw(info, frozenset("b"), 1.0 if made.column == "iteration" else None)
        for key in "ab":
            y = np.array(made._sources[key].data["y"], dtype=float)
            assert np.all(np.isnan(y) | (np.isfinite(y) & (y > 0)))
        assert made.plot.y_range.start > 0
        assert set(made._marks.data["lane"]) == {"a"}  # b is hidden
        assert {"triangle", "diamond", "circle"} == set(made._marks.data["marker"])
        assert [made.lines[key][0].visible for key in "ab"] == [True, False]


def test_the_gap_axis_is_one_for_all_figures_and_a_star_says_certified():
    one, two = figures()
    assert one.plot.y_range is two.plot.y_range
    info = read_gaps([curve("a", [1.0, 1e-4], k=1, ended=True)], 1e-3)
    one.draw(info, frozenset(), 1.0)
    assert list(one._marks.data["marker"]) == ["star"]
    one.draw(read_gaps([], None), frozenset(), None)
    assert len(one._sources["a"].data["x"]) == 0


def test_the_cursor_keeps_its_row_however_long_the_curve_is():
    info = read_gaps([curve("a", np.geomspace(1, 1e-6, 5000), k=1237)], None)
    (found,) = info.curves
    assert len(found.gap) <= 2001
    assert found.along["iteration"][found.k] == 1237


def test_a_band_begins_where_every_repeat_has_a_bound():
    band = (np.array([0.1, 1e-3]), np.array([np.inf, 1e-2]))
    (one, _) = figures()
    one.draw(read_gaps([curve("a", [1.0, 5e-3], band=band)], None), frozenset(), None)
    high = np.array(one._sources["a"].data["high"], dtype=float)
    assert np.isnan(high[0])
    assert high[1] == 1e-2


def test_the_same_kernels_stand_above_each_other_also_of_many():
    keys = tuple(f"gaussian {i} · x" for i in range(800))
    rng = np.random.default_rng(0)
    first, second = np.zeros(800), rng.random(800)
    first[[7, 30]] = 2.0, 1.0
    info = read_weights({"a": Weights.of(keys, first), "b": Weights.of(keys, second)})
    assert info.names[0] in (keys[7], keys[int(np.argmax(second))])
    assert info.weights.shape == (2, MOST_KERNELS)
    assert info.weights[0, info.names.index(keys[7])] == 2.0
    assert (info.active, info.total, info.kept) == ((2, 800), 800, 800)
    made = WeightsFigure("weights", LANES)
    made.draw(info, {"a": "A Level", "b": "B Quick"})
    assert len(made._source.data["left"]) == int(np.count_nonzero(info.weights))
    assert made.plot.xaxis[0].axis_label.startswith(f"{MOST_KERNELS} of 800 kernels")
    few = read_weights({"a": Weights.of(keys, first)})
    made.draw(few, {"a": "A Level"})
    assert made.plot.xaxis[0].axis_label.startswith("2 kernels")
    assert made.plot.xaxis[0].major_label_overrides == {0: "G 7 · x", 1: "G 30 · x"}
    assert "A Level: 2 of 800 kernels carry weight (gaussian 7" in made.describe(
        few, {"a": "A Level"}
    )
    products = read_weights(
        {"a": Weights(((1, 4), (2,)), np.array([1.0, 0.5]))}, ["p", "q", "r", "s", "t"]
    )
    assert products.names == ("q · t", "r")
    assert products.weights[0] == pytest.approx([1.0, 0.5])
