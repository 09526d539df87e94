"""Every choice of an app, once: its type, bounds and names; URL and reset follow."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode

from mkldash.apps.choice import OPTION, Choice, solver_defaults, solver_options
from mkldash.apps.offers import (
    COSMETIC,
    SIMPLEX,
    TABLE,
    WEIGHT_NORM,
    choices_of,
    kernels_of,
    lost_table,
    own_fraction,
    solver_titles,
    weights_by,
)
from mkldash.experiments.choices import Choices
from mkldash.experiments.problem_kinds import PROBLEMS, ProblemKind
from mkldash.kernels.banks import SINGLE

__all__ = ["CHOICES", "COSMETIC", "FEW_ROWS", "TABLE", "AppState", "taken"]

#: Training rows up to which all solvers run beside the chosen one unless said otherwise.
FEW_ROWS = 1000

#: The choices of the elastic-net problem.
CHOICES: tuple[Choice, ...] = choices_of("elastic-net")


@functools.cache
def _by_name(problem: str) -> Mapping[str, Choice]:
    return MappingProxyType({choice.name: choice for choice in choices_of(problem)})


@dataclass(frozen=True)
class AppState:
    """What a person has chosen; immutable.

    Parameters
    ----------
    values : mapping
        Value of each choice by name, solver options included.
    table : tuple of (str, bytes) or None
        File name and content of the person's own table; never in the URL.
    problem : str
        A name of `mkldash.experiments.problem_kinds.PROBLEMS`; it belongs to the
        app and is not in the URL.
    moved : bool
        Whether the kernels chose the solver, and no person.
    """

    values: Mapping[str, Any]
    table: tuple[str, bytes] | None = None
    problem: str = "elastic-net"
    moved: bool = dataclasses.field(default=False, compare=False)

    @classmethod
    def default(cls, problem: str = "elastic-net") -> AppState:
        """Every choice of a problem at its default."""
        values = {choice.name: choice.default for choice in choices_of(problem)}
        values |= {option.name: option.default for option in solver_options(values["solver"])}
        return cls(MappingProxyType(values), problem=problem)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def kind(self) -> ProblemKind:
        """The problem, with its defaults."""
        return PROBLEMS[self.problem]

    @property
    def single(self) -> bool:
        """Whether there is one kernel, so that no weight is learnt."""
        return bool(self.values.get("bank") == SINGLE)

    @property
    def kernels(self) -> str:
        """What decides which solvers there are; see `mkldash.apps.offers.kernels_of`."""
        return kernels_of(self.problem, self.values)

    @property
    def weights_by(self) -> str:
        """Which parameter chooses the set of weights; see `mkldash.apps.offers.weights_by`."""
        return weights_by(self.problem, self.kernels, self["solver"])

    def solvers(self) -> Mapping[str, str]:
        """Names and titles of the solvers that take the present problem and kernels."""
        return solver_titles(self.problem, self.kernels)

    def compared(self, n_rows: int) -> tuple[str, ...]:
        """Names of the solvers to see on `n_rows` training rows; the chosen one is seen anyway."""
        named = self.values.get("compare", ())
        if named is None:
            named = tuple(self.solvers()) if n_rows <= FEW_ROWS else ()
        return tuple(name for name in self.solvers() if name in named)

    def rivals(self, n_rows: int) -> tuple[str, ...]:
        """Those of `compared` that run beside the chosen one."""
        return tuple(name for name in self.compared(n_rows) if name != self["solver"])

    @functools.cached_property
    def sweep_key(self) -> tuple[object, ...]:
        """Everything but rho that a sweep over rho depends on."""
        left_out = COSMETIC | {"rho", "solver", "tol", "max_iter"}
        kept = {n: v for n, v in self.values.items() if n not in left_out}
        return (
            self.problem, self.table,
            *sorted((n, v) for n, v in kept.items() if not n.startswith(OPTION)),
        )  # fmt: skip

    def choices_offered(self) -> Iterator[Choice]:
        """All choices of this state, the solver's options last."""
        yield from choices_of(self.problem)
        yield from solver_options(self["solver"])

    def choice(self, name: str) -> Choice:
        """The choice of that name."""
        named = _by_name(self.problem)
        if name in named:
            return named[name]
        return next(option for option in solver_options(self["solver"]) if option.name == name)

    def change(self, **changes: Any) -> AppState:
        """Another state.  Options of a solver that is left are dropped.

        Kernels that the solver does not take move the solver to the first that does.

        Raises
        ------
        ValueError
            With a sentence, for a value that cannot be used.
        """
        values, offered = dict(self.values), dict(_by_name(self.problem))
        solver = self._solver_after(changes)
        if solver != values["solver"]:
            values = {k: v for k, v in values.items() if not k.startswith(OPTION)}
            values |= {o.name: o.default for o in solver_options(solver)} | {"solver": solver}
        offered |= {o.name: o for o in solver_options(solver)}
        for name, value in changes.items():
            if name not in offered:
                raise ValueError(f"there is no choice called {name!r}")
            reason = offered[name].check(value)
            if reason is not None and not (name == "data" and self.table is not None):
                raise ValueError(reason)
        if "data" in changes and self.table is None:
            values["train_fraction"] = self._fraction_after(changes["data"])
        moved = "solver" not in changes and (self.moved or solver != self["solver"])
        values |= changes
        if weights_by(self.problem, kernels_of(self.problem, values), solver) == SIMPLEX:
            if changes.get("eta", 1.0) != 1.0:
                raise ValueError(f"{self.solvers()[solver]} needs η = 1")
            values["eta"] = 1.0
        return dataclasses.replace(self, values=MappingProxyType(values), moved=moved)

    def _fraction_after(self, data: str) -> float:
        """Share of rows that trains on other data: a card's own comes and goes with it."""
        own, before = own_fraction(data), own_fraction(self["data"])
        if own is not None:
            return own
        present = float(self["train_fraction"])
        return float(self.choice("train_fraction").default) if present == before else present

    def _solver_after(self, changes: Mapping[str, Any]) -> str:
        """The solver after `changes`, of which the kernels and itself count."""
        named = _by_name(self.problem)
        decides = "p" if self.kind.has_family else "bank"
        for name in (decides, "solver"):
            reason = named[name].check(changes.get(name, self[name]))
            if reason is not None:
                raise ValueError(reason)
        kernels = kernels_of(self.problem, {decides: changes.get(decides, self[decides])})
        takers = solver_titles(self.problem, kernels)
        wanted = str(changes.get("solver", self["solver"]))
        left_alone = self.moved and decides in changes and "solver" not in changes
        if wanted in takers and not left_alone:
            return wanted
        if "solver" in changes:
            title = (named["solver"].names or dict)()[wanted]
            raise ValueError(f"{title} does not take {taken(kernels)}")
        return next(iter(takers))

    def with_table(self, name: str, content: bytes) -> AppState:
        """The same choices on a person's own table; table options start afresh."""
        values = MappingProxyType({**self.values, **self._unread(), "data": name})
        return dataclasses.replace(self, values=values, table=(name, content))

    def without_table(self, data: str) -> AppState:
        """A shipped data set again; table options at their defaults."""
        values = MappingProxyType({**self.values, **self._unread()})
        return dataclasses.replace(self, values=values, table=None).change(data=data)

    def _unread(self) -> dict[str, Any]:
        """How a table is read, at its defaults."""
        return {c.name: c.default for c in choices_of(self.problem) if c.name in TABLE}

    def to_query(self) -> str:
        """All choices as a URL query, without the question mark.

        Defaults of the options that a table takes are left out, so that a link
        stays readable; everything else is written, the seed included.
        """
        pairs = []
        for choice in self.choices_offered():
            value = self.values[choice.name]
            if choice.name in TABLE and value == choice.default:
                continue
            if choice.optional and value is None:
                continue
            if choice.name == WEIGHT_NORM != self.weights_by and value == choice.default:
                continue
            pairs.append((choice.name, choice.write(value)))
        return urlencode(pairs)

    @classmethod
    def from_query(
        cls, query: str, problem: str = "elastic-net"
    ) -> tuple[AppState, tuple[str, ...]]:
        """State of a link, and a sentence for each part that cannot be used.

        Parameters
        ----------
        query : str
            With or without the question mark.  What is not in it keeps its
            default; unknown names are reported and ignored.
        problem : str
            Of the app that the link opens.
        """
        pairs = dict(parse_qsl(query.lstrip("?"), keep_blank_values=True))
        pairs.pop("theme", None)
        state, notes = cls.default(problem), []
        # The kernels (or p) first, they decide which solvers there are; then the solver,
        # which decides which options exist.
        first = ("bank", "p")
        order = sorted(pairs, key=lambda n: (n not in first, n != "solver", n != "data"))
        for name in order:
            try:
                choice = state.choice(name)
            except StopIteration:
                notes.append(f"The link names {name!r}, which does not exist here; ignored.")
                continue
            try:
                state = state.change(**{name: choice.read(pairs[name])})
            except ValueError as reason:
                if name == "data":
                    notes.append(lost_table(pairs[name], state["data"]))
                else:
                    notes.append(f"{reason}; using {_kept(choice, state[name])} instead.")
        return state, tuple(notes)

    def reset(self) -> AppState:
        """Defaults again, on the same data set or table."""
        fresh = dict(AppState.default(self.problem).values)
        values = MappingProxyType({**fresh, "data": self["data"]})
        return dataclasses.replace(self, values=values, moved=False)

    def same_run(self, other: AppState) -> bool:
        """Whether both give the same run (speed does not change it)."""
        mine = {k: v for k, v in self.values.items() if k not in COSMETIC}
        theirs = {k: v for k, v in other.values.items() if k not in COSMETIC}
        return (mine, self.table, self.problem) == (theirs, other.table, other.problem)

    def choices(self) -> Choices:
        """What `mkldash.experiments.workload.prepare` takes.

        Raises
        ------
        InputError
            For values that do not go together.
        """
        return Choices(
            problem=self.problem,
            data=self["data"],
            content=self.table[1] if self.table else None,
            solver=self["solver"],
            solver_options=self._options(),
            tol=float(self["tol"]),
            max_iter=int(self["max_iter"]),
            train_fraction=float(self["train_fraction"]),
            seed=int(self["seed"]),
            **self._of_problem(),
            **self._of_table(),
        )

    def _options(self) -> tuple[tuple[str, Any], ...]:
        """The solver's hyper-parameters that differ from the library's defaults."""
        library = solver_defaults(self["solver"])
        values = ((o.name, self.values[o.name]) for o in solver_options(self["solver"]))
        named = ((name.removeprefix(OPTION), value) for name, value in values)
        return tuple((name, value) for name, value in named if value != library[name])

    def _of_problem(self) -> dict[str, Any]:
        """What only this problem has."""
        if self.kind.has_family:
            own = {name: float(self[name]) for name in ("p", "penalty", "growth")}
            # Where it is not left out, what the data set's card says does not count.
            raw = {} if self["standardize"] else {"standardize": False}
            return {"degree": int(self["degree"]), **own, **raw}
        of_weights = WEIGHT_NORM if self.weights_by == WEIGHT_NORM else "eta"
        own = {n: float(self[n]) for n in (of_weights, "C")} | {"bank": self["bank"]}
        if self.kind.takes_rho:
            own |= {"rho": float(self["rho"]), "sigma_factor": float(self["sigma_factor"])}
        return own

    def _of_table(self) -> dict[str, Any]:
        """How a person's own table is read."""
        positive = self.values.get("positive")
        if self.table is None:
            return {} if positive is None else {"positive": positive}
        text = self["text"]
        own = {name: self.values[name] for name in TABLE - {"text"} if name in self.values}
        return own | {
            "exclude_text": text == "exclude",
            "one_hot": _text_columns(self) if text == "one_hot" else (),
        }

    def difference(self, other: AppState) -> tuple[str, ...]:
        """Choices that differ from those of `other` and that `summary` leaves out."""
        told = {"data", "bank", "eta", WEIGHT_NORM, "C", "rho", "seed"} | COSMETIC
        told |= {"sigma_factor", "solver"} if self.kind.takes_rho else set()
        told |= {"degree", "p", "penalty", "growth", "solver"} if self.kind.has_family else set()
        found = []
        for choice in self.choices_offered():
            name = choice.name
            if name not in told and self.values.get(name) != other.values.get(name):
                value = choice.write(self.values[name]) or "automatic"
                found.append(f"{choice.label[:1].lower()}{choice.label[1:]} {value}")
        return tuple(found)

    def summary(self) -> str:
        """The parameters of a run in one short line, for its ghost."""
        if self.kind.has_family:
            parts = [f"{letter} = {self[name]:g}" for letter, name in (("D", "degree"), ("p", "p"))]
            parts += [f"{name} {self[name]:g}" for name in ("penalty", "growth")]
            parts.append(self.solvers()[self["solver"]])
            return f"{self['data']}, {', '.join(parts)}, seed {self['seed']}"
        name, parts = self["bank"], []
        if self.kind.takes_rho:
            rho = float(self["rho"])
            parts.append(f"ρ = {'∞' if math.isinf(rho) else format(rho, 'g')}")
        if self.single:
            name = "one Gaussian"
            parts.append(f"σ factor {self['sigma_factor']:g}")
        elif self.weights_by == WEIGHT_NORM:
            parts.append(f"weight norm {self[WEIGHT_NORM]:g}")
        else:
            parts.append(f"η = {self['eta']:g}")
        parts.append(f"C = {self['C']:g}")
        if self.kind.takes_rho:
            parts.append(self.solvers()[self["solver"]])
        return f"{self['data']}, {name}, {', '.join(parts)}, seed {self['seed']}"

    def in_full(self) -> str:
        """`summary` and what else makes the numbers of a run."""
        return (
            f"{self.summary()}, share that trains {self['train_fraction']:g}, "
            f"tolerance {self['tol']:g}, iteration limit {self['max_iter']}"
        )


def taken(kernels: str) -> str:
    """What a solver does not take, in words."""
    if kernels.startswith("p "):
        return kernels.replace("p between", "p strictly between")
    return "one kernel" if kernels == SINGLE else "several kernels"


def _kept(choice: Choice, value: Any) -> str:
    """What is used instead of a part of a link that cannot be."""
    if choice.name == "compare" and value is None:
        return f"all solvers (none on more than {FEW_ROWS:,} training rows)"
    if choice.kind == "names":
        return " and ".join((choice.names or dict)()[name] for name in value) or "none"
    return choice.write(value) or "what is detected"


def _text_columns(state: AppState) -> tuple[str, ...]:
    from mkldash.datasets.tables import preview

    assert state.table is not None
    found = preview(state.table[1])
    return tuple(
        column
        for column, kind in zip(found.columns, found.types, strict=True)
        if kind == "text" and column != (state["label"] or found.label_guess)
    )
