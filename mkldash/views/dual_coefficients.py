"""The dual coefficients alpha as bars, by class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d, Span
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import number
from mkldash.views._palette import ACCENT, INK, NEGATIVE, POSITIVE
from mkldash.views._reading import Readable, field
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["MOST_BARS", "DualCoefficientsInfo", "DualCoefficientsView"]

#: More bars than a card has room for are thinned.
MOST_BARS = 300

#: An alpha within this share of C sits at its bound.
AT_BOUND = 1e-6

#: Below this share of C, bars fill the picture and C is left out of it.
_LOW = 0.15


class DualCoefficientsInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    cursor : int
    row : array of int, shape (n_drawn,)
        Training rows drawn: class -1 first, within a class by alpha.
    place : array, shape (n_drawn,)
        Their places in that order.
    alpha : array, shape (n_drawn,)
    side : array, shape (n_drawn,)
        Label, or 0 where labels are unknown.
    bounded : array of bool, shape (n_drawn,)
        alpha at C.
    every : int
        Every how many places a row is drawn.
    sizes : tuple of int
        All training rows of class -1 and of class +1; (n_rows, 0) without labels.
    counts : tuple of int
        Of all training rows: with alpha = 0, in between, at C.
    sums : tuple of float
        Sum of alpha over each class.
    cost : float
    classes : tuple of str
    """

    cursor: int
    row: NDArray[np.intp]
    place: Array
    alpha: Array
    side: Array
    bounded: NDArray[np.bool_]
    every: int
    sizes: tuple[int, int]
    counts: tuple[int, int, int]
    sums: tuple[float, float]
    cost: float
    classes: tuple[str, str]


_NOTHING = DualCoefficientsInfo(
    0, np.empty(0, np.intp), np.empty(0), np.empty(0), np.empty(0), np.empty(0, bool), 1,
    (0, 0), (0, 0, 0), (0.0, 0.0), 1.0, ("class -1", "class +1"),
)  # fmt: skip


