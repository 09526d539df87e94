"""The level method's quadratic program in several solvers, on cuts of real runs.

    min ||a - a_i||^2,  0 <= a <= C,  y'a = 0,  value_j + gradient_j'(a - a_j) <= level

with C = 1, rho = 100 and the kernel exp(-|x - x'|^2 / sigma) on standardised features,
sigma four times the mean of |x_i - x_j|^2 over all pairs.  Every solver gets the same
numbers: step and rows in units of the least distance at which the point can be.

error: largest difference from the minimiser in any a, which is found from the active
constraints; the last line of an instance says how far off its optimality conditions
that one is.  violation: the worst constraint's, as a distance.  silence: the longest
time for which another Python thread (the dashboard's) got no turn.

Data sets as arguments; without any: liver, pima, adult-a1a.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import sys
import threading
import time
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np
import scipy.sparse as sparse

from mkldash.datasets.cards import load
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.building import build_bank
from mkldash.kernels.gaussian import Gaussian
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers._cutting_planes import Model
from mkldash.solvers._least_norm import LeastNorm, by_daqp, by_piqp
from mkldash.solvers.level import LevelMethod

C, RHO, FACTOR = 1.0, 100.0, 4.0
CUTS = (5, 20, 60)
TOLERANCE = 1e-10
ROUNDS = 5
#: Rounds stop once a solver has taken so many seconds.
PATIENCE = 10.0
#: Above so many rows the slow ones are left out, and the instance of most cuts.
MANY_ROWS = 2000

Array = np.ndarray
Contender = Callable[[LeastNorm], Array]


def problem_of(name: str) -> Problem:
    """The data set's problem at C, rho and the kernel width of Liu et al."""
    data = load(name)
    return problem_on(np.asarray(data.X, dtype=float), data.y)


def problem_on(X: Array, y: Array) -> Problem:
    """The same on rows at hand, standardised here."""
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    # Standardised columns: the mean of |x_i - x_j|^2 over all pairs is twice the variances.
    width = float(np.sqrt(FACTOR * 2.0 * X.var(axis=0).sum() / 2.0))
    term = KernelTerm(Gaussian(width), tuple(range(X.shape[1])), "all")
    bank = build_bank(X, [term], storage="dense", normalize=False)
    return Problem(bank, y, Hinge(C), Fixed((1.0,)), RHO)


def instances(problem: Problem) -> Iterator[tuple[int, LeastNorm]]:
    """The programs that a run without dropping meets, with their number of cuts."""
    for snapshot in LevelMethod(drop_cuts=False).iterate(problem):
        n_cuts = len(snapshot.cuts)
        if n_cuts in CUTS:
            model = Model.of(snapshot.cuts, problem.y, C)
            program = model.least_norm(snapshot.alpha, -snapshot.level)
            assert program is not None
            yield n_cuts, program
        if n_cuts >= (max(CUTS) if problem.n_rows <= MANY_ROWS else CUTS[1]):
            return


def daqp(program: LeastNorm) -> Array:
    """As the level method calls it."""
    return by_daqp(program).x


def clarabel(program: LeastNorm) -> Array:
    """Interior point; bounds are rows."""
    import clarabel

    n = program.low.size
    identity = sparse.eye(n, format="csc")
    rows = sparse.vstack([sparse.csc_matrix(program.rows), identity, -identity], format="csc")
    right = np.concatenate(([0.0], program.most, program.high, -program.low))
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(right.size - 1)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = TOLERANCE
    solver = clarabel.DefaultSolver(identity, np.zeros(n), rows, right, cones, settings)
    return np.array(solver.solve().x)


def piqp(program: LeastNorm) -> Array:
    """As the level method calls it: interior point with proximal terms, sparse."""
    return by_piqp(program).x


def proxsuite_sparse(program: LeastNorm) -> Array:
    """Augmented Lagrangian, sparse; bounds are rows."""
    import proxsuite

    n = program.low.size
    rows = sparse.vstack([sparse.csc_matrix(program.rows[1:]), sparse.eye(n)], format="csc")
    found = proxsuite.proxqp.sparse.solve(
        sparse.eye(n, format="csc"), np.zeros(n),
        sparse.csc_matrix(program.rows[:1]), np.zeros(1),
        rows, np.concatenate((np.full(program.most.size, -1e20), program.low)),
        np.concatenate((program.most, program.high)), eps_abs=TOLERANCE, eps_rel=0.0,
    )  # fmt: skip
    return np.array(found.x)


def proxsuite_dense(program: LeastNorm) -> Array:
    """Augmented Lagrangian, dense with a diagonal Hessian; bounds are bounds."""
    import proxsuite

    n, n_cuts = program.low.size, program.most.size
    dense = proxsuite.proxqp.dense
    solver = dense.QP(n, 1, n_cuts, True, dense.HessianType.Diagonal)
    solver.settings.eps_abs, solver.settings.eps_rel = TOLERANCE, 0.0
    solver.init(
        np.eye(n), np.zeros(n), program.rows[:1], np.zeros(1), program.rows[1:],
        np.full(n_cuts, -1e20), program.most, program.low, program.high,
    )  # fmt: skip
    solver.solve()
    return np.array(solver.results.x)


