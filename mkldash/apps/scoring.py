"""What the worker computes for drawn snapshots, with the solver's clock stopped."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mkldash.experiments.scores import class_scores
from mkldash.experiments.workload import Workload
from mkldash.solvers.base import Snapshot
from mkldash.streaming import Score
from mkldash.views.base import Gram, Points

__all__ = ["GRAM", "GRAM_ROWS", "GRID", "grid_places", "make_gram", "make_points", "make_score"]

#: Decision values are computed on GRID x GRID places.
GRID = 48

#: Rows of a kernel matrix that is shown, at most.
GRAM_ROWS = 100

#: Name of the combined matrix among the values of a scored snapshot.
GRAM = "combined_rows"

#: The picture reaches beyond the data by this share of their range.
MARGIN = 0.12


def make_points(workload: Workload) -> Points | None:
    """The training rows as points in the plane, when they have two features."""
    X = workload.X_train
    dataset = workload.source.dataset
    classes = workload.source.classes
    if X is None or dataset is None or classes is None or X.shape[1] != 2:
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
        classes=classes,
        extent=(float(x0), float(x1), float(y0), float(y1)),
    )


def make_gram(workload: Workload) -> Gram | None:
    """The kernel matrix on some rows, where the neighborhood of it is searched.

    Parameters
    ----------
    workload : Workload

    Returns
    -------
    Gram or None
        Classes in proportion, -1 first, each thinned regularly.  Of several
        kernels it is the combination at the weights that a run begins with;
        `make_score` gives that of each snapshot.  None for other problems.
    """
    problem = workload.problem
    if not workload.choices.kind.takes_rho:
        return None
    rows = _sorted_rows(problem.y)
    theta = problem.weight_set.start(problem.bank.n_kernels)
    return Gram(
        rows=rows,
        K=problem.bank.combine(theta).block(rows),
        y=problem.y[rows],
        n_rows=problem.n_rows,
    )


def _sorted_rows(y: NDArray[np.float64], limit: int = GRAM_ROWS) -> NDArray[np.intp]:
    """At most `limit` rows, those of class -1 first, of both classes in proportion."""
    classes = [np.flatnonzero(y < 0), np.flatnonzero(y > 0)]
    if len(y) > limit:
        negative = min(max(1, round(limit * len(classes[0]) / len(y))), limit - 1)
        for place, count in ((0, negative), (1, limit - negative)):
            members = classes[place]
            spread = np.linspace(0, len(members) - 1, min(count, len(members)))
            classes[place] = members[np.round(spread).astype(np.intp)]
    return np.concatenate(classes)


def make_score(workload: Workload, points: Points | None, gram: Gram | None = None) -> Score:
    """Accuracies of a snapshot, and what its pictures need of the kernels.

    Parameters
    ----------
    workload : Workload
    points : Points or None
        From `make_points`; None leaves the grid out.
    gram : Gram or None
        From `make_gram`; its rows are combined anew where weights are learnt.

    Returns
    -------
    callable
        From a snapshot to ``train_accuracy``, ``test_accuracy`` (left out
        without test rows), ``support_vectors`` (left out when snapshots have
        it), ``decision_grid``, shape (GRID, GRID), and `GRAM`, shape (m, m).
    """
    places = None if points is None else grid_places(points)
    learnt = gram is not None and workload.problem.bank.n_kernels > 1

    def values(snapshot: Snapshot) -> Mapping[str, float | NDArray[np.float64]]:
        found = class_scores(workload, snapshot)
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
        if learnt and gram is not None:
            combined = workload.problem.bank.combine(snapshot.weights.values)
            result[GRAM] = combined.block(gram.rows).astype(np.float32)
        return result

    return values


def grid_places(points: Points) -> NDArray[np.float64]:
    """The GRID x GRID places of the picture, shape (GRID^2, 2), row by row from below."""
    x0, x1, y0, y1 = points.extent
    x, y = np.meshgrid(np.linspace(x0, x1, GRID), np.linspace(y0, y1, GRID))
    return np.column_stack([x.ravel(), y.ravel()])
