"""Results as one tidy table, and what stands in the middle of the repeats."""

from __future__ import annotations

import csv
import io
import json
import os
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mkldash.errors import InputError
from mkldash.experiments.measuring import FAILED, UNSUPPORTED

__all__ = [
    "COUNTED",
    "Group",
    "Middle",
    "alike",
    "check_parquet",
    "group_results",
    "solver_label",
    "table_rows",
    "varied",
    "write_atomically",
    "write_table",
]

Record = Mapping[str, Any]

#: Numbers of a record that have a median over repeats.
COUNTED = (
    "gap", "iterations", "inner_solves", "seconds", "bank_seconds", "active_kernels",
    "support_vectors", "test_score", "test_mse",
)  # fmt: skip

_NESTED = ("options", "parameters", "weights", "trace", "notes", "versions")

#: Columns before the parameters, the rest of the scalars follow.
_FIRST = ("id", "label", "data", "problem", "solver", "title")


def table_rows(results: Iterable[Record]) -> tuple[list[str], list[list[Any]]]:
    """One row a run, scalars only.

    Parameters
    ----------
    results : iterable of dict
        As `mkldash.experiments.results.read_results` gives them.

    Returns
    -------
    columns : list of str
        Parameters by their names; hyper-parameters as ``option_NAME``, versions as
        ``version_NAME``.
    rows : list of list
        None where a run has no such value.
    """
    flat = [_flat(record) for record in results]
    columns: dict[str, None] = dict.fromkeys(_FIRST)
    for nested in ("parameters", "options", ""):
        columns |= dict.fromkeys(name for row in flat for kind, name in row if kind == nested)
    columns |= dict.fromkeys(name for row in flat for kind, name in row if kind == "versions")
    plain = [{name: value for (_, name), value in row.items()} for row in flat]
    return list(columns), [[row.get(name) for name in columns] for row in plain]


def _flat(record: Record) -> dict[tuple[str, str], Any]:
    """(where it comes from, column) -> value."""
    row = {("", name): value for name, value in record.items() if name not in _NESTED}
    row |= {("parameters", name): value for name, value in record["parameters"].items()}
    row |= {("options", f"option_{name}"): value for name, value in record["options"].items()}
    row |= {("versions", f"version_{name}"): value for name, value in record["versions"].items()}
    return row


def write_table(results: Iterable[Record], folder: str | Path, *, parquet: bool = False) -> Path:
    """Write ``table.csv``, and ``table.parquet`` if asked, whole or not at all.

    Parameters
    ----------
    results : iterable of dict
    folder : str or Path
    parquet : bool
        Needs pyarrow.

    Returns
    -------
    Path
        Of the CSV file.

    Raises
    ------
    InputError
        When pyarrow is asked for and not there.
    """
    columns, rows = table_rows(results)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([columns, *rows])
    path = Path(folder) / "table.csv"
    write_atomically(path, text.getvalue().encode())
    if parquet:
        check_parquet()
        _write_parquet(columns, rows, path.with_suffix(".parquet"))
    return path


def check_parquet() -> None:
    """Refuse Parquet where pyarrow is not installed.

    Raises
    ------
    InputError
        With the command that installs it.
    """
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise InputError(
            "a Parquet table needs pyarrow, which is not installed: pip install "
            "'mkldash[parquet]'; table.csv holds the same without it"
        ) from error


