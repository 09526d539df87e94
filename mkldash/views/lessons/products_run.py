"""A mirror-descent run over products: what its views need beside it, and its still picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.family import KernelFamily
from mkldash.problems.problem import Problem
from mkldash.solvers.base import Snapshot
from mkldash.views._names import percent, product
from mkldash.views._palette import ACCENT, CURSOR, DRAWN, GHOST, LAW, LEVEL, LOWER, UPPER
from mkldash.views.base import FamilyFacts, Scene
from mkldash.views.degree_law import DegreeLawInfo, DegreeLawView
from mkldash.views.drawn_path import DrawnPathView
from mkldash.views.learnt_products import LearntProductsInfo, LearntProductsView
from mkldash.views.lessons.canvas import INK, Axes, Figure, Picture, paint
from mkldash.views.objective_bounds import ObjectiveBoundsInfo, ObjectiveBoundsView
from mkldash.views.pair_law import PairLawInfo, PairLawView

Array = NDArray[np.float64]

__all__ = ["ProductsRun", "draw_drawn_path", "draw_products_run", "products_scene"]


class ProductsRun(list[Snapshot]):
    """Snapshots, with the law of pairs that a session would have added to each.

    Parameters
    ----------
    snapshots : iterable of MirrorSnapshot
        From the first one on.
    family : KernelFamily
        Whose keys are words.
    """

    def __init__(self, snapshots: Iterable[Snapshot], family: KernelFamily) -> None:
        super().__init__(snapshots)
        self._family = family

    def values(self, k: int) -> dict[str, Array]:
        """``pair_law``, shape (r, r), from which snapshot `k` could draw pairs."""
        family = self._family
        if k < 1 or family.degree < 2:
            return {}
        r = family.n_base
        pairs = [tuple(sorted((i, j))) for i in range(r) for j in range(r)]
        forms = family.quadratic_forms(self[k - 1].alpha, pairs)
        total = forms.sum()
        return {"pair_law": (forms / total).reshape(r, r)} if total > 0 else {}


def products_scene(
    problem: Problem, p: float, true: Sequence[tuple[int, ...]] = (), tol: float | None = None
) -> Scene:
    """What the views of a run over products may show.

    Parameters
    ----------
    problem : Problem
        Over a product family.
    p : float
        Of its penalty.
    true : sequence of tuple of int
        Products that made the target, where that is known.
    tol : float, optional
        Gap at which the run stops.
    """
    family = problem.family
    facts = FamilyFacts(family.n_words, family.size, family.degree, p, family.merged)
    return Scene(tol=tol, features=family.base_names, family=facts, true_products=tuple(true))


def draw_products_run(run: Sequence[Snapshot], scene: Scene) -> Picture:
    """Objective and bounds, what was learnt, and both laws at the end of a run.

    Parameters
    ----------
    run : ProductsRun
    scene : Scene
        Of `products_scene`.
    """
    last = len(run) - 1
    bounds = ObjectiveBoundsView.prepare(run, last, scene)
    learnt = LearntProductsView.prepare(run, last, scene)
    degrees = DegreeLawView.prepare(run, last, scene)
    pairs = PairLawView.prepare(run, last, scene)

    def draw(figure: Figure) -> None:
        above, below = figure.subfigures(2, 1, height_ratios=(1.15, 1))
        left, right = above.subplots(1, 2)
        _bounds(left, bounds)
        _learnt(right, learnt)
        left, right = below.subplots(1, 2)
        _degrees(left, degrees)
        _pairs(below, right, pairs)

    words = (
        ObjectiveBoundsView.describe(bounds), LearntProductsView.describe(learnt),
        DegreeLawView.describe(degrees), PairLawView.describe(pairs),
    )  # fmt: skip
    return paint(draw, " ".join(words), size=(10.4, 6.9))


def _bounds(axes: Axes, info: ObjectiveBoundsInfo) -> None:
    at, low, high = np.maximum(info.bounds.iteration, 0.6), *info.bounds.window
    axes.fill_between(at, info.bounds.lower, info.bounds.upper, color=LOWER, alpha=0.12,
                      linewidth=0)  # fmt: skip
    axes.plot(at, info.objective, color=GHOST, linewidth=1.1, label="iterate")
    axes.plot(at, info.bounds.upper, color=UPPER, linewidth=2.2, linestyle=(0, (6, 2.5)),
              label="upper bound")  # fmt: skip
    axes.plot(info.certified, info.full_average, color=LEVEL, linewidth=2,
              linestyle=(0, (1.5, 1.8)), label="average of all")  # fmt: skip
    axes.plot(info.certified, info.average, color=ACCENT, linewidth=2.2, label="average, late")
    axes.plot(at, info.bounds.lower, color=LOWER, linewidth=2.2, label="lower bound")
    axes.set_xscale("log")
    axes.set(
        title=ObjectiveBoundsView.title, xlabel="iteration", ylabel="objective value",
        ylim=(low - 0.05 * (high - low), high + 0.06 * (high - low)), xlim=(0.9, None),
    )  # fmt: skip
    axes.legend(fontsize=9)


def _learnt(axes: Axes, info: LearntProductsInfo) -> None:
    places = np.arange(len(info.names))
    colours = [ACCENT if hit else GHOST for hit in info.true]
    axes.barh(places, info.answer, color=colours, alpha=0.85, label="best point")
    axes.plot(info.iterate, places, "|", color=CURSOR, markersize=13, markeredgewidth=2.6,
              label="iterate")  # fmt: skip
    axes.set_yticks(places, [f"★ {n}" if t else n for n, t in zip(info.names, info.true,
                                                                   strict=True)])  # fmt: skip
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set(title=f"{LearntProductsView.title} (★ made the target)", xlabel=r"weight $\theta$")
    axes.tick_params(axis="y", length=0)
    axes.legend(loc="lower right", fontsize=9)


def _degrees(axes: Axes, info: DegreeLawInfo) -> None:
    places = np.arange(len(info.law))
    hit = places == info.drawn
    axes.bar(places, info.law, width=0.66, color=[DRAWN if h else LAW for h in hit], alpha=0.75)
    for place, share in zip(places, info.law, strict=True):
        axes.annotate(percent(float(share)), (place, share), xytext=(0, 3), ha="center",
                      textcoords="offset points", fontsize=9.5)  # fmt: skip
    axes.set(
        title=f"{DegreeLawView.title}; drawn: {info.name}", xlabel="number of factors",
        ylabel="probability", xticks=places, ylim=(0, 1.15 * float(info.law.max())),
    )  # fmt: skip
    axes.grid(axis="x", visible=False)


def _pairs(figure: Figure, axes: Axes, info: PairLawInfo) -> None:
    from matplotlib.colors import ListedColormap

    from mkldash.views._palette import sequential

    n = len(info.features)
    shown = axes.imshow(info.law, cmap=ListedColormap(sequential(128)), vmin=0)
    axes.set_xticks(range(n), info.features)
    axes.set_yticks(range(n), info.features)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.set(title=f"{PairLawView.title}, if the degree is 2", xlabel="second factor",
             ylabel="first factor")  # fmt: skip
    figure.colorbar(shown, ax=axes, shrink=0.9, label="probability")


def draw_drawn_path(run: Sequence[Snapshot], k: int, scene: Scene) -> Picture:
    """How one product was drawn: a row of chances for each decision.

    Parameters
    ----------
    run : sequence of MirrorSnapshot
    k : int
        Position of the draw.
    scene : Scene
        Of `products_scene`.
    """
    info = DrawnPathView.prepare(run, k, scene)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(info.rows), squeeze=False)[0]
        for i, (axes, law) in enumerate(zip(panels, info.rows, strict=True)):
            places = np.arange(len(law))
            hit = places == info.chosen[i]
            axes.bar(places, law, color=[DRAWN if h else LAW for h in hit], alpha=0.75)
            labels = [str(d) for d in places] if i == 0 else list(info.features)
            axes.set_xticks(places, labels, rotation=0 if i == 0 else 45)
            given = product(info_word(run, k)[: i - 1], scene.features) if i > 1 else ""
            title = "number of factors" if i == 0 else f"factor {i}"
            axes.set_title(f"{title}{f', given {given}' if given else ''}", fontsize=10.5)
            axes.annotate(percent(float(info.chances[i])), (info.chosen[i], law[info.chosen[i]]),
                          xytext=(0, 3), textcoords="offset points", ha="center", fontsize=9.5,
                          color=INK)  # fmt: skip
            axes.set_ylim(0, 1.15 * float(law.max()))
            axes.grid(axis="x", visible=False)
        panels[0].set_ylabel("chance")

    return paint(draw, DrawnPathView.describe(info), size=(10.4, 2.7))


def info_word(run: Sequence[Snapshot], k: int) -> tuple[int, ...]:
    """The word that snapshot `k` drew."""
    word: tuple[int, ...] = getattr(run[k], "drawn", None) or ()
    return word
