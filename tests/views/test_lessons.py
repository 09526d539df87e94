"""The notebooks' pictures: geometry exactly, drawings by their words, the live run by its state."""

from __future__ import annotations

import asyncio
import dataclasses
import io
import itertools
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from bokeh.models import ColumnDataSource
from PIL import Image

import mkldash.views
from mkldash.problems.linear_program import maximise_linear
from mkldash.problems.reciprocals import gauge, minimise_reciprocals, reciprocals_steps
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import StopRule
from mkldash.streaming import State
from mkldash.views import lessons
from mkldash.views._front_end import is_live
from mkldash.views._plane import ThreeRows
from mkldash.views.base import Scene
from mkldash.views.lessons._widget import FrameWidget
from mkldash.views.lessons.algorithm_2 import reciprocal_curve, tangent_step
from mkldash.views.lessons.algorithm_3 import sphere
from mkldash.views.lessons.level_method import _targets
from mkldash.views.lessons.sets import boundary, shade, surface
from mkldash.views.level_bounds import NeighborhoodBoundsView
from mkldash.views.level_plane import LevelPlaneView
from tests.recipes import golden_problem
from tests.views import _neighborhood as fake

BETA = np.array([1.0, 0.35])
W = np.array([0.45, 2.1])
ETAS = (0.0, 0.3, 0.5, 1.0)


@pytest.fixture(scope="module")
def run() -> list:
    seen: list = []
    solve(BlockCoordinateDescent(), golden_problem(), callbacks=[seen.append])
    return seen


class TestGeometry:
    @pytest.mark.parametrize("eta", ETAS)
    def test_boundary_lies_on_the_boundary_from_corner_to_corner(self, eta: float) -> None:
        points = boundary(eta, 31)
        left = eta * points.sum(axis=1) + (1 - eta) * (points**2).sum(axis=1)
        np.testing.assert_allclose(left, 1.0, rtol=1e-14)
        np.testing.assert_array_equal(points[[0, -1]], [[1.0, 0.0], [0.0, 1.0]])
        assert points[15, 0] == pytest.approx(points[15, 1])

    @pytest.mark.parametrize("eta", ETAS)
    def test_surface_lies_on_the_boundary_over_all_corners(self, eta: float) -> None:
        mesh = surface(eta, 9)
        sizes = [gauge(point, eta) for point in mesh.reshape(-1, 3)]
        np.testing.assert_allclose(sizes, 1.0, rtol=1e-14)
        np.testing.assert_allclose(mesh[[0, 0, -1], [0, -1, 0]], np.eye(3))

    @pytest.mark.parametrize("eta", ETAS)
    def test_plane_touches_both_level_sets(self, eta: float) -> None:
        step = tangent_step(W, BETA, eta)
        assert step.q @ step.y == pytest.approx(step.p)
        assert gauge(step.y, eta) == pytest.approx(step.p)
        assert step.q @ step.z == pytest.approx(step.p)
        assert (BETA / step.z).sum() == pytest.approx(step.p)

    def test_reciprocal_curve_has_one_value(self) -> None:
        curve = reciprocal_curve(BETA, 1.3, 5.0, 40)
        np.testing.assert_allclose((BETA / curve).sum(axis=1), 1.3)
        assert curve[0, 1] == pytest.approx(5.0)
        assert curve[-1, 0] == pytest.approx(5.0)

    @pytest.mark.parametrize("eta", [0.0, 0.3, 0.8])
    def test_sphere_holds_the_corners(self, eta: float) -> None:
        centre, radius = sphere(eta, 3)
        assert np.linalg.norm(np.eye(3)[0] - centre) == pytest.approx(radius)

    def test_shades_differ(self) -> None:
        assert len({shade(eta) for eta in (0.0, 0.25, 0.5, 0.75, 1.0)}) == 5


