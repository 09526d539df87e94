"""What goes wrong in a race, or comes at an odd moment, and what is said of it."""

import asyncio
import dataclasses
import threading
import time
from types import SimpleNamespace

import pytest

from mkldash.apps.racing.conductor import Race
from mkldash.apps.racing.lanes import Lane
from mkldash.apps.racing.page import RacePage
from mkldash.apps.racing.schedule import AXES
from mkldash.apps.racing.state import RaceState
from mkldash.apps.racing.words import _kernels, sentence, tell
from mkldash.apps.table_intake import TableIntake
from mkldash.streaming.session import COMPUTE_SLOTS
from tests.apps.test_race_lanes import golden, reading, wait

LINK = (
    "data=two-moons&train_fraction=0.3&tol=0.0001&speed=1000&a=neighborhood~accelerated"
    "&b=neighborhood~level"
)


def test_a_race_without_lanes_rests_and_goes_on_with_the_next_lane(begin):
    race = begin(golden())
    wait(lambda: race.over and not race.playing)
    race.adopt(race.state.remove("a"))
    wait(lambda: not race.stale and not race.lanes)
    race.play()
    wait(lambda: not race.playing)
    race.step()
    told = tell(race.look())
    assert (race.cursor, told.facts["state"], told.alert) == (0, "idle", "")
    assert told.sentence == "No lane yet: add a solver."
    assert not race.look().can_step
    race.adopt(race.state.add("elastic-net", "block-coordinate"))
    wait(lambda: race.over and race.look().at_end)
    assert tell(race.look()).facts["state"] in ("running", "finished")


def test_a_race_that_fails_says_so_once_and_reset_begins_it_again(begin, monkeypatch):
    calls = []

    def fail(self, lane, axis):
        calls.append(lane)
        raise OverflowError("too far")

    with monkeypatch.context() as patch:
        patch.setattr(Race, "_advance", fail)
        race = begin(golden())
        wait(lambda: race.broken)
        race.play()
        time.sleep(0.1)
        assert len(calls) == 1
    told = tell(race.look())
    assert told.alert == "The race cannot go on: too far; Reset begins it again."
    assert told.tone == told.facts["state"] == "failed"
    assert not race.playing
    race.start()
    wait(lambda: race.over)
    assert tell(race.look()).alert == ""


def test_nothing_is_stepped_while_a_lane_is_made_ready(begin, monkeypatch):
    there, original = threading.Event(), Race._begin

    def late(self, lane):
        self.stage = "loading"
        there.wait(30.0)
        original(self, lane)

    monkeypatch.setattr(Race, "_begin", late)
    race = begin(golden())
    wait(lambda: race.started)
    race.toggle()
    race.step()
    race.step()
    now = race.look()
    there.set()
    assert (now.cursor, now.can_step) == (0, False)
    told = tell(now)
    assert told.facts["state"] == told.tone == "preparing" or not now.beginning
    wait(lambda: race.look().can_step)
    assert "Paused at iteration 0" in tell(race.look()).sentence
    race.step()
    assert race.cursor == 1


def test_a_race_that_is_stopped_while_a_lane_is_made_ready_ends(begin, monkeypatch):
    there, entered, original = threading.Event(), threading.Event(), Lane.begin

    def late(self, parent, on_change):
        entered.set()
        there.wait(30.0)
        original(self, parent, on_change)

    monkeypatch.setattr(Lane, "begin", late)
    race = begin(golden())
    assert entered.wait(30.0)
    race.stop()
    there.set()
    wait(lambda: race.over and race.lanes[0].session is not None)
    wait(lambda: not race.lanes[0].live)
    assert tell(race.look()).alert == "stopped before it began"


def test_lanes_and_what_they_were_built_from_are_read_together(begin):
    race = begin(golden())
    seen, wrong, done = set(), [], threading.Event()

    def read():
        while not done.is_set():
            now = race.look()
            letters = "".join(lane.spec.letter for lane in now.lanes)
            if now.lanes:
                seen.add(letters)
                told = tell(now)
                if letters != "".join(x.letter for x in now.built_from.lanes):
                    wrong.append(letters)
                if len(told.rows) != len(letters):
                    wrong.append(letters)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for letters in ("ab", "abc"):
            race.adopt(race.state.add("elastic-net", "block-coordinate"))
            wait(lambda letters=letters: letters in seen)
    finally:
        done.set()
        reader.join()
    assert wrong == []
    now, lanes = race.look(), race.lanes
    race.lanes = lanes[:1]
    assert [row["letter"] for row in tell(now).rows] == ["a", "b", "c"]
    race.lanes = lanes


