"""2,000 iterations of mirror descent against fresh Cholesky solves of the same size.

n = 500, r = 20, D = 3: certificates, averages, draws and snapshots included.  The target
is noisy, and with a small penalty many products carry weight; with a large one few
do.  One BLAS thread; a fifth of the iterations, then a fifth of 1,000 solves
(K + I, factor, solve), in turn, in CPU time of the one thread.
Targets: at most the time of 1,000 solves for p = 1 and 2, of 1,400 for p = 4/3.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks._mirror import LongRun, cholesky, mirror_problem, one_thread, verdict
from mkldash.solvers.mirror_descent import RandomizedMirrorDescent

ROWS, BASES, DEGREE = 500, 20, 3
ITERATIONS, SOLVES, ROUNDS = 2000, 1000, 5
TARGETS = {1.0: 1.0, 4 / 3: 1.4, 2.0: 1.0}
#: Penalty and growth: few products with weight, more, and as many as there can be.
REGIMES = ((1.0, 4.0), (0.01, 4.0), (0.01, 1.0))


def compare(iterations: int) -> None:
    """Print the table."""
    rng = np.random.default_rng(0)
    root = rng.standard_normal((ROWS, ROWS)) / np.sqrt(ROWS)
    K, y = root @ root.T, rng.standard_normal(ROWS)
    solves = SOLVES * iterations // ITERATIONS
    print(
        f"n = {ROWS}, r = {BASES}, D = {DEGREE}: {iterations} iterations against {solves} "
        "Cholesky solves, seconds, one thread"
    )
    print(
        f"{'p':>6}{'penalty':>9}{'growth':>8}{'weights':>9}{'gap':>10}{'run':>8}{'solves':>8}"
        f"{'ratio':>7}{'target':>8}"
    )
    for p, target in TARGETS.items():
        for penalty, growth in REGIMES:
            problem = mirror_problem(ROWS, BASES, DEGREE, p=p, penalty=penalty, growth=growth)
            warm = LongRun(RandomizedMirrorDescent(certify_every=10), problem)
            warm.take(20)
            run, taken, reference = LongRun(RandomizedMirrorDescent(), problem), 0.0, 0.0
            for _ in range(ROUNDS):
                taken += run.take(iterations // ROUNDS)
                begun = time.thread_time()
                for _ in range(solves // ROUNDS):
                    cholesky(K, y)
                reference += time.thread_time() - begun
            last, ratio = run.last, taken / reference
            print(
                f"{p:6.3f}{penalty:9g}{growth:8g}{last.support_size:9}{last.gap:10.1e}"
                f"{taken:8.2f}{reference:8.2f}{ratio:7.2f}{target:8g} {verdict(ratio <= target)}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    arguments = parser.parse_args()
    with one_thread():
        compare(arguments.iterations)
