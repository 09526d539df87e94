"""The page of `EmbeddedRun`: plain bokeh in one notebook widget, a message per frame."""

from __future__ import annotations

import contextlib
import html
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bokeh.core.json_encoder import serialize_json
from bokeh.layouts import column, grid, row
from bokeh.models import Button, Div, LayoutDOM, Slider
from bokeh.protocol import Protocol
from jupyter_bokeh import BokehModel  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from mkldash.views.lessons.embedded import EmbeddedRun

__all__ = ["Controls", "FrameWidget", "build_controls", "build_page"]


class FrameWidget(BokehModel):
    """A bokeh layout as a widget that sends all changes of a frame as one message.

    Without it every column of every source is a message of its own, about a
    hundred in each frame, and the browser falls behind.
    """

    def __init__(self, model: LayoutDOM, **options: Any) -> None:
        self._pending: list[Any] | None = None
        super().__init__(model, **options)

    @contextlib.contextmanager
    def frame(self) -> Iterator[None]:
        """Changes within are sent together, at the end."""
        self._pending = []
        try:
            yield
        finally:
            events, self._pending = self._pending, None
            if events:
                self._send_patch(events)

    def get_state(self, *args: Any, **options: Any) -> Any:
        """For a page that asks (after a reload, say): the present picture, not the first."""
        state = super().get_state(*args, **options)
        if "render_bundle" in state:
            state["render_bundle"] = serialize_json(self._model_to_traits(self._model))
        return state

    def _document_patched(self, event: Any) -> None:
        if event.setter is self:
            return
        if self._pending is None:
            self._send_patch([event])
        else:
            self._pending.append(event)

    def _send_patch(self, events: list[Any]) -> None:
        message = Protocol().create("PATCH-DOC", events)
        for part in (message.header_json, message.metadata_json, message.content_json):
            self.send({"msg": "patch", "payload": part})
        for buffer in message.buffers:
            self.send({"msg": "patch", "payload": json.dumps(buffer.ref)})
            self.send({"msg": "patch"}, [buffer.to_bytes()])


@dataclass(frozen=True, eq=False)
class Controls:
    """The sliders, buttons and the sentence."""

    eta: Slider
    cost: Slider
    play: Button
    step: Button
    cursor: Slider
    sentence: Div

    def show(self, run: EmbeddedRun, sentence: str, k: int, n: int) -> None:
        """Write what changes with the run; the sliders of a person are left alone."""
        session = run.session
        running = session is not None and session.playing
        if session is None:
            label = "▶ Start"
        elif running:
            label = "❚❚ Pause"
        else:
            label = "▶ Run again" if session.status is not None else "▶ Go on"
        if self.play.label != label:
            self.play.label = label
        self.sentence.text = _spoken(sentence)
        if n > 1:
            self.cursor.update(end=n - 1, value=k, disabled=False)


def _spoken(sentence: str) -> str:
    """Read aloud by screen readers when it changes."""
    return f'<span role="status">{html.escape(sentence)}</span>'


def build_controls(run: EmbeddedRun) -> Controls:
    """Controls whose callbacks give commands to `run`."""
    controls = Controls(
        eta=Slider(
            start=0, end=1, step=0.05, value=run.eta, title="η, from smooth (0) to sparse (1)",
            width=330, name="eta",
        ),
        cost=Slider(
            start=-1, end=4, step=0.25, value=math.log10(run.C), title="log₁₀ C, price of an error",
            width=330, name="cost",
        ),
        play=Button(label="▶ Start", button_type="primary", width=130, name="play"),
        step=Button(label="One step", width=100, name="step"),
        cursor=Slider(
            start=0, end=1, step=1, value=0, title="iteration (drag to look back)", width=400,
            disabled=True, name="cursor",
        ),
        sentence=Div(text=_spoken(run.sentence()), sizing_mode="stretch_width", name="sentence"),
    )  # fmt: skip

    def then_draw(command: Callable[..., None], *values: Any, **named: Any) -> None:
        command(*values, **named)
        run.wake()

    # Throttled values are a person's: those that the page sets itself are not.
    controls.eta.on_change("value_throttled", lambda attr, old, new: then_draw(run.choose, eta=new))
    controls.cost.on_change(
        "value_throttled", lambda attr, old, new: then_draw(run.choose, C=10.0**new)
    )
    controls.cursor.on_change("value_throttled", lambda attr, old, new: then_draw(run.scrub, new))
    controls.play.on_click(lambda: then_draw(run.toggle))
    controls.step.on_click(lambda: then_draw(run.step))
    return controls


def build_page(controls: Controls, figures: Sequence[LayoutDOM]) -> LayoutDOM:
    """Controls above the figures, two in a row."""
    rows = [list(figures[i : i + 2]) for i in range(0, len(figures), 2)]
    return column(
        row(controls.eta, controls.cost),
        row(controls.play, controls.step, controls.cursor),
        controls.sentence,
        grid(rows, sizing_mode="stretch_width"),
        sizing_mode="stretch_width",
        name="embedded-run",
    )
