"""One sampled step of mirror descent over families from 10 to over 10^18 products.

n = 500, linear base kernels, p = 1.  Three times for each number of features r and
degree D: one draw of the longest word (D letters: rho_D is made small so that no
other length is ever drawn), one draw at the default penalty, whose words are
mostly short, and a whole iteration of the solver with the longest words, ridge solve,
mirror step and snapshot included (no certificate).  Every round times every
cell; the least of the rounds is shown, in CPU time of the one thread that works.
Targets: from D = 3 on a further degree costs the same as the one before (within 50 %
of their mean); at most linear in r; the number of products does not matter.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks._mirror import (
    LongRun, mirror_problem, noisy, one_thread, size, verdict,
)  # fmt: skip
from mkldash.kernels.products import ProductFamily
from mkldash.solvers.mirror_descent import RandomizedMirrorDescent

ROWS = 500
BASES = (10, 20, 50, 100, 200)
DEGREES = tuple(range(1, 9))
#: rho_D among ones: a word of the longest length carries nearly all of the sum of u.
LONGEST = 1e-4
#: Steps or draws that are timed at a time, and those before anything is timed.
BATCH, WARM_UP = 10, 20

Cell = tuple[int, int]
Times = dict[Cell, float]


class Draws:
    """Draws at one vector of dual coefficients: the target, which is a at theta = 0."""

    def __init__(self, family: ProductFamily, longest: bool) -> None:
        self._family, self._longest = family, longest
        self._a = noisy(ROWS, family.n_base)[1]
        self._rng = np.random.default_rng(0)
        self.letters = 0

    def take(self, count: int) -> float:
        begun = time.thread_time()
        drawn = [self._family.sample(self._a, self._rng) for _ in range(count)]
        taken = time.thread_time() - begun
        assert not self._longest or all(len(d.word) == self._family.degree for d in drawn)
        return taken


def contenders(r: int, degree: int) -> tuple[Draws, Draws, LongRun]:
    """Longest draw, usual draw, whole iteration."""
    rho = [1.0] * degree + [LONGEST]
    problem, usual = mirror_problem(ROWS, r, degree, rho=rho), mirror_problem(ROWS, r, degree)
    family = problem.family
    assert isinstance(family, ProductFamily)
    assert isinstance(usual.family, ProductFamily)
    solver = RandomizedMirrorDescent(certify_every=10_000)
    return Draws(family, True), Draws(usual.family, False), LongRun(solver, problem)


def measure(rounds: int) -> tuple[Times, Times, Times]:
    """Least seconds of the longest draw, the usual draw and the whole iteration."""
    best: tuple[Times, Times, Times] = ({}, {}, {})
    cells = {(r, degree): contenders(r, degree) for r in BASES for degree in DEGREES}
    for entries in cells.values():
        for entry in entries:
            entry.take(WARM_UP)
    for _ in range(rounds):
        for cell, entries in cells.items():
            for times, entry in zip(best, entries, strict=True):
                taken = entry.take(BATCH) / BATCH
                times[cell] = min(taken, times.get(cell, taken))
    return best


def show(title: str, times: Times) -> None:
    """Milliseconds by r and D."""
    print(f"\n{title}, milliseconds")
    print("    r " + "".join(f"{f'D = {d}':>9}" for d in DEGREES))
    for r in BASES:
        print(f"{r:5} " + "".join(f"{1e3 * times[r, d]:9.3f}" for d in DEGREES))


def increments(times: Times) -> bool:
    """Print what each degree beyond the third costs; whether all are within 50 % of the mean."""
    met = True
    print("\nincrements from D to D + 1 of the longest draw, milliseconds, and share of their mean")
    print("    r " + "".join(f"{f'{d} -> {d + 1}':>9}" for d in DEGREES[2:-1]) + "   range")
    for r in BASES:
        steps = [times[r, d + 1] - times[r, d] for d in DEGREES[2:-1]]
        shares = [step / (sum(steps) / len(steps)) for step in steps]
        equal = 0.5 <= min(shares) and max(shares) <= 1.5
        met = met and equal
        print(
            f"{r:5} "
            + "".join(f"{1e3 * step:9.3f}" for step in steps)
            + f"   {min(shares):.2f}..{max(shares):.2f} {'' if equal else 'outside'}"
        )
    return met


def slopes(name: str, times: Times) -> bool:
    """Print d log(time) / d log(r) between neighbours; whether none is above 1 but for noise."""
    print(f"\n{name}: exponent of r (1 is linear) between the numbers of features, and over all")
    worst = 0.0
    for a, b in [*zip(BASES, BASES[1:], strict=False), (BASES[0], BASES[-1])]:
        powers = [np.log(times[b, d] / times[a, d]) / np.log(b / a) for d in DEGREES]
        worst = max(powers) if (a, b) == (BASES[0], BASES[-1]) else worst
        print(f"{a:4} -> {b:3} " + "".join(f"{power:7.2f}" for power in powers))
    return worst <= 1.0


def families(times: Times) -> None:
    """Print cells of the same number r (D - 1) of columns that are multiplied."""
    print("\nlongest draw by r (D - 1), the columns that are multiplied with n x n matrices")
    by_work: dict[int, list[Cell]] = {}
    for r, d in times:
        if d >= 2:
            by_work.setdefault(r * (d - 1), []).append((r, d))
    for work, cells in sorted(by_work.items()):
        if len(cells) > 1 and work >= 100:
            line = "   ".join(
                f"{size(sum(r**e for e in range(d + 1)))} ({r}, {d}): {1e3 * times[r, d]:.2f} ms"
                for r, d in sorted(cells, reverse=True)
            )
            print(f"{work:5}   {line}")


def compare(rounds: int) -> None:
    """Print everything."""
    with one_thread():
        longest, usual, whole = measure(rounds)
    low, high = BASES[0], BASES[-1]
    print(
        f"n = {ROWS}, least of {rounds} rounds of {BATCH}; |I| from {low + 1} (r = {low}, D = 1) to "
        f"{size(sum(high**d for d in range(DEGREES[-1] + 1)))} (r = {high}, D = {DEGREES[-1]})"
    )
    show("draw of the longest word", longest)
    show("draw at the default penalty", usual)
    show("whole iteration with the longest words", whole)
    equal = increments(longest)
    linear = [slopes("longest draw", longest), slopes("whole iteration", whole)]
    families(longest)
    print(f"\nequal increments from D = 3 on: {verdict(equal)}")
    print(f"at most linear in r, from {low} to {high}, at every D: {verdict(all(linear))}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    compare(parser.parse_args().rounds)
