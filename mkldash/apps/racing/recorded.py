"""A recorded comparison in the pictures of the race: nothing is run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import panel as pn
import panel_material_ui as pmui

from mkldash.apps import ui
from mkldash.apps.components import Board, LaneTable
from mkldash.apps.racing.controls import AXIS_STYLE
from mkldash.apps.racing.palette import colour_of
from mkldash.apps.racing.pictures import Pictures
from mkldash.apps.racing.schedule import AXES
from mkldash.apps.racing.series import (
    Series,
    Spread,
    filters,
    gap_spread,
    make_series,
    matching,
)
from mkldash.apps.racing.state import LETTERS, MOST_LANES
from mkldash.apps.tiles import percent
from mkldash.errors import InputError
from mkldash.experiments.problem_kinds import PROBLEMS
from mkldash.experiments.results import read_results
from mkldash.views._lanes import Curve
from mkldash.views._names import number

__all__ = ["RecordedPage", "recorded_rows"]

#: Heads of the table, and what each number is.
_COLUMNS = {
    "Gap": "Relative gap at the end: median over the repeats",
    "Iterations": "Median over the repeats",
    "Inner solves": "Median over the repeats",
    "Seconds": "The solver's own work: median, and the range over the repeats",
    "Kernels": "Kernels that carry weight: median over the repeats",
    "Test score": "Accuracy on rows that were set aside, for numbers the mean squared error: "
    "median, and the range over the repeats",
}
_ALL = "all"


class RecordedPage:
    """One page on one folder.

    Parameters
    ----------
    title, query : str
    folders : mapping of str to Path
        Those that may be opened, by name.
    """

    def __init__(self, title: str, query: str, folders: Mapping[str, Path]) -> None:
        self._title, self._folders = title, folders
        self._asked = dict(parse_qsl(query.lstrip("?")))
        self.board = Board(sizing_mode="stretch_width", margin=(4, 6))
        self.table = LaneTable(
            columns=list(_COLUMNS), hints=list(_COLUMNS.values()), editable=False,
            first="Solver", second="Repeats certified", caption="Recorded runs",
            sizing_mode="stretch_width", margin=(4, 6),
        )  # fmt: skip
        self.table.on_message = self._on_table
        self.pictures = Pictures(self._hide)
        self._records: list[Mapping[str, Any]] = []
        self._hidden: frozenset[str] = frozenset(self._asked.get("hide", ""))
        self._chosen: dict[str, Any] = {}
        self._axis = self._asked.get("axis", "seconds")
        if self._axis not in AXES:
            self._axis = "seconds"
        self.name = self._asked.get("compare", "")
        self._load()

    def page(self) -> Any:
        """The page."""
        self.pictures.layout.styles = {**self.pictures.layout.styles}
        main = pn.Column(
            ui.card(self.board, self.table, name="player"), self.pictures.layout,
            sizing_mode="stretch_width", margin=0,
            styles={"gap": "14px", "padding": "14px", "flex": "none"},
        )  # fmt: skip
        pn.state.onload(self.show)
        self._page = ui.page(title=self._title, main=[main], sidebar=self._controls())
        return self._page

    # -- what is there ---------------------------------------------------------

    def _load(self) -> None:
        """Read the named folder; a name that was not offered opens nothing."""
        folder = self._folders.get(self.name)
        if folder is None:
            names = ", ".join(self._folders)
            self.board.alert = (
                f"There is no recorded comparison called {self.name!r} here. "
                + (f"There are: {names}." if names else
                   "Start the server with `mkldash serve --compare FOLDER`.")
            )  # fmt: skip
            return
        try:
            self._records = list(read_results(folder))
        except InputError as problem:
            # By its name: where it lies on the server's disk is nobody's business.
            self.board.alert = str(problem).replace(str(folder), self.name)
        self._filters = filters(self._records) if self._records else {"data": []}
        for name, values in self._filters.items():
            asked = self._asked.get(name)
            texts = {str(v): v for v in values}
            usual = 0.5 if name == "eta" and 0.5 in values else values[0] if values else _ALL
            self._chosen[name] = texts[asked] if asked in texts else (
                _ALL if asked == _ALL else usual
            )  # fmt: skip

    def _controls(self) -> list[Any]:
        small = {"sizing_mode": "stretch_width", "size": "small", "margin": (6, 10)}
        axis = pmui.RadioButtonGroup(
            options={a.title: n for n, a in AXES.items()}, value=self._axis, size="small",
            sizing_mode="stretch_width", margin=(4, 10), sx=AXIS_STYLE,
        )  # fmt: skip
        axis.param.watch(lambda e: self._choose("axis", e.new), "value")
        parts = [ui.heading("First by"), axis, ui.heading("Recorded comparison")]
        if len(self._folders) > 1 and self.name in self._folders:
            folder = pmui.Select(
                label="Folder", options=list(self._folders), value=self.name, **small
            )
            folder.param.watch(lambda e: self._open(e.new), "value")
            parts.append(folder)
        names = {"data": "Data set", "eta": "η", "rho": "ρ"}
        for name, values in getattr(self, "_filters", {}).items():
            options = {str(v): v for v in values}
            if len(values) > 1 and name != "data":
                options[_ALL] = _ALL
            select = pmui.Select(
                label=names.get(name, name.replace("_", " ")), options=options,
                value=self._chosen[name], **small,
            )  # fmt: skip
            select.param.watch(lambda e, n=name: self._choose(n, e.new), "value")
            parts.append(select)
        note = ui.text(
            "Nothing is run here: these are the lines of the folder. The curves are medians over "
            "the repeats, the shades reach from the best to the worst of them."
        )
        live = ui.text("<a href='?' style='color:inherit'>A live race instead</a>", margin=(8, 10))
        return [*parts, note, live]

    def _open(self, name: str) -> None:
        if pn.state.location is not None:
            pn.state.location.search = "?" + urlencode({"compare": name})
            pn.state.location.reload = True

    def _choose(self, name: str, value: Any) -> None:
        if name == "axis":
            self._axis = value
        else:
            self._chosen[name] = value
        self.show()

    def _on_table(self, message: Mapping[str, Any]) -> None:
        if message["kind"] == "narrow":
            self._page.sidebar_open = False
        else:
            self._hide(str(message["letter"]))

    def _hide(self, letter: str) -> None:
        self._hidden ^= {letter}
        self.show()

    # -- what is drawn ---------------------------------------------------------

    def show(self) -> None:
        """Bring the page to the chosen runs."""
        self.pictures.put_first(self._axis)
        if not self._records:
            self.board.param.update(
                sentence="Nothing to show.", tone="failed", facts={"state": "failed"}
            )
            return
        chosen = {n: v for n, v in self._chosen.items() if v != _ALL}
        found = make_series(matching(self._records, chosen))
        left = len(found) - MOST_LANES
        found = found[:MOST_LANES]
        self._draw(found)
        self.table.rows = recorded_rows(found, self._axis, self._hidden)
        repeats = max((len(series.runs) for series in found), default=0)
        runs = sum(len(series.runs) for series in found)
        more = f" {left} more series are not drawn; filter them." if left > 0 else ""
        told = f"Medians and ranges of {repeats} repeats." if repeats > 1 else "One run of each."
        problems = {series.group for series in found}
        if len(problems) > 1:
            more += (
                " Series with other problems or parameters have another optimum: only relative "
                "gap, seconds and test score compare across them."
            )
        self.board.param.update(
            sentence=f"{runs} recorded runs of {self.name}. {self._first(found)}", tone="ended",
            more=told + more,
            facts={"state": "recorded"}, query="?" + self._query(), alert=self.board.alert,
        )  # fmt: skip

    def _query(self) -> str:
        pairs = {"compare": self.name, "axis": self._axis, **self._chosen}
        if self._hidden:
            pairs["hide"] = "".join(sorted(self._hidden))
        return urlencode(pairs)

    def _first(self, found: list[Series]) -> str:
        axis = AXES[self._axis]
        name = {"iteration": "iterations", "solves": "inner_solves", "seconds": "seconds"}
        done = [s for s in found if s.runs and s.certified == len(s.runs)]
        done.sort(key=lambda s: s.spread(name[self._axis]).median)
        if not done:
            return "No series was certified in all its repeats."
        told = [f"{s.label} ({axis.said(s.spread(name[self._axis]).median)})" for s in done[:4]]
        return "Certified in every repeat, with the median: " + ", ".join(told) + "."

    def _draw(self, found: list[Series]) -> None:
        lanes = list(zip(LETTERS, found, strict=False))
        tols = [float(run["tol"]) for x in found for run in x.runs if run.get("tol")]
        tol = min(tols, default=None)
        for name, axis in AXES.items():
            curves = []
            for letter, series in lanes:
                x, median, low, high = gap_spread(series, axis)
                along = {a.column: x for a in AXES.values()}
                label = f"{letter.upper()} {series.label}"
                band = (low, high) if len(series.runs) > 1 else None
                curves.append(
                    Curve(letter, label, median, along, len(x) - 1, ended=True, band=band)
                )
            self.pictures.draw_one(name, curves, tol=tol, hidden=self._hidden)
        weights = {letter: _weights(series) for letter, series in lanes if series.runs}
        names = {letter: f"{letter.upper()} {series.label}" for letter, series in lanes}
        self.pictures.draw_tables(weights, names)
        self.pictures.say(self.board.sentence)


def _weights(series: Series) -> dict[str, float]:
    """Weights of the first repeat; medians of sparse weights would be nobody's."""
    return {str(name): float(value) for name, value in series.runs[0].get("weights", [])}


