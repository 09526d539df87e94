"""Kernel weights as bars, largest first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.kernels.weights import ACTIVE_THRESHOLD
from mkldash.views import _plotting as plotting
from mkldash.views._names import short
from mkldash.views._palette import ACCENT
from mkldash.views._reading import Readable, field
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["TOP", "WeightsBarsInfo", "WeightsBarsView"]

#: Bars drawn; 400 bars are no picture.
TOP = 12
#: Room for as many bars is always there, so that three bars are not three walls.
FEWEST = 6
LONGEST_NAME = 24


class WeightsBarsInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    names : tuple of str
        Kernels drawn, largest weight first; at most `TOP`.
    weights : array, shape (n_drawn,)
    active, total : int
        Kernels above `ACTIVE_THRESHOLD` of the largest weight; all kernels.
    rest : float
        Share of the sum of weights that the kernels not drawn hold.
    """

    names: tuple[str, ...]
    weights: Array
    active: int
    total: int
    rest: float


def _shorten(name: str) -> str:
    """The whole name where it fits; else ``G 0.5 · worst area``."""
    if len(name) > LONGEST_NAME:
        kernel, dot, feature = name.partition(" · ")
        name = f"{short(kernel)}{dot}{feature}"
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


class WeightsBarsView(View):
    """Which kernels win."""

    name = "weights-bars"
    title = "Largest kernel weights"
    needs = frozenset({"weights", "several_kernels"})
    caption = (
        "How much each kernel counts in the combined kernel. Each has the same trace, so lengths "
        "compare. The weights need not sum to 1: their constraint does (shown above)."
    )
    formula = (
        r"K_\theta=\sum_k\theta_kK_k\qquad \eta\sum_k\theta_k+(1-\eta)\sum_k\theta_k^2\le 1,"
        r"\quad\theta\ge 0"
    )
    order = 30

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> WeightsBarsInfo:
        """See `View.prepare`."""
        if not 0 <= k < len(trace):
            return WeightsBarsInfo((), np.empty(0), 0, 0, 0.0)
        weights = field(trace, k, "weights")
        active = weights.active(ACTIVE_THRESHOLD)
        order = active[np.argsort(-weights.values[active], kind="stable")][:TOP]
        total = float(weights.values.sum())
        shown = weights.values[order].copy()
        return WeightsBarsInfo(
            names=tuple(str(weights.keys[i]) for i in order),
            weights=shown,
            active=len(active),
            total=len(weights),
            rest=max(0.0, 1.0 - float(shown.sum()) / total) if total > 0 else 0.0,
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(0, 0.1), Range1d(TOP - 0.4, -0.6)
        plot = plotting.new_figure(
            self.title, "weight θ", "", x_range=self._x, y_range=self._y, left=150
        )
        self._bars = ColumnDataSource({"y": [], "weight": [], "name": [], "text": []})
        bars = plot.hbar(
            "y", 0.68, "weight", source=self._bars, color=ACCENT, fill_alpha=0.8, line_width=1
        )
        plot.ygrid.grid_line_color = None
        plot.xgrid.grid_line_color = "#88888840"
        plot.yaxis.ticker = FixedTicker(ticks=list(range(TOP)))
        plot.yaxis.major_tick_out = plot.yaxis.major_tick_in = 0
        plot.yaxis.major_label_overrides = dict.fromkeys(range(TOP), " ")
        plotting.add_hover(plot, [bars], [("kernel", "@name"), ("weight", "@weight{0.000000}")])
        self._labels: tuple[str, ...] = ()
        return plot

    def _write(self, info: WeightsBarsInfo) -> None:
        n = len(info.names)
        columns = {
            "y": np.arange(n, dtype=np.float64),
            "weight": info.weights,
            "name": np.array(info.names, dtype=object),
        }
        plotting.write(self._bars, columns, full=True)
        axis = self.figure().yaxis[0]
        if info.names != self._labels:
            self._labels = info.names
            axis.major_label_overrides = {
                i: _shorten(info.names[i]) if i < n else " " for i in range(TOP)
            }
        start = max(n, FEWEST) - 0.4
        if self._y.start != start:
            self._y.start = start
        if n:
            plotting.fit(self._x, 0.0, float(info.weights[0]) * 1.04)
        label = f"weight θ ({n} largest of {info.active} that carry weight)"
        below = self.figure().xaxis[0]
        if below.axis_label != label:
            below.axis_label = label

    @staticmethod
    def describe(info: WeightsBarsInfo) -> str:
        """See `View.describe`."""
        if not info.names:
            return "No weights yet."
        first = ", ".join(
            f"{name}: {weight:.4g}"
            for name, weight in list(zip(info.names, info.weights, strict=True))[:5]
        )
        return (
            f"{info.active} of {info.total} kernels carry weight. Largest: {first}. "
            f"Kernels not drawn hold {100 * info.rest:.1f} percent of the sum."
        )
