"""A sampled step of mirror descent against a full-gradient step, by the size of the family.

n = 500, linear base kernels, p = 1, so that orderings of a product are one kernel.
Full step: the forms of all products (prefixes shared, one matrix product for each
degree), the combined kernel of all of them, and a Cholesky solve; the features of
the combined kernel are at hand while they fit.  Few products are solved through
their own Gram matrix, which is at hand too.  Without a kernel is what a full step costs
at the least, were no product to have weight.
Sampled step: iterations of the solver, ridge solve, mirror step and snapshot included
(no certificate).  Few: at the default penalty.  Many: p = 4/3 over ordered products
with a penalty so small that after 400 iterations most of what was drawn has weight.
All in CPU time of one thread, in turn; the medians.
Target: at |I| = 10^6 ordered products the sampled step is 30 times faster.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks._mirror import LongRun, cholesky, mirror_problem, one_thread, size, verdict
from mkldash.kernels.family import KernelFamily
from mkldash.kernels.weights import Weights
from mkldash.solvers._ridge import most_columns
from mkldash.solvers._ridge_features import FeatureRidge
from mkldash.solvers.mirror_descent import RandomizedMirrorDescent

Array = NDArray[np.float64]
Run = Callable[[], object]

ROWS = 500
#: Features and degree: from 11 ordered products to a million.
FAMILIES = (
    (10, 1), (10, 2), (20, 2), (10, 3), (50, 2), (20, 3), (30, 3), (50, 3), (70, 3), (100, 3),
    (10, 6),
)  # fmt: skip
TARGET, LARGE = 30.0, 1_000_000
BATCH, WARM_UP, LONG_WARM_UP = 20, 50, 400
SMALL_PENALTY = 0.01


@dataclass(frozen=True)
class Row:
    """Sizes of one family and seconds."""

    r: int
    degree: int
    ordered: int
    merged: int
    support: int
    few: float
    many: float
    gradient: float
    kernel: float
    solve: float

    @property
    def full(self) -> float:
        """Of the full step."""
        return self.gradient + self.kernel + self.solve


def spent(run: Run) -> float:
    """CPU seconds of this thread."""
    begun = time.thread_time()
    run()
    return time.thread_time() - begun


def full_solve(family: KernelFamily, y: Array) -> tuple[Run, Run]:
    """The combined kernel, and the ridge solve, with every product at the same weight."""
    keys = family.keys()
    theta = np.full(len(keys), 1.0 / len(keys))
    if len(keys) <= most_columns(ROWS, False, False):
        features = family.features(keys)
        assert features is not None
        small = FeatureRidge(y)
        small.add(features)
        return (lambda: None), (lambda: small.solve(theta))
    everything = family.combine(Weights(keys, theta))
    K = everything.matrix()
    return everything.matrix, lambda: cholesky(K, y)


def measure(r: int, degree: int, rounds: int) -> Row:
    """Time everything on one family."""
    problem = mirror_problem(ROWS, r, degree)
    family, y = problem.family, np.array(problem.y)
    kernel, ridge = full_solve(family, y)
    solver = RandomizedMirrorDescent(certify_every=10_000)
    few = LongRun(solver, problem)
    many = LongRun(
        solver, mirror_problem(ROWS, r, degree, p=4 / 3, penalty=SMALL_PENALTY, growth=1.0)
    )
    contenders: dict[str, Callable[[], float]] = {
        "few": lambda: few.take(BATCH) / BATCH,
        "many": lambda: many.take(BATCH) / BATCH,
        "gradient": lambda: spent(lambda: family.all_forms(y)),
        "kernel": lambda: spent(kernel),
        "solve": lambda: spent(ridge),
    }
    few.take(WARM_UP)
    many.take(LONG_WARM_UP)
    family.all_forms(y)
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            seconds[name].append(run())
    medians = {name: median(times) for name, times in seconds.items()}
    return Row(r, degree, family.n_words, family.size, many.last.support_size, **medians)


def crossing(rows: list[Row]) -> str:
    """Between which sizes the sampled step becomes the cheaper one."""
    last = None
    for row in sorted(rows, key=lambda row: row.merged):
        if row.full > row.few:
            if last is None:
                return f"already at {size(row.ordered)} ordered products"
            return (
                f"between {size(last.ordered)} and {size(row.ordered)} ordered "
                f"({size(last.merged)} and {size(row.merged)} merged) products"
            )
        last = row
    return "nowhere"


def draw(rows: list[Row], path: Path) -> None:
    """Milliseconds by the number of merged products."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    rows = sorted(rows, key=lambda row: row.merged)
    sizes = [row.merged for row in rows]
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    lines = {
        "full step": [row.full for row in rows],
        "its gradient and ridge solve alone": [row.gradient + row.solve for row in rows],
        "sampled step, few products with weight": [row.few for row in rows],
        "sampled step, many": [row.many for row in rows],
    }
    for (name, seconds), style in zip(lines.items(), ("o-", "o--", "s-", "s--"), strict=True):
        axes.loglog(sizes, [1e3 * s for s in seconds], style, label=name)
    axes.set_xlabel("products, orderings merged")
    axes.set_ylabel("milliseconds per step")
    axes.set_title(f"n = {ROWS}, one thread; labels: ordered products")
    for i, row in enumerate(rows):  # in turn above and below the line: some are close
        above = i % 2 == 0
        axes.annotate(
            size(row.ordered), (row.merged, 1e3 * row.full), xytext=(-4, 6) if above else (4, -6),
            textcoords="offset points", fontsize=8, ha="right" if above else "left",
            va="bottom" if above else "top",
        )  # fmt: skip
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120, metadata={"Date": None} if path.suffix == ".svg" else None)


