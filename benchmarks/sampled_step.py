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
import itertools
import time

import numpy as np

from benchmarks._mirror import LongRun, mirror_problem, noisy, one_thread, size, verdict
from mkldash.kernels.products import ProductFamily
from mkldash.solvers.mirror_descent import RandomizedMirrorDescent

ROWS = 500
BASES = (10, 20, 50, 100, 200)
DEGREES = tuple(range(1, 9))
#: rho_D among ones: a word of the longest length carries nearly all of the sum of u.
LONGEST = 1e-4
#: Steps or draws that are timed at a time, and those before anything is timed.
BATCH, WARM_UP = 10, 20

#: Why the cheapest cells are outside the targets, when they are.
SMALL = """Where products of fewer than D features are few (r = 10 up to D = 4, r = 20 up to D = 2),
they are listed, which costs less than products with n x n matrices: the step to the next r
or D is then higher than those that follow.  At D = 2 the law of a letter takes r x r numbers
until n x n is less."""

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


def contenders(r: int, degree: int) -> tuple[Draws | LongRun, ...]:
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


def increments(name: str, times: Times) -> str:
    """Print what each degree beyond the third costs; say which are not near their mean."""
    steps_of = {r: [times[r, d + 1] - times[r, d] for d in DEGREES[2:-1]] for r in BASES}
    outside = []
    print(
        f"\n{name}: increments from D to D + 1, milliseconds, and range of their shares of the mean"
    )
    print("    r " + "".join(f"{f'{d} -> {d + 1}':>9}" for d in DEGREES[2:-1]) + "   range")
    for r, steps in steps_of.items():
        shares = [step / (sum(steps) / len(steps)) for step in steps]
        numbers = "".join(f"{1e3 * step:9.3f}" for step in steps)
        print(f"{r:5} {numbers}   {min(shares):.2f}..{max(shares):.2f}")
        outside += [
            f"r = {r}, {d} -> {d + 1}"
            for d, share in zip(DEGREES[2:-1], shares, strict=True)
            if not 0.5 <= share <= 1.5
        ]
    exceptions = f" ({'; '.join(outside)})" if outside else ""
    return verdict(not outside) + exceptions


def slopes(name: str, times: Times) -> str:
    """Print the exponents of r; say whether those from the first r to the last are at most 1."""
    print(f"\n{name}: exponent of r (1 is linear), by D")
    over_all: list[float] = []
    for a, b in [*itertools.pairwise(BASES), (BASES[0], BASES[-1])]:
        over_all = [float(np.log(times[b, d] / times[a, d]) / np.log(b / a)) for d in DEGREES]
        print(f"{a:4} -> {b:3} " + "".join(f"{power:7.2f}" for power in over_all))
    above = [f"D = {d}" for d, power in zip(DEGREES, over_all, strict=True) if power > 1.0]
    return verdict(not above) + (f" ({', '.join(above)})" if above else "")


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
        f"n = {ROWS}, least of {rounds} rounds of {BATCH}; |I| from {low + 1} (r = {low}, D = 1) "
        f"to {size(sum(high**d for d in range(DEGREES[-1] + 1)))} (r = {high}, D = {DEGREES[-1]})"
    )
    show("draw of the longest word", longest)
    show("draw at the default penalty", usual)
    show("whole iteration with the longest words", whole)
    found = [
        f"{name}: {increments(name, times)} equal increments from D = 3 on; "
        f"{slopes(name, times)} at most linear in r from {low} to {high}"
        for name, times in (("longest draw", longest), ("whole iteration", whole))
    ]
    families(longest)
    print("\n" + "\n".join(found))
    print(SMALL)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    compare(parser.parse_args().rounds)
