"""The bounds of a solver that cuts over the kernel weights, and the level it aims at."""

from __future__ import annotations

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from mkldash.views import _plotting as plotting
from mkldash.views._palette import LEVEL, OLIVE
from mkldash.views.bounds import BoundsInfo, BoundsView
from mkldash.views.level_bounds import NeighborhoodBoundsView

__all__ = ["CutBoundsView"]

_LEVEL, _NEWEST = "level", "newest cut alone"


class CutBoundsView(BoundsView):
    """The certificate: what all cuts prove together, and what the newest one would alone."""

    name = "cut-bounds"
    needs = frozenset({"upper", "lower", "model_lower"})
    caption = (
        "Each SVM gives a cut: a plane below the best values at all weights. The lower bound is "
        "the lowest point of all cuts together; the newest one alone proves less. "
        "With the extended level method: the next weights are the nearest ones at which no cut "
        "is above the level."
    )
    formula = (
        r"\text{upper}=\tfrac12\sum_k\theta_k u_k+C\sum_i\max(0,\,1-y_if(x_i))\qquad "
        r"\text{lower}=\min_{\theta\in\Theta}\max_j\;c_j-\tfrac12u_j^\top\theta\qquad "
        r"c_j=\mathbf{e}^\top\alpha_j,\quad u_{jk}=a_j^\top K_ka_j,\quad "
        r"a_{ji}=y_i\alpha_{ji}\qquad "
        r"\text{level}=(1-\lambda)\,\text{lower}"
        r"+\lambda\,\text{upper}"
    )
    replaces = "bounds"

    @classmethod
    def offered(cls, fields: frozenset[str]) -> bool:
        """With a finite rho the neighborhood's picture takes this place."""
        return super().offered(fields) and "shift" not in fields

    def _build(self) -> figure:
        plot = super()._build()
        self._level = ColumnDataSource({"x": [], "y": []})
        self._newest = ColumnDataSource({"x": [], "y": []})
        newest = plot.line(
            "x", "y", source=self._newest, color=OLIVE, line_width=1.5, line_dash="dotdash",
            legend_label=_NEWEST,
        )  # fmt: skip
        level = plot.line(
            "x", "y", source=self._level, color=LEVEL, line_width=2.5, line_dash=[2, 3],
            legend_label=_LEVEL,
        )  # fmt: skip
        for drawn, name in ((level, _LEVEL), (newest, _NEWEST)):
            plotting.add_hover(
                plot, [drawn], [("iteration", "@x"), (name, "@y{0,0.0000}")], attachment="below"
            )
        return plot

    def _write(self, info: BoundsInfo) -> None:
        super()._write(info)
        for source, name, values in (
            (self._level, _LEVEL, info.level),
            (self._newest, _NEWEST, info.newest),
        ):
            columns = {"x": info.iteration if len(values) else values, "y": values}
            plotting.write(source, columns, full=self.full_frames)
            plotting.legend_shows(self.figure(), name, bool(np.isfinite(values).any()))

    @staticmethod
    def describe(info: BoundsInfo) -> str:
        """See `View.describe`."""
        return NeighborhoodBoundsView.describe(info)
