"""The live race: assembles conductor, pump, table and pictures."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Collection, Mapping
from typing import Any

import panel as pn

from mkldash.apps import ui
from mkldash.apps.components import Board, LaneTable, PlayerBar
from mkldash.apps.pump import Pump
from mkldash.apps.racing.conductor import Race
from mkldash.apps.racing.controls import Controls
from mkldash.apps.racing.diary import Diary
from mkldash.apps.racing.editor import Editor
from mkldash.apps.racing.glance import Glance
from mkldash.apps.racing.pictures import Pictures, curve_of
from mkldash.apps.racing.saving import RaceSaver
from mkldash.apps.racing.schedule import FIRST_SECONDS, PER_DECADE
from mkldash.apps.racing.state import LaneSpec, RaceState
from mkldash.apps.racing.words import RaceReport, tell
from mkldash.apps.table_intake import TableIntake
from mkldash.streaming.courtesy import COURTESY

__all__ = ["COLUMNS", "RacePage"]

#: Seconds between two updates of the table, of what is read aloud, and of the address.
NUMBERS_EVERY, SPOKEN_EVERY, SLOW_EVERY = 0.2, 1.0, 0.5

#: Heads of the table, and what each number is.
COLUMNS = {
    "Gap": "Relative gap of the certified bounds, upper/lower - 1",
    "Iterations": "Iterations so far",
    "Inner solves": "Smaller problems solved so far: SVMs, projections, programs, ridge problems",
    "Seconds": "The solver's own work; pauses, drawing and the other lanes not counted",
    "Kernels": "Kernels that carry weight",
    "Test score": "Accuracy of the best point so far on rows that were set aside; for numbers "
    "the mean squared error",
}


class RacePage:
    """One page of one person.

    Parameters
    ----------
    title : str
    query : str
        Query of the URL; restores every choice that it names.
    folders : mapping of str to path
        Recorded comparisons that may be opened.
    """

    def __init__(
        self, title: str, query: str = "", folders: Mapping[str, Any] | None = None
    ) -> None:
        self._opened = COURTESY.begin()
        self._title = title
        state, notes = RaceState.from_query(query)
        self.race = Race(state, self._knock, ready=lambda: self.pump.painted)
        self.board = Board(sizing_mode="stretch_width", margin=(4, 6), note=" ".join(notes))
        self.bar = PlayerBar(speed=state.speed, sizing_mode="stretch_width", margin=(4, 6))
        self.bar.on_message = self._command
        self.table = LaneTable(
            columns=list(COLUMNS), hints=list(COLUMNS.values()), sizing_mode="stretch_width",
            caption="Where every lane is at the cursor", margin=(4, 6),
        )  # fmt: skip
        self.table.on_message = self._on_lane
        self.pictures = Pictures(self._hide)
        self.editor = Editor(self._add)
        self.controls = Controls(
            state, self._choose, self._take_table, self._act, {} if folders is None else folders
        )
        self._intake = TableIntake(self.controls.upload, self._shipped, self._adopt_table)
        self.diary = Diary(self.race)
        self.saver = RaceSaver(self.race, self.pictures, title)
        self.log = self.diary.log
        self.pump = Pump(
            self._draw, on_leave=self.race.hold, on_return=self._return,
            on_error=self._failed_frame,
            around=self.race.quiet.hush,
        )  # fmt: skip
        self.pictures.figures["iteration"].plot.tags = self.pump.models
        self._numbers_at = self._spoken_at = self._slow_at = 0.0
        self._last: RaceReport | None = None
        self._owed = False  # what `_draw_slowly` does was put off
        self._drawn: Any = None
        self._later: asyncio.TimerHandle | None = None
        for note in notes:
            self.log.say(note)

    # -- the page --------------------------------------------------------------

    def page(self) -> Any:
        """The page; the race begins when the browser has loaded it."""
        self.pictures.layout.append(self.diary.card())
        main = pn.Column(
            ui.card(self.board, self.bar, self.saver.part, self.table, name="player"),
            self.editor.layout,
            self.pictures.layout,
            sizing_mode="stretch_width", margin=0,
            styles={"gap": "14px", "padding": "14px", "flex": "none"},
        )  # fmt: skip
        pn.state.onload(self.begin)
        pn.state.on_session_destroyed(lambda _: self.close())
        self._page = ui.page(title=self._title, main=[main], sidebar=self.controls.layout)
        return self._page

    def begin(self) -> None:
        """Start the race and the pump; called in the document, once it is loaded."""
        self._opened()
        self.pump.start()
        self.race.start()

    def close(self) -> None:
        """The browser session expired: end all lanes."""
        self._opened()
        self.pump.stop()
        self.race.close(timeout=0.0)

    # -- what a person does ----------------------------------------------------

    def _command(self, message: Mapping[str, Any]) -> None:
        kind, value, race = message["kind"], message["value"], self.race
        if kind == "scrub":
            race.scrub(int(value))
        elif kind == "speed":
            self._adopt(dataclasses.replace(race.state, speed=float(value)))
        elif kind == "narrow":
            self._page.sidebar_open = False
        elif kind == "seed":
            _, most = race.state.first.choice("seed").bounds or (0, 2**31 - 1)
            seed = (int(race.state.first["seed"]) + 1) % (int(most) + 1)
            self._adopt(race.state.change("seed", seed))
        else:
            actions = {
                "play": race.toggle, "step": race.step, "back": race.back,
                "stop": race.stop, "reset": race.start,
            }  # fmt: skip
            if kind in actions:
                actions[kind]()
        self._hurry()

    def _on_lane(self, message: Mapping[str, Any]) -> None:
        kind, letter = message["kind"], str(message["letter"])
        try:
            if kind == "hide":
                self._hide(letter)
            elif kind == "remove":
                self._remove(letter)
            elif kind == "branch":
                self.race.playing = False
                lane = next(x for x in self.race.lanes if x.spec.letter == letter)
                row = lane.row(self.race.axis, self.race.cursor)
                iteration = int(lane.columns()["iteration"][row])
                self.editor.branch(self.race.state, letter, iteration)
        except (ValueError, KeyError, StopIteration, IndexError) as problem:
            self.log.say(str(problem))
        self._hurry()

    def _remove(self, letter: str) -> None:
        """A lane, and what branched off it: a branch is nothing without its past."""
        state = self.race.state
        gone = [branch.upper() for branch in state.branches(letter)]
        self._adopt(state.remove(letter))
        self.editor.close()
        if gone:
            self.log.say(f"was removed, and with it its branches: {', '.join(gone)}.",
                         letter.upper())  # fmt: skip

    def _hide(self, letter: str) -> None:
        state = self.race.state
        self._adopt(dataclasses.replace(state, hidden=state.hidden ^ {letter}))
        self._hurry()

    def _act(self, what: str) -> None:
        state = self.race.state
        if what == "add":
            self.editor.add(state)
        elif what == "all":
            self._adopt(state.with_all((state.problems or tuple(state.bases))[0]))
        elif what == "defaults":
            self._adopt(RaceState.default(None if state.first.table else state.first["data"]))
        self._hurry()

    def _add(self, spec: LaneSpec) -> None:
        more = {n: getattr(spec, n) for n in ("options", "overrides", "parent", "at")}
        self._adopt(self.race.state.add(spec.problem, spec.solver, **more))
        self.race.play()
        self._hurry()

    def _choose(self, problem: str, name: str, value: Any) -> None:
        state = self.race.state
        self.board.note = ""
        try:
            if name == "axis":
                self._adopt(dataclasses.replace(state, axis=value))
            elif problem:
                self._adopt(state.tune(problem, name, value))
            elif not (name == "data" and value == state.first["data"]):
                self._adopt(state.change(name, value))
        except ValueError as wrong:
            self.log.say(str(wrong))
        self._hurry()

    def _adopt(self, state: RaceState) -> None:
        self.race.adopt(state)
        self.controls.show(state)

    def _shipped(self) -> Collection[str]:
        return (self.race.state.first.choice("data").names or dict)()

    def _take_table(self, name: str, content: bytes) -> None:
        self._intake.take(name, content)

    def _adopt_table(self, name: str, content: bytes) -> None:
        self._adopt(self.race.state.with_table(name, content))
        self._hurry()

    def _hurry(self) -> None:
        """A person did something: no throttle for the next frame."""
        self._numbers_at = self._spoken_at = 0.0
        self._knock()

    def _knock(self) -> None:
        pump = getattr(self, "pump", None)
        if pump is not None:
            pump.knock()

    def _return(self) -> None:
        self.race.go_on()
        self._hurry()

    # -- what is drawn ---------------------------------------------------------

    def _draw(self) -> bool:
        """One frame; called by the pump only."""
        now, race = time.monotonic(), self.race.look()
        self._draw_pictures(race)
        self._draw_player(race)
        self._draw_words(race, now)
        self._owed = now - self._slow_at < SLOW_EVERY
        if not self._owed:
            self._slow_at = now
            self._draw_slowly()
        self._wake_later()
        return False

    def _draw_pictures(self, race: Glance) -> None:
        self.pictures.fade(race.stale)
        self.pictures.put_first(race.state.axis)
        lanes, axis, place = race.lanes, race.axis, race.cursor
        key = (
            race.state.axis, place, race.state.hidden, race.started,
            *((id(x), len(x.values(axis)), x.ended) for x in lanes),
        )  # fmt: skip
        if key == self._drawn:
            return
        self._drawn = key
        curves = [curve_of(lane, axis, place) for lane in lanes if lane.session is not None]
        self.pictures.draw(
            curves, tol=race.built_from.first["tol"] if lanes else None,
            hidden=race.state.hidden, axis=race.state.axis,
            cursor=axis.value(place) if curves else None,
        )  # fmt: skip

    def _draw_weights(self, race: Glance) -> None:
        found = {}
        features: tuple[str, ...] = ()
        for lane in race.lanes:
            row = lane.row(race.axis, race.cursor)
            if lane.session is None or row < 0 or lane.spec.letter in race.state.hidden:
                continue
            snapshot = lane.session.trace.peek(row)
            if snapshot is None:
                if not race.playing:
                    lane.session.want(row)  # computed again; no lane runs meanwhile
                continue
            found[lane.spec.letter] = snapshot.best.weights
            work = lane.workload
            if work is not None and work.problem.has_family:
                features = tuple(work.family.base_names)
        names = {lane.spec.letter: lane.named for lane in race.lanes}
        self.pictures.draw_weights(found, names, features)

    def _draw_player(self, race: Glance) -> None:
        axis = race.axis
        length = 0 if race.stale or not race.lanes else max(race.last_place, race.cursor) + 1
        values = {
            "length": length, "position": min(race.cursor, max(0, length - 1)),
            "playing": race.playing, "ended": race.over and race.at_end,
            "can_play": bool(race.state.lanes) and not race.broken, "can_step": race.can_step,
            "can_stop": bool(race.lanes) and not race.over,
            "speed": float(race.state.speed), "unit": axis.one if not axis.logarithmic else "time",
            "pace": axis.pace, "decade": PER_DECADE if axis.logarithmic else 0,
            "origin": FIRST_SECONDS,
        }  # fmt: skip
        changed = {n: v for n, v in values.items() if getattr(self.bar, n) != v}
        if changed:
            self.bar.param.update(**changed)

    def _draw_words(self, race: Glance, now: float) -> None:
        last, new, slowness = self._last, tell(race), self.pump.slowness
        turned = last is None or (new.tone, new.facts["state"], new.facts["run"], new.alert) != (
            last.tone, last.facts["state"], last.facts["run"], last.alert,
        )  # fmt: skip
        if turned or now - self._spoken_at >= SPOKEN_EVERY * slowness:
            self._spoken_at = self._numbers_at = now
            self._write(race, new, spoken=True)
        elif now - self._numbers_at >= NUMBERS_EVERY * slowness:
            self._numbers_at = now
            self._write(race, new, spoken=False)

    def _write(self, race: Glance, new: RaceReport, *, spoken: bool) -> None:
        self._draw_weights(race)
        rows: dict[str, Any] = {"rows": new.rows, "foot": new.foot, "stale": race.stale}
        board: dict[str, Any] = {"progress": new.progress, "progress_title": "The slowest lane"}
        if spoken:
            board |= {
                "sentence": new.sentence, "tone": new.tone, "more": new.more,
                "alert": new.alert, "facts": new.facts,
            }  # fmt: skip
            self._last = new
            self.pictures.say(new.sentence)
        for part, values in ((self.table, rows), (self.board, board)):
            changed = {n: v for n, v in values.items() if getattr(part, n) != v}
            if changed:
                part.param.update(**changed)

    def _wake_later(self) -> None:
        """Words that were held back must appear although nothing else happens."""
        if self._later is None and (self.race.playing or self.race.stale or self._behind()):
            loop = asyncio.get_running_loop()
            self._later = loop.call_later(NUMBERS_EVERY * self.pump.slowness, self._woken)

    def _behind(self) -> bool:
        return self._owed or self._last is None or tell(self.race.look()) != self._last

    def _woken(self) -> None:
        self._later = None
        self._knock()

    def _query(self) -> str:
        return "?" + self.race.state.to_query()

    def _draw_slowly(self) -> None:
        query = self._query()
        if query != self.board.query:
            self.board.query = query
        self.diary.follow()
        self.saver.follow()

    def _failed_frame(self, problem: Exception) -> None:
        with self.pump.writing():
            self.board.alert = f"A picture could not be drawn: {problem}"
