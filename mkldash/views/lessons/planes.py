"""Data with two features, and what classifiers make of the plane."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.problem import Problem
from mkldash.solvers.base import Best
from mkldash.views._palette import NEGATIVE, POSITIVE, diverging
from mkldash.views.lessons.canvas import INK, Axes, Figure, Picture, paint

Array = NDArray[np.float64]

__all__ = ["Panel", "draw_classifiers", "draw_points", "put_points"]

GRID = 120
Extent = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Panel:
    """One classifier of `draw_classifiers`.

    Parameters
    ----------
    title : str
    problem : Problem
        Over a bank of two features.
    point : Best
        Weights, alpha and bias.
    """

    title: str
    problem: Problem
    point: Best

    def decision(self, X: Array) -> Array:
        """Decision values, shape (n_new,), of rows of shape (n_new, 2)."""
        a = self.problem.signed(self.point.alpha)
        values = self.problem.bank.decision(X, self.point.weights.values, a)
        return values + self.point.bias


def _extent(X: Array) -> Extent:
    low, high = X.min(axis=0), X.max(axis=0)
    pad = 0.15 * (high - low)
    return (
        float(low[0] - pad[0]), float(high[0] + pad[0]),
        float(low[1] - pad[1]), float(high[1] + pad[1]),
    )  # fmt: skip


def _scatter(axes: Axes, X: Array, y: Array, extent: Extent) -> None:
    for sign, colour, marker in ((-1, NEGATIVE, "o"), (1, POSITIVE, "^")):
        rows = X[y == sign]
        axes.scatter(
            rows[:, 0], rows[:, 1], c=colour, marker=marker, s=30, edgecolors="white",
            linewidths=0.7, zorder=3,
        )  # fmt: skip
    axes.set(xlim=extent[:2], ylim=extent[2:], xticks=(), yticks=())


def put_points(axes: Axes, X: Array, y: Array) -> None:
    """Rows with two features onto given axes, a colour and a marker for each class."""
    _scatter(axes, X, y, _extent(X))


def draw_points(X: Array, y: Array) -> Picture:
    """Training rows with two features, and nothing else.

    Parameters
    ----------
    X : array, shape (n_rows, 2)
    y : array, shape (n_rows,)
        -1 or +1.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        _scatter(axes, X, y, _extent(X))
        axes.set_title("Which of the two would a new point belong to?")

    text = (
        f"{len(y)} points in the plane: {int((y < 0).sum())} blue circles and "
        f"{int((y > 0).sum())} orange triangles, in two interleaved half circles."
    )
    return paint(draw, text, size=(6.4, 3.8))


def draw_classifiers(X: Array, y: Array, panels: Sequence[Panel]) -> Picture:
    """The same rows under several classifiers.

    Parameters
    ----------
    X : array, shape (n_rows, 2)
        Rows to draw, as the kernels see them.
    y : array, shape (n_rows,)
        -1 or +1.
    panels : sequence of Panel
        Two in a row.
    """
    extent = _extent(X)
    x1, x2 = np.linspace(*extent[:2], GRID), np.linspace(*extent[2:], GRID)
    places = np.column_stack([m.ravel() for m in np.meshgrid(x1, x2)])

    def draw(figure: Figure) -> None:
        from matplotlib.colors import ListedColormap

        rows = math.ceil(len(panels) / 2)
        colours = ListedColormap(diverging())
        for axes, panel in zip(figure.subplots(rows, 2).flat, panels, strict=False):
            f = panel.decision(places).reshape(GRID, GRID)
            axes.imshow(
                np.clip(f, -2, 2), extent=extent, origin="lower", cmap=colours, vmin=-2, vmax=2,
                aspect="auto", interpolation="bilinear", alpha=0.8,
            )  # fmt: skip
            axes.contour(x1, x2, f, levels=[0], colors=INK, linewidths=2.2)
            axes.contour(x1, x2, f, levels=[-1, 1], colors=INK, linewidths=0.8, linestyles="dashed")
            _scatter(axes, X, y, extent)
            axes.set_title(panel.title)

    text = "Decision boundaries of " + "; ".join(panel.title for panel in panels) + "."
    return paint(draw, text, size=(9.6, 3.1 * math.ceil(len(panels) / 2)))