def osqp(program: LeastNorm) -> Array:
    """Operator splitting, at most 10000 steps, then its polishing."""
    import osqp

    n = program.low.size
    rows = sparse.vstack([sparse.csc_matrix(program.rows), sparse.eye(n)], format="csc")
    free = np.full(program.most.size, -np.inf)
    solver = osqp.OSQP()
    solver.setup(
        sparse.eye(n, format="csc"), np.zeros(n), rows,
        np.concatenate(([0.0], free, program.low)),
        np.concatenate(([0.0], program.most, program.high)),
        eps_abs=TOLERANCE, eps_rel=0.0, max_iter=10_000, polishing=True, verbose=False,
    )  # fmt: skip
    return np.array(solver.solve(raise_error=False).x)


#: Name on screen, package, contender.
CONTENDERS: tuple[tuple[str, str, Contender], ...] = (
    ("daqp", "daqp", daqp),
    ("piqp", "piqp", piqp),
    ("clarabel", "clarabel", clarabel),
    ("proxsuite, sparse", "proxsuite", proxsuite_sparse),
    ("proxsuite, dense", "proxsuite", proxsuite_dense),
    ("osqp", "osqp", osqp),
)

FAST = ("daqp", "piqp", "clarabel")


def reference(program: LeastNorm, near: Array) -> tuple[Array, float]:
    """The minimiser to rounding, and the worst violation of its optimality conditions.

    Which constraints are active is read off `near`; the shortest point that meets
    those is one least-squares problem.  A wrong guess shows in the second value, and
    since the norm is strictly convex there is no other minimiser.
    """
    active = np.flatnonzero(program.rows[1:] @ near - program.most > -1e-9) + 1
    rows = program.rows[np.concatenate(([0], active))]
    right = np.concatenate(([0.0], program.most[active - 1]))
    low, high = near - program.low < 1e-9, program.high - near < 1e-9
    free = ~(low | high)
    x = np.where(low, program.low, program.high)
    x[free] = np.linalg.lstsq(
        rows[:, free], right - rows[:, ~free] @ x[~free], rcond=None
    )[0]  # fmt: skip
    multipliers = np.linalg.lstsq(rows[:, free].T, -x[free], rcond=None)[0]
    slope = x + rows.T @ multipliers
    violations = (
        program.rows[1:] @ x - program.most, program.low - x, x - program.high,
        np.abs(program.rows[:1] @ x), -multipliers[1:], np.abs(slope[free]),
        -slope[low], slope[high],
    )  # fmt: skip
    return x, max(float(v.max(initial=0.0)) for v in violations)


def longest_silence(run: Callable[[], object]) -> float:
    """Seconds for which another Python thread could not run meanwhile."""
    longest, going = 0.0, True

    def listen() -> None:
        nonlocal longest
        last = time.perf_counter()
        while going:
            time.sleep(1e-3)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    thread = threading.Thread(target=listen)
    thread.start()
    run()
    going = False
    thread.join()
    return longest


def measure(name: str) -> None:
    """One data set: a line for each number of cuts and solver."""
    problem = problem_of(name)
    for n_cuts, program in instances(problem):
        exact, residual = reference(program, daqp(program))
        print(f"{name}, {problem.n_rows} rows, {n_cuts} cuts")
        for title, package, contender in CONTENDERS:
            if importlib.util.find_spec(package) is None:
                print(f"  {title:18} not installed")
                continue
            if problem.n_rows > MANY_ROWS and package not in FAST:
                print(f"  {title:18} left out above {MANY_ROWS} rows")
                continue
            try:
                x = contender(program)
            except (ValueError, RuntimeError, MemoryError) as error:
                print(f"  {title:18} refused: {error}")
                continue
            seconds: list[float] = []
            while len(seconds) < ROUNDS and sum(seconds) < PATIENCE:
                begun = time.perf_counter()
                contender(program)
                seconds.append(time.perf_counter() - begun)
            silence = longest_silence(functools.partial(contender, program))
            over = program.rows @ x
            worst = max(
                float((over[1:] - program.most).max()),
                abs(float(over[0])),
                float((program.low - x).max()),
                float((x - program.high).max()),
                0.0,
            )
            error = float(np.abs(x - exact).max())
            print(
                f"  {title:18} {1e3 * median(seconds):9.2f} ms  error {program.unit * error:8.1e}"
                f"  violation {program.unit * worst:8.1e}  silence {1e3 * silence:7.1f} ms"
            )
        print(
            f"  reference: off its optimality conditions by {program.unit * residual:.1e}",
            flush=True,
        )


if __name__ == "__main__":
    packages = sorted({package for _, package, _ in CONTENDERS})
    for package in packages:
        known = importlib.util.find_spec(package) is not None
        print(package, importlib.metadata.version(package) if known else "not installed")
    for name in sys.argv[1:] or ("liver", "pima", "adult-a1a"):
        measure(name)
