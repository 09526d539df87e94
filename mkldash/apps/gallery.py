"""The pictures of a page: which are offered, and which are drawn in this frame."""

from __future__ import annotations

import dataclasses
from typing import Any

import panel as pn

from mkldash.apps import ui
from mkldash.apps.components import CardHead
from mkldash.apps.player import Shown
from mkldash.streaming import Session, State
from mkldash.views import available_views
from mkldash.views._reading import thin
from mkldash.views.base import View

__all__ = ["Gallery", "Picture", "wanted_row"]

#: Values that the session adds to the snapshots that are drawn.
SCORED = frozenset({"train_accuracy", "test_accuracy", "decision_grid"})

#: Views that are not drawn every frame take turns, so many at a time.
TURNS = 2

#: Rows that are scored after the run ended, so that the accuracy curve is whole.
MOST_SCORES = 120

#: How far back a scored snapshot is looked for while the run goes on.
SCORE_REACH = 300


class Picture:
    """One view in its card.

    Parameters
    ----------
    view : View
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.drawn: tuple[Any, ...] | None = None
        self._words = ""
        self.head = CardHead(title=view.title, caption=view.caption, sizing_mode="stretch_width")
        plot = view.figure()
        plot.title.visible = False
        self._formula = pn.Column(visible=False, sizing_mode="stretch_width", margin=0)
        self.head.param.watch(self._explain, "open")
        self.card = ui.card(
            self.head,
            self._formula,
            pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0),
            name=view.name,
        )

    def _explain(self, event: Any) -> None:
        if event.new and not len(self._formula):
            # Formulas are typeset when asked for: eleven of them slow down the first page.
            self._formula[:] = [
                pn.pane.LaTeX(
                    f"${line.strip().rstrip(',;')}$",
                    renderer="katex",
                    sizing_mode="stretch_width",
                    styles={"font-size": "15px", "overflow-x": "auto", "overflow-y": "hidden"},
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
        self._words = self.view.describe(info)
        self.drawn = key

    def speak(self) -> None:
        """Bring the text alternative up to date; not at frame rate."""
        if self.head.words != self._words:
            self.head.words = self._words


class Gallery:
    """All views that some run may need, built once and never again."""

    def __init__(self) -> None:
        self.pictures = [Picture(kind()) for kind in available_views().values()]
        self.layout = ui.grid(*(picture.card for picture in self.pictures))
        self._turn = 0

    @property
    def visible(self) -> list[Picture]:
        """Pictures that the shown run can feed."""
        return [picture for picture in self.pictures if picture.card.visible]

    def offer(self, session: Session, *, plane: bool) -> None:
        """Show what this run has the fields for.

        Parameters
        ----------
        session : Session
        plane : bool
            Whether its data have two features.
        """
        job = session.job
        if job is None:
            return
        fields = {f.name for f in dataclasses.fields(job.solver.snapshot_type)}
        added = SCORED if plane else SCORED - {"decision_grid"}
        have = frozenset(fields | added | {"gap", "support_vectors"})
        for picture in self.pictures:
            wanted = picture.view.offered(have)
            if picture.card.visible != wanted:
                picture.card.visible = wanted

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
        for picture in self.visible:
            k, key = _subject(shown, session, picture.view)
            if picture.drawn == key:
                continue
            if picture.view.every_frame:
                picture.draw(shown, k, key)
            elif k >= 0 and session.trace.peek(k) is not None:
                late.append((picture, k, key))
        chosen = late[self._turn % len(late) :] + late[: self._turn % len(late)] if late else []
        for picture, k, key in chosen[:TURNS]:
            picture.draw(shown, k, key)
        self._turn += TURNS
        return len(late) > TURNS

    def speak(self) -> None:
        """Bring the text alternatives up to date."""
        for picture in self.visible:
            picture.speak()


def _subject(shown: Shown, session: Session, view: View) -> tuple[int, tuple[Any, ...]]:
    """Row that `view` shows, and a key that changes when its picture would."""
    trace, k = session.trace, shown.k
    ghost = id(shown.ghost)
    if view.every_frame:
        return k, (id(trace), k, len(trace), ghost)
    if view.needs & SCORED:
        if "decision_grid" in view.needs:
            k = _scored_row(session, k)
        return k, (id(trace), k, shown.k, trace.n_scored)
    return k, (id(trace), k)


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


def _scored_row(session: Session, k: int) -> int:
    """The newest row up to `k` that has been scored; -1 when there is none."""
    for row in range(k, max(-1, k - SCORE_REACH), -1):
        if session.trace.has_values(row):
            return row
    return -1
