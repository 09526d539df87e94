"""What a dashboard can save of what it shows: numbers, a script, pictures."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import panel as pn

from mkldash.apps.components import Recipe, SaveBar
from mkldash.apps.gallery import Gallery, Picture
from mkldash.apps.jobs import Extra
from mkldash.apps.on_screen import Shot, as_seen, on_screen
from mkldash.apps.player import Player
from mkldash.apps.recipe import command, python, versions
from mkldash.apps.saved import as_csv
from mkldash.apps.script import Seen, script
from mkldash.apps.state import AppState
from mkldash.streaming import Session

__all__ = ["OFFERS", "RecipeCard", "Saver", "give_later"]

#: Kind, words and hint of each button.
OFFERS: tuple[tuple[str, str, str], ...] = (
    ("csv", "Numbers (CSV)",
     "Raw numbers of every iteration of the shown run, the grey one and those beside it"),
    ("py", "Python script",
     "Computes what is on screen again, branches included, and compares the numbers"),
    ("png", "Pictures (PNG)", "All pictures of the page on one sheet, with the parameters"),
    ("svg", "Pictures (SVG)",
     "All pictures of the page on one sheet of vector graphics, for print and papers"),
)  # fmt: skip


class Saver:
    """The group of buttons of a dashboard, and the menus of its pictures.

    Parameters
    ----------
    player : Player
    gallery : Gallery
    title : str
        Of the page.
    """

    def __init__(self, player: Player, gallery: Gallery, title: str) -> None:
        self._player, self._gallery, self._title = player, gallery, title
        self.part = SaveBar(
            offers=[list(o) for o in OFFERS], ready=False,
            sizing_mode="stretch_width", margin=(2, 6, 4, 6),
        )  # fmt: skip
        self.part.on_message = self._wanted
        self.recipe = RecipeCard()
        for picture in gallery.pictures:
            picture.head.tell = lambda picture=picture: self._told(picture)

    def follow(self) -> None:
        """Bring it to the shown run; not at frame rate."""
        shown = self._player.shown()
        self.recipe.follow(shown.session)
        ready = shown.session is not None and shown.k >= 0
        if self.part.ready != ready:
            self.part.ready = ready

    def _wanted(self, message: Mapping[str, Any]) -> None:
        kind = str(message.get("kind"))
        shots = on_screen(self._player)
        if not shots:
            self.part.say("There is no iteration yet.")
        elif kind == "csv":
            rows = [(s.name, s.solver, s.told, s.columns) for s in shots]
            give_later(self.part, f"{_stem(shots[0])}.csv", lambda: as_csv(rows), "text/csv")
        elif kind == "py":
            seen = [as_seen(shot) for shot in shots]
            name = f"{_stem(shots[0]).replace('-', '_')}.py"
            give_later(self.part, name, lambda: script(seen), "text/x-python")
        elif kind in ("png", "svg"):
            pictures = [p for p in self._gallery.visible if p.mounted]
            self.part.give_pictures(
                kind, f"{_stem(shots[0])}-pictures", self._title, _lines(shots),
                [p.head.drawing() for p in pictures],
            )  # fmt: skip

    def _told(self, picture: Picture) -> tuple[str, list[str]]:
        """Name of the file of a picture, and the lines under its title."""
        shots = on_screen(self._player)
        if not shots:
            return f"mkldash-{picture.view.name}", [versions()]
        lines = _lines(shots, ghost=any(key[0] == "previous run" for key in picture.head.keys))
        return f"{_stem(shots[0])}-{picture.view.name}", lines


def give_later(part: SaveBar, name: str, make: Callable[[], str], kind: str = "text/plain") -> None:
    """Have a text made in a thread, and saved by the browser: other pages go on meanwhile.

    Parameters
    ----------
    part : SaveBar
    name : str
        Of the file.
    make : callable
    kind : str
        Media type.
    """
    doc = pn.state.curdoc
    if doc is None or doc.session_context is None:
        part.give_text(name, make(), kind)
        return

    async def give() -> None:
        text = await asyncio.to_thread(make)
        doc.add_next_tick_callback(lambda: part.give_text(name, text, kind))

    part.task = asyncio.get_running_loop().create_task(give())


def _stem(shot: Shot) -> str:
    """Of the name of a file: the data set, the solver, the iteration."""
    choices = shot.descent.choices
    data = re.sub(r"[^\w.]+", "-", choices.data.rsplit("/", 1)[-1]).removesuffix(".csv")
    return f"mkldash-{data}-{choices.solver}-{int(shot.columns['iteration'][shot.k])}"


def _lines(shots: list[Shot], *, ghost: bool = True) -> list[str]:
    """The parameters of what is on screen, as lines under a title."""
    first = shots[0]
    at = {n: float(first.columns[n][first.k]) for n in ("iteration", "upper", "lower", "gap")}
    newest = int(first.columns["iteration"][-1])
    gap = "no certificate yet" if math.isinf(at["gap"]) else f"gap {at['gap']:.2e}"
    found = [
        first.told,
        f"Iteration {int(at['iteration'])} of {newest}: upper bound {at['upper']:.6g}, "
        f"lower bound {at['lower']:.6g}, {gap}. {versions().split(', ')[0]}",
    ]
    found += [f"Grey: {shot.told}" for shot in shots[1:2] if ghost and "run" in shot.name]
    return found


class RecipeCard:
    """How to have the shown run again, as a part of the page."""

    def __init__(self) -> None:
        self.part = Recipe(sizing_mode="stretch_width")
        self._session: Session | None = None

    def follow(self, session: Session | None) -> None:
        """Bring it to the shown run; once for each."""
        if session is None or session is self._session or session.job is None:
            return
        self._session, state = session, session.parameters
        extra = session.job.extra
        if not isinstance(state, AppState) or not isinstance(extra, Extra):
            return
        choices, descent, notes = state.choices(), extra.descent, []
        text = python(choices)
        if descent is not None and descent.parent is not None:
            notes.append(
                f"The run on the page began at iteration {descent.at} of another one: the Python "
                "computes that first, the command and the address start it afresh."
            )
            text = script([Seen("this run", descent)])
        if state.table is not None:
            notes.append(f"{state['data']} must be in the folder where this is run.")
        self.part.param.update(command=command(choices), python=text, note=" ".join(notes))
