"""Objective of the iterate and of its averages, and the bounds that certify them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import number
from mkldash.views._palette import ACCENT, INK, LEVEL
from mkldash.views._reading import Readable, columns, field, latest, thin
from mkldash.views.base import EMPTY, Scene
from mkldash.views.bounds import BoundsInfo, BoundsView, window

Array = NDArray[np.float64]

__all__ = ["ObjectiveBoundsInfo", "ObjectiveBoundsView"]

#: Where a log axis of iterations has its 0.
_ZERO = 0.6

#: Snapshots after which the start may leave the picture.
_SETTLED = 5

_ITERATE, _LATE, _FULL = "iterate", "average of late iterates", "average of all"


class ObjectiveBoundsInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    bounds : BoundsInfo
        Upper and lower bound, cursor, previous run.
    objective : array, shape (n_drawn,)
        Of the iterate, at the iterations of `bounds`.
    certified : array, shape (n_certified,)
        Iterations after the start that evaluated the averages.
    average, full_average : array, shape (n_certified,)
        Objective of the average of late iterates, and of all iterates.
    at : tuple of float
        (iterate, average, average of all) at the cursor, the averages as last evaluated.
    certificate : str
        What kind the latest lower bound is of; empty before the first.
    """

    bounds: BoundsInfo
    objective: Array
    certified: Array
    average: Array
    full_average: Array
    at: tuple[float, float, float]
    certificate: str


