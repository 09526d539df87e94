"""One page's run: choices, session, and the one cursor that all views share.

Knows nothing of widgets.  Commands return at once; what is on screen is asked
for by `Player.shown`, whenever there is time to draw.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mkldash.apps.branching import Fork
from mkldash.apps.companions import Companions
from mkldash.apps.jobs import Extra, build_job, make_plan
from mkldash.apps.scenes import Scenes, comparable
from mkldash.apps.state import COSMETIC, AppState
from mkldash.streaming import Building, Job, Runner, Session, State
from mkldash.views.base import Scene

__all__ = ["Extra", "Player", "Shown"]

#: Iterations per second from which on there is no cap.
NO_CAP = 1000.0

#: Seconds without a new choice before other methods are measured on the same rows.
METHODS_QUIET = 1.5

#: Choices after whose change a run begins at the weights of the run before.
NEARBY = frozenset({"eta", "weight_norm", "C", "rho", "sigma_factor"})


@dataclass(frozen=True, eq=False)
class Shown:
    """What belongs on screen now.

    Attributes
    ----------
    session : Session or None
        Whose trace is shown; None before the first run.
    k : int
        Row under the cursor; -1 while there is none.
    stale : bool
        Whether it is the run before, while the new one is not there yet: to be
        greyed and labelled with its own parameters.
    scene : Scene
    ghost : Session or None
    """

    session: Session | None
    k: int
    stale: bool
    scene: Scene
    ghost: Session | None


class Player:
    """Play, pause, step, back, scrub, branch, stop, reset, new seed.

    Parameters
    ----------
    state : AppState
    on_change : callable
        Called from any thread when there may be something new to draw.
    clock : callable
        Seconds; for replays.
    """

    def __init__(
        self,
        state: AppState,
        on_change: Callable[[], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state = state
        self.stage = ""
        self._on_change = on_change
        self._clock = clock
        self._runner = Runner(self._news, max_rate=_cap(state["speed"]))
        self.fork: Fork | None = None
        self.companions = Companions(on_change)
        self._scenes = Scenes(self.companions)
        self._last: Session | None = None
        self._k = 0
        self._follow = True
        self._replay: tuple[float, int] | None = None
        self._away_playing = False

    def _news(self) -> None:
        """Called by the worker of the shown run."""
        self.companions.poke()
        self._on_change()

    # -- what is there ---------------------------------------------------------

    @property
    def current(self) -> Session | None:
        """The session of the latest choices."""
        return self._runner.current

    @property
    def following(self) -> bool:
        """Whether the cursor stays at the newest iteration."""
        return self._follow

    @property
    def replaying(self) -> bool:
        """Whether recorded iterations are being played again."""
        return self._replay is not None

    @property
    def playing(self) -> bool:
        """Whether the cursor moves by itself."""
        session = self.current
        return self.replaying or (self._follow and session is not None and session.playing)

    def has_news(self) -> bool:
        """Whether the run of the latest choices has something to show, or ended without."""
        current = self.current
        return current is None or len(current.trace) > 0 or not current.playing

    @property
    def ended_empty(self) -> bool:
        """Whether the present run was stopped before its first iteration."""
        current = self.current
        return current is not None and current.state is State.FINISHED and not len(current.trace)

    @staticmethod
    def is_warm(session: Session) -> bool:
        """Whether a run began at a point of another one."""
        job = session.job
        return job is not None and isinstance(job.extra, Extra) and job.extra.warm

    @property
    def started(self) -> int:
        """Runs started so far."""
        return self._runner.started

    def shown(self) -> Shown:
        """What belongs on screen now; moves a replay on."""
        current = self.current
        if current is not None and len(current.trace):
            self._last = current
        session = self._last
        if session is None:
            return Shown(None, -1, False, Scene(), None)
        stale = session is not current
        last = len(session.trace) - 1
        if self._replay is not None:
            begun, first = self._replay
            pace = min(float(self.state["speed"]), 60.0)
            self._k = min(last, first + int((self._clock() - begun) * pace))
            if self._k == last:
                self._replay, self._follow = None, True
        k = last if self._follow or stale else min(self._k, last)
        self._k = k
        # What was branched stays beside all branches.
        before = self._runner.previous if self.fork is None else self.fork.session
        ghost = None if stale else before
        if ghost is session or not comparable(ghost, session):
            ghost = None
        return Shown(session, k, stale, self._scenes.scene(session, ghost, k), ghost)

    def races(self, session: Session) -> bool:
        """Whether other solvers run beside `session`."""
        return session.job is not None and bool(self.state.rivals(session.job.problem.n_rows))

    # -- commands --------------------------------------------------------------

    def start(self, *, warm: bool = False, play: bool = True) -> None:
        """Start a run of the present choices; the one before is cancelled.

        Parameters
        ----------
        warm : bool
            Begin at the best weights of the run before, where that is valid.
        play : bool
            False: stop before the first iteration and wait.
        """
        state, fork = self.state, self.fork
        self._follow, self._replay, self.stage = True, None, "preparing"
        self._runner.max_rate = _cap(state["speed"])
        self.companions.cancel()

        def say(sentence: str) -> None:
            self.stage = sentence
            self._on_change()

        def build(building: Building) -> Job:
            if fork is not None:
                return fork.job(state, building, say)
            return build_job(state, building, warm=warm, say=say)

        self._runner.start(build, state, play=play)
        self._accompany()

    def branch(self) -> bool:
        """A new run from the shown iteration; it waits for `toggle`, `step` or a choice.

        The run on screen stays beside it.  Choices that change from here on apply to
        a branch from the same iteration, until `reset`, another seed or other data.

        Returns
        -------
        bool
            False: there is no iteration to branch from.
        """
        shown = self.shown()
        if not self.can_branch(shown) or shown.session is None:
            return False
        if self.fork is not None and self.waits and shown.k == self.fork.row:
            return True  # it is one already
        self.fork = Fork(shown.session, shown.k)
        self.start(play=False)
        return True

    def leave_branch(self) -> None:
        """Runs from here on begin where they do without a branch."""
        self.fork = None

    @property
    def waits(self) -> bool:
        """Whether a branch is on screen that has not gone on yet."""
        return self.fork is not None and self._last is not None and self.fork.waits(self._last)

    @staticmethod
    def can_branch(shown: Shown) -> bool:
        """Whether there is an iteration to branch from."""
        session = shown.session
        return session is not None and not shown.stale and shown.k >= 0 and session.job is not None

    def _accompany(self) -> None:
        """Have computed beside the run what its problem has to compare."""
        state, session = self.state, self.current
        if (state.kind.takes_rho or state.kind.has_family) and session is not None:
            quiet = METHODS_QUIET if state.kind.has_family else None
            self.companions.attend(session, lambda job: make_plan(state, job), quiet=quiet)

    def change(self, **changes: Any) -> bool:
        """Apply choices; starts a new run when they change the result.

        Returns
        -------
        bool
            Whether a new run was started.

        Raises
        ------
        ValueError
            With a sentence, for a value that cannot be used.
        """
        return self.adopt(self.state.change(**changes))

    def adopt(self, state: AppState) -> bool:
        """Take other choices over; see `change`."""
        old, self.state = self.state, state
        self._runner.max_rate = _cap(state["speed"])
        if state.same_run(old):
            if state.values.get("compare") != old.values.get("compare"):
                self._accompany()
            self._on_change()
            return False
        if self.fork is not None and not self.fork.takes(old, state):
            self.fork = None
        self.start(warm=self.fork is None and _is_nearby(old, state))
        return True

    def toggle(self) -> None:
        """Play or pause; after the end, play the recorded iterations again."""
        session = self.current
        if session is None:
            return
        if self.playing:
            self.pause()
        elif session.state in (State.FAILED, State.CLOSED) or self.ended_empty:
            self.start()
        elif session.state is State.FINISHED or (session.playing and not self._follow):
            last = len(session.trace) - 1
            first = self._k if not self._follow and self._k < last else 0
            self._replay, self._follow = (self._clock(), first), False
        else:
            self._follow = True
            session.play()
        self._on_change()

    def pause(self) -> None:
        """Hold the run and the cursor where they are."""
        self._replay = None
        session = self.current
        if session is not None and session.playing:
            session.pause()
        self._on_change()

    def step(self) -> None:
        """One iteration on: a recorded one, else a new one."""
        session = self.current
        if session is None or session.state in (State.FAILED, State.CLOSED):
            return
        was_playing = session.playing
        self.pause()
        if not self._follow and self._k < len(session.trace) - 1:
            self._k += 1
            self._follow = self._k == len(session.trace) - 1
        elif session.state is not State.FINISHED:
            self._follow = True
            if not was_playing or not len(session.trace):
                session.step()
        self._on_change()

    def back(self) -> None:
        """One recorded iteration back."""
        self.pause()
        self.scrub(max(0, self._k - 1))

    def scrub(self, k: int) -> None:
        """Put the cursor on row `k`; the last row follows the run again."""
        session = self.current
        if session is None or not len(session.trace):
            return
        last = len(session.trace) - 1
        self._replay = None
        self._k = max(0, min(int(k), last))
        self._follow = self._k == last
        if not self._follow and session.playing:
            session.pause()
        self._on_change()

    def stop(self) -> None:
        """End the run; what it certified so far stays."""
        self._replay = None
        if self.current is not None:
            self.current.stop()

    def reset(self) -> None:
        """The same choices from their beginning, same seed; a branch is left."""
        self.fork = None
        self.start()

    def new_seed(self) -> None:
        """The same choices on another split."""
        self.fork = None
        _, most = self.state.choice("seed").bounds or (0, 2**31 - 1)
        self.state = self.state.change(seed=(int(self.state["seed"]) + 1) % (int(most) + 1))
        self.start()

    def leave(self) -> None:
        """The tab is gone: hold the run, remember whether it ran."""
        self.companions.hold()
        session = self.current
        self._away_playing = session is not None and session.playing
        if self._away_playing and session is not None:
            session.pause()

    def come_back(self) -> None:
        """The tab is there again: go on if it ran before."""
        self.companions.go_on()
        session = self.current
        if self._away_playing and session is not None and session.state is State.PAUSED:
            session.play()
        self._away_playing = False

    def close(self) -> None:
        """End every worker of this page."""
        self.companions.close(timeout=0.0)
        self._runner.close(timeout=0.0)


def _is_nearby(old: AppState, new: AppState) -> bool:
    """Whether only numbers of the problem changed: then a run goes on from where it was.

    Another solver, its settings, tolerance or limit start cold: how a solver comes to
    the optimum is what there is to see, and from the optimum there is nothing.
    """
    names = old.values.keys() | new.values.keys()
    changed = {name for name in names if old.values.get(name) != new.values.get(name)}
    return changed - COSMETIC <= NEARBY and new.table == old.table


def _cap(speed: float) -> float | None:
    return None if speed >= NO_CAP else float(speed)
