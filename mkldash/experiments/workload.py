"""From choices to a problem that is ready to solve; command line and apps share it."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.datasets.cards import suggest
from mkldash.datasets.splits import Split
from mkldash.errors import InputError, MemoryLimitError
from mkldash.experiments.bank_cache import BankCache, content_key
from mkldash.experiments.choices import Choices
from mkldash.experiments.problem_kinds import make_weight_set, probe, solvers_for
from mkldash.experiments.sources import Source, read_source
from mkldash.experiments.warming import warm_up_bank
from mkldash.kernels.banks import BANKS, SINGLE, make_terms, mean_squared_distance
from mkldash.kernels.base import KernelBank, KernelTerm
from mkldash.kernels.building import build_bank
from mkldash.kernels.checks import check_gram
from mkldash.kernels.cholesky import PROBE_ROWS
from mkldash.kernels.naming import gram_label
from mkldash.kernels.normalization import (
    ConstantKernelWarning,
    Standardizer,
    constant_columns,
)
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.kernels.square import build_square, given_square
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers import available_solvers
from mkldash.solvers.base import Solver
from mkldash.solvers.stopping import StopRule

Array = NDArray[np.float64]

__all__ = ["Cancelled", "Workload", "prepare"]

#: Least and largest sigma: its square root is a width, which is squared again.
_SIGMAS = (1e-100, 1e100)

#: Bytes of banks kept for the next change of eta or C, for the whole process.
CACHE_LIMIT = 2**30

_BANKS = BankCache(CACHE_LIMIT)


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
    bank : KernelBank
    bank_name : str
        A name of `mkldash.kernels.banks.BANKS`, or "given".
    X_train : array, shape (n_train, n_features), or None
        Training rows as the kernels see them; None for given matrices.
    X_test : array, shape (n_test, n_features) or (n_given, n_test, n_train)
        Test rows as the kernels see them, or blocks of given matrices.
    y_train, y_test : array, shape (n_train,) and (n_test,)
        Labels, -1 or +1.
    standardizer : Standardizer or None
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
    bank: KernelBank
    bank_name: str
    X_train: Array | None
    X_test: Array
    y_train: Array
    y_test: Array
    standardizer: Standardizer | None
    problem: Problem
    solver: Solver
    stop: StopRule
    notes: tuple[str, ...]
    bank_seconds: float
    sigma: float | None


@dataclass(frozen=True, kw_only=True)
class _Kernels:
    """A bank, and the data as it sees them."""

    bank: KernelBank
    name: str
    seconds: float
    X_train: Array | None
    X_test: Array
    standardizer: Standardizer | None
    sigma: float | None = None
    notes: tuple[str, ...] = ()


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

    loss = Hinge(choices.C)
    ElasticNet(choices.eta)  # refuses an eta that cannot be used, before data are read
    stop = StopRule(tol=choices.tol, max_iter=choices.max_iter, time_limit=choices.time_limit)
    solver = make_solver(choices)
    check_bank_name(choices.bank)
    refuse_early(choices, solver)
    say("reading the data")
    source = read_source(choices)
    if source.kernels is not None and not choices.solver_given:
        # Only now is it known how many matrices there are.
        several = "paper" if len(source.kernels) > 1 else None
        choices = dataclasses.replace(choices, solver=solvers_for(choices.problem, several)[0])
        solver = make_solver(choices)
    parts = source.split(choices)
    y = source.dataset.y
    kernels = _given_kernels if source.kernels is not None else _table_kernels
    seen = kernels(choices, source, parts, say)
    weight_set = make_weight_set(choices.kind, seen.bank.n_kernels, choices.eta)
    problem = Problem(seen.bank, y[parts.train], loss, weight_set, choices.rho)
    reason = solver.supports(problem)
    if reason is not None:
        raise InputError(reason)
    say("solving")
    return Workload(
        choices=choices,
        source=source,
        split=parts,
        bank=seen.bank,
        bank_name=seen.name,
        X_train=seen.X_train,
        X_test=seen.X_test,
        y_train=problem.y,
        y_test=y[parts.test],
        standardizer=seen.standardizer,
        problem=problem,
        solver=solver,
        stop=stop,
        notes=tuple(dict.fromkeys((*source.dataset.notes, *seen.notes, *seen.bank.warnings))),
        bank_seconds=seen.seconds,
        sigma=seen.sigma,
    )


def refuse_early(choices: Choices, solver: Solver) -> None:
    """Refuse a solver that does not take the named kernels before they are built.

    Raises
    ------
    InputError
        With the solver's reason, and the solvers that take them.
    """
    bank = choices.kind.bank if choices.bank is None else choices.bank
    if choices.gram is not None:
        return
    takers = solvers_for(choices.problem, bank)
    if choices.solver not in takers:
        reason = solver.supports(probe(choices.problem, bank != SINGLE))
        way = ", or --bank single" if choices.kind.takes_rho and bank != SINGLE else ""
        raise InputError(f"{reason}; for these kernels take --solver {' or '.join(takers)}{way}")


def make_solver(choices: Choices) -> Solver:
    """The solver that was chosen, with its hyper-parameters.

    Raises
    ------
    InputError
        For a solver or a hyper-parameter that does not exist.
    """
    solvers = available_solvers()
    if choices.solver not in solvers:
        raise InputError(
            f"no solver is called '{choices.solver}'{suggest(choices.solver, solvers)}; "
            f"there are {', '.join(solvers)}"
        )
    kind = solvers[choices.solver]
    known = [f.name for f in dataclasses.fields(kind)]
    for name, _ in choices.solver_options:
        if name not in known:
            raise InputError(f"{choices.solver} has no option '{name}'{suggest(name, known)}")
    return kind(**dict(choices.solver_options))


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


def _keep_quiet() -> None:
    """Banks built here say nothing aloud: their sentences become notes.

    A filter, unlike ``warnings.catch_warnings``, may be set from several threads.
    It goes by category alone, as the warning points to whoever called mkldash.
    """
    warnings.filterwarnings("ignore", category=ConstantKernelWarning)


def _table_kernels(
    choices: Choices, source: Source, parts: Split, say: Callable[[str], None]
) -> _Kernels:
    """The named bank on the features of a table."""
    kind = choices.kind
    # A card suggests kernels to combine; a problem of one kernel has its own.
    usual = kind.bank if kind.bank == SINGLE else str(source.defaults.get("bank", kind.bank))
    name = choices.bank or usual
    X_train, X_test = source.dataset.X[parts.train], source.dataset.X[parts.test]
    standardizer = None
    standardize = choices.standardize
    if standardize is None:
        # Distances between rows of bits count where they differ, as the paper has it.
        bits = kind.takes_rho and bool(np.isin(source.dataset.X, (0.0, 1.0)).all())
        standardize = bool(source.defaults.get("standardize", not bits))
    if standardize:
        standardizer = Standardizer.fit(X_train)
        X_train, X_test = standardizer.transform(X_train), standardizer.transform(X_test)
    sigma = _sigma(choices.sigma_factor, X_train) if name == SINGLE else None
    terms = make_terms(name, source.dataset.feature_names, sigma)
    bank, seconds = _stored(choices, source, name, X_train, terms, len(parts.test), say)
    return _Kernels(
        bank=bank,
        name=name,
        seconds=seconds,
        X_train=X_train,
        X_test=X_test,
        standardizer=standardizer,
        sigma=sigma,
        notes=_constant_note(X_train, source.dataset.feature_names) if sigma is not None else (),
    )


def _sigma(factor: float, X: Array) -> float:
    """sigma of the kernel exp(-|x-x'|^2/sigma) on the training rows."""
    sigma = factor * mean_squared_distance(X)
    if not _SIGMAS[0] <= sigma <= _SIGMAS[1]:
        raise InputError(
            f"sigma factor {factor:g} makes sigma {sigma:g}, which cannot be used; "
            "the paper takes factors 1, 4 and 16"
        )
    return sigma


def _constant_note(X: Array, names: tuple[str, ...]) -> tuple[str, ...]:
    """A sentence on the columns that a kernel of distances does not see."""
    found = [name for name, still in zip(names, constant_columns(X), strict=True) if still]
    if not found:
        return ()
    shown = ", ".join(found[:4]) + (f" and {len(found) - 4} more" if len(found) > 4 else "")
    verb = "is" if len(found) == 1 else "are"
    return (f"{shown} {verb} constant on the training rows: without effect on the kernel",)


def _stored(
    choices: Choices,
    source: Source,
    name: str,
    X: Array,
    terms: tuple[KernelTerm, ...],
    n_test: int,
    say: Callable[[str], None],
) -> tuple[KernelBank, float]:
    """The bank of `terms`, built or found again, and the seconds that took."""
    square = choices.kind.per_row and len(terms) == 1
    storage = "square" if square else str(source.defaults.get("storage", "auto"))
    warm_up_bank(probing=storage not in ("dense", "square") and len(X) > PROBE_ROWS)
    noun = "kernel" if len(terms) == 1 else "kernels"
    say(f"building {len(terms)} {noun} on {len(X)} training rows")
    limit = choices.memory_limit
    normalize = float(len(X)) if choices.kind.per_row else True

    def build() -> KernelBank:
        _keep_quiet()
        try:
            if square:
                return build_square(X, terms[0], memory_limit=limit, n_test=n_test)
            return build_bank(
                X, terms, storage=storage, normalize=normalize, memory_limit=limit, n_test=n_test
            )
        except MemoryLimitError as error:
            # The library's ways out are arguments that neither command line nor apps have.
            needs, _, _ = str(error).partition(" Ways out:")
            raise MemoryLimitError(f"{needs} Ways out: {_ways_out(name, choices)}.") from error

    begun = time.perf_counter()
    # The limit counts the test blocks too: a bank that was allowed once must
    # not answer for choices that would be refused.
    bank = _BANKS.get(content_key(X, terms, storage, normalize, limit, n_test), build)
    return bank, time.perf_counter() - begun


def _ways_out(bank: str, choices: Choices) -> str:
    """What a person can choose so that the bank gets smaller."""
    fewer = ["fewer kernels (--bank linear)"] if bank not in ("linear", SINGLE) else []
    if choices.rows is not None:
        return " or ".join([*fewer, "fewer rows in --rows"])
    smaller = choices.train_fraction is not None and choices.train_fraction <= 0.1
    how = "a smaller --train-fraction" if smaller else "such as --train-fraction 0.1"
    return " or ".join([*fewer, f"fewer training rows ({how})"])


def _given_kernels(
    choices: Choices, source: Source, parts: Split, say: Callable[[str], None]
) -> _Kernels:
    """Matrices that the person gave, cut to the training rows."""
    matrices = source.kernels or ()
    say(f"checking {len(matrices)} kernel matrices")
    begun = time.perf_counter()
    if len(parts.test):
        # The bank checks what it holds, and that leaves out the test rows.
        named = zip(matrices, source.kernel_names, strict=True)
        matrices = tuple(
            check_gram(matrix, gram_label(k, name))[0] for k, (matrix, name) in enumerate(named)
        )
    _keep_quiet()
    train = np.ix_(parts.train, parts.train)
    per_row = choices.kind.per_row
    bank: KernelBank
    if per_row and len(matrices) == 1 and not choices.normalize:
        bank = given_square(matrices[0][train], source.kernel_names[0])
    else:
        trace = float(len(parts.train)) if per_row else True
        bank = precomputed_bank(
            [matrix[train] for matrix in matrices],
            source.kernel_names,
            normalize=trace if choices.normalize else False,
        )
    blocks = np.stack([matrix[np.ix_(parts.test, parts.train)] for matrix in matrices])
    return _Kernels(
        bank=bank,
        name="given",
        seconds=time.perf_counter() - begun,
        X_train=None,
        X_test=blocks,
        standardizer=None,
    )
