"""The kernel matrix, what is learnt, and their sum, as three heatmaps."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColorBar,
    ColumnDataSource,
    FixedTicker,
    LinearAxis,
    LinearColorMapper,
    Range1d,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._palette import INK, NEGATIVE, POSITIVE, diverging
from mkldash.views._reading import Readable, field
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["KernelHeatmapsInfo", "KernelHeatmapsView"]

#: Between two heatmaps, as a share of one.
_BETWEEN = 0.22

#: Above the heatmaps, left to right.
_NAMES = ("K", "(y∘α)(y∘α)ᵀ / 2ρ", "G*")


class KernelHeatmapsInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    cursor : int
    given, learnt : array, shape (m, m)
        K and (1/(2 rho)) (y alpha)(y alpha)' on the rows shown; the learnt kernel is
        their sum.
    rows : array of int, shape (m,)
        Training rows shown, class -1 first.
    n_rows : int
        All training rows.
    split : int
        How many of the rows shown are of class -1.
    largest : tuple of float
        Largest entry in size of K, of the rank-one part and of the sum, as shown.
    limit : float
        End of the common colour scale.
    times : float
        The rank-one part is drawn so many times as strong: 1, 2, 5, 10 and so on.
    distance : float
        ||G* - K||_F over all training rows, ||alpha||^2 / (2 rho).
    """

    cursor: int
    given: Array
    learnt: Array
    rows: NDArray[np.intp]
    n_rows: int
    split: int
    largest: tuple[float, float, float]
    limit: float
    times: float
    distance: float


def _times(learnt: Array, limit: float) -> float:
    """A round factor that lets a faint rank-one part be seen; 1 when it can be seen anyway.

    By its 95th percentile, not by its largest entry: a few rows pull so hard that
    next to them the pattern of the others is white.
    """
    size = float(np.quantile(np.abs(learnt), 0.95))
    if size <= 0.0 or limit < 5.0 * size:
        return 1.0
    power = 10.0 ** math.floor(math.log10(limit / size))
    return max(m * power for m in (1.0, 2.0, 5.0) if m * power <= limit / size)


