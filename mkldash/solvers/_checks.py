"""Checks of the mirror-descent solvers' hyper-parameters."""

from __future__ import annotations

import numbers

import numpy as np

from mkldash.errors import InputError
from mkldash.solvers.base import Solver

__all__ = ["check_choice", "check_positive", "check_whole"]

#: Least and largest factor on a step.
_FACTORS = (1e-6, 1e6)


def check_whole(solver: Solver, name: str, least: int) -> None:
    """Refuse what is not a whole number of at least `least`.

    Raises
    ------
    InputError
    """
    value = getattr(solver, name)
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")


def check_positive(solver: Solver, name: str) -> None:
    """Refuse what is not a positive number of a usable size.

    Raises
    ------
    InputError
    """
    value = getattr(solver, name)
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (number and _FACTORS[0] <= value <= _FACTORS[1]):
        raise InputError(
            f"{name} must be a positive number from {_FACTORS[0]:g} to {_FACTORS[1]:g}, "
            f"not {value!r}"
        )


def check_choice(solver: Solver, name: str, choices: tuple[str, ...]) -> None:
    """Refuse what is not one of `choices`.

    Raises
    ------
    InputError
    """
    value = getattr(solver, name)
    if value not in choices:
        raise InputError(f"{name} must be {' or '.join(choices)}, not {value!r}")
