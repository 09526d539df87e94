"""What a picture is: pure numbers first, then a figure that is only written into.

`View.prepare` turns a trace into a named tuple and knows nothing of graphics;
`View.figure` builds a plain bokeh figure once; `View.update` writes the numbers
into its sources.  A view never touches a solver, a session or a widget.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mkldash.views._reading import Readable

if TYPE_CHECKING:
    from bokeh.plotting import figure

Array = NDArray[np.float64]

__all__ = ["Points", "Scene", "View"]


@dataclass(frozen=True, eq=False)
class Points:
    """Two-dimensional training data for the decision boundary.

    Parameters
    ----------
    X : array, shape (n_rows, 2)
        As the kernels see them (standardised when the bank is).
    y : array, shape (n_rows,)
        +1 or -1.
    feature_names : tuple of str
    classes : tuple of str
        What -1 and +1 mean.
    extent : tuple of float
        (x0, x1, y0, y1) that the decision grid covers.
    """

    X: Array
    y: Array
    feature_names: tuple[str, str] = ("x1", "x2")
    classes: tuple[str, str] = ("-1", "+1")
    extent: tuple[float, float, float, float] = (-3.0, 3.0, -3.0, 3.0)


@dataclass(frozen=True, eq=False)
class Scene:
    """What a picture may show beside the run itself; all of it optional.

    Parameters
    ----------
    tol : float or None
        Relative gap at which the run stops.
    cost : float or None
        The parameter C.
    ghost : trace or None
        The previous run, drawn in grey.
    ghost_label : str
        Its parameters.
    points : Points or None
        Set when the data have two features.
    """

    tol: float | None = None
    cost: float | None = None
    ghost: Readable | None = None
    ghost_label: str = "previous run"
    points: Points | None = None


EMPTY = Scene()


class View(abc.ABC):
    r"""One picture of a run.

    Class facts: `name` (command line, URL), `title`, `needs` (snapshot fields,
    or values that the session adds to drawn snapshots), `caption` (one line:
    what am I looking at), `formula` (LaTeX; ``\qquad`` parts its lines), `order`
    (place on the page), `wide` (takes a whole row) and `every_frame` (drawn each
    frame; the others take turns).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    needs: ClassVar[frozenset[str]]
    caption: ClassVar[str]
    formula: ClassVar[str]
    order: ClassVar[int] = 50
    wide: ClassVar[bool] = False
    every_frame: ClassVar[bool] = False

    def __init__(self) -> None:
        self._figure: figure | None = None
        #: Notebooks send whole states, so that a lost message heals itself.
        self.full_frames = False

    @staticmethod
    @abc.abstractmethod
    def prepare(trace: Readable, k: int, scene: Scene = EMPTY) -> NamedTuple:
        """The numbers of the picture at iteration `k`.  Pure.

        Parameters
        ----------
        trace : Trace, or sequence of Snapshot
        k : int
            Position of the shared cursor.
        scene : Scene, optional
        """

    @abc.abstractmethod
    def _build(self) -> figure:
        """Build the figure and its sources; called once."""

    @abc.abstractmethod
    def _write(self, info: Any) -> None:
        """Write `info` into the sources."""

    @staticmethod
    @abc.abstractmethod
    def describe(info: Any) -> str:
        """The picture in words, for screen readers: one or two sentences."""

    @staticmethod
    def marks(info: Any) -> tuple[tuple[str, str, str], ...]:
        """Key of a picture without named curves: (sign, colour or "", meaning) of each mark."""
        return ()

    def figure(self) -> figure:
        """The figure, built at the first call and the same ever after."""
        if self._figure is None:
            self._figure = self._build()
            self._figure.name = self.name
        return self._figure

    def update(self, info: Any) -> None:
        """Draw what `prepare` returned.

        Parameters
        ----------
        info : NamedTuple
            From this view's `prepare`.
        """
        self.figure()
        self._write(info)

    @classmethod
    def offered(cls, fields: frozenset[str]) -> bool:
        """Whether a run with these fields can feed this view."""
        return cls.needs <= fields
