"""Relative gap between the bounds, on a log axis that survives zeros."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, Range1d, Span
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._log import LogCurve, LogCurves, ends_of_rows, log_curves
from mkldash.views._names import number
from mkldash.views._palette import ACCENT, CURSOR, GHOST
from mkldash.views._reading import Readable, columns, thin
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["GapInfo", "GapView"]

#: Share of the iteration axis left of 0.
_MARGIN = 0.03


class GapInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    curves : LogCurves
        This run, then the previous one; what is drawn.
    iterations : tuple of array
        Iteration numbers of each curve's entries.
    raw : array, shape (n_drawn,)
        The gaps themselves: 0 where it is 0, infinite before lower > 0.
    cursor : int
    at : float
        Gap there.
    tol : float or None
    """

    curves: LogCurves
    iterations: tuple[Array, Array]
    raw: Array
    cursor: int
    at: float
    tol: float | None


class GapView(View):
    """How far from the optimum the run can still be."""

    name = "gap"
    title = "Relative gap"
    needs = frozenset({"upper", "lower", "gap"})
    caption = (
        "The most by which the objective can still exceed the optimum, as a share of it. "
        "Each grid line down is ten times closer."
    )
    formula = (
        r"\text{gap}=\frac{\text{upper}}{\text{lower}}-1,\qquad"
        r"\text{infinite while lower}\le 0\ (\triangle\ \text{at the top})\qquad "
        r"\text{exact zero}\ (\diamond\ \text{at the floor})"
    )
    order = 20
    every_frame = True

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> GapInfo:
        """See `View.prepare`."""
        gap, numbers = columns(trace, "gap", "iteration")
        kept = thin(len(gap))
        old, old_numbers = np.empty(0), np.empty(0)
        if scene.ghost is not None:
            old, old_numbers = columns(scene.ghost, "gap", "iteration")
            some = thin(len(old))
            old, old_numbers = old[some], old_numbers[some]
        curves = log_curves({"this run": gap[kept], "previous run": old}, least=scene.tol)
        first, second = curves.curves
        inside = 0 <= k < len(gap)
        return GapInfo(
            curves=curves,
            iterations=(
                numbers[kept][first.x.astype(np.intp)],
                old_numbers[second.x.astype(np.intp)],
            ),
            raw=gap[kept],
            cursor=int(numbers[k]) if inside else 0,
            at=float(gap[k]) if inside else math.nan,
            tol=scene.tol,
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(-_MARGIN * 20, 20), Range1d(1e-4, 10)
        plot = plotting.new_figure(
            self.title, "iteration", "upper / lower - 1 (log)",
            x_range=self._x, y_range=self._y, y_axis_type="log",
        )  # fmt: skip
        self._run = ColumnDataSource({"x": [], "y": [], "percent": []})
        self._ghost = ColumnDataSource({"x": [], "y": []})
        self._edge = ColumnDataSource({"x": [], "y": [], "marker": [], "why": []})
        self._at = ColumnDataSource({"x": [], "y": []})
        plot.line(
            "x", "y", source=self._ghost, color=GHOST, line_width=1.5, alpha=0.75,
            legend_label="previous run",
        )  # fmt: skip
        line = plot.line(
            "x", "y", source=self._run, color=ACCENT, line_width=2.5, legend_label="gap"
        )
        edge = plot.scatter(
            "x", "y", source=self._edge, marker="marker", size=10, color=ACCENT,
            fill_alpha=0.0, line_width=2,
        )  # fmt: skip
        plot.scatter("x", "y", source=self._at, size=9, color=CURSOR)
        self._tol = Span(
            location=1e-3, dimension="width", line_color=ACCENT, line_dash=[2, 4], line_width=1.5
        )
        plot.add_layout(self._tol)
        self._cursor = plotting.cursor_line(plot)
        plotting.legend(plot)
        plotting.add_hover(
            plot, [line], [("iteration", "@x"), ("gap", "@percent{0.000000} %")], mode="vline"
        )
        plotting.add_hover(plot, [edge], [("iteration", "@x"), ("", "@why")])
        return plot

    def _write(self, info: GapInfo) -> None:
        run, old = info.curves.curves
        x, old_x = info.iterations
        joined, old_joined = _joined(run), _joined(old)
        plotting.write(
            self._run, {"x": x, "y": joined, "percent": 100 * joined}, full=self.full_frames
        )
        plotting.write(self._ghost, {"x": old_x, "y": old_joined}, full=self.full_frames)
        odd = np.union1d(ends_of_rows(run.kind == "ceiling"), np.flatnonzero(run.kind == "floor"))
        floor = f"zero or below, drawn at {number(info.curves.floor)}"
        low = run.kind[odd] == "floor"
        plotting.write(
            self._edge,
            {
                "x": x[odd],
                "y": run.drawn[odd],
                "marker": np.where(low, "diamond", "triangle"),
                "why": np.where(low, floor, "infinite: the lower bound is not yet above zero"),
            },
        )
        plotting.legend_shows(self.figure(), "previous run", len(old_x) > 0)
        ends = [float(a[-1]) for a in (x, old_x) if len(a)]
        last = plotting.nice_ceiling(max(ends, default=0))
        if self._x.end != last:
            # Room for a whole marker at iteration 0.
            self._x.update(start=-_MARGIN * last, end=last)
        start, ceiling = info.curves.floor, info.curves.ceiling
        end = ceiling * max(1.6, (ceiling / start) ** 0.05)
        if info.tol:
            start = min(start, info.tol / 3)
            if self._tol.location != info.tol:
                self._tol.location = info.tol
        if (self._y.start, self._y.end) != (start, end):
            self._y.update(start=start, end=end)
        here = np.flatnonzero(x == info.cursor)
        plotting.write(self._at, {"x": x[here], "y": run.drawn[here]}, full=self.full_frames)
        if self._cursor.location != info.cursor:
            self._cursor.location = info.cursor

    @staticmethod
    def describe(info: GapInfo) -> str:
        """See `View.describe`."""
        if not len(info.raw):
            return "No iteration yet."
        if math.isinf(info.at):
            value = "is infinite, as the lower bound is not yet above zero"
        else:
            value = f"is {100 * info.at:.4g} percent"
        goal = "" if info.tol is None else f" The run stops at {100 * info.tol:.4g} percent."
        return f"At iteration {info.cursor} the relative gap {value}.{goal}"


def _joined(curve: LogCurve) -> Array:
    """What a line may join: an infinite gap has a marker, and no line leads to it."""
    return np.where(curve.kind == "ceiling", np.nan, curve.drawn)
