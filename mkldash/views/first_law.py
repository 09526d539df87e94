"""Where the next product begins: the law of its first factor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import cut_apart, feature, percent, word_name
from mkldash.views._palette import DRAWN, INK, LAW
from mkldash.views._reading import Readable, drawn_word, law
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["MOST", "FirstLawInfo", "FirstLawView"]

#: Features drawn; up to here all of them, in their own order.
MOST = 16
#: Room for as many bars is always there.
_FEWEST = 5
_LONGEST_NAME = 18


class FirstLawInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    cursor : int
    names : tuple of str
        Features drawn: all in their own order, or the most likely ones, largest first.
    shares : array, shape (n_drawn,)
        Probability of each as the first factor.
    hit : array of bool, shape (n_drawn,)
        Whether it is a factor of the product drawn.
    others : int
        Features that are not shown.
    rest : float
        Their probabilities together.
    word : str
        The product drawn; empty where nothing was.
    """

    cursor: int
    names: tuple[str, ...]
    shares: Array
    hit: NDArray[np.bool_]
    others: int
    rest: float
    word: str


def _chosen(shares: Array, word: tuple[int, ...]) -> NDArray[np.intp]:
    """Features to show: all, or the most likely and those of the word."""
    if len(shares) <= MOST:
        return np.arange(len(shares))
    order = np.argsort(-shares, kind="stable")
    kept = order[: MOST - 1]
    missing = [i for i in dict.fromkeys(word) if i not in kept][: MOST - 1]
    if missing:
        free = [i for i in kept if i in word]
        most = max(0, MOST - 1 - len(missing) - len(free))
        other = [i for i in kept if i not in word][:most]
        kept = np.array([*free, *other, *missing], dtype=np.intp)
        kept = kept[np.argsort(-shares[kept], kind="stable")]
    return kept


class FirstLawView(View):
    """Which features are worth multiplying."""

    name = "first-law"
    title = "First feature of the next product"
    needs = frozenset({"first_law", "drawn", "products"})
    caption = (
        "How likely each feature is to open the next product, given that it has one at all. "
        "Orange: the features of the product that was drawn."
    )
    formula = (
        r"P(z_1=j\mid d\ge1)=\frac{\sum_{d\ge1}\rho_d^{-2}\,a^\top(S^{\odot(d-1)}\odot K_j)\,a}"
        r"{\sum_{d\ge1}\rho_d^{-2}\,a^\top S^{\odot d}a},\quad S=\sum_jK_j\qquad "
        r"\odot:\ \text{entry by entry}"
    )
    order = 32

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> FirstLawInfo:
        """See `View.prepare`."""
        nothing = FirstLawInfo(0, (), np.empty(0), np.empty(0, bool), 0, 0.0, "")
        if not 0 <= k < len(trace):
            return nothing
        shares, word = law(trace, k, "first_law"), drawn_word(trace, k)
        kept = _chosen(shares, word or ())
        return FirstLawInfo(
            cursor=int(trace[k].iteration),
            names=tuple(feature(int(i), scene.features) for i in kept),
            shares=shares[kept],
            hit=np.isin(kept, word or ()),
            others=len(shares) - len(kept),
            rest=max(0.0, float(shares.sum() - shares[kept].sum())),
            word="" if word is None else word_name(word, scene.features),
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(0, 0.1), Range1d(_FEWEST - 0.4, -0.6)
        plot = plotting.new_figure(
            self.title, "probability to be the first factor", "",
            x_range=self._x, y_range=self._y, left=120, height=300,
        )  # fmt: skip
        self._bars = ColumnDataSource(
            {c: [] for c in ("y", "p", "colour", "alpha", "text", "quiet", "loud", "name")}
        )
        self._rest = ColumnDataSource({"y": [], "x": [], "text": []})
        bars = plot.hbar(
            "y", 0.7, "p", source=self._bars, fill_color="colour", line_color="colour",
            fill_alpha="alpha",
        )  # fmt: skip
        words = {"text_baseline": "middle", "text_font_size": "12px", "x_offset": 5}
        plotting.two_inks(plot, "p", "y", self._bars, INK, DRAWN, **words)
        plot.text("x", "y", "text", source=self._rest, color=INK, **words)
        plot.ygrid.grid_line_color = None
        plot.xgrid.grid_line_color = "#88888840"
        plot.yaxis.major_tick_out = plot.yaxis.major_tick_in = 0
        plotting.add_hover(plot, [bars], [("feature", "@name"), ("probability", "@p{0.000000}")])
        self._labels: list[str] = []
        return plot

    def _write(self, info: FirstLawInfo) -> None:
        n = len(info.names)
        plotting.write(
            self._bars,
            {
                "y": np.arange(n, dtype=np.float64),
                "p": info.shares,
                "colour": np.where(info.hit, DRAWN, LAW).astype(object),
                "alpha": np.where(info.hit, 0.95, 0.6),
                **plotting.inks(info.hit),
                "text": np.array([percent(p) for p in info.shares], dtype=object),
                "name": np.array(info.names, dtype=object),
            },
            full=True,
        )
        rest = [f"{percent(info.rest)} together"] if info.others else []
        at = {"y": np.full(len(rest), float(n)), "x": np.zeros(len(rest))}
        plotting.write(self._rest, {**at, "text": np.array(rest, dtype=object)}, full=True)
        labels = cut_apart(info.names, _LONGEST_NAME)
        if info.others:
            labels.append(f"{info.others} others")
        if labels != self._labels:
            self._labels = labels
            axis = self.figure().yaxis[0]
            axis.ticker = FixedTicker(ticks=list(range(len(labels))))
            axis.major_label_overrides = dict(enumerate(labels))
        start = max(len(labels), _FEWEST) - 0.4
        if self._y.start != start:
            self._y.start = start
        if n:
            plotting.fit(self._x, 0.0, float(info.shares.max()) * 1.12)

    @staticmethod
    def marks(info: FirstLawInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        if not info.names:
            return (("", "", "no law of the first feature at this iteration"),)
        found = [("■", LAW, "probability")]
        if info.word:
            found.append(("■", DRAWN, f"drawn: {info.word}"))
        return tuple(found)

    @staticmethod
    def describe(info: FirstLawInfo) -> str:
        """See `View.describe`."""
        if not info.names:
            return "The law of the first feature is not known at this iteration."
        order = np.argsort(-info.shares, kind="stable")[:3]
        lead = ", ".join(f"{info.names[i]} ({percent(info.shares[i])})" for i in order)
        text = f"At iteration {info.cursor} a product most likely begins with {lead}."
        if info.others:
            text += f" {info.others} features that are not shown share {percent(info.rest)}."
        return f"{text} Drawn: {info.word}." if info.word else text
