"""Algorithm 3 as it drew the current product: one row of chances per decision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import cut_apart, feature, number, percent, product, word_name
from mkldash.views._palette import DRAWN, INK, LAW
from mkldash.views._reading import Readable, drawn_word, field, law
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["DrawnPathInfo", "DrawnPathView"]

#: Height of the highest bar of a row, and where the words above it end; rows are 1 apart.
_BAR, _WORDS = 0.52, 0.80
#: Pixels of a row; of one among many.
_ROW, _LOW_ROW, _FEW = 78, 56, 5
#: Rows of factors that are drawn; where there may be more, few words are so long.
_MOST_ROWS, _USUAL_ROWS = 8, 5
#: Up to so many degrees each has its chance written above it.
_FEW_DEGREES, _WORTH_WORDS = 11, 0.02
#: Share of its place that a bar fills.
_FILL = 0.84
#: Features that are named below the last row.
_MOST_LABELS = 24
#: Characters of the chances as they are multiplied.
_LONGEST_SUM = 48
_ORDINALS = {1: "1st factor", 2: "2nd factor", 3: "3rd factor"}

_BARS = ("left", "right", "bottom", "top", "colour", "alpha", "name", "p", "step")
_TEXTS = ("x", "y", "text", "align")


class DrawnPathInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    cursor : int
    rows : tuple of array
        Probabilities of each decision: of the degrees, then of the features, once per factor.
    chosen : tuple of int
        What each decision fell on.
    chances : array, shape (n_decisions,)
        Probability of each choice.
    choices : tuple of str
        Name of each choice.
    probability : float
        Of the whole word: the product of `chances`.
    name : str
        The product drawn, its factors in the order of the draw; empty where nothing was.
    short : str
        The same, cut to fit a line.
    orderings : int
        Words that mean the same kernel.
    key : str
        Name of that kernel.
    degree : int
        Most factors of a product.
    features : tuple of str
        Names, as many as the rows of features are wide.
    """

    cursor: int
    rows: tuple[Array, ...]
    chosen: tuple[int, ...]
    chances: Array
    choices: tuple[str, ...]
    probability: float
    name: str
    short: str
    orderings: int
    key: str
    degree: int
    features: tuple[str, ...]


def _ordinal(i: int) -> str:
    return _ORDINALS.get(i, f"{i}th factor")


