"""The widget of one choice, whatever it is of: a problem, a solver, a run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui

from mkldash.apps import ui
from mkldash.apps.choice import Choice
from mkldash.apps.log_slider import LogSlider
from mkldash.apps.sidebar import ABOVE, REACH, TYPED

__all__ = ["Field"]

#: Widths of sliders' steps, by name of the choice.
_STEPS = {"eta": 0.01, "p": 1.0 / 6.0, "train_fraction": 0.05}


class Field:
    """A widget that follows from a `Choice`.

    Parameters
    ----------
    choice : Choice
    value : object
        What it shows first.
    tell : callable
        Gets what a person chose; raises ValueError for what cannot be used.
    """

    def __init__(self, choice: Choice, value: Any, tell: Callable[[Any], None]) -> None:
        self.choice, self._tell, self._quiet = choice, tell, False
        self._moving = False
        self._log: LogSlider | None = None
        self.widgets = self._make()
        self.show(value)

    def _make(self) -> list[Any]:
        choice = self.choice
        small = {"sizing_mode": "stretch_width", "size": "small", "margin": (6, 10)}
        if choice.name in REACH:
            self._log = LogSlider(
                choice, REACH[choice.name], ABOVE[choice.name], self._tell,
                TYPED.get(choice.name), small,
            )  # fmt: skip
            return self._log.widgets
        common = {"label": choice.label, **small}
        about = {"description": choice.help} if choice.help else {}
        if choice.kind == "flag":
            widget = pmui.Switch(**common)
        elif choice.names is not None:
            names = {title: name for name, title in choice.names().items()}
            widget = pmui.Select(options=names, **about, **common)
        elif choice.kind == "number" and self._span() is not None:
            low, high = self._span() or (0.0, 1.0)
            step = choice.step or _STEPS.get(choice.name, (high - low) / 100)
            widget = pmui.FloatSlider(start=low, end=high, step=step, sx=ui.BUBBLE_BELOW, **common)
        else:
            self._typed = ui.TextField(**about, **common)
            self._typed.param.watch(self._entered, "value")
            return [self._typed]
        widget.param.watch(functools.partial(self._chosen), "value")
        return [widget]

    def _span(self) -> tuple[float, float] | None:
        """Bounds that make a slider; wide ones are typed."""
        bounds = self.choice.bounds
        if (
            bounds is None
            or self.choice.infinite
            or self.choice.optional
            or bounds[1] - bounds[0] > 1.0
        ):
            return None
        return bounds if bounds[0] >= 0.0 and bounds[1] >= 0.1 else None

    def show(self, value: Any, *, visible: bool = True) -> None:
        """Bring it to `value` without telling anybody."""
        if self._log is not None:
            self._log.show(value, visible=visible)
            return
        widget = self.widgets[0]
        if widget.visible != visible:
            widget.visible = visible
        typed = isinstance(widget, ui.TextField)
        shown = self.choice.write(value) if typed else value
        # What a person moves is not written to: the echo would undo what is on its way.
        if self._moving or widget.value == shown:
            return
        self._quiet = True
        try:
            if typed:
                widget.param.update(value=shown, error_state=False, label=self.choice.label)
            else:
                widget.value = shown
        finally:
            self._quiet = False

    def _chosen(self, event: Any) -> None:
        if not self._quiet and event.new is not None:
            new = event.new
            self._send(round(new, 6) if isinstance(new, float) else new)

    def _entered(self, event: Any) -> None:
        if self._quiet:
            return
        widget = self.widgets[0]
        try:
            value = self.choice.read(event.new.strip().replace(",", "."))
        except ValueError as problem:
            widget.param.update(error_state=True, label=str(problem))
            return
        if widget.error_state:
            widget.param.update(error_state=False, label=self.choice.label)
        self._send(value)

    def _send(self, value: Any) -> None:
        self._moving = True
        try:
            self._tell(value)
        finally:
            self._moving = False
