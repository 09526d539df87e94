"""Several runs, or many values of rho, in one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.solvers.base import Snapshot
from mkldash.views._palette import LOWER, UPPER, sequential
from mkldash.views.lessons.canvas import INK, Axes, Figure, Picture, paint
from mkldash.views.lessons.level_method import gaps_in_words, put_gaps

Array = NDArray[np.float64]
Run = Sequence[Snapshot]

__all__ = ["Scored", "draw_accuracies", "draw_race", "draw_weights_by_rho"]


def draw_race(races: Mapping[str, Mapping[str, Run]], tol: float) -> Picture:
    """Certified gaps of several solvers by iteration, a panel for each problem.

    Parameters
    ----------
    races : mapping of str to mapping of str to run
        By problem, then by solver.
    tol : float
        Marked across.
    """

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(races), squeeze=False, sharey=True)[0]
        for axes, (name, runs) in zip(panels, races.items(), strict=True):
            put_gaps(axes, runs)
            axes.axhline(tol, color=INK, linewidth=0.9, linestyle=(0, (2, 3)))
            axes.set_title(name)
        for axes in panels[1:]:
            axes.set_ylabel("")

    said = [f"{name}: {' '.join(gaps_in_words(runs))}" for name, runs in races.items()]
    return paint(draw, " ".join(said), size=(9.6, 4.0))


@dataclass(frozen=True, eq=False)
class Scored:
    """Test accuracies by rho, for `draw_accuracies`.

    Parameters
    ----------
    title : str
    rho : array, shape (m,)
    accuracy : mapping of str to array, shape (m, n_splits)
        Shares, 0 to 1, each under a name of `baselines`.
    baselines : mapping of str to array, shape (n_splits,)
        The plain support vector machine, under at most two settings.
    """

    title: str
    rho: Array
    accuracy: Mapping[str, Array]
    baselines: Mapping[str, Array]

    def gain(self, setting: str) -> tuple[Array, Array]:
        """Points of accuracy over the plain machine: mean and its error, each of shape (m,)."""
        more = 100 * (self.accuracy[setting] - self.baselines[setting])
        return more.mean(axis=1), more.std(axis=1, ddof=1) / np.sqrt(more.shape[1])


def draw_accuracies(scored: Sequence[Scored]) -> Picture:
    """Mean test accuracy by rho, with the standard error of the difference to the plain SVM.

    Parameters
    ----------
    scored : sequence of Scored
        A panel each.
    """

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(scored), squeeze=False)[0]
        for axes, one in zip(panels, scored, strict=True):
            _accuracy_panel(axes, one)
        panels[0].set_ylabel("test accuracy (%)")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)

    said = []
    for one in scored:
        for setting, plain in one.baselines.items():
            mean = 100 * one.accuracy[setting].mean(axis=1)
            best = int(np.argmax(mean))
            said.append(
                f"{one.title}, {setting}: best {mean[best]:.1f} percent, at rho "
                f"{one.rho[best]:.2g}; {100 * plain.mean():.1f} percent of the plain SVM."
            )
    return paint(draw, f"Mean test accuracy by rho. {' '.join(said)}", size=(9.6, 4.1))


def _accuracy_panel(axes: Axes, one: Scored) -> None:
    pens = ((UPPER, "o", (0, (6, 2.5))), (LOWER, "s", (0, (1.5, 1.8))))
    for setting, (colour, marker, dash) in zip(one.baselines, pens, strict=False):
        mean, error = 100 * one.accuracy[setting].mean(axis=1), one.gain(setting)[1]
        axes.fill_between(one.rho, mean - error, mean + error, color=colour, alpha=0.15,
                          linewidth=0)  # fmt: skip
        axes.plot(one.rho, mean, color=colour, marker=marker, linewidth=2, markersize=4.5,
                  label=f"neighborhood kernel, {setting}")  # fmt: skip
        plain = 100 * one.baselines[setting].mean()
        axes.axhline(plain, color=colour, linewidth=1.6, linestyle=dash,
                     label=f"plain SVM, {setting}")  # fmt: skip
    axes.set_xscale("log")
    axes.locator_params(axis="x", numticks=4)
    axes.set(title=one.title, xlabel=r"$\rho$")


def draw_weights_by_rho(rho: Array, weights: Array, names: Sequence[str]) -> Picture:
    """Kernel weights as rho changes: a column of shades for each rho.

    Parameters
    ----------
    rho : array, shape (m,)
        Ascending.
    weights : array, shape (m, n_kernels)
    names : sequence of str
        Of all kernels; those that never have a hundredth of the largest weight are left out.
    """
    share = weights / weights.max(axis=1, keepdims=True)
    kept = np.flatnonzero(share.max(axis=0) > 0.01)

    def draw(figure: Figure) -> None:
        from matplotlib.colors import ListedColormap

        axes = figure.subplots()
        shown = axes.pcolormesh(
            np.arange(len(rho) + 1) - 0.5, np.arange(len(kept) + 1) - 0.5, weights[:, kept].T,
            cmap=ListedColormap(sequential()), vmin=0.0, vmax=float(weights.max()),
        )  # fmt: skip
        axes.set_xticks(np.arange(len(rho)), [f"{v:g}" if np.isfinite(v) else "∞" for v in rho])
        axes.set_yticks(np.arange(len(kept)), [names[int(k)] for k in kept])
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.set(title="Kernel weights as the neighborhood becomes dearer", xlabel=r"$\rho$")
        figure.colorbar(shown, ax=axes, label=r"$\theta_k$")

    first, last = names[int(weights[0].argmax())], names[int(weights[-1].argmax())]
    active = (share > 1e-5).sum(axis=1)
    text = (
        f"Weights of {len(names)} kernels for {len(rho)} values of rho. The largest is {first} at "
        f"the smallest rho, where {active[0]} kernels are active, and {last} at the largest, where "
        f"{active[-1]} are."
    )
    return paint(draw, text, size=(9.6, 0.24 * len(kept) + 1.6))
