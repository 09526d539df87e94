"""Ideal against uniform sampling at p = 1: the same number of iterations, over 10 seeds.

Rows of `known-products` and of `diabetes`, all of them, features and target
standardised, D = 3.  Shown: how far the objective that a run certifies ends above the
optimum J*, relative to J*, with the average of the iterates and with the best point;
mean, standard error and range over the seeds of the draws; and the second moment
E||ghat||^2 of both estimates, exact by enumeration, at the ideal runs' iterates (geometric
mean of the ratio).  J* is the least objective of a run with whole gradients; its
certified gap is printed.
Target: with ideal sampling the objective ends lower.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev

import numpy as np
from numpy.typing import NDArray

from benchmarks._mirror import one_thread, standardised, verdict
from benchmarks.known_products import optimum
from mkldash.datasets.cards import load
from mkldash.kernels.products import product_family
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers.base import Snapshot
from mkldash.solvers.driver import solve
from mkldash.solvers.mirror_descent import MirrorSnapshot, RandomizedMirrorDescent
from mkldash.solvers.stopping import StopRule

Array = NDArray[np.float64]

DATA = ("known-products", "diabetes")
#: Penalty and growth.
CASES = ((1.0, 4.0), (0.03, 4.0), (0.03, 1.0))
SAMPLINGS = ("ideal", "uniform")
DEGREE = 3
#: Iterations between two enumerations.
EVERY = 50


@dataclass
class Moments:
    """The second moments at the certified iterates of a run, by enumeration."""

    problem: Problem
    ratios: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        family = self.problem.family
        self.orderings = np.array([family.orderings(key) for key in family.keys()], dtype=float)

    def __call__(self, snapshot: Snapshot) -> None:
        """A callback of the driver."""
        if snapshot.iteration % EVERY == 0 and snapshot.iteration:
            ideal, uniform = self.both(snapshot.alpha)
            self.ratios.append(uniform / ideal)

    def both(self, a: Array) -> tuple[float, float]:
        """E||ghat||^2 when drawing in proportion to the gradient, and uniformly."""
        u, m = self.problem.family.all_forms(a), self.orderings
        total, words = float(m @ u), float(self.problem.family.n_words)
        return total / 4.0 * float((u / m).sum()), words / 4.0 * float((u**2 / m).sum())


@dataclass
class Ends:
    """Where the runs of one sampling ended, by seed."""

    best: list[float] = field(default_factory=list)
    average: list[float] = field(default_factory=list)


def make(name: str, penalty: float, growth: float) -> Problem:
    """The problem on all rows."""
    data = load(name)
    X, y = standardised(data.X, data.y)
    family = product_family(X, degree=DEGREE, penalty=penalty, growth=growth)
    return Problem(family, y, Squared(), NormBall.of_p(1.0))


def line(values: Sequence[float]) -> str:
    """Mean, standard error, range."""
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{mean(values):9.1e} ± {error:7.1e}  {min(values):8.1e}..{max(values):8.1e}"


def compare(problem: Problem, iterations: int, seeds: int, rule: str, full: int) -> None:
    """Print the lines of one problem."""
    reference = optimum(problem, full)
    moments = Moments(problem)
    objectives = {sampling: Ends() for sampling in SAMPLINGS}
    for seed in range(seeds):
        for sampling, ends in objectives.items():
            solver = RandomizedMirrorDescent(seed=seed, sampling=sampling, step_rule=rule)
            result = solve(
                solver, problem, stop=StopRule(tol=1e-12, max_iter=iterations),
                callbacks=(moments,) if sampling == "ideal" else (),
            )  # fmt: skip
            assert isinstance(result.last, MirrorSnapshot)
            ends.best.append(result.upper)
            ends.average.append(result.last.average_objective)
    least = min(reference.upper, *(min(ends.best) for ends in objectives.values()))
    for sampling, ends in objectives.items():
        average = line([value / least - 1.0 for value in ends.average])
        best = line([value / least - 1.0 for value in ends.best])
        print(f"    {sampling:8} average {average}    best {best}")
    lower = sum(
        i < u for i, u in zip(objectives["ideal"].best, objectives["uniform"].best, strict=True)
    )
    met = mean(objectives["ideal"].best) < mean(objectives["uniform"].best)
    ratio = float(np.exp(np.mean(np.log(moments.ratios))))
    print(
        f"    ideal ends lower with {lower} of {seeds} seeds, in the mean: {verdict(met)}; "
        f"uniform's second moment {ratio:.1f} times as large; J* known to {reference.gap:.0e}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", default=list(DATA))
    parser.add_argument("--iterations", type=int, nargs="*", default=[500, 2000])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--step-rule", default="recent")
    parser.add_argument("--full", type=int, default=1000, help="iterations with full gradients")
    arguments = parser.parse_args()
    with one_thread():
        for name in arguments.data:
            for penalty, growth in CASES:
                problem = make(name, penalty, growth)
                for iterations in arguments.iterations:
                    print(
                        f"{name}, penalty {penalty:g}, growth {growth:g}, {iterations} iterations: "
                        "(J - J*) / J*, mean ± standard error, range"
                    )
                    rule, full = arguments.step_rule, arguments.full
                    compare(problem, iterations, arguments.seeds, rule, full)
