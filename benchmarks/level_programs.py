"""The level method's quadratic programs in whole runs: by DAQP alone, PIQP alone, and as it does.

Runs to a certified relative gap of 1e-3 with the kernel width of Liu et al. 2009 and
standardised features.  DAQP's cost depends on how many bounds are active, which C and
rho decide: so there are two pairs of them for each of two overlapping normal classes in
three dimensions, 1,000 and 3,000 rows.  Data sets as arguments, at C = 1, rho = 100;
without any: liver, pima, adult-a1a, adult-a4a-like.

A line says: iterations, seconds in all, seconds in the programs, the longest program,
how many DAQP answered within its few steps, PIQP, and DAQP after both had failed.  A
run is stopped after SECONDS; then the gap that it had reached says how far it came.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.level_subproblem import RHO, C, problem_of, problem_on
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.solvers import _cutting_planes
from mkldash.solvers._least_norm import FEW_STEPS, SOLVERS, LeastNorm, Shortest, by_daqp, by_piqp
from mkldash.solvers.driver import solve
from mkldash.solvers.level import LevelMethod
from mkldash.solvers.stopping import StopRule

TOLERANCE = 1e-3
SECONDS = 60.0
ROWS = (1000, 3000)
#: (C, rho): few bounds active, most bounds active.
PENALTIES = ((1.0, 100.0), (0.1, 1e4))

Program = Callable[[LeastNorm], Shortest]

#: Name on screen, and who is asked.
ORDERS: tuple[tuple[str, tuple[Program, ...]], ...] = (
    ("daqp", (by_daqp,)),
    ("piqp, daqp", (by_piqp, by_daqp)),
    ("as it does", SOLVERS),
)


def normal_classes(n_rows: int, C: float, rho: float) -> Problem:
    """Two classes whose means are one standard deviation apart."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    X = rng.standard_normal((n_rows, 3))
    X[:, 0] += 0.5 * y
    plain = problem_on(X, y)
    return Problem(plain.bank, y, Hinge(C), plain.weight_set, rho)


class Clock:
    """A solver that remembers how long each answer took."""

    def __init__(self, solver: Program) -> None:
        self.solver = solver
        self.seconds: list[float] = []

    def __call__(self, program: LeastNorm) -> Shortest:
        begun = time.perf_counter()
        found = self.solver(program)
        self.seconds.append(time.perf_counter() - begun)
        return found


def answers(clocks: Sequence[Clock]) -> str:
    """How many programs each solver had the last word on."""
    asked = [len(clock.seconds) for clock in clocks] + [0]
    return " + ".join(str(asked[i] - asked[i + 1]) for i in range(len(clocks)))


def measure(title: str, problem: Problem) -> None:
    """One problem: a line for each order of solvers."""
    print(f"{title}, {problem.n_rows} rows, C = {problem.loss.C:g}, rho = {problem.rho:g}")
    kept = _cutting_planes.SOLVERS
    stop = StopRule(tol=TOLERANCE, max_iter=500, time_limit=SECONDS)
    for name, order in ORDERS:
        clocks = tuple(Clock(solver) for solver in order)
        _cutting_planes.SOLVERS = clocks
        try:
            result = solve(LevelMethod(), problem, stop=stop)
        finally:
            _cutting_planes.SOLVERS = kept
        seconds = [s for clock in clocks for s in clock.seconds]
        print(
            f"  {name:11}{result.iterations:4d} iterations {result.seconds:7.2f} s in all"
            f" {sum(seconds):7.2f} s in programs, longest {1e3 * max(seconds):8.1f} ms"
            f"  answers {answers(clocks):13} gap {result.gap:.1e}  value {result.lower:.6g}",
            flush=True,
        )


if __name__ == "__main__":
    print(f"to a gap of {TOLERANCE:g} or {SECONDS:g} s; few steps: {FEW_STEPS}")
    # Compiled, or read from disk, by now.
    solve(LevelMethod(), normal_classes(100, C, RHO), stop=StopRule(tol=TOLERANCE))
    if len(sys.argv) == 1:
        for n_rows in ROWS:
            for penalty in PENALTIES:
                measure("two normal classes", normal_classes(n_rows, *penalty))
    for name in sys.argv[1:] or ("liver", "pima", "adult-a1a", "adult-a4a-like"):
        measure(name, problem_of(name))
