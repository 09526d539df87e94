"""A slider over decades, and the field in which the same number is typed exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui
from bokeh.models import CustomJSTickFormatter

from mkldash.apps import ui
from mkldash.apps.choice import Choice

__all__ = ["LogSlider"]

#: Said and shown in the bubble by the browser itself, so that a drag waits for nobody.
_MEANT = "return String(Number((10 ** tick).toPrecision(3)))"


class LogSlider:
    """Both widgets of one choice; what a person moves right now is never written to.

    The echo of an older value would undo a newer one that is still on its way.

    Parameters
    ----------
    choice : Choice
        A positive number.
    reach : pair of float
        Decades that the slider reaches; any other value can be typed.
    label : callable
        From a value to what stands above the slider.
    tell : callable
        Gets what a person chose.
    typed : str or None
        Above the field; None: there is none.
    style : mapping
        For both widgets.
    """

    def __init__(
        self,
        choice: Choice,
        reach: tuple[float, float],
        label: Callable[[float], str],
        tell: Callable[[float], None],
        typed: str | None,
        style: dict[str, Any],
    ) -> None:
        self._choice, self._reach, self._label = choice, reach, label
        self._tell, self._typed = tell, typed
        self._quiet = False
        self._moving: Any = None
        low, high = reach
        self.slider = pmui.FloatSlider(
            label=choice.label, start=low, end=high, step=0.02, value=self._at(choice.default),
            show_value=False, format=CustomJSTickFormatter(code=_MEANT), sx=ui.BUBBLE_BELOW,
            **style,
        )  # fmt: skip
        self.slider.param.watch(self._slid, "value")
        self.widgets = [self.slider]
        self.field: Any = None
        if typed is not None:
            self.field = ui.TextField(
                label=typed, description=choice.help or None,
                **{**style, "margin": (0, 10, 8, 10)},
            )  # fmt: skip
            self.field.param.watch(self._entered, "value")
            self.widgets.append(self.field)

    def show(self, value: float, *, visible: bool = True) -> None:
        """Bring both to `value` without telling anybody."""
        self._quiet = True
        try:
            for widget in self.widgets:
                if widget.visible != visible:
                    widget.visible = visible
            label, at = self._label(value), self._at(value)
            if self.slider.label != label:
                self.slider.label = label
            # A value that the slider does not reach is not the one where it stands.
            beyond = None if at == math.log10(value) else _plain(value)
            if self.slider.value_label != beyond:
                self.slider.value_label = beyond
            if self._moving is not self.slider and abs(self.slider.value - at) > 0.011:
                self.slider.value = at
            text = f"{value:.6g}"
            field = self.field
            if field is not None and self._moving is not field and field.value != text:
                field.param.update(value=text, error_state=False, label=self._typed)
        finally:
            self._quiet = False

    def _at(self, value: float) -> float:
        low, high = self._reach
        return min(max(math.log10(value), low), high)

    def _slid(self, event: Any) -> None:
        # Three digits: what a slider means, not what it computes; as in `_MEANT`.
        self._send(self.slider, float(f"{10**event.new:.3g}"))

    def _entered(self, event: Any) -> None:
        if self._quiet:
            return
        try:
            value = self._choice.read(event.new.strip().replace(",", "."))
        except ValueError as problem:
            self.field.param.update(error_state=True, label=str(problem))
            return
        if self.field.error_state:
            self.field.param.update(error_state=False, label=self._typed)
        self._send(self.field, value)

    def _send(self, widget: Any, value: float) -> None:
        if self._quiet:
            return
        self._moving = widget
        try:
            self._tell(value)
        finally:
            self._moving = None


def _plain(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:g}"
