"""The command and the Python that give a run again, outside the page."""

from __future__ import annotations

import dataclasses
import math
import platform
import shlex
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import mkldash
from mkldash.experiments.choices import Choices

__all__ = ["arguments", "command", "literal", "named", "python", "versions"]

#: How the command line calls what is not called so there.
_NAMED = {"C": "--C"}

#: Told apart from the others: the data come first, the rest is written otherwise.
_APART = frozenset({"data", "content", "solver_options", "solver_given", "standardize"})


def named(choices: Choices) -> dict[str, Any]:
    """Keyword arguments that make these choices again; a table is named only.

    Parameters
    ----------
    choices : Choices
    """
    found = {"data": choices.data, **_chosen(choices)}
    if choices.solver_options:
        found["solver_options"] = choices.solver_options
    return found


def _chosen(choices: Choices) -> dict[str, Any]:
    """What differs from what the same problem would take by itself."""
    usual = Choices(problem=choices.problem, data=choices.data)
    found = {}
    for field in dataclasses.fields(Choices):
        value = getattr(choices, field.name)
        # None: the problem leaves it out because of another choice.
        if value is None or field.name in _APART:
            continue
        if value != getattr(usual, field.name):
            found[field.name] = value
    # The solver is named whatever it is: which one comes first may change.
    found = {"problem": choices.problem, "solver": choices.solver, **found}
    if choices.standardize is False:
        found["standardize"] = False
    return found


def command(choices: Choices) -> str:
    """``mkldash solve ...`` for these choices.

    A table of one's own is named only; how to leave its text columns out is a comment.

    Parameters
    ----------
    choices : Choices
    """
    words = ["mkldash", "solve", shlex.quote(choices.data)]
    for name, value in _chosen(choices).items():
        words += _flags(name, value)
    missing = []
    for name, value in choices.solver_options:
        if name in OPTIONS:
            words += [f"--{name.replace('_', '-')}", _text(value)]
        else:
            words += ["--option", f"{name}={_text(value)}"]
    text = " ".join(words)
    if choices.exclude_text:
        missing.append("text columns left out (take --exclude COLUMN for each)")
    return text + "".join(f"\n# no option of the command line: {one}" for one in missing)


#: Hyper-parameters that the command line has an option of its own for.
OPTIONS = ("step", "step_rule", "horizon", "sampling", "certify_every", "search_nodes")


def _flags(name: str, value: Any) -> Iterator[str]:
    flag = _NAMED.get(name, f"--{name.replace('_', '-')}")
    if name == "exclude_text":
        return
    if name == "standardize":
        yield "--no-standardize"
    elif name == "header":
        yield "--header" if value else "--no-header"
    elif isinstance(value, tuple):
        for one in value:
            yield from (flag, shlex.quote(one))
    else:
        yield from (flag, _text(value))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return shlex.quote(str(value))


def literal(value: Any) -> str:
    """A value as Python that gives it again, to the last bit."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def versions() -> str:
    """What computed the numbers of this process, in one line."""
    others = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "scipy"))
    return f"mkldash {mkldash.__version__}, Python {platform.python_version()}, {others}"


def arguments(choices: Choices, indent: int = 4) -> str:
    """Lines of keyword arguments that make these choices again.

    Parameters
    ----------
    choices : Choices
    indent : int
    """
    blank = " " * indent
    given = named(choices).items()
    return "".join(f"{blank}{name}={literal(value)},\n" for name, value in given)


def python(choices: Choices) -> str:
    """Lines of Python for these choices; a table of one's own is read from its file.

    Parameters
    ----------
    choices : Choices
    """
    if choices.kind.has_family:
        names = "    print(f'{value:.6f}', work.family.label(key))\n"
    else:
        names = "    print(f'{value:.6f}', key)\n"
    return (
        f"# Made with {versions()}.\n"
        f"# Seed {choices.seed}: of the split into training and test rows, and of solvers that "
        "draw.\n"
        "from mkldash.experiments.choices import Choices\n"
        "from mkldash.experiments.workload import prepare\n"
        "from mkldash.solvers.driver import solve\n\n"
        f"work = prepare(Choices(\n{arguments(choices)}))\n"
        "result = solve(work.solver, work.problem, stop=work.stop)\n"
        "print(result.status.sentence, result.upper, result.lower, result.gap, result.iterations)\n"
        "for key, value in result.best.weights.as_dict().items():\n"
        f"{names}"
    )
