"""A finished run to walk through inside a notebook: play, step, drag; or its still picture."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mkldash.solvers.base import Snapshot
from mkldash.views._front_end import is_live
from mkldash.views.base import Scene, View
from mkldash.views.lessons.canvas import Picture

if TYPE_CHECKING:
    from bokeh.models import LayoutDOM

    from mkldash.views.lessons._widget import FrameWidget

__all__ = ["Dial", "Scrubber"]

Run = Sequence[Snapshot]

#: Iterations per second while it plays: slow enough to see each cut fall.
PACE = 2.5


@dataclass(frozen=True)
class Dial:
    """A positive number that a person may change, on a logarithmic slider.

    Parameters
    ----------
    label : str
    value : float
        Where it begins.
    low, high : float
    step : float
        Of the slider, in powers of ten.
    """

    label: str
    value: float
    low: float
    high: float
    step: float = 0.25


class Scrubber:
    """Views of a whole run, with a slider over its iterations.

    Shown as the last line of a cell.  With a person in front it is a widget;
    executed by a program it shows the picture that `still` draws.

    Parameters
    ----------
    make : callable
        From the dial's value to a run and its scene.  Called in the event loop of
        the notebook, so it should take no more than a second.
    dial : Dial
    views : sequence of View types
        Two in a row, wide ones alone.
    still : callable
        From run and scene to a `Picture`.
    pace : float
        Iterations per second while it plays.
    """

    def __init__(
        self,
        make: Callable[[float], tuple[Run, Scene]],
        dial: Dial,
        views: Sequence[type[View]],
        still: Callable[[Run, Scene], Picture],
        pace: float = PACE,
    ) -> None:
        self._make, self._still, self.kinds = make, still, tuple(views)
        self.dial, self.value, self.pace = dial, dial.value, pace
        self.run, self.scene = make(dial.value)
        self.cursor = 0
        self.playing = False
        self._task: asyncio.Task[None] | None = None

    # -- commands, as the buttons and sliders give them -------------------------

    def choose(self, value: float) -> None:
        """Another value of the dial; the cursor stays where it is, if the run goes so far."""
        if value != self.value:
            self.value = float(value)
            self.run, self.scene = self._make(self.value)
            self.scrub(self.cursor)

    def scrub(self, k: int) -> None:
        """Stop playing and look at iteration `k`."""
        self.playing = False
        self.cursor = max(0, min(int(k), len(self.run) - 1))

    def step(self, by: int = 1) -> None:
        """Stop playing and go `by` iterations on."""
        self.scrub(self.cursor + by)

    def toggle(self) -> None:
        """Play, from the start again after the end; or pause."""
        if not self.playing and self.cursor == len(self.run) - 1:
            self.cursor = 0
        self.playing = not self.playing

    def advance(self) -> None:
        """One iteration further while it plays; it stops at the end."""
        if self.playing:
            self.cursor = min(self.cursor + 1, len(self.run) - 1)
            self.playing = self.cursor < len(self.run) - 1

    # -- what is drawn -----------------------------------------------------------

    def sentence(self) -> str:
        """Where the cursor is, and what the first view says there."""
        kind = self.kinds[0]
        said = kind.describe(kind.prepare(self.run, self.cursor, self.scene))
        last = self.run[-1].iteration
        value = f"{float(f'{self.value:.3g}'):,.12g}"  # 10,000 and not 1e+04
        return f"{self.dial.label} = {value}, {self.cursor} of {last} iterations. {said}"

    def marks(self) -> tuple[tuple[str, str, str], ...]:
        """Key of all views that have one: (sign, colour, meaning) of each mark."""
        found = (k.marks(k.prepare(self.run, self.cursor, self.scene)) for k in self.kinds)
        return tuple(mark for marks in found for mark in marks)

    def still(self) -> Picture:
        """What a reader without a front end sees."""
        return self._still(self.run, self.scene)

    # -- in the notebook -----------------------------------------------------------

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        shown = self._widget if is_live() else self.still()
        return shown._repr_mimebundle_()

    @cached_property
    def _views(self) -> tuple[View, ...]:
        views = tuple(kind() for kind in self.kinds)
        for view in views:
            view.full_frames = True
        return views

    @cached_property
    def _widget(self) -> FrameWidget:
        from mkldash.views.lessons._widget import FrameWidget

        return FrameWidget(self._layout)

    @cached_property
    def _layout(self) -> LayoutDOM:
        from mkldash.views.lessons._walk import Walk

        self._walk = Walk(self)
        page = self._walk.page([view.figure() for view in self._views])
        # Before there is a widget: what it sends until the page listens is lost.
        self._write()
        return page

    def _write(self) -> None:
        for view in self._views:
            view.update(view.prepare(self.run, self.cursor, self.scene))
        self._walk.show()

    def draw(self) -> None:
        """Write the present state into the models of the page, as one frame."""
        with self._widget.frame():
            self._write()

    def wake(self) -> None:
        """Draw now, and go on while it plays; called by the buttons, within the event loop."""
        self.draw()
        if self.playing and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._play())

    async def _play(self) -> None:
        while self.playing:
            await asyncio.sleep(1.0 / self.pace)
            self.advance()
            self.draw()
