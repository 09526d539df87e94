"""The pictures of a page: which are offered, and which are drawn in this frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import panel as pn
from bokeh.models import LegendItem
from bokeh.plotting import figure

from mkldash.apps import ui
from mkldash.apps.components import CardHead
from mkldash.apps.facts import LAWS, SCORED, expected, possible
from mkldash.apps.player import Shown
from mkldash.apps.scenes import scored_row
from mkldash.apps.state import AppState
from mkldash.streaming import Session, State
from mkldash.views import available_views
from mkldash.views._reading import thin
from mkldash.views.base import Scene, View

__all__ = ["Gallery", "Picture", "wanted_row"]

#: Pixels that a card keeps free for its figure.
HEIGHT = 300

#: Views that are not drawn every frame take turns, so many at a time.
TURNS = 2

#: Frames within which each of them has its turn.
CYCLE = 4

#: Panel shows the MathML of KaTeX.  Browsers put marks over letters and stretch signs by
#: the table of a mathematical font, and do not find every one that a machine has.
_MATH_FONTS = (
    "math { font-family: 'Latin Modern Math', 'STIX Two Math', 'Cambria Math', "
    "'DejaVu Math TeX Gyre', math; }"
)

#: Rows that are scored after the run ended, so that the accuracy curve is whole.
MOST_SCORES = 120


class Picture:
    """One view in its card.

    Parameters
    ----------
    view : View
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.drawn: tuple[Any, ...] | None = None
        self.mounted = False
        self._words = ""
        self._curves: list[LegendItem] = []
        self.head = CardHead(
            title=view.title, caption=view.caption, figure=view.name, sizing_mode="stretch_width"
        )
        self.head.on_message = self._toggle
        self._formula = pn.Column(visible=False, sizing_mode="stretch_width", margin=0)
        self.head.param.watch(self._explain, "open")
        self._place = pn.Column(
            sizing_mode="stretch_width", min_height=HEIGHT, margin=0, styles={"flex": "none"}
        )
        self.card = ui.card(self.head, self._formula, self._place, name=view.name)
        if view.wide:
            self.card.styles = {**self.card.styles, "grid-column": "1 / -1"}

    def mount(self) -> figure:
        """Put the figure into its card."""
        plot = self.view.figure()
        if not self.mounted:
            self.mounted = True
            plot.title.visible, plot.min_border_top = False, 14
            # Bokeh builds a legend anew whenever its data change, so in every frame.
            # The head of the card names the curves instead.
            self._curves = [item for legend in plot.legend for item in legend.items]
            for legend in plot.legend:
                legend.update(items=[], visible=False)
            self._place[:] = [pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0)]
        return plot

    def _keys(self) -> list[list[Any]]:
        """Label, colour, dashes and whether it is drawn, of every named curve with data."""
        found = []
        for item in self._curves:
            curve = item.renderers[0]
            if len(next(iter(curve.data_source.data.values()))):
                glyph = curve.glyph
                found.append(
                    [item.label.value, glyph.line_color, list(glyph.line_dash), curve.visible]
                )
        return found

    def _toggle(self, message: Mapping[str, Any]) -> None:
        """A person hides or shows a curve by its name."""
        for item in self._curves:
            if item.label.value == message.get("key"):
                for curve in item.renderers:
                    curve.visible = not curve.visible
        self.head.keys = self._keys()

    def _explain(self, event: Any) -> None:
        if event.new and not len(self._formula):
            # Formulas are typeset when asked for: eleven of them slow down the first page.
            self._formula[:] = [
                pn.pane.LaTeX(
                    f"${line.strip().rstrip(',;')}$",
                    renderer="katex",
                    sizing_mode="stretch_width",
                    styles={"font-size": "15px", "overflow-x": "auto", "overflow-y": "hidden"},
                    stylesheets=[_MATH_FONTS],
                    margin=(2, 8, 4, 8),
                )
                for line in self.view.formula.split(r"\qquad")
            ]
        self._formula.visible = event.new

    def draw(self, shown: Shown, k: int, key: tuple[Any, ...]) -> None:
        """Write iteration `k` into the figure."""
        assert shown.session is not None
        info = type(self.view).prepare(shown.session.trace, k, shown.scene)
        self.view.update(info)
        keys, marks = self._keys(), [list(mark) for mark in self.view.marks(info)]
        if keys != self.head.keys or marks != self.head.marks:
            self.head.param.update(keys=keys, marks=marks)
        self._words = self.view.describe(info)
        self.drawn = key

    def speak(self) -> None:
        """Bring the text alternative up to date; not at frame rate."""
        if self.head.words != self._words:
            self.head.words = self._words