def test_seconds_beside_another_page_are_said_to_be_too_many(begin):
    race = begin(golden())
    wait(lambda: race.over and not race.playing)
    assert race.quiet.share_beside == 0.0
    assert "another page" not in tell(race.look()).foot.lower()
    other = COMPUTE_SLOTS.request(lambda: None)
    try:
        race.start()
        wait(lambda: race.started == 2 and race.over and not race.playing)
    finally:
        COMPUTE_SLOTS.release(other)
    assert race.quiet.share_beside == pytest.approx(1.0)
    foot = tell(race.look()).foot
    assert "nother page of this server computed for 100 % of the lanes' time" in foot
    assert "the seconds of this race are too many: Reset runs it again." in foot
    race.start()
    wait(lambda: race.started == 3 and race.over)
    assert race.quiet.share_beside == 0.0


def test_what_was_put_off_is_drawn_after_the_last_frame():
    async def watch():
        page = RacePage("a race", LINK)

        def woken():
            page._later = None
            page._draw()

        page._woken = woken
        page.race.quiet._ready = lambda: True  # no browser paints here
        page.begin()
        try:
            end = time.monotonic() + 60.0
            page._draw()
            while not (page.race.over and not page.race.playing):
                assert time.monotonic() < end
                await asyncio.sleep(0.01)
            # Only the page's own timer draws from here on.
            page.pump.stop()
            page.saver.part.ready = False
            page._slow_at = time.monotonic()
            page._draw()
            assert not page.saver.part.ready
            while page._later is not None:
                assert time.monotonic() < end
                await asyncio.sleep(0.01)
            return page.saver.part.ready, page.board.query
        finally:
            page.close()
            page.race.close()

    ready, query = asyncio.run(watch())
    assert ready
    assert "a=neighborhood~accelerated" in query


def test_a_branch_whose_place_is_gone_names_the_way_out(begin):
    state = golden().add("elastic-net", "block-coordinate", parent="a", at=100_000)
    race = begin(state)
    wait(lambda: race.over)
    rows = tell(race.look()).rows
    assert rows[1]["why"].startswith("lane A never reached iteration 100000 ")
    assert "remove this lane and branch A anew" in rows[1]["why"]
    assert rows[0]["with_it"] == "B"


def test_a_reason_that_all_lanes_share_is_said_once(begin):
    state = RaceState.default("two-moons").with_table("mine.csv", b"a;b\n")
    race = begin(dataclasses.replace(state, lanes=state.lanes[:2]))
    wait(lambda: race.over and not race.playing)
    told = tell(race.look())
    assert told.sentence == "All lanes are out."
    assert told.alert.startswith("'mine.csv' has 0 rows ")
    assert [row["why"] for row in told.rows] == ["", ""]
    # Each has a reason of its own: they are in the table.
    state = RaceState.default("two-moons").change("train_fraction", 0.3)
    state = dataclasses.replace(state, lanes=())
    for name in ("accelerated", "level"):
        state = state.add("neighborhood", name)
    race = begin(state.tune("neighborhood", "bank", "golden"))
    wait(lambda: race.over and not race.playing)
    told = tell(race.look())
    assert (told.sentence, told.alert) == ("All lanes are out, see the table.", "")
    assert all("learns no kernel weights" in row["why"] for row in told.rows)


def test_who_is_out_is_listed():
    failed = [reading(x, float("nan"), tone="failed") for x in "abc"]
    found = [*failed, reading("d", 1e-4, 9.0)]
    assert sentence(found, AXES["solves"], tol=1e-3).endswith("A, B and C are out, see the table.")
    assert sentence(failed[:1], AXES["solves"], tol=1e-3) == "A is out, see the table."


def test_kernels_that_are_left_out_are_counted():
    told = _kernels(SimpleNamespace(n_kernels=442, dropped=(None,) * 13))
    assert told == "442 of 455 kernels (13 without effect left out, see the log)"
    assert _kernels(SimpleNamespace(n_kernels=1, dropped=())) == "1 kernel"


def test_a_file_that_cannot_be_read_is_named():
    said = []
    board = SimpleNamespace(say=lambda text, good=False: said.append(text))
    TableIntake(board, lambda: (), lambda name, content: None).take("mine.csv", b"")
    assert said == ["mine.csv: it is empty"]
