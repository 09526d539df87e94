"""Choices that the experiments on one kernel and its neighborhood share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mkldash.experiments.choices import Choices
from mkldash.experiments.problem_kinds import solvers_for
from mkldash.experiments.sweep import Run
from mkldash.kernels.banks import SINGLE

__all__ = ["DATA", "GRADIENT", "LEVEL", "all_rows", "neighborhood", "solvers"]

#: The paper's sets or what stands for them, by the number of rows.
DATA = ("liver-selector", "ionosphere", "pima", "hill-valley", "adult-a2a-like", "adult-a4a-like")

#: The paper's two methods.
LEVEL, GRADIENT = "level", "gradient"


def neighborhood(**more: Any) -> Choices:
    """The paper's kernel exp(-d2/sigma), sigma = 4 times the mean squared distance, C = 1."""
    said: dict[str, Any] = {"C": 1.0, "rho": 100.0, "sigma_factor": 4.0} | more
    return Choices(problem="neighborhood", bank=SINGLE, **said)


def solvers() -> tuple[str, ...]:
    """Names of the solvers that are for one kernel and its neighborhood alone.

    Those that learn weights take one kernel too, and then hand it to such a solver.
    """
    several = solvers_for("neighborhood", "paper")
    return tuple(name for name in solvers_for("neighborhood", SINGLE) if name not in several)


def all_rows(
    data: Sequence[str], repeats: int, *, tol: float, max_iter: int, time_limit: float
) -> Iterator[Run]:
    """Every solver on all rows of each data set; repeats differ in the order of the rows."""
    for name in data:
        for repeat in range(repeats):
            names = solvers()
            turn = repeat % len(names)
            for solver in names[turn:] + names[:turn]:
                choices = neighborhood(
                    data=name, solver=solver, train_fraction=1.0, seed=repeat, tol=tol,
                    max_iter=max_iter, time_limit=time_limit,
                )  # fmt: skip
                yield Run(choices=choices, repeat=repeat)
