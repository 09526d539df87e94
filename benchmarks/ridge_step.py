"""The ridge solve of each step of mirror descent against a fresh factorisation.

n = 2,000, r = 20, D = 3, linear base kernels, a noisy target.  The solve of every step
of a real run is timed, changes of weights, new columns and refactoring included, and so is
the start from the bare weights that every 100th iteration makes (what a resumed run does).
In between, at a few steps, K + I is factored anew at the same weights (a copy of K,
Cholesky, two triangular solves; making K is not counted) and the coefficients a are
compared.  Three regimes: the default penalty, whose few products have a small system;
a small one, and that without growth, where nearly all that was drawn keeps its weight.
Steps before the first that is counted let products gather.  CPU time of one thread.
Targets: 5 times faster for p = 1, 4/3 and 2; a to 1e-8.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from statistics import median
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks._mirror import LongRun, cholesky, mirror_problem, one_thread, verdict
from mkldash.kernels.family import KernelFamily, Key
from mkldash.kernels.weights import Weights
from mkldash.solvers import _mirror_state
from mkldash.solvers._ridge import Ridge
from mkldash.solvers.mirror_descent import RandomizedMirrorDescent

Array = NDArray[np.float64]

ROWS, BASES, DEGREE = 2000, 20, 3
POWERS = (1.0, 4 / 3, 2.0)
#: Penalty and growth.
REGIMES = ((1.0, 4.0), (0.01, 4.0), (0.001, 1.0))
TARGET, ACCURACY = 5.0, 1e-8


class TimedRidge(Ridge):
    """The ridge solve, its steps timed, and compared with fresh solves now and then."""

    seconds: list[float]
    starts: list[float]
    fresh: list[float]
    errors: list[float]
    #: Steps that are not counted, and those from one comparison to the next.
    skip, every = 0, 1

    def __init__(
        self,
        family: KernelFamily,
        y: Array,
        keys: Sequence[Key],
        theta: Array,
        *,
        follows: bool,
        rescales: bool = True,
    ) -> None:
        begun = time.thread_time()
        super().__init__(family, y, keys, theta, follows=follows, rescales=rescales)
        if not TimedRidge.skip:
            self.starts.append(time.thread_time() - begun)
        self._data = family, np.array(y)

    def step(
        self, keys: Sequence[Key], theta: Array, change: tuple[float, int, float] | None
    ) -> None:
        begun = time.thread_time()
        super().step(keys, theta, change)
        taken = time.thread_time() - begun
        if TimedRidge.skip:
            TimedRidge.skip -= 1
            return
        self.seconds.append(taken)
        if len(self.seconds) % self.every == 0:
            self._compare(*self._data, keys, theta)

    def _compare(self, family: KernelFamily, y: Array, keys: Sequence[Key], theta: Array) -> None:
        active = np.flatnonzero(theta)
        weights = Weights(tuple([keys[i] for i in active.tolist()]), theta[active])
        K = family.combine(weights).matrix()
        begun = time.thread_time()
        a = cholesky(K, y)
        self.fresh.append(time.thread_time() - begun)
        self.errors.append(float(np.linalg.norm(self.a - a) / np.linalg.norm(a)))


def compare(n: int, skip: int, steps: int, every: int) -> None:
    """Print the table."""
    print(
        f"n = {n}, r = {BASES}, D = {DEGREE}: ridge solves of steps {skip + 1} to {skip + steps}, "
        f"milliseconds, one thread; {steps // every} fresh solves among them"
    )
    print(
        f"{'p':>6}{'penalty':>9}{'growth':>8}{'weights':>9}{'mean':>8}{'median':>8}{'worst':>8}"
        f"{'fresh':>8}{'fresh / mean':>14}{'error of a':>12}"
    )
    for p in POWERS:
        for penalty, growth in REGIMES:
            problem = mirror_problem(n, BASES, DEGREE, p=p, penalty=penalty, growth=growth)
            TimedRidge.seconds, TimedRidge.starts = [], []
            TimedRidge.fresh, TimedRidge.errors = [], []
            TimedRidge.skip, TimedRidge.every = skip, every
            with patch.object(_mirror_state, "Ridge", TimedRidge):
                run = LongRun(RandomizedMirrorDescent(certify_every=10_000), problem)
                run.take(skip + steps)
            solves, fresh = TimedRidge.seconds, median(TimedRidge.fresh)
            each = (sum(solves) + sum(TimedRidge.starts)) / len(solves)
            ratio, error = fresh / each, max(TimedRidge.errors)
            print(
                f"{p:6.3f}{penalty:9g}{growth:8g}{run.last.support_size:9}"
                f"{1e3 * each:8.2f}{1e3 * median(solves):8.2f}"
                f"{1e3 * max([*solves, *TimedRidge.starts]):8.1f}"
                f"{1e3 * fresh:8.1f}{ratio:14.1f}{error:12.1e} "
                f"{verdict(ratio >= TARGET and error <= ACCURACY)}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--skip", type=int, default=1500)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--every", type=int, default=100)
    arguments = parser.parse_args()
    with one_thread():
        compare(arguments.rows, arguments.skip, arguments.steps, arguments.every)
