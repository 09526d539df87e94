"""Algorithm 2 in pictures: two level sets, the plane between them, and the walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.problems.reciprocals import ReciprocalsStep, gauge, gauge_gradient
from mkldash.views._palette import ACCENT, ALERT, CURSOR, GHOST, LOWER, UPPER, blend
from mkldash.views.lessons.canvas import INK, Axes, Curve, Figure, Picture, paint, put_curves
from mkldash.views.lessons.sets import boundary

Array = NDArray[np.float64]

__all__ = [
    "TangentStep",
    "draw_chord",
    "draw_counts",
    "draw_slack",
    "draw_tangent_step",
    "draw_walk",
    "draw_weight_step",
    "reciprocal_curve",
    "tangent_step",
]


class TangentStep(NamedTuple):
    """Geometry of one plane step of Algorithm 2.

    Attributes
    ----------
    w : array, shape (n_kernels,)
        The iterate before.
    q : array, shape (n_kernels,)
        Gradient of s at w; normal of the plane q'x = p.
    p : float
        Offset of the plane, and the value of both level sets it touches.
    y : array, shape (n_kernels,)
        Where the plane touches s = p: w, stretched.
    z : array, shape (n_kernels,)
        Where it touches g = p: the next iterate.
    """

    w: Array
    q: Array
    p: float
    y: Array
    z: Array


def tangent_step(w: Array, beta: Array, eta: float) -> TangentStep:
    """The plane that touches a level set of s and one of g, both of value p.

    Parameters
    ----------
    w, beta : array, shape (n_kernels,)
        Positive.
    eta : float
        In [0, 1].
    """
    q = gauge_gradient(w, eta)
    p = float(np.sqrt(beta * q).sum())
    return TangentStep(w, q, p, w * (p / gauge(w, eta)), np.sqrt(beta / q))


def reciprocal_curve(beta: Array, level: float, reach: float, n: int = 200) -> Array:
    """The curve g = level of two kernels, up to coordinates of `reach`.

    Returns
    -------
    array, shape (n, 2)
        From high second coordinate to high first one.
    """
    first, second = float(beta[0]), float(beta[1])
    low = 1.0 / ((level - second / reach) / first)
    x = np.geomspace(low, reach, n)
    return np.column_stack([x, second / (level - first / x)])


def _plane(axes: Axes, q: Array, p: float, **pen: object) -> None:
    axes.plot([0.0, p / q[0]], [p / q[1], 0.0], **pen)


def _two_levels(axes: Axes, beta: Array, eta: float, level: float, reach: float) -> None:
    s_curve = level * boundary(eta)
    g_curve = reciprocal_curve(beta, level, 4 * reach)
    axes.fill(*np.vstack([s_curve, [0, 0]]).T, color=LOWER, alpha=0.13, linewidth=0)
    axes.plot(*s_curve.T, color=LOWER, linewidth=2.4, label=r"$s(x)=p$")
    corner = [[4 * reach, 4 * reach]]
    axes.fill(*np.vstack([g_curve, corner]).T, color=UPPER, alpha=0.13, linewidth=0)
    axes.plot(*g_curve.T, color=UPPER, linewidth=2.4, linestyle=(0, (6, 2.5)), label=r"$g(x)=p$")


def _arrow(axes: Axes, start: Array, step: Array, colour: str) -> None:
    axes.annotate(
        "", xy=tuple(start + step), xytext=tuple(start),
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.8, "shrinkA": 0},
    )  # fmt: skip


def _mark(axes: Axes, point: Array, text: str, colour: str, shift: tuple[float, float]) -> None:
    axes.plot(*point, "o", color=colour, markersize=8, markeredgecolor="white", zorder=5)
    axes.annotate(
        text, tuple(point), xytext=shift, textcoords="offset points", fontsize=13, color=colour,
        zorder=6,
    )  # fmt: skip


def draw_tangent_step(step: TangentStep, beta: Array, eta: float, reach: float) -> Picture:
    """One step: the plane touches both level sets, and the iterate moves from w to z.

    Parameters
    ----------
    step : TangentStep
        For two kernels.
    beta : array, shape (2,)
    eta : float
    reach : float
        End of both axes.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        _two_levels(axes, beta, eta, step.p, reach)
        _plane(
            axes, step.q, step.p, color=CURSOR, linewidth=2.0, linestyle=(0, (7, 2, 1.5, 2)),
            label=r"plane $q^\top x=p$",
        )  # fmt: skip
        far = step.w / step.w.max() * 2 * reach
        axes.plot([0, far[0]], [0, far[1]], color=GHOST, linewidth=1.0, linestyle=(0, (2, 3)))
        arrow = 0.16 * reach * step.q / np.linalg.norm(step.q)
        _arrow(axes, step.y, arrow, LOWER)
        _arrow(axes, step.z, arrow, UPPER)
        _mark(axes, step.w, r"$w$", INK, (-4, 9))
        _mark(axes, step.y, r"$y$", LOWER, (-16, -14))
        _mark(axes, step.z, r"$z$", UPPER, (-14, -15))
        axes.text(0.06 * reach, 0.06 * reach, r"$s<p$", color=LOWER, fontsize=13)
        axes.text(0.86 * reach, 0.88 * reach, r"$g<p$", color=UPPER, fontsize=13)
        axes.set(
            xlim=(0, reach), ylim=(0, reach), xlabel=r"$x_1$", ylabel=r"$x_2$",
            title=rf"One step at $\eta$ = {eta:g}: from $w$ to $z$",
        )  # fmt: skip
        axes.set_aspect("equal")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", fontsize=12)

    text = (
        f"A straight line touches the level set of s from outside at y = ({step.y[0]:.3f}, "
        f"{step.y[1]:.3f}) and the level set of g at the next iterate z = ({step.z[0]:.3f}, "
        f"{step.z[1]:.3f}); both sets have the value p = {step.p:.4f} and do not overlap."
    )
    return paint(draw, text, size=(6.8, 5.0))


