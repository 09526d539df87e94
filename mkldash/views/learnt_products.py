"""The products that were learnt, heaviest first."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.kernels.weights import ACTIVE_THRESHOLD
from mkldash.views import _plotting as plotting
from mkldash.views._names import count, cut_apart, number, product
from mkldash.views._palette import ACCENT, CURSOR, INK
from mkldash.views._reading import Readable, active_weights
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["TOP", "LearntProductsInfo", "LearntProductsView"]

#: Products drawn.
TOP = 12
_FEWEST = 6
_LONGEST_NAME = 26
STAR = "★ "

_BARS = ("y", "answer", "iterate", "end", "text", "name", "alpha", "place")


class LearntProductsInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    cursor : int
    names : tuple of str
        Products drawn, by their weight in the answer; true ones that are not among the
        heaviest come last.
    answer, iterate : array, shape (n_drawn,)
        Weights of the best point so far, and of the iterate.
    true : array of bool, shape (n_drawn,)
        Whether the target was made of it.
    rank : array of int, shape (n_drawn,)
        Place by weight in the answer, from 1; 0 without any weight.
    carrying : int
        Products with weight in the answer.
    n_keys : int
        All products that could carry weight; 0 if unknown.
    rest : float
        Share of the answer's weight that is not drawn.
    known : int
        How many true products there are; 0 where they are not known.
    found : int
        How many of them are among as many of the heaviest.
    """

    cursor: int
    names: tuple[str, ...]
    answer: Array
    iterate: Array
    true: NDArray[np.bool_]
    rank: NDArray[np.intp]
    carrying: int
    n_keys: int
    rest: float
    known: int
    found: int


_NOTHING = LearntProductsInfo(
    0, (), np.empty(0), np.empty(0), np.empty(0, bool), np.empty(0, np.intp), 0, 0, 0.0, 0, 0
)