def pictures(run: list) -> Iterator[tuple[str, lessons.Picture]]:
    problem = golden_problem()
    steps = list(itertools.islice(reciprocals_steps(BETA, 0.25, W), 6))
    parts = np.arange(8.0).reshape(2, 4) - 3.0
    signs = np.array([-1.0, -1.0, 1.0, 1.0])
    yield "two kernels", lessons.draw_two_kernels((0.0, 0.5, 1.0))
    yield "three kernels", lessons.draw_three_kernels((0.5, 1.0))
    yield "tangent step", lessons.draw_tangent_step(tangent_step(W, BETA, 0.5), BETA, 0.5, 3.2)
    yield "walk", lessons.draw_walk(steps, BETA, 0.25, steps[-1].upper, 3.4)
    theta = minimise_reciprocals(BETA, 0.5).theta
    yield "weight step", lessons.draw_weight_step(BETA, 0.5, theta)
    yield "chord", lessons.draw_chord(BETA, 0.5, (np.array([0.5, 0.6]), np.array([11.0, 3.0])))
    yield "slack", lessons.draw_slack({"$a$": [0.2, 0.9], "$b$": [0.1, 1.0]})
    yield "counts", lessons.draw_counts([0.0, 1.0], {"one": [3, 1], "two": [1, 2]}, at=0.25)
    yield "sphere", lessons.draw_sphere([np.array([1.0, 0.7]), np.array([1.0, 0.2])], 0.5)
    yield "pruning", lessons.draw_pruning(np.array([1.0, 0.8, 0.15]), 0.5)
    yield "parts", lessons.draw_parts(parts, 0.5, signs, ["linear", "gaussian"])
    yield "points", lessons.draw_points(np.eye(4, 2), signs)
    yield "bounds", lessons.draw_bounds(run, Scene(tol=1e-3))
    yield "bars", lessons.draw_bars(run)
    yield "run", lessons.EmbeddedRun(problem, name="golden").still()
    yield from neighborhood_pictures()
    curve = lessons.Curve("$h$", [1, 10], [1, 100], dots=True)
    yield "curves", lessons.draw_curves([curve], title="T", x_label="x", y_label="y", log="xy")


def neighborhood_pictures() -> Iterator[tuple[str, lessons.Picture]]:
    X, y = fake.rows()
    K = fake.gaussian(X, X)
    problem, three = fake.problem(K, y), fake.triangle()
    scene, flat = lessons.whole_scene(problem), lessons.whole_scene(three)
    level, steps = fake.level_run(three, 8), fake.gradient_run(problem)
    yield "kernel", lessons.draw_kernel(X, y, K)
    yield "heatmaps", lessons.draw_heatmaps({"one": (steps, scene), "two": (steps[:3], scene)})
    yield "seen", lessons.draw_seen(K @ y, 0.9 * K @ y, y)
    yield "bias", lessons.draw_bias(np.full(24, 0.3), X[:, 0], y)
    yield "neighborhood run", lessons.draw_neighborhood_run(steps, scene)
    yield "level steps", lessons.draw_level_steps(level, flat, range(4))
    yield "level bounds", lessons.draw_level_bounds({"level": level}, flat)
    paths = {"level": level, "gradient": fake.gradient_run(three)}
    yield "paths", lessons.draw_paths(paths, flat)
    point = lessons.Point("two rows", np.array([0.0, 10.0]), np.array([1.0, -1.0]), 1.0, (-9, -1))
    yield "imbalance", lessons.draw_imbalance([point])
    yield "race", lessons.draw_race({"toy": paths}, 1e-3)
    rho, shares = np.array([1.0, 10.0]), np.array([[0.5, 0.6], [0.7, 0.9]])
    scored = lessons.Scored("toy", rho, {"C = 1": shares}, {"C = 1": shares[0]})
    yield "accuracies", lessons.draw_accuracies([scored])
    weights = np.array([[1.0, 0.0, 0.2], [0.1, 0.001, 1.0]])
    yield "weights", lessons.draw_weights_by_rho(rho, weights, ["a", "b", "c"])