def draw_walk(
    steps: Sequence[ReciprocalsStep], beta: Array, eta: float, best: float, reach: float
) -> Picture:
    """The inner iteration walks to its fixed point, and its two bounds meet.

    Parameters
    ----------
    steps : sequence of ReciprocalsStep
        Of two kernels, the start first.
    beta : array, shape (2,)
    eta : float
    best : float
        h*, from elsewhere.
    reach : float
        End of both axes.
    """
    points = np.array([step.x for step in steps])

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.05))
        _two_levels(left, beta, eta, float(np.sqrt(best)), reach)
        shown = min(4, len(points) - 1)
        for m in range(shown):
            one = tangent_step(points[m], beta, eta)
            colour = blend(CURSOR, "#ffffff", 0.72 - 0.72 * m / max(shown - 1, 1))
            _plane(left, one.q, one.p, color=colour, linewidth=1.5, linestyle=(0, (7, 2, 1.5, 2)))
        left.plot(*points.T, color=INK, linewidth=1.2, zorder=4)
        left.plot(*points.T, "o", color=INK, markersize=5.5, markeredgecolor="white", zorder=5)
        left.plot(*points[-1], "*", color=ALERT, markersize=15, markeredgecolor="white", zorder=6)
        for m in range(min(3, len(points))):
            left.annotate(
                f"$x^{{({m})}}$", tuple(points[m]), xytext=(6, 6), textcoords="offset points",
                fontsize=12,
            )  # fmt: skip
        left.set(
            xlim=(0, reach), ylim=(0, reach), xlabel=r"$x_1$", ylabel=r"$x_2$",
            title=rf"The walk at $\eta$ = {eta:g}, and both sets at $\sqrt{{h^*}}$",
        )  # fmt: skip
        left.set_aspect("equal")
        number = np.arange(len(steps))
        curves = [
            Curve(r"value $h(x^{(m)})$", number, [s.upper for s in steps], dots=True),
            Curve(r"bound $p^2=g(x^{(m)})^2$", number[1:], [s.lower for s in steps[1:]], dots=True),
        ]
        put_curves(right, curves)
        right.axhline(best, color=INK, linewidth=1.0, linestyle=(0, (2, 3)), label=r"$h^*$")
        right.set(
            xlabel="step $m$", title="The optimum is caught between", xticks=number,
            ylim=(0.8 * steps[1].lower, 1.1 * max(steps[1].upper, best)),
        )  # fmt: skip
        right.legend(fontsize=12)

    text = (
        f"{len(steps) - 1} steps from ({points[0, 0]:.2f}, {points[0, 1]:.2f}) to "
        f"({points[-1, 0]:.3f}, {points[-1, 1]:.3f}), where both level sets touch; the value h "
        f"falls and the bound p squared rises to {best:.5f}."
    )
    return paint(draw, text, size=(10.2, 4.6))


