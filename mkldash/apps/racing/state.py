"""Every choice of a race, once: data, problems, lanes; URL round trip."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from mkldash.apps.choice import Choice, solver_defaults, solver_options
from mkldash.apps.offers import COSMETIC, TABLE, choices_of
from mkldash.apps.racing.schedule import AXES
from mkldash.apps.state import OPTION, AppState
from mkldash.datasets.cards import available
from mkldash.experiments.choices import Choices
from mkldash.experiments.problem_kinds import find_problem, make_weight_set, probe, takers
from mkldash.kernels.banks import SINGLE
from mkldash.problems.problem import Problem
from mkldash.solvers import available_solvers

__all__ = [
    "LETTERS", "MOST_LANES", "SHARED", "LaneSpec", "RaceState", "own_choices", "reason_against",
]  # fmt: skip

#: Names of the lanes, in the URL and on screen; each has a colour.
LETTERS = "abcdefgh"
MOST_LANES = len(LETTERS)

#: Choices that all lanes share.
SHARED = ("data", "train_fraction", "seed", "tol", "max_iter")

#: What a race opens on.
_FIRST: Mapping[str, str] = MappingProxyType(
    {"binary": "ionosphere", "regression": "known-products"}
)

_PROBLEM_OF_TASK: Mapping[str, str] = MappingProxyType(
    {"binary": "elastic-net", "regression": "products"}
)


@dataclass(frozen=True)
class LaneSpec:
    """One lane: what is solved, by whom, and where it began.

    Parameters
    ----------
    letter : str
        Of `LETTERS`.
    problem, solver : str
    options : tuple of (str, value)
        Hyper-parameters that differ from the page's defaults.
    overrides : tuple of (str, value)
        Parameters of the problem in which it differs from the other lanes.
    parent : str or None
        Letter of the lane that it branched from.
    at : int
        The iteration there.
    """

    letter: str
    problem: str
    solver: str
    options: tuple[tuple[str, Any], ...] = ()
    overrides: tuple[tuple[str, Any], ...] = ()
    parent: str | None = None
    at: int = 0


@dataclass(frozen=True)
class RaceState:
    """What a person has chosen; immutable.

    Parameters
    ----------
    bases : mapping of str to AppState
        Parameters of each problem that takes the data; the shared choices are equal.
    lanes : tuple of LaneSpec
    axis : str
        A name of `AXES`.
    speed : float
        Places per second.
    hidden : frozenset of str
        Letters of lanes that are not drawn.
    """

    bases: Mapping[str, AppState]
    lanes: tuple[LaneSpec, ...]
    axis: str = "iteration"
    speed: float = 12.0
    hidden: frozenset[str] = frozenset()

    @classmethod
    def default(cls, data: str | None = None) -> RaceState:
        """All solvers of the first problem that takes the data."""
        name = _FIRST["binary"] if data is None else data
        card = available().get(name)
        task = "binary" if card is None else card.task
        main = find_problem(_PROBLEM_OF_TASK[task])
        bases = {}
        for problem in takers(task):
            base = AppState.default(problem).change(data=name)
            bases[problem] = base.change(tol=main.tol, max_iter=main.max_iter)
        state = cls(MappingProxyType(bases), ())
        return state.with_all(main.name)

    @property
    def shared(self) -> Mapping[str, Any]:
        """Values that all lanes share."""
        base = self.first
        return {name: base[name] for name in SHARED}

    @property
    def first(self) -> AppState:
        """One of the bases; for what they share."""
        return next(iter(self.bases.values()))

    @property
    def problems(self) -> tuple[str, ...]:
        """Names of the problems that some lane solves."""
        return tuple(name for name in self.bases if any(x.problem == name for x in self.lanes))

    def lane(self, letter: str) -> LaneSpec:
        """The lane of that letter; KeyError when there is none."""
        found = next((lane for lane in self.lanes if lane.letter == letter), None)
        if found is None:
            raise KeyError(letter)
        return found

    def free_letter(self) -> str | None:
        """The letter of the next lane; None: all are taken."""
        used = {lane.letter for lane in self.lanes}
        return next((letter for letter in LETTERS if letter not in used), None)

    # -- changes ---------------------------------------------------------------

    def change(self, name: str, value: Any) -> RaceState:
        """Another shared choice.

        Raises
        ------
        ValueError
            With a sentence, for a value that cannot be used.
        """
        if name == "data":
            return self.on_data(str(value))
        bases = {p: base.change(**{name: value}) for p, base in self.bases.items()}
        return dataclasses.replace(self, bases=MappingProxyType(bases))

    def on_data(self, data: str) -> RaceState:
        """The same race on other data; other lanes where the task is another."""
        card = available().get(data)
        task = None if card is None else card.task
        if self.first.table is not None or task == self.first.kind.task:
            move = AppState.without_table if self.first.table is not None else _on
            bases = {p: move(base, data) for p, base in self.bases.items()}
            return dataclasses.replace(self, bases=MappingProxyType(bases))
        fresh = RaceState.default(data)
        fresh = fresh.change("seed", self.first["seed"])
        return dataclasses.replace(fresh, axis=self.axis, speed=self.speed)

    def with_table(self, name: str, content: bytes) -> RaceState:
        """The same race on a person's own table."""
        bases = {p: base.with_table(name, content) for p, base in self.bases.items()}
        return dataclasses.replace(self, bases=MappingProxyType(bases))

    def tune(self, problem: str, name: str, value: Any) -> RaceState:
        """Another parameter of a problem, for all its lanes.

        Raises
        ------
        ValueError
            With a sentence, for a value that cannot be used.
        """
        bases = {**self.bases, problem: self.bases[problem].change(**{name: value})}
        return dataclasses.replace(self, bases=MappingProxyType(bases))

    def add(self, problem: str, solver: str, **more: Any) -> RaceState:
        """One more lane.

        Raises
        ------
        ValueError
            When there is no place for it, or a value cannot be used.
        """
        letter = self.free_letter()
        if letter is None:
            raise ValueError(f"there is room for {MOST_LANES} lanes; remove one first")
        spec = LaneSpec(letter, problem, solver, **more)
        self._check(spec)
        lanes = tuple(sorted((*self.lanes, spec), key=lambda lane: LETTERS.index(lane.letter)))
        return dataclasses.replace(self, lanes=lanes)

    def remove(self, letter: str) -> RaceState:
        """The race without a lane.

        Raises
        ------
        ValueError
            When others branched from it.
        """
        if any(lane.parent == letter for lane in self.lanes):
            raise ValueError(
                f"lane {letter.upper()} is where another one branched off; remove that one first"
            )
        lanes = tuple(lane for lane in self.lanes if lane.letter != letter)
        return dataclasses.replace(self, lanes=lanes, hidden=self.hidden - {letter})

    def with_all(self, problem: str) -> RaceState:
        """Add every solver that takes a problem and is not there yet."""
        state = self
        there = {(x.problem, x.solver) for x in self.lanes if x.parent is None}
        for name in available_solvers():
            wanted = (problem, name) not in there and state.free_letter() is not None
            if wanted and reason_against(state.bases[problem], name) is None:
                state = state.add(problem, name)
        own = find_problem(problem).solver
        if self.lanes or not any(lane.solver == own for lane in state.lanes):
            return state
        # The problem's own solver is the first lane.
        names = sorted((lane.solver for lane in state.lanes), key=lambda name: name != own)
        lanes = zip(state.lanes, names, strict=True)
        return dataclasses.replace(
            state, lanes=tuple(dataclasses.replace(lane, solver=n) for lane, n in lanes)
        )

    def _check(self, spec: LaneSpec) -> None:
        if spec.solver not in available_solvers():
            raise ValueError(f"there is no solver called {spec.solver!r}")
        if spec.problem not in self.bases:
            raise ValueError(f"{self.first['data']} is no data for the problem {spec.problem}")
        options = {option.name: option for option in solver_options(spec.solver)}
        for name, value in spec.options:
            if OPTION + name not in options:
                raise ValueError(f"{spec.solver} has no option called {name!r}")
            reason = options[OPTION + name].check(value)
            if reason is not None:
                raise ValueError(reason)
        self.base_of(spec)

    # -- what a lane solves ----------------------------------------------------

    def base_of(self, spec: LaneSpec) -> AppState:
        """Parameters of the problem that a lane solves."""
        base = self.bases[spec.problem]
        return base.change(**dict(spec.overrides)) if spec.overrides else base

    def choices_of(self, spec: LaneSpec) -> Choices:
        """What `mkldash.experiments.workload.prepare` takes for a lane.

        Raises
        ------
        InputError
            For values that do not go together.
        """
        page = {o.name.removeprefix(OPTION): o.default for o in solver_options(spec.solver)}
        library = solver_defaults(spec.solver)
        values = {name: value for name, value in page.items() if value != library[name]}
        values |= dict(spec.options)
        return dataclasses.replace(
            self.base_of(spec).choices(), solver=spec.solver, solver_options=tuple(values.items())
        )

    def label(self, spec: LaneSpec) -> str:
        """What a lane is called: its solver, and what sets it apart from the others."""
        title = available_solvers()[spec.solver].title
        told = [f"{_short(name)} {_plain(value)}" for name, value in spec.overrides]
        told += [f"{name.replace('_', ' ')} {_plain(value)}" for name, value in spec.options]
        return ", ".join((title, *told))

    def same_lane(self, other: RaceState, letter: str) -> bool:
        """Whether the lane of that letter gives the same run in both."""
        try:
            mine, theirs = self.lane(letter), other.lane(letter)
        except KeyError:
            return False
        if mine != theirs:
            return False
        if mine.problem not in other.bases:
            return False
        if not self.base_of(mine).same_run(other.base_of(theirs)):
            return False
        return mine.parent is None or self.same_lane(other, mine.parent)

    # -- the address -----------------------------------------------------------

    def to_query(self) -> str:
        """The whole race as a URL query, without the question mark."""
        base = self.first
        pairs = [(name, base.choice(name).write(base[name])) for name in SHARED]
        pairs += [("axis", self.axis), ("speed", f"{self.speed:g}")]
        for problem in self.problems:
            state = self.bases[problem]
            told = [(c, state[c.name]) for c in own_choices(problem)]
            told += [
                (c, state[c.name]) for c in choices_of(problem)
                if c.name in TABLE and state[c.name] != c.default
            ]  # fmt: skip
            pairs.append((problem, "~".join(f"{c.name}:{_written(c, v)}" for c, v in told)))
        pairs += [(lane.letter, self._written(lane)) for lane in self.lanes]
        if self.hidden:
            pairs.append(("hide", "".join(sorted(self.hidden))))
        return urlencode(pairs, safe=":~")

    def _written(self, spec: LaneSpec) -> str:
        named = {c.name: c for c in choices_of(spec.problem)}
        options = {o.name: o for o in solver_options(spec.solver)}
        parts = [spec.problem, spec.solver]
        parts += [f"{OPTION}{n}:{_written(options[OPTION + n], v)}" for n, v in spec.options]
        parts += [f"{name}:{_written(named[name], value)}" for name, value in spec.overrides]
        if spec.parent is not None:
            parts.append(f"from:{spec.parent}{spec.at}")
        return "~".join(parts)

    @classmethod
    def from_query(cls, query: str) -> tuple[RaceState, tuple[str, ...]]:
        """The race of a link, and a sentence for each part that cannot be used."""
        pairs = dict(parse_qsl(query.lstrip("?"), keep_blank_values=True))
        pairs.pop("theme", None)
        notes: list[str] = []
        state = cls._opened(pairs.pop("data", None), notes)
        state = state._read_shared(pairs, notes)
        for problem in [name for name in pairs if name in state.bases]:
            for name, text in _parts(pairs.pop(problem)):
                state = _noted(notes, state, lambda s, p=problem, n=name, t=text: s.tune(
                    p, n, s.bases[p].choice(n).read(unquote(t))
                ))  # fmt: skip
        letters = [name for name in pairs if name in tuple(LETTERS)]
        if letters:
            state = dataclasses.replace(state, lanes=())
            for letter in letters:
                text = pairs.pop(letter)
                state = _noted(notes, state, lambda s, x=letter, t=text: s._read_lane(x, t))
            if not state.lanes:
                state = state.with_all(_PROBLEM_OF_TASK[state.first.kind.task])
        hidden = frozenset(pairs.pop("hide", "")) & {lane.letter for lane in state.lanes}
        state = dataclasses.replace(state, hidden=hidden)
        notes += [f"The link names {name!r}, which does not exist here; ignored." for name in pairs]
        return state, tuple(notes)

    @classmethod
    def _opened(cls, data: str | None, notes: list[str]) -> RaceState:
        if data is None or data in available():
            return cls.default(data)
        table = data.lower().endswith((".csv", ".txt", ".tsv", ".data"))
        why = (
            "was a table that only its owner has: upload it again" if table else "does not exist"
        )
        notes.append(f"The data set {data!r} {why}. Showing {_FIRST['binary']!r}.")
        return cls.default()

    def _read_shared(self, pairs: dict[str, str], notes: list[str]) -> RaceState:
        state = self
        for name in [n for n in SHARED if n in pairs]:
            text = pairs.pop(name)
            state = _noted(notes, state, lambda s, n=name, t=text: s.change(
                n, s.first.choice(n).read(t)
            ))  # fmt: skip
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

    def _read_lane(self, letter: str, text: str) -> RaceState:
        problem, _, rest = text.partition("~")
        solver, _, more = rest.partition("~")
        if problem not in self.bases or solver not in available_solvers():
            raise ValueError(
                f"Lane {letter.upper()} of the link, {problem} by {solver}, does not exist here"
            )
        named = {c.name: c for c in (*choices_of(problem), *solver_options(solver))}
        options, overrides, parent, at = [], [], None, 0
        for name, value in _parts(more):
            if name == "from":
                parent, at = value[:1], int(value[1:])
                if not any(lane.letter == parent for lane in self.lanes):
                    raise ValueError(
                        f"Lane {letter.upper()} of the link branched from a lane that is not there"
                    )
            elif name not in named:
                raise ValueError(f"Lane {letter.upper()} of the link names {name!r}")
            elif name.startswith(OPTION):
                options.append((name.removeprefix(OPTION), named[name].read(unquote(value))))
            else:
                overrides.append((name, named[name].read(unquote(value))))
        spec = LaneSpec(letter, problem, solver, tuple(options), tuple(overrides), parent, at)
        self._check(spec)
        return dataclasses.replace(self, lanes=(*self.lanes, spec))


