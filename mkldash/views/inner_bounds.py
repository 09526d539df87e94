"""Algorithm 2 inside one iteration: its value and its bound meet."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._palette import LOWER, UPPER
from mkldash.views._reading import Readable, field
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["InnerBoundsInfo", "InnerBoundsView"]


class InnerBoundsInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    cursor : int
        Outer iteration whose weight step is shown.
    step : array, shape (n_steps,)
        Steps of Algorithm 2, from 1.
    upper, lower : array, shape (n_steps,)
        h and p^2, in percent above the best p^2.
    best : float
        The best p^2, in units of the weight step's objective.
    """

    cursor: int
    step: Array
    upper: Array
    lower: Array
    best: float


class InnerBoundsView(View):
    """The weight step has a certificate of its own."""

    name = "inner-bounds"
    title = "Inside the weight step (Algorithm 2)"
    needs = frozenset({"inner_upper", "inner_lower"})
    caption = (
        "Each outer iteration finds new weights by a short inner iteration. "
        "Its value h and its bound p² meet after a few steps."
    )
    formula = (
        r"p^2\;\le\;h^*=\min_{\theta\in\Theta}\sum_k\frac{\beta_k}{\theta_k}\;\le\;"
        r"h(x)=s(x)\,g(x)\qquad p=\sum_k\surd(\beta_kq_k)"
    )
    order = 60

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> InnerBoundsInfo:
        """See `View.prepare`."""
        empty = np.empty(0)
        if not 0 <= k < len(trace):
            return InnerBoundsInfo(0, empty, empty, empty, 0.0)
        upper = np.asarray(field(trace, k, "inner_upper"), dtype=np.float64)
        lower = np.asarray(field(trace, k, "inner_lower"), dtype=np.float64)
        number = int(trace[k].iteration)
        finite = lower[np.isfinite(lower)]
        if not upper.size or not finite.size or finite.max() <= 0:
            return InnerBoundsInfo(number, empty, empty, empty, 0.0)
        best = float(finite.max())
        return InnerBoundsInfo(
            cursor=number,
            step=np.arange(1, len(upper) + 1, dtype=np.float64),
            upper=100 * (upper / best - 1),
            lower=100 * (lower / best - 1),
            best=best,
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(0.5, 6.5), Range1d(-1, 1)
        plot = plotting.new_figure(
            self.title, "step of the inner iteration", "% above the best p²",
            x_range=self._x, y_range=self._y, left=78,
        )  # fmt: skip
        self._source = ColumnDataSource({"x": [], "upper": [], "lower": []})
        plot.varea("x", "lower", "upper", source=self._source, color=LOWER, alpha=0.12)
        top = plot.line(
            "x", "upper", source=self._source, color=UPPER, line_width=2.5, line_dash=[8, 4],
            legend_label="value h",
        )  # fmt: skip
        plot.scatter("x", "upper", source=self._source, color=UPPER, size=7, marker="square")
        plot.line(
            "x", "lower", source=self._source, color=LOWER, line_width=2.5,
            legend_label="bound p²",
        )  # fmt: skip
        plot.scatter("x", "lower", source=self._source, color=LOWER, size=7)
        plotting.legend(plot)
        plotting.add_hover(
            plot, [top],
            [("step", "@x"), ("h", "@upper{0.0000000} %"), ("p²", "@lower{0.0000000} %")],
            mode="vline",
        )  # fmt: skip
        return plot

    def _write(self, info: InnerBoundsInfo) -> None:
        columns = {"x": info.step, "upper": info.upper, "lower": info.lower}
        plotting.write(self._source, columns, full=True)
        plotting.grow(self._x, plotting.nice_ceiling(len(info.step), 6.0) + 0.5)
        values = np.concatenate([info.upper, info.lower])
        values = values[np.isfinite(values)]
        if values.size:
            low, high = float(values.min()), float(values.max())
            span = max(high - low, 1e-10)
            plotting.fit(self._y, low - 0.05 * span, high + 0.2 * span)
        label = f"step of the inner iteration, at iteration {info.cursor}"
        axis = self.figure().xaxis[0]
        if axis.axis_label != label:
            axis.axis_label = label

    @staticmethod
    def describe(info: InnerBoundsInfo) -> str:
        """See `View.describe`."""
        if not len(info.step):
            return f"No inner iteration led to iteration {info.cursor}."
        return (
            f"The weight step of iteration {info.cursor} took {len(info.step)} inner steps and "
            f"ended {info.upper[-1]:.3g} percent above its own lower bound."
        )
