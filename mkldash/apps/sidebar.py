"""The controls: every widget follows from a choice of `AppState`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from mkldash.apps import ui
from mkldash.apps.choice import Choice, solver_options
from mkldash.apps.components import Upload
from mkldash.apps.estimates import data_note, memory_note
from mkldash.apps.state import TABLE, AppState
from mkldash.apps.table_controls import TableControls

__all__ = ["Sidebar"]

OnChoice = Callable[[str, Any], None]

#: What the C slider reaches; any other value can be typed.
LOG_C = (-3.0, 6.0)

TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

#: Train fractions of the slider.
FRACTIONS = (0.1, 1.0, 0.05)


class Sidebar:
    """Widgets for all choices.

    Parameters
    ----------
    state : AppState
    on_choice : callable
        Gets name and value of what a person chose.
    on_file : callable
        Gets name and content of an uploaded table.
    on_default : callable
        Back to the defaults.
    """

    def __init__(
        self,
        state: AppState,
        on_choice: OnChoice,
        on_file: Callable[[str, bytes], None],
        on_default: Callable[[], None],
    ) -> None:
        self._tell = on_choice
        self._quiet = False
        self._moving: Any = None
        self._widgets: dict[str, Any] = {}
        self._tables: list[str] = []
        self.upload = Upload(sizing_mode="stretch_width", margin=(4, 10))
        self.upload.on_file = on_file
        self.table = TableControls(self._choose)
        self._about, self._memory = ui.text(), ui.text(margin=(0, 10, 6, 10))
        self._options = pn.Column(sizing_mode="stretch_width", margin=0)
        self._solver: str | None = None
        defaults = pmui.Button(
            label="Back to the defaults", variant="text", size="small", margin=(6, 8)
        )
        defaults.on_click(lambda _: on_default())
        self._make(state)
        self.layout = [
            ui.heading("Data"),
            self._widgets["data"], self._about, self.upload, self.table.layout,
            ui.heading("Kernels"),
            self._widgets["bank"], self._memory,
            ui.heading("Problem"),
            self._widgets["eta"], self._widgets["C"], self._exact_c,
            ui.heading("Run"),
            self._widgets["tol"], self._widgets["train_fraction"],
            pn.Row(
                self._widgets["seed"], self._widgets["max_iter"],
                sizing_mode="stretch_width", margin=0,
            ),
            self._widgets["solver"], self._options, defaults,
        ]  # fmt: skip
        self.show(state)

    # -- building --------------------------------------------------------------

    def _make(self, state: AppState) -> None:
        small = {"sizing_mode": "stretch_width", "size": "small", "margin": (6, 10)}
        made = self._widgets
        for name in ("data", "bank", "solver"):
            choice = state.choice(name)
            made[name] = self._select(choice, small)
        made["eta"] = self._slider("eta", state, 0.0, 1.0, 0.01, small)
        self._log_c = pmui.FloatSlider(
            label="C", start=LOG_C[0], end=LOG_C[1], step=0.02, value=2.0, show_value=False, **small
        )
        self._log_c.param.watch(self._slid, "value")
        made["C"] = self._log_c
        self._exact_c = ui.TextField(
            label="C, typed exactly", value="100", **{**small, "margin": (0, 10, 8, 10)}
        )
        self._exact_c.param.watch(lambda e: self._typed("C", e.new, self._exact_c), "value")
        low, high, step = FRACTIONS
        made["train_fraction"] = self._slider("train_fraction", state, low, high, step, small)
        made["tol"] = pmui.Select(
            label=state.choice("tol").label, options={f"{t:g}": t for t in TOLERANCES}, **small
        )
        made["tol"].param.watch(lambda e: self._choose("tol", e.new), "value")
        for name in ("seed", "max_iter"):
            made[name] = ui.TextField(
                label=_typed_label(state.choice(name)), value=str(state[name]), **small
            )
            made[name].param.watch(lambda e, n=name: self._typed(n, e.new, made[n]), "value")

    def _select(self, choice: Choice, small: dict[str, Any]) -> Any:
        assert choice.names is not None
        widget = pmui.Select(
            label=choice.label,
            options={title: name for name, title in choice.names().items()},
            description=choice.help or None,
            **small,
        )
        widget.param.watch(lambda e, n=choice.name: self._choose(n, e.new), "value")
        return widget

    def _slider(
        self,
        name: str,
        state: AppState,
        low: float,
        high: float,
        step: float,
        small: dict[str, Any],
    ) -> Any:
        widget = pmui.FloatSlider(
            label=state.choice(name).label, start=low, end=high, step=step,
            value=state[name], **small,
        )  # fmt: skip
        widget.param.watch(lambda e, n=name: self._choose(n, round(e.new, 6)), "value")
        return widget

    def _make_options(self, state: AppState) -> None:
        """Fields for the solver's own hyper-parameters, from its dataclass."""
        self._solver = state["solver"]
        for name in [n for n in self._widgets if n.startswith("o.")]:
            del self._widgets[name]
        for option in solver_options(self._solver):
            self._widgets[option.name] = self._option(option)
        fields = [w for n, w in self._widgets.items() if n.startswith("o.")]
        self._options[:] = [ui.section("Solver settings", *fields, opened=False)] if fields else []

    def _option(self, option: Choice) -> Any:
        common = {"label": option.label, "sizing_mode": "stretch_width", "margin": (6, 4)}
        if option.kind == "flag":
            widget = pmui.Switch(**common)
            widget.param.watch(lambda e: self._choose(option.name, e.new), "value")
        elif option.names is not None:
            names = {title: name for name, title in option.names().items()}
            widget = pmui.Select(options=names, size="small", **common)
            widget.param.watch(lambda e: self._choose(option.name, e.new), "value")
        else:
            widget = ui.TextField(size="small", description=option.help or None, **common)
            widget.param.watch(lambda e: self._typed(option.name, e.new, widget), "value")
        return widget

    # -- from the person -------------------------------------------------------

    def _choose(self, name: str, value: Any) -> None:
        # None means "detected" for how a table is read, and nothing anywhere else.
        if not self._quiet and (value is not None or name in TABLE):
            self._tell(name, value)

    def _slid(self, event: Any) -> None:
        self._moving = self._log_c
        try:
            self._choose("C", _round(10**event.new))
        finally:
            self._moving = None

    def _typed(self, name: str, text: str, widget: Any) -> None:
        if self._quiet:
            return
        choice = self._state.choice(name)
        try:
            value = choice.read(text.strip().replace(",", "."))
        except ValueError as problem:
            widget.param.update(error_state=True, label=str(problem))
            return
        if widget.error_state:
            widget.param.update(error_state=False, label=_typed_label(choice))
        self._moving = widget
        try:
            self._tell(name, value)
        finally:
            self._moving = None

    # -- to the person ---------------------------------------------------------

    def show(self, state: AppState) -> None:
        """Bring all widgets to `state` without telling anybody."""
        self._state = state
        self._quiet = True
        try:
            self._show_data(state)
            if state["solver"] != self._solver:
                self._make_options(state)
            for name in ("bank", "solver", "eta"):
                _set(self._widgets[name], state[name])
            for name in ("seed", "max_iter"):
                label = _typed_label(state.choice(name))
                self._widgets[name].param.update(
                    value=str(state[name]), error_state=False, label=label
                )
            fraction = self._widgets["train_fraction"]
            _set(fraction, min(max(state["train_fraction"], fraction.start), fraction.end))
            self._show_c(state["C"])
            tol = self._widgets["tol"]
            if state["tol"] not in tol.options.values():
                values = sorted({*tol.options.values(), state["tol"]}, reverse=True)
                tol.options = {f"{t:g}": t for t in values}
            _set(tol, state["tol"])
            for option in solver_options(state["solver"]):
                widget, value = self._widgets[option.name], state[option.name]
                typed = isinstance(widget, ui.TextField)
                _set(widget, option.write(value) if typed else value)
                if typed:
                    widget.param.update(error_state=False, label=_typed_label(option))
            self.table.show(state)
        finally:
            self._quiet = False
        self._about.object = data_note(state)
        self._memory.object = memory_note(state)

    def settle(self, state: AppState) -> None:
        """After one choice: only what follows from it, so that a drag stays smooth."""
        self._state = state
        self._quiet = True
        try:
            self._show_c(state["C"])
            if state["solver"] != self._solver:
                self._make_options(state)
        finally:
            self._quiet = False
        for pane, words in ((self._about, data_note(state)), (self._memory, memory_note(state))):
            if pane.object != words:
                pane.object = words

    def _show_c(self, cost: float) -> None:
        label = f"C, price of an error: {cost:g}"
        if self._log_c.label != label:
            self._log_c.label = label
        at = min(max(math.log10(cost), LOG_C[0]), LOG_C[1])
        # What a person moves right now is never written to: the echo of an
        # older value would undo a newer one that is still on its way.
        if self._moving is not self._log_c and abs(self._log_c.value - at) > 0.011:
            self._log_c.value = at
        text = f"{cost:.6g}"
        if self._moving is not self._exact_c and self._exact_c.value != text:
            self._exact_c.param.update(value=text, error_state=False, label="C, typed exactly")

    def _show_data(self, state: AppState) -> None:
        widget = self._widgets["data"]
        if state.table is not None and state["data"] not in widget.options.values():
            widget.options = {**widget.options, f"{state['data']} (yours)": state["data"]}
        _set(widget, state["data"])


def _set(widget: Any, value: Any) -> None:
    if widget.value != value:
        widget.value = value


def _round(value: float) -> float:
    """Three digits: what a slider means, not what it computes."""
    return float(f"{value:.3g}")


def _typed_label(choice: Choice) -> str:
    short = {"C": "C, typed exactly", "seed": "Seed", "max_iter": "Iteration limit"}
    return short.get(choice.name, choice.label)
