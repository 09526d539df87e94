"""How well a point predicts: accuracies and support vectors, or squared errors."""

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

__all__ = [
    "Point",
    "RegressionScores",
    "Scores",
    "accuracy",
    "class_scores",
    "regression_scores",
    "score",
    "scorer",
    "squared_error",
]


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


@dataclass(frozen=True)
class RegressionScores:
    """Errors of one point, in units of the target squared.

    Attributes
    ----------
    train_mse : float
        Mean squared error on the training rows.
    test_mse : float or None
        The same on the test rows; None when there are none.
    train_r2, test_r2 : float or None
        1 - mse / variance of the target on those rows: 1 is perfect, 0 is as good
        as predicting their mean.  None where the target does not vary.
    """

    train_mse: float
    test_mse: float | None
    train_r2: float | None
    test_r2: float | None


def squared_error(predicted: Array, y: Array, unit: float = 1.0) -> tuple[float, float | None]:
    """Mean squared error, and R^2.

    Parameters
    ----------
    predicted, y : array, shape (n,)
        At least one row.
    unit : float
        What both are multiplied by.

    Returns
    -------
    mse : float
        In units of `unit` squared.
    r2 : float or None
        1 - mse / variance of y; None when y does not vary.
    """
    error = float(np.mean((predicted - y) ** 2))
    variance = float(np.var(y))
    return error * unit * unit, 1.0 - error / variance if variance > 0.0 else None


def score(workload: Workload, point: Point) -> Scores | RegressionScores:
    """Scores of `point` on the workload's training and test rows, by its problem.

    Parameters
    ----------
    workload : Workload
    point : Snapshot or Best

    Returns
    -------
    Scores or RegressionScores
    """
    if workload.target is None:
        return class_scores(workload, point)
    return regression_scores(workload, point)


def regression_scores(workload: Workload, point: Point) -> RegressionScores:
    """Squared errors of `point`, undoing the standardisation of the target."""
    problem, target = workload.problem, workload.target
    unit = 1.0 if target is None else float(target.scale[0])
    a = problem.signed(point.alpha)
    fitted = problem.family.combine(point.weights).apply(a) + point.bias
    train_mse, train_r2 = squared_error(fitted, workload.y_train, unit)
    test_mse, test_r2 = None, None
    if len(workload.y_test):
        decision = problem.family.decision(workload.X_test, point.weights, a) + point.bias
        test_mse, test_r2 = squared_error(decision, workload.y_test, unit)
    return RegressionScores(train_mse, test_mse, train_r2, test_r2)


def class_scores(workload: Workload, point: Point) -> Scores:
    """Accuracies and support vectors of `point`."""
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


def scorer(workload: Workload) -> Callable[[Point], Scores | RegressionScores]:
    """`score` for one workload, as a session wants it."""
    return lambda point: score(workload, point)
