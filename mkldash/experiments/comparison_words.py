"""Numbers and sentences of a comparison, for its report and for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from mkldash.experiments.comparison_table import Group, Middle, alike

__all__ = [
    "alike_words",
    "cell",
    "figure_of",
    "running_words",
    "split_words",
    "statuses",
    "summary_rows",
]

#: How a status reads after a number of runs.
_ENDED = {
    "converged": "converged",
    "iteration_limit": "reached the iteration limit",
    "time_limit": "reached the time limit",
    "stalled": "stalled",
    "stopped": "were stopped",
    "not_finite": "met a number that is not finite",
    "unsupported": "not supported by the solver",
    "failed": "failed",
}

_WHOLE = ("iterations", "inner_solves", "active_kernels", "support_vectors")


def figure_of(name: str, value: float) -> str:
    """A number of a record as a person reads it; scores in percent."""
    if name == "test_score":
        return f"{100 * value:.1f} %"
    if name in _WHOLE:
        return f"{value:g}" if value < 1e6 else f"{value:,.0f}"
    if name.endswith("seconds"):
        return f"{1000 * value:.3g} ms" if value < 0.1 else f"{value:,.3g} s"
    return f"{value:.2e}" if name == "gap" else f"{value:.3g}"


def cell(name: str, middle: Middle) -> tuple[str, str]:
    """The median, and the range where there is one."""
    median, least, most = (figure_of(name, value) for value in middle)
    return median, "" if least == most else f"{least} – {most}"


def alike_words(results: Sequence[Mapping[str, Any]]) -> str:
    """What every run has in common, such as ``tolerance 0.001, C 100``."""
    first = results[0]
    said = [f"problem {first['problem']}"] if _same(results, "problem") else []
    if _same(results, "tol"):
        said.append(f"relative gap to reach {first['tol']:g}")
    if _same(results, "max_iter"):
        said.append(f"at most {first['max_iter']} iterations")
    if _same(results, "time_limit") and first["time_limit"] is not None:
        said.append(f"at most {first['time_limit']:g} s of solving")
    said += [f"{name} {value}" for name, value in alike(results).items()]
    return ", ".join(said)


def _same(results: Sequence[Mapping[str, Any]], name: str) -> bool:
    return len({record[name] for record in results}) == 1


def statuses(results: Sequence[Mapping[str, Any]]) -> str:
    """How the runs ended, such as ``10 converged, 2 failed``."""
    found = Counter(record["status"] for record in results)
    known = [name for name in _ENDED if name in found]
    said = [f"{found[name]} {_ENDED[name]}" for name in known]
    said += [f"{n} {name}" for name, n in found.items() if name not in _ENDED]
    return ", ".join(said) or "none yet"


def running_words(results: Sequence[Mapping[str, Any]]) -> str:
    """Whether the runs had the machine to themselves."""
    most = max((int(record.get("jobs") or 1) for record in results), default=1)
    if most == 1:
        said = "The runs came one after the other."
    else:
        said = (
            f"Up to {most} runs went side by side and shared the machine’s caches and memory: "
            "times say who is faster, and running one at a time would say by how much."
        )
    crowded = [
        (float(record["load"]), int(record["cores"]))
        for record in results
        if record.get("load") is not None and record["load"] > most + 0.5 * record["cores"]
    ]
    if crowded:
        load, cores = max(crowded)
        said += (
            f" The machine had other work too ({len(crowded)} of {len(results)} runs, a load of "
            f"up to {load:g} on {cores} cores): times vary more than the solvers make them."
        )
    return said


def split_words(results: Sequence[Mapping[str, Any]]) -> str:
    """What sets the repeats apart."""
    if all(record.get("rows") is not None for record in results):
        return "All repeats have the same rows: they differ in timing and in what a solver draws."
    return "Each repeat has a split of its own, the same for all solvers."


def summary_rows(groups: Sequence[Group]) -> list[tuple[str, ...]]:
    """A row of words for each group, the names first."""
    rows: list[tuple[str, ...]] = [
        ("data", "setting", "solver", "converged", "gap", "solves", "time", "test")
    ]
    for group in groups:
        if not group.ran:
            status = group.results[0]["status"]
            rows.append((group.data, group.setting, group.solver, status, "", "", "", ""))
            continue
        score = "test_score" if group.middles["test_score"] else "test_mse"
        numbers = []
        for name in ("gap", "inner_solves", "seconds", score):
            middle = group.middles[name]
            numbers.append("–" if middle is None else " ".join(_spanned(name, middle)))
        done = f"{group.converged} of {len(group.results)}"
        rows.append((group.data, group.setting, group.solver, done, *numbers))
    return rows


def _spanned(name: str, middle: Middle) -> tuple[str, ...]:
    median, span = cell(name, middle)
    return (median, f"({span})") if span and name == "seconds" else (median,)
