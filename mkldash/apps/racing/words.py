"""The race in words: one sentence, the rows of the table, what to be careful with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mkldash.apps.phrases import for_page
from mkldash.apps.racing.glance import Glance
from mkldash.apps.racing.palette import colour_of
from mkldash.apps.racing.schedule import Axis
from mkldash.apps.racing.standings import Reading, badges, progress, readings
from mkldash.apps.tiles import percent
from mkldash.experiments.problem_kinds import find_problem
from mkldash.kernels.base import KernelBank
from mkldash.views._names import number

__all__ = ["RaceReport", "rows", "sentence", "tell"]

#: Lanes named in the sentence; the table has them all.
MOST_NAMED = 4

#: Share of the lanes' time in which others computed, from which on it is said.
BESIDE = 0.02


class RaceReport(NamedTuple):
    """What the board and the table show.

    Attributes
    ----------
    tone, sentence, more, alert : str
    progress : float
    rows : list of dict
        For `mkldash.apps.components.Lanes`.
    foot : str
        What the numbers leave out.
    facts : dict
    """

    tone: str
    sentence: str
    more: str
    alert: str
    progress: float
    rows: list[dict[str, Any]]
    foot: str
    facts: dict[str, str]


def tell(now: Glance) -> RaceReport:
    """What is going on, in words and numbers."""
    found = readings(now)
    table = rows(now, found)
    state, tone = _state(now)
    alert = f"The race cannot go on: {now.broken}; Reset begins it again." if now.broken else ""
    if found and all(reading.tone == "failed" for reading in found) and not now.stale:
        state = tone = "failed"
        reasons = {for_page(reading.why) for reading in found}
        if len(reasons) == 1 and not alert:
            alert = reasons.pop()  # once, not in every row
            table = [{**row, "why": ""} for row in table]
    if state == "preparing":
        said = _preparing(now)
    else:
        said = sentence(found, now.axis, tol=now.built_from.first["tol"], begin=_begin(now, state))
    if alert:
        said = said.replace(", see the table", "")
    return RaceReport(
        tone=tone,
        sentence=said,
        more=_more(now, found),
        alert=alert,
        progress=min((row["progress"] for row in table if row["tone"] != "failed"), default=0.0),
        rows=table,
        foot=_foot(now),
        facts={"state": state, "run": str(now.started), "place": str(now.cursor),
               "last": str(now.last_place)},
    )  # fmt: skip


def _state(now: Glance) -> tuple[str, str]:
    if now.broken:
        return "failed", "failed"
    if now.stale or not now.started or now.beginning:
        return "preparing", "preparing"
    if not now.lanes:
        return "idle", "paused"
    if now.playing:
        return "running", "running"
    if now.over and now.at_end:
        done = all(lane.failed or _certified(lane) for lane in now.lanes)
        return "finished", "certified" if done else "ended"
    return "paused", "paused"


def _certified(lane: Any) -> bool:
    gaps = lane.columns().get("gap")
    return gaps is not None and len(gaps) > 0 and bool(np.min(gaps) <= lane.tol)


def _preparing(now: Glance) -> str:
    if not now.state.lanes:
        return "No lane yet: add a solver."
    stage = now.stage or "preparing"
    return f"{stage[:1].upper()}{stage[1:]} …"


def _begin(now: Glance, state: str) -> str:
    where = now.axis.at(now.axis.value(now.cursor))
    if not now.lanes:
        return "No lane yet: add a solver."
    if state == "running":
        return f"At {where}: "
    if state == "paused":
        back = "Looking back at" if now.cursor < now.last_place and now.over else "Paused at"
        return f"{back} {where}: "
    return "Stopped: " if now.stopped else ""


def _apart(found: Sequence[Reading]) -> list[Reading]:
    """With the letter before a label that several lanes of a problem have."""
    labels = [(reading.problem, reading.label) for reading in found]
    return [
        reading._replace(label=f"{reading.letter.upper()} {reading.label}")
        if labels.count(label) > 1
        else reading
        for label, reading in zip(labels, found, strict=True)
    ]


def sentence(found: Sequence[Reading], axis: Axis, *, tol: float, begin: str = "") -> str:
    """Who was certified after how much, and how far the others are.

    Parameters
    ----------
    found : sequence of Reading
    axis : Axis
    tol : float
    begin : str
        Said before it.
    """
    parts = []
    groups: dict[str, list[Reading]] = {}
    for reading in _apart(found):
        if reading.tone != "failed":
            groups.setdefault(reading.problem, []).append(reading)
    for problem, group in groups.items():
        head = f"{find_problem(problem).title}: " if len(groups) > 1 else ""
        parts.append(head + _group(group, axis, tol))
    failed = [reading.letter.upper() for reading in found if reading.tone == "failed"]
    if len(failed) == len(found) > 1:
        parts.append("All lanes are out, see the table")
    elif failed:
        who = " and ".join((", ".join(failed[:-1]), failed[-1])) if failed[1:] else failed[0]
        parts.append(f"{who} {'are' if failed[1:] else 'is'} out, see the table")
    return begin + "; ".join(parts) + ("." if parts else "")


def _group(group: Sequence[Reading], axis: Axis, tol: float) -> str:
    done = sorted((r for r in group if r.certified), key=lambda r: r.reached)
    rest = sorted((r for r in group if not r.certified), key=lambda r: (math.isnan(r.gap), r.gap))
    room = MOST_NAMED - min(len(done), MOST_NAMED - 1 if rest else MOST_NAMED)
    words = []
    for i, reading in enumerate(done[: MOST_NAMED - 1 if rest else MOST_NAMED]):
        if i == 0:
            words.append(
                f"{_name(reading)} certified {percent(tol)} after {axis.said(reading.reached)}"
            )
        else:
            verb = "needed " if i == 1 else ""
            words.append(f"{_name(reading)} {verb}{axis.said(reading.reached).split()[0]}"
                         f"{_unit(axis, reading.reached)}")  # fmt: skip
    text = words[0] + ("; " + ", ".join(words[1:]) if words[1:] else "") if words else ""
    told = [_where(reading, first=i == 0) for i, reading in enumerate(rest[:room])]
    if told:
        text += ("; " if text else "") + ", ".join(told)
    left = len(group) - len(words) - len(told)
    return text + (f", and {left} more" if left else "")


def _name(reading: Reading) -> str:
    return reading.label if reading.comparable else f"{reading.label} (warm start)"


def _unit(axis: Axis, value: float) -> str:
    return f" {axis.said(value).split()[1]}" if axis.logarithmic else ""


def _where(reading: Reading, *, first: bool) -> str:
    if math.isnan(reading.gap):
        return f"{_name(reading)} has not begun"
    if math.isinf(reading.gap):
        return f"{_name(reading)} has no certificate yet"
    how = "ended at" if reading.over else "is at" if first else "at"
    return f"{_name(reading)} {how} {percent(reading.gap)}"


def rows(now: Glance, found: Sequence[Reading]) -> list[dict[str, Any]]:
    """The table, one row a lane, as text."""
    marks = badges(found, now.axis)
    widest = max((g for lane in now.lanes for g in _first_gap(lane)), default=math.nan)
    several = len({reading.problem for reading in found}) > 1
    table = []
    for lane, reading in zip(now.lanes, found, strict=True):
        colour, dashes = colour_of(reading.letter)
        table.append(
            {
                "letter": reading.letter,
                "colour": colour,
                "dashes": " ".join(map(str, dashes)),
                "name": reading.label,
                "note": _note(lane.spec, reading, several=several),
                "status": reading.status,
                "tone": reading.tone,
                "why": for_page(reading.why),
                "badge": marks.get(reading.letter, ""),
                "progress": progress(reading.gap, lane.tol, widest),
                "cells": _cells(reading, family=find_problem(reading.problem).has_family),
                "hidden": reading.letter in now.state.hidden,
                "branch": reading.k >= 0,
                "remove": True,
                "with_it": ", ".join(now.built_from.branches(reading.letter)).upper(),
            }
        )
    return table


def _first_gap(lane: Any) -> list[float]:
    gaps = lane.columns().get("gap")
    if gaps is None:
        return []
    finite = gaps[np.isfinite(gaps)]
    return [float(finite[0])] if len(finite) else []


def _note(spec: Any, reading: Reading, *, several: bool) -> str:
    parts = [spec.problem] if several else []
    if spec.parent is not None:
        how = "branched from" if reading.comparable else "warm start from"
        parts.append(f"{how} {spec.parent.upper()} at {spec.at}")
    return ", ".join(parts)


def _cells(reading: Reading, *, family: bool) -> list[str]:
    """Gap, iterations, inner solves, seconds, kernels, test score."""

    def whole(value: float) -> str:
        return "–" if math.isnan(value) else f"{value:,.0f}"

    gap = (
        "–" if math.isnan(reading.gap) else "∞" if math.isinf(reading.gap) else percent(reading.gap)
    )
    if math.isnan(reading.score):
        score = "–"
    else:
        score = number(reading.score) if family else f"{100 * reading.score:.1f} %"
    return [
        gap, whole(reading.iteration), whole(reading.solves), _seconds(reading.seconds),
        whole(reading.kernels), score,
    ]  # fmt: skip


def _seconds(value: float) -> str:
    if math.isnan(value):
        return "–"
    return (
        f"{1e3 * value:.2g} ms"
        if value < 0.01
        else f"{value:.3f} s"
        if value < 10
        else f"{value:.1f} s"
    )


def _more(now: Glance, found: Sequence[Reading]) -> str:
    parts = []
    if now.stale and now.started:
        parts.append(f"Greyed: the race before ({summary(now)}), until the new one is here.")
    problems = {reading.problem for reading in found}
    groups = {reading.group for reading in found if reading.group}
    if len(problems) > 1:
        parts.append(
            "Lanes of several problems: their optima differ, so only relative gap, seconds and "
            "test score compare across them."
        )
    elif len(groups) > 1:
        parts.append(
            "Lanes with other parameters have another optimum: only relative gap, seconds and "
            "test score compare across them."
        )
    if any(not reading.comparable for reading in found):
        parts.append(
            "After a warm start costs count from there, so it takes no part in who is first."
        )
    ended = [r for r in found if r.over and not r.certified and r.tone != "failed"]
    if now.over and now.at_end and ended:
        parts.append("Not all were certified to the tolerance, so nobody is called first.")
    return " ".join(parts)


def summary(now: Glance) -> str:
    """What the shown race is on, in one short line."""
    shared = now.built_from.shared
    return f"{shared['data']}, seed {shared['seed']}, tolerance {shared['tol']:g}"


def _kernels(bank: KernelBank) -> str:
    """How many there are, and why not as many as the controls say."""
    n, left = bank.n_kernels, len(bank.dropped)
    if left:
        return f"{n:,} of {n + left:,} kernels ({left:,} without effect left out, see the log)"
    return f"{n:,} {'kernel' if n == 1 else 'kernels'}"


def _late(now: Glance) -> str:
    """Why the seconds are too many, or nothing."""
    parts = []
    if now.compiled_late:
        parts.append("code was compiled or loaded while a lane's clock ran")
    if (share := now.quiet.share_beside) >= BESIDE:
        how = f"for {percent(share)} of the lanes' time" if now.over else "while lanes did"
        parts.append(f"another page of this server computed {how}")
    if not parts:
        return ""
    told = ", and ".join(parts)
    return (
        f"{told[0].upper()}{told[1:]}, so the seconds of this race are too many: Reset runs it "
        "again."
    )


def _foot(now: Glance) -> str:
    works = {id(x.workload): x.workload for x in now.lanes if x.workload is not None}
    parts = []
    for work in works.values():
        assert work is not None
        built = f" built in {work.bank_seconds:.2g} s" if work.bank_seconds > 0.005 else ""
        if work.problem.has_family:
            parts.append("products are never listed")
        else:
            parts.append(_kernels(work.problem.bank) + built)
    rows_ = {(len(w.y_train), len(w.y_test)) for w in works.values() if w is not None}
    told = "; ".join(dict.fromkeys(parts))
    shape = ", ".join(f"{train:,} training and {test:,} test rows" for train, test in rows_)
    if not told:
        return ""
    if late := _late(now):
        return f"{shape}; {told}. {late}"
    return (
        f"{shape}; {told}, on nobody's clock. Seconds are each solver's own work: one lane "
        "computes at a time, compiled code was loaded before, and the clock rests while other "
        "lanes compute and pictures are drawn."
    )
