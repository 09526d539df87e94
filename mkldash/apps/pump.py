"""The only one that writes into the models of a page: frames, at the browser's pace.

The measured winner of seven designs: workers only knock (`Pump.knock`), one
asyncio task per document draws the newest state, writes straight to the socket
(`pn.io.unlocked`), and waits until the browser has painted: at most two frames
are under way.  It never computes.  A slow browser skips drawings, never data.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import panel as pn
from bokeh.models import CustomJS, Range1d
from panel.io.state import set_curdoc

from mkldash.streaming.courtesy import COURTESY

if TYPE_CHECKING:
    from bokeh.document import Document

__all__ = ["IN_FLIGHT", "Pump"]

_log = logging.getLogger(__name__)

#: Frames sent and not yet painted, at most.
IN_FLIGHT = 2

#: Frames per second of all pages of this process together, at most: many pages share.
IN_ALL = 52.0

#: Seconds that an old picture may stay after a person asked for another run, at most.
REST = 0.15

#: Seconds after its last frame in which a page still counts as drawing.
DRAWS = 1.0

#: Seconds without an acknowledgement after which the frames count as lost.
LOST_AFTER = 5.0

#: Seconds between two looks at whether the tab is still there.
CHECK_EVERY = 0.5

_PAINTED = """
requestAnimationFrame(() => setTimeout(() => { ack.end = Math.max(ack.end, frame.end) }, 0))
"""


#: The pumps of all pages of this process; touched by its event loop only.
_PUMPS: weakref.WeakSet[Pump] = weakref.WeakSet()


class Pump:
    """Draws a page while somebody looks at it.

    Parameters
    ----------
    draw : callable
        Writes the newest state into the models.  Returns True to be called
        again soon although nobody knocks (a replay moves by itself).
    on_leave, on_return : callable
        Called when no browser is connected any more (within two seconds),
        and when one is again.
    on_error : callable
        Gets an exception that `draw` raised; the pump goes on.
    fps : float
        Frames per second at most; fewer while many pages draw, so that ten of
        them leave the machine time to solve and to paint.
    around : callable, optional
        Makes a context that each frame is drawn and sent in; entering it may wait.

    Attributes
    ----------
    models : list
        To be kept in the document (in the tags of a figure); they carry the
        acknowledgements.
    frames : int
        Frames drawn.
    """

    def __init__(
        self,
        draw: Callable[[], bool],
        *,
        on_leave: Callable[[], None],
        on_return: Callable[[], None],
        on_error: Callable[[Exception], None],
        fps: float = 20.0,
        around: Callable[[], contextlib.AbstractAsyncContextManager[None]] | None = None,
    ) -> None:
        self._draw = draw
        self._around = contextlib.nullcontext if around is None else around
        self._on_leave, self._on_return, self._on_error = on_leave, on_return, on_error
        self._interval = 1.0 / fps
        self._frame, self._ack = Range1d(start=0, end=0), Range1d(start=0, end=0)
        self._frame.js_on_change(
            "end", CustomJS(args={"frame": self._frame, "ack": self._ack}, code=_PAINTED)
        )
        self._ack.on_change("end", self._painted)
        self.models = [self._frame, self._ack]
        self.frames = 0
        self._acked = 0
        self._doc: Document | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._credit = asyncio.Event()
        self._armed = False
        self._here = True
        self._served = False
        self._drew_at = self._rest_until = -math.inf
        self._ready: Callable[[], bool] = lambda: True

    def start(self) -> None:
        """Begin, from within the document's own callback (on load)."""
        if self._task is None:
            self._doc = pn.state.curdoc
            self._served = self._doc is not None and self._doc.session_context is not None
            self._loop = asyncio.get_running_loop()
            self._news.set()
            self._task = self._loop.create_task(self._run())
            _PUMPS.add(self)

    def stop(self) -> None:
        """End; the page is gone."""
        _PUMPS.discard(self)
        if self._task is not None:
            self._task.cancel()

    def knock(self) -> None:
        """There is news.  Cheap, from any thread; many knocks are one."""
        loop = self._loop
        if self._armed or loop is None or loop.is_closed():
            return
        self._armed = True
        with contextlib.suppress(RuntimeError):  # closed between the check and the call
            loop.call_soon_threadsafe(self._news.set)

    def rest(self, ready: Callable[[], bool]) -> None:
        """Draw nothing until there is something new to see, for at most `REST` seconds.

        Measured: the frame that only clears the page holds up the first new one.
        """
        self._ready, self._rest_until = ready, time.monotonic() + REST

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Writes within go to the browser at once, as one message."""
        with set_curdoc(self._doc), pn.io.unlocked():
            yield

    # -- inside ----------------------------------------------------------------

    def _painted(self, attr: str, old: float, new: float) -> None:
        self._acked = max(self._acked, int(new))
        self._credit.set()

    def _connected(self) -> bool:
        context = self._doc.session_context if self._doc is not None else None
        if context is None:
            # Without a server somebody looks for as long as the page lives; a
            # served document loses its context when its session is destroyed.
            return not self._served
        session = context.session
        return session is not None and not session.destroyed and session.connection_count > 0

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), CHECK_EVERY)
            if not self._check_presence():
                await asyncio.sleep(CHECK_EVERY / 2)
                continue
            if not self._news.is_set() or not await self._may_send():
                continue
            while time.monotonic() < self._rest_until and not self._ready():
                await asyncio.sleep(0.005)
            self._news.clear()
            self._armed = False
            begun = time.monotonic()
            try:
                async with self._around():
                    self._one_frame()
            except Exception as problem:
                # A pump that dies stops the picture without a word; tell, and go on.
                _log.exception("a frame could not be drawn")
                with contextlib.suppress(Exception):
                    self._on_error(problem)
                await asyncio.sleep(CHECK_EVERY)
            self._drew_at = begun
            pause = self._interval * self.slowness
            await asyncio.sleep(max(0.0, pause - (time.monotonic() - begun)))

    @property
    def painted(self) -> bool:
        """Whether the browser has painted a frame."""
        return self._acked > 0

    @property
    def slowness(self) -> float:
        """How many times longer than alone a page waits for its next frame."""
        now = time.monotonic()
        drawing = sum(now - pump._drew_at < DRAWS for pump in _PUMPS)
        courtesy = COURTESY.rate()
        pause = max(self._interval, drawing / IN_ALL, 1 / courtesy if courtesy else 0.0)
        return pause / self._interval

    def _one_frame(self) -> None:
        with self.writing():
            again = self._draw()
            self.frames += 1
            self._frame.end = self.frames
        if again:
            self._news.set()

    def _check_presence(self) -> bool:
        """Whether somebody looks; tells when that changes."""
        here = self._connected()
        if here != self._here:
            self._here = here
            if here:
                self._acked = self.frames
                self._news.set()
            (self._on_return if here else self._on_leave)()
        return here

    async def _may_send(self) -> bool:
        """Wait for credit; False when the tab left meanwhile."""
        waited = time.monotonic()
        while self.frames - self._acked >= IN_FLIGHT:
            self._credit.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._credit.wait(), CHECK_EVERY)
            if not self._connected():
                return False
            if time.monotonic() - waited > LOST_AFTER:
                self._acked = self.frames - 1
        return True