class ObjectiveBoundsView(BoundsView):
    """The certificate of a randomized run: the average is the answer.

    Parameters
    ----------
    log_x : bool
        Iterations on a log axis: a run falls fast first and then slowly.
    """

    name = "objective-bounds"
    title = "Objective and certified bounds"
    needs = frozenset({"upper", "lower", "average_objective", "full_average_objective"})
    caption = (
        "The iterate jumps, as each step is random; its average settles. The optimum lies "
        "between upper and lower bound, which are evaluated every so many steps."
    )
    formula = (
        r"J(\theta)=\max_a\ a^\top y-\tfrac12\lVert a\rVert^2-\tfrac12a^\top K_\theta a\qquad "
        r"\text{upper}=\text{least }J\text{ evaluated}\qquad "
        r"\text{lower}=\max_a\ a^\top y-\tfrac12\lVert a\rVert^2-\tfrac12\lVert u\rVert_{\nu^*},"
        r"\quad u_z=\rho_d^{-2}\,a^\top K_za\qquad "
        r"\nu^*=\frac{\nu}{\nu-1},\quad p=1:\ \lVert u\rVert_{\nu^*}=\max_zu_z\qquad "
        r"\text{a search that stops early still bounds }\max_zu_z\text{ from above}"
    )
    order = 10
    replaces = "bounds"

    def __init__(self, *, log_x: bool = True) -> None:
        super().__init__()
        self.log_x = log_x

    @staticmethod
    def prepare(  # type: ignore[override]
        trace: Readable, k: int, scene: Scene = EMPTY
    ) -> ObjectiveBoundsInfo:
        """See `View.prepare`."""
        bounds = BoundsView.prepare(trace, k, scene)
        numbers, objective, average, full, certified = columns(
            trace, "iteration", "objective", "average_objective", "full_average_objective",
            "certified",
        )  # fmt: skip
        inside = 0 <= k < len(numbers)
        # The trace may have grown since: what is drawn along the bounds has their length.
        kept = np.searchsorted(numbers, bounds.iteration)
        # In between, snapshots carry on what was evaluated last.
        # At the start there is nothing to average.
        fresh = (certified == 1) & (numbers > 0)
        seen = np.flatnonzero(fresh & ~(np.isnan(average) & np.isnan(full)))
        seen = seen[thin(len(seen))]
        shown = objective[kept]
        kind = field(trace, k, "certificate") if inside else None
        return ObjectiveBoundsInfo(
            bounds=bounds._replace(window=_window(bounds, shown)),
            objective=shown,
            certified=numbers[seen],
            average=average[seen],
            full_average=full[seen],
            at=(
                (float(objective[k]), latest(average, k), latest(full, k))
                if inside
                else (math.nan,) * 3
            ),
            certificate=str(kind or ""),
        )

    def _axes(self) -> figure:
        if not self.log_x:
            return super()._axes()
        self._x, self._y = Range1d(_ZERO * 0.9, 20), Range1d(0, 1)
        plot = plotting.new_figure(
            self.title, "iteration (log)", "objective value",
            x_range=self._x, y_range=self._y, x_axis_type="log",
        )  # fmt: skip
        powers = [_ZERO, *(10**i for i in range(7))]
        plot.xaxis.ticker = FixedTicker(ticks=powers)
        plot.xaxis.major_label_overrides = {_ZERO: "0", **{10**i: f"{10**i:,}" for i in range(7)}}
        return plot

    def _along(self, iterations: Array) -> Array:
        return np.maximum(iterations, _ZERO) if self.log_x else iterations

    def _reach(self, last: float) -> None:
        if self.log_x:
            plotting.grow(self._x, 1.15 * plotting.nice_ceiling(last))
        else:
            super()._reach(last)

    def _build(self) -> figure:
        self._iterate = ColumnDataSource({"x": [], "y": []})
        self._averages = {
            name: ColumnDataSource({"x": [], "y": [], "number": []}) for name in (_LATE, _FULL)
        }
        plot = super()._build()
        plot.line(
            "x", "y", source=self._iterate, color=INK, line_width=1.2, alpha=0.75,
            legend_label=_ITERATE,
        )  # fmt: skip
        for (name, source), colour, dash in zip(
            self._averages.items(), (ACCENT, LEVEL), ([], [2, 3]), strict=True
        ):
            line = plot.line(
                "x", "y", source=source, color=colour, line_width=2.5,
                line_dash=dash or "solid", legend_label=name,
            )  # fmt: skip
            dots = plot.scatter("x", "y", source=source, color=colour, size=5)
            plotting.add_hover(
                plot, [line, dots], [("iteration", "@number"), (name, "@y{0,0.0000}")],
                attachment="below",
            )  # fmt: skip
        plot.legend[0].ncols = 3
        return plot

    def _write(self, info: ObjectiveBoundsInfo) -> None:  # type: ignore[override]
        super()._write(info.bounds)
        full = self.full_frames
        iterate = {"x": self._along(info.bounds.iteration), "y": info.objective}
        plotting.write(self._iterate, iterate, full=full)
        for name, values in ((_LATE, info.average), (_FULL, info.full_average)):
            there = np.isfinite(values)
            numbers = info.certified[there]
            drawn = {"x": self._along(numbers), "y": values[there], "number": numbers}
            plotting.write(self._averages[name], drawn, full=full)
            plotting.legend_shows(self.figure(), name, bool(there.any()))

    @staticmethod
    def describe(info: ObjectiveBoundsInfo) -> str:  # type: ignore[override]
        """See `View.describe`."""
        text = BoundsView.describe(info.bounds)
        iterate, average, full = info.at
        if math.isfinite(iterate):
            text += f" The iterate has objective {number(iterate, 6)}"
            if math.isfinite(average):
                text += f", the average of late iterates {number(average, 6)}"
            if math.isfinite(full):
                text += f", that of all {number(full, 6)}"
            text += "."
        if info.certificate:
            text += f" Kind of the lower bound: {info.certificate}."
        return text


def _window(bounds: BoundsInfo, objective: Array) -> tuple[float, float]:
    """Values worth showing: the start lies so high that the rest would be a flat line."""
    some = slice(1 if len(objective) > _SETTLED else 0, None)
    low, top = window(bounds.upper[some], bounds.lower[some])
    if not some.start:
        low = min(low, float(np.nan_to_num(bounds.lower, posinf=low, nan=low).min(initial=low)))
    finite = objective[some][np.isfinite(objective[some])]
    return low, max(top, float(finite.max(initial=top)))
