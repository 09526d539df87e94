"""A comparison as one HTML file that asks for nothing outside itself."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

from mkldash.errors import InputError
from mkldash.experiments.comparison_figures import (
    AXES_OF_GAP,
    GapCurve,
    figure_svg,
    gap_curve,
)
from mkldash.experiments.comparison_table import (
    Group,
    Middle,
    group_results,
    write_atomically,
)
from mkldash.experiments.comparison_words import (
    alike_words,
    cell,
    running_words,
    split_words,
    statuses,
)
from mkldash.experiments.measuring import FAILED, UNSUPPORTED
from mkldash.experiments.results import read_results, read_sweep
from mkldash.experiments.svg_axes import line_style

__all__ = ["report_html", "write_report"]

#: Bytes that the pictures of a report may take, and points of a curve.
_BUDGET, _MOST_POINTS, _FEWEST_POINTS, _BYTES_A_POINT = 3_000_000, 100, 12, 36

#: Settings that are drawn at most; the tables have all.
MOST_FIGURES = 240

_COLUMNS = (
    ("converged", ""),
    ("gap", "relative gap"),
    ("iterations", "iterations"),
    ("inner_solves", "inner solves"),
    ("seconds", "time"),
    ("bank_seconds", "bank"),
    ("active_kernels", "kernels"),
    ("test_score", "test accuracy"),
    ("test_mse", "test MSE"),
)


def write_report(folder: str | Path) -> Path:
    """Write ``report.html`` from what a folder holds.

    Parameters
    ----------
    folder : str or Path

    Returns
    -------
    Path
        Of the report.

    Raises
    ------
    InputError
        When the folder is none of a comparison of solvers.
    """
    path = Path(folder) / "report.html"
    sweep, results = read_sweep(folder), read_results(folder)
    if any(record["tol"] is None for record in results):
        raise InputError(
            f"{folder} holds measurements that are no runs of solvers: 'mkldash reproduce NAME "
            "--out FOLDER' writes what is said about them"
        )
    write_atomically(path, report_html(sweep, results).encode())
    return path


def report_html(sweep: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> str:
    """The report as one page.

    Parameters
    ----------
    sweep : mapping
        As ``sweep.json`` has it.
    results : sequence of dict
        As `mkldash.experiments.results.read_results` gives them.

    Returns
    -------
    str
    """
    groups = group_results(results)
    styles = {name: i for i, name in enumerate(dict.fromkeys(group.solver for group in groups))}
    title = "Comparison of solvers"
    parts = [
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>mkldash: {title.lower()}</title>"
        f"<style>{_file('comparison.css')}</style></head><body>",
        f"<h1>{title}</h1>",
        *_opening(sweep, results),
        *_legend({group.solver: styles[group.solver] for group in groups if group.ran}),
    ]
    settings = [list(found) for _, found in groupby(groups, key=_setting)]
    drawn = sum(any(group.ran for group in found) for found in settings[:MOST_FIGURES])
    curves = max(1, drawn * max(1, len(styles)) * len(AXES_OF_GAP))
    points = min(_MOST_POINTS, max(_FEWEST_POINTS, _BUDGET // (curves * _BYTES_A_POINT)))
    data = None
    for i, found in enumerate(settings):
        if found[0].data != data:
            data = found[0].data
            parts.append(f"<h2>{_text(data)}</h2>{_rows_of(found)}")
        parts += _section(found, styles, points if i < MOST_FIGURES else 0)
    if len(settings) > MOST_FIGURES:
        parts.append(
            f"<p>Only the first {MOST_FIGURES} settings are drawn; the tables have all.</p>"
        )
    parts += [*_unable(results), *_provenance(sweep, results)]
    return "\n".join([*parts, f"<script>{_file('comparison.js')}</script></body></html>", ""])


def _file(name: str) -> str:
    """A style sheet or script that goes into the page."""
    return (resources.files("mkldash.experiments") / name).read_text(encoding="utf-8")


def _text(value: object) -> str:
    return html.escape(str(value), quote=True)


def _setting(group: Group) -> tuple[str, str, str]:
    return group.data, group.problem, group.setting


def _opening(sweep: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How many runs there are, how they ended, and how they were measured."""
    planned = max(int(sweep.get("runs", 0)), len(results))
    yield f"<p>{len(results)} of {planned} runs: {_text(statuses(results))}.</p>"
    if len(results) < planned:
        yield (
            '<p class="warn">This comparison is not finished: medians are over the runs that '
            "there are. The command below goes on where it stopped.</p>"
        )
    if results:
        yield f"<p>In all runs: {_text(alike_words(results))}.</p>"
    if sweep.get("command"):
        yield f"<pre>{_text(sweep['command'])}</pre>"
    yield (
        "<p>Tables give the median over the repeats and, below it, their range; pictures draw the "
        f"median as a line and the range as a band. {_text(split_words(results))} The relative "
        "gap is upper/lower − 1 of certified bounds, computed by "
        "the same code for every solver. Times are of the solver’s own work, on one BLAS thread: "
        "building the kernels (<em>bank</em>) is measured apart and shared by the runs on the same "
        "rows, compiled code is loaded before the clock starts, and recording is not counted. "
        f"{_text(running_words(results))}</p>"
    )


