"""The pictures of a race: three gap figures on one gap axis, and the weights side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import panel as pn

from mkldash.apps import ui
from mkldash.apps.components import CardHead
from mkldash.apps.racing.lanes import Lane
from mkldash.apps.racing.palette import colour_of
from mkldash.apps.racing.schedule import AXES, Axis
from mkldash.apps.racing.state import LETTERS
from mkldash.kernels.weights import Weights
from mkldash.views._lane_weights import WeightsFigure, read_weights
from mkldash.views._lanes import Curve, GapFigure, gap_axis, read_gaps

__all__ = ["Pictures", "curve_of"]

_GAP = (
    "How far each lane's answer is from the best possible, at most: the relative gap of its two "
    "bounds. All three pictures share this axis, and each grid line is ten times closer. "
    "★ certified to the tolerance (dotted line), ■ ended without, ● where it is at the cursor, "
    "△ no certificate yet. "
)


class _Spec(NamedTuple):
    axis: str
    title: str
    label: str
    caption: str


_GAPS = (
    _Spec("iteration", "Gap by iterations", "iterations", _GAP +
          "An iteration may cost much in one solver and little in another: this picture shows how "
          "wise a step is, not how cheap."),
    _Spec("solves", "Gap by inner solves", "inner solves", _GAP +
          "An inner solve is a support vector machine (or a projection, a program, a ridge "
          "problem) solved on the way: most of the work, and the same on every machine."),
    _Spec("seconds", "Gap by seconds", "seconds of the solver's own work (log)", _GAP +
          "Seconds that the solver itself worked: building kernels, compiling, drawing and the "
          "other lanes are not in it. Below ten milliseconds only orders of magnitude count."),
)  # fmt: skip

_WEIGHTS = (
    "The same kernels above each other, the heaviest first; each strip is one lane, scaled to its "
    "own heaviest kernel. Lanes of one problem must agree once they are certified closely enough."
)


class Pictures:
    """Figures and their cards.

    Parameters
    ----------
    on_hide : callable
        Gets the letter of a lane whose name was clicked.
    """

    def __init__(self, on_hide: Any) -> None:
        lanes = {letter: colour_of(letter) for letter in LETTERS}
        shared = gap_axis()
        self.figures: dict[str, GapFigure] = {}
        self.heads: dict[str, CardHead] = {}
        self._on_hide = on_hide
        self._names: dict[str, str] = {}
        cards = []
        for spec in _GAPS:
            axis = AXES[spec.axis]
            made = GapFigure(
                f"race-{spec.axis}", axis.column, spec.label, lanes, shared, log=axis.logarithmic
            )
            self.figures[spec.axis] = made
            cards.append(self._card(f"race-{spec.axis}", spec.title, spec.caption, made.plot))
        self.weights = WeightsFigure("race-weights", lanes)
        card = self._card(
            "race-weights", "Kernel weights side by side", _WEIGHTS, self.weights.plot
        )
        card.styles = {**card.styles, "grid-column": "1 / -1"}
        self._cards = dict(zip((*self.figures, "weights"), (*cards, card), strict=True))
        self.layout = ui.grid(*cards, card, least=380)
        self._front: str | None = None
        self._weights_key: Any = None
        self._words: dict[str, str] = {}

    def _card(self, name: str, title: str, caption: str, plot: Any) -> Any:
        head = CardHead(title=title, caption=caption, figure=name, sizing_mode="stretch_width")
        head.on_message = self._clicked
        self.heads[name] = head
        pane = pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0)
        return ui.card(head, pane, name=name)

    def _clicked(self, message: Mapping[str, Any]) -> None:
        letter = str(message.get("key", ""))[:1].lower()
        if letter in LETTERS:
            self._on_hide(letter)

    def put_first(self, axis: str) -> None:
        """The picture of the axis that lanes are kept in step by is the large one."""
        if axis == self._front:
            return
        self._front = axis
        for name in self.figures:
            card = self._cards[name]
            place = {"grid-column": "1 / -1", "order": "-1"} if name == axis else {}
            kept = {n: v for n, v in card.styles.items() if n not in ("grid-column", "order")}
            card.styles = {**kept, **place}
            height = 320 if name == axis else 260
            if self.figures[name].plot.height != height:
                self.figures[name].plot.height = height

    def draw(
        self,
        curves: Sequence[Curve],
        *,
        tol: float | None,
        hidden: frozenset[str],
        axis: str,
        cursor: float | None,
    ) -> None:
        """All gap figures, with the cursor in that of the race's own axis."""
        info = read_gaps(curves, tol)
        keys = [
            [curve.name, *_line(curve.key), curve.key not in hidden, curve.key] for curve in curves
        ]
        for name, made in self.figures.items():
            made.draw(info, hidden, cursor if name == axis else None)
            head = self.heads[f"race-{name}"]
            if head.keys != keys:
                head.keys = keys

    def draw_one(
        self, axis: str, curves: Sequence[Curve], *, tol: float | None, hidden: frozenset[str]
    ) -> None:
        """One gap figure, whose curves are its own; without a cursor."""
        self.figures[axis].draw(read_gaps(curves, tol), hidden, None)
        keys = [
            [curve.name, *_line(curve.key), curve.key not in hidden, curve.key] for curve in curves
        ]
        self.heads[f"race-{axis}"].keys = keys

    def draw_tables(
        self, found: Mapping[str, Mapping[str, float]], names: Mapping[str, str]
    ) -> None:
        """Weights that are known by name only: recorded ones, the largest of each."""
        weights = {
            key: Weights.of(tuple(table), list(table.values()))
            for key, table in found.items()
            if table
        }
        self.draw_weights(weights, names, ())

    def draw_weights(
        self, found: Mapping[str, Weights], names: Mapping[str, str], features: Sequence[str]
    ) -> None:
        """The weights of all lanes that learn any."""
        card = self._cards["weights"]
        several = {k: w for k, w in found.items() if len(w) > 1 or features}
        if card.visible != bool(several):
            card.visible = bool(several)
        key = tuple((k, id(w)) for k, w in several.items())
        if not several or key == self._weights_key:
            return
        self._weights_key = key
        info = read_weights(several, features)
        self.weights.draw(info, names)
        head = self.heads["race-weights"]
        keys = [[names[k], *_line(k), True, k] for k in several]
        if head.keys != keys:
            head.keys = keys
        self._words["race-weights"] = self.weights.describe(info, names)

    def say(self, words: str) -> None:
        """Text alternatives, not at frame rate."""
        told = {**{f"race-{name}": words for name in self.figures}, **self._words}
        for name, text in told.items():
            if self.heads[name].words != text:
                self.heads[name].words = text

    def fade(self, stale: bool) -> None:
        """Grey what belongs to other choices than the present ones."""
        opacity = "0.4" if stale else "1"
        if self.layout.styles.get("opacity") != opacity:
            self.layout.styles = {**self.layout.styles, "opacity": opacity}


def curve_of(lane: Lane, axis: Axis, place: int) -> Curve:
    """What a lane has to draw, with its row at a place of an axis."""
    columns = lane.columns()
    along = {
        other.column: np.asarray(columns.get(other.column, ()), dtype=np.float64)
        for other in AXES.values()
    }
    return Curve(
        key=lane.spec.letter,
        name=lane.named,
        gap=np.asarray(columns.get("gap", ()), dtype=np.float64),
        along=along,
        k=lane.row(axis, place),
        ended=lane.ended,
    )


def _line(letter: str) -> tuple[str, list[int]]:
    colour, dashes = colour_of(letter)
    return colour, list(dashes)
