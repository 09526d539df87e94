"""What the two pictures of several solvers share: gaps against something that grows."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, GlyphRenderer, LegendItem, Range1d, Span
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._log import LogCurve, LogCurves, ends_of_rows, log_curves
from mkldash.views._names import number
from mkldash.views._palette import CURSOR, INK, LINES
from mkldash.views._reading import Readable, columns, thin
from mkldash.views.base import Scene, View

Array = NDArray[np.float64]

__all__ = ["LEAST_SECONDS", "MOST", "RaceInfo", "RaceView", "race"]

_END = ("x", "y", "colour", "marker", "fill", "why")

#: Seconds: nothing is drawn left of a hundredth of a millisecond.
LEAST_SECONDS = 1e-5

#: Solvers drawn: the shown run and its first rivals.
MOST = len(LINES)


class RaceInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    names : tuple of str
        Of the solvers drawn, the shown run's first; no name twice.
    curves : LogCurves
        Relative gaps, as drawn.
    along : tuple of array
        Where each curve's entries lie: iterations, or seconds.
    done : tuple of bool
        Whether the run ended; the shown run counts as ended.
    reached : tuple of float
        Where each first met the tolerance; NaN where it did not, or there is none.
    cursor : float
        Of the shown run.
    at : float
        Its gap there.
    tol : float or None
    left_out : int
        Rivals beyond the first ones.
    """

    names: tuple[str, ...]
    curves: LogCurves
    along: tuple[Array, ...]
    done: tuple[bool, ...]
    reached: tuple[float, ...]
    cursor: float
    at: float
    tol: float | None
    left_out: int


def race(trace: Readable, k: int, scene: Scene, along: str, least: float = -math.inf) -> RaceInfo:
    """Gap of the shown run and its rivals.

    Parameters
    ----------
    trace : Trace, or sequence of Snapshot
    k : int
    scene : Scene
    along : str
        Column that the gap is drawn against.
    least : float
        Smallest value of `along` that can be drawn.
    """
    runs: dict[str, tuple[Readable, bool]] = {scene.solver or "this run": (trace, True)}
    for rival in scene.rivals[: MOST - 1]:
        name, twins = rival.title, 2
        while name in runs:
            name, twins = f"{rival.title} ({twins})", twins + 1
        runs[name] = (rival.trace, rival.done)
    read = [columns(run, "gap", along) for run, _ in runs.values()]
    gaps, places = {}, []
    for name, (gap, place) in zip(runs, read, strict=True):
        kept = thin(len(gap))
        gaps[name] = gap[kept]
        places.append(np.maximum(place[kept], least))
    curves = log_curves(gaps, least=scene.tol)
    shown, where = read[0]
    inside = 0 <= k < len(shown)
    return RaceInfo(
        names=tuple(runs),
        curves=curves,
        along=tuple(
            place[curve.x.astype(np.intp)]
            for place, curve in zip(places, curves.curves, strict=True)
        ),
        done=tuple(done for _, done in runs.values()),
        reached=tuple(_first(gap, place, scene.tol) for gap, place in read),
        cursor=max(float(where[k]), least) if inside else math.nan,
        at=float(shown[k]) if inside else math.nan,
        tol=scene.tol,
        left_out=max(0, len(scene.rivals) - (MOST - 1)),
    )


def _first(gap: Array, place: Array, tol: float | None) -> float:
    if tol is None:
        return math.nan
    with np.errstate(invalid="ignore"):
        met = np.flatnonzero(gap <= tol)
    return float(place[met[0]]) if met.size else math.nan


