"""Several solvers on one problem, by their own seconds."""

from __future__ import annotations

from mkldash.views._race import LEAST_SECONDS, RaceInfo, RaceView, race
from mkldash.views._reading import Readable
from mkldash.views.base import EMPTY, Scene

__all__ = ["SolversByTimeView"]


class SolversByTimeView(RaceView):
    """Which solver is done first."""

    name = "solvers-by-time"
    title = "Solvers by time"
    unit = "seconds of the solver's own work (log)"
    log_x = True
    caption = (
        "The same curves against time: seconds that the solver itself worked, without pauses "
        "and drawing. Each grid line to the right is ten times longer. Below about ten "
        "milliseconds most is waiting for the machine: only orders of magnitude count."
    )
    formula = (
        r"\text{gap}=\frac{\text{upper}}{\text{lower}}-1\qquad"
        r"\blacksquare\ \text{ended},\quad\circ\ \text{still running},"
        r"\quad\triangle\ \text{no certificate},\quad\diamond\ \text{zero}"
    )
    order = 22

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> RaceInfo:
        """See `View.prepare`."""
        return race(trace, k, scene, "elapsed", LEAST_SECONDS)

    @staticmethod
    def describe(info: RaceInfo) -> str:
        """See `View.describe`."""
        return SolversByTimeView._describe(info)
