"""What a comparison runs: a tuple of runs, from a grid or declared one by one."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mkldash.datasets.cards import available
from mkldash.errors import InputError
from mkldash.experiments.choices import Choices
from mkldash.experiments.problem_kinds import OWNED, find_problem, solvers_for
from mkldash.experiments.sources import read_source
from mkldash.experiments.workload import check_choices
from mkldash.kernels.banks import SINGLE
from mkldash.solvers import available_solvers

__all__ = ["AXES", "Run", "Sweep", "Task", "check_sweep", "parameters_of", "plain"]

#: Choices that a grid may vary, in the order in which they are nested; `weight_norm`
#: stands in the place of eta.
AXES = (
    "bank",
    "sigma_factor",
    "degree",
    "p",
    "penalty",
    "growth",
    "eta",
    "weight_norm",
    "C",
    "rho",
)

#: Choices that change neither rows nor kernels.
_OVER_A_BANK = (
    "solver", "solver_options", "eta", "weight_norm", "C", "rho", "tol", "max_iter", "time_limit",
)  # fmt: skip

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a run does where solving one problem once is not what is measured.

    Parameters
    ----------
    measure : callable
        A function of a module, since it goes to other processes.  It gets the run and
        gives what is known afterwards, as strict JSON; at least a status.
    name, title : str
        Of the method, where a record has the solver.
    options : tuple of (str, value)
        What it is measured at; part of the record.
    data : str or None
        What it is measured on.  None: the data set of the run's choices.
    """

    measure: Callable[[Run], Mapping[str, Any]]
    name: str
    title: str
    options: tuple[tuple[str, Any], ...] = ()
    data: str | None = None

    @property
    def said(self) -> dict[str, Any]:
        """What tells it from other tasks."""
        where = f"{self.measure.__module__}.{self.measure.__qualname__}"
        return {"task": [where, self.name, self.data, plain(self.options)]}


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a sweep.

    Parameters
    ----------
    choices : Choices
        Everything that makes the run; its seed is that of the split too.
    repeat : int
        Which repeat of the same settings it is, from 0.
    label : str
        What tables and figures group it under, where the settings do not say it.
    task : Task or None
        What it does in the place of solving.
    """

    choices: Choices
    repeat: int = 0
    label: str = ""
    task: Task | None = None

    @functools.cached_property
    def id(self) -> str:
        """Hash of choices, repeat, label and task: the same run has the same id tomorrow.

        Only choices that differ from their default count, so that a choice that a
        later version adds changes no id.
        """
        said = {"repeat": self.repeat, "label": self.label, **_said(self.choices)}
        if self.task is not None:
            said |= self.task.said
        text = json.dumps(said, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @functools.cached_property
    def bank_key(self) -> str:
        """The choices that rows and kernels are made of; what is left varies over one bank."""
        said = _said(self.choices)
        return json.dumps({n: v for n, v in said.items() if n not in _OVER_A_BANK}, sort_keys=True)


def _said(choices: Choices) -> dict[str, Any]:
    """The choices that differ from their default."""
    return {
        part.name: plain(value)
        for part in dataclasses.fields(choices)
        if part.init and (value := getattr(choices, part.name)) != part.default
    }


def plain(value: object) -> Any:
    """A value as strict JSON has it: infinities in words, bytes by their hash."""
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if hasattr(value, "item"):  # a number of numpy
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def parameters_of(choices: Choices) -> dict[str, Any]:
    """The parameters that have a meaning in the problem, by name, as JSON has them."""
    kind = choices.kind
    names = [name for name in OWNED if name not in ("bank", "gram") and kind.takes(name)]
    if (choices.bank or kind.bank) != SINGLE and "sigma_factor" in names:
        names.remove("sigma_factor")
    idle = "weight_norm" if choices.weight_norm is None else "eta"
    names = [name for name in names if name != idle]
    return {name: plain(getattr(choices, name)) for name in names}


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A tuple of runs, and what a folder of their results says about them.

    Parameters
    ----------
    runs : tuple of Run
        No two with the same id.
    command : str
        What made it, for people; may be empty.
    settings : mapping
        As JSON has it; for people, and for the choices of an app.  Its item ``fixed``
        (a mapping) must be the same when runs are added to a folder.

    Raises
    ------
    InputError
        When there is no run, or one twice.
    """

    runs: tuple[Run, ...]
    command: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.runs:
            raise InputError("a sweep needs at least one run")
        if len({run.id for run in self.runs}) < len(self.runs):
            raise InputError("a run is in the sweep twice: each needs choices of its own")

    @property
    def fixed(self) -> Mapping[str, Any]:
        """What must be the same when runs are added to a folder."""
        fixed: Mapping[str, Any] = self.settings.get("fixed", _EMPTY)
        return fixed

    @classmethod
    def of_grid(
        cls,
        data: Sequence[str],
        solvers: Sequence[str] = (),
        *,
        axes: Mapping[str, Sequence[Any]] = _EMPTY,
        options: Mapping[str, Sequence[Any]] = _EMPTY,
        repeats: int = 1,
        fixed: Mapping[str, Any] = _EMPTY,
        table: Mapping[str, Any] = _EMPTY,
        command: str = "",
    ) -> Sweep:
        """Every data set with every value of every parameter, solver and repeat.

        Parameters
        ----------
        data : sequence of str
            Shipped names, or paths of CSV files.
        solvers : sequence of str
            Names; empty: all that take the problem.
        axes : mapping of str to sequence
            Values of some of `AXES`.  Values of eta and of `weight_norm` are
            alternatives: each makes settings of its own.
        options : mapping of str to sequence
            Values of solvers' hyper-parameters; each goes to the solvers that have it.
        repeats : int
            Splits: the seeds are ``seed``, ``seed + 1``, ...
        fixed : mapping
            Other fields of `Choices`, alike in every run (`seed` is the first repeat's).
        table : mapping
            Fields of `Choices` that say how a CSV file is read; shipped sets get none.
        command : str
            See `Sweep`.

        Raises
        ------
        InputError
            For names and values that cannot be used.
        """
        _check_grid(data, axes, repeats)
        problem = str(fixed.get("problem", "elastic-net"))
        kind = find_problem(problem)
        names = tuple(dict.fromkeys(solvers)) or _takers(problem, fixed, axes)
        by_solver = _options_of(names, options)
        seed = int(fixed.get("seed", 0))
        shared = {key: value for key, value in fixed.items() if key != "seed"}
        cards, places = available(), tuple(dict.fromkeys(data))
        runs: list[Run] = []
        for place, repeat in itertools.product(places, range(repeats)):
            reading = {} if place in cards and len(places) > 1 else dict(table)
            turn = repeat % len(names)  # nobody is always first
            order = names[turn:] + names[:turn]
            for values, name in itertools.product(_settings(axes), order):
                for chosen in by_solver[name]:
                    choices = Choices(
                        data=place, solver=name, solver_options=chosen, seed=seed + repeat,
                        **{**shared, **values, **reading},
                    )  # fmt: skip
                    runs.append(Run(choices=choices, repeat=repeat))
        first = runs[0].choices
        settings = {
            "data": list(places),
            "solvers": list(names),
            "axes": {name: [plain(v) for v in values] for name, values in axes.items()},
            "options": {name: [plain(v) for v in values] for name, values in options.items()},
            "repeats": repeats,
            "fixed": {
                **{key: plain(value) for key, value in {**shared, **table}.items()},
                "problem": kind.name,
                "seed": seed,
                "tol": first.tol,
                "max_iter": first.max_iter,
            },
            "files": _digests(place for place in places if place not in cards),
        }
        return cls(runs=_once(runs), command=command, settings=settings)


