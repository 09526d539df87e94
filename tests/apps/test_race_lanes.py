"""Lock-step: the schedule as such, and lanes that really run."""

import asyncio
import dataclasses
import math
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from mkldash.apps.racing import exports
from mkldash.apps.racing.quiet import Quiet
from mkldash.apps.racing.saving import seen
from mkldash.apps.racing.schedule import AXES, Standing, most_behind, row_at
from mkldash.apps.racing.standings import Reading, badges, progress
from mkldash.apps.racing.state import RaceState
from mkldash.apps.racing.words import sentence, tell
from mkldash.apps.script import script
from mkldash.solvers import available_solvers
from mkldash.streaming import State


def wait(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def golden(**changes):
    state = RaceState.default("golden").change("train_fraction", 1.0).change("tol", 1e-7)
    state = dataclasses.replace(state.tune("elastic-net", "bank", "golden"), lanes=())
    state = state.add("elastic-net", "block-coordinate")
    return dataclasses.replace(state, speed=1000.0, **changes)


def small():
    """Four solvers on one problem."""
    state = RaceState.default("two-moons").change("train_fraction", 0.3).change("tol", 1e-4)
    state = dataclasses.replace(state, lanes=(), speed=1000.0)
    for name in ("shifted-svm", "accelerated", "gradient", "level"):
        state = state.add("neighborhood", name)
    return state


# -- the schedule alone ----------------------------------------------------------


def test_places_and_values_go_together():
    for axis in AXES.values():
        for place in (0, 1, 7, 64):
            assert axis.place(axis.value(place)) == place
    assert AXES["seconds"].place(0.0) == 0
    assert AXES["seconds"].said(0.0032) == "3.2 ms"
    assert AXES["solves"].said(1.0) == "1 inner solve"


def test_a_row_is_the_last_one_that_was_reached():
    solves = np.array([1.0, 3.0, 3.0, 8.0])
    assert [row_at(solves, at) for at in (0, 1, 2, 3, 7, 8, 99)] == [-1, 0, 0, 2, 2, 3, 3]
    assert row_at(np.empty(0), 5.0) == -1


def test_the_one_furthest_back_goes_on_and_who_has_ended_holds_up_nobody():
    lanes = [Standing(4.0, True), Standing(2.0, True), Standing(1.0, False)]
    assert most_behind(lanes, 5.0) == 1
    assert most_behind(lanes, 4.0) == 1
    assert most_behind(lanes, 2.0) is None
    # Iteration 0 is at 0: a lane without a row goes on even there.
    assert most_behind([Standing(0.0, True), Standing(-math.inf, True)], 0.0) == 1


def reading(letter, gap, reached=math.nan, **more):
    given = {"problem": "elastic-net", "group": "p", "status": "", "tone": "running", **more}
    certified = not math.isnan(reached)
    return Reading(letter, letter.upper(), gap=gap, reached=reached, certified=certified, **given)


def test_nobody_is_first_before_all_are_certified():
    axis = AXES["solves"]
    ahead = [reading("a", 1e-4, 9.0), reading("b", 0.5)]
    assert badges(ahead, axis) == {"a": "ahead"}
    done = [reading("a", 1e-4, 9.0), reading("b", 1e-5, 63.0)]
    assert badges(done, axis) == {"a": "first"}
    assert badges([reading("a", 0.3), reading("b", 0.5)], axis) == {"a": "ahead"}
    assert badges([reading("a", 0.3), reading("b", math.inf)], axis) == {"a": "ahead"}
    # Costs count within one problem, seconds in all; a warm start takes no part.
    other = [done[0], done[1]._replace(group="q")]
    assert badges(other, axis) == {}
    assert badges(other, AXES["seconds"]) == {"a": "first"}
    warm = [done[0], done[1], reading("c", 1e-6, 1.0, comparable=False)]
    assert badges(warm, axis) == {"a": "first"}
    failed = [done[0], done[1], reading("c", math.nan, tone="failed")]
    assert badges(failed, axis) == {"a": "first"}


def test_the_sentence_says_who_needed_what():
    axis = AXES["solves"]
    found = [
        reading("a", 1e-4, 63.0), reading("b", 1e-4, 9.0), reading("c", 0.031, over=True),
        reading("d", math.nan, tone="failed"),
    ]  # fmt: skip
    assert sentence(found, axis, tol=1e-3) == (
        "B certified 0.1 % after 9 inner solves; A needed 63; C ended at 3.1 %; D is out, see the "
        "table."
    )


def test_progress_is_in_decades():
    assert progress(1e-2, 1e-4, 1.0) == pytest.approx(0.5)
    assert progress(1e-5, 1e-4, 1.0) == 1.0
    assert progress(math.inf, 1e-4, 1.0) == progress(math.nan, 1e-4, 1.0) == 0.0


# -- races that run --------------------------------------------------------------


@pytest.mark.parametrize("axis", list(AXES))
def test_lanes_are_in_step_at_every_place(begin, axis):
    race = begin(dataclasses.replace(small(), axis=axis))
    wait(lambda: race.started == 1)
    race.toggle()  # pause
    wait(lambda: race.look().can_step)
    shared, at = {id(lane.workload.problem) for lane in race.lanes}, race.axis
    assert len(shared) == 1
    for _ in range(12 if axis != "seconds" else 40):
        race.step()
        wait(lambda: all(lane.ended or lane.standing(at).newest >= at.value(race.cursor)
                         for lane in race.lanes))  # fmt: skip
        for lane in race.lanes:
            values = lane.values(at)
            # At most one iteration beyond the place, and it is not shown yet.
            assert np.sum(values > at.value(race.cursor)) <= 1
            assert lane.row(at, race.cursor) >= len(values) - 2
    race.scrub(3)
    assert not race.playing
    assert race.cursor == min(3, race.look().last_place)


def test_a_race_is_certified_scored_and_said(begin):
    race = begin(small())
    wait(lambda: race.over and race.look().at_end and not race.playing)
    wait(lambda: all(lane.columns().get("test_score") is not None for lane in race.lanes))
    wait(lambda: all(row["cells"][-1] != "–" for row in tell(race.look()).rows))
    told = tell(race.look())
    assert told.facts["state"] == "finished"
    assert told.tone == "certified"
    assert told.sentence.startswith("Shifted SVM certified 0.01 % after ")
    assert [row["badge"] for row in told.rows] == ["first", "", "", ""]
    assert {row["status"] for row in told.rows} == {"certified"}
    uppers = [lane.columns()["upper"][-1] for lane in race.lanes]
    assert max(uppers) <= min(uppers) * (1 + 2e-4)
    race.adopt(dataclasses.replace(race.state, axis="solves"))
    assert race.look().at_end
    race.scrub(1)
    assert "Looking back at 1 inner solve" in tell(race.look()).sentence
    lines = exports.as_csv(race).read().splitlines()
    assert len(lines) == 2 + sum(len(lane.session.trace) for lane in race.lanes)
    assert lines[2].split(",")[:4] == ["A", "neighborhood", "shifted-svm", "Shifted SVM"]


def test_only_one_lane_computes_at_a_time(begin, monkeypatch):
    busy, most, lock = 0, 0, threading.Lock()

    def watch(kind):
        original = kind._iterate

        def iterate(self, *arguments):
            nonlocal busy, most
            steps = original(self, *arguments)
            while True:
                with lock:
                    busy += 1
                    most = max(most, busy)
                time.sleep(0.001)
                found = next(steps, None)
                with lock:
                    busy -= 1
                if found is None:
                    return
                yield found

        monkeypatch.setattr(kind, "_iterate", iterate)

    for name in {lane.solver for lane in small().lanes}:
        watch(available_solvers()[name])
    race = begin(small())
    wait(lambda: race.over)
    assert most == 1


def test_the_page_is_drawn_between_two_turns_and_lanes_wait_for_it():
    ready = False
    quiet = Quiet(lambda: ready)
    assert quiet.pause() is not None
    ready = True
    assert quiet.pause() is None

    async def draw():
        quiet.turn.acquire()
        asyncio.get_running_loop().call_later(0.05, quiet.turn.release)
        async with quiet.hush():
            assert quiet.turn.locked()  # by the frame
            assert quiet.pause() is not None
        assert not quiet.turn.locked()
        assert quiet.pause() is None

    asyncio.run(draw())


def test_a_branch_goes_on_or_starts_warm_and_the_old_one_stays(begin):
    state = golden().add("elastic-net", "block-coordinate", parent="a", at=3)
    race = begin(state)
    wait(lambda: race.over)
    first, branch = race.lanes
    assert not branch.warm
    assert np.array_equal(first.columns()["upper"], branch.columns()["upper"])
    rows = len(first.session.trace)
    eta = (("eta", 1.0),)
    race.adopt(state.add("elastic-net", "block-coordinate", parent="a", at=3, overrides=eta))
    wait(lambda: len(race.lanes) == 3 and race.over)
    assert race.lanes[0] is first
    assert len(first.session.trace) == rows
    assert race.lanes[2].warm
    told = tell(race.look())
    assert "warm start" in told.more
    assert told.rows[2]["note"] == "warm start from A at 3"
    assert race.lanes[2].problem_key != first.problem_key
    text = script(seen(race))
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True
    ).stdout
    assert done.count(": as on the page") == sum(len(one.numbers) for one in seen(race))
    assert "NOT" not in done
    assert "start: goes on from iteration 3 of run_1" in text
    assert "start: warm, at the point of iteration 3 of run_1" in text


