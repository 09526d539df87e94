"""The geometry of mirror descent in the plane of two weights, and the penalty behind it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.views._palette import ACCENT, ALERT, CURSOR, LOWER, UPPER, blend
from mkldash.views.lessons.canvas import INK, Axes, Figure, Picture, paint

Array = NDArray[np.float64]

__all__ = ["MirrorStep", "ball_edge", "draw_mirror_steps", "draw_optima", "draw_penalty"]

#: Levels of the distance drawn, as shares of the one that touches the ball.
_LEVELS = (0.25, 1.0, 2.25, 4.0)

#: Height of the panels, in weights.
_TALL = 1.12


def ball_edge(nu: float, n: int = 181) -> Array:
    """Boundary of {theta >= 0, ||theta||_nu <= 1} for two kernels, from (1, 0) to (0, 1).

    Parameters
    ----------
    nu : float
        At least 1; infinite for the square.
    n : int
        Points; odd, so that the middle one has equal weights.

    Returns
    -------
    array, shape (n, 2)
    """
    angle = np.linspace(0.0, np.pi / 2, n)
    rays = np.column_stack([np.cos(angle), np.sin(angle)])
    rays[0, 1] = rays[-1, 0] = 0.0
    if math.isinf(nu):
        return np.asarray(rays / rays.max(axis=1, keepdims=True))
    sizes: Array = (rays**nu).sum(axis=1, keepdims=True) ** (1.0 / nu)
    return np.asarray(rays / sizes)


def _shade(i: int, n: int) -> str:
    """Orange for the first, p = 1; green between; blue for the last."""
    t = i / max(n - 1, 1)
    return blend(UPPER, ACCENT, 2 * t) if t < 0.5 else blend(ACCENT, LOWER, 2 * t - 1)


def draw_penalty(ps: Sequence[float], sizes: Array) -> Picture:
    """The p-norm penalty of two functions, and the balls whose best weights give it.

    Parameters
    ----------
    ps : sequence of float
        Ascending, from 1 to 2.
    sizes : array, shape (2,)
        Sizes rho_i ||w_i|| for the walk along the edges of the balls.
    """
    nus = [math.inf if p == 2.0 else p / (2.0 - p) for p in ps]
    lows = []

    def draw(figure: Figure) -> None:
        left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1, 1.35))
        for i, (p, nu) in enumerate(zip(ps, nus, strict=True)):
            colour, label = _shade(i, len(ps)), f"$p$ = {p:.3g}"
            left.plot(*ball_edge(p).T, color=colour, linewidth=2.4, label=label)
            edge = ball_edge(nu)
            middle.plot(*edge.T, color=colour, linewidth=2.4, label=label)
            inner = edge[1:-1]
            value = (sizes**2 / inner).sum(axis=1)
            angle = np.degrees(np.arctan2(inner[:, 1], inner[:, 0]))
            right.plot(angle, value, color=colour, linewidth=2.4, label=label)
            best = int(np.argmin(value))
            lows.append(float(value[best]))
            right.plot(angle[best], value[best], "o", color=colour, markersize=6)
            middle.plot(*inner[best], "o", color=colour, markersize=6)
        for axes, name, title in (
            (left, (r"$\rho_1\|w_1\|$", r"$\rho_2\|w_2\|$"), "Penalty = 1"),
            (middle, (r"$\theta_1$", r"$\theta_2$"), r"Balls $\Delta_\nu$, $\nu=p/(2-p)$"),
        ):
            axes.set(title=title, xlabel=name[0], ylabel=name[1], xlim=(0, 1.1), ylim=(0, 1.1))
            axes.set_aspect("equal")
        top = 1.9 * max(lows)
        right.set(
            title="Along each edge: least = penalty",
            xlabel=r"direction of $\theta$ (degrees)",
            ylabel=r"$\Sigma_i\,(\rho_i\|w_i\|)^2/\theta_i$", xlim=(0, 90), xticks=(0, 30, 60, 90),
            ylim=(0.8 * min(lows), top),
        )  # fmt: skip
        right.legend(ncols=2)

    # The drawing fills `lows`: words come after it.
    picture = paint(draw, "", size=(10.4, 3.5))
    found = ", ".join(f"{low:.3f} for p = {p:.3g}" for p, low in zip(ps, lows, strict=True))
    text = (
        f"Two functions of sizes {sizes[0]:g} and {sizes[1]:g}: on the edge of the ball the least "
        f"sum of squares over weights is {found}; the larger p, the larger the ball."
    )
    return Picture(picture.png, text, picture.width)


@dataclass(frozen=True, eq=False)
class MirrorStep:
    """One step of mirror descent with two weights.

    Parameters
    ----------
    title : str
    nu, r : float
        Of the ball, and of the potential 1/2 ||.||_r^2.
    before : array, shape (2,)
        Where the step begins.
    z : array, shape (2,)
        Dual of `free`: grad Psi(before) minus the step.
    free : array, shape (2,)
        Where it leads without the constraint.
    landed : array, shape (2,)
        The nearest point of the ball, by the distance that Psi makes.
    """

    title: str
    nu: float
    r: float
    before: Array
    z: Array
    free: Array
    landed: Array

    def distance(self, theta: Array) -> Array:
        """Bregman distance from `free`, shape (...), for theta of shape (..., 2)."""

        def height(point: Array) -> Array:
            size: Array = (np.abs(point) ** self.r).sum(axis=-1) ** (1.0 / self.r)
            return np.asarray(0.5 * size**2 - point @ self.z)

        return np.asarray(height(theta) - height(self.free))


def draw_mirror_steps(steps: Sequence[MirrorStep]) -> Picture:
    """Balls, level sets of the distance, and where each step lands.

    Parameters
    ----------
    steps : sequence of MirrorStep
        Drawn beside each other.
    """
    span = max(1.12, *(1.08 * float(step.free.max()) for step in steps))

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(steps), sharey=True, squeeze=False)[0]
        for i, (axes, step) in enumerate(zip(panels, steps, strict=True)):
            _mirror_panel(axes, step, _shade(i, len(steps)), span)
        panels[0].set_ylabel(r"$\theta_2$")
        panels[0].legend(loc="upper right", fontsize=9, handlelength=1.2, borderaxespad=0.1)

    words = "; ".join(
        f"{step.title}: from ({step.before[0]:.2f}, {step.before[1]:.2f}) the free step leads to "
        f"({step.free[0]:.2f}, {step.free[1]:.2f}) and lands on "
        f"({step.landed[0]:.2f}, {step.landed[1]:.2f})"
        for step in steps
    )
    return paint(draw, f"One mirror step in the plane of two weights. {words}.", size=(10.4, 2.9))


def _mirror_panel(axes: Axes, step: MirrorStep, colour: str, span: float) -> None:
    from matplotlib.colors import to_rgba

    edge = ball_edge(step.nu)
    if math.isinf(step.nu):  # a square has a corner that angles miss
        edge = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    axes.fill(*np.vstack([edge, [0, 0]]).T, color=to_rgba(colour, 0.13), linewidth=0)
    axes.plot(*edge.T, color=colour, linewidth=2.4)
    across, up = np.linspace(0.0, span, 201), np.linspace(0.0, _TALL, 201)
    grid = np.stack(np.meshgrid(across, up), axis=-1)
    touching = float(step.distance(step.landed))
    if touching > 1e-12:
        levels = [share * touching for share in _LEVELS]
        axes.contour(
            across, up, step.distance(grid), levels=levels, colors=[INK],
            linewidths=[1.5 if share == 1.0 else 0.6 for share in _LEVELS],
            alpha=0.55,
        )  # fmt: skip
    for start, end in ((step.before, step.free), (step.free, step.landed)):
        axes.annotate(
            "", end, start,
            arrowprops={"arrowstyle": "-|>", "color": CURSOR, "linewidth": 1.5, "shrinkA": 3,
                        "shrinkB": 4},
        )  # fmt: skip
    for point, marker, fill, shade, label in (
        (step.before, "o", CURSOR, CURSOR, "before"),
        (step.free, "o", "white", CURSOR, "free step"),
        (step.landed, "D", ALERT, ALERT, "landed"),
    ):
        axes.plot(*point, marker, color=shade, markerfacecolor=fill, markersize=7, label=label,
                  linestyle="none", clip_on=False, zorder=4)  # fmt: skip
    axes.set(xlim=(0, span), ylim=(0, _TALL), xlabel=r"$\theta_1$", xticks=(0, 0.5, 1),
             yticks=(0, 0.5, 1))  # fmt: skip
    axes.set_title(step.title, fontsize=10.5, loc="center")
    axes.set_aspect("equal")
    axes.grid(visible=False)


def draw_optima(
    value: Callable[[Array], float], ps: Sequence[float], labels: tuple[str, str]
) -> Picture:
    """Level sets of a function of two weights, and its least point on each ball.

    Parameters
    ----------
    value : callable
        From weights, shape (2,), to a number that falls in each of them.
    ps : sequence of float
        Exponents of the penalty.
    labels : tuple of str
        Of the axes.
    """
    ticks = np.linspace(0.0, 1.12, 45)
    heights = np.array([[value(np.array([x, y])) for x in ticks] for y in ticks])
    edges = [ball_edge(math.inf if p == 2.0 else p / (2.0 - p), 721) for p in ps]
    found = []
    for edge in edges:
        along = [value(point) for point in edge]
        best = int(np.argmin(along))
        found.append((edge[best], along[best]))

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        # Where much is flat there are many lines: each holds as many points as the next.
        levels = np.unique(np.quantile(heights, np.linspace(0.02, 0.98, 16)))
        axes.contourf(ticks, ticks, heights, levels=levels, cmap="Greys", alpha=0.22, extend="max")
        lines = axes.contour(ticks, ticks, heights, levels=levels, colors=[INK], linewidths=0.7,
                             alpha=0.5)  # fmt: skip
        axes.clabel(lines, levels[1::3], fontsize=8, fmt="%.2f")
        for i, (p, edge, (point, low)) in enumerate(zip(ps, edges, found, strict=True)):
            colour = _shade(i, len(ps))
            shown = np.array([[1, 0], [1, 1], [0, 1]]) if p == 2.0 else edge
            axes.plot(*shown.T, color=colour, linewidth=2.4,
                      label=f"$p$ = {p:.3g}: least $J$ = {low:.3f}")  # fmt: skip
            axes.plot(*point, "o", color=colour, markersize=8, zorder=4, clip_on=False)
        axes.set(title=r"Level lines of $J$; on each ball the dot is lowest", xlabel=labels[0],
                 ylabel=labels[1], xlim=(0, 1.12), ylim=(0, 1.12))  # fmt: skip
        axes.set_aspect("equal")
        axes.grid(visible=False)
        axes.legend(loc="center left", bbox_to_anchor=(1.03, 0.5))

    words = "; ".join(
        f"p = {p:.3g}: {low:.3f} at ({point[0]:.2f}, {point[1]:.2f})"
        for p, (point, low) in zip(ps, found, strict=True)
    )
    return paint(draw, f"Level lines of a function of two weights. Least values: {words}.",
                 size=(7.6, 4.2))  # fmt: skip