def _check_grid(data: Sequence[str], axes: Mapping[str, Sequence[Any]], repeats: int) -> None:
    if not data:
        raise InputError("a comparison needs at least one data set")
    if repeats < 1:
        raise InputError(f"repeats must be at least 1, not {repeats!r}")
    known = {part.name for part in dataclasses.fields(Choices)}
    for name, values in axes.items():
        if name not in AXES or name not in known:
            raise InputError(f"'{name}' cannot be varied; {', '.join(AXES)} can")
        if not values:
            raise InputError(f"{name} has no value: leave it out, or give one")


def _takers(
    problem: str, fixed: Mapping[str, Any], axes: Mapping[str, Sequence[Any]]
) -> tuple[str, ...]:
    """Names of the solvers that take at least one of the settings."""
    asked = ("bank", "p", "eta", "weight_norm")
    found: dict[str, None] = {}
    for values in _settings(axes):
        chosen = {name: {**fixed, **values}.get(name) for name in asked}
        if chosen["weight_norm"] is not None:
            chosen["eta"] = None
        found.update(dict.fromkeys(solvers_for(problem, **chosen)))
    return tuple(found)


def _settings(axes: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Every combination of values, where eta and the norm of the weights exclude each other."""
    named = [[(name, value) for value in axes[name]] for name in AXES if name in axes]
    if "eta" in axes and "weight_norm" in axes:
        both = [pairs for pairs in named if pairs[0][0] in ("eta", "weight_norm")]
        place = named.index(both[0])
        named = [pairs for pairs in named if pairs not in both]
        named.insert(place, [*both[0], *both[1]])
    for combination in itertools.product(*named):
        yield dict(combination)


def _options_of(
    solvers: Sequence[str], options: Mapping[str, Sequence[Any]]
) -> dict[str, list[tuple[tuple[str, Any], ...]]]:
    """The combinations of hyper-parameters that each solver gets.

    Raises
    ------
    InputError
        For a solver that does not exist, or a hyper-parameter that none of them has.
    """
    kinds, found, used = available_solvers(), {}, set()
    for solver in solvers:
        if solver not in kinds:
            # The message with the names there are.
            check_choices(Choices(solver=solver))
        has = {part.name for part in dataclasses.fields(kinds[solver])}
        mine = [[(n, value) for value in values] for n, values in options.items() if n in has]
        used |= has & set(options)
        found[solver] = list(itertools.product(*mine))
    for name in options:
        if name not in used:
            raise InputError(f"none of {', '.join(solvers)} has an option '{name}'")
    return found


def _once(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs without those that are there already: a value may be said twice."""
    return tuple({run.id: run for run in runs}.values())


def _digests(paths: Iterator[str]) -> dict[str, str]:
    """What the files hold, so that a sweep is not continued over other numbers."""
    return {
        path: hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
        for path in paths
        if Path(path).is_file()
    }


def check_sweep(sweep: Sweep) -> None:
    """Refuse, before anything runs, what cannot be used.

    Every data set is read and split once; parameters and hyper-parameters are
    checked.  What a solver does not support is no mistake: it is recorded.

    Raises
    ------
    InputError
        Naming it and the remedy.
    """
    sources: dict[str, Any] = {}
    splits = set()
    for run in sweep.runs:
        choices = run.choices
        check_choices(choices)
        if run.task is not None and run.task.data is not None:
            continue  # no table is read
        options = choices.table_options()
        where = repr((choices.data, choices.gram, choices.kind.task, sorted(options.items())))
        if where not in sources:
            sources[where] = read_source(choices)
        split = (where, choices.seed, choices.train_fraction, choices.rows)
        if split not in splits:
            splits.add(split)
            sources[where].split(choices)