class DrawnPathView(View):
    """How a product among billions is drawn by a handful of small decisions."""

    name = "drawn-path"
    title = "How the product was drawn"
    needs = frozenset({"degree_law", "position_laws", "drawn", "products"})
    caption = (
        "One row per decision: first the degree, then one factor after the other, each given "
        "those before it. Orange is what was drawn; the chances multiply."
    )
    formula = (
        r"P(z)=P(d)\prod_{i=1}^{d}P(z_i\mid z_1\dots z_{i-1})=\frac{u_z}{C},\quad "
        r"u_z=\rho_d^{-2}\,a^\top K_za\qquad "
        r"P(z_i=j)=\frac{\langle S^{\odot(d-i)}\odot K_j,\,M_i\rangle}"
        r"{\langle S^{\odot(d-i+1)},\,M_i\rangle}\qquad "
        r"M_1=aa^\top,\quad M_{i+1}=M_i\odot K_{z_i},\quad S=\sum_jK_j"
    )
    order = 28
    wide = True

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> DrawnPathInfo:
        """See `View.prepare`."""
        inside = 0 <= k < len(trace)
        degrees = law(trace, k, "degree_law") if inside else np.empty(0)
        word = drawn_word(trace, k) if len(degrees) else None
        cursor = int(trace[k].iteration) if inside else 0
        if word is None or not len(word) < len(degrees):
            rows = (degrees,) if len(degrees) else ()
            names = scene.features
            return DrawnPathInfo(
                cursor, rows, (), np.empty(0), (), np.nan, "", "", 1, "", max(len(degrees) - 1, 0),
                names,
            )  # fmt: skip
        laws = law(trace, k, "position_laws")
        rows = (degrees, *(laws[i] for i in range(len(word)))) if len(laws) == len(word) else (
            degrees,
        )  # fmt: skip
        chosen = (len(word), *word)[: len(rows)]
        chances = np.array([row[i] for row, i in zip(rows, chosen, strict=True)])
        r = laws.shape[1] if laws.ndim == 2 else len(scene.features)
        names = tuple(feature(i, scene.features) for i in range(r))
        key, orderings = field(trace, k, "drawn_key"), field(trace, k, "orderings")
        return DrawnPathInfo(
            cursor=cursor,
            rows=rows,
            chosen=chosen,
            chances=chances,
            choices=(f"degree {len(word)}", *(feature(i, scene.features) for i in word))[
                : len(rows)
            ],
            probability=float(np.prod(chances)) if len(rows) == len(word) + 1 else np.nan,
            name=product(word, scene.features),
            short=word_name(word, scene.features),
            orderings=1 if orderings is None else int(orderings),
            key=product(word if key is None else key, scene.features),
            degree=len(degrees) - 1,
            features=names,
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(-0.01, 1.01), Range1d(-0.06, 4.0)
        plot = plotting.new_figure(
            self.title, "base features", "", x_range=self._x, y_range=self._y, height=420, left=86,
        )  # fmt: skip
        self._bars = ColumnDataSource({c: [] for c in _BARS})
        self._fans = ColumnDataSource({"x": [], "y": []})
        self._texts = ColumnDataSource({c: [] for c in _TEXTS})
        self._quiet = ColumnDataSource({c: [] for c in _TEXTS})
        self._leads = ColumnDataSource({"x": [], "y0": [], "y1": []})
        self._bases = ColumnDataSource({"x0": [], "x1": [], "y": []})
        plot.patches("x", "y", source=self._fans, fill_color=DRAWN, fill_alpha=0.2,
                     line_color=None)  # fmt: skip
        plot.segment("x0", "y", "x1", "y", source=self._bases, color=INK, alpha=0.5)
        bars = plot.quad(
            left="left", right="right", bottom="bottom", top="top", source=self._bars,
            fill_color="colour", line_color=None, fill_alpha="alpha",
        )  # fmt: skip
        plot.segment("x", "y0", "x", "y1", source=self._leads, color=DRAWN)
        words = {"text_align": "align", "text_baseline": "bottom", "y_offset": -3}
        plot.text("x", "y", "text", source=self._texts, color=DRAWN, text_font_size="14px",
                  text_font_style="bold", **words)  # fmt: skip
        plot.text("x", "y", "text", source=self._quiet, color=INK, text_font_size="12px", **words)
        plot.grid.grid_line_color = None
        for axis in plot.axis:
            axis.major_tick_in = axis.major_tick_out = 0
            axis.axis_line_alpha = 0.0
            axis.ticker = FixedTicker(ticks=[])
        plot.xaxis.major_label_orientation = 0.6
        plotting.add_hover(
            plot, [bars], [("", "@step"), ("choice", "@name"), ("probability", "@p{0.000000}")]
        )
        self._shape: tuple[int, tuple[str, ...]] = (-1, ())
        return plot

    def _write(self, info: DrawnPathInfo) -> None:
        info = _shown(info)
        if (info.degree, info.features) != self._shape:
            self._shape = (info.degree, info.features)
            self._label(info)
        self._bars.data = {k: plotting.light(v) for k, v in _bars(info).items()}
        fans = [_fan(info, i) for i in range(len(info.rows) - 1)]
        self._fans.data = {"x": [x for x, _ in fans], "y": [y for _, y in fans]}
        self._texts.data, self._leads.data = _choices(info)
        self._quiet.data = _ends(info)

    def _label(self, info: DrawnPathInfo) -> None:
        rows, plot = info.degree + 1, self.figure()
        plot.height = 110 + rows * (_ROW if rows <= _FEW else _LOW_ROW)
        self._y.end = max(rows, 2) - 1 + _WORDS + 0.12
        self._bases.data = {
            "x0": [0.0] * rows, "x1": [1.0] * rows, "y": [float(i) for i in range(rows)],
        }  # fmt: skip
        left = {info.degree - i + 0.22: _ordinal(i) if i else "degree" for i in range(rows)}
        plot.yaxis[0].ticker = FixedTicker(ticks=list(left))
        plot.yaxis[0].major_label_overrides = left
        r = len(info.features)
        named = r <= _MOST_LABELS
        short = cut_apart(info.features, 12) if named else []
        places = {(i + 0.5) / r: name for i, name in enumerate(short)}
        plot.xaxis[0].ticker = FixedTicker(ticks=list(places))
        plot.xaxis[0].major_label_overrides = places

    @staticmethod
    def marks(info: DrawnPathInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        if not info.name:
            return (("", "", "nothing is drawn at this iteration"),)
        found = [("■", LAW, "could be drawn"), ("■", DRAWN, f"drawn: {info.short}")]
        if np.isfinite(info.probability):
            found.append(("", "", _sum(info)))
        if (hidden := len(info.rows) - 1 - _depth(info)) > 0:
            found.append(("", "", f"{hidden} more factor{'s' if hidden > 1 else ''} not shown"))
        if info.orderings > 1:
            found.append(("", "", f"one of {info.orderings:,} orders that mean this kernel"))
        return tuple(found)

    @staticmethod
    def describe(info: DrawnPathInfo) -> str:
        """See `View.describe`."""
        if not info.name:
            return f"Nothing is drawn at iteration {info.cursor}."
        steps = ", then ".join(
            f"{choice} ({percent(p)})" for choice, p in zip(info.choices, info.chances, strict=True)
        )
        text = f"At iteration {info.cursor} the draw fell on {steps}: {info.name}."
        if np.isfinite(info.probability):
            text += f" The chances multiply to {number(info.probability)}."
        if info.orderings > 1:
            text += f" {info.orderings} orders mean the same kernel, {info.key}."
        return text


def _shown(info: DrawnPathInfo) -> DrawnPathInfo:
    """As many rows as fit."""
    depth = _depth(info)
    return info._replace(degree=depth, rows=info.rows[: depth + 1])


def _depth(info: DrawnPathInfo) -> int:
    return info.degree if info.degree <= _MOST_ROWS else _USUAL_ROWS


def _bars(info: DrawnPathInfo) -> dict[str, np.ndarray]:
    """Every bar of every row, as quads."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in _BARS}
    for i, row in enumerate(info.rows):
        n, base = len(row), float(info.degree - i)
        hit = np.arange(n) == (info.chosen[i] if i < len(info.chosen) else -1)
        middle = (np.arange(n) + 0.5) / n
        names = [f"degree {d}" for d in range(n)] if i == 0 else info.features
        found["left"].append(middle - 0.5 * _FILL / n)
        found["right"].append(middle + 0.5 * _FILL / n)
        found["bottom"].append(np.full(n, base))
        found["top"].append(base + _BAR * row / (row.max(initial=0.0) or 1.0))
        found["colour"].append(np.where(hit, DRAWN, LAW).astype(object))
        found["alpha"].append(np.where(hit, 0.95, 0.6))
        found["name"].append(np.array(names, dtype=object))
        found["p"].append(row)
        found["step"].append(np.full(n, _ordinal(i) if i else "degree", dtype=object))
    return {name: np.concatenate([*parts, np.empty(0)]) for name, parts in found.items()}


def _fan(info: DrawnPathInfo, i: int) -> tuple[list[float], list[float]]:
    """From the choice of row `i` to all of the row below it."""
    n, at = len(info.rows[i]), info.chosen[i]
    low, high = (at + 0.5 - 0.5 * _FILL) / n, (at + 0.5 + 0.5 * _FILL) / n
    top = float(info.degree - i)
    end = top - 1 + _WORDS
    return [low, high, 1.0, 0.0], [top, top, end, end]


def _align(x: float) -> str:
    """Words stay inside the picture."""
    return "left" if x < 0.08 else "right" if x > 0.92 else "center"


def _choices(info: DrawnPathInfo) -> tuple[dict[str, list[object]], dict[str, list[float]]]:
    """The name and the chance of each choice, higher than all bars, and lines down to its bar."""
    columns: dict[str, list[object]] = {name: [] for name in _TEXTS}
    leads: dict[str, list[float]] = {"x": [], "y0": [], "y1": []}
    for i, (row, at) in enumerate(zip(info.rows, info.chosen, strict=False)):
        x, base = (at + 0.5) / len(row), float(info.degree - i)
        text = f"{info.choices[i] if i else at}: {percent(row[at])}"
        for name, value in zip(_TEXTS, (x, base + _BAR, text, _align(x)), strict=True):
            columns[name].append(value)
        top = base + _BAR * float(row[at]) / (float(row.max()) or 1.0)
        for name, place in zip(leads, (x, top, base + _BAR), strict=True):
            leads[name].append(place)
    return columns, leads


def _ends(info: DrawnPathInfo) -> dict[str, list[object]]:
    """In the first row that is not used, why; in the row of degrees, their numbers."""
    columns: dict[str, list[object]] = {name: [] for name in _TEXTS}
    found: list[tuple[object, ...]] = []
    if info.rows:
        n, row = len(info.rows[0]), info.rows[0]
        tops = info.degree + _BAR * row / (row.max(initial=0.0) or 1.0)
        chosen = info.chosen[0] if info.chosen else -1
        few = n <= _FEW_DEGREES
        found += [
            ((d + 0.5) / n, float(tops[d]), f"{d}: {percent(row[d])}" if few else f"{d}", "center")
            for d in range(n)
            if (d != chosen if few else abs(d - chosen) > 1 and row[d] >= _WORTH_WORDS)
        ]
    if info.name and len(info.rows) <= info.degree:
        what = "the offset: nothing more to draw" if not info.chosen[0] else "the product is whole"
        found.append((0.5, float(info.degree - len(info.rows)) + 0.1, what, "center"))
    for values in found:
        for name, value in zip(_TEXTS, values, strict=True):
            columns[name].append(value)
    return columns


def _sum(info: DrawnPathInfo) -> str:
    """The chances, multiplied."""
    factors = " × ".join(number(p) for p in info.chances)
    if len(info.chances) == 1:
        return f"with probability {factors}"
    if len(factors) > _LONGEST_SUM:
        factors = f"{len(info.chances)} chances multiplied"
    return f"{factors} = {number(info.probability)}"