def _write_parquet(columns: Sequence[str], rows: Sequence[Sequence[Any]], path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    arrays = []
    for values in zip(*rows, strict=True):
        kinds = {type(value) for value in values if value is not None}
        # A parameter may be a number here and "inf" there.
        mixed = len(kinds) > 1 and not kinds <= {int, float}
        if mixed:
            values = tuple(None if value is None else str(value) for value in values)
        elif kinds == {int, float}:
            values = tuple(None if value is None else float(value) for value in values)
        arrays.append(pyarrow.array(values))
    new = path.with_name(f"{path.name}.new")
    pyarrow.parquet.write_table(pyarrow.table(arrays, names=list(columns)), new)
    os.replace(new, path)


def write_atomically(path: Path, content: bytes) -> None:
    """The file is there as it was, or as it will be; never half of it."""
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(content)
    os.replace(new, path)


class Middle(NamedTuple):
    """Median and range over the repeats that have the number."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Middle | None:
        """None when there is no value."""
        if not values:
            return None
        return cls(float(statistics.median(values)), float(min(values)), float(max(values)))


@dataclass(frozen=True, kw_only=True)
class Group:
    """The repeats of one solver on one data set under one setting.

    Attributes
    ----------
    data, problem, label : str
    parameters : mapping
        Without what is alike everywhere, see `varied`.
    solver : str
        With its hyper-parameters, see `solver_label`.
    results : tuple of dict
        By repeat.
    middles : mapping of str to Middle or None
        For each of `COUNTED`, over the runs that ran.
    """

    data: str
    problem: str
    label: str
    parameters: Mapping[str, Any]
    solver: str
    results: tuple[Record, ...]
    middles: Mapping[str, Middle | None]

    @property
    def ran(self) -> tuple[Record, ...]:
        """Those that were solved, whether or not to the tolerance."""
        return tuple(r for r in self.results if r["status"] not in (FAILED, UNSUPPORTED))

    @property
    def converged(self) -> int:
        """How many reached the tolerance."""
        return sum(record["status"] == "converged" for record in self.results)

    @property
    def setting(self) -> str:
        """The parameters in words."""
        words = [f"{name} {value}" for name, value in self.parameters.items()]
        return ", ".join([self.label, *words] if self.label else words)


def solver_label(record: Record) -> str:
    """The solver's title, with the hyper-parameters that were chosen."""
    chosen = ", ".join(f"{name} {_short(value)}" for name, value in record["options"].items())
    return f"{record['title']} ({chosen})" if chosen else str(record["title"])


def alike(results: Sequence[Record]) -> dict[str, Any]:
    """The parameters that every run has at one value, in words."""
    first = results[0]["parameters"] if results else {}
    return {
        name: _short(value)
        for name, value in first.items()
        if all(name in r["parameters"] and r["parameters"][name] == value for r in results)
    }


def varied(results: Sequence[Record]) -> Callable[[Record], dict[str, Any]]:
    """Gives of each record the parameters that set it apart from others, in words.

    Bank, tolerance and training rows come in where they vary.
    """
    same = alike(results)
    more = [
        name
        for name in ("asked_bank", "tol", "rows")
        if len({json.dumps(record.get(name)) for record in results}) > 1
    ]

    def settings(record: Record) -> dict[str, Any]:
        found = {
            name: _short(value) for name, value in record["parameters"].items() if name not in same
        }
        found |= {
            name.removeprefix("asked_"): _short(record[name]) for name in more if record.get(name)
        }
        return found

    return settings


def _short(value: Any) -> Any:
    return f"{value:g}" if isinstance(value, float) else value


def group_results(results: Sequence[Record]) -> list[Group]:
    """Repeats put together: by data set, setting and solver, in the order of their first line.

    Parameters
    ----------
    results : sequence of dict

    Returns
    -------
    list of Group
        Groups of one data set and setting follow each other.
    """
    settings = varied(results)
    nested: dict[str, dict[str, dict[str, list[Record]]]] = {}
    for record in _in_order(results):
        key = json.dumps([record["problem"], record["label"], settings(record)])
        where = nested.setdefault(record["data"], {}).setdefault(key, {})
        where.setdefault(solver_label(record), []).append(record)
    groups = []
    for data, by_setting in nested.items():
        for by_solver in by_setting.values():
            for solver, found in by_solver.items():
                groups.append(_group(data, solver, found, settings(found[0])))
    return groups


def _in_order(results: Sequence[Record]) -> list[Record]:
    """By what was asked and not by who came first, which changes from time to time."""
    order: dict[str, dict[str, int]] = {"data": {}, "label": {}}
    for record in results:
        for name, seen in order.items():
            seen.setdefault(record[name], len(seen))

    def place(record: Record) -> tuple[Any, ...]:
        numbers = [
            (0, value, "") if isinstance(value, int | float) else (1, 0.0, str(value))
            for value in record["parameters"].values()
        ]
        return (
            order["data"][record["data"]],
            order["label"][record["label"]],
            record["problem"],
            str(record.get("asked_bank")),
            numbers,
            solver_label(record),
            record["repeat"],
        )

    return sorted(results, key=place)


def _group(data: str, solver: str, found: list[Record], parameters: Mapping[str, Any]) -> Group:
    ran = [r for r in found if r["status"] not in (FAILED, UNSUPPORTED)]
    middles = {
        name: Middle.of([float(r[name]) for r in ran if r.get(name) is not None])
        for name in COUNTED
    }
    first = found[0]
    return Group(
        data=data,
        problem=first["problem"],
        label=first["label"],
        parameters=parameters,
        solver=solver,
        results=tuple(found),
        middles=middles,
    )
