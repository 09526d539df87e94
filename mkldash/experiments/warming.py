"""Compiles what a run needs before its clock starts."""

from __future__ import annotations

import functools
import itertools
import sys

import numpy as np

from mkldash.datasets.synthetic import golden
from mkldash.experiments.problem_kinds import (
    ProblemKind,
    find_problem,
    make_loss,
    make_weight_set,
)
from mkldash.kernels.banks import make_terms
from mkldash.kernels.building import build_bank
from mkldash.kernels.cholesky import PROBE_ROWS
from mkldash.kernels.products import product_family
from mkldash.kernels.square import build_square
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.base import WeightSet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers.base import Solver
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import StopRule

__all__ = ["functions_loaded", "warm_up", "warm_up_bank", "warm_up_family", "warm_up_once"]

#: One p for each kind of mirror step: soft threshold, rescaling, powers, clip.
NORMS = (1.0, 4.0 / 3.0, 1.6, 2.0)


def warm_up(
    solver: Solver,
    storage: str,
    kind: ProblemKind | None = None,
    weights: WeightSet | None = None,
) -> None:
    """Take two iterations of `solver` on twenty rows.

    The first run on a machine compiles the inner loops, which takes seconds and
    is none of the solver's own work; later processes read them from disk.

    Parameters
    ----------
    solver : Solver
    storage : str
        Of the kernels to come, see `mkldash.experiments.workload.Workload.storage`;
        factors have loops of their own.
    kind : ProblemKind, optional
        Of the problem to come; default elastic-net.
    weights : WeightSet, optional
        Of the problem to come, for solvers that take some sets only; default the kind's own.
    """
    kind = find_problem("elastic-net") if kind is None else kind
    if kind.has_family:
        _warm_up_products(solver, kind)
        return
    X, y = golden()
    terms = make_terms("linear", ("x1", "x2", "x3", "x4"))
    factored = "factored" if storage == "factored" else "dense"
    banks = (build_bank(X, terms, storage=factored), build_square(X, terms[-1]))
    # Some solvers take no other elastic net than the simplex, or no elastic net.
    for bank, eta in itertools.product(banks[storage == "square" :], (None, 1.0)):
        weight_set = make_weight_set(kind, bank.n_kernels, eta)
        if not isinstance(weights, Fixed | None) and not isinstance(weight_set, Fixed):
            weight_set = weights
        problem = Problem(bank, y, make_loss(kind), weight_set, kind.rho)
        if solver.supports(problem) is None:
            solve(solver, problem, stop=StopRule(tol=1e-12, max_iter=2))
            return


def _warm_up_products(solver: Solver, kind: ProblemKind) -> None:
    """`warm_up` for each kind of norm that the solver takes: they have steps of their own."""
    X, _ = golden()
    y = X[:, 0] * X[:, 1] + X[:, 2]
    for p in NORMS:
        family = product_family(X, ("x1", "x2", "x3", "x4"), degree=2, merged=p == 1.0)
        problem = Problem(family, y, make_loss(kind), make_weight_set(kind, 0, p=p))
        if solver.supports(problem) is None:
            result = solve(solver, problem, stop=StopRule(tol=1e-12, max_iter=2))
            family.decision(X, result.best.weights, result.best.alpha)


def functions_loaded() -> int:
    """How many compiled functions this process has, by type of their arguments.

    It grows when one is compiled, or read from disk.
    """
    from numba.core.dispatcher import Dispatcher

    rooms = [room for name, room in list(sys.modules.items()) if name.startswith("mkldash.")]
    found = {
        id(thing): len(thing.overloads)
        for room in rooms
        for thing in vars(room).values()
        if isinstance(thing, Dispatcher)
    }
    return sum(found.values())


@functools.cache
def warm_up_bank(*, probing: bool) -> None:
    """Build small banks, so that the time of the next one is that of its kernels.

    Once in a process: it loads what was compiled, or compiles it.

    Parameters
    ----------
    probing : bool
        Whether the bank to come is large enough for ranks to be estimated and
        factors to be built.
    """
    X, _ = golden()
    terms = make_terms("paper", ("x1", "x2"))
    build_bank(X[:, :2], terms, storage="dense")
    build_square(X[:, :2], terms[-1])
    if probing:
        X = np.tile(X[:, :2], (PROBE_ROWS // len(X) + 1, 1))
        build_bank(X, make_terms("linear", ("x1", "x2")), storage="auto")
        build_bank(X, make_terms("linear", ("x1", "x2")), storage="factored")


@functools.cache
def warm_up_family() -> None:
    """Build a small family of products, as `warm_up_bank` does a bank."""
    X, _ = golden()
    product_family(X, degree=2)


@functools.cache
def warm_up_once(
    solver: Solver,
    storage: str,
    kind: ProblemKind | None = None,
    weights: WeightSet | None = None,
) -> None:
    """`warm_up`, once in a process for each solver with its hyper-parameters."""
    warm_up(solver, storage, kind, weights)
