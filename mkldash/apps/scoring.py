"""What the worker computes for drawn snapshots, with the solver's clock stopped."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mkldash.experiments.scores import score
from mkldash.experiments.workload import Workload
from mkldash.solvers.base import Snapshot
from mkldash.streaming import Score
from mkldash.views.base import Points

__all__ = ["GRID", "make_points", "make_score"]

#: Decision values are computed on GRID x GRID places.
GRID = 48

#: The picture reaches beyond the data by this share of their range.
MARGIN = 0.12


def make_points(workload: Workload) -> Points | None:
    """The training rows as points in the plane, when they have two features."""
    X = workload.X_train
    dataset = workload.source.dataset
    if X is None or dataset is None or X.shape[1] != 2:
        return None
    low, high = X.min(axis=0), X.max(axis=0)
    pad = MARGIN * np.maximum(high - low, 1e-9)
    (x0, y0), (x1, y1) = low - pad, high + pad
    unit = " (standardised)" if workload.standardizer is not None else ""
    first, second = (f"{name}{unit}" for name in dataset.feature_names)
    return Points(
        X=X,
        y=workload.y_train,
        feature_names=(first, second),
        classes=workload.source.classes,
        extent=(float(x0), float(x1), float(y0), float(y1)),
    )


def make_score(workload: Workload, points: Points | None) -> Score:
    """Accuracies of a snapshot, and its decision values on a grid.

    Parameters
    ----------
    workload : Workload
    points : Points or None
        From `make_points`; None leaves the grid out.

    Returns
    -------
    callable
        From a snapshot to ``train_accuracy``, ``test_accuracy`` (left out
        without test rows), ``support_vectors`` (left out when snapshots have
        it) and ``decision_grid``, shape (GRID, GRID).
    """
    places = None if points is None else _places(points)

    def values(snapshot: Snapshot) -> Mapping[str, float | NDArray[np.float64]]:
        found = score(workload, snapshot)
        result: dict[str, float | NDArray[np.float64]] = {"train_accuracy": found.train_accuracy}
        if found.test_accuracy is not None:
            result["test_accuracy"] = found.test_accuracy
        if not hasattr(snapshot, "support_vectors"):
            result["support_vectors"] = float(found.support_vectors)
        if places is not None:
            problem = workload.problem
            signed = problem.signed(snapshot.alpha)
            decision = problem.bank.decision(places, snapshot.weights.values, signed)
            result["decision_grid"] = (decision + snapshot.bias).reshape(GRID, GRID)
        return result

    return values


def _places(points: Points) -> NDArray[np.float64]:
    x0, x1, y0, y1 = points.extent
    x, y = np.meshgrid(np.linspace(x0, x1, GRID), np.linspace(y0, y1, GRID))
    return np.column_stack([x.ravel(), y.ravel()])