def own_choices(problem: str) -> Iterator[Choice]:
    """What can be chosen of a problem itself: its kernels and its parameters."""
    apart = TABLE | COSMETIC | {*SHARED, "solver"}
    return (choice for choice in choices_of(problem) if choice.name not in apart)


def reason_against(base: AppState, solver: str) -> str | None:
    """Why a solver cannot take a problem with these parameters, or None.

    Parameters
    ----------
    base : AppState
    solver : str
        A name that `available_solvers` has.
    """
    several = base.values.get("bank") != SINGLE
    p, eta = base.values.get("p"), base.values.get("eta")
    asked = probe(base.problem, several, p)
    if not base.kind.has_family:
        weights = make_weight_set(base.kind, asked.bank.n_kernels, eta)
        asked = Problem(asked.bank, asked.y, asked.loss, weights, float(base.values.get("rho", asked.rho)))
    return available_solvers()[solver]().supports(asked)


def _on(base: AppState, data: str) -> AppState:
    return base.change(data=data)


def _noted(notes: list[str], state: RaceState, change: Any) -> RaceState:
    """`change` of `state`; where it cannot be, a note of why."""
    try:
        found: RaceState = change(state)
        return found
    except StopIteration:
        notes.append("The link names a parameter that does not exist here; ignored.")
    except ValueError as problem:
        notes.append(f"{problem}; left out.")
    return state


def _parts(text: str) -> Iterator[tuple[str, str]]:
    for part in filter(None, text.split("~")):
        name, _, value = part.partition(":")
        yield name, value


def _written(choice: Choice, value: Any) -> str:
    return quote(choice.write(value), safe=" ,+")


def _short(name: str) -> str:
    return {"eta": "η", "rho": "ρ", "sigma_factor": "σ factor"}.get(name, name.replace("_", " "))


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
