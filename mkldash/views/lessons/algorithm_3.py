"""Algorithm 3 in pictures: the sphere behind the set, the disc, and what is pruned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.linear_program import LinearProgramResult, maximise_linear
from mkldash.views._palette import ALERT, CURSOR, GHOST, LOWER, UPPER
from mkldash.views.lessons.canvas import INK, Axes, Figure, Picture, paint
from mkldash.views.lessons.sets import boundary, dress_cube, put_surface

Array = NDArray[np.float64]

__all__ = ["draw_pruning", "draw_sphere", "sphere"]


def sphere(eta: float, m: int) -> tuple[float, float]:
    """Centre and radius of the sphere that holds the boundary of the set.

    Parameters
    ----------
    eta : float
        In [0, 1).
    m : int
        Coordinates that are not pruned.

    Returns
    -------
    centre : float
        -d, in every coordinate.
    radius : float
    """
    d = eta / (2.0 * (1.0 - eta))
    return -d, float(np.sqrt(m * d * d + 2.0 * d + 1.0))


def draw_sphere(directions: Sequence[Array], eta: float) -> Picture:
    """Two kernels: the circle behind the set, and its farthest point along u.

    Parameters
    ----------
    directions : sequence of array, shape (2,)
        One panel for each u.
    eta : float
        In [0, 1).
    """
    answers = [maximise_linear(u, eta) for u in directions]

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(directions), squeeze=False)[0]
        for axes, u, answer in zip(panels, directions, answers, strict=True):
            _circle_panel(axes, u, answer, eta)

    said = "; ".join(
        f"along ({u[0]:g}, {u[1]:g}) the farthest point of the circle is "
        f"({a.steps[0].point[0]:.2f}, {a.steps[0].point[1]:.2f}), the answer ({a.theta[0]:.2f}, "
        f"{a.theta[1]:.2f})"
        for u, a in zip(directions, answers, strict=True)
    )
    return paint(draw, f"The set is cut out of a circle by the axes: {said}.", size=(9.6, 4.9))


def _circle_panel(
    axes: Axes, u: Array, answer: LinearProgramResult, eta: float, name: str = "$q$"
) -> None:
    centre, radius = sphere(eta, 2)
    turn = np.linspace(0, 2 * np.pi, 400)
    edge = boundary(eta)
    axes.plot(
        centre + radius * np.cos(turn), centre + radius * np.sin(turn),
        color=GHOST, linewidth=1.3, linestyle=(0, (6, 3)),
    )  # fmt: skip
    axes.axhline(0, color=INK, linewidth=0.9)
    axes.axvline(0, color=INK, linewidth=0.9)
    axes.fill(*np.vstack([edge, [0, 0]]).T, color=LOWER, alpha=0.2, linewidth=0)
    axes.plot(*edge.T, color=LOWER, linewidth=2.6)
    q, unit = answer.steps[0].point, u / np.linalg.norm(u)
    middle = np.full(2, centre)
    axes.plot(*middle, "+", color=GHOST, markersize=11, markeredgewidth=2)
    axes.annotate(r"centre $-d\,\mathbf{1}$", tuple(middle), xytext=(8, -14),
                  textcoords="offset points", color="#5b626c")  # fmt: skip
    axes.annotate(
        "", xy=tuple(q), xytext=tuple(middle),
        arrowprops={"arrowstyle": "-|>", "color": CURSOR, "linewidth": 1.6},
    )  # fmt: skip
    axes.annotate(r"along $u$", tuple(middle + 0.5 * radius * unit), xytext=(-24, 10),
                  textcoords="offset points", color=CURSOR, ha="right")  # fmt: skip
    across = np.array([-unit[1], unit[0]])
    best = answer.theta
    axes.plot(
        *np.array([best - 0.75 * across, best + 0.75 * across]).T, color=CURSOR, linewidth=1.2,
        linestyle=(0, (2, 2)),
    )  # fmt: skip
    cut = answer.steps[0].pruned.size > 0
    axes.plot(*q, "X" if cut else "o", color=UPPER, markersize=10, markeredgecolor="white")
    axes.plot(*best, "*", color=ALERT, markersize=16, markeredgecolor="white", zorder=5)
    axes.annotate(
        name, tuple(q), xytext=(9, -4) if cut else (-10, -22), textcoords="offset points",
        color=UPPER if cut else ALERT, fontsize=14,
    )  # fmt: skip
    k = int(answer.steps[0].pruned[0]) + 1 if cut else 0
    axes.set(
        title=rf"$q_{k}<0$: prune kernel {k}" if cut else r"$q\geq 0$: done in one pass",
        xlabel=r"$\theta_1$", ylabel=r"$\theta_2$",
        xlim=(centre - 0.15, 1.35), ylim=(centre - 0.15, 1.35),
    )  # fmt: skip
    axes.set_aspect("equal")


def draw_pruning(u: Array, eta: float) -> Picture:
    """Three kernels: the point leaves the set through a face, and a disc takes over.

    Parameters
    ----------
    u : array, shape (3,)
        Positive.
    eta : float
        In [0, 1).
    """
    answer = maximise_linear(u, eta)
    points = [step.point for step in answer.steps]

    def draw(figure: Figure) -> None:
        space = figure.add_subplot(1, 2, 1, projection="3d")
        _space_panel(space, answer, eta)
        space.view_init(elev=14, azim=24)
        space.set_box_aspect((1, 1, 1), zoom=1.12)
        space.set_title("Three kernels: $q^{(0)}$ lies below the floor", loc="center", y=1.02)
        plane = figure.add_subplot(1, 2, 2)
        second = answer.steps[1]
        kept = second.kept
        _circle_panel(plane, u[kept], maximise_linear(u[kept], eta), eta, "$q^{(1)}$")
        plane.plot(*points[0][kept], "X", color=UPPER, markersize=10, markeredgecolor="white")
        plane.annotate(
            "$q^{(0)}$, seen from above", tuple(points[0][kept]), xytext=(4, 10),
            textcoords="offset points", color=UPPER,
        )  # fmt: skip
        gone = int(answer.steps[0].pruned[0]) + 1
        plane.set_title(rf"Kernel {gone} pruned: the disc that is left")

    passes = "; ".join(
        f"pass {m + 1} gives ({', '.join(f'{c:.2f}' for c in point)})"
        for m, point in enumerate(points)
    )
    return paint(draw, f"On the dome of three kernels, {passes}.", size=(9.6, 4.7))


def _space_panel(axes: Axes, answer: LinearProgramResult, eta: float) -> None:
    """The dome, the sphere that goes on below it, and the points of all passes."""
    put_surface(axes, eta, alpha=0.3)
    dress_cube(axes, low=-0.4, high=1.1)
    centre, radius = sphere(eta, 3)
    first, height = np.meshgrid(np.linspace(-0.15, 1.25, 45), np.linspace(-0.4, 0.0, 9))
    rest = radius**2 - (first - centre) ** 2 - (height - centre) ** 2
    second = np.where(rest > 0, centre + np.sqrt(np.maximum(rest, 0)), np.nan)
    second[(second < -0.15) | (second > 1.25)] = np.nan
    axes.plot_wireframe(
        first, second, height, color=GHOST, linewidth=0.5, rstride=2, cstride=2, alpha=0.8
    )
    draw_line = axes.plot
    for m, step in enumerate(answer.steps):
        last = m == len(answer.steps) - 1
        draw_line(
            *step.point[:, None], "*" if last else "X", color=ALERT if last else UPPER,
            markersize=17 if last else 10, markeredgecolor="white", zorder=10,
        )  # fmt: skip
        axes.text(
            *(step.point + np.array([0.0, 0.06, 0.06])), f"$q^{{({m})}}$", fontsize=14, zorder=11
        )
    for before, after in zip(answer.steps, answer.steps[1:], strict=False):
        ends = np.array([before.point, after.point]).T
        draw_line(*ends, color=INK, linewidth=1.3, linestyle=(0, (2, 2)), zorder=9)