class LearntProductsView(View):
    """Which products of features the run has found."""

    name = "learnt-products"
    title = "Learnt products"
    needs = frozenset({"weights", "best", "products"})
    caption = (
        "The products with most weight: bars are the best point so far, an iterate or an average, "
        "which is the answer; the purple tick is the iterate, which still jumps. ★ made the target."
    )
    formula = (
        r"K_\theta=\sum_z\theta_z\,\rho_{d(z)}^{-2}\,K_{z_1}\odot\dots\odot K_{z_d}\qquad "
        r"\lVert\theta\rVert_\nu\le1,\quad\theta\ge0,\quad\nu=\frac{p}{2-p}"
    )
    order = 22

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> LearntProductsInfo:
        """See `View.prepare`."""
        if not 0 <= k < len(trace):
            return _NOTHING
        answer = trace[k].best.weights.as_dict(ACTIVE_THRESHOLD)
        iterate = active_weights(trace, k, "weights")
        order = list(answer)
        # Orders of one product count once.
        heaviest = list(dict.fromkeys(_sorted(key) for key in order))
        rank = {key: i + 1 for i, key in enumerate(order)}
        true = dict.fromkeys(scene.true_products)
        late = [key for key in true if not 0 < rank.get(key, 0) <= TOP]
        keys = [key for key in order[: TOP - len(late)] if key not in late] + late[:TOP]
        total = sum(answer.values())
        shown = np.array([answer.get(key, 0.0) for key in keys])
        return LearntProductsInfo(
            cursor=int(trace[k].iteration),
            names=tuple(product(key, scene.features) for key in keys),
            answer=shown,
            iterate=np.array([iterate.get(key, 0.0) for key in keys]),
            true=np.array([_sorted(key) in true for key in keys], dtype=bool),
            rank=np.array([rank.get(key, 0) for key in keys], dtype=np.intp),
            carrying=len(answer),
            n_keys=0 if scene.family is None else scene.family.n_keys,
            rest=max(0.0, 1.0 - float(shown.sum()) / total) if total > 0 else 0.0,
            known=len(true),
            found=len(set(heaviest[: len(true)]) & true.keys()),
        )

    def _build(self) -> figure:
        self._x, self._y = Range1d(0, 0.1), Range1d(_FEWEST - 0.4, -0.6)
        plot = plotting.new_figure(
            self.title, "weight θ", "", x_range=self._x, y_range=self._y, left=170, height=340
        )
        self._bars = ColumnDataSource({c: [] for c in _BARS})
        bars = plot.hbar(
            "y", 0.68, "answer", source=self._bars, color=ACCENT, fill_alpha="alpha",
            line_width=1,
        )  # fmt: skip
        ticks = plot.scatter(
            "iterate", "y", source=self._bars, marker="dash", angle=np.pi / 2, size=17,
            color=CURSOR, line_width=3.5,
        )  # fmt: skip
        plot.text(
            "end", "y", "text", source=self._bars, color=INK, text_baseline="middle",
            text_font_size="12px", x_offset=6,
        )  # fmt: skip
        plot.ygrid.grid_line_color = None
        plot.xgrid.grid_line_color = "#88888840"
        plot.yaxis.major_tick_out = plot.yaxis.major_tick_in = 0
        plotting.add_hover(
            plot, [bars, ticks],
            [("product", "@name"), ("answer", "@answer{0.000000}"),
             ("iterate", "@iterate{0.000000}"), ("place", "@place")],
        )  # fmt: skip
        self._labels: tuple[str, ...] = ()
        return plot

    def _write(self, info: LearntProductsInfo) -> None:
        n = len(info.names)
        strong = info.true if info.known else np.ones(n, bool)
        plotting.write(
            self._bars,
            {
                "y": np.arange(n, dtype=np.float64),
                "answer": info.answer,
                "iterate": info.iterate,
                "end": np.maximum(info.answer, info.iterate),
                "text": np.array([number(w) for w in info.answer], dtype=object),
                "name": np.array(info.names, dtype=object),
                "alpha": np.where(strong, 0.85, 0.25),
                "place": np.array([str(r) if r else "no weight" for r in info.rank], dtype=object),
            },
            full=True,
        )
        labels = tuple(_label(info, i, name) for i, name in enumerate(_short(info)))
        if labels != self._labels:
            self._labels = labels
            axis = self.figure().yaxis[0]
            axis.ticker = FixedTicker(ticks=list(range(n)))
            axis.major_label_overrides = dict(enumerate(labels))
        start = max(n, _FEWEST) - 0.4
        if self._y.start != start:
            self._y.start = start
        if n:
            # A number stands right of its bar.
            plotting.fit(self._x, 0.0, max(info.answer.max(), info.iterate.max()) * 1.25)

    @staticmethod
    def marks(info: LearntProductsInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        of = f" of {count(info.n_keys)}" if info.n_keys else ""
        found = [
            ("■", ACCENT, "best point"), ("┃", CURSOR, "iterate"),
            ("", "", f"carry weight: {info.carrying:,}{of}"),
        ]  # fmt: skip
        if info.known:
            found.append(("★", INK, f"true ({info.found} of {info.known} on top)"))
        return tuple(found)

    @staticmethod
    def describe(info: LearntProductsInfo) -> str:
        """See `View.describe`."""
        if not info.carrying:
            return "No product carries weight yet."
        first = ", ".join(
            f"{name}: {weight:.4g}" for name, weight in list(
                zip(info.names, info.answer, strict=True))[:4] if weight > 0
        )  # fmt: skip
        carry = "1 product carries" if info.carrying == 1 else f"{info.carrying} products carry"
        text = f"{carry} weight. Heaviest: {first}."
        if info.known:
            text += f" {info.found} of {info.known} true products are the heaviest ones."
        return text


def _sorted(key: Hashable) -> Hashable:
    """The product that a key means where each order of it is a kernel of its own."""
    return tuple(sorted(key)) if isinstance(key, tuple) else key


def _short(info: LearntProductsInfo) -> list[str]:
    return cut_apart(info.names, _LONGEST_NAME)


def _label(info: LearntProductsInfo, i: int, name: str) -> str:
    """Name at the axis: a star for a true product, its place where it is not in order."""
    if not info.true[i]:
        return name
    place = "" if 0 < info.rank[i] <= TOP else f" ({_place(int(info.rank[i]))})"
    return f"{STAR}{name}{place}"


def _place(rank: int) -> str:
    return f"place {rank}" if rank else "no weight"