class Gallery:
    """All views that some run of the problem may need, built once and never again.

    The page opens with those that are drawn every frame; the others follow one
    by one while the run is watched already.

    Parameters
    ----------
    state : AppState, optional
        The first choices; by default those of the elastic net.
    """

    def __init__(self, state: AppState | None = None) -> None:
        state = AppState.default() if state is None else state
        have = possible(state.problem)
        kinds = [kind for kind in available_views().values() if kind.offered(have)]
        self.pictures = [Picture(kind()) for kind in kinds]
        self.layout = ui.grid(*(picture.card for picture in self.pictures))
        self._turn = 0
        self._mounting = False
        self._run: Session | None = None
        # What only some runs have comes when one does.
        self.offer(expected(state))
        for picture in self.visible:
            if picture.view.every_frame:
                picture.mount()

    @property
    def first(self) -> figure:
        """The first figure that is in the page from the beginning."""
        return next(p.view for p in self.pictures if p.mounted).figure()

    def _mount_next(self) -> bool:
        """Bring in one more figure, outside the frame.  False: all are there."""
        waiting = next((p for p in self.visible if not p.mounted), None)
        if waiting is not None and not self._mounting:
            self._mounting = True

            def mount() -> None:
                waiting.mount()
                self._mounting = False

            pn.state.execute(mount, schedule=True)
        return waiting is not None

    @property
    def visible(self) -> list[Picture]:
        """Pictures that the shown run can feed."""
        return [picture for picture in self.pictures if picture.card.visible]

    def offer(self, have: frozenset[str]) -> None:
        """Show what there is something for, each thing once.

        Parameters
        ----------
        have : frozenset of str
            Fields of the run's snapshots, values of its scores, and facts.
        """
        offered = [picture.view for picture in self.pictures if picture.view.offered(have)]
        replaced = {view.replaces for view in offered}
        for picture in self.pictures:
            wanted = picture.view in offered and picture.view.name not in replaced
            if picture.card.visible != wanted:
                picture.card.visible = wanted

    def clear(self) -> None:
        """No picture, as there is no run that could feed one; `offer` brings them back."""
        for picture in self.pictures:
            if picture.card.visible:
                picture.card.visible = False

    def fade(self, stale: bool) -> None:
        """Grey what belongs to other parameters than the present ones."""
        opacity = "0.4" if stale else "1"
        if self.layout.styles.get("opacity") != opacity:
            self.layout.styles = {**self.layout.styles, "opacity": opacity}

    def draw(self, shown: Shown) -> bool:
        """Draw one frame: bounds and gap always, the others in turns.

        Returns
        -------
        bool
            Whether some picture still shows something older.
        """
        session = shown.session
        if session is None or shown.k < 0:
            return False
        late = []
        # The first frame of a run is waited for: bounds and gap alone are there sooner.
        slow = sum(not picture.view.every_frame for picture in self.visible)
        turns = max(TURNS, -(-slow // CYCLE)) if self._run is session else 0
        self._run = session
        for picture in self.visible:
            k, key = _subject(shown, session, picture.view)
            if picture.drawn == key or not picture.mounted:
                continue
            if picture.view.every_frame:
                picture.draw(shown, k, key)
            elif k >= 0 and session.trace.peek(k) is not None:
                late.append((picture, k, key))
        chosen = late[self._turn % len(late) :] + late[: self._turn % len(late)] if late else []
        for picture, k, key in chosen[:turns]:
            picture.draw(shown, k, key)
        self._turn += turns
        return self._mount_next() or len(late) > turns

    def speak(self) -> None:
        """Bring the text alternatives up to date."""
        for picture in self.visible:
            picture.speak()


def _subject(shown: Shown, session: Session, view: View) -> tuple[int, tuple[Any, ...]]:
    """Row that `view` shows, and a key that changes when its picture would."""
    trace, k = session.trace, shown.k
    ghost = id(shown.ghost)
    beside = _beside(shown.scene, view)
    if view.every_frame:
        return k, (id(trace), k, len(trace), ghost, *beside)
    if view.needs & SCORED:
        if "decision_grid" in view.needs or view.needs & LAWS:
            k = scored_row(session, k)
        return k, (id(trace), k, shown.k, trace.n_scored, *beside)
    if "rivals" in view.needs:
        beside = (*beside, len(trace))
    return k, (id(trace), k, *beside)


def _beside(scene: Scene, view: View) -> tuple[Any, ...]:
    """What a view draws beside the run, where it may change under the same cursor."""
    found: list[Any] = []
    if "gram" in view.needs:
        found.append(scene.gram)
    if "rivals" in view.needs:
        found += [part for rival in scene.rivals for part in (rival, len(rival.trace))]
    if "baselines" in view.needs:
        found.append(scene.baselines)
    if view.needs & {"rho_sweep", "boundary_sweep"}:
        found.append(scene.sweep)
    return tuple(found)


def wanted_row(session: Session, k: int) -> int | None:
    """Row whose state or scores are wanted next: the cursor's, then gaps in the curves.

    Parameters
    ----------
    session : Session
        Not running: paused or ended.
    k : int
        Row under the cursor.
    """
    trace = session.trace
    if trace.peek(k) is None or not trace.has_values(k):
        return k
    if session.state is not State.FINISHED:
        return None
    for row in thin(len(trace), MOST_SCORES):
        if trace.peek(int(row)) is not None and not trace.has_values(int(row)):
            return int(row)
    return None
