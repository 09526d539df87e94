"""Inner SVM against scikit-learn's SVC(kernel="precomputed") at equal KKT tolerance.

Cold: from zero.  Warm: from the solution at weights that each moved by about
5 %, which is what one outer iteration does; SVC has no warm start, so it is
timed cold on the same matrix.  Target: at least 2x cold and 6x warm.
"""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from benchmarks._timing import interleaved, table
from benchmarks._wdbc import full_stack
from mkldash.solvers.svm import solve_svm

C = 100.0


def compare(tol: float) -> list[str]:
    """Lines of the table at one tolerance."""
    stack, y = full_stack()
    rng = np.random.default_rng(1)
    theta = np.ones(len(stack)) / len(stack)
    K = np.tensordot(theta, stack, 1)
    start = solve_svm(K, y, C, tol=tol).alpha
    moved = [
        np.tensordot(theta * np.exp(0.05 * rng.standard_normal(theta.size)), stack, 1)
        for _ in range(10)
    ]
    turn = {"svc": 0, "cold": 0, "warm": 0}

    def next_matrix(name: str) -> np.ndarray:
        turn[name] += 1
        return moved[turn[name] % len(moved)]

    def svc() -> None:
        SVC(C=C, kernel="precomputed", tol=tol).fit(next_matrix("svc"), y)

    def cold() -> None:
        solve_svm(next_matrix("cold"), y, C, tol=tol)

    def warm() -> None:
        solve_svm(next_matrix("warm"), y, C, tol=tol, alpha=start)

    seconds = interleaved({"SVC (libsvm)": svc, "ours, cold": cold, "ours, warm": warm}, rounds=21)
    return [f"KKT tolerance {tol:g}, 341 rows, C = {C:g}", *table(seconds, "SVC (libsvm)")]


if __name__ == "__main__":
    for tolerance in (1e-3, 1e-5):
        print("\n".join(compare(tolerance)), end="\n\n")
