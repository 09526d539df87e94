"""Everything that one frame shows of a race, read in one go.

The lanes and what they were built from change together in another thread: who reads
them one after the other gets lanes of one race and letters of the next.
"""

from __future__ import annotations

from dataclasses import dataclass

from mkldash.apps.racing.lanes import Lane
from mkldash.apps.racing.quiet import Quiet
from mkldash.apps.racing.schedule import Axis
from mkldash.apps.racing.state import RaceState

__all__ = ["Glance"]


@dataclass(frozen=True, eq=False)
class Glance:
    """A race at one moment; its lanes go on computing.

    Parameters
    ----------
    lanes : tuple of Lane
    built_from : RaceState
        What `lanes` were made of.
    state : RaceState
        The latest choices.
    axis : Axis
    cursor : int
    playing, stale, stopped : bool
        `stale`: the lanes belong to the choices before the latest.
    stage, broken : str
        What is being made ready; why the race cannot go on, or nothing.
    started : int
        Races so far.
    quiet : Quiet
    """

    lanes: tuple[Lane, ...]
    built_from: RaceState
    state: RaceState
    axis: Axis
    cursor: int
    playing: bool
    stale: bool
    stopped: bool
    stage: str
    broken: str
    started: int
    quiet: Quiet

    @property
    def last_place(self) -> int:
        """The furthest place that some lane has reached."""
        newest = [lane.standing(self.axis).newest for lane in self.lanes]
        return max((self.axis.place(v) for v in newest if v >= 0), default=0)

    @property
    def over(self) -> bool:
        """Whether no lane will go on."""
        return bool(self.lanes) and not self.stale and all(lane.ended for lane in self.lanes)

    @property
    def at_end(self) -> bool:
        """Whether the cursor is where the lanes are."""
        return self.cursor >= self.last_place

    @property
    def beginning(self) -> bool:
        """Whether some lane has yet to be made ready and to reach its first row."""
        return any(
            lane.spec.parent is None and not lane.ended and lane.standing(self.axis).newest < 0.0
            for lane in self.lanes
        )

    @property
    def can_step(self) -> bool:
        """Whether there is a next place to go to."""
        ready = bool(self.lanes) and not (self.stale or self.beginning or self.broken)
        return ready and not (self.over and self.at_end)

    @property
    def compiled_late(self) -> bool:
        """Whether some lane's clock ran while code was compiled or loaded; once it is over."""
        return self.over and self.quiet.loaded_late()
