"""Hyper-parameters of solvers as text: what the command line has no option of its own for."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from types import NoneType
from typing import Any, get_args, get_type_hints

from mkldash.datasets.cards import suggest
from mkldash.errors import InputError
from mkldash.solvers import available_solvers

__all__ = ["read_setting"]

_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_setting(solver: str, name: str, text: str) -> Any:
    """The value of a hyper-parameter, from its text.

    Parameters
    ----------
    solver : str
        A name of `mkldash.solvers.available_solvers`.
    name : str
        Of a field of that solver.
    text : str
        ``none`` for a hyper-parameter that may be left to the solver.

    Raises
    ------
    InputError
        For a name that the solver does not have, or a text that is no value of it:
        with its type and its bounds.
    """
    kind = available_solvers()[solver]
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}
    if name not in fields:
        raise InputError(
            f"{solver} has no option '{name}'{suggest(name, fields)}; "
            f"it has {', '.join(fields) or 'none'}"
        )
    hint = get_type_hints(kind)[name]
    types = set(get_args(hint)) or {hint}
    facts = fields[name].metadata
    if NoneType in types and text.strip().lower() in ("none", ""):
        return None
    value = _value(types, text.strip())
    bounds, names = facts.get("bounds"), facts.get("choices")
    if (
        value is None
        or (bounds is not None and not bounds[0] <= value <= bounds[1])
        or (names is not None and value not in names)
    ):
        raise InputError(
            f"option {name} of {solver} must be {_words(types, bounds, names)}, not '{text}'"
        )
    return value


def _value(types: set[Any], text: str) -> Any:
    """`text` as one of the types, or None."""
    try:
        if bool in types:
            return _FLAGS.get(text.lower())
        if float in types:
            number = float(text)
            return None if math.isnan(number) else number
        if int in types:
            return int(text)
    except ValueError:
        return None
    return text or None


def _words(types: set[Any], bounds: tuple[float, float] | None, names: Sequence[str] | None) -> str:
    """What a hyper-parameter may be."""
    if names is not None:
        text = " or ".join(map(str, names))
    elif bool in types:
        text = "true or false"
    else:
        text = "a number" if float in types else "a whole number" if int in types else "a word"
    if bounds is not None:
        text += f" from {bounds[0]:g} to {bounds[1]:g}"
    return f"{text}, or none" if NoneType in types else text
