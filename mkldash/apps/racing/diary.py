"""What happened to the lanes, each thing once, and how to have the race again."""

from __future__ import annotations

from typing import Any

from mkldash.apps import ui
from mkldash.apps.components import Recipe
from mkldash.apps.log import Log
from mkldash.apps.phrases import for_page
from mkldash.apps.racing import exports
from mkldash.apps.racing.conductor import Race
from mkldash.apps.racing.lanes import Lane

__all__ = ["Diary"]


class Diary:
    """The last card of the page: the log, the script.

    Parameters
    ----------
    race : Race
    """

    def __init__(self, race: Race) -> None:
        self._race = race
        self.log = Log()
        self._recipe = Recipe(sizing_mode="stretch_width")
        self._told: set[tuple[int, str]] = set()
        self._read: dict[int, int] = {}
        self._made: Any = None

    def card(self) -> Any:
        """The card."""
        found = ui.card(ui.heading("What happened"), self.log.layout, self._recipe, name="log")
        found.styles = {**found.styles, "grid-column": "1 / -1"}
        return found

    def follow(self) -> None:
        """Bring it to the race; not at frame rate."""
        race = self._race
        for lane in race.lanes:
            self._follow_lane(lane)
        made = (race.started, race.shown_state)
        if made != self._made and race.started:
            self._made, state = made, race.shown_state
            self._recipe.param.update(
                command=exports.commands(state), python=exports.script(state),
                note=exports.note(state),
            )  # fmt: skip
        self.log.write()

    def _follow_lane(self, lane: Lane) -> None:
        """Notes on the kernels, events of the solver, how it ended."""
        for note in () if lane.workload is None else lane.workload.notes:
            self._once(0, note, "")
        if lane.failed:
            self._once(id(lane), lane.failed, f"{lane.named}:")
        session = lane.session
        if session is None:
            return
        if id(lane) not in self._read:
            start = ", warm" if lane.warm else ""
            self.log.say(f"began{start}.", lane.named)
        trace, numbers = session.trace, lane.columns().get("iteration", ())
        for row, sentence in trace.events(self._read.get(id(lane), 0)):
            if row < len(numbers):
                self.log.say(sentence, f"{lane.spec.letter.upper()} {int(numbers[row])}:")
        self._read[id(lane)] = len(numbers)
        if session.status is not None:
            self._once(id(lane), session.status.sentence, f"{lane.named}:")

    def _once(self, whose: int, words: str, name: str) -> None:
        if (whose, words) not in self._told:
            self._told.add((whose, words))
            self.log.say(for_page(words), name)
