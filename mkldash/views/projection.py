"""The projection that made this alpha: a piecewise linear function and its root."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, Range1d, Span
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.problems.projection import breakpoints, imbalance
from mkldash.views import _plotting as plotting
from mkldash.views._palette import ACCENT, CURSOR, INK, LEVEL
from mkldash.views._reading import Readable, field
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["MOST_BENDS", "ProjectionInfo", "ProjectionView"]

#: Breakpoints drawn.
MOST_BENDS = 400

#: The curve goes on beyond the window by so many times its width: an axis that stays where
#: it was shows more than the window.
_BEYOND = 1.3

#: So few are all in the picture.
_FEW = 24


_NONE_YET = "no projection has been made yet"


class ProjectionInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    cursor : int
    shift, value : array, shape (n_drawn,)
        The curve, exact at each of these: bends, and ends beyond every axis.
    window : tuple of float
        Multipliers worth showing.
    bends : array, shape (n_bends,)
        Breakpoints drawn.
    bend_values : array, shape (n_bends,)
    n_bends : int
        Breakpoints of the function.
    root : float
        The multiplier that the solver found; NaN before the first projection.
    root_value : float
        h there: zero within rounding.
    flat : tuple of float or None
        Ends of a stretch on which h is zero; then every multiplier on it is a root.
    """

    cursor: int
    shift: Array
    value: Array
    window: tuple[float, float]
    bends: Array
    bend_values: Array
    n_bends: int
    root: float
    root_value: float
    flat: tuple[float, float] | None


_NOTHING = ProjectionInfo(
    0, np.empty(0), np.empty(0), (-1.0, 1.0), np.empty(0), np.empty(0), 0, math.nan, math.nan, None
)


