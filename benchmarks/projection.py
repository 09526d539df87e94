"""The projection onto {0 <= x <= C, y'x = 0} against well-kept QP solvers, and against one pass.

100 different problems (a repeated one would be learnt by the branch predictor):
v ~ 2 N(0, 1), y = +-1 with equal odds, C = 1, seeded.  QP solvers run at their
default settings and their set-up is not counted; each round gives them another
fifth of the problems, ours solves all of them in every round.  Ours and the pass
write into an array that is there already, as the QP solvers do.  Errors are
against the projection by sorting, whose own optimality is printed as well.
Targets: 200 times faster than the fastest of them, at most 6 passes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from mkldash.problems.projection import METHODS, imbalance, project

Array = NDArray[np.float64]
Solve = Callable[[], tuple[float, Array]]

C = 1.0
PROBLEMS, ROUNDS = 100, 5

#: One problem that takes longer than this is the only one that is tried.
PATIENCE = 3.0


def problems(n: int) -> list[tuple[Array, Array]]:
    """The v and y of every problem."""
    rng = np.random.default_rng(n)
    return [
        (2.0 * rng.standard_normal(n), np.where(rng.random(n) < 0.5, -1.0, 1.0))
        for _ in range(PROBLEMS)
    ]


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract", "arcp"})
def one_pass(v: Array, y: Array, lam: float, bound: float, out: Array) -> None:
    """Reads v and y, clips v - lam y, writes x."""
    for i in range(v.shape[0]):
        out[i] = min(max(v[i] - lam * y[i], 0.0), bound)


def piqp(v: Array, y: Array) -> Solve:
    import piqp

    n, solver = v.size, piqp.SparseSolver()
    row = sparse.csc_matrix(y[None])
    solver.setup(
        sparse.eye(n, format="csc"), -v, row, np.zeros(1),
        x_l=np.zeros(n), x_u=np.full(n, C),
    )  # fmt: skip

    def solve() -> tuple[float, Array]:
        begun = time.perf_counter()
        solver.solve()
        return time.perf_counter() - begun, np.array(solver.result.x)

    return solve


def osqp(v: Array, y: Array) -> Solve:
    import osqp

    n, solver = v.size, osqp.OSQP()
    rows = sparse.vstack([sparse.csc_matrix(y[None]), sparse.eye(n)], format="csc")
    low, high = np.zeros(n + 1), np.concatenate(([0.0], np.full(n, C)))
    solver.setup(sparse.eye(n, format="csc"), -v, rows, low, high, verbose=False)

    def solve() -> tuple[float, Array]:
        begun = time.perf_counter()
        found = solver.solve()
        return time.perf_counter() - begun, np.array(found.x)

    return solve


def clarabel(v: Array, y: Array) -> Solve:
    import clarabel

    n = v.size
    eye = sparse.eye(n, format="csc")
    rows = sparse.vstack([sparse.csc_matrix(y[None]), eye, -eye], format="csc")
    right = np.concatenate(([0.0], np.full(n, C), np.zeros(n)))
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(eye, -v, rows, right, cones, settings)

    def solve() -> tuple[float, Array]:
        begun = time.perf_counter()
        found = solver.solve()
        return time.perf_counter() - begun, np.array(found.x)

    return solve


def proxsuite(v: Array, y: Array) -> Solve:
    import proxsuite

    n = v.size
    eye = sparse.eye(n, format="csc")
    solver = proxsuite.proxqp.sparse.QP(n, 1, n)
    solver.init(
        eye, -v, sparse.csc_matrix(y[None]), np.zeros(1), eye, np.zeros(n), np.full(n, C)
    )  # fmt: skip

    def solve() -> tuple[float, Array]:
        begun = time.perf_counter()
        solver.solve()
        return time.perf_counter() - begun, np.array(solver.results.x)

    return solve


def daqp(v: Array, y: Array) -> Solve:
    import daqp

    n = v.size
    if n > 5000:
        raise MemoryError("takes a dense n x n matrix only")
    high, low = np.concatenate((np.full(n, C), [0.0])), np.zeros(n + 1)
    sense = np.zeros(n + 1, dtype=np.intc)
    sense[-1] = 5  # an equality

    def solve() -> tuple[float, Array]:
        x, _, _, info = daqp.solve(np.eye(n), -v, y[None].copy(), high, low, sense)
        return float(info["solve_time"]), np.array(x)

    return solve


QP = {"piqp": piqp, "osqp": osqp, "clarabel": clarabel, "proxsuite": proxsuite, "daqp": daqp}


def time_ours(given: list[tuple[Array, Array]], method: str, out: Array) -> float:
    """Seconds per problem, all of them once."""
    begun = time.perf_counter()
    for v, y in given:
        project(v, y, C, method=method, out=out)  # type: ignore[arg-type]
    return (time.perf_counter() - begun) / len(given)


def time_pass(given: list[tuple[Array, Array]], out: Array) -> float:
    """Seconds per compiled pass over each problem."""
    begun = time.perf_counter()
    for v, y in given:
        one_pass(v, y, 0.1, C, out)
    return (time.perf_counter() - begun) / len(given)


class Rival:
    """A QP solver on the problems: seconds per round, largest error."""

    def __init__(self, name: str) -> None:
        self.name, self.rounds, self.error, self.remark = name, [], 0.0, ""
        self.done = False

    def round(self, some: list[tuple[Array, Array]]) -> None:
        """Solve another part of the problems."""
        if self.done:
            return
        seconds = []
        for v, y in some:
            try:
                taken, x = QP[self.name](v, y)()
            except (ImportError, MemoryError) as problem:
                self.remark, self.done = str(problem), True
                return
            seconds.append(taken)
            self.error = max(self.error, float(np.abs(x - project(v, y, C, method="sort").x).max()))
            if taken > PATIENCE:
                self.remark, self.done = "one problem only", True
                break
        self.rounds.append(median(seconds))


def exactness(given: list[tuple[Array, Array]]) -> tuple[float, float]:
    """Largest |y'x| of the projection by Newton, and largest distance from sorting."""
    balance = distance = 0.0
    for v, y in given:
        found = project(v, y, C)
        balance = max(balance, abs(float(imbalance(found.shift, v, y, C))))
        distance = max(distance, float(np.abs(found.x - project(v, y, C, method="sort").x).max()))
    return balance, distance


