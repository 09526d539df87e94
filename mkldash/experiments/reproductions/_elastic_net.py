"""Runs and comparisons that the two elastic-net experiments share."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from mkldash.experiments.choices import Choices
from mkldash.experiments.problem_kinds import probe
from mkldash.experiments.reproductions._reading import joined, pick, title_of, values_of
from mkldash.experiments.reproductions.base import Record
from mkldash.experiments.sweep import Run
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers import available_solvers

__all__ = ["OURS", "PLANES", "cells", "fastest_words", "solvers_at", "sweep_runs"]

#: The paper's method, and the one that it is compared with.
OURS, PLANES = "block-coordinate", "cutting-plane"


def solvers_at(eta: float) -> tuple[str, ...]:
    """Names of the solvers that take the elastic net at this eta."""
    asked = dataclasses.replace(probe("elastic-net", True), weight_set=ElasticNet(eta))
    return tuple(n for n, kind in available_solvers().items() if kind().supports(asked) is None)


def sweep_runs(
    data: Sequence[str],
    etas: Sequence[float],
    repeats: int,
    *,
    tol: float,
    max_iter: int,
    time_limit: float,
) -> Iterator[Run]:
    """Every solver on the paper's kernels, C = 100 and 60 % of the rows."""
    for name in data:
        for repeat in range(repeats):
            for eta in etas:
                solvers = solvers_at(eta)
                turn = repeat % len(solvers)  # nobody is always first
                for solver in solvers[turn:] + solvers[:turn]:
                    choices = Choices(
                        data=name, solver=solver, bank="paper", eta=eta, C=100.0, seed=repeat,
                        tol=tol, max_iter=max_iter, time_limit=time_limit, train_fraction=0.6,
                    )  # fmt: skip
                    yield Run(choices=choices, repeat=repeat)


def cells(results: Sequence[Record]) -> Iterator[tuple[str, float, list[Record]]]:
    """The results of each data set and eta."""
    for data in values_of(results, "data"):
        for eta in sorted(values_of(pick(results, data=data), "eta")):
            yield data, eta, pick(results, data=data, eta=eta)


def fastest_words(winners: Sequence[str]) -> str:
    """Who was the fastest of all, and how often: ``second-order bundle 3, level set 1``."""
    order = sorted(set(winners), key=lambda name: (-winners.count(name), name))
    return joined([f"{title_of(name)} {winners.count(name)}" for name in order])