def compare(rounds: int, figure: Path | None) -> None:
    """Print the table."""
    print(f"n = {ROWS}, milliseconds per step, median of {rounds} rounds, one thread")
    print(
        f"{'':27}sampled{'':17}full{'':31}full / sampled\n"
        f"{'r':>4}{'D':>3}{'ordered':>11}{'merged':>9}{'few':>7}{'many':>7} {'(weights)':>9}"
        f"{'gradient':>9}{'kernel':>9}{'solve':>7}{'all':>9}{'few':>8}{'many':>8}{'no kernel':>11}"
    )
    rows = []
    with one_thread():
        for r, degree in FAMILIES:
            row = measure(r, degree, rounds)
            rows.append(row)
            bare = (row.gradient + row.solve) / row.few
            print(
                f"{r:4}{degree:3}{size(row.ordered):>11}{size(row.merged):>9}"
                f"{1e3 * row.few:7.2f}{1e3 * row.many:7.2f} {f'({row.support})':>9}"
                f"{1e3 * row.gradient:9.2f}{1e3 * row.kernel:9.2f}{1e3 * row.solve:7.2f}"
                f"{1e3 * row.full:9.2f}{row.full / row.few:8.1f}{row.full / row.many:8.1f}"
                f"{bare:11.1f}",
                flush=True,
            )
    print(f"a sampled step with few weights becomes the cheaper one {crossing(rows)}")
    for row in rows:
        if row.ordered >= LARGE:
            few, many = row.full / row.few, row.full / row.many
            print(
                f"r = {row.r}, D = {row.degree}, {size(row.ordered)} ordered, {size(row.merged)} "
                f"merged (target {TARGET:g}): {few:.0f} times with few weights, "
                f"{verdict(few >= TARGET)}; {many:.0f} with many, {verdict(many >= TARGET)}"
            )
    if figure is not None:
        draw(rows, figure)
        print(f"drawn: {figure}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--figure", type=Path, help="where the drawing goes, such as x.svg")
    arguments = parser.parse_args()
    compare(arguments.rounds, arguments.figure)
