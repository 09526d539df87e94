"""One thing that a person can choose: type, bounds, names, and its text in a URL."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType, NoneType
from typing import Any, get_args, get_type_hints

from mkldash.solvers import available_solvers
from mkldash.solvers.base import Solver

__all__ = ["OPTION", "Choice", "solver_defaults", "solver_options"]

#: Prefix of a solver's hyper-parameters, in the state and in the URL.
OPTION = "o."

#: Hyper-parameters of which a page has its own default: what a person watches shall
#: be certified more often.
WATCHED: Mapping[str, Any] = MappingProxyType({"certify_every": 10})

#: Those that a page has a choice of its own for.
ELSEWHERE = frozenset({"seed"})

#: An empty tuple of names in a URL.
NOTHING = "none"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One thing that a person can choose.

    Parameters
    ----------
    name : str
        Key in the state and in the URL.
    kind : {"name", "names", "number", "whole", "text", "flag"}
        "names": a tuple of names, several or none.
    default : value
    label, help : str
        For the widget.
    bounds : pair of float or None
        Closed; for numbers.
    names : callable or None
        The allowed names and what each is called on screen; None: any text.
    optional : bool
        Whether it may be None (empty in the URL).
    infinite : bool
        Whether a number may be infinite, whatever its bounds.
    slider : bool
        Whether a hyper-parameter is worth a slider.
    step : float or None
        Of that slider.
    """

    name: str
    kind: str
    default: Any
    label: str
    help: str = ""
    bounds: tuple[float, float] | None = None
    names: Callable[[], Mapping[str, str]] | None = None
    optional: bool = False
    infinite: bool = False
    slider: bool = False
    step: float | None = None

    def check(self, value: Any) -> str | None:
        """Why `value` cannot be used, or None."""
        if value is None:
            return None if self.optional else f"{self.label} is missing"
        if self.kind in ("number", "whole"):
            if isinstance(value, bool) or not isinstance(value, int | float):
                return f"{self.label} must be a number, not {value!r}"
            if self.infinite and value == math.inf:
                return None
            if not math.isfinite(value):
                return f"{self.label} must be finite, not {value!r}"
            if self.kind == "whole" and value != int(value):
                return f"{self.label} must be a whole number, not {value!r}"
            if self.bounds and not self.bounds[0] <= value <= self.bounds[1]:
                low, high = self.bounds
                if self.kind == "whole":
                    return f"{self.label} must lie between {low:,} and {high:,}, not {value:,}"
                return f"{self.label} must lie between {low:g} and {high:g}, not {value:g}"
        elif self.kind == "flag" and not isinstance(value, bool):
            return f"{self.label} must be yes or no, not {value!r}"
        elif self.kind == "names":
            strange = [name for name in value if name not in (self.names or dict)()]
            if strange:
                return f"{self.label}: there is no {strange[0]!r}"
        elif self.names is not None and value not in self.names():
            return f"{self.label}: there is no {value!r}"
        return None

    def write(self, value: Any) -> str:
        """`value` as text that `read` reads back exactly."""
        if value is None:
            return ""
        if self.kind == "flag":
            return "1" if value else "0"
        if self.kind == "names":
            return ",".join(value) or NOTHING
        if self.kind == "number":
            return repr(float(value)).removesuffix(".0")
        return str(value)

    def read(self, text: str) -> Any:
        """The value that `text` stands for.

        Raises
        ------
        ValueError
            With a sentence, when it stands for none.
        """
        value: Any = text
        if text == "" and self.optional:
            return None
        try:
            if self.kind == "number":
                value = float(text.replace("∞", "inf"))
            elif self.kind == "names":
                value = () if text == NOTHING else tuple(text.split(","))
            elif self.kind == "whole":
                value = int(text)
            elif self.kind == "flag":
                value = {"1": True, "0": False}[text]
        except (KeyError, ValueError):
            raise ValueError(f"{self.label} cannot be {text!r}") from None
        reason = self.check(value)
        if reason is not None:
            raise ValueError(reason)
        return value


def solver_options(solver: str) -> tuple[Choice, ...]:
    """The hyper-parameters of a solver, from its dataclass fields.

    Parameters
    ----------
    solver : str
        A name that `available_solvers` has.
    """
    return _options_of(available_solvers()[solver])


def solver_defaults(solver: str) -> dict[str, Any]:
    """Defaults of those hyper-parameters in the library, where a page may have others."""
    kind = available_solvers()[solver]
    return {f.name: f.default for f in dataclasses.fields(kind) if f.init}


@functools.cache
def _options_of(kind: type[Solver]) -> tuple[Choice, ...]:
    hints = get_type_hints(kind)
    found = []
    for field in dataclasses.fields(kind):
        if not field.init or field.name in ELSEWHERE:
            continue
        kinds = set(get_args(hints[field.name])) or {hints[field.name]}
        plain = kinds - {NoneType}
        found.append(
            Choice(
                name=OPTION + field.name,
                kind=_kind_of(plain),
                default=WATCHED.get(field.name, field.default),
                label=str(field.metadata.get("label", field.name.replace("_", " "))),
                help=str(field.metadata.get("help", "")),
                bounds=field.metadata.get("bounds"),
                names=_names_of(field.metadata.get("choices")),
                optional=NoneType in kinds,
                slider=bool(field.metadata.get("slider", False)),
                step=field.metadata.get("step"),
            )
        )
    return tuple(found)


def _kind_of(types: set[Any]) -> str:
    if types == {bool}:
        return "flag"
    if types == {int}:
        return "whole"
    if types <= {int, float}:
        return "number"
    return "text"


def _names_of(names: Any) -> Callable[[], Mapping[str, str]] | None:
    return None if names is None else lambda: {str(name): str(name) for name in names}