class KernelHeatmapsView(View):
    """What the neighborhood adds to the kernel: one matrix of rank one."""

    name = "kernel-heatmaps"
    title = "The kernel and its neighbor: K + rank-one part = G*"
    needs = frozenset({"alpha", "shift", "gram"})
    caption = (
        "Rows and columns are training rows, by class. K is the kernel, or the weighted sum of "
        "several at the cursor. What is learnt lifts pairs within a "
        "class and lowers pairs of different classes, the more the harder both rows pull. "
        "All share one colour scale, but a small rank-one part is drawn stronger, as said below it."
    )
    formula = (
        r"K=\sum_k\theta_kK_k\quad\text{(one kernel: }\theta=1)\qquad "
        r"G^*=K+\tfrac{1}{2\rho}(y\circ\alpha)(y\circ\alpha)^\top\qquad "
        r"\lVert G^*-K\rVert_F=\tfrac{1}{2\rho}\lVert\alpha\rVert^2"
    )
    order = 35
    wide = True

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> KernelHeatmapsInfo:
        """See `View.prepare`."""
        gram, none = scene.gram, np.empty((0, 0))
        if gram is None or not 0 <= k < len(trace):
            return KernelHeatmapsInfo(
                0, none, none, np.empty(0, np.intp), 0, 0, (0.0, 0.0, 0.0), 1.0, 1.0, 0.0
            )
        alpha = np.asarray(field(trace, k, "alpha"))
        v = gram.y * alpha[gram.rows]
        half = 0.5 / (np.inf if scene.rho is None else scene.rho)
        learnt = half * np.outer(v, v)
        sizes = [float(np.abs(part).max()) for part in (gram.K, learnt, gram.K + learnt)]
        return KernelHeatmapsInfo(
            cursor=int(trace[k].iteration),
            given=gram.K,
            learnt=learnt,
            rows=gram.rows,
            n_rows=gram.n_rows,
            split=int(np.count_nonzero(gram.y < 0)),
            largest=(sizes[0], sizes[1], sizes[2]),
            limit=max(sizes) or 1.0,
            times=_times(learnt, max(sizes)),
            distance=half * float(alpha @ alpha),
        )

    def _build(self) -> figure:
        plot = plotting.new_figure(
            self.title, "training rows, by class", "training row",
            x_range=Range1d(0, 3), y_range=Range1d(0, 1), height=370, left=84, right=10,
        )  # fmt: skip
        self._box = plotting.equal_scales(plot)
        names = ("image", "x", "y", "dw", "dh", "times")
        self._sheets = ColumnDataSource({name: [] for name in names})
        self._mapper = LinearColorMapper(
            palette=diverging(129, most=255, power=1.0), low=-1.0, high=1.0
        )
        sheets = plot.image(
            "image", "x", "y", "dw", "dh", source=self._sheets, color_mapper=self._mapper
        )
        self._frames = ColumnDataSource({"left": [], "right": [], "bottom": [], "top": []})
        plot.quad(
            source=self._frames, left="left", right="right", bottom="bottom", top="top",
            fill_alpha=0.0, line_color=INK,
        )  # fmt: skip
        self._splits = ColumnDataSource({"x0": [], "y0": [], "x1": [], "y1": []})
        plot.segment(
            "x0", "y0", "x1", "y1", source=self._splits, color=INK, line_width=1.5, line_dash=[4, 3]
        )
        self._signs = ColumnDataSource({"x": [], "y": [], "text": []})
        plot.text(
            "x", "y", "text", source=self._signs, color=INK, text_align="center",
            text_baseline="middle", text_font_size="24px",
        )  # fmt: skip
        # Words at axes take the page's colour, in light and dark.
        self._above = LinearAxis()
        plot.add_layout(self._above, "above")
        for axis in (self._above, *plot.axis):
            axis.major_tick_in = axis.major_tick_out = 0
            axis.minor_tick_line_color, axis.axis_line_alpha = None, 0.0
            axis.ticker = FixedTicker(ticks=[])
        self._above.major_label_text_font_size = "15px"
        plot.grid.grid_line_color = None
        bar = ColorBar(
            color_mapper=self._mapper, width=10, padding=4, margin=0, border_line_color=None,
            background_fill_alpha=0.0, ticker=BasicTicker(desired_num_ticks=5),
        )  # fmt: skip
        plot.add_layout(bar, "right")
        plotting.add_hover(
            plot, [sheets], [("drawn", "@image{0.000000}"), ("times the entry", "@times")]
        )
        self._shape: tuple[int, int] = (0, 0)
        return plot

    def _write(self, info: KernelHeatmapsInfo) -> None:
        m = len(info.rows)
        if not m:
            return
        step = m * (1 + _BETWEEN)
        left = [0.0, step, 2 * step]
        parts = (info.given, info.times * info.learnt, info.given + info.learnt)
        # The first row on top, as matrices are written.
        self._sheets.data = {
            "image": [part[::-1].astype(np.float32) for part in parts],
            "x": left, "y": [0.0] * 3, "dw": [float(m)] * 3, "dh": [float(m)] * 3,
            "times": [1.0, info.times, 1.0],
        }  # fmt: skip
        if self._mapper.high != info.limit:
            self._mapper.update(low=-info.limit, high=info.limit)
        if self._shape != (m, info.split):
            self._shape = (m, info.split)
            self._lay_out(m, info.split, left)
        below = self.figure().xaxis[-1]
        capped = ", capped" if info.times * info.largest[1] > info.limit else ""
        stronger = "" if info.times == 1.0 else f"; drawn {info.times:g}×{capped}"
        labels = {
            x + m / 2: f"largest entry {size:.3g}{extra}"
            for x, size, extra in zip(left, info.largest, ("", stronger, ""), strict=True)
        }
        if below.major_label_overrides != labels:
            below.major_label_overrides = labels
        text = f"{m} training rows, by class; all of them"
        if m < info.n_rows:
            text = f"{m} of {info.n_rows:,} training rows, by class"
        text += f"; common colour scale from {-info.limit:.3g} to {info.limit:.3g}"
        if below.axis_label != text:
            below.axis_label = text

    def _lay_out(self, m: int, split: int, left: list[float]) -> None:
        """What depends on the number of rows only."""
        margin = 0.01 * m
        plotting.show_box(self._box, (-margin, left[2] + m + margin, -margin, m + margin))
        self._frames.data = {
            "left": left, "right": [x + m for x in left], "bottom": [0.0] * 3,
            "top": [float(m)] * 3,
        }  # fmt: skip
        y = float(m - split)
        self._splits.data = {
            "x0": [*left, *(x + split for x in left)],
            "x1": [*(x + m for x in left), *(x + split for x in left)],
            "y0": [y] * 3 + [0.0] * 3,
            "y1": [y] * 3 + [float(m)] * 3,
        }
        signs = [x - _BETWEEN * m / 2 for x in left[1:]]
        self._signs.data = {"x": signs, "y": [m / 2] * 2, "text": ["+", "="]}
        middles = [x + m / 2 for x in left]
        self._above.ticker = FixedTicker(ticks=middles)
        self._above.major_label_overrides = dict(zip(middles, _NAMES, strict=True))
        self.figure().xaxis[-1].ticker = FixedTicker(ticks=middles)
        side = {m - split / 2: "class -1", (m - split) / 2: "class +1"}
        self.figure().yaxis[0].ticker = FixedTicker(ticks=list(side))
        self.figure().yaxis[0].major_label_overrides = side

    @staticmethod
    def marks(info: KernelHeatmapsInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        return (
            ("■", POSITIVE, f"similar, up to {info.limit:.3g}"),
            ("■", NEGATIVE, f"dissimilar, down to {-info.limit:.3g}"),
            ("╌", INK, "between the classes"),
            ("", "", f"‖G* - K‖ = {info.distance:.4g}"),
        )

    @staticmethod
    def describe(info: KernelHeatmapsInfo) -> str:
        """See `View.describe`."""
        if not len(info.rows):
            return "No kernel matrix to show."
        given, learnt, _ = info.largest
        return (
            f"At iteration {info.cursor} the learnt kernel lies {info.distance:.4g} from K "
            f"(Frobenius, all {info.n_rows:,} rows); on the {len(info.rows)} rows shown the "
            f"rank-one part's largest entry is {learnt:.3g}, that of K {given:.3g}."
        )
