"""A run of a solver as a still picture, from the same numbers as the live views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mkldash.solvers.base import Snapshot
from mkldash.views._palette import ACCENT, ALERT, LOWER, UPPER
from mkldash.views._reading import Readable
from mkldash.views.base import EMPTY, Scene
from mkldash.views.bounds import BoundsView
from mkldash.views.gap import GapView
from mkldash.views.inner_bounds import InnerBoundsView
from mkldash.views.lessons.canvas import Axes, Figure, Picture, paint
from mkldash.views.weights_bars import WeightsBarsInfo, WeightsBarsView

__all__ = ["draw_bars", "draw_bounds", "draw_run"]

Run = Readable | Sequence[Snapshot]


def draw_bounds(run: Run, scene: Scene = EMPTY) -> Picture:
    """Both bounds and the gap of a whole run.

    Parameters
    ----------
    run : Trace, or sequence of Snapshot
    scene : Scene, optional
    """
    last = len(run) - 1
    bounds = BoundsView.prepare(run, last, scene)
    gap = GapView.prepare(run, last, scene)

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        _bounds_panel(left, run, scene)
        _gap_panel(right, run, scene)

    text = f"{BoundsView.describe(bounds)} {GapView.describe(gap)}"
    return paint(draw, text, size=(9.6, 3.6))


def draw_bars(run: Run) -> Picture:
    """The largest kernel weights at the end of a run."""
    info = WeightsBarsView.prepare(run, len(run) - 1)

    def draw(figure: Figure) -> None:
        _bars_panel(figure.subplots(), info)

    return paint(draw, WeightsBarsView.describe(info), size=(8.6, 3.9))


def draw_run(run: Run, scene: Scene = EMPTY, title: str = "") -> Picture:
    """The views of `EmbeddedRun`, as they look when the run has ended.

    Parameters
    ----------
    run : Trace, or sequence of Snapshot
        Of block-coordinate descent.
    scene : Scene, optional
    title : str
        Parameters of the run.
    """
    last = len(run) - 1
    bars = WeightsBarsView.prepare(run, last, scene)

    def draw(figure: Figure) -> None:
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontsize=11, color="#5b626c")
        # Rows lay themselves out alone: long kernel names squeeze one row only.
        above, below = figure.subfigures(2, 1)
        left, right = above.subplots(1, 2)
        _bounds_panel(left, run, scene)
        _gap_panel(right, run, scene)
        left, right = below.subplots(1, 2)
        _bars_panel(left, bars)
        _inner_panel(right, run)

    words = (
        BoundsView.describe(BoundsView.prepare(run, last, scene)),
        GapView.describe(GapView.prepare(run, last, scene)),
        WeightsBarsView.describe(bars),
        InnerBoundsView.describe(InnerBoundsView.prepare(run, last)),
    )
    return paint(draw, " ".join(words), size=(10.4, 7.0))


def _bounds_panel(axes: Axes, run: Run, scene: Scene) -> None:
    info = BoundsView.prepare(run, len(run) - 1, scene)
    low, high = info.window
    axes.fill_between(info.iteration, info.lower, info.upper, color=LOWER, alpha=0.12, linewidth=0)
    axes.plot(
        info.iteration, info.upper, color=UPPER, linewidth=2.3, linestyle=(0, (6, 2.5)),
        label="upper bound (primal)",
    )  # fmt: skip
    axes.plot(info.iteration, info.lower, color=LOWER, linewidth=2.3, label="lower bound (dual)")
    axes.set(
        title=BoundsView.title, xlabel="iteration", ylabel="objective value",
        ylim=(low - 0.05 * (high - low), high + 0.06 * (high - low)),
    )  # fmt: skip
    axes.legend()


def _gap_panel(axes: Axes, run: Run, scene: Scene) -> None:
    info = GapView.prepare(run, len(run) - 1, scene)
    curve, numbers = info.curves.curves[0], info.iterations[0]
    axes.plot(numbers, curve.drawn, color=ACCENT, linewidth=2.3)
    odd = curve.kind != "value"
    axes.plot(numbers[odd], curve.drawn[odd], "^", color=ACCENT, markersize=8, fillstyle="none")
    if info.tol:
        axes.axhline(info.tol, color=ALERT, linewidth=1.3, linestyle=(0, (2, 3)))
        axes.annotate(
            "tolerance", (0.02, info.tol), xycoords=("axes fraction", "data"), xytext=(0, 4),
            textcoords="offset points", color=ALERT, fontsize=9.5,
        )  # fmt: skip
    axes.set(title=GapView.title, xlabel="iteration", ylabel="upper / lower - 1")
    axes.set_yscale("log")


def _bars_panel(axes: Axes, info: WeightsBarsInfo) -> None:
    places = np.arange(len(info.names))
    axes.barh(places, info.weights, color=ACCENT, alpha=0.85)
    axes.set_yticks(places, info.names)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.locator_params(axis="x", nbins=5)
    axes.set(
        title=f"{WeightsBarsView.title} ({info.active} of {info.total} active)",
        xlabel=r"weight $\theta_k$",
    )  # fmt: skip


def _inner_panel(axes: Axes, run: Run) -> None:
    info = InnerBoundsView.prepare(run, len(run) - 1)
    axes.plot(
        info.step, info.upper, color=UPPER, linewidth=2.3, linestyle=(0, (6, 2.5)), marker="s",
        label="value $h$",
    )  # fmt: skip
    axes.plot(info.step, info.lower, color=LOWER, linewidth=2.3, marker="o", label="bound $p^2$")
    axes.set(
        title=InnerBoundsView.title, xlabel="step of the inner iteration",
        ylabel="% above the best $p^2$", xticks=info.step,
    )  # fmt: skip
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
    axes.legend()
