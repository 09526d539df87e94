"""What keeps a lane's clock its own: drawing and loading of code between turns."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator

from mkldash.experiments.warming import functions_loaded
from mkldash.streaming.session import BUILD_SLOTS, COMPUTE_SLOTS

__all__ = ["Quiet"]

#: Races of this process that load code, rehearse or score just now.
_off_clock: set[Quiet] = set()

#: Seconds that drawing waits for a turn to end, and the first turn for the page.
POLITE, PATIENT = 1.0, 4.0


class Quiet:
    """Turns of the lanes, and frames of the page between them.

    Beside a busy interpreter every short call of a solver waits for its turn: an
    iteration of 20 ms was seen to take a second.

    Parameters
    ----------
    ready : callable
        Whether the page is there: a browser that still builds it slows the first turns.

    Attributes
    ----------
    turn : Lock
        Held while a lane computes.
    """

    def __init__(self, ready: Callable[[], bool]) -> None:
        self.turn = threading.Lock()
        self._ready = ready
        self._wanted = False
        self._loaded = 0
        self._late: bool | None = None
        self._spent = self._beside = 0.0
        self.begin()

    def begin(self) -> None:
        """A race begins: wait for the page again."""
        self._until = time.monotonic() + PATIENT

    def count(self) -> None:
        """All lanes are there: from now on what is compiled or loaded may cost one its time."""
        self._loaded, self._late = functions_loaded(), None
        self._spent = self._beside = 0.0

    @property
    def share_beside(self) -> float:
        """Share of the turns' time in which other pages of this server computed too."""
        return self._beside / self._spent if self._spent > 0.0 else 0.0

    @contextlib.contextmanager
    def alone(self) -> Iterator[Callable[[], None]]:
        """One turn of a lane; what it gives is called now and then while that computes."""
        begun, seen = time.monotonic(), self._others(0)

        def look() -> None:
            nonlocal seen
            seen = seen or self._others(1)

        yield look
        spent = time.monotonic() - begun
        self._spent += spent
        if seen or self._others(0):
            self._beside += spent

    def _others(self, own: int) -> bool:
        """Whether anybody computes beside the `own` slots of this race."""
        taken = COMPUTE_SLOTS.in_use > own or BUILD_SLOTS.in_use > 0
        return taken or bool(_off_clock - {self})

    @contextlib.contextmanager
    def off_clock(self) -> Iterator[None]:
        """What is compiled or loaded while it is open is on no lane's clock."""
        before = functions_loaded()
        _off_clock.add(self)
        try:
            yield
        finally:
            _off_clock.discard(self)
        self._loaded += functions_loaded() - before

    def loaded_late(self) -> bool:
        """Whether something was compiled or loaded on a lane's clock; counted once a race."""
        if self._late is None:
            self._late = functions_loaded() > self._loaded
        return self._late

    def pause(self) -> float | None:
        """Seconds for which no lane may take a turn; None: it may."""
        if self._wanted:
            return 0.002
        return 0.02 if not self._ready() and time.monotonic() < self._until else None

    @contextlib.asynccontextmanager
    async def hush(self) -> AsyncIterator[None]:
        """While it is open no lane computes; a turn of more than `POLITE` seconds goes on."""
        self._wanted, until = True, time.monotonic() + POLITE
        taken = False
        try:
            while not taken and time.monotonic() < until:
                taken = self.turn.acquire(blocking=False)
                if not taken:
                    await asyncio.sleep(0.002)
            yield
        finally:
            self._wanted = False
            if taken:
                self.turn.release()
