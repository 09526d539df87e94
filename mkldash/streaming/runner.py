"""The run on screen: a newer one cancels it, floods are skipped, one ghost stays."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mkldash.solvers.base import Snapshot, WarmStart
from mkldash.streaming.control import checked_rate
from mkldash.streaming.jobs import Building, Factory
from mkldash.streaming.session import Session
from mkldash.streaming.trace import DEFAULT_BUDGET

__all__ = ["Runner"]


class Runner:
    """Holds the sessions of one page: at most one running and one waiting.

    `start` makes a new session the current one at once, with an empty trace, so
    an old result is never found under new parameters.  The run before is
    cancelled, and the new one begins when that has ended; if a still newer one
    is started meanwhile, the waiting one is closed without having begun.  The
    last one started is always run.

    Parameters
    ----------
    on_change : callable, optional
        See `Session`; the listener of every session started here.
    max_rate : float or None
        Iterations per second at most, of every session.
    budget : int
        Bytes of full states that each trace keeps.
    ghost_after : float
        A run that is cut short by a newer one becomes the ghost only when it
        was given this long (s); one that had ended, or was paused or stopped,
        always does.  So a drag does not replace the ghost by its first moments.
    """

    def __init__(
        self,
        on_change: Callable[[], None] | None = None,
        *,
        max_rate: float | None = None,
        budget: int = DEFAULT_BUDGET,
        ghost_after: float = 1.0,
    ) -> None:
        self._lock = threading.RLock()
        self._on_change = on_change
        self._max_rate = checked_rate(max_rate)
        self._budget = budget
        self._ghost_after = ghost_after
        self._current: Session | None = None
        self._previous: Session | None = None
        self._running: Session | None = None  # the one that may compute
        self._waiting: Session | None = None
        self._begun = 0.0  # when the current one was admitted
        # Newest state of the runs before, and the extra of its job.
        self._last: tuple[Snapshot, object] | None = None
        self._ending: list[threading.Thread] = []  # workers of closed sessions
        self._closed = False
        self.started = 0
        self.skipped = 0

    @property
    def current(self) -> Session | None:
        """The session of the latest parameters; may still wait to begin."""
        return self._current

    @property
    def previous(self) -> Session | None:
        """The run before, to be drawn as a ghost; closed, but its trace is there."""
        return self._previous

    @property
    def waiting(self) -> bool:
        """Whether the current session waits for a cancelled one to end."""
        return self._waiting is not None

    @property
    def max_rate(self) -> float | None:
        """Iterations per second at most, or None; may be set at any time."""
        return self._max_rate

    @max_rate.setter
    def max_rate(self, rate: float | None) -> None:
        with self._lock:
            self._max_rate = checked_rate(rate)
            if self._current is not None:
                self._current.max_rate = rate

    def start(self, factory: Factory, parameters: object = None, *, play: bool = True) -> Session:
        """Cancel the current run and start a new one as soon as it has ended.

        Parameters
        ----------
        factory : callable
            ``factory(building) -> Job``, called in the worker of the new session;
            `building.warm` holds the best point of the run before.
        parameters : object
            The label of the session.
        play : bool
            False: build the job and wait for `play` or `step`.

        Raises
        ------
        RuntimeError
            When the runner is closed.
        """
        session = Session(
            factory=factory,
            parameters=parameters,
            max_rate=self._max_rate,
            on_change=self._on_change,
            budget=self._budget,
        )
        session._hold(self._promote, self._building)
        if play:
            session.play()
        with self._lock:
            if self._closed:
                raise RuntimeError("the runner is closed")
            self.started += 1
            outgoing, self._current = self._current, session
            if self._waiting is not None:
                self.skipped += 1
            self._waiting = session
            self._retire(outgoing)
            if self._running is None:
                self._admit_waiting()
        session._notify()
        return session

    def branch(
        self, k: int, *, parameters: object = None, play: bool = True, **changes: object
    ) -> Session:
        """Start from row `k` of the current session; it becomes the ghost.

        `changes` are ``solver``, ``problem``, ``stop`` and ``score``; what is not
        given is as in the current session.

        Raises
        ------
        IndexError
            When there is no row `k`.
        """
        current = self._current
        if current is None:
            raise IndexError("there is no run to branch from")
        factory = current.branch_factory(k, **changes)
        label = current.parameters if parameters is None else parameters
        return self.start(factory, label, play=play)

    def forget_previous(self) -> None:
        """Let go of the ghost."""
        with self._lock:
            self._previous = None

    def close(self, timeout: float = 10.0) -> None:
        """Cancel everything and join the workers, for at most `timeout` seconds each."""
        with self._lock:
            self._closed = True
            self._waiting = None
            self._on_change = None
            current, ending = self._current, self._ending
        if current is not None:
            current.close(timeout=timeout)
        for thread in ending:
            if thread is not threading.current_thread():
                thread.join(timeout)

    # -- inside ----------------------------------------------------------------

    def _retire(self, outgoing: Session | None) -> None:
        if outgoing is None:
            return
        worth = not outgoing.playing or time.monotonic() - self._begun >= self._ghost_after
        outgoing.close(wait=False)
        threads = [*self._ending, outgoing._thread]
        self._ending = [t for t in threads if t is not None and t.is_alive()]
        if len(outgoing.trace):
            latest, job = outgoing.trace.latest, outgoing.job
            assert latest is not None  # there is a row
            self._last = latest, None if job is None else job.extra
            if worth or self._previous is None:
                self._previous = outgoing

    def _building(self, cancel: NDArray[np.uint8]) -> Building:
        if self._last is None:
            return Building(cancel)
        last, extra = self._last
        start = WarmStart(weights=last.best.weights, alpha=last.best.alpha)
        return Building(cancel, start, (extra, last.iteration))

    def _admit_waiting(self) -> None:
        session, self._waiting = self._waiting, None
        if session is not None and session._admit():
            self._running = session
            self._begun = time.monotonic()

    def _promote(self, ended: Session) -> None:
        """Called by the worker of `ended` when its run is over."""
        with self._lock:
            if ended is self._running:
                self._running = None
                self._admit_waiting()
