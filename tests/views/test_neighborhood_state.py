"""Pictures of one iterate: dual coefficients, heatmaps, projection."""

from types import SimpleNamespace

import numpy as np
import pytest

from mkldash.problems.projection import imbalance, project
from mkldash.solvers.shifted_svm import ShiftedSVM
from mkldash.views._names import number
from mkldash.views.base import Gram, Scene
from mkldash.views.dual_coefficients import MOST_BARS, DualCoefficientsView, _ordinal
from mkldash.views.kernel_heatmaps import KernelHeatmapsView, _times
from mkldash.views.projection import MOST_BENDS, ProjectionView
from tests.views import _neighborhood as fake
from tests.views._fakes import snapshot

Y = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
ALPHA = (0.5, 0.9, 2.0, 1.6, 0.0)


@pytest.fixture(scope="module")
def run():
    X, y = fake.rows()
    problem = fake.problem(fake.gaussian(X, X), y, rho=0.5)
    return problem, list(ShiftedSVM().iterate(problem))


class TestDualCoefficients:
    def test_rows_go_by_class_then_by_alpha(self):
        run = [snapshot(0, 1.0, 0.5, alpha=ALPHA)]
        info = DualCoefficientsView.prepare(run, 0, Scene(cost=2.0, labels=Y))
        assert list(info.row) == [1, 3, 4, 0, 2]
        assert list(info.alpha) == [0.9, 1.6, 0.0, 0.5, 2.0]
        assert list(info.side) == [-1, -1, 1, 1, 1]
        assert list(info.bounded) == [False, False, False, False, True]
        assert (info.sizes, info.counts, info.sums) == ((2, 3), (1, 3, 1), (2.5, 2.5))
        assert "1 of 5 rows have α = 0, 3 lie in between and 1 are at C = 2" in (
            DualCoefficientsView.describe(info)
        )

    def test_without_labels_all_are_alike(self):
        info = DualCoefficientsView.prepare([snapshot(0, 1.0, 0.5, alpha=ALPHA)], 0)
        assert list(info.row) == [4, 0, 1, 3, 2]
        assert info.sizes == (5, 0)
        view = DualCoefficientsView()
        view.update(info)
        assert len(set(view._bars.data["colour"])) == 1
        assert not view._between.visible
        assert [mark[2] for mark in view.marks(info)] == ["α", "C = 2", "at the bound C"]

    def test_many_rows_are_thinned_and_the_axis_says_so(self):
        n = 4 * MOST_BARS - 3
        alpha = np.linspace(0.0, 1.0, n)
        info = DualCoefficientsView.prepare([snapshot(0, 1.0, 0.5, alpha=alpha)], 0, Scene(cost=1))
        assert info.every == 4
        assert len(info.row) == MOST_BARS
        assert np.array_equal(info.alpha, alpha[::4])
        assert sum(info.counts) == n  # counted over all rows
        view = DualCoefficientsView()
        view.update(info)
        assert view.figure().xaxis[0].axis_label.endswith("(every 4th of 1,197 is drawn)")

    def test_small_bars_beside_a_large_c_are_still_seen(self):
        view = DualCoefficientsView()
        run = [snapshot(0, 1.0, 0.5, alpha=ALPHA)]
        view.update(view.prepare(run, 0, Scene(cost=100.0, labels=Y)))
        assert view.figure().y_range.end <= 3.0
        assert "C = 100" in view.figure().yaxis[0].axis_label
        view.update(view.prepare(run, 0, Scene(cost=2.0, labels=Y)))
        assert view.figure().y_range.end == pytest.approx(2.3)

    def test_ordinals(self):
        assert [_ordinal(n) for n in (2, 3, 11, 12, 21, 112)] == [
            "2nd", "3rd", "11th", "12th", "21st", "112th",
        ]  # fmt: skip