def _legend(styles: Mapping[str, int]) -> Iterator[str]:
    yield '<div id="legend">'
    for name, style in styles.items():
        colour, dashes = line_style(style)
        yield (
            f'<button aria-pressed="true" data-style="{style}"><svg viewBox="0 0 35 10" '
            f'aria-hidden="true"><path d="M0 5H35" stroke="{colour}" stroke-width="3" '
            f'stroke-dasharray="{dashes}"/></svg> {_text(name)}</button>'
        )
    yield '<span class="soft">a click hides</span></div>'


def _rows_of(groups: Sequence[Group]) -> str:
    """Size of the data, where a run has seen it."""
    seen = [record for group in groups for record in group.ran]
    if not seen:
        return ""
    first = seen[0]
    return (
        f'<p class="soft">{first["n_train"]} training rows, {first["n_test"]} test rows, '
        f"{first['n_kernels']:,} kernel{'s' if first['n_kernels'] != 1 else ''} "
        f"(bank {_text(first['bank'])})</p>"
    )


def _section(groups: Sequence[Group], styles: Mapping[str, int], points: int) -> Iterator[str]:
    """Pictures and table of one data set under one setting."""
    first = groups[0]
    if first.setting:
        yield f"<h3>{_text(first.data)}, {_text(first.setting)}</h3>"
    tols = {record["tol"] for group in groups for record in group.results}
    tol = tols.pop() if len(tols) == 1 else None
    if points and any(group.ran for group in groups):
        yield '<div class="figures">'
        for along, label, counts in AXES_OF_GAP:
            curves = [
                curve
                for group in groups
                if (curve := _curve(group, along, styles[group.solver], points)) is not None
            ]
            picture = figure_svg(curves, label, counts=counts, tol=tol)
            yield f"<figure>{picture}</figure>"
        yield "</div>"
    yield _table(groups)


def _curve(group: Group, along: str, style: int, points: int) -> GapCurve | None:
    traces = [record["trace"] for record in group.ran]
    return gap_curve(traces, along, name=group.solver, style=style, points=points)


