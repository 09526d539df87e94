"""Which pairs of features are likely: the law of the products of two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import feature, percent, word_name
from mkldash.views._palette import ACCENT, DRAWN
from mkldash.views._reading import Readable, drawn_word, law
from mkldash.views._sheet import MOST_FEATURES, Sheet
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["PairLawInfo", "PairLawView"]


class PairLawInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    cursor : int
    features : tuple of str
        Those shown, in their own order.
    total : int
        All features.
    law : array, shape (n_shown, n_shown)
        Probability of each ordered pair, given degree 2.
    drawn : tuple of int
        Place of the first two factors drawn among `features`; empty where fewer
        than two were drawn, or one is not shown.
    degree : int
        Factors of the product drawn; -1 where nothing was.
    word : str
        The product drawn.
    shown : float
        Probability of the pairs that are shown.
    """

    cursor: int
    features: tuple[str, ...]
    total: int
    law: Array
    drawn: tuple[int, ...]
    degree: int
    word: str
    shown: float


class PairLawView(View):
    """The law of pairs, as a map."""

    name = "pair-law"
    title = "Pairs of features"
    needs = frozenset({"pair_law", "drawn", "products"})
    caption = (
        "How likely each pair is when two features are multiplied; the diagonal holds squares. "
        "The pair drawn is outlined; of a longer product its first two factors, in dashes."
    )
    formula = (
        r"P(z_1=i,\,z_2=j\mid d=2)=\frac{a^\top(K_i\odot K_j)\,a}{a^\top(S\odot S)\,a},"
        r"\quad S=\sum_jK_j\qquad \odot:\ \text{entry by entry}"
    )
    order = 38

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> PairLawInfo:
        """See `View.prepare`."""
        pairs = law(trace, k, "pair_law") if 0 <= k < len(trace) else np.empty(0)
        if pairs.ndim != 2:
            number = int(trace[k].iteration) if 0 <= k < len(trace) else 0
            return PairLawInfo(number, (), 0, np.empty((0, 0)), (), -1, "", 0.0)
        word, r = drawn_word(trace, k), len(pairs)
        kept = np.arange(r)
        if r > MOST_FEATURES:
            first = list(dict.fromkeys((word or ())[:2]))
            order = [i for i in np.argsort(-pairs.sum(axis=1), kind="stable") if i not in first]
            kept = np.sort(np.array([*first, *order][:MOST_FEATURES], dtype=np.intp))
        drawn = tuple(int(np.flatnonzero(kept == i)[0]) for i in (word or ())[:2])
        part = pairs[np.ix_(kept, kept)]
        return PairLawInfo(
            cursor=int(trace[k].iteration),
            features=tuple(feature(int(i), scene.features) for i in kept),
            total=r,
            law=part,
            drawn=drawn if len(drawn) == 2 else (),
            degree=-1 if word is None else len(word),
            word="" if word is None else word_name(word, scene.features),
            shown=float(part.sum()),
        )

    def _build(self) -> figure:
        self._sheet = Sheet(self.title, "second factor", "first factor", "probability")
        plot = self._sheet.plot
        self._whole = ColumnDataSource({"x": [], "y": []})
        self._begun = ColumnDataSource({"x": [], "y": []})
        frame = {"fill_alpha": 0.0, "line_color": DRAWN, "line_width": 3}
        plot.rect("x", "y", 1.0, 1.0, source=self._whole, **frame)
        plot.rect("x", "y", 1.0, 1.0, source=self._begun, line_dash=[5, 3], **frame)
        return plot

    def _write(self, info: PairLawInfo) -> None:
        n = len(info.features)
        row, column = (part.ravel() for part in np.indices((n, n)))
        names = [f"{one} · {two}" for one in info.features for two in info.features]
        values = info.law.ravel()
        self._sheet.write(column, row, values, names, high=float(values.max(initial=0.0)))
        self._sheet.label(info.features, info.features)
        for source, wanted in ((self._whole, info.degree == 2), (self._begun, info.degree > 2)):
            at = [info.drawn[::-1]] if wanted and info.drawn else []
            plotting.write(
                source,
                {"x": np.array([1.0 * x for x, _ in at]), "y": np.array([1.0 * y for _, y in at])},
                full=True,
            )

    @staticmethod
    def marks(info: PairLawInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        if not info.features:
            return (("", "", "no law of pairs at this iteration"),)
        found = [("■", ACCENT, "more likely")]
        if info.degree == 2:
            found.append(("□", DRAWN, f"drawn: {info.word}"))
        elif info.degree > 2:
            found.append(("⬚", DRAWN, f"first two of {info.word}"))
        elif info.degree >= 0:
            found.append(("", "", f"drawn: {info.word}, no pair"))
        if len(info.features) < info.total:
            found.append(
                ("", "", f"{len(info.features)} of {info.total} features: {percent(info.shown)}")
            )
        return tuple(found)

    @staticmethod
    def describe(info: PairLawInfo) -> str:
        """See `View.describe`."""
        if not info.features:
            return "The law of pairs is not known at this iteration."
        i, j = np.unravel_index(int(np.argmax(info.law)), info.law.shape)
        text = (
            f"At iteration {info.cursor} the likeliest ordered pair of {info.total} by "
            f"{info.total} is {info.features[i]} · {info.features[j]} "
            f"({percent(float(info.law[i, j]))})."
        )
        if info.degree == 2:
            return f"{text} Drawn: {info.word}."
        if info.degree > 2:
            return f"{text} Drawn: {info.word}; its first two factors are outlined in dashes."
        return f"{text} Drawn: {info.word}, which is no pair." if info.word else text
