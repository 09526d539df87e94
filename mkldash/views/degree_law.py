"""How long the next product is: the law of its degree."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import number, percent, word_name
from mkldash.views._palette import DRAWN, INK, LAW
from mkldash.views._reading import Readable, drawn_word, field, law
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["DegreeLawInfo", "DegreeLawView"]

_CALLED = {0: "0: offset", 1: "1: feature", 2: "2: pair", 3: "3: triple"}

#: Degrees that have room for words below their bars.
_FEW = 5


#: Up to so many degrees each has its share written above it, of more the likely ones.
_MOST_WORDS, _WORTH_WORDS = 9, 0.1


class DegreeLawInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    cursor : int
    law : array, shape (D + 1,)
        Probability of each degree; empty before the first draw.
    drawn : int
        Degree of the product drawn; -1 where nothing was drawn.
    name : str
        That product.
    total : float
        C, the sum of u over all ordered products; NaN where the step did not need it.
    """

    cursor: int
    law: Array
    drawn: int
    name: str
    total: float


class DegreeLawView(View):
    """First the degree is drawn, then the factors."""

    name = "degree-law"
    title = "Degree of the next product"
    needs = frozenset({"degree_law", "drawn", "products"})
    caption = (
        "Each step draws one product of features, and its degree first: the bars are the "
        "probabilities, the orange one was drawn."
    )
    formula = (
        r"P(d)=\frac{\delta(d)}{\sum_{e=0}^{D}\delta(e)}\qquad "
        r"\delta(d)=\rho_d^{-2}\,a^\top S^{\odot d}a,\quad S=\sum_jK_j\qquad "
        r"S^{\odot d}:\ \text{entries to the power }d"
    )
    order = 30

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> DegreeLawInfo:
        """See `View.prepare`."""
        if not 0 <= k < len(trace):
            return DegreeLawInfo(0, np.empty(0), -1, "", np.nan)
        word = drawn_word(trace, k)
        total = field(trace, k, "total")
        return DegreeLawInfo(
            cursor=int(trace[k].iteration),
            law=law(trace, k, "degree_law"),
            drawn=-1 if word is None else len(word),
            name="" if word is None else word_name(word, scene.features),
            total=np.nan if total is None else float(total),
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(-0.6, 3.6), Range1d(0, 1)
        plot = plotting.new_figure(
            self.title, "degree: number of factors", "probability",
            x_range=self._x, y_range=self._y,
        )  # fmt: skip
        self._bars = ColumnDataSource(
            {c: [] for c in ("x", "p", "colour", "alpha", "text", "quiet", "loud")}
        )
        bars = plot.vbar(
            "x", 0.66, "p", source=self._bars, fill_color="colour", line_color="colour",
            fill_alpha="alpha",
        )  # fmt: skip
        plotting.two_inks(
            plot, "x", "p", self._bars, INK, DRAWN, text_align="center", text_baseline="bottom",
            text_font_size="13px", y_offset=-3,
        )  # fmt: skip
        plot.xaxis.major_tick_out = plot.xaxis.major_tick_in = 0
        plotting.add_hover(plot, [bars], [("degree", "@x"), ("probability", "@p{0.000000}")])
        self._degrees = 0
        return plot

    def _write(self, info: DegreeLawInfo) -> None:
        degrees = np.arange(len(info.law))
        hit = degrees == info.drawn
        plotting.write(
            self._bars,
            {
                "x": degrees.astype(np.float64),
                "p": info.law,
                "colour": np.where(hit, DRAWN, LAW).astype(object),
                "alpha": np.where(hit, 0.95, 0.6),
                **plotting.inks(hit),
                "text": np.array([_said(p, len(info.law)) for p in info.law], dtype=object),
            },
            full=True,
        )
        n = len(info.law)
        if n and n != self._degrees:
            self._degrees = n
            self._x.update(start=-0.6, end=max(n, 3) - 0.4)
            axis = self.figure().xaxis[0]
            axis.ticker = FixedTicker(ticks=list(range(n)))
            axis.major_label_overrides = {
                i: _CALLED.get(i, str(i)) if n <= _FEW else str(i) for i in range(n)
            }
        if n:
            plotting.fit(self._y, 0.0, float(info.law.max()) * 1.12)

    @staticmethod
    def marks(info: DegreeLawInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        if not len(info.law):
            return (("", "", "the first step draws the first product"),)
        found = [("■", LAW, "probability")]
        if info.drawn >= 0:
            found.append(("■", DRAWN, f"drawn: {info.name}"))
        if math.isfinite(info.total):
            found.append(("", "", f"C = {number(info.total, 4)}"))
        return tuple(found)

    @staticmethod
    def describe(info: DegreeLawInfo) -> str:
        """See `View.describe`."""
        if not len(info.law):
            return "No product has been drawn yet."
        shares = ", ".join(f"{d}: {percent(p)}" for d, p in enumerate(info.law))
        text = f"At iteration {info.cursor} the degrees have the probabilities {shares}."
        if info.drawn >= 0:
            text += f" Degree {info.drawn} was drawn: {info.name}."
        return text


def _said(share: float, n: int) -> str:
    """What stands above a bar; nothing above the low ones of many."""
    return percent(share) if n <= _MOST_WORDS or share >= _WORTH_WORDS else ""
