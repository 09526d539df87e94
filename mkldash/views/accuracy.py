"""Training and test accuracy, and the number of support vectors."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, LinearAxis, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._palette import GHOST, LOWER, UPPER
from mkldash.views._reading import Readable, columns, thin
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["AccuracyInfo", "AccuracyView"]


class AccuracyInfo(NamedTuple):
    """Numbers of the picture; only iterations that were scored.

    Attributes
    ----------
    iteration : array, shape (n_scored,)
    train, test : array, shape (n_scored,)
        Percent of rows classified correctly; NaN without test rows.
    vectors : array, shape (n_scored,)
        Support vectors.
    cursor : int
    """

    iteration: Array
    train: Array
    test: Array
    vectors: Array
    cursor: int


class AccuracyView(View):
    """Does a smaller objective predict better?"""

    name = "accuracy"
    title = "Accuracy and support vectors"
    needs = frozenset({"train_accuracy", "support_vectors"})
    caption = (
        "Rows classified correctly, and how many training rows define the boundary. "
        "Scored for the iterations that are drawn."
    )
    formula = (
        r"\text{class of }x:\ \operatorname{sign}f(x)\qquad "
        r"f(x)=\sum_k\theta_k\sum_i\alpha_iy_iK_k(x_i,x)+b\qquad "
        r"\text{support vectors: }\alpha_i>0"
    )
    order = 50

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> AccuracyInfo:
        """See `View.prepare`."""
        numbers, train, test, vectors = columns(
            trace, "iteration", "train_accuracy", "test_accuracy", "support_vectors"
        )
        scored = np.flatnonzero(~np.isnan(train))
        scored = scored[thin(len(scored))]
        return AccuracyInfo(
            iteration=numbers[scored],
            train=100 * train[scored],
            test=100 * test[scored],
            vectors=vectors[scored],
            cursor=int(numbers[k]) if 0 <= k < len(numbers) else 0,
        )

    def _build(self) -> figure:
        self._x, self._y, self._y2 = Range1d(0, 20), Range1d(50, 104), Range1d(0, 100)
        plot = plotting.new_figure(
            self.title, "iteration", "accuracy (%)", x_range=self._x, y_range=self._y, right=60
        )
        self._source = ColumnDataSource({"x": [], "train": [], "test": [], "vectors": []})
        self._tested = ColumnDataSource({"x": [], "test": []})
        plot.extra_y_ranges = {"vectors": self._y2}
        axis = LinearAxis(y_range_name="vectors", axis_label="support vectors")
        axis.minor_tick_line_color = None
        plot.add_layout(axis, "right")
        plot.step(
            "x", "vectors", source=self._source, y_range_name="vectors", color=GHOST,
            line_width=1.8, line_dash=[2, 3], mode="after", legend_label="support vectors",
        )  # fmt: skip
        line = plot.line(
            "x", "train", source=self._source, color=LOWER, line_width=2.2, line_dash=[8, 4],
            legend_label="train",
        )  # fmt: skip
        plot.line("x", "test", source=self._tested, color=UPPER, line_width=2.5,
                  legend_label="test")  # fmt: skip
        self._cursor = plotting.cursor_line(plot)
        plotting.legend(plot)
        plotting.add_hover(
            plot, [line],
            [("iteration", "@x"), ("train", "@train{0.0} %"), ("test", "@test{0.0} %"),
             ("support vectors", "@vectors")],
            mode="vline",
        )  # fmt: skip
        return plot

    def _write(self, info: AccuracyInfo) -> None:
        columns = {
            "x": info.iteration, "train": info.train, "test": info.test, "vectors": info.vectors
        }  # fmt: skip
        plotting.write(self._source, columns, full=self.full_frames)
        # A curve without data has no place in the legend.
        there = len(info.test) and not np.isnan(info.test).all()
        tested = {"x": info.iteration, "test": info.test} if there else {
            "x": np.empty(0), "test": np.empty(0)
        }  # fmt: skip
        plotting.write(self._tested, tested, full=self.full_frames)
        plotting.legend_shows(self.figure(), "test", bool(there))
        end = max(float(info.iteration[-1]) if len(info.iteration) else 0.0, info.cursor)
        plotting.grow(self._x, plotting.nice_ceiling(end))
        values = np.concatenate([info.train, info.test])
        values = values[np.isfinite(values)]
        if values.size:
            low = 10 * math.floor(max(0.0, values.min() - 12) / 10)
            if self._y.start != low:
                self._y.update(start=low, end=104)
        most = info.vectors[np.isfinite(info.vectors)].max(initial=0.0)
        plotting.grow(self._y2, plotting.nice_ceiling(1.15 * most, 20))
        if self._cursor.location != info.cursor:
            self._cursor.location = info.cursor

    @staticmethod
    def describe(info: AccuracyInfo) -> str:
        """See `View.describe`."""
        before = np.flatnonzero(info.iteration <= info.cursor)
        if not len(before):
            return "No iteration scored yet."
        i = before[-1]
        test = "" if math.isnan(info.test[i]) else f", test accuracy {info.test[i]:.1f} percent"
        return (
            f"At iteration {int(info.iteration[i])}: training accuracy {info.train[i]:.1f} "
            f"percent{test}, {info.vectors[i]:.0f} support vectors."
        )
