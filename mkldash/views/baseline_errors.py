"""Test error of the running method and of every baseline, on one axis."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d, Span
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import cut, number
from mkldash.views._palette import ACCENT, INK, LOWER
from mkldash.views._reading import Readable, columns, latest
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["BaselineErrorsInfo", "BaselineErrorsView"]

_LONGEST_NAME = 26
_FEWEST = 5

#: An error beyond so many times the least one is drawn at the edge, with its number.
_FAR = 8.0

#: The shown run's own error is in range up to so many times the least one.
_OWN_FAR = 40.0

#: What a number takes of the width.
_ROOM = 0.2

_DOTS = ("x", "y", "name", "mse", "objective", "note", "colour", "size", "marker", "angle")


class BaselineErrorsInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    names : tuple of str
        The running method first, then the baselines in their order.
    mse : array, shape (n_methods,)
        Test errors, in units of the target squared; NaN where not known.
    objective : array, shape (n_methods,)
        NaN where a method minimises something else, or nothing.
    notes : tuple of str
    waiting : array of bool, shape (n_methods,)
        Whether the error is still to come.
    cursor : int
    target : str
    """

    names: tuple[str, ...]
    mse: Array
    objective: Array
    notes: tuple[str, ...]
    waiting: NDArray[np.bool_]
    cursor: int
    target: str


