"""The neighborhood of a kernel in pictures: heatmaps, what new points see, the bias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.problem import Problem
from mkldash.solvers.base import Snapshot
from mkldash.views._palette import LOWER, NEGATIVE, POSITIVE, UPPER, diverging
from mkldash.views.base import Gram, Scene
from mkldash.views.kernel_heatmaps import KernelHeatmapsInfo, KernelHeatmapsView
from mkldash.views.lessons.canvas import INK, Axes, Figure, Picture, paint
from mkldash.views.lessons.level_method import put_bounds, put_gaps
from mkldash.views.lessons.planes import put_points
from mkldash.views.level_bounds import NeighborhoodBoundsView

Array = NDArray[np.float64]

__all__ = [
    "draw_bias",
    "draw_heatmaps",
    "draw_kernel",
    "draw_neighborhood_run",
    "draw_seen",
    "whole_scene",
]


def whole_scene(problem: Problem, tol: float | None = None) -> Scene:
    """What the views of the neighborhood problem may show, its whole matrix included.

    Parameters
    ----------
    problem : Problem
        Over one kernel, or with fixed weights.
    tol : float, optional
        Gap at which its run stops.
    """
    theta = problem.weight_set.start(problem.bank.n_kernels)
    K = problem.bank.combine(theta).matrix()
    order = np.argsort(problem.y, kind="stable")
    gram = Gram(order, K[np.ix_(order, order)], problem.y[order], order.size)
    return Scene(tol=tol, cost=problem.loss.C, labels=problem.y, rho=problem.rho, gram=gram)


def draw_kernel(X: Array, y: Array, K: Array) -> Picture:
    """Rows with two features, and beside them their kernel matrix, sorted by class.

    Parameters
    ----------
    X : array, shape (n_rows, 2)
    y : array, shape (n_rows,)
        -1 or +1.
    K : array, shape (n_rows, n_rows)
    """
    order = np.argsort(y, kind="stable")
    split = int((y < 0).sum())
    sheet = K[np.ix_(order, order)]

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
        put_points(left, X, y)
        left.set_title("The points")
        shown = _sheet(right, sheet, split, float(np.abs(sheet).max()))
        right.set_title("How similar $K$ says they are")
        figure.colorbar(shown, ax=right, shrink=0.85)

    same = y[:, None] == y[None]
    text = (
        f"{y.size} points in the plane and their kernel matrix, sorted by class. The mean entry is "
        f"{K[same].mean():.2f} within a class and {K[~same].mean():.2f} between the classes."
    )
    return paint(draw, text, size=(9.6, 4.0))


def _sheet(axes: Axes, values: Array, split: int, limit: float) -> object:
    from matplotlib.colors import ListedColormap

    n = len(values)
    shown = axes.imshow(
        values, cmap=ListedColormap(diverging(129, most=255, power=1.0)), vmin=-limit, vmax=limit,
        interpolation="nearest",
    )  # fmt: skip
    for draw in (axes.axhline, axes.axvline):
        draw(split - 0.5, color=INK, linewidth=0.9, linestyle=(0, (3, 2)))
    middles = ((split - 1) / 2, (split + n - 1) / 2)
    axes.set_xticks(middles, ("class -1", "class +1"))
    axes.set_yticks(middles, ("class -1", "class +1"), rotation=90, va="center")
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[["right", "top"]].set_visible(True)
    return shown


def draw_heatmaps(runs: Mapping[str, tuple[Sequence[Snapshot], Scene]]) -> Picture:
    """K, the rank-one part and their sum at the end of each run, a row for each.

    Parameters
    ----------
    runs : mapping of str to (run, scene)
        By what is written to the left of the row; scenes of `whole_scene`.
    """
    infos = {
        label: KernelHeatmapsView.prepare(run, len(run) - 1, scene)
        for label, (run, scene) in runs.items()
    }

    def draw(figure: Figure) -> None:
        # A colour bar and a scale for each row: the sizes differ much between them.
        rows = np.atleast_1d(figure.subfigures(len(infos), 1))
        for row, (label, info) in zip(rows, infos.items(), strict=True):
            _heatmap_row(row, info, label)

    text = " ".join(
        f"{label}: {KernelHeatmapsView.describe(info)}" for label, info in infos.items()
    )
    return paint(draw, text, size=(9.6, 3.1 * len(infos)))


def _heatmap_row(figure: Figure, info: KernelHeatmapsInfo, label: str) -> None:
    strength = info.times
    stripes = r"$+\;\frac{1}{2\rho}\,aa^{\mathsf{T}}$"
    if strength > 1:
        capped = ", capped" if strength * info.largest[1] > info.limit else ""
        stripes += f"  (drawn {strength:g}× stronger{capped})"
    panels = figure.subplots(1, 3)
    parts = (info.given, strength * info.learnt, info.given + info.learnt)
    names = ("$K$", stripes, "$=\\;G^*$")
    for axes, part, name in zip(panels, parts, names, strict=True):
        shown = _sheet(axes, part, info.split, info.limit)
        axes.set_title(name, loc="center", fontsize=12)
    panels[0].set_ylabel(label, fontsize=12)
    figure.colorbar(shown, ax=panels, shrink=0.85)


def draw_neighborhood_run(run: Sequence[Snapshot], scene: Scene) -> Picture:
    """The kernel and what was learnt, over both bounds and the gap of the whole run.

    Parameters
    ----------
    run : sequence of Snapshot
    scene : Scene
        Of `whole_scene`.
    """
    last = len(run) - 1
    heat = KernelHeatmapsView.prepare(run, last, scene)
    bounds = NeighborhoodBoundsView.prepare(run, last, scene)

    def draw(figure: Figure) -> None:
        above, below = figure.subfigures(2, 1)
        _heatmap_row(above, heat, rf"$\rho={scene.rho:g}$")
        left, right = below.subplots(1, 2)
        put_bounds(left, bounds)
        put_gaps(right, {"this run": run})

    text = f"{KernelHeatmapsView.describe(heat)} {NeighborhoodBoundsView.describe(bounds)}"
    return paint(draw, text, size=(9.6, 6.2))


def draw_seen(learnt: Array, given: Array, y: Array) -> Picture:
    """Margins of the training rows by the learnt kernel, and as new points would get them.

    Parameters
    ----------
    learnt, given : array, shape (n_rows,)
        Decision values, bias included, by G* and by K.
    y : array, shape (n_rows,)
        -1 or +1.
    """
    order = np.lexsort((y * given, y))
    place = np.arange(y.size)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.vlines(place, (y * given)[order], (y * learnt)[order], color="#b9bec6", linewidth=2)
        axes.plot(place, (y * learnt)[order], "o", color=UPPER, markersize=6,
                  label="by $G^*$: the row itself")  # fmt: skip
        axes.plot(place, (y * given)[order], "s", color=LOWER, markersize=5,
                  label="by $K$: a new point at the same place")  # fmt: skip
        axes.axhline(0, color=INK, linewidth=0.9)
        axes.axhline(1, color=INK, linewidth=0.9, linestyle=(0, (3, 2)))
        axes.axvline(int((y < 0).sum()) - 0.5, color="#8b929c", linewidth=1.2)
        axes.set(
            title="The rank-one part is a bonus for rows that are known",
            xlabel="training row, sorted (left of the line: class -1)",
            ylabel=r"margin $y_i f(x_i)$", xticks=(),
        )  # fmt: skip
        axes.grid(axis="x", visible=False)
        axes.legend(loc="lower right")

    text = (
        f"Margins of {y.size} training rows: by the learnt kernel {int((y * learnt <= 0).sum())} "
        f"are on the wrong side, by the given one {int((y * given <= 0).sum())}; the largest bonus "
        f"is {float(np.max(y * (learnt - given))):.2f}."
    )
    return paint(draw, text, size=(9.6, 3.6))


def draw_bias(learnt: Array, given: Array, y: Array) -> Picture:
    """What each free support vector says the bias is, by the learnt and the given kernel.

    Parameters
    ----------
    learnt, given : array, shape (n_free,)
        y_i minus the decision value without bias, by G* and by K.
    y : array, shape (n_free,)
        -1 or +1.
    """
    order = np.argsort(y, kind="stable")

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        place = np.arange(y.size)
        sides = np.where(y[order] < 0, NEGATIVE, POSITIVE)
        axes.scatter(place, given[order], c=sides, marker="s", s=30,
                     label="$y_i-(Ka)_i$: they disagree")  # fmt: skip
        axes.plot(place, learnt[order], "-o", color=INK, markersize=4, linewidth=1.2,
                  label="$y_i-(G^*a)_i$: all the same, the bias")  # fmt: skip
        axes.set(
            title="The bias comes from $G^*$", xlabel="free support vector, by class",
            ylabel="the bias it asks for", xticks=(),
        )  # fmt: skip
        axes.grid(axis="x", visible=False)
        axes.legend()
        for mark in axes.get_legend().legend_handles[:1]:
            mark.set_facecolor("#8b929c")
            mark.set_edgecolor("#8b929c")

    text = (
        f"{y.size} free support vectors: the bias asked for spreads over {np.ptp(given):.2f} "
        f"by the given kernel, and over {np.ptp(learnt):.0e} by the learnt one."
    )
    return paint(draw, text, size=(9.6, 3.2))
