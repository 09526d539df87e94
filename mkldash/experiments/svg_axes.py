"""Axes of small pictures written as SVG by hand: places, ticks and grid."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mkldash.views._names import number
from mkldash.views._palette import LINES

Array = NDArray[np.float64]

__all__ = [
    "BOTTOM",
    "HEIGHT",
    "LEFT",
    "RIGHT",
    "TOP",
    "WIDTH",
    "Axis",
    "frame",
    "line_style",
    "path_of",
]

#: Size of a picture, and its margins.
WIDTH, HEIGHT = 390.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 66.0, 10.0, 10.0, 44.0


class Axis:
    """From numbers to places along one side, linear or by powers of ten.

    Parameters
    ----------
    low, high : float
        Ends in numbers.
    start, end : float
        Ends in the picture.
    log : bool
        By powers of ten; both ends must be positive.
    """

    def __init__(self, low: float, high: float, start: float, end: float, *, log: bool) -> None:
        self.low, self.high, self.log = low, high, log
        self._start, self._end = start, end
        self._from, self._to = (math.log10(low), math.log10(high)) if log else (low, high)

    def __call__(self, values: Array) -> Array:
        """Places of numbers; those outside lie at the ends."""
        clipped = np.clip(values, self.low, self.high)
        place = np.log10(clipped) if self.log else clipped
        share = (place - self._from) / (self._to - self._from)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> list[tuple[float, str]]:
        """Powers of ten (at most eight), or about five round numbers."""
        if not self.log:
            step = 10.0 ** math.floor(math.log10((self.high - self.low) / 2))
            step *= next(k for k in (1, 2, 5, 10) if (self.high - self.low) / (k * step) <= 6)
            first = math.ceil(self.low / step)
            values = [k * step for k in range(first, math.floor(self.high / step) + 1)]
            return [(value, number(value)) for value in values]
        powers = range(math.ceil(self._from - 1e-9), math.floor(self._to + 1e-9) + 1)
        every = math.ceil(len(powers) / 8) or 1
        return [(10.0**power, number(10.0**power)) for power in powers if power % every == 0]


def line_style(index: int) -> tuple[str, str]:
    """Colour and dashes of the curve with that number; no two of the first 24 are alike.

    Parameters
    ----------
    index : int

    Returns
    -------
    colour, dashes : str
        As attributes of an element; no dashes: a whole line.
    """
    colour, _ = LINES[index % len(LINES)]
    _, dashes = LINES[(index + index // len(LINES)) % len(LINES)]
    return colour, " ".join(str(length) for length in dashes)


def frame(
    x_axis: Axis,
    y_axis: Axis,
    label: str,
    y_label: str,
    *,
    bottom: float = HEIGHT - BOTTOM,
    ticks: bool = True,
) -> list[str]:
    """Grid, ticks and the names of the axes, as elements.

    Parameters
    ----------
    x_axis, y_axis : Axis
    label, y_label : str
        Names of the axes.
    bottom : float
        Where the horizontal axis lies.
    ticks : bool
        Whether it has numbers.

    Returns
    -------
    list of str
    """
    right = WIDTH - RIGHT
    middle = (LEFT + right) / 2
    parts = []
    for value, text in y_axis.ticks():
        y = float(y_axis(np.array([value]))[0])
        parts.append(
            f'<line class="grid" x1="{LEFT:g}" x2="{right:g}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="y" x="{LEFT - 6:g}" y="{y + 4:.1f}">{text}</text>'
        )
    for value, text in x_axis.ticks() if ticks else ():
        x = float(x_axis(np.array([value]))[0])
        parts.append(
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP:g}" y2="{bottom:g}"/>'
            f'<text class="x" x="{x:.1f}" y="{bottom + 16:g}">{text}</text>'
        )
    parts.append(
        f'<rect class="frame" x="{LEFT:g}" y="{TOP:g}" width="{right - LEFT:g}" '
        f'height="{bottom - TOP:g}"/>'
        f'<text class="x" x="{middle:g}" y="{HEIGHT - 8:g}">{html.escape(label)}</text>'
        f'<text class="x" transform="translate(13 {(TOP + bottom) / 2:g}) rotate(-90)">'
        f"{html.escape(y_label)}</text>"
    )
    return parts


def path_of(points: Sequence[tuple[float, float]]) -> str:
    """Points as a path, to a tenth of a pixel."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
