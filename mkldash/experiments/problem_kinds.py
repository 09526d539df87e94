"""The problems there are, with the defaults that belong to each and the solvers that take it."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from mkldash.datasets.cards import suggest
from mkldash.errors import InputError
from mkldash.kernels.banks import SINGLE
from mkldash.kernels.dense import DenseBank
from mkldash.kernels.prediction import GivenPredictor
from mkldash.kernels.stored import BankFacts
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.base import WeightSet
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers import available_solvers

__all__ = ["PROBLEMS", "ProblemKind", "find_problem", "make_weight_set", "probe", "solvers_for"]


@dataclass(frozen=True, kw_only=True)
class ProblemKind:
    """A problem by name.

    Attributes
    ----------
    name, title : str
        On the command line, and on screen.
    solver, bank : str
        What is taken unless said otherwise.
    C : float
        Default price of the losses.
    rho : float
        Default strength of the neighborhood penalty; infinite: it has none.
    sigma_factor : float
        Default of the bank "single": sigma over the mean squared distance.
    per_row : bool
        Whether a kernel among several is scaled to trace n, so that the mean of
        its diagonal is 1, rather than to trace 1.
    """

    name: str
    title: str
    solver: str
    bank: str
    C: float
    rho: float = math.inf
    sigma_factor: float = 4.0
    per_row: bool = False

    @property
    def takes_rho(self) -> bool:
        """Whether the penalty is part of the problem."""
        return math.isfinite(self.rho)


PROBLEMS: Mapping[str, ProblemKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            ProblemKind(
                name="elastic-net",
                title="Elastic-net MKL",
                solver="block-coordinate",
                bank="paper",
                C=100.0,
            ),
            ProblemKind(
                name="neighborhood",
                title="Optimal neighborhood kernel",
                solver="shifted-svm",
                bank="single",
                C=1.0,
                rho=100.0,
                per_row=True,
            ),
        )
    }
)


def find_problem(name: str) -> ProblemKind:
    """The problem of that name.

    Raises
    ------
    InputError
        Naming the problems there are.
    """
    if name not in PROBLEMS:
        raise InputError(
            f"no problem is called '{name}'{suggest(name, PROBLEMS)}; "
            f"there are {', '.join(PROBLEMS)}"
        )
    return PROBLEMS[name]


def make_weight_set(kind: ProblemKind, n_kernels: int, eta: float) -> WeightSet:
    """The set of allowed weights: the single kernel of a neighborhood has weight 1."""
    if kind.takes_rho and n_kernels == 1:
        return Fixed((1.0,))
    return ElasticNet(eta)


@functools.cache
def probe(problem: str, several: bool) -> Problem:
    """The smallest problem of its kind, with one kernel or several, to ask solvers about."""
    kind, n_kernels = find_problem(problem), 2 if several else 1
    ones, kept = np.ones(n_kernels), np.arange(n_kernels)
    facts = BankFacts(
        names=("first", "second")[:n_kernels], terms=None, scales=ones, traces=2.0 * ones,
        kept=kept, n_given=n_kernels, dropped=(), warnings=(), n_rows=2, key="probe",
    )  # fmt: skip
    # Identities, packed by hand: nothing is compiled to ask a question.
    packed = np.tile(np.array([1.0, 0.0, 1.0]), (n_kernels, 1))
    bank = DenseBank(packed, facts, GivenPredictor(kept, n_kernels, 2))
    weight_set = make_weight_set(kind, n_kernels, 0.5)
    return Problem(bank, np.array([-1.0, 1.0]), Hinge(kind.C), weight_set, kind.rho)


def solvers_for(problem: str, bank: str | None = None) -> tuple[str, ...]:
    """Names of the solvers that take a problem, its default solver first.

    Parameters
    ----------
    problem : str
        A key of `PROBLEMS`.
    bank : str or None
        A name of `mkldash.kernels.banks.BANKS`; None: the problem's own.
    """
    kind = find_problem(problem)
    asked = probe(problem, (kind.bank if bank is None else bank) != SINGLE)
    names = [n for n, solver in available_solvers().items() if solver().supports(asked) is None]
    return tuple(sorted(names, key=lambda name: name != kind.solver))
