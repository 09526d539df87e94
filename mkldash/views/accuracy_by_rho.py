"""Accuracy against rho, beside the plain support vector machine."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, LinearAxis, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import number
from mkldash.views._palette import GHOST, LOWER, UPPER
from mkldash.views._reading import Readable
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["AccuracyByRhoInfo", "AccuracyByRhoView"]


class AccuracyByRhoInfo(NamedTuple):
    """Numbers of the picture; only values of rho that have been computed.

    Attributes
    ----------
    rho : array, shape (n_done,)
    train, test : array, shape (n_done,)
        Percent; test is NaN without test rows.
    vectors : array, shape (n_done,)
        Support vectors.
    plain : tuple of float
        Train and test percent with rho infinite; NaN if unknown.
    window : tuple of float
        First and last rho of the sweep, computed or not.
    planned : int
        Values of rho in the sweep.
    current : float or None
        rho of the shown run.
    """

    rho: Array
    train: Array
    test: Array
    vectors: Array
    plain: tuple[float, float]
    window: tuple[float, float]
    planned: int
    current: float | None


class AccuracyByRhoView(View):
    """Does the neighborhood predict better than the kernel it started from?"""

    name = "accuracy-by-rho"
    title = "Accuracy by ρ"
    needs = frozenset({"rho_sweep"})
    caption = (
        "The same data solved for many ρ: a small ρ lets the learnt kernel stray far from K, a "
        "large one ties it to K, where the plain SVM (dashes across) is met again."
    )
    formula = (
        r"\min_{\theta,\,G\succeq0}\ \max_\alpha\ \mathbf{e}^\top\alpha-\tfrac12a^\top Ga"
        r"+\tfrac{\rho}{2}\lVert G-K_\theta\rVert_F^2\qquad "
        r"a_i=y_i\alpha_i,\quad K_\theta=\sum_k\theta_kK_k\quad\text{(one kernel: }\theta=1)\qquad "
        r"\rho\to\infty:\ G=K_\theta"
    )
    order = 45

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> AccuracyByRhoInfo:
        """See `View.prepare`."""
        sweep, none = scene.sweep, np.empty(0)
        if sweep is None or not len(sweep.rho):
            nothing = (math.nan, math.nan)
            return AccuracyByRhoInfo(none, none, none, none, nothing, (0.1, 10), 0, scene.rho)
        done = np.flatnonzero(~np.isnan(sweep.train))
        return AccuracyByRhoInfo(
            rho=sweep.rho[done],
            train=100 * sweep.train[done],
            test=100 * sweep.test[done],
            vectors=np.asarray(sweep.support_vectors, dtype=np.float64)[done],
            plain=(100 * sweep.plain_train, 100 * sweep.plain_test),
            window=(float(sweep.rho[0]), float(sweep.rho[-1])),
            planned=len(sweep.rho),
            current=scene.rho,
        )

    def _build(self) -> figure:
        self._x, self._y, self._y2 = Range1d(0.1, 10), Range1d(50, 104), Range1d(0, 100)
        plot = plotting.new_figure(
            self.title, "ρ (log): far from K on the left, near it on the right", "accuracy (%)",
            x_range=self._x, y_range=self._y, x_axis_type="log", right=60,
        )  # fmt: skip
        plot.extra_y_ranges = {"vectors": self._y2}
        axis = LinearAxis(y_range_name="vectors", axis_label="support vectors")
        axis.minor_tick_line_color, axis.axis_label_text_font_style = None, "normal"
        plot.add_layout(axis, "right")
        self._source = ColumnDataSource({"x": [], "train": [], "test": [], "vectors": []})
        self._tested = ColumnDataSource({"x": [], "test": []})
        self._plain = {name: ColumnDataSource({"x": [], "y": []}) for name in ("train", "test")}
        plot.line(
            "x", "vectors", source=self._source, y_range_name="vectors", color=GHOST,
            line_width=1.8, line_dash=[2, 3], legend_label="support vectors",
        )  # fmt: skip
        for name, colour in (("train", LOWER), ("test", UPPER)):
            plot.line(
                "x", "y", source=self._plain[name], color=colour, line_width=1.6, alpha=0.9,
                line_dash=[10, 5] if name == "test" else [3, 5], legend_label=f"{name}, plain SVM",
            )  # fmt: skip
        train = plot.line(
            "x", "train", source=self._source, color=LOWER, line_width=2.2, line_dash=[8, 4],
            legend_label="train",
        )  # fmt: skip
        plot.scatter("x", "train", source=self._source, color=LOWER, size=6, marker="square")
        plot.line("x", "test", source=self._tested, color=UPPER, line_width=2.5,
                  legend_label="test")  # fmt: skip
        plot.scatter("x", "test", source=self._tested, color=UPPER, size=7)
        self._cursor = plotting.cursor_line(plot)
        plotting.legend(plot)
        plot.legend[0].ncols = 3
        plotting.add_hover(
            plot, [train],
            [("ρ", "@x"), ("train", "@train{0.0} %"), ("test", "@test{0.0} %"),
             ("support vectors", "@vectors")],
            mode="vline",
        )  # fmt: skip
        return plot

    def _write(self, info: AccuracyByRhoInfo) -> None:
        full = self.full_frames
        columns = {
            "x": info.rho, "train": info.train, "test": info.test, "vectors": info.vectors
        }  # fmt: skip
        plotting.write(self._source, columns, full=full)
        tested = ~np.isnan(info.test)
        plotting.write(self._tested, {"x": info.rho[tested], "test": info.test[tested]}, full=full)
        low, high = info.window
        known = info.current is not None and math.isfinite(info.current)
        if known:
            low, high = min(low, info.current or low), max(high, info.current or high)
        start, end = low / 1.4, high * 1.4
        if (self._x.start, self._x.end) != (start, end):
            self._x.update(start=start, end=end)
        for name, percent in zip(("train", "test"), info.plain, strict=True):
            there = not math.isnan(percent)
            ends = np.array([start, end] if there else [])
            plotting.write(self._plain[name], {"x": ends, "y": np.full(len(ends), percent)})
        values = np.concatenate([info.train, info.test, np.array(info.plain)])
        values = values[np.isfinite(values)]
        if values.size:
            floor = 5 * math.floor(max(0.0, values.min() - 4) / 5)
            top = min(104.0, 5.0 * math.ceil((values.max() + 2) / 5))
            if (self._y.start, self._y.end) != (floor, top):
                self._y.update(start=floor, end=top)
        most = info.vectors[np.isfinite(info.vectors)].max(initial=0.0)
        plotting.grow(self._y2, plotting.nice_ceiling(1.15 * most, 20))
        self._cursor.visible = known
        if known and self._cursor.location != info.current:
            self._cursor.location = info.current

    @staticmethod
    def describe(info: AccuracyByRhoInfo) -> str:
        """See `View.describe`."""
        if not len(info.rho):
            return "No value of ρ has been solved yet."
        name, values, plain = "test", info.test, info.plain[1]
        if np.isnan(values).all():
            name, values, plain = "training", info.train, info.plain[0]
        best = int(np.nanargmax(values))
        text = (
            f"{len(info.rho)} of {info.planned} values of ρ are solved; best {name} accuracy "
            f"{values[best]:.1f} percent, at ρ = {number(info.rho[best])}"
        )
        beside = "" if math.isnan(plain) else f", beside {plain:.1f} percent of the plain SVM"
        return f"{text}{beside}."
