"""The page of `Scrubber`: plain bokeh, its controls above its figures."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bokeh.layouts import column, row
from bokeh.models import Button, Div, LayoutDOM, Plot, Slider

if TYPE_CHECKING:
    from mkldash.views.lessons.scrubber import Scrubber

__all__ = ["Walk"]

#: In a narrow window one below the other; a figure is never narrower than its legend.
_WRAP = ":host { flex-wrap: wrap } .bk-Figure { flex: 1 1 430px !important }"


class Walk:
    """Controls whose callbacks give commands to `scrubber`.

    Parameters
    ----------
    scrubber : Scrubber
    """

    def __init__(self, scrubber: Scrubber) -> None:
        self.scrubber, dial = scrubber, scrubber.dial
        self.dial = Slider(
            start=math.log10(dial.low), end=math.log10(dial.high), step=dial.step,
            value=math.log10(dial.value), title=f"log₁₀ {dial.label}", width=260, name="dial",
        )  # fmt: skip
        self.cursor = Slider(
            start=0, end=max(1, len(scrubber.run) - 1), step=1, value=0,
            title="iteration (drag to look back)", width=330, name="cursor",
        )  # fmt: skip
        self.back = Button(label="◀ Back", width=76, name="back")
        self.play = Button(label="▶ Play", button_type="primary", width=110, name="play")
        self.step = Button(label="Step ▶", width=76, name="step")
        self.sentence = Div(text="", sizing_mode="stretch_width", name="sentence")
        self.key = Div(text="", sizing_mode="stretch_width", name="key")
        self._connect()

    def _connect(self) -> None:
        scrubber = self.scrubber

        def then_draw(command: Callable[..., None], *values: Any) -> None:
            command(*values)
            scrubber.wake()

        # Throttled values are a person's: those that the page sets itself are not.
        self.dial.on_change(
            "value_throttled", lambda attr, old, new: then_draw(scrubber.choose, 10.0**new)
        )
        self.cursor.on_change(
            "value_throttled", lambda attr, old, new: then_draw(scrubber.scrub, new)
        )
        self.back.on_click(lambda: then_draw(scrubber.step, -1))
        self.play.on_click(lambda: then_draw(scrubber.toggle))
        self.step.on_click(lambda: then_draw(scrubber.step))

    def page(self, figures: Sequence[Plot]) -> LayoutDOM:
        """Controls above the figures, two in a row where there is room; a wide one alone."""
        rows: list[list[Plot]] = []
        full = True
        for figure, kind in zip(figures, self.scrubber.kinds, strict=True):
            if kind.wide or full:
                rows.append([])
            rows[-1].append(figure)
            full = kind.wide or len(rows[-1]) == 2
        for pair in rows:
            tallest = max(figure.height for figure in pair)
            for figure in pair:
                figure.height = tallest
        buttons = row(self.back, self.play, self.step)
        return column(
            row(self.dial, self.cursor, buttons, stylesheets=[_WRAP]),
            self.sentence,
            self.key,
            *(row(*pair, sizing_mode="stretch_width", stylesheets=[_WRAP]) for pair in rows),
            sizing_mode="stretch_width",
            name="scrubber",
        )

    def show(self) -> None:
        """Write what changes with the cursor; the dial of a person is left alone."""
        scrubber = self.scrubber
        label = "❚❚ Pause" if scrubber.playing else "▶ Play"
        if self.play.label != label:
            self.play.label = label
        self.sentence.text = f'<span role="status">{html.escape(scrubber.sentence())}</span>'
        self.key.text = " &ensp; ".join(
            f'<span style="color:{colour or "inherit"}">{sign}</span> {html.escape(meaning)}'
            for sign, colour, meaning in scrubber.marks()
        )
        self.cursor.update(end=max(1, len(scrubber.run) - 1), value=scrubber.cursor)