def recorded_rows(found: list[Series], axis: str, hidden: frozenset[str]) -> list[dict[str, Any]]:
    """The table, one row a series, as text.

    Parameters
    ----------
    found : list of Series
    axis : str
        A name of `AXES`: what counts for being first.
    hidden : frozenset of str
    """
    first = _firsts(found, axis)
    rows = []
    for letter, series in zip(LETTERS, found, strict=False):
        colour, dashes = colour_of(letter)
        total, done = len(series.runs), series.certified
        whole = total > 0 and done == total
        rows.append(
            {
                "letter": letter, "colour": colour, "dashes": " ".join(map(str, dashes)),
                "name": series.label, "note": "",
                "status": f"{done} of {total}" if total else "could not be run",
                "tone": "certified" if whole else "ended" if total else "failed",
                "why": series.refused, "badge": "first" if letter in first else "",
                "progress": done / total if total else 0.0, "cells": _cells(series),
                "hidden": letter in hidden, "branch": False, "remove": False,
            }
        )  # fmt: skip
    return rows


def _firsts(found: list[Series], axis: str) -> set[str]:
    """Who was first in its group; only where all of it was certified, always."""
    name = {"iteration": "iterations", "solves": "inner_solves", "seconds": "seconds"}[axis]
    groups: dict[str, list[tuple[float, str]]] = {}
    lost = set()
    for letter, series in zip(LETTERS, found, strict=False):
        if not series.runs:
            continue
        if series.certified < len(series.runs):
            lost.add(series.group)
        groups.setdefault(series.group, []).append((series.spread(name).median, letter))
    best = [group for key, group in groups.items() if key not in lost and len(group) > 1]
    return {letter for group in best for value, letter in group if value == min(group)[0]}


def _cells(series: Series) -> list[str]:
    if not series.runs:
        return ["–"] * len(_COLUMNS)
    regression = series.problem in PROBLEMS and PROBLEMS[series.problem].has_family
    gap = series.spread("gap").median
    score = series.spread("test_mse" if regression else "test_score")

    def whole(name: str) -> str:
        value = series.spread(name).median
        return "–" if math.isnan(value) else f"{value:,.0f}"

    def ranged(spread: Spread, say: Any) -> str:
        if math.isnan(spread.median):
            return "–"
        if spread.low == spread.high:
            return str(say(spread.median))
        return f"{say(spread.median)}\n{say(spread.low)} – {say(spread.high)}"

    return [
        "–" if math.isnan(gap) else percent(gap), whole("iterations"), whole("inner_solves"),
        ranged(series.spread("seconds"), AXES["seconds"].said), whole("active_kernels"),
        ranged(score, number if regression else lambda v: f"{100 * v:.1f} %"),
    ]  # fmt: skip