class BaselineErrorsView(View):
    """Is it worth the trouble?"""

    name = "baseline-errors"
    title = "Test error by method"
    needs = frozenset({"test_mse", "baselines"})
    caption = (
        "Mean squared error on the same test rows, smaller is better. The green dot is this run's "
        "best point up to the cursor and moves; the dashed line carries it down to the others."
    )
    formula = (
        r"\text{test error}=\frac1m\sum_{i=1}^{m}(y_i-f(x_i))^2"
        r"\quad\text{on rows that no method has seen}"
    )
    order = 24

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> BaselineErrorsInfo:
        """See `View.prepare`."""
        numbers, test, objective = columns(trace, "iteration", "test_mse", "objective")
        inside = 0 <= k < len(numbers)
        others = scene.baselines
        return BaselineErrorsInfo(
            names=(scene.solver or "this run", *(one.title for one in others)),
            mse=np.array([latest(test, k), *(one.test_mse for one in others)]),
            objective=np.array(
                [objective[k] if inside else math.nan, *(one.objective for one in others)]
            ),
            notes=("at the cursor", *(one.note for one in others)),
            waiting=np.array(
                [False, *(math.isnan(one.test_mse) and not one.done for one in others)]
            ),
            cursor=int(numbers[k]) if inside else 0,
            target=scene.target,
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(0, 1), Range1d(_FEWEST - 0.4, -0.6)
        plot = plotting.new_figure(
            self.title, "test error (mean squared)", "", x_range=self._x, y_range=self._y,
            left=176, height=340, right=30,
        )  # fmt: skip
        self._dots = ColumnDataSource({c: [] for c in _DOTS})
        self._words = ColumnDataSource({"x": [], "y": [], "text": [], "align": [], "shift": []})
        self._line = Span(
            location=0, dimension="height", line_color=ACCENT, line_width=1.5, line_dash=[5, 4],
            visible=False,
        )  # fmt: skip
        plot.add_layout(self._line)
        dots = plot.scatter(
            "x", "y", source=self._dots, marker="marker", size="size", color="colour",
            angle="angle",
        )  # fmt: skip
        plot.text(
            "x", "y", "text", source=self._words, color=INK, text_baseline="middle",
            text_font_size="12px", text_align="align", x_offset="shift",
        )  # fmt: skip
        plot.ygrid.grid_line_color = "#88888840"
        plot.ygrid.grid_line_dash = [1, 3]
        plot.yaxis.major_tick_out = plot.yaxis.major_tick_in = 0
        plotting.add_hover(
            plot, [dots],
            [("method", "@name"), ("test error", "@mse"), ("objective", "@objective"),
             ("", "@note")],
        )  # fmt: skip
        self._labels: tuple[str, ...] = ()
        return plot

    def _write(self, info: BaselineErrorsInfo) -> None:
        n = len(info.names)
        start, end = self._fit(info)
        known = np.isfinite(info.mse)
        far = known & (info.mse > end)
        x = np.where(far, end - 0.015 * (end - start), info.mse)
        marker = np.full(n, "circle", dtype=object)
        marker[0], marker[far] = "diamond", "triangle"
        plotting.write(
            self._dots,
            {
                "x": x[known],
                "y": np.flatnonzero(known).astype(np.float64),
                "name": np.array(info.names, dtype=object)[known],
                "mse": np.array([number(v, 4) for v in info.mse], dtype=object)[known],
                "objective": np.array([_or_none(v) for v in info.objective], dtype=object)[known],
                "note": np.array(info.notes, dtype=object)[known],
                "colour": np.array([ACCENT, *[LOWER] * (n - 1)], dtype=object)[known],
                "size": np.array([17.0, *[10.0] * (n - 1)])[known],
                "marker": marker[known],
                "angle": np.where(far, -0.5 * np.pi, 0.0)[known],
            },
            full=True,
        )
        place = (x - start) / (end - start)
        # A number stands right of its dot where there is room, and off the dashed line.
        crossed = (place < place[0]) & (place + _ROOM > place[0]) & (place > _ROOM)
        inner = known & ((place > 1 - _ROOM) | crossed)
        words = [_said(info, i) for i in range(n)]
        plotting.write(
            self._words,
            {
                "x": np.where(known, x, start),
                "y": np.arange(n, dtype=np.float64),
                "text": np.array(words, dtype=object),
                "align": np.where(inner, "right", "left").astype(object),
                "shift": np.where(inner, -13.0, np.where(known, 13.0, 6.0)),
            },
            full=True,
        )
        here = bool(known[0]) and n > 1 and float(x[0]) == float(info.mse[0])
        self._line.update(visible=here, **({"location": float(x[0])} if here else {}))
        self._label(info)

    def _fit(self, info: BaselineErrorsInfo) -> tuple[float, float]:
        values = info.mse[np.isfinite(info.mse)]
        if values.size:
            least = max(float(values.min()), 1e-300)
            near = values[values <= _FAR * least]
            if info.mse[0] <= _OWN_FAR * least:
                near = np.append(near, info.mse[0])
            pad = 0.12 * (near.max() - near.min()) or 0.1 * near.max()
            plotting.fit(self._x, max(0.0, float(near.min() - pad)), float(near.max() + pad))
        return float(self._x.start), float(self._x.end)

    def _label(self, info: BaselineErrorsInfo) -> None:
        plot, label = self.figure(), "test error (mean squared)"
        if info.target:
            label = f"test error: mean squared, {info.target}"
        if plot.xaxis[0].axis_label != label:
            plot.xaxis[0].axis_label = label
        if info.names == self._labels:
            return
        self._labels = info.names
        n = len(info.names)
        plot.yaxis[0].ticker = FixedTicker(ticks=list(range(n)))
        plot.ygrid[0].ticker = FixedTicker(ticks=list(range(n)))
        plot.yaxis[0].major_label_overrides = {
            i: cut(name, _LONGEST_NAME) for i, name in enumerate(info.names)
        }
        self._y.start = max(n, _FEWEST) - 0.4

    @staticmethod
    def marks(info: BaselineErrorsInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        found = [("◆", ACCENT, f"{info.names[0]}, iteration {info.cursor}"),
                 ("●", LOWER, "other methods")]  # fmt: skip
        if info.waiting.any():
            found.append(("", "", f"{np.count_nonzero(info.waiting)} still being computed"))
        return tuple(found)

    @staticmethod
    def describe(info: BaselineErrorsInfo) -> str:
        """See `View.describe`."""
        mine = info.mse[0]
        if math.isnan(mine):
            text = "The test error of this run is not known."
        else:
            text = f"{info.names[0]} has test error {number(mine, 4)} at iteration {info.cursor}."
        others = [i for i in np.argsort(info.mse[1:]) + 1 if not math.isnan(info.mse[i])]
        if others:
            beside = ", ".join(f"{info.names[i]}: {number(info.mse[i], 4)}" for i in others)
            text += f" Other methods, best first: {beside}."
        waiting = [info.names[i] for i in np.flatnonzero(info.waiting)]
        return f"{text} Still being computed: {', '.join(waiting)}." if waiting else text


def _or_none(value: float) -> str:
    return "another one" if math.isnan(value) else number(value, 5)


def _said(info: BaselineErrorsInfo, i: int) -> str:
    """What stands beside a dot, or in place of it."""
    if math.isnan(info.mse[i]):
        return "computing …" if info.waiting[i] else "no test error"
    return number(info.mse[i], 4)
