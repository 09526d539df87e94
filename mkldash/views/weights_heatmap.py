"""Kernel weights as a map, features by kernels: 800 kernels at a glance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColorBar,
    ColumnDataSource,
    CustomJSTickFormatter,
    FixedTicker,
    LinearColorMapper,
    Range1d,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.kernels.weights import ACTIVE_THRESHOLD
from mkldash.views import _plotting as plotting
from mkldash.views._names import LONGEST_NAME, short
from mkldash.views._palette import sequential
from mkldash.views._reading import Readable, field
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["WeightsHeatmapInfo", "WeightsHeatmapView"]

#: Feature names written at the axis; more rows keep their hover text.
MOST_LABELS = 16


#: Ticks of the colour bar, from powers of ten.
_SHARE = "return tick == 0 ? 'max' : '10⁻' + '⁰¹²³⁴⁵⁶⁷⁸⁹'[Math.round(-tick)]"


class WeightsHeatmapInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    rows : tuple of str
        Features, in bank order, "all" last.
    columns : tuple of str
        Kernel functions, in bank order.
    row, column : array of int, shape (n_kernels,)
        Cell of each kernel.
    names : tuple of str
    weights : array, shape (n_kernels,)
    active : int
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    names: tuple[str, ...]
    weights: Array
    active: int


def _cells(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...], list[int], list[int]]:
    """Split names such as ``gaussian 0.5 · V3`` into kernel and feature."""
    split = [name.partition(" · ")[::2] for name in names]
    rows = dict.fromkeys(feature or "given" for _, feature in split if feature != "all")
    if any(feature == "all" for _, feature in split):
        rows["all"] = None
    columns = dict.fromkeys(kernel for kernel, _ in split)
    row_of = {name: i for i, name in enumerate(rows)}
    column_of = {name: i for i, name in enumerate(columns)}
    return (
        tuple(rows),
        tuple(columns),
        [row_of[feature or "given"] for _, feature in split],
        [column_of[kernel] for kernel, _ in split],
    )


class WeightsHeatmapView(View):
    """Where the weight sits: which feature, which kernel."""

    name = "weights-heatmap"
    title = "All weights: feature by kernel"
    needs = frozenset({"weights", "several_kernels"})
    caption = (
        "One cell per kernel: strong colour is much weight, an empty cell none. "
        "Watch most of them fade while a few stay."
    )
    formula = (
        r"\text{colour}=\log_{10}\frac{\theta_k}{\max_j\theta_j},\qquad"
        r"\text{empty below }10^{-5}"
    )
    order = 40

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> WeightsHeatmapInfo:
        """See `View.prepare`."""
        none = np.empty(0, dtype=np.intp)
        if not 0 <= k < len(trace):
            return WeightsHeatmapInfo((), (), none, none, (), np.empty(0), 0)
        weights = field(trace, k, "weights")
        names = tuple(str(key) for key in weights.keys)
        rows, columns, row, col = _cells(names)
        return WeightsHeatmapInfo(
            rows=rows,
            columns=columns,
            row=np.array(row, dtype=np.intp),
            column=np.array(col, dtype=np.intp),
            names=names,
            weights=weights.values,
            active=len(weights.active(ACTIVE_THRESHOLD)),
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(-0.5, 12.5), Range1d(12.5, -0.5)
        plot = plotting.new_figure(
            self.title, "kernel: G gaussian, width · P polynomial, degree · L linear",
            "feature", x_range=self._x, y_range=self._y, left=80, right=10,
        )  # fmt: skip
        self._cells = ColumnDataSource({"x": [], "y": [], "value": [], "name": [], "weight": []})
        mapper = LinearColorMapper(
            palette=sequential(), low=-5, high=0, low_color="#00000000", nan_color="#00000000"
        )
        frame = plot.rect(
            "x", "y", 0.94, 0.9, source=self._cells, line_color=None,
            fill_color={"field": "value", "transform": mapper},
        )  # fmt: skip
        bar = ColorBar(
            color_mapper=mapper, width=10, padding=4, margin=0,
            ticker=BasicTicker(desired_num_ticks=5), border_line_color=None,
            background_fill_alpha=0.0,
            formatter=CustomJSTickFormatter(code=_SHARE),
        )  # fmt: skip
        plot.add_layout(bar, "right")
        plot.grid.grid_line_color = None
        plot.axis.major_tick_out = plot.axis.major_tick_in = 0
        plot.xaxis.major_label_orientation = 0.7
        plot.axis.major_label_standoff = 7
        plotting.add_hover(plot, [frame], [("kernel", "@name"), ("weight", "@weight{0.000000}")])
        self._shape: tuple[tuple[str, ...], ...] = ()
        self._names: tuple[str, ...] = ()
        return plot

    def _write(self, info: WeightsHeatmapInfo) -> None:
        if (info.rows, info.columns) != self._shape:
            self._label(info)
        top = info.weights.max(initial=0.0)
        with np.errstate(divide="ignore"):
            value = np.log10(info.weights / top) if top > 0 else np.full(len(info.weights), -9.0)
        value = np.maximum(value, -9.0).astype(np.float32)
        if info.names != self._names or self.full_frames:
            self._names = info.names
            self._cells.data = {
                "x": info.column.astype(np.float32),
                "y": info.row.astype(np.float32),
                "name": np.array(info.names, dtype=object),
                "value": value,
                "weight": info.weights,
            }
        else:
            self._cells.data.update(value=value, weight=info.weights)  # one message, not two

    def _label(self, info: WeightsHeatmapInfo) -> None:
        self._shape = (info.rows, info.columns)
        plot = self.figure()
        n_rows, n_columns = max(len(info.rows), 1), max(len(info.columns), 1)
        self._x.update(start=-0.5, end=n_columns - 0.5)
        self._y.update(start=n_rows - 0.5, end=-0.5)
        every = -(-n_rows // MOST_LABELS)
        rows = [i for i in range(n_rows - every) if i % every == 0] + [n_rows - 1]
        for axis, ticks, labels in (
            (plot.yaxis[0], rows, info.rows),
            (plot.xaxis[0], list(range(n_columns)), [short(c) for c in info.columns]),
        ):
            axis.ticker = FixedTicker(ticks=ticks)
            axis.major_label_overrides = {
                i: labels[i][:LONGEST_NAME] for i in ticks if i < len(labels)
            }

    @staticmethod
    def describe(info: WeightsHeatmapInfo) -> str:
        """See `View.describe`."""
        if not info.names:
            return "No weights yet."
        by_row = np.zeros(len(info.rows))
        np.add.at(by_row, info.row, info.weights)
        order = np.argsort(-by_row, kind="stable")[:3]
        total = by_row.sum() or 1.0
        lead = ", ".join(f"{info.rows[i]} ({100 * by_row[i] / total:.0f} percent)" for i in order)
        return (
            f"{len(info.rows)} feature{'' if len(info.rows) == 1 else 's'} by "
            f"{len(info.columns)} kernels; {info.active} cells carry "
            f"weight. Features with most weight: {lead}."
        )
