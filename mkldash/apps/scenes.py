"""What views may show beside the run itself: ghost, kernel matrix, other solvers, other rho."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mkldash.apps.companions import Companions, blank_sweep
from mkldash.apps.jobs import Extra
from mkldash.apps.scoring import GRAM
from mkldash.apps.state import AppState
from mkldash.streaming import Session
from mkldash.views.base import Gram, RhoSweep, Scene

__all__ = ["Scenes", "comparable", "scored_row"]

#: How far back a scored snapshot is looked for while the run goes on.
SCORE_REACH = 300


class Scenes:
    """Makes the scene of a frame.

    Parameters
    ----------
    companions : Companions
    """

    def __init__(self, companions: Companions) -> None:
        self._companions = companions
        self._gram: Gram | None = None

    def scene(self, session: Session, ghost: Session | None, k: int) -> Scene:
        """What belongs beside row `k` of `session`."""
        state, job = session.parameters, session.job
        extra = job.extra if job is not None else None
        if not (isinstance(state, AppState) and isinstance(extra, Extra) and job is not None):
            return Scene(ghost=None if ghost is None else ghost.trace)
        found = Scene(
            tol=float(state["tol"]),
            ghost=ghost.trace if ghost is not None and len(ghost.trace) else None,
            ghost_label=_label(ghost),
            solver=job.solver.title,
        )
        if (products := extra.products) is not None:
            return replace(
                found,
                features=products.features,
                family=products.family,
                true_products=products.true_products,
                target=products.target,
                baselines=self._companions.baselines(session),
            )
        return replace(
            found,
            cost=float(state["C"]),
            points=extra.points,
            labels=job.problem.y,
            classes=extra.workload.source.classes or Scene.classes,
            rho=job.problem.rho if state.kind.takes_rho else None,
            gram=self._gram_at(session, extra, k),
            rivals=self._companions.rivals(session),
            sweep=self._sweep(state, extra),
        )

    def _sweep(self, state: AppState, extra: Extra) -> RhoSweep | None:
        if not extra.swept:
            return None
        found = self._companions.sweep(state.sweep_key)
        return blank_sweep(plane=extra.points is not None) if found is None else found

    def _gram_at(self, session: Session, extra: Extra, k: int) -> Gram | None:
        """The combined matrix at the newest scored row up to `k`."""
        if extra.gram is None or extra.workload.bank.n_kernels == 1:
            return extra.gram
        row = scored_row(session, k)
        K = session.trace.values(row).get(GRAM) if row >= 0 else None
        if not isinstance(K, np.ndarray):
            return extra.gram
        if self._gram is None or self._gram.K is not K:
            self._gram = replace(extra.gram, K=K)
        return self._gram


def scored_row(session: Session, k: int) -> int:
    """The newest row up to `k` that has been scored; -1 when there is none."""
    for row in range(k, max(-1, k - SCORE_REACH), -1):
        if session.trace.has_values(row):
            return row
    return -1


def _label(ghost: Session | None) -> str:
    if ghost is None or not isinstance(ghost.parameters, AppState):
        return "previous run"
    return ghost.parameters.summary()


def comparable(ghost: Session | None, session: Session) -> bool:
    """Whether the run before solved the same data: other data make no ghost."""
    if ghost is None:
        return False
    before, now = ghost.parameters, session.parameters
    if not (isinstance(before, AppState) and isinstance(now, AppState)):
        return False
    return before["data"] == now["data"] and before.table == now.table
