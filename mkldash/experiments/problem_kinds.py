"""The problems there are, with the defaults that belong to each and the solvers that take it."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace

import numpy as np

from mkldash.datasets.cards import suggest
from mkldash.errors import InputError
from mkldash.kernels.banks import SINGLE
from mkldash.kernels.dense import DenseBank
from mkldash.kernels.prediction import GivenPredictor
from mkldash.kernels.products import FamilyFacts, ProductFamily
from mkldash.kernels.stored import BankFacts
from mkldash.problems.losses.base import Loss
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.base import WeightSet
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers import available_solvers

__all__ = [
    "OWNED",
    "PROBLEMS",
    "ProblemKind",
    "find_problem",
    "make_loss",
    "make_weight_set",
    "owners",
    "probe",
    "solvers_for",
    "takers",
]


@dataclass(frozen=True, kw_only=True)
class ProblemKind:
    """A problem by name.

    A parameter whose default is None has no meaning in the problem.

    Attributes
    ----------
    name, title : str
        On the command line, and on screen.
    solver, bank : str
        What is taken unless said otherwise.
    task : str
        Which data sets it takes: ``"binary"`` or ``"regression"``.
    tol, max_iter : float, int
        Defaults of the stop rule.
    eta, C : float or None
        Defaults of the elastic-net mixing and of the price of the losses.
    rho : float
        Default strength of the neighborhood penalty; infinite: it has none.
    sigma_factor : float or None
        Default of the bank "single": sigma over the mean squared distance.
    per_row : bool
        Whether a kernel among several is scaled to trace n, so that the mean of
        its diagonal is 1, rather than to trace 1.
    degree : int or None
        Default of the largest number of factors in a product.
    p, penalty, growth : float or None
        Defaults of the norm, and of rho_d^2 = penalty * growth^d.
    """

    name: str
    title: str
    solver: str
    bank: str
    task: str = "binary"
    tol: float = 1e-3
    max_iter: int = 500
    eta: float | None = None
    C: float | None = None
    rho: float = math.inf
    sigma_factor: float | None = None
    per_row: bool = False
    degree: int | None = None
    p: float | None = None
    penalty: float | None = None
    growth: float | None = None

    @property
    def takes_rho(self) -> bool:
        """Whether the penalty is part of the problem."""
        return math.isfinite(self.rho)

    @property
    def has_family(self) -> bool:
        """Whether its kernels are an implicit family of products, and no bank."""
        return self.degree is not None

    def takes(self, parameter: str) -> bool:
        """Whether one of `OWNED` has a meaning in the problem."""
        if parameter in ("bank", "gram"):
            return not self.has_family
        if parameter == "weight_norm":
            return not self.has_family and not self.takes_rho
        return getattr(self, parameter) not in (None, math.inf)


#: Parameters that have no meaning in some problem.
OWNED = (
    "bank", "gram", "eta", "weight_norm", "C", "rho", "sigma_factor",
    "degree", "p", "penalty", "growth",
)  # fmt: skip

#: The solver that a weight norm is for, whose closed form fits every norm.
_OF_WEIGHT_NORMS = "lp-norm"

PROBLEMS: Mapping[str, ProblemKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            ProblemKind(
                name="elastic-net",
                title="Elastic-net MKL",
                solver="block-coordinate",
                bank="paper",
                eta=0.5,
                C=100.0,
                sigma_factor=4.0,
            ),
            ProblemKind(
                name="neighborhood",
                title="Optimal neighborhood kernel",
                solver="shifted-svm",
                bank="single",
                eta=0.5,
                C=1.0,
                rho=100.0,
                sigma_factor=4.0,
                per_row=True,
            ),
            ProblemKind(
                name="products",
                title="Regression over product kernels",
                solver="mirror-descent",
                bank="products",
                task="regression",
                tol=1e-2,
                max_iter=2000,
                degree=3,
                p=1.0,
                penalty=1.0,
                growth=4.0,
            ),
        )
    }
)


def owners(parameter: str) -> str:
    """The problems in which a parameter has a meaning, in words."""
    return " and ".join(name for name, kind in PROBLEMS.items() if kind.takes(parameter))


def takers(task: str) -> tuple[str, ...]:
    """Names of the problems that take data sets of a task."""
    return tuple(name for name, kind in PROBLEMS.items() if kind.task == task)


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


def make_weight_set(
    kind: ProblemKind,
    n_kernels: int,
    eta: float | None = None,
    p: float | None = None,
    weight_norm: float | None = None,
) -> WeightSet:
    """The set of allowed weights: the single kernel of a neighborhood has weight 1.

    Parameters
    ----------
    kind : ProblemKind
    n_kernels : int
        Without effect on a family.
    eta, p : float or None
        Mixing of the elastic net; norm over the products.  None: the kind's own.
    weight_norm : float or None
        P of the ball ||theta||_P <= 1 that stands in the place of the elastic net.
    """
    if kind.has_family:
        return NormBall.of_p(_own(kind.p) if p is None else p)
    if weight_norm is not None:
        return NormBall(weight_norm)
    if kind.takes_rho and n_kernels == 1:
        return Fixed((1.0,))
    return ElasticNet(_own(kind.eta) if eta is None else eta)


def make_loss(kind: ProblemKind, C: float | None = None) -> Loss:
    """The loss of a problem: squared for numbers, else the hinge at price `C`."""
    if kind.has_family:
        return Squared()
    return Hinge(_own(kind.C) if C is None else C)


def _own(default: float | None) -> float:
    """A parameter that the problem has."""
    assert default is not None
    return default


@functools.cache
def probe(
    problem: str,
    several: bool,
    p: float | None = None,
    eta: float | None = None,
    weight_norm: float | None = None,
) -> Problem:
    """The smallest problem of its kind, with one kernel or several, to ask solvers about."""
    kind, n_kernels = find_problem(problem), 2 if several else 1
    weight_set, loss = make_weight_set(kind, n_kernels, eta, p, weight_norm), make_loss(kind)
    y = np.array([-1.0, 1.0])
    if kind.has_family:
        return Problem(_unbuilt_family(p == 1.0), y, loss, weight_set)
    ones, kept = np.ones(n_kernels), np.arange(n_kernels)
    facts = BankFacts(
        names=("first", "second")[:n_kernels], terms=None, scales=ones, traces=2.0 * ones,
        kept=kept, n_given=n_kernels, dropped=(), warnings=(), n_rows=2, key="probe",
    )  # fmt: skip
    # Identities, packed by hand: nothing is compiled to ask a question.
    packed = np.tile(np.array([1.0, 0.0, 1.0]), (n_kernels, 1))
    bank = DenseBank(packed, facts, GivenPredictor(kept, n_kernels, 2))
    return Problem(bank, y, loss, weight_set, kind.rho)


def _unbuilt_family(merged: bool) -> ProductFamily:
    """A family of two products without their numbers: building one compiles."""
    bases = SimpleNamespace(n_rows=2, n_base=1, degree=1, nbytes=0, rank_one=True)
    facts = FamilyFacts(base_names=("first",), merged=merged, rho=np.ones(2), key="probe")
    return ProductFamily(bases, facts)  # type: ignore[arg-type]


def every_solver(problem: str, bank: str | None = None) -> tuple[str, ...]:
    """`solvers_for`, and those that take some eta or some weight norm only."""
    names = solvers_for(problem, bank)
    if find_problem(problem).takes("weight_norm"):
        names += solvers_for(problem, bank, weight_norm=2.0) + solvers_for(problem, bank, eta=1.0)
    return tuple(dict.fromkeys(names))


def solvers_for(
    problem: str,
    bank: str | None = None,
    p: float | None = None,
    eta: float | None = None,
    weight_norm: float | None = None,
) -> tuple[str, ...]:
    """Names of the solvers that take a problem, its default solver first.

    Parameters
    ----------
    problem : str
        A key of `PROBLEMS`.
    bank : str or None
        A name of `mkldash.kernels.banks.BANKS`; None: the problem's own.
    p : float or None
        Norm over the products, where the problem has one; None: its default.
    eta, weight_norm : float or None
        As for `make_weight_set`.
    """
    kind = find_problem(problem)
    norm = kind.p if p is None else p
    several = (kind.bank if bank is None else bank) != SINGLE
    asked = probe(problem, several, norm, eta, weight_norm)
    names = [n for n, solver in available_solvers().items() if solver().supports(asked) is None]
    first = kind.solver if weight_norm is None else _OF_WEIGHT_NORMS
    return tuple(sorted(names, key=lambda name: name != first))
