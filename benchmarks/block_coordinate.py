"""Block-coordinate descent on WDBC against the plain reference loop, to gap 1e-3.

The reference is what one writes first: scikit-learn's SVC at tol 1e-5, the
full Gram stack, ``theta @ F`` and ``(F @ a) @ a`` on the contiguous stack,
the same weight step and the same bounds.  Target: at least 5x at eta 0.5,
C 100.
"""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from benchmarks._timing import interleaved, table
from benchmarks._wdbc import full_stack, wdbc_bank
from mkldash.problems.certificates import hinge_bias
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import StopRule

C = 100.0


def reference(stack: np.ndarray, y: np.ndarray, eta: float, tol: float) -> tuple[int, float, float]:
    """The plain loop; returns iterations, upper, lower."""
    n_kernels, n = stack.shape[:2]
    flat, rows = stack.reshape(n_kernels, n * n), stack.reshape(n_kernels * n, n)
    weight_set = ElasticNet(eta)
    theta, lower, upper = weight_set.start(n_kernels), -np.inf, np.inf
    iteration = 0
    while iteration < 500:
        K = (theta @ flat).reshape(n, n)
        model = SVC(C=C, kernel="precomputed", tol=1e-5).fit(K, y)
        a = np.zeros(n)
        a[model.support_] = model.dual_coef_[0]
        u = np.maximum((rows @ a).reshape(n_kernels, n) @ a, 0.0)  # rounding
        f = K @ a
        _, loss = hinge_bias(f, y)
        upper = min(upper, 0.5 * float(a @ f) + C * loss)
        lower = max(lower, float(np.abs(a).sum()) - 0.5 * weight_set.maximise(u)[1])
        if lower > 0 and upper / lower - 1 <= tol:
            break
        theta = weight_set.minimise(theta**2 * u, theta, 1e-8).theta
        iteration += 1
    return iteration, upper, lower


if __name__ == "__main__":
    stack, y = full_stack()
    banks = {storage: wdbc_bank(storage)[0] for storage in ("factored", "dense")}
    for eta in (0.5, 0.0, 1.0):
        runs: dict[str, object] = {"reference loop": lambda eta=eta: reference(stack, y, eta, 1e-3)}
        for storage, bank in banks.items():
            problem = Problem(bank, y, Hinge(C), ElasticNet(eta))
            runs[f"ours, {storage} bank"] = lambda problem=problem: solve(
                BlockCoordinateDescent(), problem, stop=StopRule(tol=1e-3)
            )
        done = reference(stack, y, eta, 1e-3)
        ours = runs["ours, factored bank"]()  # type: ignore[operator]
        print(f"eta {eta:g}, C {C:g}, to relative gap 1e-3")
        print(f"  reference: {done[0]} iterations, upper {done[1]:.4f}, lower {done[2]:.4f}")
        print(f"  ours: {ours.iterations} iterations, {ours.upper:.4f}, {ours.lower:.4f}")
        seconds = interleaved(runs, rounds=3)  # type: ignore[arg-type]
        print("\n".join(table(seconds, "reference loop")), end="\n\n")
