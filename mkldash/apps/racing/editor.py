"""The form for one more lane: a new one, or a branch of one that is there."""

from __future__ import annotations

import dataclasses
import functools
import html
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from mkldash.apps import ui
from mkldash.apps.choice import OPTION, solver_options
from mkldash.apps.fields import Field
from mkldash.apps.phrases import for_page
from mkldash.apps.racing.state import LaneSpec, RaceState, own_choices, reason_against
from mkldash.experiments.problem_kinds import find_problem
from mkldash.kernels.banks import SINGLE
from mkldash.solvers import available_solvers

__all__ = ["Editor", "solvers_that_take"]


#: Fields side by side, as many as there is room for.
_FITTING = "repeat(auto-fill, minmax(min(100%, 230px), 1fr))"


def solvers_that_take(state: RaceState, problem: str) -> tuple[dict[str, str], dict[str, str]]:
    """Titles of the solvers that take a problem, and reasons of those that do not, by name."""
    kinds = available_solvers()
    reasons = {name: reason_against(state.bases[problem], name) for name in kinds}
    takers = {name: kinds[name].title for name, reason in reasons.items() if reason is None}
    return takers, {name: reason for name, reason in reasons.items() if reason is not None}


class Editor:
    """A card that is folded away until somebody adds or branches a lane.

    Parameters
    ----------
    on_done : callable
        Gets the new lane, whose letter is yet to be given.
    """

    def __init__(self, on_done: Callable[[LaneSpec], None]) -> None:
        self._on_done = on_done
        self._state: RaceState | None = None
        self._parent: tuple[str, int] | None = None
        self._draft = LaneSpec("", "", "")
        self._title = ui.text(size=15, margin=(4, 10))
        self._body = pn.Column(sizing_mode="stretch_width", margin=0)
        self._cannot = ui.text(margin=(2, 10))
        self._said = ui.text(margin=(2, 10))
        go = pmui.Button(label="Start this lane", size="small", margin=(6, 10))
        go.on_click(lambda _: self._done())
        cancel = pmui.Button(label="Cancel", size="small", variant="text", margin=(6, 4))
        cancel.on_click(lambda _: self.close())
        self.layout = ui.card(
            self._title, self._body, self._cannot, self._said,
            pn.Row(go, cancel, margin=0), name="editor",
        )  # fmt: skip
        self.layout.visible = False

    def add(self, state: RaceState) -> None:
        """Open it for a new lane."""
        problem = (state.problems or tuple(state.bases))[0]
        takers, _ = solvers_that_take(state, problem)
        there = {lane.solver for lane in state.lanes if lane.problem == problem}
        solver = next((name for name in takers if name not in there), next(iter(takers), ""))
        self._open(state, LaneSpec("", problem, solver), None)

    def branch(self, state: RaceState, letter: str, iteration: int) -> None:
        """Open it for a branch of a lane at one of its iterations."""
        lane = state.lane(letter)
        self._open(state, dataclasses.replace(lane, parent=letter, at=iteration), letter)

    def close(self) -> None:
        """Fold it away."""
        self.layout.visible = False

    # -- inside ----------------------------------------------------------------

    def _open(self, state: RaceState, draft: LaneSpec, letter: str | None) -> None:
        self._state, self._draft = state, draft
        if letter is None:
            self._title.object = "<b>One more lane</b>"
        else:
            name = html.escape(state.label(state.lane(letter)))
            self._title.object = (
                f"<b>Branch of {letter.upper()}, {name}, at iteration {draft.at}.</b> With the "
                "same solver and problem it goes on from there; with another one it starts "
                "warm, from the weights and coefficients, and its bounds start afresh."
            )
        self._show()
        self.layout.visible = True

    def _show(self) -> None:
        """Fields of the draft; made anew when the solver or the problem changes."""
        state, draft = self._state, self._draft
        assert state is not None
        takers, cannot = self._takers()
        small = {"sizing_mode": "stretch_width", "size": "small", "margin": (6, 10)}
        parts = []
        if draft.parent is None and len(state.bases) > 1:
            problem = pmui.Select(
                label="Problem", value=draft.problem,
                options={find_problem(name).title: name for name in state.bases}, **small,
            )  # fmt: skip
            problem.param.watch(lambda e: self._set_problem(e.new), "value")
            parts.append(problem)
        titles = {title: name for name, title in takers.items()}
        solver = pmui.Select(label="Solver", options=titles, **small)
        solver.value = draft.solver if draft.solver in takers else next(iter(takers), None)
        solver.param.watch(lambda e: self._set_solver(e.new), "value")
        parts.append(solver)
        parts += self._fields()
        self._body[:] = [
            pn.Column(
                *parts, sizing_mode="stretch_width", margin=0,
                styles={"display": "grid", "gap": "0 8px", "grid-template-columns": _FITTING},
            )
        ]  # fmt: skip
        self._cannot.object = _reasons(cannot)
        self._said.object = ""

    def _takers(self) -> tuple[dict[str, str], dict[str, str]]:
        """With the draft's own parameters: they may decide."""
        state, draft = self._state, self._draft
        assert state is not None
        tuned = state
        for name, value in draft.overrides:
            tuned = tuned.tune(draft.problem, name, value)
        return solvers_that_take(tuned, draft.problem)

    def _fields(self) -> list[Any]:
        state, draft = self._state, self._draft
        assert state is not None
        found, overrides, options = [], dict(draft.overrides), dict(draft.options)
        base = state.bases[draft.problem]
        single = overrides.get("bank", base.values.get("bank")) == SINGLE
        for choice in own_choices(draft.problem):
            if {"eta": single, "sigma_factor": not single}.get(choice.name, False):
                continue  # one kernel has no mixing, several have no width
            value = overrides.get(choice.name, base[choice.name])
            field = Field(choice, value, functools.partial(self._override, choice.name))
            found.append(pn.Column(*field.widgets, sizing_mode="stretch_width", margin=0))
        for choice in solver_options(draft.solver) if draft.solver else ():
            name = choice.name.removeprefix(OPTION)
            value = options.get(name, choice.default)
            field = Field(choice, value, functools.partial(self._option, name))
            found.append(pn.Column(*field.widgets, sizing_mode="stretch_width", margin=0))
        return found

    def _set_problem(self, problem: str) -> None:
        assert self._state is not None
        takers, _ = solvers_that_take(self._state, problem)
        self._draft = LaneSpec("", problem, next(iter(takers), ""))
        self._show()

    def _set_solver(self, solver: str | None) -> None:
        if solver is not None and solver != self._draft.solver:
            self._draft = dataclasses.replace(self._draft, solver=solver, options=())
            self._show()

    def _override(self, name: str, value: Any) -> None:
        assert self._state is not None
        before, _ = self._takers()
        changed = {**dict(self._draft.overrides), name: value}
        if self._state.bases[self._draft.problem][name] == value:
            del changed[name]
        self._draft = dataclasses.replace(self._draft, overrides=tuple(changed.items()))
        after, cannot = self._takers()
        if after != before or name == "bank":
            self._show()
        self._cannot.object = _reasons(cannot)

    def _option(self, name: str, value: Any) -> None:
        default = {o.name: o.default for o in solver_options(self._draft.solver)}
        changed = {**dict(self._draft.options), name: value}
        if default[OPTION + name] == value:
            del changed[name]
        self._draft = dataclasses.replace(self._draft, options=tuple(changed.items()))

    def _done(self) -> None:
        try:
            self._on_done(self._draft)
        except ValueError as problem:
            self._said.object = f"<b>{html.escape(for_page(str(problem)))}</b>"
            return
        self.close()


def _reasons(cannot: dict[str, str]) -> str:
    """Why the others cannot be picked, as HTML."""
    if not cannot:
        return ""
    titles = {name: kind.title for name, kind in available_solvers().items()}
    items = "".join(
        f"<li><b>{html.escape(titles[name])}</b>: {html.escape(for_page(reason))}</li>"
        for name, reason in cannot.items()
    )
    head = "1 solver does" if len(cannot) == 1 else f"{len(cannot)} solvers do"
    return (
        f"<details><summary style='cursor:pointer'>{head} not take this problem; why?</summary>"
        f"<ul style='margin:4px 0;padding-left:18px'>{items}</ul></details>"
    )
