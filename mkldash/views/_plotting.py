"""Plain bokeh helpers: the hot path writes arrays into sources, nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    CustomJS,
    CustomJSTickFormatter,
    FixedTicker,
    HoverTool,
    LinearAxis,
    LogAxis,
    Range1d,
    Span,
)
from bokeh.plotting import figure

from mkldash.views._palette import CURSOR

__all__ = [
    "NARROW",
    "cursor_line",
    "decades",
    "equal_scales",
    "fit",
    "grow",
    "inks",
    "new_box",
    "new_figure",
    "nice_ceiling",
    "nice_step",
    "plain_ticks",
    "show_box",
    "two_inks",
    "write",
]

Columns = Mapping[str, np.ndarray]


def new_figure(title: str, x_label: str, y_label: str, **options: object) -> figure:
    """A figure made for streaming: manual ranges, no toolbar, fixed borders.

    Measured: these three halve what the browser spends per frame.
    """
    plot = figure(
        title=title,
        height=int(options.pop("height", 300)),  # type: ignore[call-overload]
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
        min_border_left=int(options.pop("left", 64)),  # type: ignore[call-overload]
        min_border_right=int(options.pop("right", 18)),  # type: ignore[call-overload]
        min_border_bottom=50,
        min_border_top=28,
        x_axis_label=x_label,
        y_axis_label=y_label,
        outline_line_color=None,
        output_backend="canvas",
        **options,
    )
    plot.xgrid.grid_line_color = None
    plot.title.text_font_size = "14px"
    plot.axis.major_label_text_font_size = "12px"
    plot.axis.axis_label_text_font_size = "13px"
    plot.axis.axis_label_text_font_style = "normal"
    plot.axis.minor_tick_line_color = None
    for axis in plot.select(LinearAxis):
        axis.formatter = plain_ticks()
    return plot


#: As many decimals as tell the ticks apart, and 5·10⁻⁶ rather than 5.000e-6.
_PLAIN = """
if (tick === 0) return "0"
const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : Math.abs(tick)
const most = Math.max(...ticks.map(Math.abs))
const far = most < 1e-3 || most >= 1e6
const power = far ? Math.floor(Math.log10(most) + 1e-9) : 0
const exact = step / 10 ** power
const whole = (x) => Math.abs(x - Math.round(x)) <= 1e-6 * x
let places = 0
while (places < 12 && !whole(exact * 10 ** places)) places += 1
const text = (tick / 10 ** power).toFixed(places).replace("-", "−")
const raised = (n) => [...String(n)].map((c) => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]).join("")
return far ? `${text}·10${raised(power)}` : text
"""


def plain_ticks() -> CustomJSTickFormatter:
    """Numbers at an axis as people write them."""
    return CustomJSTickFormatter(code=_PLAIN)


def decades(axis: LogAxis) -> None:
    """Ticks at powers of ten only, however short the axis is."""
    axis.ticker = FixedTicker(ticks=[10.0**i for i in range(-16, 17)])


def add_hover(
    plot: figure, renderers: list, rows: list[tuple[str, str]], **options: object
) -> None:
    """Hover text on some renderers only."""
    plot.add_tools(HoverTool(renderers=renderers, tooltips=rows, **options))


def cursor_line(plot: figure) -> Span:
    """The one cursor that all views over iterations share."""
    span = Span(location=0, dimension="height", line_color=CURSOR, line_width=1.5, line_dash=[3, 3])
    plot.add_layout(span)
    return span


def legend(plot: figure) -> None:
    """A quiet legend above the plot, where it hides no data."""
    box = plot.legend[0]
    plot.add_layout(box, "above")
    box.orientation = "horizontal"
    box.location = "left"
    box.padding = 0
    box.margin = 0
    box.spacing = 14
    box.label_text_font_size = "12px"
    box.background_fill_alpha = 0.0
    box.border_line_color = None
    box.border_line_width = 0
    box.click_policy = "hide"


def legend_shows(plot: figure, label: str, shown: bool) -> None:
    """Whether the legend names a curve: one without data is not named."""
    for item in plot.legend[0].items:
        if item.label.value == label and item.visible != shown:
            item.visible = shown


#: Pixels; a narrower figure may be laid out anew.
NARROW = 560

_CORNERS = ("x0", "x1", "y0", "y1")

#: Ranges around the box that give both axes the same scale, whatever the width.
_EQUAL = """
const [w, h] = [plot.inner_width, plot.inner_height]
if (w > 0 && h > 0) {
  const narrow = plot.outer_width > 0 && plot.outer_width < NARROW
  const {x0: [x0], x1: [x1], y0: [y0], y1: [y1]} = (narrow ? slim : box).data
  const half = Math.max((x1 - x0) / w, (y1 - y0) / h) / 2
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2]
  plot.x_range.setv({start: x - half * w, end: x + half * w})
  plot.y_range.setv({start: y - half * h, end: y + half * h})
}
"""


def new_box() -> ColumnDataSource:
    """A box for `equal_scales`."""
    return ColumnDataSource({name: [float(name.endswith("1"))] for name in _CORNERS})


def equal_scales(plot: figure, slim: ColumnDataSource | None = None) -> ColumnDataSource:
    """Same scale on both axes of `plot`, kept by the browser as the card grows and shrinks.

    Parameters
    ----------
    plot : figure
    slim : ColumnDataSource, optional
        The box to show where the figure is narrower than `NARROW`.

    Returns
    -------
    ColumnDataSource
        The box to show, for `show_box`.
    """
    box = new_box()
    slim = box if slim is None else slim
    code = _EQUAL.replace("NARROW", str(NARROW))
    fitted = CustomJS(args={"plot": plot, "box": box, "slim": slim}, code=code)
    for source in {box, slim}:
        source.js_on_change("data", fitted)
    for size in ("inner_width", "inner_height"):
        plot.js_on_change(size, fitted)
    return box


def show_box(box: ColumnDataSource, corners: tuple[float, float, float, float]) -> None:
    """Make the plot of `box` show all of (x0, x1, y0, y1), and no more than it must."""
    new = {name: [v] for name, v in zip(_CORNERS, corners, strict=True)}
    if box.data != new:
        box.data = new


#: Longest array that travels within the message as a list.
LIGHT = 64


def write(source: ColumnDataSource, columns: Columns, *, full: bool = False) -> None:
    """Bring `source` to `columns`, sending only what is new where possible.

    What is there already is not sent again, a history that merely grew is
    streamed, anything else is replaced.  With `full` the whole state is sent
    whatever is there, so that a lost message heals itself.
    """
    new = {name: np.asarray(values) for name, values in columns.items()}
    known = set(source.data) == set(new)
    n_old = len(next(iter(source.data.values()))) if known else -1
    n_new = len(next(iter(new.values())))
    grown = 0 <= n_old <= n_new and all(
        _same(np.asarray(source.data[name]), values[:n_old]) for name, values in new.items()
    )
    if grown and n_old == n_new and not full:
        return
    if grown and n_old and not full:
        source.stream({name: light(values[n_old:]) for name, values in new.items()})
    else:
        source.data = {name: light(values) for name, values in new.items()}


def light(values: np.ndarray) -> Any:
    """Short arrays as lists: an array costs two websocket messages of its own."""
    return values.tolist() if values.ndim == 1 and len(values) <= LIGHT else values


def two_inks(
    plot: figure, x: str, y: str, source: ColumnDataSource, quiet: str, loud: str, **style: Any
) -> None:
    """Words of column ``text`` in the colour of the two whose column, of `inks`, is 1.

    A column of colours would do, but while a source is replaced bokeh may measure
    as many words as there were, and an old word without a new colour is an error
    of the page; one without a new opacity is not.
    """
    for colour, alpha in ((quiet, "quiet"), (loud, "loud")):
        plot.text(x, y, "text", source=source, text_color=colour, text_alpha=alpha, **style)


def inks(loud: np.ndarray) -> dict[str, np.ndarray]:
    """Columns for `two_inks`: opacity of either colour."""
    shown = loud.astype(np.float64)
    return {"quiet": 1.0 - shown, "loud": shown}


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype.kind == "f" and b.dtype.kind == "f":
        return bool(np.array_equal(a, b, equal_nan=True))
    return bool(np.array_equal(a, b))


def nice_step(span: float) -> float:
    """A round number about a fifth of `span`."""
    if not (span > 0 and math.isfinite(span)):
        return 1.0
    raw = span / 5
    power = 10.0 ** math.floor(math.log10(raw))
    return next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= raw * (1 - 1e-12))


def nice_ceiling(n: float, least: float = 20.0) -> float:
    """The axis end for `n`: 20, 50, 100, 200, 500 ... grown in steps."""
    end = least
    factors = (2.5, 2.0, 2.0)
    i = 0
    while end < n:
        end *= factors[i % 3]
        i += 1
    return end


def grow(axis: Range1d, end: float) -> None:
    """Set the end of an axis that starts at a fixed place, if it changed."""
    if axis.end != end:
        axis.end = end


def fit(axis: Range1d, low: float, high: float) -> None:
    """Move a range in round steps, and only when the data ask for it."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return
    if high <= low:
        pad = max(abs(high), 1e-12) * 0.05
        low, high = low - pad, high + pad
    step = nice_step(high - low)
    start, end = math.floor(low / step) * step, math.ceil(high / step) * step
    inside = axis.start <= low and high <= axis.end
    tight = (high - low) >= 0.45 * (axis.end - axis.start)
    if not (inside and tight):
        axis.update(start=start, end=end)