class TestKernelHeatmaps:
    def test_the_parts_are_those_of_the_formula_and_their_distance_is_the_shift(self, run):
        problem, trace = run
        gram = fake.gram_of(problem)
        info = KernelHeatmapsView.prepare(trace, 3, Scene(rho=problem.rho, gram=gram))
        v = (problem.y * trace[3].alpha)[gram.rows]
        assert info.learnt == pytest.approx(np.outer(v, v) / (2 * problem.rho))
        assert np.linalg.norm(info.learnt) == pytest.approx(info.distance)
        assert info.distance == pytest.approx(trace[3].shift)
        assert info.split == 8
        assert info.limit == max(info.largest) == np.abs(gram.K + info.learnt).max()
        # Pairs within a class are lifted, pairs of different classes lowered.
        same = np.equal.outer(gram.y, gram.y)
        assert np.all(info.learnt[same] >= 0)
        assert np.all(info.learnt[~same] <= 0)

    @pytest.mark.parametrize(
        ("size", "limit", "times"),
        [(0.005, 1.0, 200.0), (1.0, 1.0, 1.0), (0.3, 1.0, 1.0), (0.15, 1.0, 5.0),
         (0.09, 1.0, 10.0), (0.02, 1.0, 50.0), (0.0, 1.0, 1.0), (3e-9, 2.0, 5e8)],
    )  # fmt: skip
    def test_a_small_part_is_drawn_stronger_by_a_round_number(self, size, limit, times):
        assert _times(np.full((4, 4), size), limit) == pytest.approx(times)

    def test_how_much_stronger_is_said(self, run):
        problem, trace = run
        gram = fake.gram_of(problem)
        view = KernelHeatmapsView()
        info = view.prepare(trace, 3, Scene(rho=1e4, gram=gram))
        view.update(info)
        assert info.times * np.quantile(np.abs(info.learnt), 0.95) <= info.limit
        capped = info.times * np.abs(info.learnt).max() > info.limit
        drawn = view._sheets.data["image"][1][::-1]
        np.testing.assert_allclose(drawn, info.times * info.learnt, rtol=1e-6)
        words = " ".join(view.figure().xaxis[-1].major_label_overrides.values())
        assert f"×{number(info.times)}{', capped' if capped else ''}" in words

    def test_three_sheets_in_matrix_order_on_one_scale(self, run):
        problem, trace = run
        view = KernelHeatmapsView()
        scene = Scene(rho=problem.rho, gram=fake.gram_of(problem))
        info = view.prepare(trace, 3, scene)
        view.update(info)
        sheets = view._sheets.data["image"]
        assert len(sheets) == 3
        assert sheets[2][-1, 0] == pytest.approx(info.given[0, 0] + info.learnt[0, 0])
        assert (view._mapper.low, view._mapper.high) == (-info.limit, info.limit)
        below = view.figure().xaxis[-1]
        assert list(below.major_label_overrides.values())[1].startswith(
            f"max {number(info.largest[1])}"
        )
        assert "24 training rows, by class; all of them" in below.axis_label

    def test_on_a_narrow_page_the_sheets_lie_one_below_the_other(self, run):
        problem, trace = run
        view = KernelHeatmapsView()
        scene = Scene(rho=problem.rho, gram=fake.gram_of(problem), classes=("a", "much too long"))
        info = view.prepare(trace, 3, scene)
        view.update(info)
        sheets, m = view._sheets.data, 24
        assert list(sheets["slim_x"]) == [0.0] * 3
        low = list(sheets["slim_y"])
        assert low[2] == 0
        assert low[0] - m > low[1] > low[2] + m  # K on top, room for words in between
        assert view._slim.data["y1"][0] > low[0] + m
        words = view._words.data["text"]
        assert words[0] == f"K: max {number(info.largest[0])}"
        assert words[2] == f"= G*: max {number(info.largest[2])}"
        side = view.figure().yaxis[0].major_label_overrides
        assert list(side.values()) == ["a", "much too …"] * 3
        spans = np.array([view._splits.data[name] for name in ("slim_x0", "slim_x1")])
        assert spans.min() == 0
        assert spans.max() == m

    def test_some_rows_of_many_and_an_infinite_rho(self, run):
        problem, trace = run
        whole = fake.gram_of(problem)
        some = Gram(whole.rows[::4], whole.K[::4, ::4], whole.y[::4], 24)
        info = KernelHeatmapsView.prepare(trace, 3, Scene(rho=problem.rho, gram=some))
        assert info.distance == pytest.approx(trace[3].shift)  # over all rows still
        view = KernelHeatmapsView()
        view.update(info)
        assert "6 of 24 training rows" in view.figure().xaxis[-1].axis_label
        plain = KernelHeatmapsView.prepare(trace, 3, Scene(rho=np.inf, gram=some))
        assert not plain.learnt.any()
        assert plain.distance == 0.0