def draw_weight_step(beta: Array, eta: float, theta: Array) -> Picture:
    """The weight step of two kernels: on the set, and without the constraint.

    Parameters
    ----------
    beta : array, shape (2,)
    eta : float
    theta : array, shape (2,)
        The minimiser.
    """
    edge = boundary(eta)

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        best = float((beta / theta).sum())
        grid = np.linspace(0.02, 1.25, 240)
        x1, x2 = np.meshgrid(grid, grid)
        g = beta[0] / x1 + beta[1] / x2
        levels = best * np.array([0.7, 0.82, 1.0, 1.25, 1.6, 2.2, 3.2])
        lines = left.contour(x1, x2, g, levels=levels, colors=UPPER, linewidths=1.2, alpha=0.75)
        left.clabel(
            lines, levels, fmt="%.2g", fontsize=9,
            manual=[(beta.sum() / level, beta.sum() / level) for level in levels],
        )  # fmt: skip
        left.fill(*np.vstack([edge, [0, 0]]).T, color=LOWER, alpha=0.15, linewidth=0)
        left.plot(*edge.T, color=LOWER, linewidth=2.6)
        left.plot(*theta, "*", color=ALERT, markersize=16, markeredgecolor="white", zorder=5)
        left.set_title(r"$\beta_1/\theta_1+\beta_2/\theta_2$ on the set (blue)")
        total, square = x1 + x2, x1**2 + x2**2
        root = np.sqrt((eta * total) ** 2 + 4 * (1 - eta) * square)
        h = 0.5 * (eta * total + root) * g
        steps = best * np.array([1.0, 1.02, 1.08, 1.2, 1.45, 2.0, 3.0, 1e9])
        shades = [blend(ACCENT, "#ffffff", t) for t in np.linspace(0.25, 1.0, len(steps) - 1)]
        right.contourf(x1, x2, h, levels=steps, colors=shades)
        right.contour(x1, x2, h, levels=steps[1:-1], colors=ACCENT, linewidths=0.9)
        far = 1.7 * theta
        right.plot([0, far[0]], [0, far[1]], color=ALERT, linewidth=2, linestyle=(0, (1.5, 1.8)))
        right.plot(*edge.T, color=LOWER, linewidth=1.6, alpha=0.5)
        right.plot(*theta, "*", color=ALERT, markersize=16, markeredgecolor="white", zorder=5)
        right.set_title(r"$h(x)=s(x)\,g(x)$ is constant on rays (darker: less)")
        for axes, name in ((left, r"\theta"), (right, "x")):
            axes.set(xlim=(0, 1.2), ylim=(0, 1.2), xlabel=f"${name}_1$", ylabel=f"${name}_2$")
            axes.set_aspect("equal")
            axes.grid(False)

    text = (
        f"Left: level curves of the sum of reciprocals touch the set at ({theta[0]:.3f}, "
        f"{theta[1]:.3f}). Right: the level curves of h are rays from the origin; the best ray "
        "passes through the same point."
    )
    return paint(draw, text, size=(9.6, 4.7))


