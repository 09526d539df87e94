"""Products of features in pictures: scatters, the tree of draws, what was learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.views._names import percent
from mkldash.views._palette import ACCENT, DRAWN, LAW, LINES, LOWER
from mkldash.views.lessons.canvas import INK, Axes, Figure, Picture, paint

Array = NDArray[np.float64]

__all__ = ["Branch", "draw_best_products", "draw_scatters", "draw_spread", "draw_tree"]

_SOFT = "#8b929c"


def draw_scatters(panels: Mapping[str, Array], y: Array, y_label: str) -> Picture:
    """The target against a few quantities, with their correlations.

    Parameters
    ----------
    panels : mapping of str to array, shape (n_rows,)
    y : array, shape (n_rows,)
    y_label : str
    """
    found = {name: float(np.corrcoef(x, y)[0, 1]) for name, x in panels.items()}

    def draw(figure: Figure) -> None:
        each = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (name, x) in zip(each, panels.items(), strict=True):
            strong = abs(found[name]) > 0.4
            axes.plot(x, y, "o", color=DRAWN if strong else LAW, markersize=3, alpha=0.45,
                      markeredgewidth=0)  # fmt: skip
            axes.set_title(f"correlation {found[name]:+.2f}", fontsize=10.5)
            axes.set_xlabel(name)
        each[0].set_ylabel(y_label)

    words = ", ".join(f"{name}: {value:+.2f}" for name, value in found.items())
    return paint(draw, f"Scatters of {y_label}. Correlations are {words}.", size=(10.4, 2.9))


@dataclass(frozen=True, eq=False)
class Branch:
    """One way through the tree of draws.

    Parameters
    ----------
    word : tuple of int
        The letters; their number is the first decision.
    chances : tuple of float
        Of the length, then of each letter given those before it.
    label : str
        Name of the word.
    share : float
        How often it was drawn.
    """

    word: tuple[int, ...]
    chances: tuple[float, ...]
    label: str
    share: float

    @property
    def probability(self) -> float:
        """The product of the chances."""
        return float(np.prod(self.chances))


def draw_tree(branches: Sequence[Branch], names: Sequence[str]) -> Picture:
    """Algorithm 3 as a tree, leaves to the right with their law and how often each was drawn.

    Parameters
    ----------
    branches : sequence of Branch
        All words, neighbors in the tree beside each other.
    names : sequence of str
        Of the letters.
    """
    depth = max(len(branch.word) for branch in branches) + 1
    places: dict[tuple[int, ...], list[int]] = {}
    for y, branch in enumerate(branches):
        # A node of the tree is a length and the letters so far.
        path = (len(branch.word), *branch.word)
        for k in range(len(path) + 1):
            places.setdefault(path[:k], []).append(y)
    chance = {(len(b.word), *b.word)[: k + 1]: c for b in branches for k, c in enumerate(b.chances)}

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.5, 1))
        for node, rows in places.items():
            if not node:
                continue
            x, y = len(node), float(np.mean(rows))
            parent = float(np.mean(places[node[:-1]]))
            left.plot([x - 1, x], [parent, y], color=LAW, alpha=0.65, solid_capstyle="round",
                      linewidth=0.6 + 11 * chance[node])  # fmt: skip
            called = f"{node[0]} factors" if len(node) == 1 else names[node[-1]]
            called = {"0 factors": "offset", "1 factors": "1 factor"}.get(called, called)
            left.annotate(
                f"{called}  {percent(chance[node])}", (x, y), xytext=(5, 0),
                textcoords="offset points", va="center", fontsize=9, color=INK,
                bbox={"boxstyle": "square,pad=0.12", "facecolor": "white", "linewidth": 0,
                      "alpha": 0.85},
            )  # fmt: skip
        left.plot(0, float(np.mean(places[()])), "o", color=INK, markersize=6)
        left.set(title="Each branch is one small decision", xlim=(-0.1, depth + 0.55))
        left.set_axis_off()
        _leaves(right, branches)

    top = max(branches, key=lambda branch: branch.probability)
    text = (
        f"A tree with {len(branches)} leaves. Multiplying the chances along a path gives the law "
        f"of its word; the likeliest is {top.label} with {percent(top.probability)}, drawn in "
        f"{percent(top.share)} of the draws."
    )
    return paint(draw, text, size=(9.6, 0.32 * len(branches) + 0.9))


def _leaves(axes: Axes, branches: Sequence[Branch]) -> None:
    rows = np.arange(len(branches))
    axes.barh(rows, [b.probability for b in branches], color=LAW, alpha=0.6,
              label="product of the chances")  # fmt: skip
    axes.plot([b.share for b in branches], rows, "D", color=DRAWN, markersize=5,
              label="share of the draws")  # fmt: skip
    axes.set_yticks(rows, [b.label for b in branches])
    axes.tick_params(axis="y", labelleft=True, length=0)
    axes.set_ylim(len(branches) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.set_title("probability of each word")
    # Beside the shortest bars.
    axes.legend(loc="center right", bbox_to_anchor=(1.0, 0.36))


def draw_best_products(
    panels: Mapping[str, Mapping[str, float]], true: Sequence[str], top: int = 8, columns: int = 2
) -> Picture:
    """The heaviest products, a panel for each answer; those that made the target stand out.

    Parameters
    ----------
    panels : mapping of str to (mapping of str to float)
        Weights by name of the product, by title.
    true : sequence of str
        Names of the products that made the target.
    top : int
        Products in a panel.
    columns : int
        Panels in a row.
    """
    ranked = {
        title: sorted(weights.items(), key=lambda item: -item[1])[:top]
        for title, weights in panels.items()
    }

    def draw(figure: Figure) -> None:
        rows = -(-len(ranked) // columns)
        grid = np.atleast_1d(figure.subplots(rows, min(columns, len(ranked)))).ravel()
        for axes, (title, found) in zip(grid, ranked.items(), strict=False):
            places = np.arange(len(found))
            hit = [name in true for name, _ in found]
            axes.barh(places, [value for _, value in found],
                      color=[ACCENT if h else _SOFT for h in hit], alpha=0.85)  # fmt: skip
            labels = [f"★ {n}" if h else n for (n, _), h in zip(found, hit, strict=True)]
            axes.set_yticks(places, labels)
            axes.set_ylim(top - 0.4, -0.6)
            axes.grid(axis="y", visible=False)
            axes.tick_params(axis="y", length=0)
            axes.locator_params(axis="x", nbins=5)
            axes.set(xlabel=r"weight $\theta$")
            axes.set_title(title, fontsize=11)

    words = " ".join(
        f"{title}: " + ", ".join(f"{name} {value:.3f}" for name, value in found[:3]) + "."
        for title, found in ranked.items()
    )
    return paint(draw, words, size=(10.4, 2.9 * -(-len(ranked) // columns)))


def draw_spread(
    groups: Mapping[str, Array], x: ArrayLike, *, title: str, x_label: str, y_label: str,
    log: str = "",
) -> Picture:  # fmt: skip
    """Several runs of each kind: every run thin, the mean thick, all between them tinted.

    Parameters
    ----------
    groups : mapping of str to array, shape (n_runs, n)
    x : array-like, shape (n,)
    title, x_label, y_label : str
    log : {"", "x", "y", "xy"}
    """
    at = np.asarray(x, dtype=np.float64)
    pens = ((LOWER, "-"), (DRAWN, (0, (6, 2.5))), *((c, "-") for c, _ in LINES))

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for (name, runs), (colour, dash) in zip(groups.items(), pens, strict=False):
            axes.fill_between(at, runs.min(axis=0), runs.max(axis=0), color=colour, alpha=0.12,
                              linewidth=0)  # fmt: skip
            axes.plot(at, runs.T, color=colour, alpha=0.35, linewidth=0.8)
            axes.plot(at, runs.mean(axis=0), color=colour, linewidth=2.6, linestyle=dash,
                      label=f"{name}, mean of {len(runs)}")  # fmt: skip
        axes.set(title=title, xlabel=x_label, ylabel=y_label)
        if "x" in log:
            axes.set_xscale("log")
        if "y" in log:
            axes.set_yscale("log")
        axes.legend()

    ends = ", ".join(
        f"{name} {runs[:, -1].mean():.4g} (from {runs[:, -1].min():.4g} to "
        f"{runs[:, -1].max():.4g})" for name, runs in groups.items()
    )  # fmt: skip
    return paint(draw, f"{title}. At the end: {ends}.", size=(9.6, 3.8))
