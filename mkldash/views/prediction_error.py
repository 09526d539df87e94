"""Mean squared error on training and test rows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import number
from mkldash.views._palette import GHOST, LOWER, UPPER
from mkldash.views._reading import Readable, columns, thin
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["ErrorInfo", "ErrorView"]

_TRAIN, _TEST, _GHOST = "train", "test", "test, previous run"


class ErrorInfo(NamedTuple):
    """Numbers of the picture; only iterations that were scored.

    Attributes
    ----------
    iteration, train, test : array, shape (n_scored,)
        Mean squared errors, in units of the target squared; test is NaN without test rows.
    ghost_iteration, ghost : array
        Test error of the previous run; empty when there is none.
    cursor : int
    target : str
    """

    iteration: Array
    train: Array
    test: Array
    ghost_iteration: Array
    ghost: Array
    cursor: int
    target: str


class ErrorView(View):
    """Does a smaller objective predict better?"""

    name = "test-error"
    title = "Prediction error"
    needs = frozenset({"train_mse", "test_mse"})
    caption = (
        "Mean squared error of the best point so far, on the rows that were learnt from and on "
        "rows kept aside, in units of the target squared. Scored where iterations are drawn."
    )
    formula = (
        r"\text{MSE}=\frac1m\sum_{i=1}^{m}(y_i-f(x_i))^2\qquad "
        r"f(x)=\sum_z\theta_z\sum_ia_i\,\rho_d^{-2}\,\kappa_z(x_i,x)\qquad "
        r"\kappa_z=\kappa_{z_1}\cdots\kappa_{z_d},\quad\text{offset: }\kappa=1"
    )
    order = 50

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> ErrorInfo:
        """See `View.prepare`."""
        numbers, train, test = columns(trace, "iteration", "train_mse", "test_mse")
        scored = _scored(train, test)
        old_numbers, old = np.empty(0), np.empty(0)
        if scene.ghost is not None:
            old_numbers, old = columns(scene.ghost, "iteration", "test_mse")
            some = _scored(old)
            old_numbers, old = old_numbers[some], old[some]
        return ErrorInfo(
            iteration=numbers[scored],
            train=train[scored],
            test=test[scored],
            ghost_iteration=old_numbers,
            ghost=old,
            cursor=int(numbers[k]) if 0 <= k < len(numbers) else 0,
            target=scene.target,
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(0, 20), Range1d(0, 1)
        plot = plotting.new_figure(
            self.title, "iteration", "mean squared error", x_range=self._x, y_range=self._y
        )
        self._sources = {
            name: ColumnDataSource({"x": [], "y": []}) for name in (_GHOST, _TRAIN, _TEST)
        }
        looks = (
            {"color": GHOST, "line_width": 1.5, "alpha": 0.75},
            {"color": LOWER, "line_width": 2.2, "line_dash": [8, 4]},
            {"color": UPPER, "line_width": 2.5},
        )
        for (name, source), look in zip(self._sources.items(), looks, strict=True):
            line = plot.line("x", "y", source=source, legend_label=name, **look)
            plotting.add_hover(
                plot, [line], [("iteration", "@x"), (name, "@y{0,0.0000}")],
                attachment="below" if name == _TRAIN else "above",
            )  # fmt: skip
        self._cursor = plotting.cursor_line(plot)
        plotting.legend(plot)
        return plot

    def _write(self, info: ErrorInfo) -> None:
        curves = {
            _GHOST: (info.ghost_iteration, info.ghost),
            _TRAIN: (info.iteration, info.train),
            _TEST: (info.iteration, info.test),
        }
        for name, (x, y) in curves.items():
            there = np.isfinite(y)
            plotting.write(self._sources[name], {"x": x[there], "y": y[there]},
                           full=self.full_frames)  # fmt: skip
            plotting.legend_shows(self.figure(), name, bool(there.any()))
        ends = [float(x[-1]) for x, _ in curves.values() if len(x)]
        plotting.grow(self._x, plotting.nice_ceiling(max([*ends, info.cursor])))
        values = np.concatenate([y for _, y in curves.values()])
        values = values[np.isfinite(values)]
        if values.size:
            plotting.fit(self._y, 0.0, float(values.max()) * 1.05)
        label = f"squared error of {info.target}" if info.target else "mean squared error"
        side = self.figure().yaxis[0]
        if side.axis_label != label:
            side.axis_label = label
        if self._cursor.location != info.cursor:
            self._cursor.location = info.cursor

    @staticmethod
    def describe(info: ErrorInfo) -> str:
        """See `View.describe`."""
        before = np.flatnonzero(info.iteration <= info.cursor)
        if not len(before):
            return "No iteration scored yet."
        i = before[-1]
        test = "" if math.isnan(info.test[i]) else f", {number(info.test[i], 4)} on test rows"
        return (
            f"At iteration {int(info.iteration[i])}: mean squared error "
            f"{number(info.train[i], 4)} on training rows{test}."
        )


def _scored(*errors: Array) -> NDArray[np.intp]:
    known = np.flatnonzero(~np.all([np.isnan(values) for values in errors], axis=0))
    return known[thin(len(known))]
