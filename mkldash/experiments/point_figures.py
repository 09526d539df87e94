"""Pictures of points and lines over numbers or names, and several of them as one file."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.experiments.svg_axes import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    frame,
    line_style,
    path_of,
)
from mkldash.views._names import number

Array = NDArray[np.float64]

__all__ = ["Panel", "Series", "panels_svg", "points_svg"]

_TITLE, _LEGEND_ROW, _ACROSS = 24.0, 22.0, 3

#: Names below the axis are written aslant when there are more.
_UPRIGHT = 4

_STYLE = """
svg { font: 11px system-ui, sans-serif; background: #fff; }
text { fill: #4d525b; } .title { font-weight: 600; fill: #1f2328; }
.x, .none { text-anchor: middle; } .y, .slant { text-anchor: end; }
.grid, .frame { stroke: #d5d8dd; } .frame { fill: none; }
.tol { stroke: #6a6f78; stroke-dasharray: 2 4; }
.line { fill: none; stroke-width: 2; } .band { stroke: none; opacity: .16; }
"""


@dataclass(frozen=True, kw_only=True)
class Series:
    """One method's points.

    Attributes
    ----------
    name : str
    style : int
        See `mkldash.experiments.svg_axes.line_style`.
    x : sequence of float
        Places; over names: their numbers from 0.
    middle, least, most : sequence of float
        Value and range at each place; NaN where there is none.
    """

    name: str
    style: int
    x: Sequence[float]
    middle: Sequence[float]
    least: Sequence[float]
    most: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """A picture with its title: an ``<svg>`` element of the usual size."""

    title: str
    svg: str


def points_svg(
    series: Sequence[Series],
    label: str,
    y_label: str,
    *,
    names: Sequence[str] = (),
    log_x: bool = False,
    log_y: bool = False,
) -> str:
    """Points with their ranges: joined over numbers, side by side over names.

    Parameters
    ----------
    series : sequence of Series
    label, y_label : str
        Of the axes.
    names : sequence of str
        What is below the axis in place of numbers.
    log_x, log_y : bool
        By powers of ten; what is not positive is left out.

    Returns
    -------
    str
        An ``<svg>`` element.
    """
    x_axis = _names_axis(names) if names else _axis(_all(series, "x"), LEFT, WIDTH - RIGHT, log_x)
    values = np.concatenate([_all(series, side) for side in ("middle", "least", "most")])
    low = HEIGHT - BOTTOM - (26.0 if len(names) > _UPRIGHT else 0.0)
    y_axis = _axis(values, low, TOP, log_y)
    parts = [
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-label="{html.escape(_said(series, y_label, label, names), quote=True)}">',
        *frame(x_axis, y_axis, label, y_label, bottom=low, ticks=not names),
    ]
    if names:
        parts += _named(names, x_axis, low)
    shift = 0.6 / max(1, len(series))
    for k, one in enumerate(series):
        aside = (k - (len(series) - 1) / 2) * shift if names else 0.0
        parts += _drawn(one, x_axis, y_axis, aside, joined=not names)
    if not series:
        parts.append(f'<text class="none" x="{WIDTH / 2:g}" y="{HEIGHT / 2:g}">nothing ran</text>')
    return "".join([*parts, "</svg>"])


def _all(series: Sequence[Series], side: str) -> Array:
    return np.concatenate(
        [np.empty(0), *(np.asarray(getattr(one, side), dtype=np.float64) for one in series)]
    )


def _axis(values: Array, start: float, end: float, log: bool) -> Axis:
    values = values[np.isfinite(values)]
    if log:
        values = values[values > 0.0]
        low, high = (float(values.min()), float(values.max())) if values.size else (0.1, 10.0)
        room = max(1.15, (high / low) ** 0.04)
        below = 10.0 ** math.floor(math.log10(high))
        if below < low:  # a power of ten must be seen
            low = below
        return Axis(low / room, high * room, start, end, log=True)
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    room = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return Axis(low - room, high + room, start, end, log=False)


def _names_axis(names: Sequence[str]) -> Axis:
    return Axis(-0.5, len(names) - 0.5, LEFT, WIDTH - RIGHT, log=False)


def _named(names: Sequence[str], x_axis: Axis, low: float) -> list[str]:
    places = x_axis(np.arange(len(names), dtype=np.float64))
    if len(names) <= _UPRIGHT:
        return [
            f'<text class="x" x="{x:.1f}" y="{low + 16:g}">{html.escape(name)}</text>'
            for x, name in zip(places, names, strict=True)
        ]
    return [
        f'<text class="slant" transform="translate({x + 4:.1f} {low + 13:g}) rotate(-32)">'
        f"{html.escape(name)}</text>"
        for x, name in zip(places, names, strict=True)
    ]


def _drawn(one: Series, x_axis: Axis, y_axis: Axis, aside: float, *, joined: bool) -> list[str]:
    """Line and band over numbers; marks with whiskers over names."""
    colour, dashes = line_style(one.style)
    x, middle, least, most = (
        np.asarray(values, dtype=np.float64) for values in (one.x, one.middle, one.least, one.most)
    )
    seen = np.isfinite(middle) & ((middle > 0.0) | (not y_axis.log))
    x, middle, least, most = x[seen], middle[seen], least[seen], most[seen]
    parts = [f'<g stroke="{colour}" fill="{colour}"><title>{html.escape(one.name)}</title>']
    if x.size:
        at, y, low, high = x_axis(x + aside), y_axis(middle), y_axis(least), y_axis(most)
        if joined and np.any(least < most):
            outline = [*zip(at, high, strict=True), *zip(at[::-1], low[::-1], strict=True)]
            parts.append(f'<path class="band" d="{path_of(outline)}Z"/>')
        if joined and x.size > 1:
            dash = f' stroke-dasharray="{dashes}"' if dashes else ""
            line = path_of(list(zip(at, y, strict=True)))
            parts.append(f'<path class="line"{dash} d="{line}"/>')
        for p, q, bottom, top in zip(at, y, low, high, strict=True):
            parts.append(_mark(p, q, one.style))
            if not joined and bottom != top:
                parts.append(f'<path d="M{p:.1f} {bottom:.1f}V{top:.1f}"/>')
    return [*parts, "</g>"]


def _mark(x: float, y: float, style: int) -> str:
    """No two methods near each other have marks of one shape."""
    shape = style % 4
    if shape == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    if shape == 1:
        return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6"/>'
    if shape == 2:
        return f'<path d="M{x:.1f} {y - 4.5:.1f}l4.5 8h-9Z"/>'
    return f'<path d="M{x:.1f} {y - 4.5:.1f}l4.5 4.5l-4.5 4.5l-4.5 -4.5Z"/>'


def _said(series: Sequence[Series], y_label: str, label: str, names: Sequence[str]) -> str:
    """What is drawn, for a person who does not see it."""
    lines = []
    for one in series:
        points = ", ".join(
            f"{names[int(x)] if names else number(x)} {number(value)}"
            for x, value in zip(one.x, one.middle, strict=True)
            if math.isfinite(value)
        )
        lines.append(f"{one.name}: {points or 'none'}")
    return f"{y_label} against {label or 'names'}: {'; '.join(lines) or 'nothing ran'}"


def panels_svg(
    panels: Sequence[Panel], legend: Sequence[tuple[str, int]], *, across: int = _ACROSS
) -> str:
    """Several pictures and one legend as a file that stands alone.

    Parameters
    ----------
    panels : sequence of Panel
    legend : sequence of (str, int)
        Names with their styles.
    across : int
        Pictures beside each other, at most.

    Returns
    -------
    str
        An SVG document.
    """
    across = max(1, min(across, len(panels)))
    per_row = max(1, int(across * WIDTH // 240))
    top = _LEGEND_ROW * math.ceil(len(legend) / per_row) + 6.0
    cell = HEIGHT + _TITLE
    width, height = across * WIDTH, top + cell * max(1, math.ceil(len(panels) / across))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}"><style>{_STYLE}</style>'
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>'
    ]
    for k, (name, style) in enumerate(legend):
        x, y = 14.0 + (k % per_row) * 240.0, 16.0 + (k // per_row) * _LEGEND_ROW
        colour, dashes = line_style(style)
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        parts.append(
            f'<g stroke="{colour}" fill="{colour}"><path class="line"{dash} '
            f'd="M{x:g} {y:g}h34"/>{_mark(x + 17.0, y, style)}</g>'
            f'<text x="{x + 42:g}" y="{y + 4:g}">{html.escape(name)}</text>'
        )
    for k, panel in enumerate(panels):
        x, y = (k % across) * WIDTH, top + (k // across) * cell
        parts.append(
            f'<text class="title" x="{x + LEFT:g}" y="{y + 17:g}">{html.escape(panel.title)}</text>'
            f'<svg x="{x:g}" y="{y + _TITLE:g}" width="{WIDTH:g}" height="{HEIGHT:g}" '
            f"{panel.svg.removeprefix('<svg ')}"
        )
    return "".join([*parts, "</svg>\n"])
