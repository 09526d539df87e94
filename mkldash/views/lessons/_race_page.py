"""The page of `EmbeddedRace`: plain bokeh, its controls above its figures."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bokeh.layouts import column, row
from bokeh.models import Button, Div, LayoutDOM, Plot, Select, Slider

if TYPE_CHECKING:
    from mkldash.views.lessons.embedded_race import EmbeddedRace

__all__ = ["RacePage"]

_WRAP = ":host { flex-wrap: wrap } .bk-Figure { flex: 1 1 430px !important }"


class RacePage:
    """Controls whose callbacks give commands to `race`.

    Parameters
    ----------
    race : EmbeddedRace
    """

    def __init__(self, race: EmbeddedRace) -> None:
        from mkldash.views.lessons.embedded_race import BY_ITERATION, BY_TIME

        self.race = race
        self.eta = Slider(
            start=0, end=1, step=0.05, value=race.eta, title="η, from smooth (0) to sparse (1)",
            width=280, name="eta",
        )  # fmt: skip
        self.cost = Slider(
            start=-1, end=4, step=0.25, value=math.log10(race.C), width=260, name="cost",
            title="log₁₀ C, price of an error",
        )  # fmt: skip
        self.turns = Select(
            title="every turn grants", value=race.turns, options=[BY_TIME, BY_ITERATION], width=210,
            name="turns",
        )  # fmt: skip
        self.play = Button(label="▶ Start", button_type="primary", width=130, name="play")
        self.step = Button(label="One turn", width=100, name="step")
        self.sentence = Div(text="", sizing_mode="stretch_width", name="sentence")
        self._connect()
        self.show()

    def _connect(self) -> None:
        race = self.race

        def then_draw(command: Callable[..., None], **named: Any) -> None:
            command(**named)
            race.wake()

        # Throttled values are a person's: those that the page sets itself are not.
        self.eta.on_change(
            "value_throttled", lambda attr, old, new: then_draw(race.choose, eta=new)
        )
        self.cost.on_change(
            "value_throttled", lambda attr, old, new: then_draw(race.choose, C=10.0**new)
        )
        self.turns.on_change("value", lambda attr, old, new: then_draw(race.choose, turns=new))
        self.play.on_click(lambda: then_draw(race.toggle))
        self.step.on_click(lambda: then_draw(race.step))

    def layout(self, figures: Sequence[Plot]) -> LayoutDOM:
        """Controls above the figures, which stand side by side where there is room."""
        return column(
            row(self.eta, self.cost, self.turns, stylesheets=[_WRAP]),
            row(self.play, self.step),
            self.sentence,
            row(*figures, sizing_mode="stretch_width", stylesheets=[_WRAP]),
            sizing_mode="stretch_width",
            name="embedded-race",
        )

    def show(self) -> None:
        """Write what changes with the race; the sliders of a person are left alone."""
        race = self.race
        if not race.lanes:
            label = "▶ Start"
        elif race.playing:
            label = "❚❚ Pause"
        else:
            label = "▶ Race again" if race.over else "▶ Go on"
        if self.play.label != label:
            self.play.label = label
        self.sentence.text = f'<span role="status">{html.escape(race.sentence())}</span>'
