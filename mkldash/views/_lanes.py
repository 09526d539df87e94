"""Gaps of several lanes, against iterations, inner solves and seconds, on one gap axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, GlyphRenderer, Range1d, Span
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._log import LogCurves, ends_of_rows, log_curves
from mkldash.views._names import number
from mkldash.views._palette import INK
from mkldash.views._race import LEAST_SECONDS
from mkldash.views._reading import thin

Array = NDArray[np.float64]

__all__ = ["Curve", "GapFigure", "Gaps", "gap_axis", "read_gaps"]

_MARKS = ("x", "y", "colour", "marker", "fill", "why", "lane")


class Curve(NamedTuple):
    """What one lane has to draw.

    Attributes
    ----------
    key, name : str
    gap : array, shape (n_rows,)
    along : mapping of str to array
        Iterations, inner solves and seconds of the rows.
    k : int
        Row under the cursor; -1: none.
    ended : bool
    band : pair of array or None
        Smallest and largest gap over repeats, where the curve is their median.
    """

    key: str
    name: str
    gap: Array
    along: Mapping[str, Array]
    k: int = -1
    ended: bool = False
    band: tuple[Array, Array] | None = None


class Gaps(NamedTuple):
    """Several curves on one gap axis.

    Attributes
    ----------
    curves : tuple of Curve
        Thinned.
    drawn : LogCurves
    tol : float or None
    """

    curves: tuple[Curve, ...]
    drawn: LogCurves
    tol: float | None


def read_gaps(curves: Sequence[Curve], tol: float | None) -> Gaps:
    """Curves as they are drawn: bounded in number of points, zeros and infinities at an edge.

    Parameters
    ----------
    curves : sequence of Curve
    tol : float or None
    """
    kept = []
    for curve in curves:
        rows = thin(len(curve.gap))
        if 0 <= curve.k < len(curve.gap) and curve.k not in rows:
            rows = np.sort(np.append(rows, curve.k))  # the cursor's own row is always there
        at = int(np.searchsorted(rows, curve.k)) if curve.k >= 0 else -1
        band = None if curve.band is None else (curve.band[0][rows], curve.band[1][rows])
        along = {name: np.asarray(v, dtype=np.float64)[rows] for name, v in curve.along.items()}
        kept.append(curve._replace(gap=curve.gap[rows], along=along, k=at, band=band))
    known = [c._replace(gap=np.where(np.isnan(c.gap), np.inf, c.gap)) for c in kept]
    drawn = log_curves({c.key: c.gap for c in known}, least=tol)
    return Gaps(tuple(known), drawn, tol)


def gap_axis() -> Range1d:
    """The gap axis that all figures of a page share."""
    return Range1d(1e-4, 10.0)


class GapFigure:
    """Gap of every lane against one cost.

    Parameters
    ----------
    name, column, label : str
        Of the figure, of what it is drawn against, and under its axis.
    lanes : mapping of str to (colour, dashes)
        Every lane there may be, by key.
    gaps : Range1d
        From `gap_axis`.
    log : bool
        Whether the cost is drawn on a log axis.
    """

    def __init__(
        self,
        name: str,
        column: str,
        label: str,
        lanes: Mapping[str, tuple[str, tuple[int, ...]]],
        gaps: Range1d,
        *,
        log: bool = False,
    ) -> None:
        self.column, self._log, self._colours = column, log, dict(lanes)
        self._y = gaps
        self._x = Range1d(1e-3, 1.0) if log else Range1d(-0.4, 20.0)
        plot = plotting.new_figure(
            "", label, "relative gap", x_range=self._x, y_range=gaps, height=290,
            y_axis_type="log", x_axis_type="log" if log else "linear", name=name,
        )  # fmt: skip
        plot.title.visible, plot.min_border_top = False, 12
        plotting.decades(plot.yaxis[0])
        plot.ygrid.grid_line_alpha = 0.5
        self.plot = plot
        self._sources: dict[str, ColumnDataSource] = {}
        self.lines: dict[str, list[GlyphRenderer]] = {}
        for key in lanes:
            self._add(key)
        self._make_marks()
        self._tol = Span(
            location=1e-3, dimension="width", line_color=INK, line_dash=[2, 4], visible=False
        )
        plot.add_layout(self._tol)
        self._cursor = plotting.cursor_line(plot)
        self._cursor.visible = False

    def _add(self, key: str) -> None:
        colour, dashes = self._colours[key]
        source = ColumnDataSource({c: [] for c in ("x", "y", "percent", "name", "low", "high")})
        band = self.plot.varea(
            "x",
            "low",
            "high",
            source=source,
            fill_color=colour,
            fill_alpha=0.16,
            name=key,
        )
        line = self.plot.line(
            "x", "y", source=source, color=colour, line_dash=list(dashes) or "solid",
            line_width=2.6, name=key, line_join="round",
        )  # fmt: skip
        for part in (line, band):
            part.tags = ["lane"]  # brought out by `highlight.js`
        self._sources[key], self.lines[key] = source, [line, band]

    def _make_marks(self) -> None:
        self._marks = ColumnDataSource({c: [] for c in _MARKS})
        ends = self.plot.scatter(
            "x", "y", source=self._marks, marker="marker", size=10, line_color="colour",
            fill_color="colour", fill_alpha="fill", line_width=2,
        )  # fmt: skip
        along = "@x{0.0000} s" if self._log else "@x{0}"
        lines = [line for line, _ in self.lines.values()]
        unit = self.plot.xaxis[0].axis_label.partition(" (")[0]
        rows = [("", "@name"), (unit, along), ("gap", "@percent{0.0000} %")]
        plotting.add_hover(self.plot, lines, rows)
        plotting.add_hover(self.plot, [ends], [("", "@why")], attachment="below")

    def draw(self, info: Gaps, hidden: frozenset[str], cursor: float | None) -> None:
        """Write what changed.

        Parameters
        ----------
        info : Gaps
        hidden : frozenset of str
        cursor : float or None
            Where the shared cursor is on this axis, if this is the axis of the race.
        """
        there = {curve.key: i for i, curve in enumerate(info.curves)}
        marks: list[tuple[float, float, str, str, float, str, str]] = []
        for key, source in self._sources.items():
            i = there.get(key)
            plotting.write(source, self._columns(info, i))
            for line in self.lines[key]:
                if line.visible != (key not in hidden):
                    line.visible = key not in hidden
            if i is not None and key not in hidden:
                marks += self._ends(info, i)
        columns = list(zip(*marks, strict=True)) if marks else [()] * len(_MARKS)
        text = ("colour", "marker", "why", "lane")
        plotting.write(
            self._marks,
            {
                name: np.array(values, dtype=object if name in text else float)
                for name, values in zip(_MARKS, columns, strict=True)
            },
            full=False,
        )
        self._fit(info)
        shown = cursor is not None
        if self._cursor.visible != shown:
            self._cursor.visible = shown
        if cursor is not None and self._cursor.location != cursor:
            self._cursor.location = cursor

    def _columns(self, info: Gaps, i: int | None) -> dict[str, Array]:
        if i is None:
            return {c: np.empty(0) for c in ("x", "y", "percent", "name", "low", "high")}
        curve, drawn = info.curves[i], info.drawn.curves[i]
        x = self._along(curve)
        y = np.where(drawn.kind == "ceiling", np.nan, drawn.drawn)
        low, high = y, y
        if curve.band is not None:
            floor, ceiling = info.drawn.floor, info.drawn.ceiling
            known = np.isfinite(curve.band[1])  # no shade before every repeat has a bound
            low, high = (np.where(known, np.clip(b, floor, ceiling), np.nan) for b in curve.band)
        names = np.full(len(x), curve.name, dtype=object)
        return {"x": x, "y": y, "percent": 100.0 * y, "name": names, "low": low, "high": high}

    def _along(self, curve: Curve) -> Array:
        x = curve.along[self.column]
        return np.maximum(x, LEAST_SECONDS) if self._log else x

    def _ends(self, info: Gaps, i: int) -> list[tuple[float, float, str, str, float, str, str]]:
        """Where it is at the cursor, and where it has no certificate or a gap of zero."""
        curve, drawn = info.curves[i], info.drawn.curves[i]
        x, colour = self._along(curve), self._colours[curve.key][0]
        found = []
        for j in ends_of_rows(drawn.kind == "ceiling"):
            why = f"{curve.name}: infinite, the lower bound is not yet above zero"
            found.append((x[j], drawn.drawn[j], colour, "triangle", 0.0, why, curve.key))
        for j in np.flatnonzero(drawn.kind == "floor")[:1]:
            why = f"{curve.name}: zero, drawn at {number(info.drawn.floor)}"
            found.append((x[j], drawn.drawn[j], colour, "diamond", 0.0, why, curve.key))
        k = curve.k
        if 0 <= k < len(x) and drawn.kind[k] == "value":
            met = info.tol is not None and curve.gap[k] <= info.tol
            ended = curve.ended and k == len(x) - 1
            marker = "star" if met else "square" if ended else "circle"
            why = f"{curve.name}: {'certified' if met else 'ended' if ended else 'at the cursor'}"
            found.append((x[k], drawn.drawn[k], colour, marker, 1.0, why, curve.key))
        return found

    def _fit(self, info: Gaps) -> None:
        places = np.concatenate([*(self._along(c) for c in info.curves), np.empty(0)])
        if self._log and places.size:
            start = 0.8 * 10.0 ** math.floor(math.log10(places.min()))
            end = 10.0 ** (math.ceil(2.0 * math.log10(places.max() * 1.15)) / 2.0)
            if (self._x.start, self._x.end) != (start, max(end, 2 * start)):
                self._x.update(start=start, end=max(end, 2 * start))
        elif not self._log:
            last = plotting.nice_ceiling(1.03 * float(places.max(initial=0.0)), least=10.0)
            if self._x.end != last:
                self._x.update(start=-0.02 * last, end=last)
        start, ceiling = info.drawn.floor, info.drawn.ceiling
        margin = max(1.6, (ceiling / start) ** 0.05)
        end = ceiling * margin
        if info.tol:
            start = min(start, info.tol / 3)
            if self._tol.location != info.tol or not self._tol.visible:
                self._tol.update(location=info.tol, visible=True)
        start /= margin
        if (self._y.start, self._y.end) != (start, end):
            self._y.update(start=start, end=end)
