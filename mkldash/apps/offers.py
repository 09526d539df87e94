"""What can be chosen in each problem: one list of choices for the sidebar and the URL."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType

from mkldash.apps.choice import Choice
from mkldash.experiments.problem_kinds import PROBLEMS, solvers_for
from mkldash.kernels.banks import BANKS, SINGLE
from mkldash.solvers import available_solvers

__all__ = ["COSMETIC", "TABLE", "choices_of", "own_fraction", "solver_titles", "takes_single"]

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


@functools.cache
def _data_names() -> Mapping[str, str]:
    from mkldash.datasets.cards import available

    return {name: card.title for name, card in available().items() if card.task == "binary"}


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


@functools.cache
def solver_titles(problem: str, bank: str) -> Mapping[str, str]:
    """Names and titles of the solvers that take `bank` in `problem`, its default first."""
    found = available_solvers()
    return MappingProxyType({name: found[name].title for name in solvers_for(problem, bank)})


def _solver_names(problem: str) -> Names:
    """All solvers that take some bank of `problem`."""

    def names() -> Mapping[str, str]:
        return {
            name: title
            for bank in _bank_names(problem)()
            for name, title in solver_titles(problem, bank).items()
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


def _common(problem: str) -> tuple[Choice, ...]:
    kind = PROBLEMS[problem]
    return (
        Choice(
            name="data", kind="name", default="two-moons", label="Data set", names=_data_names,
            help="Shipped with mkldash; `mkldash data NAME` tells more.",
        ),
        Choice(
            name="bank", kind="name", default=kind.bank, label="Kernels",
            names=_bank_names(problem), help="Which kernels are combined.",
        ),
        Choice(
            name="eta", kind="number", default=0.5, label="η, from smooth (0) to sparse (1)",
            bounds=(0.0, 1.0), help="Elastic-net mixing of the kernel weights.",
        ),
        Choice(
            name="C", kind="number", default=kind.C, label="C, price of an error",
            bounds=(1e-8, 1e9), help="Weight of the hinge losses against smoothness.",
        ),
        Choice(
            name="tol", kind="number", default=1e-6 if kind.takes_rho else 1e-3,
            label="Tolerance (relative gap)", bounds=(1e-10, 0.5),
            help="The run stops when the certified gap is below.",
        ),
        Choice(
            name="max_iter", kind="whole", default=500, label="Iteration limit",
            bounds=(1, 5000), help="The run stops there in any case.",
        ),
        Choice(
            name="train_fraction", kind="number", default=0.6, label="Share of rows that train",
            bounds=(0.01, 1.0), help="The rest is for testing; 1 trains on every row.",
        ),
        Choice(
            name="seed", kind="whole", default=0, label="Seed of the split",
            bounds=(0, 2**31 - 1), help="The same seed gives the same training and test rows.",
        ),
        Choice(
            name="solver", kind="name", default=kind.solver, label="Solver",
            names=_solver_names(problem),
        ),
        Choice(
            name="speed", kind="number", default=12.0, label="Iterations per second",
            bounds=(0.5, 1000.0), help="A pace to watch; 1000 is as fast as it goes.",
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
    own = _neighborhood(problem) if PROBLEMS[problem].takes_rho else ()
    return (*_common(problem), *own, *_OF_TABLES)
