"""The controls of a race: data, what keeps the lanes in step, the problems' parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui

from mkldash.apps import ui
from mkldash.apps.components import Upload
from mkldash.apps.estimates import data_note, memory_note
from mkldash.apps.fields import Field
from mkldash.apps.racing.schedule import AXES
from mkldash.apps.racing.state import RaceState, own_choices
from mkldash.apps.sidebar import FRACTIONS, TOLERANCES
from mkldash.apps.table_controls import TableControls
from mkldash.datasets.cards import available
from mkldash.experiments.problem_kinds import find_problem

__all__ = ["AXIS_STYLE", "Controls"]

#: Of the buttons that choose an axis: their names fit beside each other.
AXIS_STYLE = {
    "& .MuiToggleButton-root": {
        "textTransform": "none", "padding": "5px 6px", "fontSize": "13px", "lineHeight": 1.3,
    }
}  # fmt: skip

_TASKS = {"binary": "two classes", "regression": "a number to predict"}


class Controls:
    """Widgets for what all lanes, or all lanes of a problem, share.

    Parameters
    ----------
    state : RaceState
    on_choice : callable
        Gets (problem or "", name, value).
    on_file : callable
        Gets name and content of an uploaded table.
    on_action : callable
        Gets ``add``, ``all`` or ``defaults``.
    folders : sequence of str
        Names of the recorded comparisons that may be opened.
    """

    def __init__(
        self,
        state: RaceState,
        on_choice: Callable[[str, str, Any], None],
        on_file: Callable[[str, bytes], None],
        on_action: Callable[[str], None],
        folders: Mapping[str, Any],
    ) -> None:
        self._tell, self._quiet = on_choice, False
        self._state = state
        self._fields: dict[tuple[str, str], Field] = {}
        self._shown_problems: tuple[str, ...] | None = None
        self.upload = Upload(sizing_mode="stretch_width", margin=(4, 10))
        self.upload.on_file = on_file
        self.table = TableControls(lambda name, value: self._choose("", name, value))
        self._about = ui.text()
        self._problems = pn.Column(sizing_mode="stretch_width", margin=0)
        self._make()
        buttons = [
            self._button("Add a lane", "contained", functools.partial(on_action, "add")),
            self._button("Add all solvers", "outlined", functools.partial(on_action, "all")),
        ]
        defaults = self._button("Back to the defaults", "text", lambda: on_action("defaults"))
        self.layout = [
            ui.heading("In step by"), self._axis,
            pn.Row(*buttons, sizing_mode="stretch_width", margin=0),
            ui.heading("Data"), self._data, self._about, self.upload, self.table.layout,
            self._problems,
            ui.heading("Run"), self._tol, *self._fraction.widgets,
            pn.Row(*self._seed.widgets, *self._max_iter.widgets,
                   sizing_mode="stretch_width", margin=0),
            *_recorded(folders), defaults,
        ]  # fmt: skip
        self.show(state)

    @staticmethod
    def _button(label: str, variant: str, act: Callable[[], None]) -> Any:
        found = pmui.Button(label=label, variant=variant, size="small", margin=(6, 4, 6, 10))
        found.on_click(lambda _: act())
        return found

    def _make(self) -> None:
        small = {"sizing_mode": "stretch_width", "size": "small", "margin": (6, 10)}
        first = self._state.first
        self._axis = pmui.RadioButtonGroup(
            options={axis.title: name for name, axis in AXES.items()}, size="small",
            sizing_mode="stretch_width", margin=(4, 10), value=self._state.axis,
            sx=AXIS_STYLE,
        )  # fmt: skip
        self._axis.param.watch(lambda e: self._choose("", "axis", e.new), "value")
        self._data = pmui.Select(label="Data set", options={}, **small)
        self._data.param.watch(lambda e: self._choose("", "data", e.new), "value")
        self._tol = pmui.Select(
            label=first.choice("tol").label, options={f"{t:g}": t for t in TOLERANCES}, **small
        )
        self._tol.param.watch(lambda e: self._choose("", "tol", e.new), "value")
        self._fraction, self._seed, self._max_iter = (
            Field(first.choice(n), first[n], functools.partial(self._choose, "", n))
            for n in ("train_fraction", "seed", "max_iter")
        )
        self._fraction.widgets[0].param.update(start=FRACTIONS[0], step=FRACTIONS[2])

    def _choose(self, problem: str, name: str, value: Any) -> None:
        if not self._quiet and (value is not None or name not in ("data", "axis", "tol")):
            self._tell(problem, name, value)

    def show(self, state: RaceState) -> None:
        """Bring all widgets to `state` without telling anybody."""
        self._state, first = state, state.first
        self._quiet = True
        try:
            if self._axis.value != state.axis:
                self._axis.value = state.axis
            self._show_data(state)
            if first["tol"] not in self._tol.options.values():
                values = sorted({*self._tol.options.values(), first["tol"]}, reverse=True)
                self._tol.options = {f"{t:g}": t for t in values}
            if self._tol.value != first["tol"]:
                self._tol.value = first["tol"]
            for name in ("train_fraction", "seed", "max_iter"):
                getattr(self, f"_{name.replace('train_', '')}").show(first[name])
            self._show_problems(state)
            self.table.show(first)
        finally:
            self._quiet = False
        if self._about.object != data_note(first):
            self._about.object = data_note(first)

    def _show_data(self, state: RaceState) -> None:
        cards = available()
        options = {
            f"{card.title} ({_TASKS[task]})" if task == "regression" else card.title: name
            for task in _TASKS
            for name, card in cards.items()
            if card.task == task
        }
        if state.first.table is not None:
            options[f"{state.first['data']} (yours)"] = state.first["data"]
        if self._data.options != options:
            # In one message: a slow browser would answer new options with the first of them.
            self._data.param.update(options=options, value=state.first["data"])
        elif self._data.value != state.first["data"]:
            self._data.value = state.first["data"]

    def _show_problems(self, state: RaceState) -> None:
        """Parameters of the problems that some lane solves."""
        if state.problems != self._shown_problems:
            self._shown_problems = state.problems
            self._fields, parts = {}, []
            self._memory = {problem: ui.text(margin=(0, 10, 6, 10)) for problem in state.problems}
            for problem in state.problems:
                parts.append(ui.heading(find_problem(problem).title))
                for choice in own_choices(problem):
                    tell = functools.partial(self._choose, problem, choice.name)
                    field = Field(choice, state.bases[problem][choice.name], tell)
                    self._fields[problem, choice.name] = field
                    parts += field.widgets
                parts.append(self._memory[problem])
            self._problems[:] = parts
        for (problem, name), field in self._fields.items():
            base = state.bases[problem]
            # One kernel has a width and no mixing, several have a mixing and no width.
            idle = {"eta": base.single, "sigma_factor": not base.single}.get(name, False)
            field.show(base[name], visible=not idle)
        for problem, note in self._memory.items():
            words = memory_note(state.bases[problem])
            if note.object != words:
                note.object = words


def _recorded(folders: Mapping[str, Any]) -> list[Any]:
    """Links to the recorded comparisons that the server was told of."""
    if not folders:
        return []
    from html import escape
    from urllib.parse import quote

    links = "".join(
        f"<li><a href='?compare={quote(name)}' style='color:inherit'>{escape(name)}</a></li>"
        for name in folders
    )
    return [
        ui.heading("Recorded comparisons"),
        ui.text(f"<ul style='margin:2px 0;padding-left:18px'>{links}</ul>"),
    ]
