"""What each view computes, exactly; graphics are only smoke-tested."""

import math

import numpy as np
import pytest

from mkldash.views import available_views
from mkldash.views._names import short
from mkldash.views._reading import MAX_POINTS, thin
from mkldash.views.accuracy import AccuracyView
from mkldash.views.base import Points, Scene
from mkldash.views.bounds import BoundsView
from mkldash.views.decision_boundary import DecisionBoundaryView
from mkldash.views.gap import GapView
from mkldash.views.inner_bounds import InnerBoundsView
from mkldash.views.weights_bars import TOP, WeightsBarsView, _shorten
from mkldash.views.weights_heatmap import WeightsHeatmapView
from tests.views._fakes import NAMES, history, snapshot

RUN = history((10.0, -4.0), (8.0, 4.0), (6.0, 6.0))


def test_every_picture_of_the_first_dashboard_is_found_in_order():
    first = [
        "decision-boundary", "bounds", "gap", "weights-bars", "weights-heatmap", "accuracy",
        "inner-bounds",
    ]  # fmt: skip
    assert [name for name in available_views() if name in first] == first


def test_bounds_are_those_of_the_trace_and_one_cursor_marks_them():
    info = BoundsView.prepare(RUN, 1)
    assert list(info.upper) == [10.0, 8.0, 6.0]
    assert list(info.lower) == [-4.0, 4.0, 6.0]
    assert info.cursor == 1
    assert info.at == (8.0, 4.0)
    assert len(info.broken) == 0
    assert "between 4.0000 and 8.0000" in BoundsView.describe(info)


def test_a_lower_bound_far_below_zero_does_not_flatten_the_picture():
    info = BoundsView.prepare(history((10.0, -1e9), (8.0, 7.0)), 1)
    assert info.window == (8.0 - 1.6 * 2.0, 10.0)


def test_a_violated_bound_is_found_and_said():
    info = BoundsView.prepare(history((10.0, 4.0), (8.0, 8.1)), 1)
    assert list(info.broken) == [1.0]
    assert "VIOLATED" in BoundsView.describe(info)


def test_rounding_is_not_a_violation():
    assert len(BoundsView.prepare(history((8.0, 8.0 + 1e-12)), 0).broken) == 0


def test_the_previous_run_stays_as_a_ghost():
    scene = Scene(ghost=history((9.0, 1.0), (7.0, 2.0)))
    info = BoundsView.prepare(RUN, 0, scene)
    assert list(info.ghost_upper) == [9.0, 7.0]
    gaps = GapView.prepare(RUN, 0, scene)
    assert list(gaps.curves.curves[1].drawn) == [8.0, 2.5]


def test_gap_is_infinite_before_the_lower_bound_is_positive_then_zero_at_the_optimum():
    info = GapView.prepare(RUN, 0, Scene(tol=1e-3))
    assert list(info.raw) == [math.inf, 1.0, 0.0]
    assert list(info.curves.curves[0].kind) == ["ceiling", "value", "floor"]
    assert info.curves.floor == 1e-4
    assert "infinite" in GapView.describe(info)
    assert "0.1 percent" in GapView.describe(info)


def test_bars_are_sorted_and_count_what_is_active():
    info = WeightsBarsView.prepare(RUN, 0)
    assert info.names == (NAMES[1], NAMES[3], NAMES[0])
    assert list(info.weights) == [0.8, 0.4, 0.2]
    assert (info.active, info.total) == (3, 4)
    assert info.rest == pytest.approx(0.0)


def test_only_the_top_bars_are_drawn():
    from mkldash.kernels.weights import Weights

    one = snapshot(0, 1.0, 0.5)
    many = Weights.of(tuple(f"k{i}" for i in range(50)), np.linspace(1.0, 0.5, 50))
    object.__setattr__(one, "weights", many)
    info = WeightsBarsView.prepare([one], 0)
    assert len(info.names) == TOP
    assert info.active == 50
    assert info.rest == pytest.approx(1 - many.values[:TOP].sum() / many.values.sum())


