"""The decision boundary on two-dimensional data, with its support vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._palette import GHOST, NEGATIVE, POSITIVE, diverging
from mkldash.views._reading import Readable, field
from mkldash.views.base import EMPTY, Points, Scene, View

Array = NDArray[np.float64]

__all__ = ["DecisionBoundaryInfo", "DecisionBoundaryView"]

#: An alpha within this share of C sits at its bound.
AT_BOUND = 1e-6

#: The field is drawn this many times finer than it was computed.
FINER = 3


class DecisionBoundaryInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    cursor : int
    grid : array, shape (m, m), or None
        Decision values, rows from low to high second feature.
    levels : mapping
        For -1, 0 and +1 the lines on which the decision has that value, each
        a list of (n, 2) arrays.
    points : Points or None
    support : array of bool, shape (n_rows,)
        alpha > 0.
    bounded : array of bool, shape (n_rows,)
        alpha at C (inside the margin or misclassified).
    """

    cursor: int
    grid: Array | None
    levels: dict[int, list[Array]]
    points: Points | None
    support: NDArray[np.bool_]
    bounded: NDArray[np.bool_]


def level_lines(grid: Array, extent: tuple[float, float, float, float]) -> dict[int, list[Array]]:
    """Lines on which the decision value is -1, 0 or +1.

    Parameters
    ----------
    grid : array, shape (m, m)
    extent : tuple of float
        (x0, x1, y0, y1).
    """
    from contourpy import contour_generator

    x0, x1, y0, y1 = extent
    x, y = np.linspace(x0, x1, grid.shape[1]), np.linspace(y0, y1, grid.shape[0])
    lines = contour_generator(x, y, grid)
    return {level: [np.asarray(line) for line in lines.lines(level)] for level in (-1, 0, 1)}


