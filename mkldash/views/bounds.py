"""Upper and lower bound on the optimal value, closing in on each other."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import apart
from mkldash.views._palette import ALERT, CURSOR, GHOST, LOWER, UPPER
from mkldash.views._reading import Readable, columns, is_violated, thin
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["BoundsInfo", "BoundsView", "window"]


class BoundsInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    iteration, upper, lower : array, shape (n_drawn,)
        Best bounds so far.
    cursor : int
        Iteration under the shared cursor.
    at : tuple of float
        (upper, lower) there.
    broken : array, shape (n_broken,)
        Iterations whose lower bound lies above the upper one.
    ghost_iteration, ghost_upper, ghost_lower : array
        The previous run; empty when there is none.
    window : tuple of float
        Values worth showing: a lower bound far below zero is cut off.
    level : array, shape (n_drawn,)
        Of a level method, NaN where it has none; empty for other solvers.
    level_at : float
        At the cursor.
    model : array, shape (n_drawn,)
        The bound of the model: an upper one with the neighborhood's level method, a lower
        one with cuts over the kernel weights; NaN where it has none, empty for other solvers.
    newest : array, shape (n_drawn,)
        The lower bound of the newest cut over the kernel weights alone; empty for
        solvers without such cuts.
    """

    iteration: Array
    upper: Array
    lower: Array
    cursor: int
    at: tuple[float, float]
    broken: Array
    ghost_iteration: Array
    ghost_upper: Array
    ghost_lower: Array
    window: tuple[float, float]
    level: Array = np.empty(0)
    level_at: float = math.nan
    model: Array = np.empty(0)
    newest: Array = np.empty(0)


def window(upper: Array, lower: Array) -> tuple[float, float]:
    """Values worth showing: a lower bound far below zero is cut off.

    Parameters
    ----------
    upper, lower : array, shape (n,)

    Returns
    -------
    low, high : float
    """
    finite_upper, finite_lower = upper[np.isfinite(upper)], lower[np.isfinite(lower)]
    if not finite_upper.size:
        return 0.0, 1.0
    top, best = float(finite_upper.max()), float(finite_upper.min())
    reach = max(top - best, 0.05 * abs(best), 1e-12)
    floor = best - 1.6 * reach
    if finite_lower.size:
        return max(float(finite_lower.min()), floor), top
    return floor, top


