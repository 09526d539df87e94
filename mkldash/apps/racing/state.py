"""Every choice of a race, once: data, problems, lanes; URL round trip."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mkldash.apps.choice import Choice, solver_defaults, solver_options
from mkldash.apps.offers import COSMETIC, TABLE, WEIGHT_NORM, choices_of
from mkldash.apps.state import OPTION, AppState
from mkldash.datasets.cards import available
from mkldash.experiments.choices import Choices
from mkldash.experiments.problem_kinds import find_problem, make_weight_set, probe, takers
from mkldash.kernels.banks import SINGLE
from mkldash.problems.problem import Problem
from mkldash.solvers import available_solvers

__all__ = [
    "FIRST_DATA", "LETTERS", "MOST_LANES", "PROBLEM_OF_TASK", "SHARED", "LaneSpec", "RaceState",
    "own_choices", "reason_against",
]  # fmt: skip

#: Names of the lanes, in the URL and on screen; each has a colour.
LETTERS = "abcdefgh"
MOST_LANES = len(LETTERS)

#: Choices that all lanes share.
SHARED = ("data", "train_fraction", "seed", "tol", "max_iter")

#: What a race opens on.
FIRST_DATA: Mapping[str, str] = MappingProxyType(
    {"binary": "ionosphere", "regression": "known-products"}
)

PROBLEM_OF_TASK: Mapping[str, str] = MappingProxyType(
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
        name = FIRST_DATA["binary"] if data is None else data
        card = available().get(name)
        task = "binary" if card is None else card.task
        main = find_problem(PROBLEM_OF_TASK[task])
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
        self.check(spec)
        lanes = tuple(sorted((*self.lanes, spec), key=lambda lane: LETTERS.index(lane.letter)))
        return dataclasses.replace(self, lanes=lanes)

    def branches(self, letter: str) -> tuple[str, ...]:
        """Letters of all lanes that go back to a lane."""
        own = [lane.letter for lane in self.lanes if lane.parent == letter]
        return tuple(sorted({*own, *(x for one in own for x in self.branches(one))}))

    def remove(self, letter: str) -> RaceState:
        """The race without a lane and what branched off it."""
        gone = {letter, *self.branches(letter)}
        lanes = tuple(lane for lane in self.lanes if lane.letter not in gone)
        return dataclasses.replace(self, lanes=lanes, hidden=self.hidden - gone)

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

    def check(self, spec: LaneSpec) -> None:
        """Refuse a lane that does not exist.

        Raises
        ------
        ValueError
            With a sentence.
        """
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
        from mkldash.apps.racing.address import to_query

        return to_query(self)

    @classmethod
    def from_query(cls, query: str) -> tuple[RaceState, tuple[str, ...]]:
        """The race of a link, and a sentence for each part that cannot be used."""
        from mkldash.apps.racing.address import from_query

        return from_query(query)


def own_choices(problem: str) -> Iterator[Choice]:
    """What can be chosen of a problem itself: its kernels and its parameters."""
    # Lanes of one problem share its set of weights, so that their bounds compare: eta's.
    apart = TABLE | COSMETIC | {*SHARED, "solver", WEIGHT_NORM}
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
        asked = Problem(
            asked.bank, asked.y, asked.loss, weights, float(base.values.get("rho", asked.rho))
        )
    return available_solvers()[solver]().supports(asked)


def _on(base: AppState, data: str) -> AppState:
    return base.change(data=data)


def _short(name: str) -> str:
    return {"eta": "η", "rho": "ρ", "sigma_factor": "σ factor"}.get(name, name.replace("_", " "))


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
