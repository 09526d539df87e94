"""Who says what: a decision split into the parts of its kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mkldash.views._palette import ACCENT, CURSOR, LOWER, UPPER
from mkldash.views.lessons.canvas import INK, Figure, Picture, paint

Array = NDArray[np.float64]

__all__ = ["draw_parts"]

_COLOURS = (LOWER, UPPER, ACCENT, CURSOR)
_HATCHES = ("", "////", "....", "xxxx")


def draw_parts(parts: Array, bias: float, y: Array, names: Sequence[str]) -> Picture:
    """Stacked bars: f_k at every point, and their sum with the bias.

    Parameters
    ----------
    parts : array, shape (n_kernels, n_rows)
        f_k on the training rows; at most four kernels.
    bias : float
    y : array, shape (n_rows,)
        -1 or +1.
    names : sequence of str
        Of the kernels.
    """
    total = parts.sum(axis=0) + bias
    order = np.lexsort((total, y))
    place = np.arange(y.size)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for sign in (-1, 1):
            base = np.zeros(y.size)
            for k, name in enumerate(names):
                height = np.where(np.sign(parts[k, order]) == sign, parts[k, order], 0.0)
                axes.bar(
                    place, height, bottom=base, width=0.8, color=_COLOURS[k], hatch=_HATCHES[k],
                    edgecolor="white", linewidth=0.4, label=name if sign > 0 else None,
                )  # fmt: skip
                base += height
        axes.plot(place, total[order], "D", color=INK, markersize=6, label="sum and bias: $f(x_i)$")
        axes.axhline(0, color=INK, linewidth=0.9)
        for level in (-1, 1):
            axes.axhline(level, color=INK, linewidth=0.8, linestyle=(0, (2, 3)))
        axes.axvline(int((y < 0).sum()) - 0.5, color="#8b929c", linewidth=1.2)
        axes.set(
            title="What each kernel says about each point (left of the line: class -1)",
            xlabel="training point, sorted", ylabel="$f_k(x_i)$", xticks=(),
        )  # fmt: skip
        axes.grid(axis="x", visible=False)
        figure.legend(loc="outside right upper")

    right = int(np.sum(np.sign(total) == y))
    text = (
        f"Stacked bars of the parts of {len(names)} kernels for {y.size} points; their sum has "
        f"the sign of the class for {right} of them."
    )
    return paint(draw, text, size=(9.6, 3.6))