class BoundsView(View):
    """The certificate: the optimum lies between two curves."""

    name = "bounds"
    title = "Upper and lower bound"
    needs = frozenset({"upper", "lower"})
    caption = (
        "The best value that is possible lies between the two curves. "
        "When they meet, nothing is left to gain."
    )
    formula = (
        r"\text{upper}=\tfrac12\sum_k\theta_k u_k+C\sum_i\max(0,\,1-y_if(x_i))\qquad "
        r"\text{lower}=\mathbf{e}^\top\alpha-\tfrac12\max_{\theta'\in\Theta}u^\top\theta'\qquad "
        r"u_k=a^\top K_ka,\quad a_i=y_i\alpha_i"
    )
    order = 10
    every_frame = True

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> BoundsInfo:
        """See `View.prepare`."""
        numbers, upper, lower, level, over, under, newest = columns(
            trace, "iteration", "upper", "lower", "level", "model_upper", "model_lower",
            "newest_lower",
        )  # fmt: skip
        model = np.where(np.isnan(over), under, over)
        modelled = not np.isnan(model).all()
        kept = thin(len(upper))
        aimed, cuts = not np.isnan(level).all(), not np.isnan(newest).all()
        empty = np.empty(0)
        ghost: tuple[Array, Array, Array] = (empty, empty, empty)
        if scene.ghost is not None and len(scene.ghost):
            old, old_upper, old_lower = columns(scene.ghost, "iteration", "upper", "lower")
            g = thin(len(old))
            ghost = (old[g], old_upper[g], old_lower[g])
        inside = 0 <= k < len(upper)
        return BoundsInfo(
            iteration=numbers[kept],
            upper=upper[kept],
            lower=lower[kept],
            cursor=int(numbers[k]) if inside else 0,
            at=(float(upper[k]), float(lower[k])) if inside else (math.nan, math.nan),
            broken=numbers[np.flatnonzero(is_violated(upper, lower))],
            ghost_iteration=ghost[0],
            ghost_upper=ghost[1],
            ghost_lower=ghost[2],
            window=window(upper, lower),
            level=level[kept] if aimed else empty,
            level_at=float(level[k]) if inside else math.nan,
            model=np.where(np.isfinite(model), model, np.nan)[kept] if modelled else empty,
            newest=newest[kept] if cuts else empty,
        )

    def _axes(self) -> figure:
        """The empty figure, iterations along x."""
        self._x, self._y = Range1d(0, 20), Range1d(0, 1)
        return plotting.new_figure(
            self.title, "iteration", "objective value", x_range=self._x, y_range=self._y
        )

    def _along(self, iterations: Array) -> Array:
        """Where iterations are drawn."""
        return iterations

    def _reach(self, last: float) -> None:
        """Make room up to iteration `last`."""
        plotting.grow(self._x, plotting.nice_ceiling(last))

    def _build(self) -> figure:
        plot = self._axes()
        self._run = ColumnDataSource({"x": [], "number": [], "upper": [], "lower": []})
        self._ghost = ColumnDataSource({"x": [], "upper": [], "lower": []})
        self._at = ColumnDataSource({"x": [], "y": [], "name": [], "gap": []})
        self._broken = ColumnDataSource({"x": [], "y": []})
        plot.varea("x", "lower", "upper", source=self._run, color=LOWER, alpha=0.12)
        faint = {
            "source": self._ghost, "color": GHOST, "line_width": 1.5, "alpha": 0.75,
            "legend_label": "previous run",
        }  # fmt: skip
        plot.line("x", "lower", **faint)
        plot.line("x", "upper", line_dash=[8, 4], **faint)
        upper = plot.line(
            "x", "upper", source=self._run, color=UPPER, line_width=2.5, line_dash=[8, 4],
            legend_label="upper bound",
        )  # fmt: skip
        plot.line(
            "x", "lower", source=self._run, color=LOWER, line_width=2.5,
            legend_label="lower bound",
        )  # fmt: skip
        plot.scatter("x", "y", source=self._at, size=9, color=CURSOR)
        plot.scatter("x", "y", source=self._broken, size=14, marker="x", color=ALERT, line_width=3)
        self._cursor = plotting.cursor_line(plot)
        plotting.legend(plot)
        plotting.add_hover(
            plot,
            [upper],
            [("iteration", "@number"), ("upper bound", "@upper{0,0.0000}"),
             ("lower bound", "@lower{0,0.0000}")],
            mode="vline",
        )  # fmt: skip
        return plot

    def _write(self, info: BoundsInfo) -> None:
        x = self._along(info.iteration)
        run = {"x": x, "number": info.iteration, "upper": info.upper, "lower": info.lower}
        plotting.write(self._run, run, full=self.full_frames)
        old = self._along(info.ghost_iteration)
        ghost = {"x": old, "upper": info.ghost_upper, "lower": info.ghost_lower}
        plotting.write(self._ghost, ghost, full=self.full_frames)
        plotting.legend_shows(self.figure(), "previous run", len(info.ghost_iteration) > 0)
        ends = [a[-1] for a in (info.iteration, info.ghost_iteration) if len(a)]
        self._reach(max(ends, default=0))
        low, high = info.window
        plotting.fit(self._y, low, high + 0.14 * (high - low))
        here = self._along(np.full(2, float(info.cursor)))
        plotting.write(self._at, {"x": here, "y": np.array(info.at)}, full=self.full_frames)
        if self._cursor.location != here[0]:
            self._cursor.location = float(here[0])
        spots = np.isin(info.iteration, info.broken)
        broken = {"x": x[spots], "y": info.lower[spots]}
        plotting.write(self._broken, broken, full=self.full_frames)

    @staticmethod
    def describe(info: BoundsInfo) -> str:
        """See `View.describe`."""
        if not len(info.iteration):
            return "No iteration yet."
        upper, lower = info.at
        text = (
            f"At iteration {info.cursor} the optimum is certified to lie between "
            f"{' and '.join(apart(lower, upper))}."
        )
        if len(info.broken):
            text += f" A bound is VIOLATED at {len(info.broken)} iterations."
        return text
