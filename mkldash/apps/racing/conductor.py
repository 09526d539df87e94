"""Keeps the lanes of a race in step: one thread, one lane at a time.

While one lane computes no other does, and the page is not drawn if that can wait,
so the clock of each runs as if it were alone.  Kernels are built, and compiled code
is loaded, before the first lane begins.
"""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Callable

from mkldash.apps.racing.building import build_lanes
from mkldash.apps.racing.glance import Glance
from mkldash.apps.racing.lanes import Lane
from mkldash.apps.racing.quiet import Quiet
from mkldash.apps.racing.schedule import AXES, Axis, most_behind, stride
from mkldash.apps.racing.state import RaceState
from mkldash.experiments.workload import Cancelled
from mkldash.streaming.control import Control

__all__ = ["Race"]

_log = logging.getLogger(__name__)

#: Seconds between two scorings of one lane while the race is on.
SCORED_EVERY = 0.5

#: Iterations that a lane which came late may make in one turn.
CATCH_UP = 25


class Race:
    """Lanes, and the one cursor that they share.

    Commands return at once and may come from any thread.

    Parameters
    ----------
    state : RaceState
    on_change : callable
        Called from any thread when there may be something new to draw.
    clock : callable
        Seconds; for the pace.
    ready : callable
        See `Quiet`.
    """

    def __init__(
        self,
        state: RaceState,
        on_change: Callable[[], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self.quiet = Quiet(ready)
        self.state = state
        self.shown_state = state
        self.lanes: tuple[Lane, ...] = ()
        self.cursor = 0
        self.playing = False
        self.stage = self.broken = ""
        self.started = 0
        self.stopped = False
        self._on_change, self._clock = on_change, clock
        self._cond = threading.Condition()
        self._thread: threading.Thread | None = None
        self._pending = self._fresh = False
        self._preparing: Control | None = None
        self._frontier = 0
        self._due = 0.0
        self._held = self._closed = False
        self._ending: list[Lane] = []

    # -- what is there ---------------------------------------------------------

    @property
    def axis(self) -> Axis:
        """What the lanes are kept in step by."""
        return AXES[self.state.axis]

    @property
    def stale(self) -> bool:
        """Whether what is shown belongs to the choices before the latest."""
        return self._pending or self._preparing is not None

    @property
    def over(self) -> bool:
        """Whether no lane will go on."""
        return self.look().over

    def look(self) -> Glance:
        """All of it at one moment."""
        with self._cond:
            return Glance(
                self.lanes, self.shown_state, self.state, self.axis, self.cursor, self.playing,
                self.stale, self.stopped, self.stage, self.broken, self.started, self.quiet,
            )  # fmt: skip

    # -- commands --------------------------------------------------------------

    def start(self) -> None:
        """Build everything and go; the lanes before are ended."""
        self.quiet.begin()
        self._order(self.state, fresh=True)

    def adopt(self, state: RaceState) -> None:
        """Take other choices over; lanes that they do not touch go on."""
        before, self.state = self.state, state
        if state.axis != before.axis:
            self._change_axis(AXES[before.axis], AXES[state.axis])
        letters = {lane.letter for lane in (*before.lanes, *state.lanes)}
        if all(state.same_lane(before, letter) for letter in letters):
            self._wake()
            return
        self._order(state, fresh=False)

    def play(self) -> None:
        """Go on from where the cursor is."""
        self.playing, self._due = True, 0.0
        self._wake()

    def toggle(self) -> None:
        """Play or pause; from the end of a race that is over, play it again."""
        if self.playing:
            self.playing = False
        else:
            if (now := self.look()).over and now.at_end:
                self.cursor = 0
            self.play()
        self._wake()

    def step(self) -> None:
        """All lanes on to the next place; while they are made ready there is none."""
        self.playing = False
        if self.look().can_step:
            self.cursor += 1
            self._frontier = max(self._frontier, self.cursor)
        self._wake()

    def back(self) -> None:
        """The cursor one place back."""
        self.scrub(self.cursor - 1)

    def scrub(self, place: int) -> None:
        """Put the cursor on a place that was reached."""
        self.playing = False
        self.cursor = max(0, min(int(place), self.look().last_place))
        self._wake()

    def stop(self) -> None:
        """End all lanes; what they certified stays."""
        self.playing = False
        self.stopped = True
        for lane in self.lanes:
            if lane.session is not None:
                lane.session.stop()
            elif lane.waits:
                lane.error = "stopped before it began"
        self._wake()

    def hold(self) -> None:
        """Nobody looks: rest."""
        self._held = True

    def go_on(self) -> None:
        """Somebody looks again."""
        self._held = False
        self._wake()

    def close(self, timeout: float = 10.0) -> None:
        """End everything, and join the threads for at most `timeout` seconds."""
        with self._cond:
            self._closed = True
            self._cancel_preparing()
            self._cond.notify_all()
        for lane in (*self.lanes, *self._ending):
            if lane.session is not None:
                lane.session.close(wait=False)
        threads = [self._thread]
        threads += [x.session._thread for x in (*self.lanes, *self._ending) if x.session]
        for thread in threads:
            if thread is not None and timeout > 0 and thread is not threading.current_thread():
                thread.join(timeout)

    # -- inside: commands ------------------------------------------------------

    def _order(self, state: RaceState, *, fresh: bool) -> None:
        with self._cond:
            if self._closed:
                return
            self._pending, self._fresh = True, self._fresh or fresh
            self.stage = "preparing"
            self._cancel_preparing()
            # What will not be needed any more ends now, however long its iteration is.
            for lane in self.lanes:
                kept = not fresh and state.same_lane(self.shown_state, lane.spec.letter)
                if not kept and lane.session is not None:
                    lane.session.stop()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="mkldash-race", daemon=True)
                self._thread.start()
            self._cond.notify_all()
        self._on_change()

    def _cancel_preparing(self) -> None:
        if self._preparing is not None:
            self._preparing.cancel[0] = 1
            self._preparing.wake()

    def _wake(self) -> None:
        with self._cond:
            self._cond.notify_all()
        self._on_change()

    def _change_axis(self, old: Axis, new: Axis) -> None:
        """Keep the cursor where the lane is that has come least far."""
        found = []
        for lane in self.lanes:
            row = lane.row(old, self.cursor)
            values = lane.values(new)
            if 0 <= row < len(values) and (lane.live or self.over):
                found.append(float(values[row]))
        pick = max if self.over else min
        self.cursor = new.place(pick(found)) if found else 0
        self._frontier = self.cursor

    # -- inside: the thread ----------------------------------------------------

    def _work(self) -> None:
        while True:
            try:
                with self._cond:
                    if self._closed:
                        return
                    wait = self._plan()
                    if isinstance(wait, float) or wait is None:
                        self._cond.wait(wait)
                        continue
                wait()
            except Exception as problem:
                # Not tried again before somebody asks for another race.
                _log.exception("the race could not go on")
                self.playing, self.broken = False, str(problem) or type(problem).__name__
            self._on_change()

    def _plan(self) -> Callable[[], None] | float | None:
        """What to do now; or seconds to wait, or None: until something happens."""
        if self._pending:
            return self._rebuild
        if self.broken or not self.lanes:
            self.playing = False
            return None
        if self._held:
            return 0.5
        if (pause := self.quiet.pause()) is not None:
            return pause
        for lane in self.lanes:
            if lane.waits and self._may_begin(lane):
                return functools.partial(self._begin, lane)
        axis = self.axis
        standings = [lane.standing(axis) for lane in self.lanes]
        behind = most_behind(standings, axis.value(self._frontier))
        unscored = self._unscored(axis)
        if behind is not None and (unscored is None or not unscored.ended):
            return functools.partial(self._advance, self.lanes[behind], axis)
        if unscored is not None:
            return functools.partial(self._score, unscored, axis)
        return self._move_cursor() if self.playing else None

    def _move_cursor(self) -> float | Callable[[], None]:
        there = self.look()
        if there.over and there.at_end:
            self.playing, self.cursor = False, there.last_place
            return _nothing
        now = self._clock()
        if now < self._due:
            return self._due - now
        pause = 1.0 / self.state.speed if self.state.speed < 1000 else 0.0
        self._due = max(now, self._due + pause) if self._due else now + pause
        self.cursor += stride(self.cursor, self.state.speed)
        if there.over:
            self.cursor = min(self.cursor, there.last_place)
        self._frontier = max(self._frontier, self.cursor)
        return _nothing

    def _may_begin(self, lane: Lane) -> bool:
        parent = self._parent(lane)
        if parent is None:
            return True
        newest = parent.standing(AXES["iteration"]).newest
        return parent.ended or newest >= lane.spec.at

    def _parent(self, lane: Lane) -> Lane | None:
        return next((x for x in self.lanes if x.spec.letter == lane.spec.parent), None)

    def _begin(self, lane: Lane) -> None:
        self.stage = f"loading compiled code for {lane.named}"
        with self.quiet.off_clock():
            try:
                lane.begin(self._parent(lane), self._on_change)
            except Exception as problem:
                lane.error = str(problem)
        if lane.error and lane.session is not None:
            lane.session.stop()  # Stop was pressed meanwhile
        self.stage = "the first iteration of every lane"

    def _advance(self, lane: Lane, axis: Axis) -> None:
        """One turn of one lane; the others rest meanwhile."""
        session = lane.session
        assert session is not None
        short = axis.value(self._frontier) - max(lane.standing(axis).newest, 0.0)
        steps = int(min(CATCH_UP, max(1.0, short))) if axis.name == "iteration" else 1
        with self.quiet.turn, self.quiet.alone() as look:
            session.step(steps)
            while not session.wait(0.1) and not self._closed:
                look()

    def _wanted(self, lane: Lane, axis: Axis) -> int:
        at_end = self.playing and lane.ended and not self.over
        if self.playing and not at_end and self._clock() - lane.scored_at < SCORED_EVERY:
            return -1
        return lane.unscored(axis, self.cursor, at_end=at_end)

    def _unscored(self, axis: Axis) -> Lane | None:
        return next((lane for lane in self.lanes if self._wanted(lane, axis) >= 0), None)

    def _score(self, lane: Lane, axis: Axis) -> None:
        row = self._wanted(lane, axis)
        if row < 0 or lane.session is None:
            return
        lane.scored_at = self._clock()
        with self.quiet.turn, self.quiet.off_clock():
            lane.session.want(row)
            while not lane.session.wait(0.1) and not self._closed:
                pass

    # -- inside: building ------------------------------------------------------

    def _rebuild(self) -> None:
        """Bring the lanes to the latest choices."""
        with self._cond:
            state, fresh = self.state, self._fresh
            self._pending = self._fresh = False
            self._preparing, self.broken = (control := Control(None)), ""
        kept = {
            lane.spec.letter: lane
            for lane in self.lanes
            if not fresh and state.same_lane(self.shown_state, lane.spec.letter)
        }
        self._end([lane for lane in self.lanes if lane.spec.letter not in kept])
        try:
            lanes = self._build(state, kept, control)
        except Cancelled:
            return
        finally:
            with self._cond:
                self._preparing = None
        if control.cancel[0]:
            return
        was_over = bool(self.lanes) and all(lane.ended for lane in self.lanes)
        self.quiet.count()
        with self._cond:
            self.lanes, self.shown_state = lanes, state
            self.started += 1
            if not kept:
                self.cursor = self._frontier = 0
                self.playing, self.stopped = bool(lanes), False
            elif was_over:
                self.playing = True  # for who came late; the others are where they were
            self._due = 0.0

    def _end(self, lanes: list[Lane]) -> None:
        """End the workers of lanes before others begin: never two races at once."""
        self._ending = lanes
        for lane in lanes:
            if lane.session is not None:
                lane.session.close(wait=False)
        for lane in lanes:
            thread = None if lane.session is None else lane.session._thread
            while thread is not None and thread.is_alive() and not self._closed:
                thread.join(0.1)
        self._ending = []

    def _build(self, state: RaceState, kept: dict[str, Lane], control: Control) -> tuple[Lane, ...]:
        def say(sentence: str) -> None:
            self.stage = sentence
            self._on_change()

        return build_lanes(state, kept, control, say, lambda: self._closed)


def _nothing() -> None:
    """The cursor has moved; there is nothing else to do."""