class ProjectionView(View):
    """One number decides the whole projection."""

    name = "projection"
    title = "Projection: the root of h(λ)"
    needs = frozenset({"target", "multiplier"})
    caption = (
        "The gradient step leaves the feasible set; the nearest feasible point is found by one "
        "number λ, where this curve of straight pieces crosses zero. Each dot is a bend: a row "
        "that reaches 0 or C."
    )
    formula = (
        r"h(\lambda)=\sum_iy_i\,\mathrm{clip}(v_i-\lambda y_i,\,0,\,C)=0\qquad "
        r"\alpha_i=\mathrm{clip}(v_i-\lambda y_i,\,0,\,C)\qquad "
        r"\text{bends at }y_iv_i\text{ and }y_i(v_i-C)"
    )
    order = 40

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> ProjectionInfo:
        """See `View.prepare`."""
        if not 0 <= k < len(trace) or scene.labels is None or scene.cost is None:
            return _NOTHING
        cursor = int(trace[k].iteration)
        target, root = field(trace, k, "target"), field(trace, k, "multiplier")
        # Iteration 0 is the start: whatever it holds, no gradient step led to it.
        if (
            cursor == 0
            or target is None
            or root is None
            or not len(target)
            or not math.isfinite(root)
        ):
            return _NOTHING._replace(cursor=cursor)
        v, y, cost, root = np.asarray(target), scene.labels, scene.cost, float(root)
        bends = breakpoints(v, y, cost)
        flat = _flat(bends, root, v, y, cost)
        low, high = _window(bends, root, flat)
        beyond = _BEYOND * (high - low)
        first, last = low - beyond, high + beyond
        inside = bends[(bends > first) & (bends < last)]
        near = np.searchsorted(inside, root)
        kept = np.unique(
            np.concatenate([
                np.arange(0, len(inside), max(1, -(-len(inside) // MOST_BENDS))),
                np.clip([near - 2, near - 1, near, near + 1], 0, max(0, len(inside) - 1)),
            ]).astype(np.intp)
        )  # fmt: skip
        shown = inside[kept] if len(inside) else inside
        shift = np.concatenate([[first], shown, [last]])
        value = imbalance(shift, v, y, cost)
        return ProjectionInfo(
            cursor=cursor,
            shift=shift,
            value=value,
            window=(low, high),
            bends=shown,
            bend_values=value[1:-1],
            n_bends=len(bends),
            root=root,
            root_value=float(imbalance(np.array([root]), v, y, cost)[0]),
            flat=flat,
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(-1, 1), Range1d(-1, 1)
        plot = plotting.new_figure(
            self.title, "multiplier λ", "imbalance h(λ)", x_range=self._x, y_range=self._y
        )
        self._curve = ColumnDataSource({"x": [], "y": []})
        self._bends = ColumnDataSource({"x": [], "y": []})
        self._flat = ColumnDataSource({"x": [], "y": []})
        self._root = ColumnDataSource({"x": [], "y": []})
        plot.add_layout(Span(location=0, dimension="width", line_color=INK, line_dash=[6, 4]))
        self._at = Span(location=0, dimension="height", line_color=CURSOR, line_dash=[2, 4],
                        line_width=1.5, visible=False)  # fmt: skip
        plot.add_layout(self._at)
        plot.line("x", "y", source=self._curve, color=ACCENT, line_width=2.5)
        plot.line("x", "y", source=self._flat, color=LEVEL, line_width=8, line_cap="round")
        bends = plot.scatter("x", "y", source=self._bends, color=ACCENT, size=5)
        root = plot.scatter("x", "y", source=self._root, color=CURSOR, size=16, marker="diamond")
        plotting.add_hover(
            plot, [bends], [("bend at λ", "@x{0.0000}"), ("h", "@y{0.0000}")]
        )  # fmt: skip
        plotting.add_hover(plot, [root], [("root λ", "@x{0.000000}")], attachment="below")
        return plot

    def _write(self, info: ProjectionInfo) -> None:
        full = self.full_frames
        plotting.write(self._curve, {"x": info.shift, "y": info.value}, full=full)
        plotting.write(self._bends, {"x": info.bends, "y": info.bend_values}, full=full)
        flat = np.array(info.flat if info.flat is not None else ())
        plotting.write(self._flat, {"x": flat, "y": np.zeros(len(flat))}, full=full)
        known = math.isfinite(info.root)
        spot = np.array([info.root] if known else [])
        plotting.write(self._root, {"x": spot, "y": np.zeros(len(spot))}, full=full)
        self._at.visible = known
        axis = self.figure().xaxis[0]
        if not known:
            if axis.axis_label != _NONE_YET:
                axis.axis_label = _NONE_YET
            return
        self._at.location = info.root
        plotting.fit(self._x, *info.window)
        high, low = (float(v) for v in np.interp(info.window, info.shift, info.value))
        margin = 0.05 * (high - low)
        plotting.fit(self._y, low - margin, high + margin)
        text = f"multiplier λ ({info.n_bends:,} bends)"
        there = (info.bends >= self._x.start) & (info.bends <= self._x.end)
        if there.sum() < info.n_bends:
            text = f"multiplier λ ({there.sum()} of {info.n_bends:,} bends are shown)"
        if axis.axis_label != text:
            axis.axis_label = text

    @staticmethod
    def marks(info: ProjectionInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        if not math.isfinite(info.root):
            return (("", "", _NONE_YET),)
        marks = [("●", ACCENT, "bend"), ("╌", INK, "zero: feasible"), ("◆", CURSOR, "root λ")]
        if info.flat is not None:
            marks.append(("━", LEVEL, "flat at zero: every λ here is a root"))
        return tuple(marks)

    @staticmethod
    def describe(info: ProjectionInfo) -> str:
        """See `View.describe`."""
        if not math.isfinite(info.root):
            return f"At iteration {info.cursor} {_NONE_YET}."
        text = (
            f"At iteration {info.cursor} the projection's multiplier is {info.root:.6g}, where "
            f"the imbalance is {info.root_value:.1e}; the curve has {info.n_bends:,} bends."
        )
        if info.flat is not None:
            a, b = info.flat
            text += (
                f" It is flat at zero from {a:.4g} to {b:.4g}: the multiplier is not unique, "
                "the projection is."
            )
        return text


def _window(bends: Array, root: float, flat: tuple[float, float] | None) -> tuple[float, float]:
    """Nearly half of many bends, those nearest to the root; all of few; and the flat stretch."""
    low, high = float(bends[0]), float(bends[-1])
    reach = 1.25 * float(np.quantile(np.abs(bends - root), 0.45))
    if len(bends) > _FEW and reach > 1e-3 * (high - low):
        low, high = max(low, root - reach), min(high, root + reach)
    low, high = min(low, root), max(high, root)
    if flat is not None:
        low, high = min(low, flat[0]), max(high, flat[1])
    margin = 0.06 * max(high - low, 1e-12)
    return low - margin, high + margin


def _flat(bends: Array, root: float, v: Array, y: Array, cost: float) -> tuple[float, float] | None:
    """The stretch around `root` on which h is zero, if it is more than a point."""
    near = int(np.searchsorted(bends, root))
    around = np.unique(bends[max(0, near - 3) : near + 4])
    values = imbalance(around, v, y, cost)
    zeros = around[np.abs(values) <= 1e-12 * cost * len(v)]
    if len(zeros) < 2 or zeros[-1] - zeros[0] <= 1e-9 * max(1.0, abs(root)):
        return None
    return float(zeros[0]), float(zeros[-1])
