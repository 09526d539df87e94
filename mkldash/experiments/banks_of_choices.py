"""From choices and rows to a bank, and the data as its kernels see them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.datasets.splits import Split
from mkldash.errors import InputError, MemoryLimitError
from mkldash.experiments.bank_cache import BankCache, content_key
from mkldash.experiments.choices import Choices
from mkldash.experiments.sources import Source
from mkldash.experiments.warming import warm_up_bank
from mkldash.kernels.banks import SINGLE, make_terms, mean_squared_distance
from mkldash.kernels.base import KernelBank, KernelTerm
from mkldash.kernels.building import build_bank
from mkldash.kernels.checks import check_gram
from mkldash.kernels.cholesky import PROBE_ROWS
from mkldash.kernels.family import KernelFamily
from mkldash.kernels.naming import gram_label
from mkldash.kernels.normalization import (
    ConstantKernelWarning,
    Standardizer,
    constant_columns,
)
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.kernels.square import build_square, given_square

Array = NDArray[np.float64]

__all__ = [
    "Seen",
    "features_of",
    "given_kernels",
    "keep_one_bank",
    "table_kernels",
    "ways_out",
]

#: Least and largest sigma: its square root is a width, which is squared again.
_SIGMAS = (1e-100, 1e100)

#: Bytes of banks kept for the next change of eta or C, for the whole process.
CACHE_LIMIT = 2**30

_BANKS = BankCache(CACHE_LIMIT)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Kernels, and the data as they see them; see `mkldash.experiments.workload.Workload`."""

    kernels: KernelBank | KernelFamily
    name: str
    seconds: float
    X_train: Array | None
    X_test: Array
    standardizer: Standardizer | None
    target: Standardizer | None = None
    sigma: float | None = None
    notes: tuple[str, ...] = ()


def keep_one_bank(limit: int) -> None:
    """Keep the last bank alone, up to `limit` bytes: for runs that come bank by bank."""
    _BANKS.limit, _BANKS.most = limit, 1


def _keep_quiet() -> None:
    """Banks built here say nothing aloud: their sentences become notes.

    A filter, unlike ``warnings.catch_warnings``, may be set from several threads.
    It goes by category alone, as the warning points to whoever called mkldash.
    """
    warnings.filterwarnings("ignore", category=ConstantKernelWarning)


def table_kernels(
    choices: Choices, source: Source, parts: Split, say: Callable[[str], None]
) -> Seen:
    """The named bank on the features of a table."""
    kind = choices.kind
    # A card suggests kernels to combine; a problem of one kernel has its own.
    usual = kind.bank if kind.bank == SINGLE else str(source.defaults.get("bank", kind.bank))
    name = choices.bank or usual
    X_train, X_test, standardizer = features_of(choices, source, parts)
    sigma = _sigma(choices.sigma_factor, X_train) if name == SINGLE else None
    terms = make_terms(name, source.dataset.feature_names, sigma)
    bank, seconds = _stored(choices, source, name, X_train, terms, len(parts.test), say)
    return Seen(
        kernels=bank,
        name=name,
        seconds=seconds,
        X_train=X_train,
        X_test=X_test,
        standardizer=standardizer,
        sigma=sigma,
        notes=_constant_note(X_train, source.dataset.feature_names) if sigma is not None else (),
    )


def features_of(
    choices: Choices, source: Source, parts: Split
) -> tuple[Array, Array, Standardizer | None]:
    """Training and test rows as the kernels see them, and what standardised them."""
    X_train, X_test = source.dataset.X[parts.train], source.dataset.X[parts.test]
    standardize = choices.standardize
    if standardize is None:
        # Distances between rows of bits count where they differ, as the paper has it.
        bits = choices.kind.takes_rho and bool(np.isin(source.dataset.X, (0.0, 1.0)).all())
        standardize = bool(source.defaults.get("standardize", not bits))
    if not standardize:
        return X_train, X_test, None
    standardizer = Standardizer.fit(X_train)
    return standardizer.transform(X_train), standardizer.transform(X_test), standardizer


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
            fewer = [] if name in ("linear", SINGLE) else ["fewer kernels (--bank linear)"]
            raise MemoryLimitError(f"{needs} Ways out: {ways_out(fewer, choices)}.") from error

    begun = time.perf_counter()
    # The limit counts the test blocks too: a bank that was allowed once must
    # not answer for choices that would be refused.
    bank = _BANKS.get(content_key(X, terms, storage, normalize, limit, n_test), build)
    return bank, time.perf_counter() - begun


def ways_out(fewer: Sequence[str], choices: Choices) -> str:
    """What a person can choose so that the kernels get smaller, `fewer` first."""
    if choices.rows is not None:
        return " or ".join([*fewer, "fewer rows in --rows"])
    smaller = choices.train_fraction is not None and choices.train_fraction <= 0.1
    how = "a smaller --train-fraction" if smaller else "such as --train-fraction 0.1"
    return " or ".join([*fewer, f"fewer training rows ({how})"])


def given_kernels(
    choices: Choices, source: Source, parts: Split, say: Callable[[str], None]
) -> Seen:
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
    return Seen(
        kernels=bank,
        name="given",
        seconds=time.perf_counter() - begun,
        X_train=None,
        X_test=blocks,
        standardizer=None,
    )
