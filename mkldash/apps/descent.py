"""Where a run began: cold, at the weights of a run before, or branched from one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mkldash.experiments.choices import Choices

__all__ = ["Descent"]


@dataclass(frozen=True, eq=False)
class Descent:
    """The choices of a run and the run that it began from: enough to have it again.

    Parameters
    ----------
    choices : Choices
    parent : Descent or None
        None: it began cold.
    at : int
        The iteration of `parent` that it began from.
    best : bool
        Whether it began at the best point that `parent` had by then (as a run does whose
        slider moved), and not at the point of that iteration (as a branch does).
    resumed : bool
        Whether it goes on from the whole state: its iterations up to `at` are the parent's.
    """

    choices: Choices
    parent: Descent | None = None
    at: int = 0
    best: bool = False
    resumed: bool = False

    @classmethod
    def of(
        cls,
        choices: Choices,
        parent: Descent | None,
        at: int,
        *,
        best: bool = False,
        resumed: bool = False,
    ) -> Descent:
        """The descent of a run that began from iteration `at` of a run.

        Parameters
        ----------
        choices : Choices
        parent : Descent or None
        at : int
        best, resumed : bool
        """
        owner = None if parent is None else parent.owner(at)
        return cls(choices, owner, at, best, resumed)

    @property
    def branched(self) -> bool:
        """Whether a person branched it from another run."""
        return self.parent is not None and not self.best

    @property
    def beginning(self) -> Descent:
        """The run whose start made iteration 0 of this one."""
        found = self
        while found.resumed and found.parent is not None:
            found = found.parent
        return found

    def owner(self, iteration: int) -> Descent:
        """The run that computed an iteration of this one: a resumed run has its parent's."""
        found = self
        while found.resumed and found.parent is not None and iteration <= found.at:
            found = found.parent
        return found

    def ancestors(self) -> Iterator[Descent]:
        """The parent, its parent, and so on."""
        found = self.parent
        while found is not None:
            yield found
            found = found.parent

    def beside(self, choices: Choices) -> Descent:
        """A run of other choices that begins where this one began."""
        first = self.beginning
        return Descent(choices, first.parent, first.at, first.best)