class DualCoefficientsView(View):
    """Which rows hold the boundary, and how hard each pulls."""

    name = "dual-coefficients"
    title = "Dual coefficients α"
    needs = frozenset({"alpha", "shift"})
    caption = (
        "One bar per training row: how hard it pulls at the boundary, at most C. A row without "
        "a bar could be left out. Both classes pull equally hard in total."
    )
    formula = (
        r"0\le\alpha_i\le C,\quad \sum_{y_i=+1}\alpha_i=\sum_{y_i=-1}\alpha_i\qquad "
        r"f(x)=\sum_i\alpha_iy_i\,\kappa(x_i,x)+b,\quad\kappa=\sum_k\theta_kK_k"
    )
    order = 30

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> DualCoefficientsInfo:
        """See `View.prepare`."""
        if not 0 <= k < len(trace):
            return _NOTHING
        alpha = np.asarray(field(trace, k, "alpha"), dtype=np.float64)
        y = np.zeros(len(alpha)) if scene.labels is None else scene.labels
        order = np.lexsort((alpha, y))
        every = max(1, -(-len(alpha) // MOST_BARS))
        place = np.arange(0, len(alpha), every)
        cost = scene.cost if scene.cost is not None else float(alpha.max(initial=0.0))
        bounded = (alpha >= cost * (1 - AT_BOUND)) & (alpha > 0)
        row, zero = order[place], int(np.count_nonzero(alpha == 0))
        return DualCoefficientsInfo(
            cursor=int(trace[k].iteration),
            row=row,
            place=place.astype(np.float64),
            alpha=alpha[row],
            side=y[row],
            bounded=bounded[row],
            every=every,
            sizes=(int(np.count_nonzero(y <= 0)), int(np.count_nonzero(y > 0))),
            counts=(zero, len(alpha) - zero - int(bounded.sum()), int(bounded.sum())),
            sums=(float(alpha[y <= 0].sum()), float(alpha[y > 0].sum())),
            cost=cost,
            classes=scene.classes if scene.points is None else scene.points.classes,
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(-0.5, 20), Range1d(0, 1.15)
        plot = plotting.new_figure(
            self.title, "training row", "α", x_range=self._x, y_range=self._y
        )
        names = ("x", "alpha", "colour", "wide", "row", "label", "role")
        self._bars = ColumnDataSource({name: [] for name in names})
        bars = plot.vbar(
            "x", "wide", "alpha", source=self._bars, fill_color="colour", line_color=None,
            fill_alpha=0.85,
        )  # fmt: skip
        self._top = Span(
            location=1.0, dimension="width", line_color=INK, line_dash=[7, 4], line_width=1.5
        )
        plot.add_layout(self._top)
        # A row of marks above C: a run of full bars is a solid band of them.
        self._full = ColumnDataSource({"x": [], "y": [], "colour": []})
        plot.scatter(
            "x", "y", source=self._full, marker="inverted_triangle", size=6, color="colour",
            line_color=None,
        )  # fmt: skip
        self._between = Span(location=0, dimension="height", line_color=INK, visible=False)
        plot.add_layout(self._between)
        axis = plot.xaxis[0]
        axis.ticker = FixedTicker(ticks=[])
        axis.major_tick_in = axis.major_tick_out = 0
        plotting.add_hover(
            plot, [bars],
            [("training row", "@row"), ("class", "@label"), ("α", "@alpha{0.0000}"), ("", "@role")],
        )  # fmt: skip
        return plot

    def _write(self, info: DualCoefficientsInfo) -> None:
        colour = np.where(info.side > 0, POSITIVE, np.where(info.side < 0, NEGATIVE, ACCENT))
        role = np.where(info.bounded, "at the bound C", np.where(
            info.alpha > 0, "support vector", "not a support vector"
        ))  # fmt: skip
        names = np.array((info.classes[0], "not known", info.classes[1]), dtype=object)
        self._bars.data = {
            "x": plotting.light(info.place),
            "alpha": plotting.light(info.alpha),
            "colour": colour,
            "wide": np.full(len(colour), 0.86 * info.every),
            "row": info.row + 1,
            "label": names[info.side.astype(np.intp) + 1],
            "role": role,
        }
        full = info.bounded
        self._full.data = {
            "x": info.place[full],
            "y": np.full(int(full.sum()), 1.055 * info.cost),
            "colour": colour[full],
        }
        most = float(info.alpha.max(initial=0.0))
        low = 0.0 < most < _LOW * info.cost
        if self._top.location != info.cost:
            self._top.location = info.cost
        if low:
            plotting.fit(self._y, 0.0, most)
        elif self._y.end != 1.15 * info.cost:
            self._y.end = 1.15 * info.cost
        side = self.figure().yaxis[0]
        text = f"α (C = {number(info.cost, 6)} lies far above)" if low else "α"
        if side.axis_label != text:
            side.axis_label = text
        self._label(info)

    def _label(self, info: DualCoefficientsInfo) -> None:
        n, (first, second) = sum(info.sizes), info.sizes
        end = max(n, 1) - 0.5
        if self._x.end != end:
            self._x.end = end
        self._between.update(location=first - 0.5, visible=0 < first < n)
        axis = self.figure().xaxis[0]
        known = bool(len(info.side)) and info.side[0] != 0
        labels = {
            (first - 1) / 2: f"{info.classes[0]} ({first} rows)",
            first + (second - 1) / 2: f"{info.classes[1]} ({second} rows)",
        } if known else {}  # fmt: skip
        ticks = list(labels)
        if axis.ticker.ticks != ticks or axis.major_label_overrides != labels:
            axis.ticker = FixedTicker(ticks=ticks)
            axis.major_label_overrides = labels
        text = "training rows, by class, then by α"
        if info.every > 1:
            text += f" (every {_ordinal(info.every)} of {n:,} is drawn)"
        if axis.axis_label != text:
            axis.axis_label = text

    @staticmethod
    def marks(info: DualCoefficientsInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        bars: tuple[tuple[str, str, str], ...] = (("▮", ACCENT, "α"),)
        if len(info.row) and info.counts[0] == sum(info.counts):
            return (("", "", "α = 0 yet: no row pulls"),)
        if len(info.side) and info.side[0] != 0:
            bars = (("▮", NEGATIVE, info.classes[0]), ("▮", POSITIVE, info.classes[1]))
        return (*bars, ("╌", INK, f"C = {number(info.cost, 6)}"), ("▾", "", "at the bound C"))

    @staticmethod
    def describe(info: DualCoefficientsInfo) -> str:
        """See `View.describe`."""
        if not len(info.row):
            return "No dual coefficients yet."
        zero, between, full = info.counts
        text = (
            f"At iteration {info.cursor}, {zero} of {sum(info.counts)} rows have α = 0, {between} "
            f"lie in between and {full} are at C = {number(info.cost, 6)}."
        )
        if info.side[0] != 0:
            text += f" Sum of α in each class: {info.sums[0]:.4g} and {info.sums[1]:.4g}."
        return text


def _ordinal(n: int) -> str:
    """2nd, 3rd, 11th, 22nd ..."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{n}{'th' if n % 100 in (11, 12, 13) else ends.get(n % 10, 'th')}"
