"""What is known over rho, as views draw it."""

from __future__ import annotations

import functools
import math

import numpy as np

from mkldash.apps.scoring import GRID as GRID_PLACES
from mkldash.experiments.rho_sweep import GRID, SweepPoint
from mkldash.views.base import RhoSweep

__all__ = ["as_sweep", "blank_sweep"]


@functools.cache
def blank_sweep(*, plane: bool) -> RhoSweep:
    """The sweep before its first point."""
    return as_sweep({}, plane=plane)


def as_sweep(points: dict[float, SweepPoint], *, plane: bool) -> RhoSweep:
    """What views draw: the grid's values of rho, and others once they are there."""
    rhos = sorted({*GRID, *(rho for rho in points if math.isfinite(rho))})
    found = [points.get(rho) for rho in rhos]
    plain = points.get(math.inf)

    def column(name: str) -> np.ndarray:
        return np.array([math.nan if p is None else float(getattr(p, name)) for p in found])

    shape = (GRID_PLACES, GRID_PLACES)
    grids = tuple(None if p is None or p.grid is None else p.grid.reshape(shape) for p in found)
    return RhoSweep(
        rho=np.array(rhos),
        train=column("train"),
        test=column("test"),
        support_vectors=column("support_vectors"),
        plain_train=math.nan if plain is None else plain.train,
        plain_test=math.nan if plain is None else plain.test,
        grids=grids if plane else (),
    )
