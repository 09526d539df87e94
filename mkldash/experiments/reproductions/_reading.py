"""Numbers and words of results that several reproductions need."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from mkldash.experiments.comparison_figures import figure_svg, gap_curve
from mkldash.experiments.comparison_words import figure_of
from mkldash.experiments.point_figures import Panel, Series, panels_svg
from mkldash.experiments.reproductions.base import Record
from mkldash.problems.certificates import relative_gap
from mkldash.solvers import available_solvers

__all__ = [
    "gap_panels",
    "joined",
    "median",
    "pick",
    "point_series",
    "ratio_range",
    "seconds_words",
    "styles_of",
    "title_of",
    "to_gap",
    "took",
    "values_of",
    "verdict",
]


def title_of(solver: str) -> str:
    """A solver's title in a sentence; its name if there is no such solver."""
    kinds = available_solvers()
    title = kinds[solver].title if solver in kinds else solver.replace("-", " ")
    return title if title[:2].isupper() else title[0].lower() + title[1:]


def values_of(results: Iterable[Record], key: str) -> list[Any]:
    """The values of a field or parameter, each once, in order of appearance."""
    return list(dict.fromkeys(look(r, key) for r in results))


def look(record: Record, key: str) -> Any:
    """A field, or a parameter or option of that name."""
    if key in record:
        return record[key]
    return record["parameters"].get(key, record["options"].get(key))


def pick(results: Iterable[Record], **wanted: Any) -> list[Record]:
    """The results whose fields, parameters or options have these values."""
    return [r for r in results if all(look(r, key) == value for key, value in wanted.items())]


def median(values: Sequence[float]) -> float:
    """NaN of nothing; infinite where the middle is."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return low if low == high else 0.5 * (low + high)


def to_gap(record: Record, gap: float, column: str = "seconds") -> float:
    """Seconds, or whatever a trace counts, to a relative gap; infinite if never reached."""
    trace = record["trace"]
    for upper, lower, place in zip(trace["upper"], trace["lower"], trace[column], strict=True):
        if upper is not None and lower is not None and relative_gap(upper, lower) <= gap:
            return float(place)
    return math.inf


def verdict(hits: int, total: int) -> str:
    """How far a claim was borne out."""
    if total == 0:
        return "nothing can be said yet"
    if hits == total:
        return "the same came out"
    return "the opposite came out" if hits == 0 else "it came out in part"


def ratio_range(ratios: Sequence[float]) -> str:
    """``0.52 to 3.4 times``."""
    first, last = (f"{v:,.0f}" if v >= 100 else f"{v:.2g}" for v in (min(ratios), max(ratios)))
    return f"{first} times" if first == last else f"{first} to {last} times"


def took(who: str, ratios: Sequence[float], solves: Sequence[float] = ()) -> str:
    """``the planes took 0.5 to 3 times its seconds``, of the places that both reached.

    Parameters
    ----------
    who : str
    ratios, solves : sequence of float
        Of seconds, and of support vector machines; 0 or infinite where one never got
        there.
    """
    seconds, counted = ([r for r in values if 0.0 < r < math.inf] for values in (ratios, solves))
    if not seconds:
        return f"{who} and it never got to the same place"
    more = f" and {ratio_range(counted)} its SVMs" if counted else ""
    return f"{who} took {ratio_range(seconds)} its seconds{more} where both got there"


def joined(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def seconds_words(value: float) -> str:
    """Seconds as people write them; a dash where a gap was never reached."""
    if not math.isfinite(value):
        return "–"
    return f"{1e6 * value:.3g} µs" if value < 1e-4 else figure_of("seconds", value)


def styles_of(results: Iterable[Record]) -> dict[str, int]:
    """A line style for each method, by its title."""
    return {title: k for k, title in enumerate(sorted({r["title"] for r in results}))}


def gap_panels(results: Sequence[Record], along: Sequence[tuple[str, str]], key: str) -> str:
    """Gap against each column of `along`, a panel for each data set and value of `key`."""
    styles, panels = styles_of(results), []
    for data in values_of(results, "data"):
        for value in sorted(values_of(pick(results, data=data), key)):
            mine = pick(pick(results, data=data), **{key: value})
            said = data if key == "data" else f"{data}, {key} {value:g}"
            for column, label in along:
                curves = [
                    curve
                    for title, found in _by_title(mine)
                    if (
                        curve := gap_curve(
                            [r["trace"] for r in found], column, name=title, style=styles[title]
                        )
                    )
                    is not None
                ]
                picture = figure_svg(
                    curves, label, counts=column != "seconds", tol=mine[0].get("tol")
                )
                panels.append(Panel(said, picture))
    return panels_svg(panels, list(styles.items()), across=len(along))


def _by_title(results: Sequence[Record]) -> list[tuple[str, list[Record]]]:
    ordered = sorted(results, key=lambda r: str(r["title"]))
    return [(t, list(found)) for t, found in groupby(ordered, key=lambda r: str(r["title"]))]


def point_series(
    results: Sequence[Record], x_key: str, y_key: str, places: Sequence[Any] = ()
) -> list[Series]:
    """A series for each method: median and range of `y_key` at each value of `x_key`.

    Parameters
    ----------
    results : sequence of dict
    x_key, y_key : str
    places : sequence, optional
        Values of `x_key` that are names; x is then their number.
    """
    styles, found = styles_of(results), []
    for title, style in styles.items():
        mine = pick(results, title=title)
        at = [v for v in places or sorted(values_of(mine, x_key)) if pick(mine, **{x_key: v})]
        numbers = [
            [float(r[y_key]) for r in pick(mine, **{x_key: v}) if r[y_key] is not None] for v in at
        ]
        at = [v for v, values in zip(at, numbers, strict=True) if values]
        numbers = [values for values in numbers if values]
        found.append(
            Series(
                name=title,
                style=style,
                x=[places.index(v) if places else float(v) for v in at],
                middle=[statistics.median(values) for values in numbers],
                least=[min(values) for values in numbers],
                most=[max(values) for values in numbers],
            )
        )
    return found
