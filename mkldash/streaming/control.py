"""Credit, rate, wishes and cancellation of one session, under one condition."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from mkldash.errors import InputError
from mkldash.solvers.base import new_cancel_flag
from mkldash.streaming.courtesy import COURTESY
from mkldash.streaming.slots import ComputeSlots, Ticket

__all__ = ["UNLIMITED", "Control", "Wish", "checked_rate"]

#: Credit of a session that plays.
UNLIMITED = math.inf


def checked_rate(rate: float | None) -> float | None:
    """`rate` if it is None or a positive number of iterations per second."""
    if rate is not None and not rate > 0:
        raise InputError(f"max_rate must be positive iterations per second, or None, not {rate!r}")
    return rate


class Wish:
    """What viewers want to see: a row, the newest row, or both.  The latest wins."""

    __slots__ = ("newest", "row")

    def __init__(self) -> None:
        self.row: int | None = None
        self.newest = False

    def __bool__(self) -> bool:
        return self.newest or self.row is not None


class Control:
    """Everything that commands change and the worker waits for.

    One condition wakes the worker for all of it, so that stop, pause and a
    change of speed act at once, whatever it waits for.

    Parameters
    ----------
    max_rate : float or None
        Iterations per second at most.
    """

    def __init__(self, max_rate: float | None) -> None:
        self.cond = threading.Condition()
        self.cancel = new_cancel_flag()
        self.credit = 0.0
        self.max_rate = checked_rate(max_rate)
        self.wish = Wish()
        self.closed = False
        self.ended = False
        self.busy = False
        self.iterating = False
        self._last_begun = -math.inf

    def wake(self) -> None:
        """Let everyone who waits look again."""
        with self.cond:
            self.cond.notify_all()

    def at_rest(self) -> bool:
        """Whether the worker sleeps and only a command can wake it."""
        if self.closed:
            return True
        if self.cancel[0] and not self.ended:
            return False
        return not self.busy and not self.wish and (self.ended or self.credit <= 0)

    # -- called by the worker --------------------------------------------------

    def next_task(self) -> Wish | None:
        """Sleep until there is something to do.

        Returns
        -------
        Wish or None
            A wish to answer first; or an empty wish: iterate; or None: the run
            (after the run: the session) is over.
        """
        with self.cond:
            while True:
                if self.closed or (self.cancel[0] and not self.ended):
                    self.busy = True
                    return None
                if self.wish or (not self.ended and self.may_iterate()):
                    wish, self.wish = self.wish, Wish()
                    self.busy = True
                    return wish
                if self.busy:
                    self.busy = False
                    self.cond.notify_all()
                playing = self.credit > 0 and not self.ended
                self.cond.wait(max(self._due(), 0.0) if playing else None)

    def begin_iteration(self, slots: ComputeSlots) -> Ticket | None:
        """Take a slot and one credit; None when that is no longer wanted."""
        ticket = self.take(slots, self.may_iterate)
        if ticket is None:
            return None
        with self.cond:
            if self.may_iterate():
                self.credit -= 1
                self._last_begun = time.monotonic()
                self.iterating = True
                return ticket
        slots.release(ticket)
        return None

    def end_iteration(self, slots: ComputeSlots, ticket: Ticket) -> None:
        """Give the slot to whoever is next."""
        self.iterating = False
        slots.release(ticket)

    def may_iterate(self) -> bool:
        """Whether credit and the rate cap allow an iteration now."""
        return self.credit > 0 and not self.cancel[0] and self._due() <= 0

    def take(self, slots: ComputeSlots, wanted: Callable[[], bool]) -> Ticket | None:
        """A slot, or None as soon as it is not `wanted` any more."""
        ticket = slots.request(self.wake)
        with self.cond:
            while not ticket.granted and wanted():
                self.cond.wait()
            if ticket.granted and wanted():
                return ticket
        slots.release(ticket)
        return None

    def _due(self) -> float:
        """Seconds until the rate cap allows another iteration."""
        rate = COURTESY.rate(self.max_rate)
        if rate is None:
            return -math.inf
        return self._last_begun + 1 / rate - time.monotonic()
