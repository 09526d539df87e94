"""Where solvers look: their weights on the triangle of three kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mkldash.views._palette import ACCENT, CURSOR
from mkldash.views.lessons.canvas import INK, Axes, Figure, Picture, paint

Array = NDArray[np.float64]

__all__ = ["draw_weight_paths", "simplex_grid"]

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5 * np.sqrt(3.0)]])


def simplex_grid(n: int) -> Array:
    """Weights of three kernels with sum one, in steps of 1/n.

    Parameters
    ----------
    n : int

    Returns
    -------
    array, shape ((n + 1) (n + 2) / 2, 3)
    """
    return np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]) / n


def draw_weight_paths(
    grid: Array, values: Array, paths: Mapping[str, Array], names: Sequence[str]
) -> Picture:
    """The weights that solvers try, over lines of equal reduced cost; a panel each.

    Parameters
    ----------
    grid : array, shape (m, 3)
        Of `simplex_grid`.
    values : array, shape (m,)
        The reduced cost J there.
    paths : mapping of str to array, shape (n_steps, 3)
        Three panels in a row.
    names : sequence of str
        Of the three kernels, at the corners of the first panel.
    """
    best = grid[int(np.argmin(values))]
    # Denser near the minimum, where the paths end.
    low, high = float(values.min()), float(values.max())
    levels = low + (high - low) * np.linspace(0.03, 0.95, 12) ** 2

    def draw(figure: Figure) -> None:
        rows = -(-len(paths) // 3)
        panels = figure.subplots(rows, 3, squeeze=False).ravel()
        for axes, (name, path) in zip(panels, paths.items(), strict=False):
            axes.tricontour(*(grid @ _CORNERS).T, values, levels=levels, colors=ACCENT,
                            linewidths=0.8, alpha=0.55)  # fmt: skip
            _path(axes, path, best)
            axes.set_title(f"{name}: {len(path) - 1} steps", loc="center", fontsize=11)
        for axes in panels[len(paths) :]:
            axes.set_axis_off()
        for corner, words, shift in zip(_CORNERS, names, ((0, -10), (0, -10), (0, 9)), strict=True):
            panels[0].annotate(words, tuple(corner), xytext=shift, textcoords="offset points",
                               ha="center", va="center", fontsize=9)  # fmt: skip

    spoken = ", ".join(f"{value:.2f}" for value in best)
    said = "; ".join(
        f"{name} takes {len(path) - 1} steps, the longest {_longest(path):.2f}"
        for name, path in paths.items()
    )
    text = f"Paths over the triangle of three kernels, with the least J near ({spoken}): {said}."
    return paint(draw, text, size=(9.6, 3.2 * -(-len(paths) // 3)))


def _longest(path: Array) -> float:
    """Length of the longest step, in units of the triangle's edge."""
    steps = np.diff(path @ _CORNERS, axis=0)
    return float(np.linalg.norm(steps, axis=1).max(initial=0.0))


def _path(axes: Axes, path: Array, best: Array) -> None:
    places = path @ _CORNERS
    axes.plot(*_CORNERS[[0, 1, 2, 0]].T, color=INK, linewidth=1.6)
    axes.plot(*places.T, "-o", color=CURSOR, linewidth=1.2, markersize=4)
    axes.plot(*places[0], "o", color=CURSOR, markersize=9, fillstyle="none")
    axes.plot(*(best @ _CORNERS), "*", color=ACCENT, markersize=13, markeredgecolor="white",
              zorder=6)  # fmt: skip
    axes.set(xlim=(-0.12, 1.12), ylim=(-0.12, 0.98), xticks=(), yticks=())
    axes.set_aspect("equal")
    axes.spines[["left", "bottom"]].set_visible(False)
