"""The level method in the plane: three rows, a triangle, cuts and projections."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from bokeh.models import Arrow, ColumnDataSource, FixedTicker, NormalHead, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.solvers.base import Snapshot
from mkldash.views import _plotting as plotting
from mkldash.views._palette import ACCENT, CURSOR, INK, LEVEL
from mkldash.views._plane import WORDS, ThreeRows, clip, clip_segment, locator, many, words
from mkldash.views._reading import Readable, thin
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["LevelPlaneInfo", "LevelPlaneView"]

#: Lines of equal f, nearest together at the optimum.
_CONTOURS = 12

#: Iterates drawn.
_MOST_POINTS = 200

#: Deepest zoom: the picture's width is never below this share of C.
_CLOSEST = 2.0**-14

#: Between numbered points, as a share of the picture's width.
_ROOM = 0.07

#: Relative distance from the optimal value that is shaded without a tolerance.
_NEAR = 1e-3


class LevelPlaneInfo(NamedTuple):
    """Numbers of the picture; points as p, the coefficients of the class with two rows.

    Attributes
    ----------
    cursor : int
    rows : ThreeRows or None
    names : tuple of str
        Of p_0, p_1 and the third coefficient, their sum.
    contours : array, shape (m, n, 2)
        Lines of equal f, NaN where they run into the edge of the triangle.
    bands : array, shape (m, n, 2)
        The sets within them.
    near : array, shape (n, 2)
        Where f is within the tolerance of its least value.
    optimum : array, shape (2,)
    path : array, shape (n_points, 2)
        Iterates up to the cursor.
    iterations : array of int, shape (n_points,)
    numbered : array of int
        Which of them have room for a number.
    level_set : array, shape (n_corners, 2)
        {model <= level} in the triangle; empty without cuts.
    cuts : array, shape (n_cuts, 2, 2)
        Ends of the lines on which a cut equals the level, where they cross the triangle.
    cut_iterations : array of int, shape (n_cuts,)
    following : array, shape (2,), or None
        The next iterate.
    window : tuple of float
        (x0, x1, y0, y1) of the picture.
    whole : bool
        Whether all of the triangle is shown.
    """

    cursor: int
    rows: ThreeRows | None
    names: tuple[str, str, str]
    contours: Array
    bands: Array
    near: Array
    optimum: Array
    path: Array
    iterations: NDArray[np.intp]
    numbered: NDArray[np.intp]
    level_set: Array
    cuts: Array
    cut_iterations: NDArray[np.intp]
    following: Array | None
    window: tuple[float, float, float, float]
    whole: bool


_EMPTY = np.empty((0, 2))
_NOTHING = LevelPlaneInfo(
    0, None, ("", "", ""), np.empty((0, 0, 2)), np.empty((0, 0, 2)), _EMPTY, np.zeros(2), _EMPTY,
    np.empty(0, np.intp), np.empty(0, np.intp), _EMPTY, np.empty((0, 2, 2)),
    np.empty(0, np.intp), None, (0.0, 1.0, 0.0, 1.0), True,
)  # fmt: skip


class LevelPlaneView(View):
    """How cuts shrink the level set, and how each step is a projection onto it."""

    name = "level-plane"
    title = "The dual in the plane: three rows"
    needs = frozenset({"alpha", "shift", "three_points"})
    caption = (
        "Everything that is feasible with three training rows is this triangle. Each cut says "
        "where f is too high; what all cuts leave below the level is shaded, and the next "
        "iterate is its nearest point. The picture zooms in on the optimum."
    )
    formula = (
        r"f(\alpha)=\tfrac12(y\circ\alpha)^\top K(y\circ\alpha)"
        r"+\tfrac{1}{8\rho}\lVert\alpha\rVert^4-\mathbf{e}^\top\alpha\qquad "
        r"\text{cut }j:\ f(\alpha_j)+f'(\alpha_j)^\top(\alpha-\alpha_j)\le\ell=-\text{level}\qquad "
        r"\alpha_{i+1}=\arg\min\ \lVert\alpha-\alpha_i\rVert^2\ \text{over all cuts}"
    )
    order = 12

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> LevelPlaneInfo:
        """See `View.prepare`."""
        gram = scene.gram
        if not 0 <= k < len(trace) or gram is None or len(gram.y) != 3 or scene.cost is None:
            return _NOTHING
        if abs(gram.y.sum()) == 3:
            return _NOTHING
        rows = ThreeRows(gram.K, gram.y, scene.cost, math.inf if scene.rho is None else scene.rho)
        at = gram.rows[rows.pair]
        kept = [(i, found) for i in thin(k + 1, _MOST_POINTS) if (found := _read(trace, int(i)))]
        path = np.array([found.alpha[at] for _, found in kept]).reshape(-1, 2)
        here, after = _read(trace, k), _read(trace, k + 1)
        level_set, cuts, numbers = _level_set(rows, gram.rows, here)
        following = None if after is None else np.asarray(after.alpha[at])
        optimum = rows.optimum()
        window, whole = _window(rows, optimum, path[-1:], following, level_set)
        levels = _levels(rows, optimum, 1.0 if whole else (window[1] - window[0]) / scene.cost)
        within = float(rows.f(optimum)) / (1.0 + (scene.tol or _NEAR))
        bands, free = rows.sublevel(optimum, np.append(levels, within))
        contours = np.where(free[..., None], bands, np.nan)
        iterations = np.array([found.iteration for _, found in kept], dtype=np.intp)
        return LevelPlaneInfo(
            cursor=0 if here is None else here.iteration,
            rows=rows,
            names=_names(rows, gram.rows),
            contours=contours[:-1],
            bands=bands[:-1],
            near=bands[-1],
            optimum=optimum,
            path=path,
            iterations=iterations,
            numbered=_numbered(rows.drawn(path), window),
            level_set=level_set,
            cuts=cuts,
            cut_iterations=numbers,
            following=following,
            window=window,
            whole=whole,
        )

    def _build(self) -> figure:
        plot = plotting.new_figure(
            self.title, "α₁, α₂, α₃", "", x_range=Range1d(0, 1), y_range=Range1d(0, 1),
            height=430, left=14, right=14,
        )  # fmt: skip
        self._box = plotting.equal_scales(plot)
        plot.grid.grid_line_color = None
        for axis in plot.axis:
            axis.ticker = FixedTicker(ticks=[])
            axis.axis_line_alpha = 0.0
        self._bands = ColumnDataSource({"xs": [], "ys": []})
        self._contours = ColumnDataSource({"xs": [], "ys": []})
        self._near, self._triangle, self._level = (
            ColumnDataSource({"x": [], "y": []}) for _ in range(3)
        )
        plot.patches("xs", "ys", source=self._bands, color=ACCENT, fill_alpha=0.035,
                     line_color=None)  # fmt: skip
        plot.multi_line("xs", "ys", source=self._contours, color=ACCENT, line_width=1, alpha=0.55)
        plot.patch("x", "y", source=self._near, fill_color=ACCENT, fill_alpha=0.35,
                   line_color=ACCENT)  # fmt: skip
        plot.patch("x", "y", source=self._level, fill_color=LEVEL, fill_alpha=0.3,
                   line_color=LEVEL, line_width=2)  # fmt: skip
        self._cuts = ColumnDataSource({"xs": [], "ys": [], "wide": [], "iteration": []})
        cuts = plot.multi_line(
            "xs", "ys", source=self._cuts, color=LEVEL, line_width="wide", line_dash=[6, 4]
        )
        plot.patch("x", "y", source=self._triangle, fill_alpha=0.0, line_color=INK, line_width=2.5)
        self._build_path(plot)
        self._words = ColumnDataSource({c: [] for c in WORDS})
        plot.text(
            "x", "y", "text", source=self._words, angle="angle", x_offset="dx", y_offset="dy",
            text_align="align", text_font_size="size", color=INK, text_baseline="middle",
        )  # fmt: skip
        self._locator = ColumnDataSource({"xs": [], "ys": []})
        plot.multi_line("xs", "ys", source=self._locator, color=INK, line_width=1.5)
        plotting.add_hover(plot, [cuts], [("cut of iteration", "@iteration")])
        return plot

    def _build_path(self, plot: figure) -> None:
        self._path = ColumnDataSource({c: [] for c in ("x", "y", "iteration", "a", "b", "c")})
        self._numbers = ColumnDataSource({c: [] for c in ("x", "y", "text", "colour", "size")})
        self._step = ColumnDataSource({"x0": [], "y0": [], "x1": [], "y1": []})
        self._star = ColumnDataSource({"x": [], "y": []})
        star = plot.scatter("x", "y", source=self._star, marker="star", size=17, color=ACCENT)
        plot.line("x", "y", source=self._path, color=INK, line_width=1.5)
        dots = plot.scatter("x", "y", source=self._path, color=INK, size=6)
        head = NormalHead(size=11, fill_color=CURSOR, line_color=CURSOR)
        plot.add_layout(
            Arrow(end=head, source=self._step, x_start="x0", y_start="y0", x_end="x1", y_end="y1",
                  line_color=CURSOR, line_width=2.5)
        )  # fmt: skip
        plot.scatter(
            "x", "y", source=self._numbers, size="size", color="colour", level="overlay"
        )  # fmt: skip
        plot.text(
            "x", "y", "text", source=self._numbers, color="#ffffff", text_align="center",
            text_baseline="middle", text_font_size="11px", text_font_style="bold", y_offset=1,
            level="overlay",
        )  # fmt: skip
        alpha = "(@a{0.0000}, @b{0.0000}, @c{0.0000})"
        plotting.add_hover(plot, [dots], [("iteration", "@iteration"), ("α", alpha)])
        plotting.add_hover(plot, [star], [("", "the optimum")], attachment="below")

    def _write(self, info: LevelPlaneInfo) -> None:
        rows = info.rows
        if rows is None:
            return
        plotting.show_box(self._box, info.window)
        for source, curves in ((self._bands, info.bands), (self._contours, info.contours)):
            source.data = many(rows.drawn(curves))
        _one(self._near, rows.drawn(info.near))
        _one(self._triangle, rows.drawn(rows.triangle))
        _one(self._level, rows.drawn(info.level_set))
        _one(self._star, rows.drawn(info.optimum[None]))
        newest = info.cut_iterations.max(initial=-1)
        self._cuts.data = {
            **many(rows.drawn(info.cuts)),
            "wide": np.where(info.cut_iterations == newest, 2.5, 1.2).tolist(),
            "iteration": info.cut_iterations.tolist(),
        }
        path = rows.drawn(info.path)
        alpha = info.path @ rows.basis.T
        self._path.data = {
            "x": path[:, 0], "y": path[:, 1], "iteration": info.iterations,
            "a": alpha[:, 0], "b": alpha[:, 1], "c": alpha[:, 2],
        }  # fmt: skip
        last = info.iterations[info.numbered] == info.cursor
        self._numbers.data = {
            "x": path[info.numbered, 0].tolist(), "y": path[info.numbered, 1].tolist(),
            "text": [str(i) for i in info.iterations[info.numbered]],
            "colour": np.where(last, CURSOR, INK).tolist(),
            "size": np.where(last, 19.0, 16.0).tolist(),
        }  # fmt: skip
        self._write_step(path[-1:], None if info.following is None else rows.drawn(info.following))
        self._words.data = words(rows, info.names if info.whole else None)
        self._locator.data = many([] if info.whole else locator(rows, info.optimum, info.window))
        first, second, third = info.names
        text = f"below: {first}; left: {second}; {third} = their sum"
        if not info.whole:
            times = rows.cost / (info.window[3] - info.window[2])
            text = f"zoomed in on the optimum, about {times:,.0f} times"
        if self.figure().xaxis[0].axis_label != text:
            self.figure().xaxis[0].axis_label = text

    def _write_step(self, here: Array, after: Array | None) -> None:
        moved = after is not None and len(here) and not np.array_equal(after, here[0])
        ends = (*here[0], *after) if moved and after is not None else ()
        names = ("x0", "y0", "x1", "y1")
        self._step.data = {n: [float(ends[i])] if ends else [] for i, n in enumerate(names)}

    @staticmethod
    def marks(info: LevelPlaneInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        cuts: tuple[tuple[str, str, str], ...] = ()
        if len(info.level_set):
            cuts = (("╌", LEVEL, "cut at the level"), ("■", LEVEL, "level set"))
        step: tuple[tuple[str, str, str], ...] = ()
        if info.following is not None:
            step = (("→", CURSOR, "projection onto it" if cuts else "next step"),)
        return (
            ("△", INK, "feasible"), ("◎", ACCENT, "equal f"), ("★", ACCENT, "optimum"), *cuts,
            ("●", CURSOR, f"iterate {info.cursor}"), *step,
        )  # fmt: skip

    @staticmethod
    def describe(info: LevelPlaneInfo) -> str:
        """See `View.describe`."""
        if info.rows is None:
            return "This picture is for exactly three training rows."
        away = math.sqrt(2.0) * float(
            np.linalg.norm(info.rows.drawn(info.path[-1] - info.optimum))
        ) if len(info.path) else math.nan  # fmt: skip
        text = f"Iterate {info.cursor} lies {away:.3g} from the optimum."
        if len(info.level_set):
            n, corners = len(info.cuts), len(info.level_set)
            cuts = "1 cut bounds" if n == 1 else f"{n} cuts bound"
            text += f" {cuts} a level set with {corners} corners."
        return text


def _read(trace: Readable, k: int) -> Snapshot | None:
    """Snapshot `k` if it is there and kept."""
    if not 0 <= k < len(trace):
        return None
    peek = getattr(trace, "peek", None)
    found: Snapshot | None = trace[k] if peek is None else peek(k)
    return found


def _level_set(
    rows: ThreeRows, order: NDArray[np.intp], here: Snapshot | None
) -> tuple[Array, Array, NDArray[np.intp]]:
    """Corners of {model <= level}, the lines of the cuts at it, and whose they are."""
    cuts, level = getattr(here, "cuts", ()), getattr(here, "level", None)
    if not cuts or level is None:
        return _EMPTY, np.empty((0, 2, 2)), np.empty(0, np.intp)
    polygon, lines, numbers = rows.triangle, [], []
    for cut in cuts:
        gradient = cut.gradient[order]
        normal = rows.basis.T @ gradient
        offset = -level - cut.value + float(gradient @ cut.alpha[order])
        polygon = clip(polygon, normal, offset)
        line = clip_segment(rows.triangle, normal, offset)
        if len(line):
            lines.append(line)
            numbers.append(cut.iteration)
    return polygon, np.array(lines).reshape(-1, 2, 2), np.array(numbers, dtype=np.intp)


def _window(
    rows: ThreeRows, optimum: Array, here: Array, after: Array | None, level_set: Array
) -> tuple[tuple[float, float, float, float], bool]:
    """All of the triangle, or a square around the optimum with all that this step is about."""
    points = np.vstack([here, _EMPTY if after is None else after[None], level_set])
    centre = rows.drawn(optimum)
    size = 1.25 * np.abs(rows.drawn(points) - centre).max(initial=0.0)
    if size > rows.cost / 8:
        c = rows.cost
        return (-0.16 * c, 1.12 * c, -0.12 * c, 0.93 * c), True
    # In steps, so that neighbouring iterates are seen at the same scale.
    half = rows.cost * max(4.0 ** math.ceil(math.log(max(size / rows.cost, 1e-300), 4.0)), _CLOSEST)
    x, y = float(centre[0]), float(centre[1])
    return (x - 1.2 * half, x + 1.2 * half, y - half, y + half), False


def _levels(rows: ThreeRows, optimum: Array, share: float) -> Array:
    """Values of f for the contours: up to what the picture shows of the triangle."""
    corners = optimum + min(1.0, share) * (rows.triangle - optimum)
    least = float(rows.f(optimum))
    most = max(float(rows.f(corners).max()), least + 1e-300)
    return least + (most - least) * (np.arange(1, _CONTOURS + 1) / (_CONTOURS + 0.5)) ** 2


def _numbered(points: Array, window: tuple[float, float, float, float]) -> NDArray[np.intp]:
    """The last point, and of the others in the picture those with room around them."""
    x0, x1, y0, y1 = window
    room = _ROOM * (x1 - x0)
    inside = np.all((points >= (x0, y0)) & (points <= (x1, y1)), axis=1)
    chosen: list[int] = []
    for i in [len(points) - 1, *range(len(points) - 1)] if len(points) else []:
        if inside[i] and all(np.linalg.norm(points[i] - points[j]) >= room for j in chosen):
            chosen.append(i)
    return np.array(sorted(chosen), dtype=np.intp)


def _names(rows: ThreeRows, order: NDArray[np.intp]) -> tuple[str, str, str]:
    below = str.maketrans("123", "₁₂₃")
    numbers = [*order[rows.pair], order[rows.single]]
    first, second, third = (
        f"α{str(i + 1).translate(below)} (row {i + 1})" for i in numbers
    )  # fmt: skip
    return first, second, third


def _one(source: ColumnDataSource, points: Array) -> None:
    plotting.write(source, {"x": points[:, 0], "y": points[:, 1]}, full=True)
