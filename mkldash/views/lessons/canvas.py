"""Paper, pen and the finished picture; the only module that sets up matplotlib."""

from __future__ import annotations

import base64
import io
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mkldash.views._palette import ACCENT, ALERT, CURSOR, LOWER, UPPER

__all__ = ["Axes", "Curve", "Figure", "Picture", "draw_curves", "paint"]

#: matplotlib's, which is loaded by the first picture and not before.
Axes = Any
Figure = Any

#: Pixels per inch in the file, and on the page: sharp on a projector.
DOTS, SHOWN = 150, 96

INK = "#22262b"

_STYLE: dict[str, Any] = {
    "axes.edgecolor": "#8b929c",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 11,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 10.5,
    "grid.color": "#e8eaee",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "mathtext.fontset": "cm",
    "text.color": INK,
    "xtick.color": "#5b626c",
    "ytick.color": "#5b626c",
    "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5,
}

#: Colour and dash of the curves in order: never colour alone.
_PENS: tuple[tuple[str, Any], ...] = (
    (UPPER, (0, (6, 2.5))),
    (LOWER, "-"),
    (ACCENT, (0, (1.5, 1.8))),
    (CURSOR, (0, (7, 2, 1.5, 2))),
    (ALERT, (0, (3, 1.5))),
)


@dataclass(frozen=True, eq=False)
class Picture:
    """A finished picture; the last line of a cell shows it.

    Attributes
    ----------
    png : bytes
    text : str
        The picture in words, for screen readers.
    width : int
        Pixels on the page.
    """

    png: bytes
    text: str
    width: int

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, dict[str, object]]]:
        data = {"image/png": base64.b64encode(self.png).decode(), "text/plain": self.text}
        return data, {"image/png": {"width": self.width, "alt": self.text}}


def paint(
    draw: Callable[[Figure], None], text: str, *, size: tuple[float, float] = (9.6, 4.0)
) -> Picture:
    """Draw on a fresh page; no global state of matplotlib is touched.

    Parameters
    ----------
    draw : callable
        Gets an empty figure.
    text : str
        The picture in words.
    size : tuple of float
        Inches.

    Returns
    -------
    Picture
        The same bytes for the same numbers.
    """
    # It says so on standard error when it meets a machine for the first time.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    import matplotlib
    import matplotlib.figure

    library: Any = matplotlib
    buffer = io.BytesIO()
    with library.rc_context(_STYLE):
        figure = library.figure.Figure(figsize=size, layout="constrained")
        figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
        draw(figure)
        figure.savefig(buffer, format="png", dpi=DOTS, metadata={"Software": None})
    return Picture(_smaller(buffer.getvalue()), text, round(size[0] * SHOWN))


def _smaller(png: bytes) -> bytes:
    """A palette of 256 colours: a third of the bytes, no visible difference."""
    from PIL import Image

    image = Image.open(io.BytesIO(png)).convert("RGB")
    buffer = io.BytesIO()
    image.quantize(256, dither=Image.Dither.NONE).save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve of `draw_curves`.

    Parameters
    ----------
    label : str
        May hold formulas between dollar signs.
    x, y : array-like, shape (n,)
    dots : bool
        Mark the points.
    line : bool
        Join them.
    pen : int, optional
        Which of the five colours and dashes; by default the place in the list.
    """

    label: str
    x: ArrayLike
    y: ArrayLike
    dots: bool = False
    line: bool = True
    pen: int | None = None


def draw_curves(
    curves: Sequence[Curve],
    *,
    title: str,
    x_label: str,
    y_label: str,
    log: str = "",
    text: str | None = None,
    beside: bool = False,
    size: tuple[float, float] = (9.6, 3.6),
) -> Picture:
    """Curves over one axis.

    Parameters
    ----------
    curves : sequence of Curve
        At most five.
    title, x_label, y_label : str
    log : {"", "x", "y", "xy"}
        Which axes are logarithmic.
    text : str, optional
        The picture in words; made from the title and the labels when left out.
    beside : bool
        The key to the right of the axes, where curves leave no room inside.
    size : tuple of float
        Inches.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        put_curves(axes, curves)
        axes.set(title=title, xlabel=x_label, ylabel=y_label)
        if "x" in log:
            axes.set_xscale("log")
        elif all(np.asarray(curve.x).dtype.kind == "i" for curve in curves):
            axes.xaxis.get_major_locator().set_params(integer=True)
        if "y" in log:
            axes.set_yscale("log")
        place = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)} if beside else {}
        axes.legend(**place)

    said = text or f"{title}: {', '.join(c.label for c in curves)} against {x_label}."
    return paint(draw, said, size=size)


def put_curves(axes: Axes, curves: Sequence[Curve]) -> None:
    """Curves onto given axes, each with its own colour and dash."""
    for place, curve in enumerate(curves):
        colour, dash = _PENS[place if curve.pen is None else curve.pen]
        axes.plot(
            np.asarray(curve.x),
            np.asarray(curve.y),
            label=curve.label,
            color=colour,
            linestyle=dash if curve.line else "none",
            linewidth=2.2,
            marker="o" if curve.dots else None,
            markersize=5,
        )