class TestProjection:
    def test_the_root_and_the_curve_are_those_of_the_projection(self):
        X, y = fake.rows()
        problem = fake.problem(fake.gaussian(X, X), y)
        trace = fake.gradient_run(problem, 6)
        scene = Scene(cost=1.0, labels=y)
        info = ProjectionView.prepare(trace, 5, scene)
        assert info.root == trace[5].multiplier
        assert info.root_value == pytest.approx(0.0, abs=1e-12)
        assert info.value == pytest.approx(imbalance(info.shift, trace[5].target, y, 1.0))
        assert np.all(np.diff(info.value) <= 1e-12)
        assert info.n_bends == 48
        # Straight between neighbours: no bend near the root is left out.
        middle = 0.5 * (info.shift[:-1] + info.shift[1:])
        straight = 0.5 * (info.value[:-1] + info.value[1:])
        assert imbalance(middle, trace[5].target, y, 1.0) == pytest.approx(straight)
        again = np.clip(trace[5].target - info.root * y, 0, 1)
        assert again == pytest.approx(trace[5].alpha, abs=1e-12)

    @pytest.mark.parametrize("root", [-9.0, -3.0, -1.0])
    def test_a_flat_stretch_is_found_from_any_root_on_it(self, root):
        run = [SimpleNamespace(iteration=4, target=np.array([0.0, 10.0]), multiplier=root)]
        info = ProjectionView.prepare(run, 0, Scene(cost=1.0, labels=np.array([1.0, -1.0])))
        assert info.flat == (-9.0, -1.0)
        assert "not unique" in ProjectionView.describe(info)
        view = ProjectionView()
        view.update(info)
        assert list(view._flat.data["x"]) == [-9.0, -1.0]
        assert "flat at zero" in view.marks(info)[-1][2]

    def test_a_root_on_a_slope_is_alone(self):
        run = [SimpleNamespace(iteration=4, target=np.array([0.5, 0.25]), multiplier=0.125)]
        info = ProjectionView.prepare(run, 0, Scene(cost=1.0, labels=np.array([1.0, -1.0])))
        assert info.root_value == 0.0
        assert info.flat is None

    def test_many_bends_are_thinned_around_the_root(self):
        rng = np.random.default_rng(3)
        y = np.where(rng.random(2000) < 0.5, 1.0, -1.0)
        target = rng.standard_normal(2000)
        root = project(target, y, 1.0).shift
        run = [SimpleNamespace(iteration=1, target=target, multiplier=root)]
        info = ProjectionView.prepare(run, 0, Scene(cost=1.0, labels=y))
        assert len(info.bends) <= MOST_BENDS + 4
        assert info.shift[0] < root < info.shift[-1]
        near = np.searchsorted(info.shift, root)
        every = np.sort(np.concatenate([y * target, y * (target - 1.0)]))
        at = np.searchsorted(every, root)
        assert list(info.shift[near - 1 : near + 1]) == list(every[at - 1 : at + 1])
        view = ProjectionView()
        view.update(info)
        axis = view.figure().x_range
        shown = np.count_nonzero((info.bends >= axis.start) & (info.bends <= axis.end))
        assert f"({shown} of 4,000 bends" in view.figure().xaxis[0].axis_label

    def test_the_curve_reaches_both_edges_of_an_axis_that_stays(self):
        rng = np.random.default_rng(3)
        y = np.where(rng.random(2000) < 0.5, 1.0, -1.0)
        view = ProjectionView()
        for size in (1.0, 0.5, 0.3, 2.0, 0.9, 0.47):
            target = size * rng.standard_normal(2000)
            root = project(target, y, 1.0).shift
            run = [SimpleNamespace(iteration=1, target=target, multiplier=root)]
            info = ProjectionView.prepare(run, 0, Scene(cost=1.0, labels=y))
            view.update(info)
            axis = view.figure().x_range
            assert info.shift[0] <= axis.start <= info.window[0]
            assert info.shift[-1] >= axis.end >= info.window[1]

    def test_the_start_was_not_made_by_a_projection(self):
        info = ProjectionView.prepare([snapshot(0, 1.0, 0.5)], 0, Scene(cost=1.0, labels=Y))
        assert "no projection has been made yet" in ProjectionView.describe(info)
        view = ProjectionView()
        view.update(info)
        assert not view._at.visible
        run = [SimpleNamespace(iteration=0, target=np.zeros(2), multiplier=0.0)]
        info = ProjectionView.prepare(run, 0, Scene(cost=1.0, labels=np.array([1.0, -1.0])))
        assert view.marks(info) == (("", "", "no projection has been made yet"),)
        view.update(info)
        assert view.figure().xaxis[0].axis_label == "no projection has been made yet"
