"""Checks of an estimator's parameters, made in ``fit``: a constructor only stores."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from mkldash.errors import InputError
from mkldash.kernels.building import STORAGES
from mkldash.kernels.checks import REPAIRS
from mkldash.solvers import available_solvers
from mkldash.solvers.base import Solver
from mkldash.solvers.stopping import StopRule

__all__ = [
    "check_at_least",
    "check_between",
    "check_eta",
    "check_memory_limit",
    "check_parameters",
    "check_positive",
    "check_stop",
    "check_switch",
    "check_whole",
    "make_solver",
]


def check_parameters(model: Any) -> None:
    """Refuse parameters of a wrong type, of those that all have, before anything is read.

    Parameters
    ----------
    model : KernelClassifier
        Values of the right type that are out of range are left to what uses them.

    Raises
    ------
    InputError
        Names the parameter, what it got and what it may be.
    """
    if not _is_number(model.C):
        raise _wrong(model, "C", "a positive number")
    check_memory_limit(model)
    for name in ("standardize", "warm_start"):
        check_switch(model, name)
    if not (isinstance(model.normalize, bool | np.bool_) or _is_text(model.normalize, ("auto",))):
        raise _wrong(model, "normalize", "True, False or 'auto'")
    if not _is_text(model.storage, STORAGES):
        raise _wrong(model, "storage", f"one of {', '.join(map(repr, STORAGES))}")
    if not (model.repair is None or _is_text(model.repair, REPAIRS)):
        raise _wrong(model, "repair", f"None or {' or '.join(map(repr, REPAIRS))}")


def check_stop(model: Any) -> StopRule:
    """The stop rule of an estimator; refuses `tol`, `max_iter` and `time_limit`.

    Parameters
    ----------
    model : estimator

    Raises
    ------
    InputError
        Names the parameter, what it got and what it may be.
    """
    if not _is_number(model.tol):
        raise _wrong(model, "tol", "a positive number")
    if not (isinstance(model.max_iter, Integral) and _is_number(model.max_iter)):
        raise _wrong(model, "max_iter", "a whole number, at least 0")
    if not (model.time_limit is None or _is_number(model.time_limit)):
        raise _wrong(model, "time_limit", "None or a positive number of seconds")
    return StopRule(tol=model.tol, max_iter=int(model.max_iter), time_limit=model.time_limit)


def check_eta(model: Any) -> None:
    """Refuse an `eta` of a wrong type.

    Parameters
    ----------
    model : KernelClassifier
        One out of range is left to the weight set.

    Raises
    ------
    InputError
        With what it got and what it may be.
    """
    if not _is_number(model.eta):
        raise InputError(f"eta must lie between 0 and 1, not {_shown(model.eta)}")


def check_memory_limit(model: Any) -> None:
    """Refuse a `memory_limit` that is no number of bytes.

    Parameters
    ----------
    model : estimator

    Raises
    ------
    InputError
        With what it got and what it may be.
    """
    limit = model.memory_limit
    if not (_is_number(limit) and math.isfinite(limit) and limit > 0 and limit == int(limit)):
        raise _wrong(model, "memory_limit", "a whole number of bytes, such as 4 * 2**30")


def check_switch(model: Any, name: str) -> None:
    """Refuse a parameter that is neither True nor False.

    Parameters
    ----------
    model : estimator
    name : str
        Of the parameter.

    Raises
    ------
    InputError
        Names the parameter and what it got.
    """
    if not isinstance(getattr(model, name), bool | np.bool_):
        raise _wrong(model, name, "True or False")


def check_whole(model: Any, name: str, least: int) -> None:
    """Refuse a parameter that is no whole number from `least` on.

    Parameters
    ----------
    model : estimator
    name : str
        Of the parameter.
    least : int
        Smallest value allowed.

    Raises
    ------
    InputError
        Names the parameter, what it got and what it may be.
    """
    value = getattr(model, name)
    if not (isinstance(value, Integral) and _is_number(value) and int(value) >= least):
        raise _wrong(model, name, f"a whole number, at least {least}")


def check_at_least(model: Any, name: str, least: float) -> None:
    """Refuse a parameter that is no finite number from `least` on.

    Parameters
    ----------
    model : estimator
    name : str
        Of the parameter.
    least : float
        Smallest value allowed.

    Raises
    ------
    InputError
        Names the parameter, what it got and what it may be.
    """
    value = getattr(model, name)
    if not (_is_number(value) and math.isfinite(value) and value >= least):
        raise _wrong(model, name, f"a number, at least {least:g}")


def check_between(model: Any, name: str, low: float, high: float) -> None:
    """Refuse a parameter that is no number from `low` to `high`.

    Parameters
    ----------
    model : estimator
    name : str
        Of the parameter.
    low, high : float
        Both allowed.

    Raises
    ------
    InputError
        Names the parameter, what it got and what it may be.
    """
    value = getattr(model, name)
    if not (_is_number(value) and low <= value <= high):
        raise _wrong(model, name, f"a number from {low:g} to {high:g}")


def check_positive(model: Any, name: str, *, infinite: str | None = None) -> None:
    """Refuse a parameter that is not a number above zero.

    Parameters
    ----------
    model : KernelClassifier
    name : str
        Of the parameter.
    infinite : str, optional
        What infinity means, for the message; left out, it is refused.

    Raises
    ------
    InputError
        Names the parameter, what it got and what it may be.
    """
    value = getattr(model, name)
    if not (_is_number(value) and value > 0 and (infinite or math.isfinite(value))):
        meaning = "" if infinite is None else f" (inf: {infinite})"
        raise _wrong(model, name, f"a positive number{meaning}")


def make_solver(solver: Any, auto: str | None = None) -> Solver:
    """The solver that was asked for.

    Parameters
    ----------
    solver : str or Solver
        A name, or an instance, which is returned as it is.
    auto : str, optional
        What the name ``"auto"`` stands for; left out, there is no such name.

    Raises
    ------
    InputError
        For a name that does not exist and for anything else.
    """
    if isinstance(solver, Solver):
        return solver
    solvers = available_solvers()
    if auto is not None and isinstance(solver, str) and solver == "auto":
        solver = auto
    if not isinstance(solver, str) or solver not in solvers:
        names = [*([] if auto is None else ["auto"]), *solvers]
        raise InputError(
            f"solver must be one of {', '.join(names)}, or a Solver instance, not {_shown(solver)}"
        )
    return solvers[solver]()


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _is_text(value: Any, allowed: tuple[str, ...]) -> bool:
    return isinstance(value, str) and value in allowed


def _wrong(model: Any, name: str, allowed: str) -> InputError:
    return InputError(f"{name} must be {allowed}, not {_shown(getattr(model, name))}")


def _shown(value: Any) -> str:
    return (
        repr(value)
        if isinstance(value, str) or value is None
        else (f"{value!r} of type {type(value).__name__}")
    )
