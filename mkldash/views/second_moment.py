"""Second moment of the gradient estimate: the ideal law against drawing uniformly."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._log import LogCurves, log_curves
from mkldash.views._names import number
from mkldash.views._palette import ACCENT, UPPER
from mkldash.views._reading import Readable, columns, latest, thin
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["SecondMomentInfo", "SecondMomentView"]

_IDEAL, _UNIFORM = "ideal law", "uniform law"


class SecondMomentInfo(NamedTuple):
    """Numbers of the picture; only iterations at which a moment was computed.

    Attributes
    ----------
    iteration : array, shape (n_drawn,)
    curves : LogCurves
        Of the ideal law, then of the uniform law; what is drawn.
    cursor : int
    at : tuple of float
        (ideal, uniform) as last computed at the cursor.
    draws : int
        0 where both are exact, else of how many draws they are the mean.
    """

    iteration: Array
    curves: LogCurves
    cursor: int
    at: tuple[float, float]
    draws: int = 0


class SecondMomentView(View):
    """Why products are drawn by how much they matter."""

    name = "second-moment"
    title = "Noise of the gradient estimate"
    needs = frozenset({"moment_ideal", "moment_uniform"})
    caption = (
        "How large a random gradient is on average (squared), when products are drawn in "
        "proportion to the gradient and when every word is as likely: smaller is better."
    )
    formula = (
        r"\mathbb{E}\lVert G\rVert^2=\sum_z q_z\Big(\frac{u_z}{2m_zq_z}\Big)^{2},\quad "
        r"G=-\frac{u_z}{2m_zq_z}\,e_z\ \text{with probability }q_z\qquad "
        r"\text{ideal: }q_z=\frac{u_z}{C}:\ \tfrac14\,C\sum_z\frac{u_z}{m_z^2}\qquad "
        r"\text{uniform: }q_z=\frac{1}{|I|}:\ \tfrac14\,|I|\sum_z\frac{u_z^2}{m_z^2}\qquad "
        r"u_z=\rho_d^{-2}\,a^\top K_za,\quad C=\sum_zu_z,\quad "
        r"m_z:\ \text{orders of the word that are one kernel (}p=1\text{), else }1"
    )
    order = 60

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> SecondMomentInfo:
        """See `View.prepare`."""
        numbers, ideal, uniform, draws = columns(
            trace, "iteration", "moment_ideal", "moment_uniform", "moment_draws"
        )
        count = latest(draws, k)
        known = np.flatnonzero(~(np.isnan(ideal) & np.isnan(uniform)))
        known = known[thin(len(known))]
        return SecondMomentInfo(
            iteration=numbers[known],
            curves=log_curves({_IDEAL: ideal[known], _UNIFORM: uniform[known]}),
            cursor=int(numbers[k]) if 0 <= k < len(numbers) else 0,
            at=(latest(ideal, k), latest(uniform, k)),
            draws=0 if math.isnan(count) else int(count),
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(0, 20), Range1d(1e-2, 1e2)
        plot = plotting.new_figure(
            self.title, "iteration", "mean squared size (log)",
            x_range=self._x, y_range=self._y, y_axis_type="log",
        )  # fmt: skip
        plotting.decades(plot.yaxis[0])
        self._lines: list[ColumnDataSource] = []
        for name, colour, dash in ((_IDEAL, ACCENT, "solid"), (_UNIFORM, UPPER, [8, 4])):
            source = ColumnDataSource({"x": [], "y": []})
            line = plot.line(
                "x", "y", source=source, color=colour, line_width=2.5, line_dash=dash,
                legend_label=name,
            )  # fmt: skip
            # One value makes no line.
            dots = plot.scatter("x", "y", source=source, color=colour, size=4)
            plotting.add_hover(
                plot, [line, dots], [("iteration", "@x"), (name, "@y{0,0.0000}")],
            )  # fmt: skip
            self._lines.append(source)
        self._cursor = plotting.cursor_line(plot)
        plotting.legend(plot)
        return plot

    def _write(self, info: SecondMomentInfo) -> None:
        for source, curve in zip(self._lines, info.curves.curves, strict=True):
            x = info.iteration[curve.x.astype(np.intp)]
            plotting.write(source, {"x": x, "y": curve.drawn}, full=self.full_frames)
        end = max(float(info.iteration[-1]) if len(info.iteration) else 0.0, info.cursor)
        plotting.grow(self._x, plotting.nice_ceiling(end))
        ends = (info.curves.floor, info.curves.ceiling)
        if (self._y.start, self._y.end) != ends:
            self._y.update(start=ends[0], end=ends[1])
        if self._cursor.location != info.cursor:
            self._cursor.location = info.cursor

    @staticmethod
    def describe(info: SecondMomentInfo) -> str:
        """See `View.describe`."""
        text = _said(info)
        if info.draws:
            text += f" Estimated from {info.draws} draws, as there are too many to evaluate."
        return text


def _said(info: SecondMomentInfo) -> str:
    ideal, uniform = info.at
    if math.isnan(ideal) and math.isnan(uniform):
        return "The second moments are not known at this iteration."
    if math.isnan(uniform) or math.isnan(ideal):
        name, value = ("ideal", ideal) if math.isnan(uniform) else ("uniform", uniform)
        return (
            f"At iteration {info.cursor} the second moment under the {name} law is "
            f"{number(value, 4)}; the other is not known."
        )
    times = f"{number(uniform / ideal)} times" if ideal > 0 else "more than"
    return (
        f"At iteration {info.cursor} the second moment is {number(ideal, 4)} under the ideal "
        f"law and {number(uniform, 4)} under the uniform one, {times} as much."
    )
