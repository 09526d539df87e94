"""The controls: every widget follows from a choice of `AppState`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui

from mkldash.apps import ui
from mkldash.apps.choice import OPTION, Choice, solver_options
from mkldash.apps.companions import RIVAL_SECONDS
from mkldash.apps.components import Upload
from mkldash.apps.estimates import data_note, memory_note, train_rows
from mkldash.apps.log_slider import LogSlider
from mkldash.apps.state import FEW_ROWS, TABLE, AppState
from mkldash.apps.table_controls import TableControls
from mkldash.apps.weight_controls import show_weight_sliders, weight_sliders

__all__ = ["Sidebar"]

OnChoice = Callable[[str, Any], None]

#: Decades that the sliders reach, and what stands above them.
REACH: Mapping[str, tuple[float, float]] = {
    "C": (-3.0, 6.0), "rho": (-2.0, 6.0), "sigma_factor": (0.0, math.log10(16.0)),
    "penalty": (-4.0, 3.0), "growth": (0.0, math.log10(64.0)), "o.step": (-2.0, 2.0),
}  # fmt: skip
ABOVE: Mapping[str, Callable[[float], str]] = {
    "C": lambda value: f"C, price of an error: {value:.7g}",
    "rho": lambda value: (
        "ρ = ∞: the plain support vector machine"
        if math.isinf(value)
        else f"ρ, price of leaving the kernel: {value:.7g}"
    ),
    "sigma_factor": lambda value: f"σ = {value:g} × mean squared distance",
    "penalty": lambda value: f"Penalty of products: {value:.7g}",
    "growth": lambda value: (
        "Growth 1: long products cost no more"
        if value == 1.0
        else f"Growth: × {value:.4g} for each factor"
    ),
    "o.step": lambda value: f"Step: {value:.7g} × the rule's",
}
TYPED = {
    "C": "C, typed exactly", "rho": "ρ, typed exactly (inf: plain SVM)",
    "penalty": "Penalty, typed exactly",
}  # fmt: skip

TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

#: D and p of the sliders; a link may say others.
DEGREES, NORMS = (1, 8), (1.0, 2.0, 1.0 / 6.0)

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
        self._weights: dict[str, Any] = {}
        self._tables: list[str] = []
        self.upload = Upload(sizing_mode="stretch_width", margin=(4, 10))
        self.upload.on_file = on_file
        self.table = TableControls(self._choose)
        self._about, self._memory = ui.text(), ui.text(margin=(0, 10, 6, 10))
        self._options = pn.Column(sizing_mode="stretch_width", margin=0)
        self._prominent = pn.Column(sizing_mode="stretch_width", margin=0)
        self._sliders: dict[str, LogSlider] = {}
        self._solver: str | None = None
        defaults = pmui.Button(
            label="Back to the defaults", variant="text", size="small", margin=(6, 8)
        )
        defaults.on_click(lambda _: on_default())
        self._make(state)
        self.layout = [
            ui.heading("Data"),
            self._widgets["data"], self._about, self.upload, self.table.layout,
            *self._standardize(),
            *(self._of_products() if state.kind.has_family else self._of_banks()),
            self._prominent,
            ui.heading("Run"),
            self._widgets["tol"], self._widgets["train_fraction"],
            pn.Row(
                self._widgets["seed"], self._widgets["max_iter"],
                sizing_mode="stretch_width", margin=0,
            ),
            self._widgets["solver"], self._options,
            *self._comparison(state), defaults,
        ]  # fmt: skip
        self.show(state)

    def _of_banks(self) -> list[Any]:
        return [
            ui.heading("Kernels"),
            self._widgets["bank"], *self._both("sigma_factor"), self._memory,
            ui.heading("Problem"),
            *self._weights.values(), *self._both("rho"), *self._both("C"),
        ]  # fmt: skip

    def _of_products(self) -> list[Any]:
        return [
            ui.heading("Products"),
            self._widgets["degree"], self._widgets["p"],
            *self._both("penalty"), *self._both("growth"), self._memory,
        ]  # fmt: skip

    def _standardize(self) -> list[Any]:
        return [self._widgets[n] for n in ("standardize",) if n in self._widgets]

    # -- building --------------------------------------------------------------

    def _make(self, state: AppState) -> None:
        small = {"sizing_mode": "stretch_width", "size": "small", "margin": (6, 10)}
        made = self._widgets
        family = state.kind.has_family
        for name in ("data", "solver") if family else ("data", "bank", "solver"):
            choice = state.choice(name)
            made[name] = self._select(choice, small)
        if family:
            made["p"] = self._slider("p", state, *NORMS, small)
            made["degree"] = self._degrees(state, small)
            made["standardize"] = pmui.Switch(
                label=state.choice("standardize").label, value=state["standardize"], **small
            )
            made["standardize"].param.watch(lambda e: self._choose("standardize", e.new), "value")
        else:
            self._weights = weight_sliders(state, self._choose)
            made |= self._weights
        for name in REACH:
            if name in state.values and not name.startswith(OPTION):
                self._sliders[name] = self._over_decades(state.choice(name))
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
            value=state[name], sx=ui.BUBBLE_BELOW, **small,
        )  # fmt: skip
        widget.param.watch(lambda e, n=name: self._choose(n, round(e.new, 6)), "value")
        return widget

    def _degrees(self, state: AppState, small: dict[str, Any]) -> Any:
        low, high = DEGREES
        widget = pmui.IntSlider(
            label=state.choice("degree").label, start=low, end=max(high, state["degree"]), step=1,
            value=state["degree"], sx=ui.BUBBLE_BELOW, **small,
        )  # fmt: skip
        widget.param.watch(lambda e: self._choose("degree", int(e.new)), "value")
        return widget

    def _over_decades(self, choice: Choice) -> LogSlider:
        small = {"sizing_mode": "stretch_width", "size": "small", "margin": (6, 10)}
        return LogSlider(
            choice, REACH[choice.name], ABOVE[choice.name],
            functools.partial(self._choose, choice.name), TYPED.get(choice.name), small,
        )  # fmt: skip

    def _both(self, name: str) -> list[Any]:
        """Slider and field of a choice; nothing where the problem has no such choice."""
        return self._sliders[name].widgets if name in self._sliders else []

    def _comparison(self, state: AppState) -> list[Any]:
        """Which other solvers run beside the chosen one."""
        if "compare" not in state.values:
            return []
        self._rivals = pmui.CheckBoxGroup(
            options={}, value=[], sizing_mode="stretch_width", margin=(0, 10), size="small"
        )
        self._rivals.param.watch(self._compared, "value")
        note = ui.text(
            f"They solve the same problem in the background, for at most {RIVAL_SECONDS:g} s each. "
            f"On more than {FEW_ROWS:,} training rows none does unless you say so.",
            size=12,
        )
        self._beside = pn.Column(
            ui.heading("Compare with"), self._rivals, note, sizing_mode="stretch_width", margin=0
        )
        return [self._beside]

    def _make_options(self, state: AppState) -> None:
        """Fields for the solver's own hyper-parameters, from its dataclass."""
        self._solver = state["solver"]
        for made in (self._widgets, self._sliders):
            for name in [n for n in made if n.startswith(OPTION)]:
                del made[name]
        options = solver_options(self._solver)
        decades = [option for option in options if option.name in REACH]
        for option in decades:
            self._sliders[option.name] = self._over_decades(option)
            self._sliders[option.name].show(state[option.name], visible=True)
        plain = [option for option in options if option.name not in REACH]
        for option in plain:
            self._widgets[option.name] = self._option(option)
        sliders = [widget for o in decades for widget in self._both(o.name)]
        self._prominent[:] = [*sliders, *(self._widgets[o.name] for o in plain if o.slider)]
        fields = [self._widgets[o.name] for o in plain if not o.slider]
        self._options[:] = [ui.section("Solver settings", *fields, opened=False)] if fields else []

    def _option(self, option: Choice) -> Any:
        common = {"label": option.label, "sizing_mode": "stretch_width", "margin": (6, 4)}
        if option.slider and option.bounds is not None:
            low, high = option.bounds
            widget = pmui.FloatSlider(
                start=low, end=high, step=option.step or (high - low) / 100, value=option.default,
                size="small", sx=ui.BUBBLE_BELOW, **{**common, "margin": (6, 10)},
            )  # fmt: skip
            widget.param.watch(lambda e: self._choose(option.name, round(e.new, 6)), "value")
        elif option.kind == "flag":
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

    def _compared(self, event: Any) -> None:
        if self._quiet:
            return
        # The chosen solver is no box of its own: it stays among those to compare.
        kept = [n for n in self._state.compared(train_rows(self._state)) if n not in self._boxes()]
        self._choose("compare", tuple((*kept, *event.new)))

    def _boxes(self) -> dict[str, str]:
        state = self._state
        return {name: title for name, title in state.solvers().items() if name != state["solver"]}

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
            for name in ("bank", "degree", "p", "standardize"):
                if name in self._widgets:
                    _set(self._widgets[name], state[name])
            self._show_problem(state)
            for name in ("seed", "max_iter"):
                label = _typed_label(state.choice(name))
                self._widgets[name].param.update(
                    value=str(state[name]), error_state=False, label=label
                )
            fraction = self._widgets["train_fraction"]
            _set(fraction, min(max(state["train_fraction"], fraction.start), fraction.end))
            tol = self._widgets["tol"]
            if state["tol"] not in tol.options.values():
                values = sorted({*tol.options.values(), state["tol"]}, reverse=True)
                tol.options = {f"{t:g}": t for t in values}
            _set(tol, state["tol"])
            for option in solver_options(state["solver"]):
                if option.name in self._sliders:
                    continue
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
            if state["solver"] != self._solver:
                self._make_options(state)
            self._show_problem(state)
        finally:
            self._quiet = False
        for pane, words in ((self._about, data_note(state)), (self._memory, memory_note(state))):
            if pane.object != words:
                pane.object = words

    def _show_problem(self, state: AppState) -> None:
        """What the problem and its kernels leave to choose, and the solvers that take them."""
        for name, slider in self._sliders.items():
            slider.show(state[name], visible=name != "sigma_factor" or state.single)
        show_weight_sliders(self._weights, state)
        solver = self._widgets["solver"]
        titles = {title: name for name, title in state.solvers().items()}
        if solver.options != titles:
            solver.options = titles
        _set(solver, state["solver"])
        if "compare" in state.values:
            boxes = {title: name for name, title in self._boxes().items()}
            if self._beside.visible != bool(boxes):
                self._beside.visible = bool(boxes)
            if self._rivals.options != boxes:
                self._rivals.param.update(options=boxes, value=[])
            _set(self._rivals, list(state.rivals(train_rows(state))))

    def _show_data(self, state: AppState) -> None:
        widget = self._widgets["data"]
        if state.table is not None and state["data"] not in widget.options.values():
            options = {**widget.options, f"{state['data']} (yours)": state["data"]}
            # In one message: a slow browser would answer new options with the first of them.
            widget.param.update(options=options, value=state["data"])
        _set(widget, state["data"])


def _set(widget: Any, value: Any) -> None:
    if widget.value != value:
        widget.value = value


def _typed_label(choice: Choice) -> str:
    short = {"seed": "Seed", "max_iter": "Iteration limit"}
    return short.get(choice.name, choice.label)
