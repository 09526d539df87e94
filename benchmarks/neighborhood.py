"""The solvers of the neighborhood kernel on the stand-in for a4a, against scikit-learn's SVC.

4,781 rows, C = 1, rho = 100, sigma factors 4 and 1, the Gram matrix given.  Ours
run until a relative gap of 1e-6 is certified; SVC solves the plain support
vector machine on the same matrix at its default tolerance.  Every round times
everybody, in turn; ratios are medians over the rounds.  Then the memory that
one run takes beyond the given matrix, in a process of its own.
Targets: the shifted SVM in at most 2 times SVC's time, and 0.1 Gram matrices.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from mkldash.experiments.choices import Choices
from mkldash.experiments.workload import prepare
from mkldash.kernels.square import given_square
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers import available_solvers
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import StopRule

Array = NDArray[np.float64]

DATA, C, RHO = "adult-a4a-like", 1.0, 100.0
FACTORS = (4.0, 1.0)
STOP = StopRule(tol=1e-6, max_iter=2000)


def matrix(factor: float) -> tuple[Array, Array]:
    """The Gram matrix and the labels."""
    choices = Choices(
        problem="neighborhood", data=DATA, train_fraction=1.0, sigma_factor=factor
    )  # fmt: skip
    workload = prepare(choices)
    return workload.bank.combine(np.ones(1)).matrix(), np.array(workload.y_train)


def problem(K: Array, y: Array) -> Problem:
    """The neighborhood problem on a given matrix."""
    return Problem(given_square(K), y, Hinge(C), Fixed((1.0,)), RHO)


def compare(factor: float, names: list[str], rounds: int) -> None:
    """Print the table at one sigma factor."""
    K, y = matrix(factor)
    given, svc = problem(K, y), SVC(kernel="precomputed", C=C)
    solvers = {name: available_solvers()[name]() for name in names}
    for solver in solvers.values():  # compiled before anything is timed
        solve(solver, given, stop=StopRule(max_iter=1))
    reference: list[float] = []
    seconds: dict[str, list[float]] = {name: [] for name in names}
    results = {}
    for _ in range(rounds):
        begun = time.perf_counter()
        svc.fit(K, y)
        reference.append(time.perf_counter() - begun)
        for name, solver in solvers.items():
            begun = time.perf_counter()
            results[name] = solve(solver, given, stop=STOP)
            seconds[name].append(time.perf_counter() - begun)
    print(f"sigma factor {factor:g}: SVC {1e3 * median(reference):.0f} ms, median of {rounds}")
    for name in names:
        ratio = median(a / b for a, b in zip(seconds[name], reference, strict=True))
        found = results[name]
        print(
            f"  {name:14} {1e3 * median(seconds[name]):8.0f} ms  {ratio:6.2f} times SVC   "
            f"{found.status.value}, {found.iterations} iterations, gap {found.gap:.1e}, "
            f"lower {found.lower:.6f}"
        )


def peak_kilobytes() -> int:
    """Highest resident size of this process since it was last cleared, from the system."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1])
    raise OSError("no VmHWM")


def child(path: str, name: str) -> None:
    """Print the memory that one run takes beyond the matrix, as a share of the matrix."""
    K = np.load(path)
    y = np.where(np.arange(len(K)) % 3, 1.0, -1.0)
    solver = available_solvers()[name]()
    small = np.ascontiguousarray(K[:600, :600])
    solve(solver, problem(small, y[:600]), stop=StopRule(tol=1e-6, max_iter=30))
    given = problem(K, y)
    before = peak_after_clearing()
    result = solve(solver, given, stop=STOP)
    grown = 1024 * (peak_kilobytes() - before)
    print(f"  {name:14} {grown / K.nbytes:.3f} Gram matrices ({result.status.value})")


def peak_after_clearing() -> int:
    """Resident kilobytes now; the system's high-water mark begins here."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_kilobytes()


def memory(names: list[str]) -> None:
    """Print the peak memory of each solver."""
    K, _ = matrix(FACTORS[0])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "matrix.npy")
        np.save(path, K)
        del K
        print("peak memory above the given matrix:")
        for name in names:
            command = [sys.executable, "-m", "benchmarks.neighborhood", "--child", str(path), name]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            print(done.stdout.rstrip() or f"  {name:14} not measured: {done.stderr[-200:]}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("solvers", nargs="*", default=["shifted-svm", "accelerated", "gradient"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", nargs=2, metavar=("FILE", "SOLVER"))
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
    else:
        for factor in FACTORS:
            compare(factor, arguments.solvers, arguments.rounds)
        memory(arguments.solvers)