def _table(groups: Sequence[Group]) -> str:
    """Medians and ranges, a solver a row."""
    columns = [
        (name, title)
        for name, title in _COLUMNS
        if name == "converged" or any(group.middles[name] for group in groups)
    ]
    quickest = _quickest(groups)
    head = "".join(f"<th>{title or 'converged'}</th>" for _, title in columns)
    lines = []
    for group in groups:
        cells = [f"<td>{_text(group.solver)}</td>"]
        if not group.ran:
            reason = group.results[0]["reason"] or ""
            what = "does not take this" if group.results[0]["status"] == UNSUPPORTED else "failed"
            cells.append(
                f'<td class="words soft" colspan="{len(columns)}">{what}: {_text(reason)}</td>'
            )
        else:
            for name, _ in columns:
                best = ' class="best"' if name == "seconds" and group is quickest else ""
                cells.append(f"<td{best}>{_cell(group, name)}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="scroll"><table><thead><tr><th>solver</th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _quickest(groups: Sequence[Group]) -> Group | None:
    """The group of least median seconds among those whose every run converged."""
    sure = [(group, middle) for group in groups if (middle := _sure(group)) is not None]
    return min(sure, key=lambda pair: pair[1].median)[0] if len(sure) > 1 else None


def _sure(group: Group) -> Middle | None:
    whole = group.converged == len(group.results)
    return group.middles["seconds"] if whole else None


def _cell(group: Group, name: str) -> str:
    if name == "converged":
        return f"{group.converged} of {len(group.results)}"
    middle = group.middles[name]
    if middle is None:
        return "–" if name != "gap" else "none certified"
    median, span = cell(name, middle)
    text = f"{median}<small>{span}</small>" if span else median
    infinite = sum(record["gap"] is None for record in group.ran)
    if name == "gap" and infinite:
        text += f"<small>and {infinite} without a certificate</small>"
    return text


def _unable(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Runs that broke, and runs that a solver does not take, each with its reason."""
    for status, title, meaning in (
        (FAILED, "Runs that failed", "They are in no median."),
        (
            "not_finite",
            "Runs that met a number that is not finite",
            "Their last sound point counts.",
        ),
        (
            UNSUPPORTED,
            "What solvers do not take",
            "Said by the solver before it started; these runs are in no median.",
        ),
    ):
        found = Counter(
            (record["title"], record["reason"] or "", record["data"])
            for record in results
            if record["status"] == status
        )
        if not found:
            continue
        by_reason: dict[tuple[str, str], list[str]] = {}
        for (solver, reason, data), n in found.items():
            by_reason.setdefault((solver, reason), []).append(f"{data} ({n})")
        rows = "".join(
            f'<tr><td>{_text(solver)}</td><td class="words">{_text(reason)}</td>'
            f'<td class="words">{_text(", ".join(where))}</td></tr>'
            for (solver, reason), where in by_reason.items()
        )
        yield (
            f'<h2>{title}</h2><p>{meaning}</p><div class="scroll"><table><thead><tr>'
            "<th>solver</th><th class=words>reason</th><th class=words>data (runs)</th></tr>"
            f"</thead><tbody>{rows}"
            "</tbody></table></div>"
        )


def _provenance(sweep: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Settings, seeds and versions: what it takes to do it again."""
    seeds = sorted({record["seed"] for record in results})
    versions = {json.dumps(record["versions"], sort_keys=True) for record in results}
    yield "<h2>To do it again</h2>"
    yield f"<p>Seeds of the splits: {', '.join(map(str, seeds)) or 'none yet'}.</p>"
    if len(versions) > 1:
        yield (
            '<p class="warn">The runs were made under different versions: compare their seconds '
            "with care.</p>"
        )
    for text in sorted(versions):
        said = ", ".join(f"{name} {version}" for name, version in json.loads(text).items())
        yield f"<p>Versions: {_text(said)}.</p>"
    earlier = [c for c in sweep.get("commands", []) if c and c != sweep.get("command")]
    if earlier:
        yield f"<p>Earlier commands on this folder:</p><pre>{_text(chr(10).join(earlier))}</pre>"
    yield f"<pre>{_text(json.dumps(sweep.get('settings', {}), indent=1))}</pre>"
    yield (
        '<p class="soft">The numbers are in table.csv (one row a run) and results.jsonl '
        "(with weights and traces).</p>"
    )
