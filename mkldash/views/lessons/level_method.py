"""The level method in pictures: cuts, level set and projection in the plane; a run's bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mkldash.solvers.base import Snapshot
from mkldash.views._palette import ACCENT, CURSOR, LEVEL, LINES, LOWER, UPPER
from mkldash.views._plane import ThreeRows
from mkldash.views.base import Scene
from mkldash.views.bounds import BoundsInfo
from mkldash.views.gap import GapView
from mkldash.views.lessons.canvas import INK, Axes, Figure, Picture, paint
from mkldash.views.level_bounds import NeighborhoodBoundsView
from mkldash.views.level_plane import LevelPlaneInfo, LevelPlaneView

Array = NDArray[np.float64]
Run = Sequence[Snapshot]

__all__ = ["draw_level_bounds", "draw_level_steps", "draw_paths"]


def _ground(axes: Axes, info: LevelPlaneInfo) -> None:
    """Triangle, lines of equal f and the optimum, in the window of `info`."""
    rows = info.rows
    assert rows is not None
    for band in rows.drawn(info.bands):
        axes.fill(*band.T, color=ACCENT, alpha=0.035, linewidth=0)
    for line in rows.drawn(info.contours):
        axes.plot(*line.T, color=ACCENT, linewidth=0.8, alpha=0.6)
    axes.plot(*rows.drawn(rows.triangle)[[0, 1, 2, 0]].T, color=INK, linewidth=1.8)
    x0, x1, y0, y1 = info.window
    axes.set(xlim=(x0, x1), ylim=(y0, y1), xticks=(), yticks=())
    axes.set_aspect("equal")
    axes.spines[["left", "bottom"]].set_visible(False)


def _star(axes: Axes, info: LevelPlaneInfo) -> None:
    assert info.rows is not None
    axes.plot(*info.rows.drawn(info.optimum), "*", color=ACCENT, markersize=13,
              markeredgecolor="white", zorder=6)  # fmt: skip


def draw_level_steps(run: Run, scene: Scene, steps: Sequence[int]) -> Picture:
    """Some iterations of the level method on three rows, a panel each.

    Parameters
    ----------
    run : sequence of LevelSnapshot
    scene : Scene
        Of `whole_scene`.
    steps : sequence of int
        Three panels in a row.
    """
    infos = [LevelPlaneView.prepare(run, k, scene) for k in steps]

    def draw(figure: Figure) -> None:
        panels = figure.subplots(-(-len(infos) // 3), 3, squeeze=False).ravel()
        for axes, info in zip(panels, infos, strict=False):
            _step_panel(axes, info)
        for axes in panels[len(infos) :]:
            axes.set_axis_off()
        _names(panels[0], infos[0])

    text = " ".join(f"Iteration {info.cursor}: {LevelPlaneView.describe(info)}" for info in infos)
    return paint(draw, text, size=(9.6, 3.15 * -(-len(infos) // 3)))


def _names(axes: Axes, info: LevelPlaneInfo) -> None:
    """Along the edges: which coefficient grows in which direction."""
    rows = info.rows
    assert rows is not None
    first, second, third = (f"$\\alpha_{'₁₂₃'.index(name[1]) + 1}$" for name in info.names)
    places = (
        ((0.5, 0.0), f"{first} $\\rightarrow$", 0, (0, -12)),
        ((0.0, 0.5), f"{second} $\\rightarrow$", 60, (-10, 6)),
        ((0.5, 0.5), f"{third} $= C$", -60, (10, 6)),
    )
    for share, words, turn, shift in places:
        axes.annotate(
            words, tuple(rows.drawn(rows.cost * np.array(share))), xytext=shift,
            textcoords="offset points", rotation=turn, ha="center", va="center", fontsize=12,
        )  # fmt: skip


def _step_panel(axes: Axes, info: LevelPlaneInfo) -> None:
    rows = info.rows
    assert rows is not None
    _ground(axes, info)
    if len(info.level_set):
        axes.fill(*rows.drawn(info.level_set).T, facecolor=LEVEL, alpha=0.3, linewidth=0)
        axes.fill(*rows.drawn(info.level_set).T, fill=False, edgecolor=LEVEL, linewidth=1.6)
    newest = info.cut_iterations.max(initial=-1)
    for line, number in zip(rows.drawn(info.cuts), info.cut_iterations, strict=True):
        axes.plot(*line.T, color=LEVEL, linewidth=2 if number == newest else 1,
                  linestyle=(0, (4, 2.5)))  # fmt: skip
    _star(axes, info)
    path = rows.drawn(info.path)
    axes.plot(*path.T, "-o", color=INK, linewidth=1, markersize=3.5)
    axes.plot(*path[-1], "o", color=CURSOR, markersize=9, markeredgecolor="white", zorder=7)
    if info.following is not None:
        axes.annotate(
            "", xy=tuple(rows.drawn(info.following)), xytext=tuple(path[-1]), zorder=8,
            arrowprops={"arrowstyle": "-|>", "color": CURSOR, "linewidth": 1.8,
                        "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
    zoom = "" if info.whole else f"  ({rows.cost / (info.window[3] - info.window[2]):.0f}× closer)"
    axes.set_title(f"iteration {info.cursor}{zoom}", loc="center", fontsize=11)


def draw_paths(runs: Mapping[str, Run], scene: Scene) -> Picture:
    """The iterates of several methods on three rows, a panel each.

    Parameters
    ----------
    runs : mapping of str to run
    scene : Scene
        Of `whole_scene`.
    """
    infos = {name: LevelPlaneView.prepare(run, len(run) - 1, scene) for name, run in runs.items()}
    # All of the triangle in each panel: the first iterate is far from the optimum.
    wide = [LevelPlaneView.prepare(run, 0, scene) for run in runs.values()]
    rows = wide[0].rows
    assert rows is not None
    targets = {name: _targets(rows, run, scene) for name, run in runs.items()}
    shown = np.vstack([rows.drawn(rows.triangle), *(feet for feet, _ in targets.values())])
    pad = 0.08 * rows.cost
    low, high = shown.min(axis=0) - pad, shown.max(axis=0) + pad

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(infos), squeeze=False)[0]
        for axes, ground, (name, info) in zip(panels, wide, infos.items(), strict=True):
            _ground(axes, ground)
            _star(axes, info)
            path = rows.drawn(info.path)
            axes.plot(*path.T, "-o", color=CURSOR, linewidth=1.4, markersize=4)
            for foot, end in zip(*targets[name], strict=True):
                axes.plot(*np.array([foot, end]).T, color=CURSOR, linewidth=1.2,
                          linestyle=(0, (1.5, 1.8)))  # fmt: skip
                axes.plot(*foot, "o", color=CURSOR, markersize=6, fillstyle="none")
            axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
            axes.set_title(f"{name}: {len(path) - 1} steps", loc="center", fontsize=11)

    ends = "; ".join(
        f"{name} takes {len(info.path) - 1} steps and {LevelPlaneView.describe(info)}"
        for name, info in infos.items()
    )
    return paint(draw, f"Paths over the triangle of three rows: {ends}", size=(9.6, 3.9))


def _targets(rows: ThreeRows, run: Run, scene: Scene) -> tuple[Array, Array]:
    """Where gradient steps led, as seen in the plane y'alpha = 0, and their projections.

    Only those that led out of the triangle; none for other methods.
    """
    gram = scene.gram
    assert gram is not None
    targets = [t for s in run[1:] if (t := getattr(s, "target", None)) is not None]
    alphas = [s.alpha for s in run[1:] if getattr(s, "target", None) is not None]
    v, x = (np.array(found).reshape(-1, 3)[:, gram.rows] for found in (targets, alphas))
    foot = v - np.outer(v @ gram.y, gram.y) / 3
    out = np.abs(foot - x).max(axis=1) > 1e-3 * rows.cost
    return rows.drawn(foot[out][:, rows.pair]), rows.drawn(x[out][:, rows.pair])


def draw_level_bounds(runs: Mapping[str, Run], scene: Scene) -> Picture:
    """The level method's bounds with the level between them, and several methods' gaps.

    Parameters
    ----------
    runs : mapping of str to run
        The first is the level method's, whose bounds are drawn.
    scene : Scene
    """
    run = next(iter(runs.values()))
    bounds = NeighborhoodBoundsView.prepare(run, len(run) - 1, scene)

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        put_bounds(left, bounds)
        put_gaps(right, runs)

    words = [NeighborhoodBoundsView.describe(bounds), *gaps_in_words(runs)]
    return paint(draw, " ".join(words), size=(9.6, 3.8))


def put_bounds(axes: Axes, info: BoundsInfo) -> None:
    """Both bounds, and the level and its model's bound if there are any, onto given axes."""
    low, high = info.window
    at = info.iteration
    axes.fill_between(at, info.lower, info.upper, color=LOWER, alpha=0.12, linewidth=0)
    axes.plot(at, info.upper, color=UPPER, linewidth=2.3, linestyle=(0, (6, 2.5)),
              label="upper bound")  # fmt: skip
    if len(info.level):
        axes.plot(at, info.level, color=LEVEL, linewidth=2.3, linestyle=(0, (1.5, 1.8)),
                  label="level")  # fmt: skip
        axes.plot(at, info.model, color=LEVEL, linewidth=1.3, linestyle=(0, (5, 1.5, 1, 1.5)),
                  alpha=0.8, label="model's bound")  # fmt: skip
    axes.plot(at, info.lower, color=LOWER, linewidth=2.3, label="lower bound")
    axes.set(
        title="Upper and lower bound", xlabel="iteration", ylabel="objective value",
        ylim=(low - 0.05 * (high - low), high + 0.06 * (high - low)),
    )  # fmt: skip
    axes.legend()


def put_gaps(axes: Axes, runs: Mapping[str, Run]) -> None:
    """Certified gaps by iteration onto given axes, a colour and dash for each run."""
    for (name, run), (colour, dash) in zip(runs.items(), LINES, strict=False):
        info = GapView.prepare(run, len(run) - 1)
        curve = info.curves.curves[0]
        kept = curve.kind == "value"
        axes.plot(
            info.iterations[0][kept], curve.drawn[kept], color=colour, linewidth=2.1,
            linestyle=(0, tuple(0.5 * d for d in dash)) if dash else "-", label=name,
            marker="o" if len(run) < 12 else None, markersize=4,
        )  # fmt: skip
    axes.set(title="Certified gap", xlabel="iteration", ylabel="upper / lower - 1")
    axes.set_yscale("log")
    axes.legend()


def gaps_in_words(runs: Mapping[str, Run]) -> list[str]:
    """A sentence about the end of each run."""
    return [
        f"{name} is within {100 * run[-1].gap:.2g} percent after {run[-1].iteration} iterations."
        for name, run in runs.items()
    ]
