"""The address of a race: every choice, written so that a person can read it."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from mkldash.apps.choice import OPTION, Choice, solver_options
from mkldash.apps.offers import TABLE, choices_of
from mkldash.apps.racing.schedule import AXES
from mkldash.apps.racing.state import (
    FIRST_DATA,
    LETTERS,
    PROBLEM_OF_TASK,
    SHARED,
    LaneSpec,
    RaceState,
    own_choices,
)
from mkldash.datasets.cards import available
from mkldash.solvers import available_solvers

__all__ = ["from_query", "to_query"]


def to_query(state: RaceState) -> str:
    """The whole race as a URL query, without the question mark.

    Parameters
    ----------
    state : RaceState

    Returns
    -------
    str
        Shared choices, the parameters of each problem, and one part a lane, as in
        ``a=elastic-net~block-coordinate&b=elastic-net~block-coordinate~eta:1~from:a12``.
    """
    base = state.first
    pairs = [(name, base.choice(name).write(base[name])) for name in SHARED]
    pairs += [("axis", state.axis), ("speed", f"{state.speed:g}")]
    for problem in state.problems:
        values = state.bases[problem]
        told = [(c, values[c.name]) for c in own_choices(problem)]
        told += [
            (c, values[c.name])
            for c in choices_of(problem)
            if c.name in TABLE and values[c.name] != c.default
        ]
        pairs.append((problem, "~".join(f"{c.name}:{_text(c, v)}" for c, v in told)))
    pairs += [(lane.letter, _write_lane(lane)) for lane in state.lanes]
    if state.hidden:
        pairs.append(("hide", "".join(sorted(state.hidden))))
    return urlencode(pairs, safe=":~")


def from_query(query: str) -> tuple[RaceState, tuple[str, ...]]:
    """The race of a link, and a sentence for each part that cannot be used.

    Parameters
    ----------
    query : str
        With or without the question mark.  What is not in it keeps its default.
    """
    pairs = dict(parse_qsl(query.lstrip("?"), keep_blank_values=True))
    pairs.pop("theme", None)
    notes: list[str] = []
    state = _read_shared(_opened(pairs.pop("data", None), notes), pairs, notes)
    for problem in [name for name in pairs if name in state.bases]:
        for name, text in _parts(pairs.pop(problem)):
            state = _noted(notes, state, functools.partial(_tune, problem, name, unquote(text)))
    state = dataclasses.replace(state, lanes=())
    for letter in [name for name in pairs if name in tuple(LETTERS)]:
        text = pairs.pop(letter)
        state = _noted(notes, state, functools.partial(_read_lane, letter, text))
    if not state.lanes:
        state = state.with_all(PROBLEM_OF_TASK[state.first.kind.task])
    hidden = frozenset(pairs.pop("hide", "")) & {lane.letter for lane in state.lanes}
    state = dataclasses.replace(state, hidden=hidden)
    notes += [f"The link names {name!r}, which does not exist here; ignored." for name in pairs]
    return state, tuple(notes)


def _opened(data: str | None, notes: list[str]) -> RaceState:
    if data is None or data in available():
        return RaceState.default(data)
    table = data.lower().endswith((".csv", ".txt", ".tsv", ".data"))
    why = "was a table that only its owner has: upload it again" if table else "does not exist"
    notes.append(f"The data set {data!r} {why}. Showing {FIRST_DATA['binary']!r}.")
    return RaceState.default()


def _read_shared(state: RaceState, pairs: dict[str, str], notes: list[str]) -> RaceState:
    for name in [n for n in SHARED if n in pairs]:
        state = _noted(notes, state, functools.partial(_change, name, pairs.pop(name)))
    axis = pairs.pop("axis", state.axis)
    if axis not in AXES:
        notes.append(f"A race has no axis {axis!r}; using {state.axis}.")
        axis = state.axis
    text = pairs.pop("speed", f"{state.speed:g}")
    try:
        speed = float(state.first.choice("speed").read(text))
    except ValueError as problem:
        notes.append(f"{problem}; using {state.speed:g}.")
        speed = state.speed
    return dataclasses.replace(state, axis=axis, speed=speed)


def _tune(problem: str, name: str, text: str, state: RaceState) -> RaceState:
    return state.tune(problem, name, state.bases[problem].choice(name).read(text))


def _change(name: str, text: str, state: RaceState) -> RaceState:
    return state.change(name, state.first.choice(name).read(text))


def _write_lane(spec: LaneSpec) -> str:
    named = {c.name: c for c in choices_of(spec.problem)}
    options = {o.name: o for o in solver_options(spec.solver)}
    parts = [spec.problem, spec.solver]
    parts += [f"{OPTION}{n}:{_text(options[OPTION + n], v)}" for n, v in spec.options]
    parts += [f"{name}:{_text(named[name], value)}" for name, value in spec.overrides]
    if spec.parent is not None:
        parts.append(f"from:{spec.parent}{spec.at}")
    return "~".join(parts)


def _read_lane(letter: str, text: str, state: RaceState) -> RaceState:
    problem, _, rest = text.partition("~")
    solver, _, more = rest.partition("~")
    lane = f"Lane {letter.upper()} of the link"
    if problem not in state.bases or solver not in available_solvers():
        raise ValueError(f"{lane}, {problem} by {solver}, does not exist here")
    named = {c.name: c for c in (*choices_of(problem), *solver_options(solver))}
    options, overrides, parent, at = [], [], None, 0
    for name, value in _parts(more):
        if name == "from":
            found = re.fullmatch(r"([a-z])(\d{1,9})", value)
            if found is None or not any(x.letter == found[1] for x in state.lanes):
                raise ValueError(f"{lane} branched from a lane that is not there")
            parent, at = found[1], int(found[2])
        elif name not in named:
            raise ValueError(f"{lane} names {name!r}")
        elif name.startswith(OPTION):
            options.append((name.removeprefix(OPTION), named[name].read(unquote(value))))
        else:
            overrides.append((name, named[name].read(unquote(value))))
    spec = LaneSpec(letter, problem, solver, tuple(options), tuple(overrides), parent, at)
    state.check(spec)
    return dataclasses.replace(state, lanes=(*state.lanes, spec))


def _noted(
    notes: list[str], state: RaceState, change: Callable[[RaceState], RaceState]
) -> RaceState:
    """`change` of `state`; where it cannot be, a note of why."""
    try:
        return change(state)
    except StopIteration:
        notes.append("The link names a parameter that does not exist here; ignored.")
    except ValueError as problem:
        notes.append(f"{problem}; left out.")
    return state


def _parts(text: str) -> Iterator[tuple[str, str]]:
    for part in filter(None, text.split("~")):
        name, _, value = part.partition(":")
        yield name, value


def _text(choice: Choice, value: Any) -> str:
    return quote(choice.write(value), safe=" ,+")
