"""Kernel weights of several lanes, one strip of bars each, the same kernels above each other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, CustomJSTickFormatter, FixedTicker, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.kernels.weights import ACTIVE_THRESHOLD, Weights
from mkldash.views import _plotting as plotting
from mkldash.views._names import cut_apart, product, short

Array = NDArray[np.float64]

__all__ = ["MOST_KERNELS", "LaneWeights", "WeightsFigure", "read_weights"]

#: Kernels drawn: those that weigh most in some lane.
MOST_KERNELS = 160

#: Kernels up to which each is named under its bar.
NAMED = 24

#: Height of the largest bar, and of a strip.
_FULL, _STRIP = 0.84, 1.0


class LaneWeights(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    lanes : tuple of str
        Keys, the first on top.
    names : tuple of str
        Of the kernels, the heaviest first.
    weights : array, shape (n_lanes, n_kernels)
    active : tuple of int
        Kernels that carry weight in each lane.
    total : int
        Kernels there are.
    kept : int
        Kernels that carry weight in some lane.
    """

    lanes: tuple[str, ...]
    names: tuple[str, ...]
    weights: Array
    active: tuple[int, ...]
    total: int
    kept: int


def read_weights(found: Mapping[str, Weights], features: Sequence[str] = ()) -> LaneWeights:
    """The same kernels of all lanes, those first that weigh most in some lane.

    Parameters
    ----------
    found : mapping of str to Weights
        By lane.
    features : sequence of str
        Names of the factors, where kernels are products.
    """
    active = {key: weights.as_dict(ACTIVE_THRESHOLD) for key, weights in found.items()}
    heaviest: dict[Hashable, float] = {}
    for kernels in active.values():
        top = max(kernels.values(), default=1.0)
        for name, value in kernels.items():
            heaviest[name] = max(heaviest.get(name, 0.0), value / top)
    order = sorted(heaviest, key=lambda name: -heaviest[name])[:MOST_KERNELS]
    table = np.array(
        [[kernels.get(name, 0.0) for name in order] for kernels in active.values()]
    ).reshape(len(active), len(order))
    return LaneWeights(
        lanes=tuple(active),
        names=tuple(product(name, features) if features else str(name) for name in order),
        weights=table,
        active=tuple(len(kernels) for kernels in active.values()),
        total=max((len(weights) for weights in found.values()), default=0),
        kept=len(heaviest),
    )


class WeightsFigure:
    """One strip of bars for each lane; each is scaled to its own heaviest kernel.

    Parameters
    ----------
    name : str
    lanes : mapping of str to (colour, dashes)
    """

    def __init__(self, name: str, lanes: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
        self._colours = {key: colour for key, (colour, _) in lanes.items()}
        self._x, self._y = Range1d(-0.6, 20.0), Range1d(0.0, 1.0)
        plot: figure = plotting.new_figure(
            "", "kernels, the heaviest first", "", x_range=self._x, y_range=self._y,
            height=260, left=64, name=name,
        )  # fmt: skip
        plot.title.visible, plot.min_border_top = False, 10
        plot.ygrid.grid_line_color = "#88888840"
        self._source = ColumnDataSource(
            {
                c: []
                for c in ("left", "right", "bottom", "top", "colour", "kernel", "weight", "lane")
            }
        )
        bars = plot.quad(
            "left", "right", "bottom", "top", source=self._source, fill_color="colour",
            line_color=None, fill_alpha=0.9,
        )  # fmt: skip
        rows = [("", "@lane"), ("kernel", "@kernel"), ("weight", "@weight{0.00000}")]
        plotting.add_hover(plot, [bars], rows)
        plot.yaxis.major_tick_line_color = None
        plot.yaxis.ticker = FixedTicker(ticks=[])
        plot.xaxis.ticker = FixedTicker(ticks=[])
        self.plot = plot
        self._labels: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    def draw(self, info: LaneWeights, labels: Mapping[str, str]) -> None:
        """Write the bars of `info`; `labels` are what lanes are called in the hover text."""
        n = len(info.lanes)
        lane, kernel = np.nonzero(info.weights > 0.0)
        tops = info.weights.max(axis=1, initial=0.0)
        heights = info.weights[lane, kernel] / np.where(tops > 0.0, tops, 1.0)[lane]
        bottom = (n - 1 - lane) * _STRIP
        colours = np.array([self._colours[key] for key in info.lanes], dtype=object)
        said = np.array([labels.get(key, key) for key in info.lanes], dtype=object)
        names = np.array(info.names, dtype=object)
        plotting.write(
            self._source,
            {
                "left": kernel - 0.42, "right": kernel + 0.42, "bottom": bottom,
                "top": bottom + np.maximum(_FULL * heights, 0.015),
                "colour": colours[lane] if n else np.empty(0, dtype=object),
                "kernel": names[kernel] if len(names) else np.empty(0, dtype=object),
                "weight": info.weights[lane, kernel],
                "lane": said[lane] if n else np.empty(0, dtype=object),
            },
            full=True,
        )  # fmt: skip
        end = max(len(info.names), 8) - 0.4
        if self._x.end != end:
            self._x.end = end
        if self._y.end != max(n, 1) * _STRIP:
            self._y.end = max(n, 1) * _STRIP
            self.plot.height = 170 + 45 * max(n, 2)
        self._name(info)

    def _name(self, info: LaneWeights) -> None:
        """Letters of the lanes at the left, and of few kernels their names below."""
        n, few = len(info.names), len(info.names) <= NAMED
        told = f"{n} of {info.kept} kernels" if n < info.kept else f"{n} kernels"
        words = "" if few else " (hover names them)"
        label = f"{told} that carry weight, the heaviest first{words or _letters(info.names)}"
        axis = self.plot.xaxis[0]
        if axis.axis_label != label:
            axis.axis_label = label
        labels = (info.lanes, info.names if few else ())
        if labels == self._labels:
            return
        self._labels = labels
        ticks = [(len(info.lanes) - 1 - i) * _STRIP for i in range(len(info.lanes))]
        letters = {str(float(t)): key.upper() for t, key in zip(ticks, info.lanes, strict=True)}
        self.plot.yaxis[0].ticker = FixedTicker(ticks=ticks)
        self.plot.yaxis[0].formatter = CustomJSTickFormatter(
            code="return names[String(tick.toFixed(1))] ?? ''", args={"names": letters}
        )
        names = cut_apart([short(name) for name in labels[1]])
        axis.ticker = FixedTicker(ticks=list(range(len(names))))
        axis.major_label_overrides = dict(enumerate(names))
        axis.major_label_orientation = 0.7 if names else "horizontal"

    @staticmethod
    def describe(info: LaneWeights, labels: Mapping[str, str]) -> str:
        """The picture in words."""
        if not info.lanes:
            return "No weights yet."
        parts = []
        for key, row, active in zip(info.lanes, info.weights, info.active, strict=True):
            top = ", ".join(
                f"{info.names[i]} {row[i]:.3g}" for i in np.argsort(-row)[:3] if row[i] > 0
            )
            parts.append(
                f"{labels.get(key, key)}: {active} of {info.total} kernels carry weight ({top})."
            )
        return " ".join(parts)


def _letters(names: Sequence[str]) -> str:
    """What the short names under the bars stand for."""
    words = {name.partition(" ")[0] for name in names}
    told = [f"{w[0].upper()} {w}" for w in ("gaussian", "linear", "polynomial") if w in words]
    return f" ({', '.join(told)})" if told else ""
