"""The numbers of a snapshot that a trace keeps for every iteration."""

from __future__ import annotations

import math

import numpy as np

from mkldash.solvers.base import Snapshot
from mkldash.streaming.columns import Scalar

__all__ = ["same_number", "scalars_of"]


def scalars_of(snapshot: Snapshot) -> dict[str, Scalar | None]:
    """Int, bool, float and None fields, the gap and the number of active kernels."""
    row: dict[str, Scalar | None] = {}
    for name in type(snapshot).__dataclass_fields__:  # cheaper than fields(), once per iteration
        value = getattr(snapshot, name)
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float):
            row[name] = value
    row["gap"] = snapshot.gap
    row["active_kernels"] = len(snapshot.weights.active())
    return row


def same_number(one: float, two: float) -> bool:
    """Equal but for rounding (1e-9 relative); NaN equals NaN."""
    return one == two or math.isclose(one, two, rel_tol=1e-9) or (one != one and two != two)
