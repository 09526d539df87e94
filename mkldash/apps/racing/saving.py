"""What the race can save of what it shows: numbers, a script, pictures."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from mkldash.apps.components import SaveBar
from mkldash.apps.descent import Descent
from mkldash.apps.on_screen import OWN_ENDS, numbers_of
from mkldash.apps.racing import exports
from mkldash.apps.racing.conductor import Race
from mkldash.apps.racing.lanes import Lane
from mkldash.apps.racing.pictures import Pictures
from mkldash.apps.recipe import versions
from mkldash.apps.saving import OFFERS, give_later
from mkldash.apps.script import Seen, script

__all__ = ["RaceSaver", "seen"]

#: Parameters of a problem that its lanes share.
_OWN = ("bank", "eta", "C", "rho", "sigma_factor", "degree", "p", "penalty", "growth")


class RaceSaver:
    """The group of buttons of a race, and the menus of its pictures.

    Parameters
    ----------
    race : Race
    pictures : Pictures
    title : str
        Of the page.
    """

    def __init__(self, race: Race, pictures: Pictures, title: str) -> None:
        self._race, self._pictures, self._title = race, pictures, title
        self.part = SaveBar(
            offers=[[kind, words, hint.replace("the shown run, the grey one and those beside it",
                                               "all lanes")] for kind, words, hint in OFFERS],
            ready=False, sizing_mode="stretch_width", margin=(2, 6, 4, 6),
        )  # fmt: skip
        self.part.on_message = self._wanted
        for name, head in pictures.heads.items():
            head.tell = functools.partial(self._told, name)

    def follow(self) -> None:
        """Bring it to the race; not at frame rate."""
        ready = any(len(lane.columns()) for lane in self._race.lanes)
        if self.part.ready != ready:
            self.part.ready = ready

    def _wanted(self, message: Mapping[str, Any]) -> None:
        kind, race, stem = str(message.get("kind")), self._race, self._stem()
        if kind == "csv":
            give_later(self.part, f"{stem}.csv", lambda: exports.as_csv(race).read(), "text/csv")
        elif kind == "py":
            lanes = seen(race)
            if not lanes:
                self.part.say("No lane has an iteration yet.")
                return
            give_later(
                self.part, f"{stem.replace('-', '_')}.py", lambda: script(lanes), "text/x-python"
            )
        elif kind in ("png", "svg"):
            # The large picture is the first on the page too.
            heads = sorted(
                self._pictures.heads.items(), key=lambda item: item[0] != f"race-{race.state.axis}"
            )
            drawings = [head.drawing() for _, head in heads]
            self.part.give_pictures(kind, f"{stem}-pictures", self._title, self._lines(), drawings)

    def _told(self, name: str) -> tuple[str, list[str]]:
        return f"{self._stem()}-{name.removeprefix('race-')}", self._lines()

    def _stem(self) -> str:
        data = str(self._race.shown_state.first["data"]).removesuffix(".csv")
        return f"mkldash-race-{data}"

    def _lines(self) -> list[str]:
        """Parameters of all lanes, and where the cursor is."""
        race, state = self._race, self._race.shown_state
        first = state.first
        found = [
            f"{first['data']}, seed {first['seed']}, share that trains "
            f"{first['train_fraction']:g}, tolerance {first['tol']:g}, iteration limit "
            f"{first['max_iter']}"
        ]
        for problem in dict.fromkeys(spec.problem for spec in state.lanes):
            base = state.bases[problem]
            own = ", ".join(
                f"{n.replace('_', ' ')} {base.choice(n).write(base[n])}"
                for n in _OWN
                if n in base.values
            )
            found.append(f"{problem}: {own}")
        branches = [s for s in state.lanes if s.parent is not None]
        found += [
            f"{s.letter.upper()} branched from {str(s.parent).upper()} at iteration {s.at}."
            for s in branches
        ]
        value = race.axis.value(race.cursor)
        found.append(f"Cursor at {value:.3g} {race.axis.many}. {versions().split(', ')[0]}")
        return found


def seen(race: Race) -> list[Seen]:
    """What a script needs of every lane that has an iteration.

    Parameters
    ----------
    race : Race
    """
    lanes = {lane.spec.letter: lane for lane in race.lanes}
    descents: dict[str, Descent] = {}

    def descent(lane: Lane) -> Descent:
        letter, parent = lane.spec.letter, lanes.get(lane.spec.parent or "")
        if letter not in descents:
            assert lane.choices is not None  # it has run
            before = None if parent is None else descent(parent)
            descents[letter] = Descent.of(
                lane.choices, before, lane.spec.at, resumed=before is not None and not lane.warm
            )
        return descents[letter]

    found = []
    for lane in race.lanes:
        columns = lane.columns()
        rows = len(columns.get("iteration", ()))
        if lane.session is None or not rows:
            continue
        shown = [row for row in (lane.row(race.axis, race.cursor), rows - 1) if row >= 0]
        numbers = [numbers_of(columns, row) for row in dict.fromkeys(shown)]
        ended = lane.session.status in OWN_ENDS
        last = None if ended else numbers[-1].iteration
        found.append(Seen(lane.named, descent(lane), last, numbers))
    return found
