"""Several solvers on one problem, by iteration."""

from __future__ import annotations

from mkldash.views._race import RaceInfo, RaceView, race
from mkldash.views._reading import Readable
from mkldash.views.base import EMPTY, Scene

__all__ = ["SolversByIterationView"]


class SolversByIterationView(RaceView):
    """Which solver needs the fewest steps."""

    name = "solvers-by-iteration"
    title = "Solvers by iteration"
    unit = "iteration"
    log_x = False
    caption = (
        "One curve per solver, all on the same problem: how far from the optimum it can still "
        "be after so many iterations. An iteration of one may cost far more than another's."
    )
    formula = (
        r"\text{gap}=\frac{\text{upper}}{\text{lower}}-1\qquad"
        r"\blacksquare\ \text{ended},\quad\circ\ \text{still running},"
        r"\quad\triangle\ \text{no certificate},\quad\diamond\ \text{zero}"
    )
    order = 21

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> RaceInfo:
        """See `View.prepare`."""
        return race(trace, k, scene, "iteration")

    @staticmethod
    def describe(info: RaceInfo) -> str:
        """See `View.describe`."""
        return SolversByIterationView._describe(info)
