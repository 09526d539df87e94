"""Step size and size of the gradient estimate, on two log axes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, LogAxis, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import number
from mkldash.views._palette import ACCENT, LEVEL
from mkldash.views._reading import Readable, columns, latest, thin
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["StepSizeInfo", "StepSizeView"]

_STEP, _GRADIENT = "step size", "gradient estimate"


class StepSizeInfo(NamedTuple):
    """Numbers of the picture; only what is finite and positive is drawn.

    Attributes
    ----------
    iteration, step : array, shape (n_steps,)
    gradient_iteration, gradient : array, shape (n_gradients,)
    cursor : int
    at : tuple of float
        (step, gradient) at the cursor.
    """

    iteration: Array
    step: Array
    gradient_iteration: Array
    gradient: Array
    cursor: int
    at: tuple[float, float]


class StepSizeView(View):
    """How far each step goes."""

    name = "step-size"
    title = "Step size and gradient"
    needs = frozenset({"step", "gradient", "products"})
    caption = (
        "The step is multiplied by the size of the gradient estimate. The adaptive rule makes "
        "it smaller as gradients add up; the theoretical one keeps it fixed, and small."
    )
    formula = (
        r"\text{adaptive: }\eta_k=s\,\Big(\frac{r-1}{\sum_{j\le k}\lVert G_j\rVert^2}"
        r"\Big)^{1/2}\qquad "
        r"\lVert G_k\rVert=\frac{C}{2m}\quad\text{for a kernel that }m\text{ words mean}\qquad "
        r"r:\ \text{exponent of the potential},\quad s:\ \text{factor on the step}"
    )
    order = 70

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> StepSizeInfo:
        """See `View.prepare`."""
        numbers, step, gradient = columns(trace, "iteration", "step", "gradient")
        with np.errstate(invalid="ignore"):
            steps = np.flatnonzero(np.isfinite(step) & (step > 0))
            gradients = np.flatnonzero(np.isfinite(gradient) & (gradient > 0))
        steps, gradients = steps[thin(len(steps))], gradients[thin(len(gradients))]
        inside = 0 <= k < len(numbers)
        return StepSizeInfo(
            iteration=numbers[steps],
            step=step[steps],
            gradient_iteration=numbers[gradients],
            gradient=gradient[gradients],
            cursor=int(numbers[k]) if inside else 0,
            at=(latest(step, k), latest(gradient, k)) if inside else (math.nan, math.nan),
        )

    def _build(self) -> figure:
        self._x, self._y, self._y2 = Range1d(0, 20), Range1d(1e-3, 1), Range1d(1e-1, 1e2)
        plot = plotting.new_figure(
            self.title, "iteration", "step size (log)", x_range=self._x, y_range=self._y,
            y_axis_type="log", right=64,
        )  # fmt: skip
        plot.extra_y_ranges = {"gradient": self._y2}
        axis = LogAxis(y_range_name="gradient", axis_label="gradient estimate (log)")
        axis.minor_tick_line_color, axis.axis_label_text_font_style = None, "normal"
        plot.add_layout(axis, "right")
        plotting.decades(axis)
        plotting.decades(plot.yaxis[0])
        self._steps = ColumnDataSource({"x": [], "y": []})
        self._gradients = ColumnDataSource({"x": [], "y": []})
        dots = plot.scatter(
            "x", "y", source=self._gradients, y_range_name="gradient", color=LEVEL, size=4,
            alpha=0.8,
        )  # fmt: skip
        line = plot.line("x", "y", source=self._steps, color=ACCENT, line_width=2.5)
        self._cursor = plotting.cursor_line(plot)
        for drawn, name in ((dots, _GRADIENT), (line, _STEP)):
            plotting.add_hover(plot, [drawn], [("iteration", "@x"), (name, "@y{0.000000}")])
        return plot

    def _write(self, info: StepSizeInfo) -> None:
        full = self.full_frames
        plotting.write(self._steps, {"x": info.iteration, "y": info.step}, full=full)
        plotting.write(
            self._gradients, {"x": info.gradient_iteration, "y": info.gradient}, full=full
        )
        ends = [a[-1] for a in (info.iteration, info.gradient_iteration) if len(a)]
        plotting.grow(self._x, plotting.nice_ceiling(max([*ends, info.cursor])))
        for axis, values in ((self._y, info.step), (self._y2, info.gradient)):
            if not len(values):
                continue
            low = 10.0 ** math.floor(math.log10(values.min()))
            high = max(10.0 ** math.ceil(math.log10(values.max()) - 1e-9), 10 * low)
            if (axis.start, axis.end) != (low, high):
                axis.update(start=low, end=high)
        if self._cursor.location != info.cursor:
            self._cursor.location = info.cursor

    @staticmethod
    def marks(info: StepSizeInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        return (
            ("━", ACCENT, f"{_STEP}: {number(info.at[0])}"),
            ("●", LEVEL, f"{_GRADIENT}: {number(info.at[1])}"),
        )

    @staticmethod
    def describe(info: StepSizeInfo) -> str:
        """See `View.describe`."""
        step, gradient = info.at
        if math.isnan(step):
            return "No step has been made yet."
        size = "" if math.isnan(gradient) else f", the gradient estimate's {number(gradient, 4)}"
        return f"At iteration {info.cursor} the step size is {number(step, 4)}{size}."
