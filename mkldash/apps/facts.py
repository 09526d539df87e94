"""What a page knows of its problem and its run, for the views that need it."""

from __future__ import annotations

import dataclasses
import functools

from mkldash.apps.estimates import train_rows
from mkldash.apps.jobs import MOST_COMPARED, Extra
from mkldash.apps.offers import choices_of
from mkldash.apps.player import Player
from mkldash.apps.product_scoring import LAWS, has_pairs
from mkldash.apps.state import AppState
from mkldash.experiments.problem_kinds import PROBLEMS
from mkldash.solvers import available_solvers
from mkldash.solvers.base import Snapshot
from mkldash.streaming import Session
from mkldash.views.base import FACTS

__all__ = ["LAWS", "SCORED", "expected", "possible", "present"]

#: Values that the session adds to the snapshots that are drawn, of classifiers and of
#: regressions over products.
_OF_CLASSES = frozenset({"train_accuracy", "test_accuracy", "decision_grid"})
_OF_PRODUCTS = frozenset({"train_mse", "test_mse", "moment_ideal", "moment_uniform"}) | LAWS
SCORED = _OF_CLASSES | _OF_PRODUCTS

#: Facts that need a plane, which most data sets are not.
_OF_PLANES = frozenset({"decision_grid", "plane", "boundary_sweep"})


def _always(problem: str) -> frozenset[str]:
    """What every run of a problem has beside the fields of its snapshots."""
    if PROBLEMS[problem].has_family:
        return _OF_PRODUCTS | {"gap", "products"}
    return _OF_CLASSES | {"gap", "support_vectors"}


def _fields(kind: type[Snapshot]) -> frozenset[str]:
    return frozenset(field.name for field in dataclasses.fields(kind))


@functools.cache
def possible(problem: str) -> frozenset[str]:
    """Whatever some run of a problem may have; views that need more are never built."""
    solvers = next(c for c in choices_of(problem) if c.name == "solver")
    kinds = available_solvers()
    found = _always(problem)
    for name in (solvers.names or dict)():
        found |= _fields(kinds[name].snapshot_type)
    if PROBLEMS[problem].has_family:
        return found | {"baselines"}
    found |= {"several_kernels", "plane"}
    return found | FACTS | {"shift"} if PROBLEMS[problem].takes_rho else found


def expected(state: AppState) -> frozenset[str]:
    """What the first run of these choices will have, as far as can be told."""
    found = _always(state.problem)
    found |= _fields(available_solvers()[state["solver"]].snapshot_type)
    if state.kind.has_family:
        tests = float(state["train_fraction"]) < 1.0
        compared = tests and train_rows(state) <= MOST_COMPARED
        without = frozenset() if int(state["degree"]) > 1 else {"pair_law"}
        return (found | {"baselines"} if compared else found) - without
    if not state.single:
        found |= {"several_kernels"}
    if state.kind.takes_rho:
        found |= {"shift", "gram"}
        if state.rivals(1):
            found |= {"rivals"}
        if state.single:
            found |= {"rho_sweep"}
    return found - _OF_PLANES


def present(player: Player, session: Session) -> frozenset[str]:
    """What this run has; empty before its job is built."""
    job = session.job
    if job is None:
        return frozenset()
    extra, problem = job.extra, job.problem
    found = _fields(job.solver.snapshot_type)
    if problem.has_family:
        found |= _always("products")
        if not has_pairs(problem.family.n_base, problem.family.degree):
            found -= {"pair_law"}
        compared = isinstance(extra, Extra) and extra.compared
        return found | {"baselines"} if compared else found
    found |= _always("elastic-net")
    if problem.bank.n_kernels > 1:
        found |= {"several_kernels"}
    if problem.n_rows == 3 and abs(problem.y.sum()) < 3:
        found |= {"three_points"}
    if not isinstance(extra, Extra):
        return found - _OF_PLANES
    if extra.workload.choices.kind.takes_rho:
        found |= {"shift", "gram"}
        if player.races(session):
            found |= {"rivals"}
        if extra.swept:
            found |= {"rho_sweep", "boundary_sweep"}
    return found | {"plane"} if extra.points is not None else found - _OF_PLANES
