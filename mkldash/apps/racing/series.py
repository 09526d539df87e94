"""From the runs of a comparison to curves: median and range over repeats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mkldash.apps.racing.schedule import Axis
from mkldash.problems.certificates import relative_gap
from mkldash.views._reading import thin

Array = NDArray[np.float64]

__all__ = ["Series", "Spread", "filters", "gap_spread", "make_series", "matching"]

#: Columns of a recorded trace, by those of a live one.
RECORDED = {"iteration": "iteration", "inner_solves": "inner_solves", "elapsed": "seconds"}

#: Places of one curve, at most.
MOST_PLACES = 600


@dataclass(frozen=True, eq=False)
class Series:
    """Repeats of one solver with one set of parameters on one data set.

    Parameters
    ----------
    label : str
    problem, group : str
        `group` is equal for series that solve the same problems.
    runs : tuple of dict
        Those that could be run.
    refused : str
        Why none of them could, or nothing.
    """

    label: str
    problem: str
    group: str
    runs: tuple[Mapping[str, Any], ...]
    refused: str = ""

    def spread(self, name: str) -> Spread:
        """A number over the repeats."""
        values = [run.get(name) for run in self.runs]
        known = np.array([v for v in values if v is not None], dtype=np.float64)
        if not known.size:
            return Spread(math.nan, math.nan, math.nan)
        return Spread(float(np.median(known)), float(known.min()), float(known.max()))

    @property
    def certified(self) -> int:
        """How many repeats were certified to their tolerance."""
        return sum(run.get("status") == "converged" for run in self.runs)


class Spread(NamedTuple):
    """Median and range."""

    median: float
    low: float
    high: float


def filters(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """What can be chosen among the runs: data sets, and parameters with several values."""
    found: dict[str, list[Any]] = {"data": sorted({str(r["data"]) for r in records})}
    names = dict.fromkeys(name for record in records for name in record.get("parameters", {}))
    for name in names:
        values = {r["parameters"][name] for r in records if name in r.get("parameters", {})}
        plain = [v for v in values if isinstance(v, int | float | str)]
        if len(plain) > 1:
            found[name] = sorted(plain, key=lambda v: (isinstance(v, str), v))
    return found


def matching(
    records: Sequence[Mapping[str, Any]], chosen: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """The runs with these values; those without such a parameter are kept."""

    def fits(record: Mapping[str, Any]) -> bool:
        own = {"data": record["data"], **record.get("parameters", {})}
        return all(own.get(name, value) == value for name, value in chosen.items())

    return [record for record in records if fits(record)]


def make_series(records: Sequence[Mapping[str, Any]]) -> list[Series]:
    """One series for each solver, options and parameters; repeats are gathered.

    A label names what differs among the series and nothing else.
    """
    gathered: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for record in records:
        own = tuple(sorted((n, _plain(v)) for n, v in record.get("parameters", {}).items()))
        options = tuple(sorted((n, _plain(v)) for n, v in record.get("options", {}).items()))
        key = (record["problem"], record["data"], own, record["solver"], options)
        gathered.setdefault(key, []).append(record)
    parts = [{"data": k[1], **dict(k[2]), **dict(k[4])} for k in gathered]
    differs = {n for part in parts for n, v in part.items() if any(p.get(n) != v for p in parts)}
    found = []
    for (problem, data, own, _, _), part, runs in zip(
        gathered, parts, gathered.values(), strict=True
    ):
        told = [
            str(value) if name == "data" else f"{_sign(name)} {value}"
            for name, value in part.items() if name in differs
        ]  # fmt: skip
        ran = tuple(r for r in runs if r.get("trace", {}).get("iteration"))
        why = "" if ran else str(runs[0].get("reason") or runs[0].get("status") or "")
        title = str(runs[0].get("label") or runs[0].get("title") or runs[0]["solver"])
        found.append(
            Series(", ".join((title, *told)), problem, f"{problem} {data} {own}", ran, why)
        )
    return found


def gap_spread(series: Series, axis: Axis) -> tuple[Array, Array, Array, Array]:
    """Gap of a series along an axis, over its repeats.

    Parameters
    ----------
    series : Series
    axis : Axis

    Returns
    -------
    x, median, low, high : array, shape (n_places,)
        A repeat counts with its last gap, also after its end, and as infinite
        before its first.
    """
    traces = []
    for run in series.runs:
        trace = run["trace"]
        x = np.asarray(trace[RECORDED[axis.column]], dtype=np.float64)
        gaps = [
            math.inf if u is None or low is None else relative_gap(u, low)
            for u, low in zip(trace["upper"], trace["lower"], strict=True)
        ]
        traces.append((x, np.asarray(gaps, dtype=np.float64)))
    if not traces:
        return tuple(np.empty(0) for _ in range(4))  # type: ignore[return-value]
    places = np.unique(np.concatenate([x for x, _ in traces]))
    places = places[thin(len(places), MOST_PLACES)]
    table = np.full((len(traces), len(places)), np.inf)
    for i, (x, known) in enumerate(traces):
        rows = np.searchsorted(x, places, side="right") - 1
        table[i, rows >= 0] = known[rows[rows >= 0]]
    # Where less than half of the repeats have begun there is no median to speak of.
    median = np.median(table, axis=0)
    return places, median, table.min(axis=0), table.max(axis=0)


def _plain(value: Any) -> str:
    """A parameter as people write it; numbers that differ stay apart."""
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)


def _sign(name: str) -> str:
    return {"eta": "η", "rho": "ρ"}.get(name, name.replace("_", " "))
