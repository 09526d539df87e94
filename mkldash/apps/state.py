"""Every choice of an app, once: its type, bounds and names; URL and reset follow."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode

from mkldash.apps.choice import OPTION, Choice, solver_options
from mkldash.experiments.choices import Choices
from mkldash.kernels.banks import BANKS
from mkldash.solvers import available_solvers

__all__ = ["CHOICES", "COSMETIC", "TABLE", "AppState"]


@functools.cache
def _data_names() -> Mapping[str, str]:
    from mkldash.datasets.cards import available

    return {name: card.title for name, card in available().items() if card.task == "binary"}


def _solver_names() -> Mapping[str, str]:
    return {name: kind.title for name, kind in available_solvers().items()}


#: Everything but the solver's own hyper-parameters, in sidebar order.
CHOICES: tuple[Choice, ...] = (
    Choice(
        name="data", kind="name", default="two-moons", label="Data set", names=_data_names,
        help="Shipped with mkldash; `mkldash data NAME` tells more.",
    ),
    Choice(
        name="bank", kind="name", default="paper", label="Kernels",
        names=lambda: {name: name for name in BANKS},
        help="Which kernels are combined.",
    ),
    Choice(
        name="eta", kind="number", default=0.5, label="η, from smooth (0) to sparse (1)",
        bounds=(0.0, 1.0), help="Elastic-net mixing of the kernel weights.",
    ),
    Choice(
        name="C", kind="number", default=100.0, label="C, price of an error",
        bounds=(1e-8, 1e9), help="Weight of the hinge losses against smoothness.",
    ),
    Choice(
        name="tol", kind="number", default=1e-3, label="Tolerance (relative gap)",
        bounds=(1e-10, 0.5), help="The run stops when the certified gap is below.",
    ),
    Choice(
        name="max_iter", kind="whole", default=500, label="Iteration limit",
        bounds=(1, 5000), help="The run stops there in any case.",
    ),
    Choice(
        name="train_fraction", kind="number", default=0.6, label="Share of rows that train",
        bounds=(0.01, 1.0), help="The rest is for testing; 1 trains on every row.",
    ),
    Choice(
        name="seed", kind="whole", default=0, label="Seed of the split",
        bounds=(0, 2**31 - 1), help="The same seed gives the same training and test rows.",
    ),
    Choice(
        name="solver", kind="name", default="block-coordinate", label="Solver",
        names=_solver_names,
    ),
    Choice(
        name="speed", kind="number", default=12.0, label="Iterations per second",
        bounds=(0.5, 1000.0), help="A pace to watch; 1000 is as fast as it goes.",
    ),
    Choice(name="separator", kind="text", default=None, label="Separator", optional=True),
    Choice(name="decimal", kind="text", default=None, label="Decimal sign", optional=True),
    Choice(name="header", kind="flag", default=None, label="First line holds names", optional=True),
    Choice(name="label", kind="text", default=None, label="Label column", optional=True),
    Choice(name="positive", kind="text", default=None, label="Positive class", optional=True),
    Choice(
        name="missing", kind="name", default="error", label="Missing values",
        names=lambda: {
            "error": "refuse", "drop": "drop the rows", "mean": "fill in the mean",
        },
    ),
    Choice(
        name="text", kind="name", default="refuse", label="Text columns",
        names=lambda: {
            "refuse": "refuse", "exclude": "leave out", "one_hot": "one column per value",
        },
    ),
)  # fmt: skip

#: Choices that only change how fast or how it is shown, never the result.
COSMETIC = frozenset({"speed"})

#: Choices that only a person's own table takes.
TABLE = frozenset({"separator", "decimal", "header", "label", "positive", "missing", "text"})

_BY_NAME = MappingProxyType({choice.name: choice for choice in CHOICES})


@dataclass(frozen=True)
class AppState:
    """What a person has chosen; immutable.

    Parameters
    ----------
    values : mapping
        Value of each choice by name, solver options included.
    table : tuple of (str, bytes) or None
        File name and content of the person's own table; never in the URL.
    """

    values: Mapping[str, Any]
    table: tuple[str, bytes] | None = None

    @classmethod
    def default(cls) -> AppState:
        """Every choice at its default."""
        values = {choice.name: choice.default for choice in CHOICES}
        values |= {option.name: option.default for option in solver_options(values["solver"])}
        return cls(MappingProxyType(values))

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def choices_offered(self) -> Iterator[Choice]:
        """All choices of this state, the solver's options last."""
        yield from CHOICES
        yield from solver_options(self["solver"])

    def choice(self, name: str) -> Choice:
        """The choice of that name."""
        if name in _BY_NAME:
            return _BY_NAME[name]
        return next(option for option in solver_options(self["solver"]) if option.name == name)

    def change(self, **changes: Any) -> AppState:
        """Another state.  Options of a solver that is left are dropped.

        Raises
        ------
        ValueError
            With a sentence, for a value that cannot be used.
        """
        values = dict(self.values)
        if "solver" in changes and changes["solver"] != values["solver"]:
            reason = _BY_NAME["solver"].check(changes["solver"])
            if reason is not None:
                raise ValueError(reason)
            values = {k: v for k, v in values.items() if not k.startswith(OPTION)}
            values |= {o.name: o.default for o in solver_options(changes["solver"])}
        offered = {**_BY_NAME, **{o.name: o for o in solver_options(values["solver"])}}
        if "solver" in changes:
            offered |= {o.name: o for o in solver_options(changes["solver"])}
        for name, value in changes.items():
            if name not in offered:
                raise ValueError(f"there is no choice called {name!r}")
            reason = offered[name].check(value)
            if reason is not None and not (name == "data" and self.table is not None):
                raise ValueError(reason)
        return dataclasses.replace(self, values=MappingProxyType(values | changes))

    def with_table(self, name: str, content: bytes) -> AppState:
        """The same choices on a person's own table; table options start afresh."""
        fresh = {choice.name: choice.default for choice in CHOICES if choice.name in TABLE}
        values = MappingProxyType({**self.values, **fresh, "data": name})
        return AppState(values, (name, content))

    def without_table(self, data: str) -> AppState:
        """A shipped data set again; table options at their defaults."""
        fresh = {choice.name: choice.default for choice in CHOICES if choice.name in TABLE}
        return AppState(MappingProxyType({**self.values, **fresh})).change(data=data)

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
            pairs.append((choice.name, choice.write(value)))
        return urlencode(pairs)

    @classmethod
    def from_query(cls, query: str) -> tuple[AppState, tuple[str, ...]]:
        """State of a link, and a sentence for each part that cannot be used.

        Parameters
        ----------
        query : str
            With or without the question mark.  What is not in it keeps its
            default; unknown names are reported and ignored.
        """
        pairs = dict(parse_qsl(query.lstrip("?"), keep_blank_values=True))
        pairs.pop("theme", None)
        state, notes = cls.default(), []
        # The solver first: it decides which options exist.
        order = sorted(pairs, key=lambda name: name != "solver")
        for name in order:
            try:
                choice = state.choice(name)
            except StopIteration:
                notes.append(f"The link names {name!r}, which does not exist here; ignored.")
                continue
            try:
                state = state.change(**{name: choice.read(pairs[name])})
            except ValueError as problem:
                if name == "data":
                    notes.append(_lost_table(pairs[name], state["data"]))
                else:
                    default = choice.write(choice.default) or "empty"
                    notes.append(f"{problem}; using {default} instead.")
        return state, tuple(notes)

    def reset(self) -> AppState:
        """Defaults again, on the same data set or table."""
        fresh = dict(AppState.default().values)
        return AppState(MappingProxyType({**fresh, "data": self["data"]}), self.table)

    def same_run(self, other: AppState) -> bool:
        """Whether both give the same run (speed does not change it)."""
        mine = {k: v for k, v in self.values.items() if k not in COSMETIC}
        theirs = {k: v for k, v in other.values.items() if k not in COSMETIC}
        return mine == theirs and self.table == other.table

    def choices(self) -> Choices:
        """What `mkldash.experiments.workload.prepare` takes.

        Raises
        ------
        InputError
            For values that do not go together.
        """
        defaults = {o.name: o.default for o in solver_options(self["solver"])}
        options = tuple(
            (name.removeprefix(OPTION), self.values[name])
            for name, default in defaults.items()
            if self.values[name] != default
        )
        own = {name: self[name] for name in TABLE - {"text", "missing"}} if self.table else {}
        if self.table is None and self["positive"] is not None:
            own = {"positive": self["positive"]}
        text = self["text"] if self.table else "refuse"
        return Choices(
            data=self["data"],
            content=self.table[1] if self.table else None,
            solver=self["solver"],
            solver_options=options,
            eta=float(self["eta"]),
            C=float(self["C"]),
            tol=float(self["tol"]),
            max_iter=int(self["max_iter"]),
            train_fraction=float(self["train_fraction"]),
            seed=int(self["seed"]),
            bank=self["bank"],
            missing=self["missing"] if self.table else "error",
            exclude_text=text == "exclude",
            one_hot=_text_columns(self) if text == "one_hot" else (),
            **own,
        )

    def difference(self, other: AppState) -> tuple[str, ...]:
        """Choices that differ from those of `other` and that `summary` leaves out."""
        told = {"data", "bank", "eta", "C", "seed"} | COSMETIC
        found = []
        for choice in self.choices_offered():
            name = choice.name
            if name not in told and self.values.get(name) != other.values.get(name):
                value = choice.write(self.values[name]) or "automatic"
                found.append(f"{choice.label[:1].lower()}{choice.label[1:]} {value}")
        return tuple(found)

    def summary(self) -> str:
        """The parameters of a run in one short line, for its ghost."""
        return (
            f"{self['data']}, {self['bank']}, η = {self['eta']:g}, C = {self['C']:g}, "
            f"seed {self['seed']}"
        )


def _lost_table(name: str, instead: str) -> str:
    if name.lower().endswith((".csv", ".txt", ".tsv", ".data")):
        return (
            f"The link was made with the table {name!r}, which only its owner has: "
            f"upload it again. Showing {instead!r}."
        )
    return f"There is no data set called {name!r}; showing {instead!r}."


def _text_columns(state: AppState) -> tuple[str, ...]:
    from mkldash.datasets.tables import preview

    assert state.table is not None
    found = preview(state.table[1])
    return tuple(
        column
        for column, kind in zip(found.columns, found.types, strict=True)
        if kind == "text" and column != (state["label"] or found.label_guess)
    )