class RaceView(View):
    """Base of the pictures of several solvers on one problem."""

    unit: ClassVar[str]
    log_x: ClassVar[bool]
    needs = frozenset({"gap", "elapsed", "rivals"})

    def _build(self) -> figure:
        start = (1e-3, 1.0) if self.log_x else (0.0, 20.0)
        self._x, self._y = Range1d(*start), Range1d(1e-4, 10)
        plot = plotting.new_figure(
            self.title, self.unit, "relative gap (log)", x_range=self._x, y_range=self._y,
            y_axis_type="log", x_axis_type="log" if self.log_x else "linear",
        )  # fmt: skip
        self._runs: list[ColumnDataSource] = []
        lines: list[GlyphRenderer] = []
        for colour, dashes in LINES:
            source = ColumnDataSource({"x": [], "y": [], "percent": [], "name": []})
            line = plot.line(
                "x", "y", source=source, color=colour, line_dash=list(dashes) or "solid",
                line_width=2.5, legend_label=f"solver {len(lines)}",
            )  # fmt: skip
            self._runs.append(source)
            lines.append(line)
        self._items: list[LegendItem] = list(plot.legend[0].items)
        self._ends = ColumnDataSource(
            {c: [] for c in ("x", "y", "colour", "marker", "fill", "why")}
        )
        ends = plot.scatter(
            "x", "y", source=self._ends, marker="marker", size=9, line_color="colour",
            fill_color="colour", fill_alpha="fill", line_width=2,
        )  # fmt: skip
        self._at = ColumnDataSource({"x": [], "y": []})
        plot.scatter("x", "y", source=self._at, size=9, color=CURSOR)
        self._tol = Span(
            location=1e-3, dimension="width", line_color=INK, line_dash=[2, 4], visible=False
        )
        plot.add_layout(self._tol)
        self._cursor = plotting.cursor_line(plot)
        plotting.legend(plot)
        plot.legend[0].ncols = 3
        along = "@x{0.0000} s" if self.log_x else "@x"
        rows = [("solver", "@name"), (self.unit.partition(" (")[0], along),
                ("gap", "@percent{0.000000} %")]  # fmt: skip
        plotting.add_hover(plot, lines, rows)
        plotting.add_hover(plot, [ends], [("", "@why")], attachment="below")
        return plot

    def _write(self, info: RaceInfo) -> None:
        for i, source in enumerate(self._runs):
            name = info.names[i] if i < len(info.names) else ""
            self._write_run(source, name, info, i)
            if self._items[i].label.value != (name or f"solver {i}"):
                self._items[i].label = value(name or f"solver {i}")
            if self._items[i].visible != bool(name):
                self._items[i].visible = bool(name)
        plotting.write(self._ends, _ends(info), full=self.full_frames)
        self._fit(info)
        here = [info.at] if math.isfinite(info.at) and math.isfinite(info.cursor) else []
        y = np.clip(np.array(here), info.curves.floor, info.curves.ceiling)
        plotting.write(self._at, {"x": np.full(len(y), info.cursor), "y": y}, full=True)
        self._cursor.visible = math.isfinite(info.cursor)
        if self._cursor.visible and self._cursor.location != info.cursor:
            self._cursor.location = info.cursor

    def _write_run(self, source: ColumnDataSource, name: str, info: RaceInfo, i: int) -> None:
        there = i < len(info.names)
        y = _joined(info.curves.curves[i]) if there else np.empty(0)
        columns = {
            "x": info.along[i] if there else np.empty(0),
            "y": y,
            "percent": 100 * y,
            "name": np.full(len(y), name, dtype=object),
        }
        plotting.write(source, columns, full=self.full_frames)

    def _fit(self, info: RaceInfo) -> None:
        places = np.concatenate([*info.along, np.empty(0)])
        if self.log_x and places.size:
            start = 0.8 * 10.0 ** math.floor(math.log10(places.min()))
            end = max(places.max() * 1.3, 2 * start)
            if (self._x.start, self._x.end) != (start, end):
                self._x.update(start=start, end=end)
        elif not self.log_x:
            last = plotting.nice_ceiling(float(places.max(initial=0.0)))
            if self._x.end != last:
                self._x.update(start=-0.02 * last, end=last)
        start, ceiling = info.curves.floor, info.curves.ceiling
        margin = max(1.6, (ceiling / start) ** 0.05)
        end = ceiling * margin
        if info.tol:
            start = min(start, info.tol / 3)
            self._tol.update(location=info.tol, visible=True)
        start /= margin  # room for whole markers
        if (self._y.start, self._y.end) != (start, end):
            self._y.update(start=start, end=end)

    @classmethod
    def _said(cls, place: float) -> str:
        return f"after {place:.4g} s" if cls.log_x else f"at iteration {place:.0f}"

    @classmethod
    def _describe(cls, info: RaceInfo) -> str:
        if not any(len(a) for a in info.along):
            return "No iteration yet."
        text = ""
        if math.isinf(info.at):
            text = f"{info.names[0]} has no certificate yet {cls._said(info.cursor)}."
        elif not math.isnan(info.at):
            within = f"{100 * info.at:.4g} percent"
            text = f"{info.names[0]} is within {within} {cls._said(info.cursor)}."
        if info.tol is not None:
            order = np.argsort(info.reached)  # NaN last
            met = [
                f"{info.names[i]} {cls._said(info.reached[i])}"
                for i in order if not math.isnan(info.reached[i])
            ]  # fmt: skip
            first = ", ".join(met) if met else "none yet"
            text += f" {100 * info.tol:.4g} percent reached by: {first}."
        never = [
            name + (" never had a certificate" if done else " has no certificate so far")
            for name, curve, done in zip(info.names, info.curves.curves, info.done, strict=True)
            if len(curve.kind) and np.all(curve.kind == "ceiling")
        ]
        if never:
            text += f" {', '.join(never)}."
        if info.left_out:
            text += f" {info.left_out} more solvers are not drawn."
        return text.strip()


def _joined(curve: LogCurve) -> Array:
    """What a line may join: an infinite gap has a marker, and no line leads to it."""
    return np.where(curve.kind == "ceiling", np.nan, curve.drawn)


def _ends(info: RaceInfo) -> dict[str, np.ndarray]:
    """Markers: zeros and infinities, and where each run ends or has got to."""
    found: list[tuple[float, float, str, str, float, str]] = []
    for i, (name, curve, x) in enumerate(
        zip(info.names, info.curves.curves, info.along, strict=True)
    ):
        colour = LINES[i][0]
        for j in ends_of_rows(curve.kind == "ceiling"):
            over = info.done[i] and j == len(x) - 1
            why = f"{name}: infinite, the lower bound is not yet above zero"
            if over:
                why = f"{name}: ended without a certificate"
            found.append((x[j], curve.drawn[j], colour, "triangle", float(over), why))
        for j in np.flatnonzero(curve.kind == "floor")[:1]:
            why = f"{name}: zero, drawn at {number(info.curves.floor)}"
            found.append((x[j], curve.drawn[j], colour, "diamond", 0.0, why))
        if len(x) and curve.kind[-1] == "value":
            done = info.done[i]
            marker = "square" if done else "circle"
            why = f"{name}: {'ended' if done else 'still running'}"
            found.append((x[-1], curve.drawn[-1], colour, marker, 1.0 if done else 0.0, why))
    columns = list(zip(*found, strict=True)) if found else [()] * len(_END)
    return {
        name: np.array(values, dtype=object if name in ("colour", "marker", "why") else float)
        for name, values in zip(_END, columns, strict=True)
    }
