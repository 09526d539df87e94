"""Runs a reproduction into a folder, and writes what came out beside what the paper says."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from mkldash.datasets.cards import suggest
from mkldash.errors import InputError
from mkldash.experiments.comparison_report import write_report
from mkldash.experiments.comparison_table import write_atomically, write_table
from mkldash.experiments.comparison_words import running_words, statuses
from mkldash.experiments.measuring import FAILED, UNSUPPORTED
from mkldash.experiments.reproductions import available_reproductions
from mkldash.experiments.reproductions.base import PAPERS, Record, Reproduction, ran
from mkldash.experiments.results import read_results, read_sweep
from mkldash.experiments.running import Progress, run_sweep

__all__ = [
    "conditions",
    "duration",
    "find_reproduction",
    "markdown",
    "measured_durations",
    "reproduce",
    "results_in_order",
    "write_reproduction",
]


def find_reproduction(name: str) -> Reproduction:
    """The reproduction of that name.

    Raises
    ------
    InputError
        Naming those there are.
    """
    kinds = available_reproductions()
    if name not in kinds:
        raise InputError(
            f"no reproduction is called '{name}'{suggest(name, kinds)}; there are "
            f"{', '.join(kinds)}"
        )
    return kinds[name]()


def reproduce(
    reproduction: Reproduction,
    folder: str | Path,
    *,
    quick: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
    retry_failed: bool = False,
    command: str = "",
) -> list[dict[str, Any]]:
    """Run what is not in the folder yet, and write table, figure and sentence.

    Parameters
    ----------
    reproduction : Reproduction
    folder : str or Path
        Goes on where it stopped.
    quick : bool
        The form for minutes.
    jobs, progress, retry_failed
        See `mkldash.experiments.running.run_sweep`.
    command : str
        What made it, for people.

    Returns
    -------
    list of dict
        The records.

    Raises
    ------
    InputError
        For a folder that cannot be used.
    """
    sweep = reproduction.sweep(quick, command)
    run_sweep(sweep, folder, jobs=jobs, progress=progress, retry_failed=retry_failed)
    write_reproduction(reproduction, folder)
    return results_in_order(reproduction, folder)


def results_in_order(reproduction: Reproduction, folder: str | Path) -> list[dict[str, Any]]:
    """The records of a folder as they were declared, not as they came.

    Parameters
    ----------
    reproduction : Reproduction
    folder : str or Path

    Returns
    -------
    list of dict
        Those of runs that are no longer declared (their solver is gone) come last.
    """
    runs = reproduction.runs(_form(read_sweep(folder)) == "quick")
    place = {run.id: k for k, run in enumerate(runs)}
    return sorted(read_results(folder), key=lambda r: place.get(r["id"], len(place)))


def _form(sweep: Mapping[str, Any]) -> str:
    """Which form a folder holds."""
    form: str = sweep.get("settings", {}).get("fixed", {}).get("form", "full")
    return form


def write_reproduction(reproduction: Reproduction, folder: str | Path) -> list[Path]:
    """Write ``result.md``, ``figure.svg``, ``table.csv`` and, where it fits, ``report.html``.

    Parameters
    ----------
    reproduction : Reproduction
    folder : str or Path
        With results.

    Returns
    -------
    list of Path
        Of the files.
    """
    folder = Path(folder)
    results, sweep = results_in_order(reproduction, folder), read_sweep(folder)
    paths = [folder / "result.md", folder / "figure.svg"]
    write_atomically(paths[0], markdown(reproduction, results, sweep).encode())
    write_atomically(paths[1], reproduction.figure(ran(results)).encode())
    paths.append(write_table(results, folder))
    if reproduction.has_gaps:
        paths.append(write_report(folder))
    return paths


def markdown(
    reproduction: Reproduction, results: Sequence[Record], sweep: Mapping[str, Any]
) -> str:
    """What came out as a Markdown page.

    Parameters
    ----------
    reproduction : Reproduction
    results : sequence of dict
        Those that failed are counted and are in nothing else.
    sweep : mapping
        As ``sweep.json`` has it.

    Returns
    -------
    str
    """
    form = _form(sweep)
    what = reproduction.quick if form == "quick" else reproduction.full
    planned = max(int(sweep.get("runs", 0)), len(results))
    lines = [
        f"# {reproduction.title}",
        "",
        f"*{PAPERS[reproduction.paper]}*",
        "",
        reproduction.sentence(results),
        "",
        f"- Form: {form}: {what}.",
        f"- Runs: {len(results)} of {planned}: {statuses(results)}.",
        f"- Every run: {reproduction.setting}.",
        f"- Measured on: {conditions(results)}.",
        f"- {running_words(results)}",
        f"- Not as in the paper: {reproduction.unlike}",
    ]
    if form == "quick":
        lines.append("- The quick form has fewer sets, settings and splits than the full one.")
    broken = [r for r in results if r["status"] in (FAILED, UNSUPPORTED)]
    for said in dict.fromkeys(f"{r['title']} on {r['data']}: {r['reason']}" for r in broken):
        lines.append(f"- {said}")
    lines += ["", *_table(reproduction.table(ran(results))), "", "![Figure](figure.svg)", ""]
    if sweep.get("command"):
        lines += [f"Made by `{sweep['command']}`; table.csv has one row a run.", ""]
    return "\n".join(lines)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    return [*lines[:1], f"|{'---|' * len(rows[0])}", *lines[1:]]


def conditions(results: Sequence[Record]) -> str:
    """Machine, seeds and versions, as far as records say."""
    if not results:
        return "nothing yet"
    loads = [float(r["load"]) for r in results if r.get("load") is not None]
    jobs = sorted({int(r.get("jobs") or 1) for r in results})
    beside = " or ".join("one run at a time" if n == 1 else f"{n} runs at a time" for n in jobs)
    seeds = sorted({int(r["seed"]) for r in results})
    versions = dict.fromkeys(
        ", ".join(f"{n} {v}" for n, v in r["versions"].items()) for r in results
    )
    cores = " or ".join(str(n) for n in sorted({r["cores"] for r in results}))
    span = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]} ({len(seeds)})"
    low, high = min(loads, default=0.0), max(loads, default=0.0)
    load = f", machine load {low:g}" + (f" to {high:g}" if high > low else "") if loads else ""
    return (
        f"{cores} cores{load}, {beside}, one BLAS thread each, seeds {span}; {' / '.join(versions)}"
    )


def duration(results: Sequence[Record]) -> dict[str, Any]:
    """What the runs took, one after the other, and how busy the machine was at most."""
    loads = [float(r["load"]) for r in results if r.get("load") is not None]
    return {
        "seconds": round(sum(float(r.get("wall_seconds") or 0.0) for r in results), 1),
        "runs": len(results),
        "cores": max((int(r["cores"]) for r in results), default=0),
        "load": round(max(loads, default=0.0), 1),
    }


@functools.cache
def measured_durations() -> dict[str, dict[str, dict[str, Any]]]:
    """By name and form: what `duration` said of a whole run on one machine."""
    path = resources.files("mkldash.experiments.reproductions") / "durations.json"
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))
    return found
