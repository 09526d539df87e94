"""A fair semaphore whose waiters can be woken for other reasons too."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

__all__ = ["ComputeSlots", "Ticket"]


class Ticket:
    """A place in the queue; `granted` once a slot is held."""

    __slots__ = ("_wake", "granted")

    def __init__(self, wake: Callable[[], None]) -> None:
        self.granted = False
        self._wake = wake


class ComputeSlots:
    """At most `slots` computations at once in this process, first come first served.

    `threading.Semaphore` lets a thread that releases and asks again at once
    overtake those that wait; here the slot is handed to the next in line, so
    that many sessions advance in turns.  A waiter sleeps on a condition of its
    own and gives up by `release`.

    Parameters
    ----------
    slots : int
    """

    def __init__(self, slots: int = 1) -> None:
        if slots < 1:
            raise ValueError(f"slots must be at least 1, not {slots!r}")
        self._lock = threading.Lock()
        self._free = slots
        self.slots = slots
        self._queue: deque[Ticket] = deque()

    @property
    def in_use(self) -> int:
        """Slots held now."""
        return self.slots - self._free

    def request(self, wake: Callable[[], None]) -> Ticket:
        """Ask for a slot.  `wake` is called, from another thread, when it is granted."""
        ticket = Ticket(wake)
        with self._lock:
            if self._free > 0:
                self._free -= 1
                ticket.granted = True
            else:
                self._queue.append(ticket)
        return ticket

    def release(self, ticket: Ticket) -> None:
        """Give the slot of `ticket` to the next in line, or leave the line."""
        with self._lock:
            if not ticket.granted:
                self._queue.remove(ticket)
                return
            ticket.granted = False
            if not self._queue:
                self._free += 1
                return
            following = self._queue.popleft()
            following.granted = True
        following._wake()
