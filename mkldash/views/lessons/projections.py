"""The projection onto the dual's feasible set, in pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.projection import breakpoints, imbalance, project
from mkldash.views._palette import ACCENT, CURSOR, LEVEL, LOWER, UPPER
from mkldash.views.lessons.canvas import INK, Axes, Figure, Picture, paint

Array = NDArray[np.float64]

__all__ = ["Point", "draw_imbalance"]


@dataclass(frozen=True, eq=False)
class Point:
    """A point to project, for `draw_imbalance`.

    Parameters
    ----------
    title : str
    v : array, shape (n,)
    y : array, shape (n,)
        -1 or +1.
    C : float
    flat : tuple of float, optional
        Ends of a stretch of roots.
    """

    title: str
    v: Array
    y: Array
    C: float
    flat: tuple[float, float] | None = None


def draw_imbalance(points: Sequence[Point]) -> Picture:
    """h(lambda), its bends and root, over the coordinates that move with lambda.

    Parameters
    ----------
    points : sequence of Point
        A column each.
    """

    def draw(figure: Figure) -> None:
        panels = figure.subplots(2, len(points), sharex="col", height_ratios=(1.25, 1))
        for (above, below), point in zip(panels.reshape(2, -1).T, points, strict=True):
            _h_panel(above, point)
            _x_panel(below, point)
        panels.reshape(2, -1)[0, 0].legend(loc="upper right")
        handles, labels = panels.reshape(2, -1)[1, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)

    said = []
    for point in points:
        root = project(point.v, point.y, point.C).shift
        words = f"{point.title}: {2 * len(point.v)} bends, a root at {root:.3g}"
        if point.flat is not None:
            words += f"; every multiplier from {point.flat[0]:g} to {point.flat[1]:g} is one"
        said.append(words)
    return paint(draw, f"h by the multiplier. {'. '.join(said)}.", size=(9.6, 4.9))


def _reach(point: Point) -> Array:
    bends = breakpoints(point.v, point.y, point.C)
    pad = 0.1 * (bends[-1] - bends[0])
    return np.sort(np.concatenate([bends, [bends[0] - pad, bends[-1] + pad]]))


def _h_panel(axes: Axes, point: Point) -> None:
    shift = _reach(point)
    h = imbalance(shift, point.v, point.y, point.C)
    axes.axhline(0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    axes.plot(shift, h, color=ACCENT, linewidth=2.2, label=r"$h(\lambda)$")
    axes.plot(shift[1:-1], h[1:-1], "o", color=ACCENT, markersize=4.5, label="bends")
    if point.flat is not None:
        axes.plot(point.flat, (0, 0), color=LEVEL, linewidth=7, solid_capstyle="round", zorder=3,
                  label="all roots")  # fmt: skip
        axes.legend(loc="upper right")
    root = project(point.v, point.y, point.C).shift
    axes.plot(root, 0, "D", color=CURSOR, markersize=9, markeredgecolor="white", zorder=5,
              label="the root found")  # fmt: skip
    axes.set(title=point.title, ylabel=r"$h(\lambda)$")


def _x_panel(axes: Axes, point: Point) -> None:
    shift = _reach(point)
    for sign, colour, dash in ((1.0, UPPER, (0, (6, 2.5))), (-1.0, LOWER, "-")):
        for number, v in enumerate(point.v[point.y == sign]):
            axes.plot(
                shift, np.clip(v - shift * sign, 0, point.C), color=colour, linestyle=dash,
                linewidth=1.7, label=f"$x_i$ of class {sign:+.0f}" if number == 0 else None,
            )  # fmt: skip
    root = project(point.v, point.y, point.C).shift
    axes.axvline(root, color=CURSOR, linewidth=1.4, linestyle=(0, (1.5, 1.8)))
    axes.set(xlabel=r"multiplier $\lambda$", ylabel=r"$x_i(\lambda)$",
             ylim=(-0.08 * point.C, 1.12 * point.C))  # fmt: skip
