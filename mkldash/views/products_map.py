"""The learnt pairs and single features, as a map."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import feature, percent, product
from mkldash.views._palette import ACCENT, LEVEL
from mkldash.views._reading import Readable, active_weights
from mkldash.views._sheet import MOST_FEATURES, Sheet
from mkldash.views.base import EMPTY, Scene, View

Array = NDArray[np.float64]

__all__ = ["ProductsMapInfo", "ProductsMapView"]

#: So many features are all shown; of more, those that carry weight.
_FEW_FEATURES = 24


class ProductsMapInfo(NamedTuple):
    """Numbers of the picture.

    Attributes
    ----------
    cursor : int
    features : tuple of str
        Those shown, in their own order.
    row, column : array of int, shape (n_cells,)
        Places of the cells with weight; column -1 is the feature alone.
    weights : array, shape (n_cells,)
    names : tuple of str
        Product of each cell.
    true : array of int, shape (n_true, 2)
        Places of the true products that have at most two factors.
    true_names : tuple of str
    shares : array, shape (n_degrees,)
        Share of the weight by number of factors.
    shown : float
        Share of the weight that is on the map.
    """

    cursor: int
    features: tuple[str, ...]
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    weights: Array
    names: tuple[str, ...]
    true: NDArray[np.intp]
    true_names: tuple[str, ...]
    shares: Array
    shown: float


_NOTHING = ProductsMapInfo(
    0, (), np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0), (),
    np.empty((0, 2), np.intp), (), np.empty(0), 0.0,
)  # fmt: skip


def _place(key: tuple[int, ...]) -> tuple[int, int]:
    """Row and column of a product of one or two factors."""
    return (key[0], -1) if len(key) == 1 else (key[0], key[1])


class ProductsMapView(View):
    """Where the weight sits among pairs, squares and single features."""

    name = "products-map"
    title = "Learnt pairs"
    needs = frozenset({"weights", "average", "products"})
    caption = (
        "Weight of each pair of features in the average, squares on the diagonal, features by "
        "themselves in the column on the left. Pairs that made the target are outlined."
    )
    formula = (
        r"K_\theta=\sum_z\theta_z\,\rho_{d(z)}^{-2}\,K_{z_1}\odot\dots\odot K_{z_d}\qquad "
        r"\text{colour: }\theta_{ij}\text{ of }x_ix_j,\ \text{on the left }\theta_i\text{ of }x_i"
    )
    order = 40

    @staticmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> ProductsMapInfo:
        """See `View.prepare`."""
        if not 0 <= k < len(trace):
            return _NOTHING
        weights = active_weights(trace, k, "average") or active_weights(trace, k, "weights")
        found = {key: w for key, w in weights.items() if isinstance(key, tuple)}
        small = {key: w for key, w in found.items() if 1 <= len(key) <= 2}
        true = [key for key in scene.true_products if 1 <= len(key) <= 2]
        r = max([len(scene.features), *(1 + max(key) for key in [*found, *true] if key)])
        by_feature = np.zeros(r)
        for key, w in small.items():
            for i in set(key):
                by_feature[i] += w
        wanted = list(dict.fromkeys(i for key in true for i in key))
        order = [*wanted, *(i for i in np.argsort(-by_feature, kind="stable") if i not in wanted)]
        heavy = int(np.count_nonzero(by_feature)) + sum(by_feature[i] == 0 for i in wanted)
        room = max(_FEW_FEATURES, int(heavy))
        kept = np.sort(np.array(order[: min(room, MOST_FEATURES)], dtype=np.intp))
        at = {int(i): place for place, i in enumerate(kept)} | {-1: -1}
        cells = [(key, w) for key, w in small.items() if all(i in at for i in key)]
        places = np.array([_place(key) for key, _ in cells], dtype=np.intp).reshape(-1, 2)
        by_degree = np.zeros(1 + max([len(key) for key in found], default=0))
        for key, w in found.items():
            by_degree[len(key)] += w
        total = by_degree.sum() or 1.0
        values = np.array([w for _, w in cells])
        true = [key for key in true if all(i in at for i in key)]
        where = [[at[i] for i in _place(key)] for key in true]
        return ProductsMapInfo(
            cursor=int(trace[k].iteration),
            features=tuple(feature(int(i), scene.features) for i in kept),
            row=np.array([at[int(i)] for i in places[:, 0]], dtype=np.intp),
            column=np.array([at[int(i)] for i in places[:, 1]], dtype=np.intp),
            weights=values,
            names=tuple(product(key, scene.features) for key, _ in cells),
            true=np.array(where, dtype=np.intp).reshape(-1, 2),
            true_names=tuple(product(key, scene.features) for key in true),
            shares=by_degree / total,
            shown=float(values.sum()) / total,
        )

    def _build(self) -> figure:
        self._sheet = Sheet(self.title, "alone, or times ...", "feature", "weight")
        plot = self._sheet.plot
        self._true = ColumnDataSource({"x": [], "y": [], "name": []})
        frames = plot.rect(
            "x", "y", 1.0, 1.0, source=self._true, fill_alpha=0.0, line_color=LEVEL,
            line_width=2.5,
        )  # fmt: skip
        plotting.add_hover(plot, [frames], [("true product", "@name")], attachment="below")
        return plot

    def _write(self, info: ProductsMapInfo) -> None:
        names = info.features
        self._sheet.write(
            _shifted(info.column), info.row, info.weights, info.names,
            high=float(info.weights.max(initial=0.0)),
        )  # fmt: skip
        self._sheet.label(names, ("alone", "", *names) if names else ())
        true = {
            "x": _shifted(info.true[:, 1]).astype(np.float64),
            "y": 1.0 * info.true[:, 0],
            "name": np.array(info.true_names, dtype=object),
        }
        plotting.write(self._true, true, full=self.full_frames)

    @staticmethod
    def marks(info: ProductsMapInfo) -> tuple[tuple[str, str, str], ...]:
        """See `View.marks`."""
        found = [("■", ACCENT, "weight")]
        if len(info.true):
            found.append(("□", LEVEL, "true product"))
        if len(info.weights) or info.shares.sum() > 0:
            found.append(("", "", f"on the map: {percent(info.shown)} of the weight"))
        return tuple(found)

    @staticmethod
    def describe(info: ProductsMapInfo) -> str:
        """See `View.describe`."""
        if not info.shares.sum() > 0:
            return "No product carries weight yet."
        shares = ", ".join(f"{d}: {percent(s)}" for d, s in enumerate(info.shares))
        text = f"Share of the weight by number of factors: {shares}."
        if len(info.weights):
            best = int(np.argmax(info.weights))
            text += f" Heaviest on the map: {info.names[best]} ({info.weights[best]:.4g})."
        return text


def _shifted(column: NDArray[np.intp]) -> NDArray[np.intp]:
    """Column 0 is the feature alone, column 1 stays free."""
    return np.where(column < 0, 0, column + 2)
