"""How the decision boundary bends as rho grows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import ColorBar, ColumnDataSource, LogColorMapper, LogTicker, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import number
from mkldash.views._palette import ACCENT, INK, LEVEL, NEGATIVE, OLIVE, POSITIVE, blend
from mkldash.views._reading import Readable
from mkldash.views.base import EMPTY, Points, Scene, View
from mkldash.views.decision_boundary import level_lines

Array = NDArray[np.float64]

__all__ = ["BoundaryByRhoInfo", "BoundaryByRhoView"]

#: From small to large rho.
_PALETTE = [
    *(blend(ACCENT, OLIVE, i / 31) for i in range(32)),
    *(blend(OLIVE, LEVEL, i / 31) for i in range(32)),
]


class BoundaryByRhoInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    rho : array, shape (n_done,)
        Values whose boundary is computed.
    lines : tuple of list of array, shape (n, 2)
        For each, where the decision value is zero.
    window : tuple of float
        First and last rho of the sweep.
    planned : int
    current : float or None
        rho of the shown run.
    nearest : int or None
        Which of `rho` is drawn thick: the nearest to `current`, on a log scale.
    points : Points or None
    """

    rho: Array
    lines: tuple[list[Array], ...]
    window: tuple[float, float]
    planned: int
    current: float | None
    nearest: int | None
    points: Points | None


class BoundaryByRhoView(View):
    """What rho does to the classifier."""

    name = "boundary-by-rho"
    title = "Decision boundary by ρ"
    needs = frozenset({"boundary_sweep"})
    caption = (
        "The line where the prediction flips, for each ρ of the sweep: from a kernel free to "
        "stray (small ρ) to one tied to K (large ρ). The thick line is that of the present ρ."
    )
    formula = (
        r"f_\rho(x)=\sum_i\alpha_i(\rho)\,y_i\,\kappa(x_i,x)+b(\rho)=0\qquad "
        r"\kappa=\sum_k\theta_k(\rho)K_k\quad\text{(one kernel: }\theta=1)\qquad "
        r"\rho\to\infty:\ \text{the plain SVM}"
    )
    order = 46

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> BoundaryByRhoInfo:
        """See `View.prepare`."""
        sweep, points = scene.sweep, scene.points
        if sweep is None or points is None or not len(sweep.rho):
            return BoundaryByRhoInfo(np.empty(0), (), (0.1, 10.0), 0, scene.rho, None, points)
        done = [i for i, grid in enumerate(sweep.grids) if grid is not None]
        grids = [grid for grid in sweep.grids if grid is not None]
        rho = np.asarray(sweep.rho, dtype=np.float64)[done]
        nearest = None
        if scene.rho is not None and math.isfinite(scene.rho) and len(rho):
            nearest = int(np.argmin(np.abs(np.log(rho / scene.rho))))
        return BoundaryByRhoInfo(
            rho=rho,
            lines=tuple(level_lines(grid, points.extent)[0] for grid in grids),
            window=(float(sweep.rho[0]), float(sweep.rho[-1])),
            planned=len(sweep.rho),
            current=scene.rho,
            nearest=nearest,
            points=points,
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(-3, 3), Range1d(-3, 3)
        plot = plotting.new_figure(
            self.title, "x1", "x2", x_range=self._x, y_range=self._y, right=10
        )
        self._points = ColumnDataSource({c: [] for c in ("x", "y", "colour", "marker", "label")})
        dots = plot.scatter(
            "x", "y", source=self._points, size=6, marker="marker", color="colour",
            line_color=None, fill_alpha=0.75,
        )  # fmt: skip
        self._mapper = LogColorMapper(palette=_PALETTE, low=0.1, high=10.0)
        self._lines = ColumnDataSource({"xs": [], "ys": [], "rho": []})
        lines = plot.multi_line(
            "xs", "ys", source=self._lines, line_width=1.8,
            color={"field": "rho", "transform": self._mapper},
        )  # fmt: skip
        self._present = ColumnDataSource({"xs": [], "ys": [], "rho": []})
        plot.multi_line("xs", "ys", source=self._present, line_width=8, color=INK)
        plot.multi_line(
            "xs", "ys", source=self._present, line_width=4.5,
            color={"field": "rho", "transform": self._mapper},
        )  # fmt: skip
        bar = ColorBar(
            color_mapper=self._mapper, width=10, padding=4, margin=0, border_line_color=None,
            background_fill_alpha=0.0, ticker=LogTicker(desired_num_ticks=6),
        )  # fmt: skip
        plot.add_layout(bar, "right")
        plot.grid.grid_line_color = None
        plotting.add_hover(plot, [lines], [("ρ", "@rho{0.000}")], line_policy="nearest")
        plotting.add_hover(
            plot, [dots], [("class", "@label"), ("at", "(@x{0.00}, @y{0.00})")], attachment="below"
        )
        return plot

    def _write(self, info: BoundaryByRhoInfo) -> None:
        points = info.points
        if points is None:
            return
        x0, x1, y0, y1 = points.extent
        if (self._x.start, self._x.end, self._y.start, self._y.end) != (x0, x1, y0, y1):
            self._x.update(start=x0, end=x1)
            self._y.update(start=y0, end=y1)
            self.figure().xaxis[0].axis_label = points.feature_names[0]
            self.figure().yaxis[0].axis_label = points.feature_names[1]
        if (self._mapper.low, self._mapper.high) != info.window:
            low, high = info.window
            self._mapper.update(low=low, high=max(high, low * 1.0001))
        self._lines.data = _columns(info, range(len(info.rho)))
        self._present.data = _columns(info, [] if info.nearest is None else [info.nearest])
        plus = points.y > 0
        plotting.write(
            self._points,
            {
                "x": points.X[:, 0],
                "y": points.X[:, 1],
                "colour": np.where(plus, POSITIVE, NEGATIVE),
                "marker": np.where(plus, "triangle", "circle"),
                "label": np.where(plus, points.classes[1], points.classes[0]),
            },
            full=self.full_frames,
        )

    @staticmethod
    def marks(info: BoundaryByRhoInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        if info.points is None:
            return ()
        minus, plus = info.points.classes
        present = () if info.nearest is None else (
            ("━", INK, f"at present, ρ = {number(info.rho[info.nearest])}"),
        )  # fmt: skip
        return (
            ("●", NEGATIVE, minus), ("▲", POSITIVE, plus),
            ("─", _PALETTE[0], f"ρ = {number(info.window[0])}"),
            ("─", _PALETTE[-1], f"ρ = {number(info.window[1])}"), *present,
        )  # fmt: skip

    @staticmethod
    def describe(info: BoundaryByRhoInfo) -> str:
        """See `View.describe`."""
        if info.points is None:
            return "The data do not have two features."
        if not len(info.rho):
            return "No boundary has been computed yet."
        text = (
            f"{len(info.rho)} of {info.planned} decision boundaries are drawn, for ρ from "
            f"{number(info.rho[0])} to {number(info.rho[-1])}."
        )
        if info.nearest is not None:
            text += f" The thick one is at ρ = {number(info.rho[info.nearest])}."
        return text


def _columns(info: BoundaryByRhoInfo, which: range | list[int]) -> dict[str, list]:
    # As lists: each array would be two websocket messages of its own.
    pieces = [(line, float(info.rho[i])) for i in which for line in info.lines[i]]
    return {
        "xs": [line[:, 0].round(4).tolist() for line, _ in pieces],
        "ys": [line[:, 1].round(4).tolist() for line, _ in pieces],
        "rho": [rho for _, rho in pieces],
    }
