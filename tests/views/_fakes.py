"""Snapshots with chosen numbers, without solving anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mkldash.kernels.weights import Weights
from mkldash.solvers.base import Best, Snapshot

NAMES = ("gaussian 0.5 · size", "linear · size", "gaussian 0.5 · all", "linear · all")


@dataclass(frozen=True, kw_only=True, eq=False)
class FakeSnapshot(Snapshot):
    """The fields that the block-coordinate views need."""

    inner_upper: np.ndarray
    inner_lower: np.ndarray
    support_vectors: int = 3
    bounded: int = 1
    train_accuracy: float | None = None
    test_accuracy: float | None = None
    decision_grid: np.ndarray | None = None


def snapshot(k: int, upper: float, lower: float, **fields: object) -> FakeSnapshot:
    """Snapshot number `k` with these bounds."""
    theta = fields.pop("theta", (0.2, 0.8, 0.0, 0.4))
    weights = Weights.of(NAMES[: len(theta)], theta)
    alpha = np.asarray(fields.pop("alpha", (0.0, 1.0, 0.5, 0.0)))
    point = Best(iteration=k, objective=upper, weights=weights, alpha=alpha, bias=0.0)
    values = {"inner_upper": np.empty(0), "inner_lower": np.empty(0), **fields}
    return FakeSnapshot(
        iteration=k, objective=upper, upper=upper, lower=lower, best_iteration=k, best=point,
        weights=weights, alpha=alpha, bias=0.0, inner_solves=k + 1, **values,
    )  # fmt: skip


def history(*bounds: tuple[float, float]) -> list[FakeSnapshot]:
    """A run with these (upper, lower)."""
    return [snapshot(k, upper, lower) for k, (upper, lower) in enumerate(bounds)]