def test_one_lane_that_cannot_run_says_why_and_the_others_go_on(begin):
    state = dataclasses.replace(small(), lanes=small().lanes[:2])
    state = state.tune("neighborhood", "bank", "golden").add("elastic-net", "block-coordinate")
    race = begin(state)
    wait(lambda: race.over)
    rows = tell(race.look()).rows
    assert [row["tone"] for row in rows] == ["failed", "failed", "certified"]
    assert "learns no kernel weights" in rows[0]["why"]
    assert "A and B are out, see the table" in tell(race.look()).sentence


def test_a_flood_of_changes_ends_with_the_last_one(begin):
    race = begin(golden())
    built = []
    build = race._build
    race._build = lambda state, *rest: (
        built.append(state.bases["elastic-net"]["C"]), time.sleep(0.1), build(state, *rest)
    )[-1]  # fmt: skip
    for c in [*range(1, 51), 100]:
        race.adopt(race.state.tune("elastic-net", "C", float(c)))
        alive = [lane for lane in race.lanes if lane.session and lane.session.playing]
        assert len(alive) <= len(race.lanes)
        if not race.stale and race.lanes:
            assert race.lanes[0].choices.C == race.state.bases["elastic-net"]["C"]
        time.sleep(0.005)
    wait(lambda: race.over and not race.stale)
    assert built[-1] == 100.0
    assert len(built) <= 5
    assert race.lanes[0].choices.C == 100.0
    assert f"{race.lanes[0].columns()['upper'][-1]:.3f}" == "305.685"


def test_stop_keeps_what_there_is_and_leaving_holds_the_race(begin):
    race = begin(dataclasses.replace(golden().change("tol", 1e-10), speed=25.0))
    wait(lambda: race.started and race.lanes[0].standing(race.axis).newest >= 2)
    race.hold()
    time.sleep(0.6)
    rows = len(race.lanes[0].session.trace)
    time.sleep(0.3)
    assert len(race.lanes[0].session.trace) == rows
    race.go_on()
    wait(lambda: len(race.lanes[0].session.trace) > rows)
    race.stop()
    wait(lambda: race.lanes[0].session.state is State.FINISHED)
    assert tell(race.look()).rows[0]["status"] == "stopped by you"
    race.start()
    wait(lambda: race.started == 2 and race.lanes[0].standing(race.axis).newest >= 1)