def compare(n: int) -> None:
    """Print the table for one size."""
    given, out = problems(n), np.empty(n)
    for method in METHODS:
        time_ours(given[:3], method, out)
    time_pass(given, out)
    ours: dict[str, list[float]] = {method: [] for method in METHODS}
    passes, rivals = [], [Rival(name) for name in QP]
    part = PROBLEMS // ROUNDS
    for turn in range(ROUNDS):
        time_pass(given, out)  # what the QP solvers pushed out of the cache
        for method in METHODS:
            time_ours(given, method, out)  # what the contender before pushed out of the caches
            ours[method].append(time_ours(given, method, out))
        passes.append(time_pass(given, out))
        for rival in rivals:
            rival.round(given[turn * part : (turn + 1) * part])
    balance, distance = exactness(given)
    print(f"n = {n}: microseconds per problem, median of {ROUNDS} rounds of {PROBLEMS} problems")
    best = median(ours["newton"])
    print(f"  {'one compiled pass':22} {1e6 * median(passes):12.1f}")
    for method in METHODS:
        taken = median(ours[method])
        ratio = median(a / b for a, b in zip(ours[method], passes, strict=True))
        print(f"  {'ours, ' + method:22} {1e6 * taken:12.1f}   {ratio:6.1f} passes")
    print(f"    exact: |y'x| at most {balance:.1e}, newton and sort differ by {distance:.1e}")
    for rival in rivals:
        if rival.rounds:
            taken = median(rival.rounds)
            print(
                f"  {rival.name:22} {1e6 * taken:12.1f}   {taken / best:6.0f} times ours, "
                f"error {rival.error:.1e}  {rival.remark}"
            )
        else:
            print(f"  {rival.name:22} {'-':>12}   {rival.remark}")
    fastest = min((r for r in rivals if r.rounds), key=lambda r: median(r.rounds), default=None)
    if fastest is not None:
        share = median(fastest.rounds) / best
        print(f"  fastest of them: {fastest.name}, {share:.0f} times ours (target 200)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[4000, 16000])
    for size in parser.parse_args().sizes:
        compare(size)
