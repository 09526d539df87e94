"""Snapshots of randomized mirror descent with chosen numbers, without solving anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mkldash.kernels.weights import Weights
from mkldash.solvers.base import Best, Snapshot

FEATURES = ("bmi", "bp", "age", "sex")


@dataclass(frozen=True, kw_only=True, eq=False)
class FakeMirror(Snapshot):
    """The fields of a mirror-descent snapshot, and values that a session adds."""

    average: Weights
    average_objective: float = np.nan
    full_average_objective: float = np.nan
    certified: bool = False
    certificate: str = ""
    step: float = np.nan
    total: float = np.nan
    degree_law: np.ndarray
    drawn: tuple[int, ...] | None = None
    drawn_key: tuple[int, ...] | None = None
    position_laws: np.ndarray
    orderings: int = 1
    gradient: float = np.nan
    drawn_value: float = np.nan
    support_size: int = 0
    train_mse: float | None = None
    test_mse: float | None = None
    first_law: np.ndarray | None = None
    pair_law: np.ndarray | None = None
    moment_ideal: float | None = None
    moment_uniform: float | None = None


def mirror(k: int, word: tuple[int, ...] | None = None, r: int = 4, D: int = 3, **fields: object):
    """Snapshot number `k` that drew `word` from laws with these sizes.

    The laws are uniform unless given; weights are mappings of keys to numbers; the
    average is the best point.
    """
    theta = Weights.of(*_split(fields.pop("weights", {})))
    average = Weights.of(*_split(fields.pop("average", {})))
    upper, lower = fields.pop("upper", 10.0), fields.pop("lower", 1.0)
    objective = fields.pop("objective", upper)
    alpha = np.zeros(3)
    point = Best(iteration=k, objective=upper, weights=average, alpha=alpha, bias=0.0)
    values = {
        "degree_law": np.full(D + 1, 1 / (D + 1)) if k else np.full(D + 1, np.nan),
        "position_laws": np.full((len(word or ()), r), 1 / r),
        "drawn_key": None if word is None else tuple(sorted(word)),
        **fields,
    }
    return FakeMirror(
        iteration=k, objective=objective, upper=upper, lower=lower, best_iteration=k, best=point,
        weights=theta, average=average, alpha=alpha, bias=0.0, inner_solves=k + 1, drawn=word,
        **values,
    )  # fmt: skip


def _split(weights: dict) -> tuple[tuple, list]:
    return tuple(weights), list(weights.values())
