"""What a reproduction is: a sweep, and what its results say beside the paper's claim."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from mkldash.experiments.measuring import FAILED, UNSUPPORTED
from mkldash.experiments.sweep import Run, Sweep

__all__ = ["LIVER", "PAPERS", "Record", "Reproduction", "ran"]

Record = Mapping[str, Any]

#: The papers by what they are called in the code.
PAPERS: Mapping[str, str] = {
    "elastic-net": (
        "A simple yet efficient algorithm for multiple kernel learning under elastic-net "
        "constraints"
    ),
    "neighborhood": "Liu, Chen, Chen and Ye, Learning the optimal neighborhood kernel (IJCAI 2009)",
    "products": (
        "A randomized mirror descent algorithm for large scale multiple kernel learning (ICML 2013)"
    ),
}

#: Which of two labels is meant by the liver data of the papers.
LIVER = (
    "The class of liver-selector is the field that the literature takes for it, which UCI calls a "
    "selector of rows (see its card)."
)


class Reproduction(abc.ABC):
    """An experiment of a paper, in a quick and in a full form.

    Class facts
    -----------
    name, title : str
    order : int
        Place in lists.
    paper : str
        A key of `PAPERS`.
    claim : str
        What the paper says came out, as the end of "The paper says that ...".
    setting : str
        What every run has in common, beyond what records say.
    unlike : str
        What is not as in the paper, or not known of it.
    quick, full : str
        What is run in each form.
    has_gaps : bool
        Whether its runs are solvers' with traces, so that the report of a comparison
        fits.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    order: ClassVar[int]
    paper: ClassVar[str]
    claim: ClassVar[str]
    setting: ClassVar[str]
    unlike: ClassVar[str]
    quick: ClassVar[str]
    full: ClassVar[str]
    has_gaps: ClassVar[bool] = True

    @abc.abstractmethod
    def runs(self, quick: bool) -> Sequence[Run]:
        """The runs of a form."""

    @abc.abstractmethod
    def outcome(self, results: Sequence[Record]) -> str:
        """What came out, as the end of "here ..."; computed from `results` alone."""

    @abc.abstractmethod
    def table(self, results: Sequence[Record]) -> list[tuple[str, ...]]:
        """Rows of words, the columns' names first."""

    @abc.abstractmethod
    def figure(self, results: Sequence[Record]) -> str:
        """An SVG document."""

    def sweep(self, quick: bool, command: str = "") -> Sweep:
        """The runs of a form as a sweep, whose folder takes no other form's runs."""
        form = "quick" if quick else "full"
        return Sweep(
            runs=tuple(self.runs(quick)),
            command=command,
            settings={"fixed": {"reproduction": self.name, "form": form}},
        )

    def sentence(self, results: Sequence[Record]) -> str:
        """Paper and outcome side by side."""
        return f"The paper says that {self.claim}; here {self.outcome(ran(results))}."


def ran(results: Sequence[Record]) -> list[Record]:
    """The runs that were measured, whether or not to the tolerance."""
    return [r for r in results if r["status"] not in (FAILED, UNSUPPORTED)]
