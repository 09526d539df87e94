"""Checks of what a product family is asked to be, and what follows from them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.errors import InputError, MemoryLimitError
from mkldash.kernels.base import Array

__all__ = [
    "HIGHEST_DEGREE",
    "FamilyFacts",
    "base_notes",
    "check_memory",
    "keyed",
    "make_facts",
    "mean_diagonal",
]

#: Largest degree that a family may have.
HIGHEST_DEGREE = 20

#: Least and largest penalty: beyond, K + I is K or I in double precision.
_PENALTIES = (1e-15, 1e15)


@dataclass(frozen=True, eq=False)
class FamilyFacts:
    """The attributes of a product family that do not depend on its base kernels.

    Parameters
    ----------
    base_names : tuple of str
    merged : bool
    rho : array, shape (degree + 1,)
    key : str
    warnings : tuple of str
    """

    base_names: tuple[str, ...]
    merged: bool
    rho: Array
    key: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def degree(self) -> int:
        """Most factors in a product."""
        return len(self.rho) - 1


def make_facts(
    n_base: int,
    base_names: Sequence[str] | None,
    degree: int,
    penalty: float,
    growth: float,
    rho: Sequence[float] | None,
    merged: bool,
) -> FamilyFacts:
    """The facts, checked; the parameters are those of `product_family`."""
    whole = isinstance(degree, Integral) and not isinstance(degree, bool | np.bool_)
    if not whole or not 0 <= degree <= HIGHEST_DEGREE:
        raise InputError(
            f"degree must be a whole number from 0 to {HIGHEST_DEGREE}, got {degree!r}"
        )
    names = _names(base_names, n_base)
    if rho is None:
        if not (_is_number(penalty) and penalty > 0.0):
            raise InputError(f"penalty must be a positive finite number, got {penalty!r}")
        if not _PENALTIES[0] <= penalty <= _PENALTIES[1]:
            raise InputError(
                f"penalty must lie between {_PENALTIES[0]:g} and {_PENALTIES[1]:g}, got "
                f"{penalty!r}: beyond, the digits of the ridge solution are lost"
            )
        if not (_is_number(growth) and growth >= 1.0):
            raise InputError(f"growth must be a finite number of at least 1, got {growth!r}")
        try:
            squares = [float(penalty) * float(growth) ** d for d in range(int(degree) + 1)]
        except OverflowError:
            squares = [math.inf]
        values = np.sqrt(squares)
        what = "penalty growth^degree"
    else:
        values, what = _given_rho(rho, int(degree)), "rho squared"
    with np.errstate(over="ignore", under="ignore"):
        usable = np.isfinite(values**2) & (values**2 >= np.finfo(np.float64).tiny)
    if not usable.all():
        raise InputError(f"{what} leaves the range of double precision; choose it nearer to one")
    return FamilyFacts(names, bool(merged), values)


def _given_rho(rho: Sequence[float], degree: int) -> Array:
    try:
        values = np.array(rho, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"rho must be a sequence of numbers: {error}") from error
    if values.shape != (degree + 1,):
        raise InputError(
            f"rho must have {degree + 1} values, one for each degree from 0 to {degree}, "
            f"got shape {values.shape}"
        )
    if not (np.isfinite(values).all() and (values > 0.0).all()):
        raise InputError(f"rho must be positive and finite, got {values.tolist()}")
    return values


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _names(base_names: Sequence[str] | None, n_base: int) -> tuple[str, ...]:
    if base_names is None:
        return tuple(f"x{j}" for j in range(n_base))
    if isinstance(base_names, str):
        raise InputError(f"base_names must be a sequence of names, got the text {base_names!r}")
    names = tuple(str(name) for name in base_names)
    if len(names) != n_base:
        raise InputError(f"base_names has {len(names)} names for {n_base} base kernels")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"base_names holds {name!r} more than once; rename one")
    return names


def base_notes(zero: ArrayLike, constant: ArrayLike, names: Sequence[str]) -> tuple[str, ...]:
    """Sentences on base kernels that are zero, and on others that are constant, (r,) each."""
    none = np.asarray(zero, dtype=bool)
    same = np.asarray(constant, dtype=bool) & ~none
    notes = []
    if none.any():
        said = _listed([names[j] for j in np.flatnonzero(none).tolist()])
        notes.append(f"zero on all rows, so that no product with them gets weight: {said}")
    if same.any():
        said = _listed([names[j] for j in np.flatnonzero(same).tolist()])
        notes.append(
            f"constant, so that products with them repeat shorter ones: {said}; leave them out"
        )
    return tuple(notes)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def mean_diagonal(diagonal: Array, degree: int, scale: bool) -> float:
    """What the base kernels are divided by, from the diagonal of their sum (n_rows,).

    Raises
    ------
    InputError
        If the sum is zero or not finite, or its powers would not be.
    """
    mean = float(diagonal.mean())
    if not math.isfinite(mean):
        raise InputError("the base kernels overflow; standardise the features (or rescale them)")
    if mean == 0.0:
        raise InputError(
            "every base kernel is zero: there is nothing to learn from; give at least one feature "
            "that is not the same in all rows"
        )
    divisor = mean if scale else 1.0
    with np.errstate(over="ignore"):
        top = np.float64(diagonal.max() / divisor) ** max(degree, 1) * len(diagonal) ** 2
    if not (np.isfinite(top) and np.isfinite(1.0 / divisor)):
        raise InputError(
            f"products of {degree} base kernels leave the range of double precision; "
            + ("lower the degree or standardise" if scale else "set scale=True or standardise")
        )
    return divisor


def keyed(
    facts: FamilyFacts, notes: tuple[str, ...], kind: str, scale: bool, *arrays: NDArray
) -> FamilyFacts:
    """The facts with their warnings and the hash of all content."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array).data)
    described = (kind, facts.base_names, facts.merged, facts.rho.tolist(), bool(scale))
    digest.update(repr(described).encode())
    return replace(facts, key=digest.hexdigest(), warnings=facts.warnings + notes)


def check_memory(needed: int, limit: int, ways: str) -> None:
    """Refuse a family that does not fit, before anything of its size is allocated.

    Raises
    ------
    MemoryLimitError
        With both numbers and the ways out.
    """
    if needed > limit:
        raise MemoryLimitError(
            f"the product family needs {needed:,} bytes (its base kernels and the powers of their "
            f"sum), the limit is {limit:,}. Ways out: a subsample of the rows, {ways}, or a "
            "higher memory_limit."
        )
