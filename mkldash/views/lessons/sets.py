"""The constraint set, for two kernels and for three."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.reciprocals import gauge
from mkldash.views._palette import ACCENT, LOWER, UPPER, blend
from mkldash.views.lessons.canvas import INK, Axes, Figure, Picture, paint

Array = NDArray[np.float64]

__all__ = ["boundary", "draw_three_kernels", "draw_two_kernels", "surface"]


def boundary(eta: float, n: int = 181) -> Array:
    """Boundary of the set for two kernels.

    Parameters
    ----------
    eta : float
        In [0, 1].
    n : int
        Points; odd, so that the middle one has equal weights.

    Returns
    -------
    array, shape (n, 2)
        From (1, 0) to (0, 1).
    """
    angle = np.linspace(0.0, np.pi / 2, n)
    rays = np.column_stack([np.cos(angle), np.sin(angle)])
    rays[0, 1] = rays[-1, 0] = 0.0
    return np.array([ray / gauge(ray, eta) for ray in rays])


def surface(eta: float, n: int = 25) -> Array:
    """Boundary of the set for three kernels, as a mesh.

    Returns
    -------
    array, shape (n, n, 3)
        Rows from the (1, 0, 0) - (0, 1, 0) edge up to (0, 0, 1).
    """
    rise, turn = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    rays = np.stack([(1 - rise) * (1 - turn), (1 - rise) * turn, rise], axis=-1)
    sizes = np.array([[gauge(ray, eta) for ray in row] for row in rays])
    return rays / sizes[..., None]


def shade(eta: float) -> str:
    """Blue for the ball, green between, orange for the simplex."""
    if eta < 0.5:
        return blend(LOWER, ACCENT, 2 * eta)
    return blend(ACCENT, UPPER, 2 * eta - 1)


def draw_two_kernels(etas: Sequence[float]) -> Picture:
    """The sets of two kernels for several eta, one in the other.

    Parameters
    ----------
    etas : sequence of float
        Ascending, so that the smaller sets lie on top.
    """

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.0))
        for eta in etas:
            curve = boundary(eta)
            left.fill(*np.vstack([curve, [0, 0]]).T, color=shade(eta), alpha=0.1, linewidth=0)
            left.plot(*curve.T, color=shade(eta), linewidth=2.4)
            middle = curve[len(curve) // 2]
            left.plot(*middle, "o", color=shade(eta), markersize=6)
        left.plot([0, 0.8], [0, 0.8], color=INK, linewidth=0.8, linestyle=(0, (2, 3)))
        left.set(
            title="Allowed weights of two kernels",
            xlabel=r"$\theta_1$", ylabel=r"$\theta_2$", xlim=(0, 1.12), ylim=(0, 1.12),
        )  # fmt: skip
        left.set_aspect("equal")
        for eta in etas:
            curve = boundary(eta)
            angle = np.degrees(np.arctan2(curve[:, 1], curve[:, 0]))
            name = {0.0: "0 (ball)", 1.0: "1 (simplex)"}.get(float(eta), f"{eta:g}")
            right.plot(
                angle, curve.sum(axis=1), color=shade(eta), linewidth=2.4, label=rf"$\eta$ = {name}"
            )
        right.set(
            title="The weights need not sum to 1",
            xlabel="direction of the weights (degrees)",
            ylabel=r"$\theta_1+\theta_2$ on the boundary", xlim=(0, 90), xticks=(0, 30, 45, 60, 90),
        )  # fmt: skip
        right.legend(loc="lower center", ncols=2, bbox_to_anchor=(0.5, 0.02))
        right.set_ylim(0.78, None)

    text = (
        f"Boundaries of the set for eta = {', '.join(f'{eta:g}' for eta in etas)}: all pass "
        "through (1, 0) and (0, 1); the larger eta, the flatter the curve between them."
    )
    return paint(draw, text, size=(9.6, 4.3))


def draw_three_kernels(etas: Sequence[float]) -> Picture:
    """The sets of three kernels, one beside the other.

    Parameters
    ----------
    etas : sequence of float
    """

    def draw(figure: Figure) -> None:
        for i, eta in enumerate(etas):
            axes = figure.add_subplot(1, len(etas), i + 1, projection="3d")
            put_surface(axes, eta)
            axes.set_title(rf"$\eta$ = {eta:g}", y=-0.02, loc="center", fontsize=13)

    text = (
        f"Three surfaces over the corners (1,0,0), (0,1,0), (0,0,1) for eta = "
        f"{', '.join(f'{eta:g}' for eta in etas)}: an eighth of a sphere, a flattened dome, "
        "a flat triangle."
    )
    return paint(draw, text, size=(9.6, 3.9))


def put_surface(axes: Axes, eta: float, alpha: float = 0.82) -> None:
    """The dome of one eta onto three-dimensional axes."""
    from matplotlib.colors import LightSource

    mesh = surface(eta)
    axes.plot_surface(
        mesh[..., 0], mesh[..., 1], mesh[..., 2], color=shade(eta), alpha=alpha,
        rstride=1, cstride=1, linewidth=0.25, edgecolor="#ffffff90",
        lightsource=LightSource(azdeg=20, altdeg=55), shade=True,
    )  # fmt: skip
    dress_cube(axes)
    first, second = boundary(eta).T
    zero = np.zeros(len(first))
    for edge in ((first, second, zero), (first, zero, second), (zero, first, second)):
        axes.plot(*edge, color=shade(eta), linewidth=2.2)


def dress_cube(axes: Axes, low: float = 0.0, high: float = 1.05) -> None:
    """Axes, labels and a corner to look from, the same for all cubes."""
    axes.set(
        xlim=(low, high), ylim=(low, high), zlim=(low, high),
        xticks=(0, 0.5, 1), yticks=(0, 0.5, 1), zticks=(0, 0.5, 1),
        xticklabels=(), yticklabels=(), zticklabels=(),
    )  # fmt: skip
    for number, tip in enumerate(1.17 * np.eye(3), start=1):
        axes.text(*tip, rf"$\theta_{number}$", fontsize=14, ha="center", va="center")
    for name in "xyz":
        axis = getattr(axes, f"{name}axis")
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis._axinfo["grid"]["color"] = "#e1e4e9"
    axes.view_init(elev=24, azim=38)
    axes.set_box_aspect((1, 1, 1), zoom=0.98)
