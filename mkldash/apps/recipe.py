"""The command and the Python that give a run again, outside the page."""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Iterator
from typing import Any

from mkldash.apps.components import Recipe
from mkldash.apps.jobs import Extra
from mkldash.apps.state import AppState
from mkldash.experiments.choices import Choices
from mkldash.streaming import Session

__all__ = ["RecipeCard", "arguments", "command", "python"]

#: How the command line calls what is not called so there.
_NAMED = {"C": "--C"}

#: Told apart from the others: the data come first, the rest is written otherwise.
_APART = frozenset({"data", "content", "solver_options", "solver_given", "standardize"})


class RecipeCard:
    """How to have the shown run again, as a part of the page."""

    def __init__(self) -> None:
        self.part = Recipe(sizing_mode="stretch_width")
        self._session: Session | None = None

    def follow(self, session: Session | None) -> None:
        """Bring it to the shown run; once for each."""
        if session is None or session is self._session or session.job is None:
            return
        self._session, state = session, session.parameters
        if not isinstance(state, AppState):
            return
        notes = []
        if isinstance(session.job.extra, Extra) and session.job.extra.warm:
            notes.append("The run on the page began at the weights of the one before it.")
        if state.table is not None:
            notes.append(f"{state['data']} must be in the folder where this is run.")
        choices = state.choices()
        self.part.param.update(
            command=command(choices), python=python(choices), note=" ".join(notes)
        )


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


def _literal(value: Any) -> str:
    return 'float("inf")' if value == math.inf else repr(value)


def arguments(choices: Choices, indent: int = 4) -> str:
    """Lines of keyword arguments that make these choices again.

    Parameters
    ----------
    choices : Choices
    indent : int
    """
    given = {"data": choices.data, **_chosen(choices)}
    if choices.solver_options:
        given["solver_options"] = choices.solver_options
    blank = " " * indent
    return "".join(f"{blank}{name}={_literal(value)},\n" for name, value in given.items())


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
        "from mkldash.experiments.choices import Choices\n"
        "from mkldash.experiments.workload import prepare\n"
        "from mkldash.solvers.driver import solve\n\n"
        f"work = prepare(Choices(\n{arguments(choices)}))\n"
        "result = solve(work.solver, work.problem, stop=work.stop)\n"
        "print(result.status.sentence, result.upper, result.lower, result.gap)\n"
        "for key, value in result.best.weights.as_dict().items():\n"
        f"{names}"
    )
