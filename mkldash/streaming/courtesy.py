"""While a page opens, the runs of the others go slowly: a first picture comes first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

__all__ = ["COURTESY", "Courtesy"]


class Courtesy:
    """Who is waiting for a first picture, and how fast the others may go meanwhile.

    Beside a run that takes all it can get, a page opens much later (the rows
    "second-page" of benchmarks/feel.py).

    Parameters
    ----------
    rate : float
        Iterations (and frames) per second of the others while somebody waits.
    longest : float
        Seconds after which nobody is waited for any more.
    """

    def __init__(self, rate: float = 8.0, longest: float = 5.0) -> None:
        self._rate, self._longest = rate, longest
        self._lock = threading.Lock()
        self._until: dict[object, float] = {}

    def begin(self) -> Callable[[], None]:
        """A page begins to open.

        Returns
        -------
        callable
            To be called when it has opened; may be called again.
        """
        waiting = object()
        with self._lock:
            self._until[waiting] = time.monotonic() + self._longest

        def end() -> None:
            with self._lock:
                self._until.pop(waiting, None)

        return end

    def rate(self, own: float | None = None) -> float | None:
        """Iterations per second that a run may make now.

        Parameters
        ----------
        own : float or None
            What it may make when nobody waits; None: no limit.
        """
        if not self._until:
            return own
        now = time.monotonic()
        with self._lock:
            self._until = {who: until for who, until in self._until.items() if until > now}
            if not self._until:
                return own
        return self._rate if own is None else min(own, self._rate)


#: Of this process.
COURTESY = Courtesy()
