"""Pictures of the notebook on solvers: numbers, words, and the embedded race by its state."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import numpy as np
import pytest
from bokeh.models import ColumnDataSource
from PIL import Image

from mkldash.solvers.base import Snapshot
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.second_order import SecondOrder
from mkldash.solvers.stopping import StopRule
from mkldash.views import lessons
from mkldash.views.lessons.embedded_race import BY_ITERATION, SLICE
from tests.recipes import golden_problem

SOLVERS = (BlockCoordinateDescent(), SecondOrder())


def run_of(solver: Any) -> list[Snapshot]:
    seen: list[Snapshot] = []
    solve(solver, golden_problem(), stop=StopRule(tol=1e-3), callbacks=[seen.append])
    return seen


def bundle_step(end: float = 0.5) -> lessons.BundleStep:
    t = np.linspace(-0.1, 1.2, 14)
    t[[1, 11]] = 0.0, 1.0
    cost = 1.0 + (t - end) ** 2
    cuts = np.array([cost[1] - 2 * end * t, np.full(t.size, 1.0)])
    return lessons.BundleStep("step 1", t, cost, cuts, cuts[0] + t**2, cuts.max(axis=0) + t**2)


def record(solver: str, repeat: int, solves: float | None, gap: float | None) -> dict[str, Any]:
    return {
        "data": "toy", "title": solver, "parameters": {"eta": 0.5}, "repeat": repeat,
        "inner_solves": solves, "gap": gap,
    }  # fmt: skip


class TestNumbers:
    def test_grid_covers_the_triangle_once(self) -> None:
        grid = lessons.simplex_grid(6)
        assert grid.shape == (28, 3)
        np.testing.assert_allclose(grid.sum(axis=1), 1.0)
        assert len({tuple(row) for row in grid}) == 28
        for corner in np.eye(3):
            assert (grid == corner).all(axis=1).any()

    @pytest.mark.parametrize(("end", "gain"), [(0.9, 0.8), (0.2, -0.6)])
    def test_gain_is_the_fall_of_the_cost(self, end: float, gain: float) -> None:
        assert bundle_step(end).gain == pytest.approx(gain)

    def test_costs_group_repeats_and_leave_out_what_was_not_solved(self) -> None:
        records = [
            record("a", 0, 5, 1e-4), record("b", 0, 9, 1e-2), record("a", 1, 9, 1e-4),
            record("a", 2, 6, 1e-4), record("b", 1, None, None), record("b", 2, 7, 1e-4),
        ]  # fmt: skip
        a, b = lessons.Cost.of_records(records, "inner_solves", 1e-3)
        assert (a.case, a.solver, a.values, a.reached) == ("toy, η = 0.5", "a", (5, 9, 6), True)
        assert a.median == 6
        assert (b.values, b.reached) == ((9, 7), False)


class TestPictures:
    @pytest.mark.slow
    def test_each_is_a_sharp_png_with_words(self) -> None:
        grid = lessons.simplex_grid(8)
        values = ((grid - np.array([0.2, 0.5, 0.3])) ** 2).sum(axis=1)
        path = np.array([[1 / 3, 1 / 3, 1 / 3], [0.0, 1.0, 0.0], [0.2, 0.5, 0.3]])
        runs = {solver.title: run_of(solver) for solver in SOLVERS}
        costs = [lessons.Cost("toy", "a", (5.0, 9.0)), lessons.Cost("toy", "b", (7.0,), False)]
        found = {
            "paths": lessons.draw_weight_paths(grid, values, {"one": path}, ("a", "b", "c")),
            "steps": lessons.draw_bundle_steps([bundle_step(), bundle_step(0.2)]),
            "axes": lessons.draw_race_axes(runs, 1e-3),
            "costs": lessons.draw_costs(costs, "T", "solves"),
        }
        for name, picture in found.items():
            image = Image.open(io.BytesIO(picture.png))
            assert image.width > 1.4 * picture.width, name
            assert image.convert("L").getextrema()[0] < 120, f"{name} is empty"
            assert len(picture.png) < 200_000, name
        assert "one takes 2 steps, the longest 0.58" in found["paths"].text
        assert "step 1: over 2 cuts the step raises J by 0.6" in found["steps"].text
        last = runs["Second-order bundle"][-1]
        assert f"{last.iteration} iterations and {last.inner_solves} SVM" in found["axes"].text
        assert found["costs"].text == "T. toy: a 7, b 7 (gap not reached)."


@pytest.fixture
def race() -> lessons.EmbeddedRace:
    return lessons.EmbeddedRace(golden_problem(), SOLVERS, name="golden")


class TestEmbeddedRace:
    def test_nothing_runs_before_a_click(self, race: lessons.EmbeddedRace) -> None:
        race.choose(eta=0.2)
        assert race.lanes == []
        assert race.sentence() == "Press Start to race on golden at η = 0.2, C = 100."
        run, scene = race.scene()
        assert run == []
        assert [scene.solver, *(rival.title for rival in scene.rivals)] == [
            s.title for s in SOLVERS
        ]

    def test_a_program_sees_the_finished_race(self, race: lessons.EmbeddedRace) -> None:
        data, _ = race._repr_mimebundle_()
        assert set(data) == {"image/png", "text/plain"}
        for solver in SOLVERS:
            last = run_of(solver)[-1]
            said = f"{last.iteration} iterations and {last.inner_solves} SVM solves"
            assert said in data["text/plain"]

    def test_a_turn_is_an_iteration_each(self, race: lessons.EmbeddedRace) -> None:
        race.choose(turns=BY_ITERATION)
        race.step()
        run, scene = race.scene()
        assert [len(run), *(len(rival.trace) for rival in scene.rivals)] == [2, 2]
        assert "Waiting: golden at η = 0.5" in race.sentence()
        assert "after 1 iteration each" in race.sentence()

    def test_equal_time_shows_only_what_lies_within_it(self, race: lessons.EmbeddedRace) -> None:
        race.begin()
        for _ in range(10_000):
            race.turn()
            for lane in race.lanes:
                shown = lane.seen[: race._shown(lane)]
                assert all(snapshot.elapsed <= race.granted for snapshot in shown)
                assert lane.over or len(lane.seen) > len(shown)
            if race.over:
                break
        assert race.over
        assert race.granted >= SLICE
        assert not race.playing
        assert "Over: golden" in race.sentence()
        assert "2 of 2 solvers within 0.1 %" in race.sentence()

    def test_solvers_that_do_not_take_a_problem_sit_out(self) -> None:
        from mkldash.solvers.shifted_svm import ShiftedSVM

        race = lessons.EmbeddedRace(golden_problem(), (*SOLVERS, ShiftedSVM()))
        race.step()
        assert [lane.title for lane in race.lanes] == [solver.title for solver in SOLVERS]

    def test_a_slider_starts_the_race_again(self, race: lessons.EmbeddedRace) -> None:
        race.choose(turns=BY_ITERATION)
        race.step()
        before = race.lanes
        race.choose(eta=0.5)
        assert race.lanes is before
        race.choose(eta=0.8)
        assert race.lanes is not before
        assert race.granted == 0.0

    def test_the_page_follows_the_race_to_its_end(self, race: lessons.EmbeddedRace) -> None:
        race.choose(turns=BY_ITERATION)
        race.stop = StopRule(tol=1e-1)

        async def watch() -> None:
            race.toggle()
            race.wake()
            assert race._task is not None
            await asyncio.wait_for(race._task, 60)

        asyncio.run(watch())
        assert race._page.play.label == "▶ Race again"
        assert "Over: golden" in race._page.sentence.text
        figure = race._views[0].figure()
        drawn = {
            source.data["name"][0]: len(source.data["x"])
            for source in figure.select(type=ColumnDataSource)
            if "name" in source.data and len(source.data["name"])
        }
        assert drawn == {lane.title: len(lane.seen) for lane in race.lanes}
