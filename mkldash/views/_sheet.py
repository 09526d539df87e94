"""What the two maps of pairs of features share: one sheet of cells, named on both sides."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColorBar,
    ColumnDataSource,
    FixedTicker,
    GlyphRenderer,
    LinearColorMapper,
    Range1d,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from mkldash.views import _plotting as plotting
from mkldash.views._names import cut_apart
from mkldash.views._palette import sequential

Array = NDArray[np.float64]
Places = NDArray[np.intp]

__all__ = ["MOST_FEATURES", "Sheet", "round_up"]

#: Features on a side; of more, the most likely or heaviest.
MOST_FEATURES = 50

#: Names written at an axis; the others are in the hover text.
_MOST_LABELS = 18
_LONGEST_NAME = 12

_ROUND = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def round_up(value: float) -> float:
    """The next round number: a colour scale that moves in steps."""
    if not (value > 0 and math.isfinite(value)):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(m * power for m in _ROUND if m * power >= value * (1 - 1e-12))


class Sheet:
    """A figure of square cells with a colour bar; the first row is on top.

    Parameters
    ----------
    title, x_label, y_label : str
    what : str
        What a cell's colour is, in the hover text.
    """

    def __init__(self, title: str, x_label: str, y_label: str, what: str) -> None:
        self._x, self._y = Range1d(-0.5, 9.5), Range1d(9.5, -0.5)
        self.plot: figure = plotting.new_figure(
            title, x_label, y_label, x_range=self._x, y_range=self._y, height=400, left=96,
            right=10,
        )  # fmt: skip
        self._cells = ColumnDataSource(
            {c: [] for c in ("x", "y", "value", "row", "column", "name")}
        )
        self._mapper = LinearColorMapper(palette=sequential(), low=0, high=1.0)
        self.cells: GlyphRenderer = self.plot.rect(
            "x", "y", 0.94, 0.94, source=self._cells, line_color=None,
            fill_color={"field": "value", "transform": self._mapper},
        )  # fmt: skip
        bar = ColorBar(
            color_mapper=self._mapper, width=10, padding=4, margin=0, border_line_color=None,
            background_fill_alpha=0.0, ticker=BasicTicker(desired_num_ticks=5),
            formatter=plotting.plain_ticks(),
        )  # fmt: skip
        self.plot.add_layout(bar, "right")
        self.plot.grid.grid_line_color = None
        self.plot.axis.major_tick_out = self.plot.axis.major_tick_in = 0
        self.plot.xaxis.major_label_orientation = 0.7
        plotting.add_hover(
            self.plot, [self.cells], [("product", "@name"), (what, "@value{0.000000}")]
        )
        self._names: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    def write(
        self, x: Places, y: Places, values: Array, names: Sequence[str], *, high: float
    ) -> None:
        """Draw cells at columns `x` and rows `y`.

        Parameters
        ----------
        x, y, values : array, shape (n_cells,)
        names : sequence of str
            Of each cell, for the hover text.
        high : float
            Value of the strongest colour; rounded up.
        """
        columns = {
            "x": x.astype(np.float32), "y": y.astype(np.float32),
            "value": values.astype(np.float32), "name": np.array(names, dtype=object),
        }  # fmt: skip
        self._cells.data = {name: plotting.light(column) for name, column in columns.items()}
        end = round_up(high)
        if self._mapper.high != end:
            self._mapper.high = end

    def label(self, rows: tuple[str, ...], columns: tuple[str, ...]) -> None:
        """Name the rows and columns."""
        if (rows, columns) == self._names:
            return
        self._names = (rows, columns)
        self._x.update(start=-0.5, end=max(len(columns), 1) - 0.5)
        self._y.update(start=max(len(rows), 1) - 0.5, end=-0.5)
        for axis, names in ((self.plot.xaxis[0], columns), (self.plot.yaxis[0], rows)):
            every = max(1, -(-len(names) // _MOST_LABELS))
            ticks = list(range(0, len(names), every))
            axis.ticker = FixedTicker(ticks=ticks)
            short = cut_apart(names, _LONGEST_NAME)
            axis.major_label_overrides = {i: short[i] for i in ticks}