class TestPictures:
    @pytest.mark.slow
    def test_each_is_a_sharp_png_with_words(self, run: list) -> None:
        for name, picture in pictures(run):
            image = Image.open(io.BytesIO(picture.png))
            assert image.format == "PNG", name
            assert image.width > 1.4 * picture.width, name
            assert image.convert("L").getextrema()[0] < 120, f"{name} is empty"
            assert len(picture.png) < 200_000, name
            data, facts = picture._repr_mimebundle_()
            assert data["text/plain"] == picture.text == facts["image/png"]["alt"], name
            assert len(picture.text) > 15, name

    def test_same_numbers_give_the_same_bytes(self, run: list) -> None:
        assert lessons.draw_bounds(run).png == lessons.draw_bounds(run).png
        one, two = (lessons.draw_three_kernels((0.5,)) for _ in range(2))
        assert one.png == two.png

    def test_words_hold_the_numbers(self) -> None:
        picture = lessons.draw_sphere([np.array([1.0, 0.2])], 0.5)
        assert "the answer (1.00, 0.00)" in picture.text
        answer = maximise_linear(np.array([1.0, 0.8, 0.15]), 0.5)
        said = lessons.draw_pruning(np.array([1.0, 0.8, 0.15]), 0.5).text
        assert f"{answer.steps[0].point[2]:.2f}" in said

    def test_classifiers_are_drawn_by_their_decision_values(self) -> None:
        from mkldash.kernels.banks import make_terms
        from mkldash.kernels.building import build_bank
        from mkldash.problems.problem import Problem

        X = np.random.default_rng(0).standard_normal((20, 2))
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
        problem = Problem(build_bank(X, make_terms("linear", ["a", "b"])), y)
        best = solve(BlockCoordinateDescent(), problem).best
        panel = lessons.Panel("linear", problem, best)
        assert np.all(np.sign(panel.decision(X)) == y)
        picture = lessons.draw_classifiers(X, y, [panel, panel])
        assert picture.text == "Decision boundaries of linear; linear."

    def test_no_global_state_of_matplotlib_is_touched(self) -> None:
        import matplotlib as mpl

        before = dict(mpl.rcParams)
        lessons.draw_two_kernels((0.5,))
        assert dict(mpl.rcParams) == before


