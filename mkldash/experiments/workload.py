"""From choices to a problem that is ready to solve; command line and apps share it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.datasets.cards import suggest
from mkldash.datasets.splits import Split
from mkldash.errors import InputError, UnsupportedProblemError
from mkldash.experiments.banks_of_choices import given_kernels, table_kernels
from mkldash.experiments.choices import Choices
from mkldash.experiments.problem_kinds import make_loss, make_weight_set, probe, solvers_for
from mkldash.experiments.products_of_choices import table_products
from mkldash.experiments.sources import Source, read_source
from mkldash.kernels.banks import BANKS, SINGLE
from mkldash.kernels.base import KernelBank
from mkldash.kernels.family import KernelFamily
from mkldash.kernels.normalization import Standardizer
from mkldash.problems.losses.base import Loss
from mkldash.problems.problem import Problem
from mkldash.solvers import available_solvers
from mkldash.solvers.base import Solver
from mkldash.solvers.driver import one_blas_thread
from mkldash.solvers.stopping import StopRule

Array = NDArray[np.float64]

__all__ = [
    "PRODUCTS",
    "Cancelled",
    "Workload",
    "check_choices",
    "check_solver_name",
    "prepare",
]

#: What `Workload.storage` is for a family of products.
PRODUCTS = "products"


class Cancelled(Exception):
    """The preparation was cancelled; nothing was solved."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Workload:
    """A problem that is ready to solve, with what its result is measured on.

    Attributes
    ----------
    choices : Choices
    source : Source
        The data set, with its name and classes.
    split : Split
    bank_name : str
        A name of `mkldash.kernels.banks.BANKS`, "given" or "products".
    X_train : array, shape (n_train, n_features), or None
        Training rows as the kernels see them; None for given matrices.
    X_test : array, shape (n_test, n_features) or (n_given, n_test, n_train)
        Test rows as the kernels see them, or blocks of given matrices.
    y_train, y_test : array, shape (n_train,) and (n_test,)
        Labels, -1 or +1; for regression the standardised target.
    standardizer : Standardizer or None
    target : Standardizer or None
        What standardised the target, its one column; None for labels.
    problem : Problem
    solver : Solver
    stop : StopRule
    notes : tuple of str
        Sentences for the person: constant columns, dropped kernels, unequal
        traces, how missing values were filled.
    bank_seconds : float
        Time that building the bank took; 0 when it was at hand.
    sigma : float or None
        Of the kernel exp(-|x-x'|^2/sigma) of the bank "single".
    """

    choices: Choices
    source: Source
    split: Split
    bank_name: str
    X_train: Array | None
    X_test: Array
    y_train: Array
    y_test: Array
    standardizer: Standardizer | None
    target: Standardizer | None
    problem: Problem
    solver: Solver
    stop: StopRule
    notes: tuple[str, ...]
    bank_seconds: float
    sigma: float | None

    @property
    def bank(self) -> KernelBank:
        """The kernels where they are a bank; an error for a family of products."""
        return self.problem.bank

    @property
    def family(self) -> KernelFamily:
        """The kernels as a family; a bank is wrapped."""
        return self.problem.family

    @property
    def storage(self) -> str:
        """How the kernels are stored: as `KernelBank.storage`, or "products"."""
        return PRODUCTS if self.problem.has_family else self.problem.bank.storage


