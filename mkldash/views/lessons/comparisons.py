"""Solvers side by side: gaps along three axes, and what each run of a comparison cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from mkldash.solvers.base import Snapshot
from mkldash.views._log import log_curves
from mkldash.views._palette import LINES
from mkldash.views.lessons.canvas import INK, Axes, Figure, Picture, paint

Run = Sequence[Snapshot]

__all__ = ["Cost", "draw_costs", "draw_race_axes"]

#: What a gap can be drawn against, and the attribute of a snapshot.
_AXES = {"iterations": "iteration", "SVM solves": "inner_solves", "seconds": "elapsed"}
_MARKERS = "osD^vP"


def draw_race_axes(runs: Mapping[str, Run], tol: float, along: Sequence[str] = ()) -> Picture:
    """Certified gaps of several solvers, a panel for each axis.

    Parameters
    ----------
    runs : mapping of str to run
        By solver; at most six.
    tol : float
        Marked across.
    along : sequence of {"iterations", "SVM solves", "seconds"}
        Default all three.
    """
    chosen = tuple(along) or tuple(_AXES)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(chosen), squeeze=False, sharey=True)[0]
        for axes, name in zip(panels, chosen, strict=True):
            _axis_panel(axes, runs, tol, name)
        panels[0].set_ylabel("upper / lower - 1")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)

    said = " ".join(
        f"{name} is within {100 * run[-1].gap:.2g} percent after {run[-1].iteration} iterations "
        f"and {run[-1].inner_solves} SVM solves."
        for name, run in runs.items()
    )
    return paint(draw, said, size=(9.6, 4.2))


def _axis_panel(axes: Axes, runs: Mapping[str, Run], tol: float, name: str) -> None:
    for (solver, run), (colour, dash) in zip(runs.items(), LINES, strict=False):
        curve = log_curves({solver: np.array([snapshot.gap for snapshot in run])}).curves[0]
        places = np.array([float(getattr(run[int(at)], _AXES[name])) for at in curve.x])
        kept = (curve.kind == "value") & (places > 0)  # the start, iteration 0, has no place
        axes.plot(
            places[kept], curve.drawn[kept], color=colour, linewidth=2.0,
            linestyle=(0, tuple(0.5 * d for d in dash)) if dash else "-", label=solver,
        )  # fmt: skip
    axes.axhline(tol, color=INK, linewidth=0.9, linestyle=(0, (2, 3)))
    axes.set(xlabel=f"{name} (log)", xscale="log", yscale="log")


@dataclass(frozen=True)
class Cost:
    """What one solver needed in one case: one number for each repeat.

    Parameters
    ----------
    case, solver : str
    values : tuple of float
        Not positive and infinite ones are left out of the picture.
    reached : bool
        Whether every repeat came to the gap.
    """

    case: str
    solver: str
    values: tuple[float, ...]
    reached: bool = True

    @classmethod
    def of_records(
        cls, records: Sequence[Mapping[str, Any]], field: str, tol: float
    ) -> tuple[Cost, ...]:
        """One for each data set, parameters and solver of the records of a comparison.

        Parameters
        ----------
        records : sequence of mapping
            Of `mkldash.experiments.results.read_results`.
        field : str
            A number of the record, such as ``"inner_solves"`` or ``"seconds"``.
        tol : float
            The gap that counts as reached.
        """
        found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for record in records:
            if record[field] is not None:
                case = f"{record['data']}, η = {record['parameters'].get('eta')}"
                found.setdefault((case, record["title"]), []).append(record)
        return tuple(
            cls(case, solver, tuple(float(r[field]) for r in runs),
                all(r["gap"] is not None and r["gap"] <= tol for r in runs))
            for (case, solver), runs in found.items()
        )  # fmt: skip

    @property
    def median(self) -> float:
        """Of the repeats; infinite without one."""
        return median(self.values) if self.values else math.inf


def draw_costs(costs: Sequence[Cost], title: str, label: str) -> Picture:
    """Medians and ranges of a comparison, a line for each case, on a logarithmic axis.

    Parameters
    ----------
    costs : sequence of Cost
    title, label : str
        Of the picture and its axis.
    """
    cases = list(dict.fromkeys(cost.case for cost in costs))
    solvers = list(dict.fromkeys(cost.solver for cost in costs))

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for number, solver in enumerate(solvers):
            colour = LINES[number % len(LINES)][0]
            shift = 0.6 * ((number + 0.5) / len(solvers) - 0.5)
            mine = [cost for cost in costs if cost.solver == solver and cost.values]
            for cost in mine:
                at = cases.index(cost.case) + shift
                axes.plot([min(cost.values), max(cost.values)], [at, at], color=colour, linewidth=2)
                axes.plot(cost.median, at, _MARKERS[number % len(_MARKERS)], color=colour,
                          markersize=8, fillstyle="full" if cost.reached else "none")  # fmt: skip
            axes.plot([], [], _MARKERS[number % len(_MARKERS)], color=colour, label=solver)
        axes.set_yticks(range(len(cases)), cases)
        axes.set(title=title, xlabel=f"{label} (log)", ylim=(len(cases) - 0.5, -0.5))
        axes.set_xscale("log")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))

    said = []
    for case in cases:
        mine = sorted((c for c in costs if c.case == case), key=lambda c: c.median)
        ranked = ", ".join(
            f"{c.solver} {c.median:.3g}{'' if c.reached else ' (gap not reached)'}" for c in mine
        )
        said.append(f"{case}: {ranked}.")
    return paint(draw, f"{title}. {' '.join(said)}", size=(9.6, 0.75 * len(cases) + 1.3))
