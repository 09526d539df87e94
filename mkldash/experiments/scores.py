"""How well a point predicts: accuracies and support vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.weights import Weights

if TYPE_CHECKING:
    from mkldash.experiments.workload import Workload

Array = NDArray[np.float64]

__all__ = ["Point", "Scores", "accuracy", "score", "scorer"]


class Point(Protocol):
    """What predictions need; a `Snapshot` and a `Best` both have it."""

    @property
    def weights(self) -> Weights:
        """Kernel weights."""

    @property
    def alpha(self) -> Array:
        """Dual coefficients, shape (n_rows,)."""

    @property
    def bias(self) -> float:
        """Offset of the decision values."""


@dataclass(frozen=True)
class Scores:
    """Scores of one point.

    Attributes
    ----------
    train_accuracy : float
        Share of the training rows predicted rightly.
    test_accuracy : float or None
        The same for the test rows; None when there are none.
    support_vectors : int
        Training rows with a dual coefficient above zero.
    bounded : int
        Those of them at the bound C.
    """

    train_accuracy: float
    test_accuracy: float | None
    support_vectors: int
    bounded: int


def accuracy(decision: Array, y: Array) -> float:
    """Share of rows whose sign is right; a decision of exactly 0 predicts -1.

    Parameters
    ----------
    decision : array, shape (n,)
        Decision values, bias included; at least one.
    y : array, shape (n,)
        Labels, -1 or +1.

    Returns
    -------
    float
        In [0, 1].
    """
    return float(np.mean((decision > 0.0) == (y > 0.0)))


def score(workload: Workload, point: Point) -> Scores:
    """Scores of `point` on the workload's training and test rows.

    Parameters
    ----------
    workload : Workload
    point : Snapshot or Best

    Returns
    -------
    Scores
    """
    problem = workload.problem
    theta, a = point.weights.values, problem.signed(point.alpha)
    fitted = problem.bank.combine(theta).apply(a) + point.bias
    test = None
    if len(workload.y_test):
        decision = problem.bank.decision(workload.X_test, theta, a) + point.bias
        test = accuracy(decision, workload.y_test)
    return Scores(
        train_accuracy=accuracy(fitted, workload.y_train),
        test_accuracy=test,
        support_vectors=int(np.count_nonzero(point.alpha > 0.0)),
        bounded=int(np.count_nonzero(point.alpha >= problem.loss.C)),
    )


def scorer(workload: Workload) -> Callable[[Point], Scores]:
    """`score` for one workload, as a session wants it."""
    return lambda point: score(workload, point)
