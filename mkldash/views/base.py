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

__all__ = [
    "FACTS", "Baseline", "FamilyFacts", "Gram", "Points", "RhoSweep", "Rival", "Scene", "View",
]  # fmt: skip


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
class Gram:
    """The combined kernel matrix on some of the training rows, for heatmaps.

    Parameters
    ----------
    rows : array of int, shape (m,)
        Training rows, those of class -1 first; all of them when there are few.
    K : array, shape (m, m)
    y : array, shape (m,)
        +1 or -1, for `rows`.
    n_rows : int
        All training rows.
    """

    rows: NDArray[np.intp]
    K: Array
    y: Array
    n_rows: int


@dataclass(frozen=True, eq=False)
class Rival:
    """Another solver's run on the same problem; coloured by its place among them.

    Parameters
    ----------
    title : str
        The solver's.
    trace : trace
        May still grow.
    done : bool
        Whether the run ended.
    """

    title: str
    trace: Readable
    done: bool


@dataclass(frozen=True, eq=False)
class RhoSweep:
    """What becomes of the classifier when only rho changes; filled while it is computed.

    Parameters
    ----------
    rho : array, shape (m,)
        Ascending.
    train, test : array, shape (m,)
        Share of rows classified correctly, 0 to 1; NaN where not computed (yet), or
        without test rows.
    support_vectors : array, shape (m,)
        NaN where not computed.
    plain_train, plain_test : float
        Of the support vector machine, rho infinite; NaN if unknown.
    grids : tuple of (array, shape (g, g), or None)
        Decision values over `Points.extent` for data with two features; None
        where not computed.  Empty for other data.
    """

    rho: Array
    train: Array
    test: Array
    support_vectors: Array
    plain_train: float = float("nan")
    plain_test: float = float("nan")
    grids: tuple[Array | None, ...] = ()


@dataclass(frozen=True, eq=False)
class FamilyFacts:
    """The product kernels that a run chooses from.

    Parameters
    ----------
    n_words : int
        Ordered products up to `degree`, the empty one included.
    n_keys : int
        Kernels that can carry weight: fewer than words when orders are merged.
    degree : int
        Most factors of a product, D.
    p : float
        Of the penalty, 1 to 2.
    merged : bool
        Whether products that differ in the order of their factors are one kernel.
    """

    n_words: int
    n_keys: int
    degree: int
    p: float
    merged: bool


@dataclass(frozen=True, eq=False)
class Baseline:
    """Another method on the same training and test rows; filled while it is computed.

    Parameters
    ----------
    title : str
    test_mse : float
        Mean squared error on the test rows, in units of the target squared; NaN
        while it is not known.
    note : str
        A remark for the hover text, such as the parameters used.
    objective : float
        Of the shown run's problem, where the method's weights lie in its set; else NaN.
    done : bool
        Whether the method ended: one without an error then has failed.
    """

    title: str
    test_mse: float = float("nan")
    note: str = ""
    objective: float = float("nan")
    done: bool = False


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
    labels : array, shape (n_rows,), or None
        +1 or -1 for all training rows.
    classes : tuple of str
        What -1 and +1 mean.
    rho : float or None
        The neighborhood parameter of the shown run.
    gram : Gram or None
    solver : str
        Title of the shown run's solver.
    rivals : tuple of Rival
    sweep : RhoSweep or None
    features : tuple of str
        Names of the base features of a product family, in their order.
    family : FamilyFacts or None
    true_products : tuple of tuple of int
        Products that made the target, where that is known: feature numbers in
        ascending order, the empty one for the offset.
    baselines : tuple of Baseline
    target : str
        What is predicted, with its unit.
    """

    tol: float | None = None
    cost: float | None = None
    ghost: Readable | None = None
    ghost_label: str = "previous run"
    points: Points | None = None
    labels: Array | None = None
    classes: tuple[str, str] = ("class -1", "class +1")
    rho: float | None = None
    gram: Gram | None = None
    solver: str = ""
    rivals: tuple[Rival, ...] = ()
    sweep: RhoSweep | None = None
    features: tuple[str, ...] = ()
    family: FamilyFacts | None = None
    true_products: tuple[tuple[int, ...], ...] = ()
    baselines: tuple[Baseline, ...] = ()
    target: str = ""


EMPTY = Scene()

#: What a view may need beside fields of a snapshot: more than one kernel in the
#: bank; `Scene.gram`, `Scene.rivals`, `Scene.sweep`, its grids; exactly three
#: training rows, of both classes; data with two features; kernels that are products of
#: base features, so that keys are tuples of feature numbers; `Scene.baselines`.
FACTS = frozenset(
    {
        "several_kernels", "gram", "rivals", "rho_sweep", "boundary_sweep", "three_points",
        "plane", "products", "baselines",
    }
)  # fmt: skip


class View(abc.ABC):
    r"""One picture of a run.

    Class facts: `name` (command line, URL), `title`, `needs` (snapshot fields,
    values that the session adds to drawn snapshots, or one of `FACTS` that the
    page knows of its problem), `caption` (one line: what am I looking at),
    `formula` (LaTeX; ``\qquad`` parts its lines), `order` (place on the page),
    `wide` (takes a whole row), `every_frame` (drawn each frame; the others take
    turns) and `replaces` (name of the view that is not shown beside this one).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    needs: ClassVar[frozenset[str]]
    caption: ClassVar[str]
    formula: ClassVar[str]
    order: ClassVar[int] = 50
    wide: ClassVar[bool] = False
    every_frame: ClassVar[bool] = False
    replaces: ClassVar[str | None] = None

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
