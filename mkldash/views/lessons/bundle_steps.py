"""Steps of the second-order bundle: the cost, its cuts and the models along one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.views._palette import ACCENT, ALERT, CURSOR, LOWER, UPPER
from mkldash.views.lessons.canvas import INK, Axes, Figure, Picture, paint

Array = NDArray[np.float64]

__all__ = ["BundleStep", "draw_bundle_steps"]


@dataclass(frozen=True, eq=False)
class BundleStep:
    """Numbers along the line from the best weights so far (t = 0) to the next ones (t = 1).

    Parameters
    ----------
    title : str
    t : array, shape (m,)
        Places on the line, 0 and 1 among them.
    cost : array, shape (m,)
        The reduced cost J.
    cuts : array, shape (n_cuts, m)
        Height of each cut.
    newton : array, shape (m,)
        Value, slope and curvature at t = 0 alone.
    model : array, shape (m,)
        The largest cut plus the curvature: what the step minimises.
    """

    title: str
    t: Array
    cost: Array
    cuts: Array
    newton: Array
    model: Array

    @property
    def gain(self) -> float:
        """By how much J falls from t = 0 to t = 1; negative where it rises."""
        start, end = (int(np.argmin(np.abs(self.t - place))) for place in (0.0, 1.0))
        return float(self.cost[start] - self.cost[end])


def draw_bundle_steps(steps: Sequence[BundleStep]) -> Picture:
    """The cost, cuts, Newton's model and the bundle's, a panel for each step.

    Parameters
    ----------
    steps : sequence of BundleStep
        Two panels in a row.
    """

    def draw(figure: Figure) -> None:
        rows = -(-len(steps) // 2)
        panels = figure.subplots(rows, 2, squeeze=False).ravel()
        for axes, step in zip(panels, steps, strict=False):
            _panel(axes, step)
        for axes in panels[len(steps) :]:
            axes.set_axis_off()
        for row in range(rows):
            panels[2 * row].set_ylabel("objective value")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)

    said = " ".join(
        f"{step.title}: over {len(step.cuts)} cut{'s' * (len(step.cuts) > 1)} the step "
        f"{'lowers' if step.gain > 0 else 'raises'} J by {abs(step.gain):.3g}."
        for step in steps
    )
    return paint(draw, said, size=(9.6, 3.2 * -(-len(steps) // 2) + 0.4))


def _panel(axes: Axes, step: BundleStep) -> None:
    t = step.t
    for number, cut in enumerate(step.cuts):
        axes.plot(t, cut, color=LOWER, linewidth=1.1, alpha=0.75,
                  label="cuts" if number == 0 else None)  # fmt: skip
    axes.plot(t, step.newton, color=ALERT, linewidth=1.8, linestyle=(0, (1.5, 1.8)),
              label="Newton's model")  # fmt: skip
    axes.plot(t, step.model, color=UPPER, linewidth=2.1, linestyle=(0, (6, 2.5)),
              label="model of the step")  # fmt: skip
    axes.plot(t, step.cost, color=ACCENT, linewidth=2.4, label="$J$")
    for place, marker in ((0.0, "o"), (1.0, "D")):
        at = int(np.argmin(np.abs(t - place)))
        axes.plot(t[at], step.cost[at], marker, color=CURSOR, markersize=8,
                  markeredgecolor="white", zorder=7)  # fmt: skip
    axes.axvline(0.0, color=INK, linewidth=0.6)
    shown = np.concatenate([step.cost, step.model])
    low = min(float(shown.min()), float(step.cuts.max(axis=0).min()))
    high = float(step.cost.max())
    pad = 0.12 * max(high - low, 1e-9 * abs(high))
    axes.set(title=step.title, xlabel="place $t$ on the line", ylim=(low - pad, high + pad),
             xlim=(t[0], t[-1]))  # fmt: skip
