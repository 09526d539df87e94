"""Gradient methods for the optimal neighborhood kernel, as in Liu et al. 2009, figure 1.

C = 1, rho = 100, sigma = 4 times the mean squared distance over all pairs: the
iterations to a certified relative gap on Liver, and the time on the adult
stand-in.  Then the products with that matrix, by the share of entries of the
vector that are not zero.
"""

from __future__ import annotations

import math

import numpy as np

from mkldash.datasets.cards import load
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.building import build_bank
from mkldash.kernels.gaussian import Gaussian
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers.accelerated_gradient import AcceleratedGradient
from mkldash.solvers.base import Snapshot
from mkldash.solvers.constrained_gradient import ConstrainedGradientDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.shifted_svm import ShiftedSVM
from mkldash.solvers.stopping import StopRule

GAPS = (1e-2, 1e-3, 1e-4, 1e-6)


def problem(X: np.ndarray, y: np.ndarray) -> Problem:
    """The paper's problem at its second width."""
    mean = 2.0 * float(X.var(axis=0).sum())
    term = KernelTerm(Gaussian(math.sqrt(4.0 * mean / 2.0)), tuple(range(X.shape[1])), "all")
    bank = build_bank(X, [term], storage="dense", normalize=False)
    return Problem(bank, y, Hinge(1.0), Fixed((1.0,)), 100.0)


def report(title: str, p: Problem) -> None:
    """Print what each solver needs."""
    print(f"{title}, {p.n_rows} rows: iterations to a gap of {', '.join(f'{g:g}' for g in GAPS)}")
    for solver in (ConstrainedGradientDescent(), AcceleratedGradient(), ShiftedSVM()):
        seen: list[Snapshot] = []
        solve(solver, p, stop=StopRule(tol=1e-2))  # compiled, or read from disk, by now
        stop = StopRule(tol=min(GAPS), max_iter=5000)
        result = solve(solver, p, stop=stop, callbacks=[seen.append])
        counts = [next(s.iteration for s in seen if s.gap <= gap) for gap in GAPS]
        rows = "".join(f"{count:6d}" for count in counts)
        print(f"  {solver.name:12}{rows}   inner solves {result.inner_solves:5d}"
              f"   {1e3 * result.seconds:9.1f} ms   value {result.lower:.5f}")  # fmt: skip
    print()


if __name__ == "__main__":
    liver, adult = load("liver"), load("adult-a4a-like")
    report("Liver, raw", problem(liver.X, liver.y))
    standard = (liver.X - liver.X.mean(axis=0)) / liver.X.std(axis=0)
    report("Liver, standardised", problem(standard, liver.y))