def test_heatmap_cells_are_feature_by_kernel_with_all_last():
    info = WeightsHeatmapView.prepare(RUN, 0)
    assert info.rows == ("size", "all")
    assert info.columns == ("gaussian 0.5", "linear")
    assert list(info.row) == [0, 0, 1, 1]
    assert list(info.column) == [0, 1, 0, 1]
    assert info.active == 3
    assert "size (71 percent)" in WeightsHeatmapView.describe(info)


def test_given_matrices_have_one_row():
    one = snapshot(0, 1.0, 0.5)
    from mkldash.kernels.weights import Weights

    object.__setattr__(one, "weights", Weights.of(("first", "second"), (0.5, 0.5)))
    info = WeightsHeatmapView.prepare([one], 0)
    assert info.rows == ("given",)
    assert info.columns == ("first", "second")


def test_short_names_keep_the_parameter():
    assert [short(s) for s in ("gaussian 0.125", "polynomial 2", "linear")] == [
        "G 0.125", "P 2", "L",
    ]  # fmt: skip


def test_bars_keep_the_whole_name_where_it_fits():
    assert _shorten("gaussian 0.125 · V3") == "gaussian 0.125 · V3"
    assert _shorten("gaussian 0.5 · worst concavity") == "G 0.5 · worst concavity"
    assert _shorten("given matrix with a very long name") == "given matrix wi…"


def test_inner_bounds_are_percent_of_the_best_bound():
    run = [
        snapshot(0, 10.0, 1.0),
        snapshot(
            1, 9.0, 2.0, inner_upper=np.array([4.4, 4.0]), inner_lower=np.array([-np.inf, 4.0])
        ),
    ]
    info = InnerBoundsView.prepare(run, 1)
    assert list(info.step) == [1.0, 2.0]
    assert info.upper == pytest.approx([10.0, 0.0])
    assert info.lower[1] == 0.0
    assert info.best == 4.0
    assert len(InnerBoundsView.prepare(run, 0).step) == 0


def test_accuracy_shows_scored_iterations_only():
    run = [
        snapshot(0, 10.0, 1.0, train_accuracy=0.5, test_accuracy=0.25, support_vectors=4),
        snapshot(1, 9.0, 2.0),
        snapshot(2, 8.0, 3.0, train_accuracy=1.0, support_vectors=2),
    ]
    info = AccuracyView.prepare(run, 1)
    assert list(info.iteration) == [0.0, 2.0]
    assert list(info.train) == [50.0, 100.0]
    assert info.test[0] == 25.0
    assert np.isnan(info.test[1])
    assert list(info.vectors) == [4.0, 2.0]
    assert "At iteration 0: training accuracy 50.0 percent, test accuracy 25.0" in (
        AccuracyView.describe(info)
    )


def test_boundary_finds_support_vectors_and_the_line():
    points = Points(
        X=np.array([[-1.0, 0.0], [1.0, 0.0], [0.5, 1.0], [2.0, 2.0]]),
        y=np.array([-1.0, 1.0, 1.0, 1.0]),
        extent=(-2.0, 2.0, -2.0, 2.0),
    )
    grid = np.tile(np.linspace(-2.0, 2.0, 9), (9, 1))
    run = [snapshot(0, 10.0, 1.0, decision_grid=grid, alpha=(0.0, 1.0, 0.5, 0.0))]
    info = DecisionBoundaryView.prepare(run, 0, Scene(points=points, cost=1.0))
    assert list(info.support) == [False, True, True, False]
    assert list(info.bounded) == [False, True, False, False]
    assert set(info.levels) == {-1, 0, 1}
    line = np.vstack(info.levels[0])
    assert line[:, 0] == pytest.approx(np.zeros(len(line)))
    assert "2 of 4 points are support vectors, 1 of them at the bound C" in (
        DecisionBoundaryView.describe(info)
    )


@pytest.mark.parametrize("n", [0, 1, 2, MAX_POINTS, MAX_POINTS + 1, 54321])
def test_thinning_is_bounded_and_keeps_both_ends(n):
    kept = thin(n)
    assert len(kept) <= MAX_POINTS
    if n:
        assert kept[0] == 0
        assert kept[-1] == n - 1
        assert np.all(np.diff(kept) > 0)