class TestFrontEnd:
    def test_nobody_looks_at_a_script(self) -> None:
        assert not is_live()

    @pytest.mark.parametrize(("parent", "live"), [
        ({"content": {"allow_stdin": True}}, True),
        ({"content": {"allow_stdin": False}}, False),
        ({}, False),
    ])  # fmt: skip
    def test_a_front_end_can_ask_its_person(
        self, monkeypatch: pytest.MonkeyPatch, parent: dict, live: bool
    ) -> None:
        kernel = SimpleNamespace(get_parent=lambda channel: parent)
        monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=kernel))
        assert is_live() is live

    def test_live_scripts_are_put_into_the_page(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import panel

        asked = []
        monkeypatch.setattr("mkldash.views._front_end.is_live", lambda: True)
        monkeypatch.setattr(panel, "extension", lambda *a, **k: asked.append((a, k)))
        mkldash.views.notebook()
        assert asked == [((), {"inline": True, "comms": "ipywidgets"})]

    def test_without_one_no_graphics_library_is_loaded(self) -> None:
        code = (
            "import sys, mkldash.views; mkldash.views.notebook(); "
            "print([m for m in ('panel', 'bokeh', 'matplotlib') if m in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"


def test_key_numbers_are_shown_and_found(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda *a, **k: shown.append((a, k)))
    lessons.key_number("answer", 42.00049, ".3f")
    ((bundle,), options) = shown[0]
    assert bundle == {"text/plain": "answer = 42.000"}
    assert options["metadata"] == {lessons.KEY_TYPE: {"name": "answer", "digits": "42.000"}}


class TestNeighborhood:
    def test_words_of_the_kernel_hold_its_means(self) -> None:
        X, y = fake.rows()
        K = np.where(np.equal.outer(y, y), 0.75, 0.25)
        said = lessons.draw_kernel(X, y, K).text
        assert "0.75 within a class and 0.25 between" in said

    def test_scene_holds_the_whole_matrix_by_class(self) -> None:
        problem = fake.triangle((1.0, -1.0, 1.0))
        scene = lessons.whole_scene(problem, 1e-3)
        assert scene.gram is not None
        np.testing.assert_array_equal(scene.gram.rows, [1, 0, 2])
        np.testing.assert_array_equal(scene.gram.y, [-1.0, 1.0, 1.0])
        K = problem.bank.combine(np.ones(1)).matrix()
        np.testing.assert_array_equal(scene.gram.K, K[np.ix_([1, 0, 2], [1, 0, 2])])
        assert (scene.tol, scene.cost, scene.rho) == (1e-3, 1.0, 0.5)

    def test_targets_are_feet_in_the_plane_of_the_triangle(self) -> None:
        problem = fake.triangle(C=0.3)
        run, scene = fake.gradient_run(problem), lessons.whole_scene(problem)
        assert scene.gram is not None
        rows = ThreeRows(scene.gram.K, scene.gram.y, 0.3, 0.5)
        feet, ends = _targets(rows, run, scene)
        assert len(feet) == len(ends) > 0
        # The projection of a foot onto the triangle is the end: at a right angle to the edge.
        corners = rows.drawn(rows.triangle)
        for foot, end in zip(feet, ends, strict=True):
            assert np.max((corners - end) @ (foot - end)) <= 1e-12

    def test_gain_is_by_split(self) -> None:
        shares = np.array([[0.5, 0.7], [0.8, 0.8]])
        scored = lessons.Scored("t", np.ones(2), {"a": shares}, {"a": np.array([0.5, 0.6])})
        mean, error = scored.gain("a")
        np.testing.assert_allclose(mean, [5.0, 25.0])
        np.testing.assert_allclose(error, [5.0, 5.0])


@pytest.fixture
def walk() -> lessons.Scrubber:
    def make(rho: float) -> tuple[list, Scene]:
        problem = fake.triangle(rho=rho)
        return fake.level_run(problem, 6), lessons.whole_scene(problem)

    views = [LevelPlaneView, NeighborhoodBoundsView]
    return lessons.Scrubber(
        make, lessons.Dial("ρ", 0.5, 0.05, 50.0), views,
        lambda run, scene: lessons.draw_level_steps(run, scene, range(3)),
    )  # fmt: skip


class TestScrubber:
    def test_a_program_sees_the_still(self, walk: lessons.Scrubber) -> None:
        data, _ = walk._repr_mimebundle_()
        assert set(data) == {"image/png", "text/plain"}
        assert data["text/plain"].startswith("Iteration 0: Iterate 0 lies ")

    def test_steps_stay_within_the_run(self, walk: lessons.Scrubber) -> None:
        walk.step(-1)
        assert walk.cursor == 0
        walk.scrub(99)
        assert walk.cursor == 5
        assert walk.sentence().startswith("ρ = 0.5, 5 of 5 iterations. Iterate 5 lies ")

    def test_it_plays_to_the_end_and_then_from_the_start(self, walk: lessons.Scrubber) -> None:
        walk.toggle()
        for _ in range(9):
            walk.advance()
        assert (walk.cursor, walk.playing) == (5, False)
        walk.toggle()
        assert (walk.cursor, walk.playing) == (0, True)
        walk.toggle()
        walk.advance()
        assert (walk.cursor, walk.playing) == (0, False)

    def test_the_dial_solves_anew_and_keeps_the_place(self, walk: lessons.Scrubber) -> None:
        walk.scrub(3)
        before = walk.run
        walk.choose(0.5)
        assert walk.run is before
        walk.choose(5.0)
        assert walk.run is not before
        assert walk.scene.rho == 5.0
        assert walk.cursor == 3

    def test_a_large_value_is_written_out(self, walk: lessons.Scrubber) -> None:
        walk.choose(1e4)
        assert walk.sentence().startswith("ρ = 10,000, 0 of ")

    def test_the_page_follows_its_buttons(self, walk: lessons.Scrubber) -> None:
        widget = walk._widget
        assert widget is walk._widget
        page = walk._walk
        assert "Iterate 0 lies" in page.sentence.text
        # The page draws what is in the bundle; messages before that are lost.
        assert "Iterate 0 lies" in str(widget.render_bundle)

        async def press() -> None:
            walk.step()
            walk.wake()

        asyncio.run(press())
        assert page.cursor.value == 1
        assert "Iterate 1 lies" in page.sentence.text
        assert "cut at the level" in page.key.text
        assert page.play.label == "▶ Play"
        # A page that is loaded anew asks for the state.
        assert "Iterate 1 lies" in str(widget.get_state()["render_bundle"])
        assert "render_bundle" not in widget.get_state("combine_events")


@pytest.fixture
def live() -> Iterator[lessons.EmbeddedRun]:
    found = lessons.EmbeddedRun(golden_problem(), name="golden")
    yield found
    found.close()


class TestEmbeddedRun:
    def test_nothing_runs_before_a_click(self, live: lessons.EmbeddedRun) -> None:
        live.choose(eta=0.2)
        assert live.session is None
        assert live.sentence() == "Press Start to solve golden at η = 0.2, C = 100."

    def test_a_program_sees_the_finished_run(self, live: lessons.EmbeddedRun) -> None:
        data, _ = live._repr_mimebundle_()
        assert set(data) == {"image/png", "text/plain"}
        assert live.session is None

    def test_one_step_then_it_waits(self, live: lessons.EmbeddedRun) -> None:
        live.step()
        assert live.session is not None
        assert live.session.wait(30)
        assert len(live.session.trace) == 1
        live.step()
        assert live.session.wait(30)
        assert len(live.session.trace) == 2
        assert live.sentence().startswith("Waiting: η = 0.5, C = 100, iteration 1, within ")

    def test_a_slider_starts_again_warm_and_leaves_a_ghost(self, live: lessons.EmbeddedRun) -> None:
        live.stop = StopRule(tol=1e-2)
        live.toggle()
        first = live.session
        assert first is not None
        assert first.wait(60)
        assert live.sentence().startswith("Converged: η = 0.5")
        live.choose(eta=0.55, C=50.0)
        second = live.session
        assert second is not None
        assert second is not first
        assert second.wait(60)
        session, k, scene = live.shown()
        assert session is second
        assert k == len(second.trace) - 1
        assert scene.ghost is first.trace
        assert live.sentence().startswith("Converged: η = 0.55, C = 50,")
        cold = dataclasses.replace(live.problem, weight_set=ElasticNet(0.55))
        uniform = cold.weight_set.start(4)
        assert not np.allclose(second.trace[0].weights.values, uniform)

    def test_scrubbing_holds_the_picture(self, live: lessons.EmbeddedRun) -> None:
        live.toggle()
        assert live.session is not None
        assert live.session.wait(60)
        live.scrub(2)
        assert live.shown()[1] == 2
        assert "iteration 2," in live.sentence()

    def test_frames_end_with_the_run_and_hold_all_of_it(self, live: lessons.EmbeddedRun) -> None:
        async def watch() -> None:
            live.toggle()
            live.wake()
            assert live._task is not None
            await asyncio.wait_for(live._task, 60)

        asyncio.run(watch())
        assert live.session is not None
        assert live.session.state is State.FINISHED
        figure = live._views[0].figure()
        longest = max(len(s.data["x"]) for s in figure.select(type=ColumnDataSource)
                      if "upper" in s.data)  # fmt: skip
        assert longest == len(live.session.trace)
        assert live._controls.play.label == "▶ Run again"
        assert "Converged: η = 0.5" in live._controls.sentence.text


def test_all_changes_of_a_frame_are_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    from bokeh.models import Div, Row

    divs = [Div(text="a"), Div(text="b")]
    widget = FrameWidget(Row(*divs))
    sent = []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: sent.append(content))
    with widget.frame():
        for div in divs:
            div.text = "changed"
        assert sent == []
    assert len(sent) == 3  # header, metadata, content of one patch
    divs[0].text = "alone"
    assert len(sent) == 6
    with widget.frame():
        pass
    assert len(sent) == 6
