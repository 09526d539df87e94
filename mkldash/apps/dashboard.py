"""The live dashboard of one solver run: assembles state, player, pump and pictures.

It lives in the package and not in a served script: Bokeh wipes a script's
globals before a session ends, and the clean-up would be skipped.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping
from typing import Any

import panel as pn

from mkldash.apps import ui
from mkldash.apps.components import Board, PlayerBar
from mkldash.apps.facts import present
from mkldash.apps.gallery import Gallery, wanted_row
from mkldash.apps.log import Log
from mkldash.apps.player import Player, Shown
from mkldash.apps.pump import Pump
from mkldash.apps.saving import Saver
from mkldash.apps.sidebar import Sidebar
from mkldash.apps.state import COSMETIC, AppState, taken
from mkldash.apps.table_intake import TableIntake
from mkldash.apps.words import Report, report
from mkldash.streaming import Session, State
from mkldash.streaming.courtesy import COURTESY

__all__ = ["Dashboard"]

#: Seconds between two updates of numbers (4 Hz), and of what is read aloud (1 Hz),
#: as long as the page need not share.
NUMBERS_EVERY, SPOKEN_EVERY = 0.25, 1.0

#: Seconds between two scorings of a running run (test accuracy, decision grid): each may
#: cost as much as an iteration.  As long as the page need not share.
SCORED_EVERY = 0.15

#: Seconds between two updates of the address bar and the log.
SLOW_EVERY = 0.5


class Dashboard:
    """One page of one person.

    Parameters
    ----------
    title : str
    query : str
        Query of the URL; restores every choice that it names.
    problem : str
        A name of `mkldash.experiments.problem_kinds.PROBLEMS`.
    """

    def __init__(self, title: str, query: str = "", problem: str = "elastic-net") -> None:
        self._opened = COURTESY.begin()
        self._title = title
        state, self._notes = AppState.from_query(query, problem)
        self.player = Player(state, self._knock)
        self.gallery = Gallery(state)
        self.board = Board(sizing_mode="stretch_width", margin=(4, 6))
        self.bar = PlayerBar(
            speed=float(state["speed"]), branches=True, sizing_mode="stretch_width", margin=(4, 6)
        )
        self.bar.on_message = self._command
        self.sidebar = Sidebar(state, self._choose, self._take_table, self._defaults)
        self.log = Log()
        self.saver = Saver(self.player, self.gallery, title)
        self.pump = Pump(
            self._draw,
            on_leave=self.player.leave,
            on_return=self._return,
            on_error=self._failed_frame,
        )
        # The acknowledgement models must be in the document: a figure carries them.
        self.gallery.first.tags = self.pump.models
        self._last_report: Report | None = None
        self._numbers_at = self._spoken_at = self._slow_at = self._scored_at = 0.0
        self._query = ""
        self._tables: dict[str, bytes] = {}
        self._intake = TableIntake(self.sidebar.upload, self._shipped, self._adopt_table)
        self._alerted = False
        self._offered: tuple[Session, bool] | None = None
        self._later: asyncio.TimerHandle | None = None
        self.board.note = " ".join(self._notes)
        for note in self._notes:
            self.log.say(note)

    # -- the page --------------------------------------------------------------

    def page(self) -> Any:
        """The page; the run begins when the browser has loaded it."""
        self.gallery.layout.append(
            ui.card(
                ui.heading("What happened"), self.log.layout, self.saver.recipe.part, name="log"
            )
        )
        main = pn.Column(
            ui.card(self.board, self.bar, self.saver.part, name="player"),
            self.gallery.layout,
            sizing_mode="stretch_width",
            margin=0,
            styles={"gap": "14px", "padding": "14px", "flex": "none"},
        )
        pn.state.onload(self.begin)
        pn.state.on_session_destroyed(lambda _: self.close())
        self._page = ui.page(title=self._title, main=[main], sidebar=self.sidebar.layout)
        return self._page

    def begin(self) -> None:
        """Start the run and the pump; called in the document, once it is loaded."""
        self._opened()
        self.pump.start()
        self.player.start()

    def close(self) -> None:
        """The browser session expired: end the run."""
        self._opened()
        self.pump.stop()
        self.player.close()

    # -- what a person does ----------------------------------------------------

    def _command(self, message: Mapping[str, Any]) -> None:
        kind, value = message["kind"], message["value"]
        if kind == "scrub":
            self.player.scrub(int(value))
        elif kind == "speed":
            self._choose("speed", float(value))
        elif kind == "narrow":
            self._page.sidebar_open = False
        elif kind == "seed":
            self.player.new_seed()
            self.sidebar.show(self.player.state)
        else:
            actions = {
                "play": self.player.toggle, "step": self.player.step, "back": self.player.back,
                "stop": self.player.stop, "reset": self.player.reset,
                "branch": self.player.branch,
            }  # fmt: skip
            if kind in actions:
                actions[kind]()
        self._hurry()

    def _choose(self, name: str, value: Any) -> None:
        state = self.player.state
        if name not in COSMETIC:
            self.board.note = ""  # of the link, which the choices leave now
        if state[name] == value and not (name == "data" and state.table is not None):
            return
        try:
            if name == "data":
                self._choose_data(str(value))
            else:
                self.player.change(**{name: value})
                self.pump.rest(self.player.has_news)
                self._say_moved(state)
                self.sidebar.settle(self.player.state)
                if name in ("label", "separator", "decimal", "header"):
                    self.sidebar.show(self.player.state)
        except ValueError as problem:
            self.log.say(str(problem))
        self._hurry()

    def _say_moved(self, before: AppState) -> None:
        """Say that kernels which the solver does not take moved it to one that does."""
        state = self.player.state
        if state.kernels != before.kernels and state["solver"] != before["solver"]:
            old, new = (s.solvers()[s["solver"]] for s in (before, state))
            kernels = taken(state.kernels)
            known = before["solver"] in state.solvers()
            why = "Back to" if known else f"{old} does not take"
            self.log.say(f"{why} {kernels}: {new} solves now.")

    def _choose_data(self, name: str) -> None:
        state = self.player.state
        if state.table is not None and name == state["data"]:
            return
        if name in self._tables:
            self.player.adopt(state.with_table(name, self._tables[name]))
        else:
            self.player.adopt(state.without_table(name))
        self.sidebar.show(self.player.state)

    def _shipped(self) -> Collection[str]:
        return (self.player.state.choice("data").names or dict)()

    def _take_table(self, name: str, content: bytes) -> None:
        self._intake.take(name, content)

    def _adopt_table(self, name: str, content: bytes) -> None:
        self._tables[name] = content
        self.player.adopt(self.player.state.with_table(name, content))
        self.sidebar.show(self.player.state)
        self._hurry()

    def _defaults(self) -> None:
        self.board.note = ""
        self.player.leave_branch()
        self.player.adopt(self.player.state.reset())
        self.sidebar.show(self.player.state)
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
        self.player.come_back()
        self._hurry()

    # -- what is drawn ---------------------------------------------------------

    def _draw(self) -> bool:
        """One frame; called by the pump only.  True: call again soon."""
        now = time.monotonic()
        shown = self.player.shown()
        session = shown.session
        if session is not None:
            self._prepare(session, shown)
        elif (current := self.player.current) is not None and current.error is not None:
            self.gallery.clear()
        again = self.gallery.draw(shown) or self.player.replaying
        self._draw_player(shown)
        self._draw_words(shown, now)
        if not again and not self.player.playing:
            self.gallery.speak()  # what takes turns is drawn after the words were said
        if now - self._slow_at >= SLOW_EVERY:
            self._slow_at = now
            self._draw_slowly()
        return again

    def _prepare(self, session: Session, shown: Shown) -> None:
        if session.job is not None:
            offer = (session, self.player.races(session))
            if offer != self._offered:
                self._offered = offer
                self.gallery.offer(present(self.player, session))
        self.gallery.fade(shown.stale)
        if shown.stale or shown.k < 0:
            return
        if self.player.following and session.state is State.RUNNING:
            now = time.monotonic()
            if now - self._scored_at >= SCORED_EVERY * self.pump.slowness:
                self._scored_at = now
                session.want()
        else:
            row = wanted_row(session, shown.k)
            if row is not None:
                session.want(row)

    def _draw_player(self, shown: Shown) -> None:
        session, current = shown.session, self.player.current
        length = 0 if session is None or shown.stale else len(session.trace)
        state = None if current is None else current.state
        ended = state in (State.FINISHED, State.FAILED, State.CLOSED)
        values = {
            "length": length,
            "position": max(0, shown.k) if length else 0,
            "playing": self.player.playing,
            "ended": ended,
            "can_step": not ended or (length > 0 and shown.k < length - 1),
            "can_stop": not ended and current is not None,
            "can_branch": self.player.can_branch(shown),
            "speed": float(self.player.state["speed"]),
        }
        changed = {n: v for n, v in values.items() if getattr(self.bar, n) != v}
        if changed:
            self.bar.param.update(**changed)

    def _draw_words(self, shown: Shown, now: float) -> None:
        last = self._last_report
        new = report(self.player, shown)
        turned = last is None or (new.tone, new.facts["state"], new.facts["run"], new.alert) != (
            last.tone, last.facts["state"], last.facts["run"], last.alert,
        )  # fmt: skip
        slowness = self.pump.slowness
        if turned or now - self._spoken_at >= SPOKEN_EVERY * slowness:
            self._spoken_at = self._numbers_at = now
            self._write_board(new, spoken=True)
            self.gallery.speak()
        elif now - self._numbers_at >= NUMBERS_EVERY * slowness:
            self._numbers_at = now
            self._write_board(new, spoken=False)
        self._wake_later()

    def _write_board(self, new: Report, *, spoken: bool) -> None:
        values: dict[str, Any] = {
            "tiles": [list(tile) for tile in new.tiles], "progress": new.progress,
            "progress_title": "Decades of the gap, from the first iteration to the tolerance",
            "stale": new.facts["state"] in ("preparing", "failed"),
        }  # fmt: skip
        if spoken:
            values |= {
                "sentence": new.sentence, "tone": new.tone, "more": new.more,
                "alert": new.alert, "facts": new.facts,
            }  # fmt: skip
            self._last_report = new
            if new.alert and self.player.state.table is not None:
                self.sidebar.upload.say(new.alert)
            elif self._alerted:
                self.sidebar.upload.say("")
            self._alerted = bool(new.alert)
        changed = {n: v for n, v in values.items() if getattr(self.board, n) != v}
        if changed:
            self.board.param.update(**changed)

    def _wake_later(self) -> None:
        """Words that were held back must appear although nothing else happens."""
        if self._later is not None:
            return
        loop = asyncio.get_running_loop()
        moving = self.player.playing or self._last_report is None
        if moving or self._stale_words() or self._has_slow_news():
            self._later = loop.call_later(NUMBERS_EVERY * self.pump.slowness, self._woken)

    def _woken(self) -> None:
        self._later = None
        self._knock()

    def _has_slow_news(self) -> bool:
        """Whether the address or the log have something that is not in the page yet."""
        return (
            self.log.pending
            or self.log.is_behind(self.player.current)
            or self.player.companions.has_words
            or self._query != self._wanted_query()
        )

    def _stale_words(self) -> bool:
        last, now = self._last_report, report(self.player, self.player.shown())
        return (
            last is None
            or now._replace(tiles=[]) != last._replace(tiles=[])
            or [list(tile) for tile in now.tiles] != self.board.tiles
        )

    def _wanted_query(self) -> str:
        return "?" + self.player.state.to_query()

    def _draw_slowly(self) -> None:
        query = self._wanted_query()
        if query != self._query:
            self._query = self.board.query = query
        self.saver.follow()
        self.log.follow(self.player.current)
        for sentence in self.player.companions.sentences():
            self.log.say(sentence)
        self.log.write()

    def _failed_frame(self, problem: Exception) -> None:
        with self.pump.writing():
            self.board.alert = f"A picture could not be drawn: {problem}"
