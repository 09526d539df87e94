"""What can be chosen in each problem: one list of choices for the sidebar and the URL."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from mkldash.apps.choice import Choice
from mkldash.experiments.problem_kinds import PROBLEMS, every_solver, solvers_for
from mkldash.kernels.banks import BANKS, SINGLE
from mkldash.kernels.products import HIGHEST_DEGREE
from mkldash.solvers import available_solvers

__all__ = [
    "COSMETIC", "ETA", "SIMPLEX", "TABLE", "WEIGHT_NORM", "choices_of", "has_family",
    "kernels_of", "lost_table", "own_fraction", "solver_titles", "takes_single", "weights_by",
]  # fmt: skip

#: Choices that only change how fast or beside what it is shown, never the result.
COSMETIC = frozenset({"speed", "compare"})

#: Choices that only a person's own table takes.
TABLE = frozenset({"separator", "decimal", "header", "label", "positive", "missing", "text"})

#: What a bank is called where one kernel is the rule.
_BANK_TITLES: Mapping[str, str] = MappingProxyType(
    {
        SINGLE: "one Gaussian kernel",
        "paper": "paper: Gaussians and polynomials",
        "gaussian": "gaussian: ten widths",
        "linear": "linear: one per feature",
        "golden": "golden: four on all features",
    }
)

Names = Callable[[], Mapping[str, str]]

#: What decides how few kernels a solver keeps: eta, eta that must be 1, or a weight norm.
ETA, SIMPLEX, WEIGHT_NORM = "eta", "eta = 1", "weight_norm"


#: What a problem opens on.
_FIRST_DATA: Mapping[str, str] = MappingProxyType(
    {"binary": "two-moons", "regression": "known-products"}
)


@functools.cache
def _data_names(task: str) -> Mapping[str, str]:
    from mkldash.datasets.cards import available

    return {name: card.title for name, card in available().items() if card.task == task}


@functools.cache
def own_fraction(data: str) -> float | None:
    """Share of rows that trains if the data set's card says so."""
    from mkldash.datasets.cards import available

    card = available().get(data)
    found = None if card is None else card.defaults.get("train_fraction")
    return None if found is None else float(found)


def takes_single(problem: str) -> bool:
    """Whether the bank of one kernel makes sense in `problem`."""
    return PROBLEMS[problem].takes_rho


def has_family(problem: str) -> bool:
    """Whether the kernels of `problem` are products, and no bank."""
    return PROBLEMS[problem].has_family


def kernels_of(problem: str, values: Mapping[str, Any]) -> str:
    """What decides which solvers there are: the bank, or which kind of norm p is."""
    if not has_family(problem):
        return str(values["bank"])
    p = values["p"]
    return "p = 1" if p == 1.0 else "p = 2" if p == 2.0 else "p between 1 and 2"


@functools.cache
def solver_titles(problem: str, kernels: str) -> Mapping[str, str]:
    """Names and titles of the solvers that take `kernels` in `problem`, its default first.

    Parameters
    ----------
    problem : str
    kernels : str
        From `kernels_of`.
    """
    found = available_solvers()
    if has_family(problem):
        names = solvers_for(problem, p={"p = 1": 1.0, "p = 2": 2.0}.get(kernels, 1.5))
    else:
        names = every_solver(problem, kernels)
    return MappingProxyType({name: found[name].title for name in names})


@functools.cache
def weights_by(problem: str, kernels: str, solver: str) -> str:
    """Which parameter chooses the set of weights: `ETA`, `SIMPLEX` or `WEIGHT_NORM`."""
    if has_family(problem) or solver in solvers_for(problem, kernels):
        return ETA
    normed = solver in solvers_for(problem, kernels, weight_norm=2.0)
    return WEIGHT_NORM if normed else SIMPLEX


def _solver_names(problem: str) -> Names:
    """All solvers that take some bank of `problem`."""

    def names() -> Mapping[str, str]:
        family = ("p = 1", "p between 1 and 2", "p = 2")
        return {
            name: title
            for kernels in (family if has_family(problem) else _bank_names(problem)())
            for name, title in solver_titles(problem, kernels).items()
        }

    return names


def _bank_names(problem: str) -> Names:
    if takes_single(problem):
        ordered = sorted(BANKS, key=lambda name: name != SINGLE)
        return lambda: {name: _BANK_TITLES.get(name, name) for name in ordered}
    return lambda: {name: name for name in BANKS if name != SINGLE}


def _neighborhood(problem: str) -> tuple[Choice, ...]:
    """What only a problem with a neighborhood has."""
    kind = PROBLEMS[problem]
    return (
        Choice(
            name="rho", kind="number", default=kind.rho, label="ρ, price of leaving the kernel",
            bounds=(1e-6, 1e12), infinite=True,
            help="Small: the kernel may change much. The slider ends at 1,000,000; type inf for an "
            "infinite price, which is the plain support vector machine.",
        ),
        Choice(
            name="sigma_factor", kind="number", default=kind.sigma_factor,
            label="σ over the mean squared distance", bounds=(1e-3, 1e4),
            help="The kernel is exp(-‖x-x'‖²/σ); the paper takes 1, 4 and 16.",
        ),
        Choice(
            name="compare", kind="names", default=None, label="Compare with", optional=True,
            names=_solver_names(problem),
            help="These solve the same problem in the background, at full speed.",
        ),
    )  # fmt: skip