class DecisionBoundaryView(View):
    """What the classifier looks like right now."""

    name = "decision-boundary"
    title = "Decision boundary"
    needs = frozenset({"decision_grid", "alpha"})
    caption = (
        "Colour is the predicted class, the line where it flips; dashes are the margin. "
        "Ringed points are support vectors, filled rings sit at the bound C."
    )
    formula = (
        r"f(x)=\sum_k\theta_k\sum_i\alpha_iy_iK_k(x_i,x)+b\qquad "
        r"f=0\ \text{(line)},\quad f=\pm1\ \text{(margin)}"
    )
    order = 5

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> DecisionBoundaryInfo:
        """See `View.prepare`."""
        none = np.zeros(0, dtype=bool)
        if not 0 <= k < len(trace) or scene.points is None:
            return DecisionBoundaryInfo(0, None, {}, scene.points, none, none)
        alpha = np.asarray(field(trace, k, "alpha"))
        grid = field(trace, k, "decision_grid")
        cost = scene.cost if scene.cost is not None else float(alpha.max(initial=0.0))
        top = float(alpha.max(initial=0.0))
        return DecisionBoundaryInfo(
            cursor=int(trace[k].iteration),
            grid=grid,
            levels={} if grid is None else level_lines(grid, scene.points.extent),
            points=scene.points,
            support=alpha > 1e-8 * max(top, 1e-300),
            bounded=(alpha >= cost * (1 - AT_BOUND)) & (alpha > 0),
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(-3, 3), Range1d(-3, 3)
        plot = plotting.new_figure(self.title, "x1", "x2", x_range=self._x, y_range=self._y)
        self._image = ColumnDataSource({"image": [], "x": [], "y": [], "dw": [], "dh": []})
        self._mapper = LinearColorMapper(palette=diverging(), low=-2, high=2)
        plot.image("image", "x", "y", "dw", "dh", source=self._image, color_mapper=self._mapper)
        self._margin = ColumnDataSource({"xs": [], "ys": []})
        self._edge = ColumnDataSource({"xs": [], "ys": []})
        plot.multi_line(
            "xs", "ys", source=self._margin, color=GHOST, line_width=1.3, line_dash=[5, 4]
        )
        plot.multi_line("xs", "ys", source=self._edge, color=GHOST, line_width=3)
        columns = ("x", "y", "colour", "marker", "ring", "inside", "label", "alpha")
        self._points = ColumnDataSource({c: [] for c in columns})
        plot.scatter(
            "x", "y", source=self._points, size="ring", color="colour", fill_alpha="inside",
            line_width=2, line_color="colour",
        )  # fmt: skip
        dots = plot.scatter(
            "x", "y", source=self._points, size=7, marker="marker", color="colour",
            line_color=None,
        )  # fmt: skip
        plot.grid.grid_line_color = None
        plotting.add_hover(
            plot, [dots], [("class", "@label"), ("at", "(@x{0.00}, @y{0.00})"), ("", "@alpha")]
        )
        return plot

    def _write(self, info: DecisionBoundaryInfo) -> None:
        points = info.points
        if points is None:
            return
        x0, x1, y0, y1 = points.extent
        if (self._x.start, self._x.end, self._y.start, self._y.end) != (x0, x1, y0, y1):
            self._x.update(start=x0, end=x1)
            self._y.update(start=y0, end=y1)
            self.figure().xaxis[0].axis_label = points.feature_names[0]
            self.figure().yaxis[0].axis_label = points.feature_names[1]
        if info.grid is not None:
            self._image.data = {
                "image": [_smooth(info.grid)],
                "x": [x0], "y": [y0], "dw": [x1 - x0], "dh": [y1 - y0],
            }  # fmt: skip
        for source, levels in ((self._margin, (-1, 1)), (self._edge, (0,))):
            lines = [line for level in levels for line in info.levels.get(level, [])]
            # As lists: each array would be two websocket messages of its own.
            source.data = {
                "xs": [v[:, 0].round(4).tolist() for v in lines],
                "ys": [v[:, 1].round(4).tolist() for v in lines],
            }
        if len(info.support) == len(points.y):
            self._points.data = _columns(info, points)

    @staticmethod
    def marks(info: DecisionBoundaryInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        if info.points is None:
            return ()
        minus, plus = info.points.classes
        if len(info.support) and not info.support.any():
            why = ("", "", "α = 0 yet: no boundary")
            return (("●", NEGATIVE, minus), ("▲", POSITIVE, plus), why)
        return (
            ("●", NEGATIVE, minus), ("▲", POSITIVE, plus), ("○", "", "support vector"),
            ("◉", "", "at the bound C"), ("╌", GHOST, "margin"),
        )  # fmt: skip

    @staticmethod
    def describe(info: DecisionBoundaryInfo) -> str:
        """See `View.describe`."""
        if info.points is None:
            return "The data do not have two features."
        if len(info.support) and not info.support.any():
            return f"At iteration {info.cursor} α = 0 yet: there is no boundary."
        return (
            f"At iteration {info.cursor}, {int(info.support.sum())} of {len(info.support)} points "
            f"are support vectors, {int(info.bounded.sum())} of them at the bound C."
        )


def _smooth(grid: Array) -> NDArray[np.float32]:
    """Between the places where it was computed: canvases draw blocks, people see a field."""
    from scipy.ndimage import zoom

    return zoom(grid, FINER, order=1, grid_mode=True, mode="nearest").astype(np.float32)


def _columns(info: DecisionBoundaryInfo, points: Points) -> dict[str, np.ndarray]:
    plus = points.y > 0
    role = np.where(
        info.bounded, "support vector at the bound C",
        np.where(info.support, "support vector", "not a support vector"),
    )  # fmt: skip
    return {
        "x": points.X[:, 0],
        "y": points.X[:, 1],
        "colour": np.where(plus, POSITIVE, NEGATIVE),
        "marker": np.where(plus, "triangle", "circle"),
        "ring": np.where(info.support, 15.0, 0.0),
        "inside": np.where(info.bounded, 0.35, 0.0),
        "label": np.where(plus, points.classes[1], points.classes[0]),
        "alpha": role,
    }