def draw_chord(beta: Array, eta: float, ends: tuple[Array, Array]) -> Picture:
    """h along a segment: above its chord somewhere, and yet with one valley only.

    Parameters
    ----------
    beta : array, shape (2,)
    eta : float
    ends : tuple of array, shape (2,)
        The segment.
    """
    first, second = ends
    t = np.linspace(0, 1, 400)
    path = first + t[:, None] * (second - first)
    h = np.array([gauge(x, eta) * (beta / x).sum() for x in path])
    chord = h[0] + t * (h[-1] - h[0])
    valley = float(t[h.argmin()])

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.fill_between(t, chord, h, where=h > chord, color=ALERT, alpha=0.16, linewidth=0)
        axes.plot(t, h, color=ACCENT, linewidth=2.6, label=r"$h$ on the segment from $a$ to $b$")
        axes.plot(t, chord, color=INK, linewidth=1.4, linestyle=(0, (6, 2.5)), label="its chord")
        axes.plot(valley, h.min(), "*", color=ALERT, markersize=15, markeredgecolor="white")
        worst = int(np.argmax(h - chord))
        axes.annotate(
            "above the chord: not convex", (float(t[worst]), float((h + chord)[worst] / 2)),
            xytext=(-60, -44), textcoords="offset points", color=ALERT,
            arrowprops={"arrowstyle": "-", "color": ALERT, "linewidth": 1.0},
        )  # fmt: skip
        axes.annotate(
            "falls, then rises: one valley", (valley, float(h.min())), xytext=(34, -4),
            textcoords="offset points", color=ACCENT,
        )  # fmt: skip
        axes.set(
            xlabel=r"place $t$ on the segment, $x=a+t\,(b-a)$", ylabel="$h(x)$",
            title=rf"A slice of $h$ at $\eta$ = {eta:g}",
        )  # fmt: skip
        axes.legend(loc="lower right")

    text = (
        f"h along a segment falls from {h[0]:.2f} to {h.min():.2f} and rises to {h[-1]:.2f}, "
        "above its chord for a stretch: not convex, but with a single valley."
    )
    return paint(draw, text, size=(8.6, 3.8))


def draw_slack(ratios: Mapping[str, ArrayLike]) -> Picture:
    """How far below 1 ratios stay that must not exceed it.

    Parameters
    ----------
    ratios : mapping of str to array-like, shape (n_draws,)
        By the formula of the ratio.
    """

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(ratios), sharey=True, squeeze=False)[0]
        for axes, (label, values) in zip(panels, ratios.items(), strict=True):
            axes.hist(np.asarray(values), bins=np.linspace(0, 1.1, 34), color=LOWER, alpha=0.75)
            axes.axvline(1.0, color=ALERT, linewidth=1.8, linestyle=(0, (6, 2.5)))
            axes.set(xlabel=label, xlim=(0, 1.1))
            axes.xaxis.label.set_size(14)
        panels[0].set_ylabel("random draws")
        panels[0].set_title("Nothing lies beyond the red line")

    text = f"Histograms of {len(ratios)} ratios over random draws; none exceeds 1."
    return paint(draw, text, size=(9.6, 3.0))


def draw_counts(etas: ArrayLike, counts: Mapping[str, ArrayLike], *, at: float) -> Picture:
    """Steps that each rule needs, against eta.

    Parameters
    ----------
    etas : array-like, shape (n,)
    counts : mapping of str to array-like, shape (n,)
        Mean number of steps by the name of the rule.
    at : float
        Where the paper changes from one rule to the other.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        put_curves(axes, [Curve(name, etas, c, dots=True) for name, c in counts.items()])
        axes.axvline(at, color=GHOST, linewidth=1.4, linestyle=(0, (2, 3)))
        axes.annotate(
            rf"$\eta$ = {at:g}", (at, 1.0), xycoords=("data", "axes fraction"), xytext=(5, -12),
            textcoords="offset points", color="#5b626c",
        )  # fmt: skip
        axes.set(
            xlabel=r"$\eta$", ylabel="steps to a relative accuracy of $10^{-8}$",
            title="Which rule is faster depends on $\\eta$", ylim=(0, None),
        )  # fmt: skip
        axes.legend()

    lists = "; ".join(
        f"{name}: {', '.join(f'{c:.1f}' for c in np.asarray(values))}"
        for name, values in counts.items()
    )
    return paint(draw, f"Mean steps against eta. {lists}.", size=(8.6, 3.8))