def _of_banks(problem: str) -> tuple[Choice, ...]:
    """What only a problem with a bank of kernels has."""
    kind = PROBLEMS[problem]
    return (
        Choice(
            name="bank", kind="name", default=kind.bank, label="Kernels",
            names=_bank_names(problem), help="Which kernels are combined.",
        ),
        Choice(
            name="eta", kind="number", default=0.5, label="η, from smooth (0) to sparse (1)",
            bounds=(0.0, 1.0), help="Elastic-net mixing of the kernel weights.",
        ),
        *(_weight_norm() if kind.takes("weight_norm") else ()),
        Choice(
            name="C", kind="number", default=kind.C, label="C, price of an error",
            bounds=(1e-8, 1e9), help="Weight of the hinge losses against smoothness.",
        ),
    )  # fmt: skip


def _weight_norm() -> tuple[Choice, ...]:
    """What some solvers take in the place of eta."""
    return (
        Choice(
            name="weight_norm", kind="number", default=2.0,
            label="P, weight norm, from sparse (1)", bounds=(1.0, 1000.0),
            help="The weights have ‖θ‖_P at most 1: P = 1 is η = 1, P = 2 is η = 0, and a large P "
            "gives every kernel about the same weight.",
        ),
    )  # fmt: skip


def _of_families(problem: str) -> tuple[Choice, ...]:
    """What only a problem over products has."""
    kind = PROBLEMS[problem]
    return (
        Choice(
            name="degree", kind="whole", default=kind.degree, label="D, most factors in a product",
            bounds=(1, HIGHEST_DEGREE), help="All products of up to so many features.",
        ),
        Choice(
            name="p", kind="number", default=kind.p, label="p, from few products (1) to all (2)",
            bounds=(1.0, 2.0), help="Norm over the products: 1 picks few, 2 keeps them all.",
        ),
        Choice(
            name="penalty", kind="number", default=kind.penalty, label="Penalty",
            bounds=(1e-8, 1e8), help="Price of the products against the squared error.",
        ),
        Choice(
            name="growth", kind="number", default=kind.growth, label="Growth",
            bounds=(1.0, 1e4),
            help="A product of d features costs penalty × growthᵈ. With 1, long products cost "
            "no more than short ones, and many of them hide the true ones for long.",
        ),
        Choice(
            name="standardize", kind="flag", default=True, label="Standardise the features",
            help="To mean 0 and standard deviation 1 on the training rows.",
        ),
    )  # fmt: skip


def _common(problem: str) -> tuple[Choice, ...]:
    kind = PROBLEMS[problem]
    task = kind.task
    of_kernels = _of_families(problem) if kind.has_family else _of_banks(problem)
    return (
        Choice(
            name="data", kind="name", default=_FIRST_DATA[task], label="Data set",
            names=lambda: _data_names(task),
            help="Shipped with mkldash; `mkldash data NAME` tells more.",
        ),
        *of_kernels,
        Choice(
            name="tol", kind="number", default=1e-6 if kind.takes_rho else kind.tol,
            label="Tolerance (relative gap)", bounds=(1e-10, 0.5),
            help="The run stops when the certified gap is below.",
        ),
        Choice(
            name="max_iter", kind="whole", default=kind.max_iter, label="Iteration limit",
            bounds=(1, 20_000 if kind.has_family else 5000),
            help="The run stops there in any case.",
        ),
        Choice(
            name="train_fraction", kind="number", default=0.6, label="Share of rows that train",
            bounds=(0.01, 1.0), help="The rest is for testing; 1 trains on every row.",
        ),
        Choice(
            name="seed", kind="whole", default=0, label="Seed of the split and of what is drawn",
            bounds=(0, 2**31 - 1),
            help="The same seed gives the same training and test rows, and the same draws.",
        ),
        Choice(
            name="solver", kind="name", default=kind.solver, label="Solver",
            names=_solver_names(problem),
        ),
        Choice(
            name="speed", kind="number", default=20.0 if kind.has_family else 12.0,
            label="Iterations per second", bounds=(0.5, 1000.0),
            help="A pace to watch; 1000 is as fast as it goes.",
        ),
    )  # fmt: skip


_OF_TABLES: tuple[Choice, ...] = (
    Choice(name="separator", kind="text", default=None, label="Separator", optional=True),
    Choice(name="decimal", kind="text", default=None, label="Decimal sign", optional=True),
    Choice(name="header", kind="flag", default=None, label="First line holds names", optional=True),
    Choice(name="label", kind="text", default=None, label="Label column", optional=True),
    Choice(name="positive", kind="text", default=None, label="Positive class", optional=True),
    Choice(
        name="missing", kind="name", default="error", label="Missing values",
        names=lambda: {
            "error": "refuse", "drop": "drop the rows", "mean": "fill in the mean",
        },
    ),
    Choice(
        name="text", kind="name", default="refuse", label="Text columns",
        names=lambda: {
            "refuse": "refuse", "exclude": "leave out", "one_hot": "one column per value",
        },
    ),
)  # fmt: skip


@functools.cache
def choices_of(problem: str) -> tuple[Choice, ...]:
    """Everything that can be chosen but the solver's own hyper-parameters.

    Parameters
    ----------
    problem : str
        A name of `mkldash.experiments.problem_kinds.PROBLEMS`.
    """
    kind = PROBLEMS[problem]
    own = _neighborhood(problem) if kind.takes_rho else ()
    tables = (c for c in _OF_TABLES if c.name != "positive" or kind.task == "binary")
    return (*_common(problem), *own, *tables)


def lost_table(name: str, instead: str) -> str:
    """Why a link's data are not there, and what is shown in their place."""
    if name.lower().endswith((".csv", ".txt", ".tsv", ".data")):
        return (
            f"The link was made with the table {name!r}, which only its owner has: "
            f"upload it again. Showing {instead!r}."
        )
    return f"There is no data set called {name!r}; showing {instead!r}."
