"""The bounds of the neighborhood problem, and the level between them."""

from __future__ import annotations

import math

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from mkldash.views import _plotting as plotting
from mkldash.views._names import apart
from mkldash.views._palette import LEVEL
from mkldash.views.bounds import BoundsInfo, BoundsView

__all__ = ["NeighborhoodBoundsView"]

_NAME, _MODEL = "level", "model's bound"


class NeighborhoodBoundsView(BoundsView):
    """The certificate of a run with a finite rho, and where the level method aims."""

    name = "neighborhood-bounds"
    title = "Upper and lower bound"
    needs = frozenset({"upper", "lower", "shift"})
    caption = (
        "The best value that is possible lies between upper and lower bound; when they meet, "
        "nothing is left to gain. With a level method: the level it "
        "aims at, between the best value of its steps and its model's bound."
    )
    formula = (
        r"\text{upper}=\tfrac12a^\top K_\theta a+\tfrac{3}{8\rho}\lVert\alpha\rVert^4"
        r"+C\sum_i\max(0,\,1-y_if_i)\qquad "
        r"\text{lower}=\mathbf{e}^\top\alpha-\tfrac12\max_{\theta'\in\Theta}a^\top K_{\theta'}a"
        r"-\tfrac{1}{8\rho}\lVert\alpha\rVert^4\qquad "
        r"K_\theta=\sum_k\theta_kK_k\quad\text{(one kernel: }\theta=1)\qquad "
        r"a_i=y_i\alpha_i,\quad f=G^*a+b,\quad G^*=K_\theta+\tfrac{1}{2\rho}aa^\top\qquad "
        r"\text{with the level method: level}=-\tau\min_jf(\alpha_j)"
        r"+(1-\tau)\,\text{bound of the model}"
    )
    order = 10
    replaces = "bounds"

    def _build(self) -> figure:
        plot = super()._build()
        self._level = ColumnDataSource({"x": [], "y": []})
        self._model = ColumnDataSource({"x": [], "y": []})
        model = plot.line(
            "x", "y", source=self._model, color=LEVEL, line_width=1.5, line_dash="dotdash",
            alpha=0.8, legend_label=_MODEL,
        )  # fmt: skip
        line = plot.line(
            "x", "y", source=self._level, color=LEVEL, line_width=2.5, line_dash=[2, 3],
            legend_label=_NAME,
        )  # fmt: skip
        for drawn, name in ((line, _NAME), (model, _MODEL)):
            plotting.add_hover(
                plot, [drawn], [("iteration", "@x"), (name, "@y{0,0.0000}")], attachment="below"
            )
        return plot

    def _write(self, info: BoundsInfo) -> None:
        super()._write(info)
        for source, name, values in (
            (self._level, _NAME, info.level),
            (self._model, _MODEL, info.model),
        ):
            columns = {"x": info.iteration if len(values) else values, "y": values}
            plotting.write(source, columns, full=self.full_frames)
            plotting.legend_shows(self.figure(), name, bool(np.isfinite(values).any()))

    @staticmethod
    def describe(info: BoundsInfo) -> str:
        """See `View.describe`."""
        text = BoundsView.describe(info)
        if math.isnan(info.level_at):
            return text
        places = len(apart(info.at[1], info.at[0])[0].partition(".")[2])
        return f"{text} The next step aims at the level {info.level_at:,.{places}f}."