def prepare(
    choices: Choices,
    *,
    progress: Callable[[str], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Workload:
    """Load, split, standardise, build the kernels; everything before solving.

    Parameters
    ----------
    choices : Choices
    progress : callable, optional
        Gets a sentence before each part that takes time.
    cancelled : callable, optional
        Asked between the parts.

    Returns
    -------
    Workload

    Raises
    ------
    InputError
        For anything that cannot be used, naming it and the remedy.
    MemoryLimitError
        When the bank would not fit; raised before anything is built.
    Cancelled
        When `cancelled` said so.
    """

    def say(sentence: str) -> None:
        if cancelled is not None and cancelled():
            raise Cancelled("cancelled before solving")
        if progress is not None:
            progress(sentence)

    kind = choices.kind
    loss, stop, solver = check_choices(choices)
    refuse_early(choices, solver)
    say("reading the data")
    source = read_source(choices)
    if source.kernels is not None and not choices.solver_given:
        # Only now is it known how many matrices there are.
        several = "paper" if len(source.kernels) > 1 else None
        takers = solvers_for(choices.problem, several, weight_norm=choices.weight_norm)
        choices = dataclasses.replace(choices, solver=takers[0])
        solver = make_solver(choices)
    parts = source.split(choices)
    y = source.dataset.y
    make_kernels = given_kernels if source.kernels is not None else table_kernels
    with one_blas_thread():  # so that the kernels are the same to the last bit, whoever else runs
        seen = (table_products if kind.has_family else make_kernels)(choices, source, parts, say)
    if seen.target is not None:
        y = seen.target.transform(y[:, np.newaxis])[:, 0]
    n_kernels = seen.kernels.n_kernels if isinstance(seen.kernels, KernelBank) else 0
    weight_set = make_weight_set(kind, n_kernels, choices.eta, choices.p, choices.weight_norm)
    problem = Problem(seen.kernels, y[parts.train], loss, weight_set, choices.rho)
    reason = solver.supports(problem)
    if reason is not None:
        raise UnsupportedProblemError(reason)
    say("solving")
    return Workload(
        choices=choices,
        source=source,
        split=parts,
        bank_name=seen.name,
        X_train=seen.X_train,
        X_test=seen.X_test,
        y_train=problem.y,
        y_test=y[parts.test],
        standardizer=seen.standardizer,
        target=seen.target,
        problem=problem,
        solver=solver,
        stop=stop,
        notes=tuple(dict.fromkeys((*source.dataset.notes, *seen.notes, *seen.kernels.warnings))),
        bank_seconds=seen.seconds,
        sigma=seen.sigma,
    )


def check_choices(choices: Choices) -> tuple[Loss, StopRule, Solver]:
    """What can be made, and refused, before data are read.

    Raises
    ------
    InputError
        For a parameter, a solver or a bank that cannot be used.
    """
    kind = choices.kind
    loss = make_loss(kind, choices.C)
    # Refuses an eta that cannot be used.
    make_weight_set(kind, 2, choices.eta, choices.p, choices.weight_norm)
    stop = StopRule(tol=choices.tol, max_iter=choices.max_iter, time_limit=choices.time_limit)
    solver = make_solver(choices)
    check_bank_name(choices.bank)
    return loss, stop, solver


def refuse_early(choices: Choices, solver: Solver) -> None:
    """Refuse a solver that does not take the named kernels before they are built.

    Raises
    ------
    UnsupportedProblemError
        With the solver's reason, and the solvers that take them.
    """
    bank = choices.kind.bank if choices.bank is None else choices.bank
    if choices.gram is not None:
        return
    of_weights = (choices.p, choices.eta, choices.weight_norm)
    takers = solvers_for(choices.problem, bank, *of_weights)
    if choices.solver not in takers:
        reason = solver.supports(probe(choices.problem, bank != SINGLE, *of_weights))
        what = f"for {choices.problem}" if choices.kind.has_family else "for these kernels"
        if choices.weight_norm is not None:
            what = f"with a weight norm of {choices.weight_norm:g}"
        elif choices.eta is not None and choices.solver in solvers_for(
            choices.problem, bank, eta=1.0
        ):
            what = f"with eta = {choices.eta:g}"
        way = ", or the bank single" if choices.kind.takes_rho and bank != SINGLE else ""
        raise UnsupportedProblemError(
            f"{reason}; {what} take the solver {' or '.join(takers)}{way}"
        )


def make_solver(choices: Choices) -> Solver:
    """The solver that was chosen, with its hyper-parameters.

    Raises
    ------
    InputError
        For a solver or a hyper-parameter that does not exist.
    """
    check_solver_name(choices.solver)
    kind = available_solvers()[choices.solver]
    known = [f.name for f in dataclasses.fields(kind)]
    for name, _ in choices.solver_options:
        if name not in known:
            raise InputError(
                f"{choices.solver} has no option '{name}'{suggest(name, known)}; "
                f"it has {', '.join(known) or 'none'}"
            )
    seeded = {"seed": int(choices.seed)} if "seed" in known else {}
    return kind(**{**seeded, **dict(choices.solver_options)})


def check_solver_name(name: str) -> None:
    """Refuse a solver that does not exist.

    Raises
    ------
    InputError
        Naming the solvers there are.
    """
    solvers = available_solvers()
    if name not in solvers:
        raise InputError(
            f"no solver is called '{name}'{suggest(name, solvers)}; there are {', '.join(solvers)}"
        )


def check_bank_name(bank: str | None) -> None:
    """Refuse a bank that does not exist, before data are read.

    Raises
    ------
    InputError
        Naming the banks there are.
    """
    if bank is not None and bank not in BANKS:
        raise InputError(
            f"no bank is called '{bank}'{suggest(bank, BANKS)}; there are {', '.join(BANKS)}"
        )
