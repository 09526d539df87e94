"""Gap curves of a comparison as SVG: median over the repeats, and their range as a band.

Written by hand so that a report needs nothing but itself: no script, no font and no
request, and hundreds of curves stay small.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from mkldash.problems.certificates import relative_gap
from mkldash.views._names import number

Array = NDArray[np.float64]

__all__ = ["AXES_OF_GAP", "GapCurve", "figure_svg", "gap_curve"]

#: What the gap is drawn against: column of the trace, label, whether it counts.
AXES_OF_GAP = (
    ("iteration", "iteration", True),
    ("inner_solves", "inner solves", True),
    ("seconds", "seconds of the solver’s own work", False),
)

#: Axes that count are logarithmic when the runs differ in length by more than this.
_FAR_APART = 30.0


@dataclass(frozen=True, kw_only=True, eq=False)
class GapCurve:
    """Relative gap over the repeats of one solver.

    Attributes
    ----------
    name : str
    style : int
        See `line_style`.
    x : array, shape (n,)
        Ascending.
    median, least, most : array, shape (n,)
        Of the gaps that the repeats have reached by x; a run that ended keeps its
        last one, one without a certificate has an infinite one.
    end : float
        Median of where the runs ended.
    words : str
        For a person who points at the curve.
    """

    name: str
    style: int
    x: Array
    median: Array
    least: Array
    most: Array
    end: float
    words: str = ""


def gap_curve(
    traces: Sequence[Mapping[str, Sequence[Any]]],
    along: str,
    *,
    name: str,
    style: int,
    points: int = 100,
) -> GapCurve | None:
    """Median and range of the gap over several traces.

    Parameters
    ----------
    traces : sequence of dict
        As a record has them.
    along : str
        Column that the gap is drawn against.
    name : str
    style : int
    points : int
        At most so many are drawn.

    Returns
    -------
    GapCurve or None
        None when no trace has a row.
    """
    read = [_steps(trace, along) for trace in traces if trace["upper"]]
    if not read:
        return None
    ends = np.array([x[-1] for x, _ in read])
    end = float(np.median(ends))
    x = np.union1d(_places(read, along != "seconds", points), end)
    gaps = np.stack([_held(x, *steps) for steps in read])
    median = _median(gaps)
    runs = f"{len(read)} runs, median of" if len(read) > 1 else "1 run,"
    last = _median(np.array([[gap[-1]] for _, gap in read]))[0]
    words = f"{name}: {runs} {number(end)} {along.replace('_', ' ')} to a gap of {number(last)}"
    return GapCurve(
        name=name, style=style, x=x, median=median, least=gaps.min(axis=0), most=gaps.max(axis=0),
        end=end, words=words,
    )  # fmt: skip


def _steps(trace: Mapping[str, Sequence[Any]], along: str) -> tuple[Array, Array]:
    """Places and gaps of a trace, whose gap never grows."""
    upper = np.array([math.inf if v is None else v for v in trace["upper"]], dtype=np.float64)
    lower = np.array([-math.inf if v is None else v for v in trace["lower"]], dtype=np.float64)
    gaps = np.array([relative_gap(u, v) for u, v in zip(upper, lower, strict=True)])
    gaps = np.where(np.isnan(gaps), math.inf, np.maximum(gaps, 0.0))
    return np.array(trace[along], dtype=np.float64), np.minimum.accumulate(gaps)


def _places(read: Sequence[tuple[Array, Array]], counts: bool, points: int) -> Array:
    """Where the curve is evaluated: where something happens, or evenly if that is too often."""
    known = np.unique(np.concatenate([x for x, _ in read]))
    if len(known) <= points:
        return known
    first = max(known[0], known[-1] * 1e-4, 1e-9)
    places = np.concatenate(
        [
            np.geomspace(first, known[-1], points - points // 2),
            np.linspace(known[0], known[-1], points // 2),
        ]
    )
    return np.unique(places.round() if counts else places)


def _held(x: Array, places: Array, gaps: Array) -> Array:
    """The gap reached by each x: infinite before the first row, the last one after the end."""
    at = np.searchsorted(places, x, side="right") - 1
    return np.where(at >= 0, gaps[np.maximum(at, 0)], math.inf)


def _median(gaps: Array) -> Array:
    """Column by column; between a number and infinity lies infinity, not NaN."""
    ordered = np.sort(gaps, axis=0)
    low, high = ordered[(len(gaps) - 1) // 2], ordered[len(gaps) // 2]
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(high), high if len(gaps) % 2 == 0 else low, 0.5 * (low + high))


def figure_svg(
    curves: Sequence[GapCurve], label: str, *, counts: bool, tol: float | None = None
) -> str:
    """One picture of relative gaps.

    Parameters
    ----------
    curves : sequence of GapCurve
    label : str
        Of the horizontal axis.
    counts : bool
        Whether x counts from 0; such an axis is linear unless the runs' lengths are
        far apart, where the start is drawn as 1.
    tol : float, optional
        Drawn as a dotted line.

    Returns
    -------
    str
        An ``<svg>`` element.  What cannot be drawn on the axis is said in it: gaps of
        exactly zero have a diamond at the lower edge, infinite ones are left out.
    """
    log_x = not counts or _far_apart(curves)
    if counts and log_x:
        label = f"{label}, the start as 1"
    start = 1.0 if counts and label.startswith("iteration") and log_x else 0.0
    x_axis, y_axis = _x_axis(curves, log_x, start), _y_axis(curves, tol)
    parts = [
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-label="{html.escape(_said(curves, label), quote=True)}">',
        *frame(x_axis, y_axis, label, "relative gap"),
    ]
    if tol is not None:
        y = float(y_axis(np.array([tol]))[0])
        parts.append(
            f'<line class="tol" x1="{LEFT:g}" x2="{WIDTH - RIGHT:g}" y1="{y:.1f}" y2="{y:.1f}">'
            f"<title>the tolerance, {number(tol)}</title></line>"
        )
    for curve in curves:
        parts += _drawn(curve, x_axis, y_axis, start)
    if not curves:
        parts.append(f'<text class="none" x="{WIDTH / 2:g}" y="{HEIGHT / 2:g}">nothing ran</text>')
    return "".join([*parts, "</svg>"])


def _far_apart(curves: Sequence[GapCurve]) -> bool:
    ends = [max(curve.x[-1], 1.0) for curve in curves]
    return bool(ends) and max(ends) / min(ends) > _FAR_APART


def _x_axis(curves: Sequence[GapCurve], log: bool, start: float) -> Axis:
    known = np.concatenate([*(curve.x for curve in curves), np.empty(0)]) + start
    high = float(known.max(initial=0.0))
    if not log:
        return Axis(0.0, max(high, 1.0) * 1.03, LEFT, WIDTH - RIGHT, log=False)
    positive = known[known > 0]
    low = float(positive.min()) if positive.size else 1e-3
    low = max(low, high * 1e-6)
    return Axis(low / 1.3, max(high * 1.3, low * 2), LEFT, WIDTH - RIGHT, log=True)


def _y_axis(curves: Sequence[GapCurve], tol: float | None) -> Axis:
    values = np.concatenate([*(np.r_[c.median, c.least] for c in curves), np.empty(0)])
    values = values[np.isfinite(values) & (values > 1e-16)]
    low = min(float(values.min(initial=math.inf)), tol or math.inf, 1.0)
    high = min(float(values.max(initial=10.0 * low)), 1e6)
    return Axis(low / 2.0, max(high * 1.5, low * 10.0), HEIGHT - BOTTOM, TOP, log=True)


def _drawn(curve: GapCurve, x_axis: Axis, y_axis: Axis, start: float) -> list[str]:
    """Band, line and end of one curve."""
    colour, dashes = line_style(curve.style)
    x = x_axis(curve.x + start)
    parts = [f'<g class="s{curve.style}" stroke="{colour}" fill="{colour}">']
    known = np.isfinite(curve.least)
    if known.any() and np.any(curve.least[known] < curve.most[known]):
        there = np.flatnonzero(known)
        upper, lower = y_axis(curve.most[there]), y_axis(curve.least[there])
        outline = [
            *zip(x[there], upper, strict=True),
            *zip(x[there][::-1], lower[::-1], strict=True),
        ]
        parts.append(f'<path class="band" d="{path_of(outline)}Z"/>')
    shown = np.flatnonzero(np.isfinite(curve.median) & (curve.x <= curve.end))
    parts.append(f"<title>{html.escape(curve.words)}</title>")
    if shown.size:
        y = y_axis(curve.median[shown])
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        line = path_of(list(zip(x[shown], y, strict=True)))
        parts.append(f'<path class="line"{dash} d="{line}"/>')
        parts.append(_end(float(x[shown][-1]), float(y[-1]), curve.median[shown[-1]] <= 0.0))
    return [*parts, "</g>"]


def _end(x: float, y: float, zero: bool) -> str:
    if zero:
        return f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5Z"><title>a gap of zero</title></path>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'


def _said(curves: Sequence[GapCurve], label: str) -> str:
    """What the picture shows, for a person who does not see it."""
    shown = "; ".join(curve.words for curve in curves) or "nothing ran"
    return f"relative gap against {label}: {shown}"
