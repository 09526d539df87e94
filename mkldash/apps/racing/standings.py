"""Where every lane is at the cursor, in numbers: pure, so that it can be tested."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mkldash.apps.racing.glance import Glance
from mkldash.apps.racing.lanes import Lane
from mkldash.apps.racing.schedule import Axis
from mkldash.solvers.stopping import Status
from mkldash.streaming import State
from mkldash.views._reading import latest

__all__ = ["Reading", "badges", "progress", "read_lane", "readings"]

_STATUS: Mapping[Status, tuple[str, str]] = {
    Status.CONVERGED: ("certified", "certified"),
    Status.ITERATION_LIMIT: ("iteration limit", "ended"),
    Status.TIME_LIMIT: ("time limit", "ended"),
    Status.STALLED: ("stalled", "ended"),
    Status.NOT_FINITE: ("value not finite", "failed"),
    Status.STOPPED: ("stopped by you", "ended"),
}


class Reading(NamedTuple):
    """One lane at one place.

    Attributes
    ----------
    letter, label, problem, group : str
        `group` is equal for lanes whose bounds may be compared.
    status, tone, why : str
        In words; one of running, paused, certified, ended, failed; and for a failure
        what to change.
    k : int
        Its row there; -1 before the first.
    gap, upper, iteration, solves, seconds, kernels, score : float
        NaN where there is none.
    reached : float
        Where on the axis it was certified, NaN while it is not.
    certified : bool
        Whether it is, at this place.
    comparable : bool
        Whether its costs count from a start of its own or a shared one; not after a
        warm start.
    over : bool
        Whether it has ended, and this is its end.
    """

    letter: str
    label: str
    problem: str
    group: str
    status: str
    tone: str
    why: str = ""
    k: int = -1
    gap: float = math.nan
    upper: float = math.nan
    iteration: float = math.nan
    solves: float = math.nan
    seconds: float = math.nan
    kernels: float = math.nan
    score: float = math.nan
    reached: float = math.nan
    certified: bool = False
    comparable: bool = True
    over: bool = False


def readings(now: Glance) -> list[Reading]:
    """All lanes at the cursor."""
    return [read_lane(lane, now.axis, now.cursor, playing=now.playing) for lane in now.lanes]


def read_lane(lane: Lane, axis: Axis, place: int, *, playing: bool) -> Reading:
    """One lane at a place of an axis."""
    columns = lane.columns()
    k = lane.row(axis, place) if columns else -1
    last = len(columns.get("gap", ())) - 1
    status, tone, why = _status(lane, k, last, playing=playing)
    spec = lane.spec
    found = Reading(
        spec.letter, lane.label, spec.problem, lane.problem_key, status, tone, why,
        comparable=not lane.warm, over=lane.ended and k == last,
    )  # fmt: skip
    if k < 0:
        return found
    gaps = np.asarray(columns["gap"], dtype=np.float64)
    met = np.flatnonzero(gaps <= lane.tol)
    return found._replace(
        k=k,
        gap=float(gaps[k]),
        upper=_cell(columns, "upper", k),
        iteration=_cell(columns, "iteration", k),
        solves=_cell(columns, "inner_solves", k),
        seconds=_cell(columns, "elapsed", k),
        kernels=_cell(columns, "active_kernels", k),
        score=latest(np.asarray(columns.get("test_score", [math.nan]), dtype=np.float64), k),
        reached=_cell(columns, axis.column, int(met[0])) if met.size else math.nan,
        certified=bool(met.size and met[0] <= k),
    )


def _cell(columns: Mapping[str, NDArray[Any]], name: str, k: int) -> float:
    return float(columns[name][k]) if name in columns else math.nan


def _status(lane: Lane, k: int, last: int, *, playing: bool) -> tuple[str, str, str]:
    if lane.failed:
        return ("failed" if last >= 0 else "refused"), "failed", lane.failed
    if lane.waits:
        if lane.spec.parent is None:
            return "preparing", "running", ""
        return f"waits for {lane.spec.parent.upper()} at {lane.spec.at}", "paused", ""
    session = lane.session
    assert session is not None
    if session.state is State.FINISHED and k == last:
        status = session.status
        return (*(("ended", "ended") if status is None else _STATUS[status]), "")
    if k < last and session.state is State.FINISHED:
        return ("on its way" if playing else "looking back"), "paused", ""
    if playing:
        return "running", "running", ""
    return ("paused", "paused", "") if k >= last - 1 else ("looking back", "paused", "")


def badges(found: Sequence[Reading], axis: Axis) -> dict[str, str]:
    """Who is marked, by letter: ``first`` only when nobody can take it away any more.

    Parameters
    ----------
    found : sequence of Reading
    axis : Axis
        Iterations and inner solves count within one problem, seconds in all.

    Returns
    -------
    dict
        ``"first"`` where every lane it is measured against is certified, else
        ``"ahead"`` for the one with the smallest gap, or certified the soonest.
    """
    runners = [r for r in found if r.comparable and r.tone != "failed"]
    groups: dict[str, list[Reading]] = {}
    for reading in runners:
        groups.setdefault("" if axis.logarithmic else reading.group, []).append(reading)
    marked: dict[str, str] = {}
    for group in groups.values():
        if len(group) < 2:
            continue
        certified = [r for r in group if r.certified]
        if certified:
            best = min(r.reached for r in certified)
            word = "first" if len(certified) == len(group) else "ahead"
            marked |= {r.letter: word for r in certified if r.reached == best}
            continue
        known = [r for r in group if math.isfinite(r.gap)]
        if known:
            least = min(r.gap for r in known)
            marked |= {r.letter: "ahead" for r in known if r.gap == least}
    return marked


def progress(gap: float, tol: float, widest: float) -> float:
    """Share of the decades between the widest first gap and the tolerance.

    Parameters
    ----------
    gap, tol : float
    widest : float
        Where the track begins; the same for all lanes.
    """
    if math.isnan(gap) or not tol > 0.0:
        return 0.0
    if gap <= tol:
        return 1.0
    widest = max(widest, tol * 1.01) if math.isfinite(widest) else max(1.0, tol * 10.0)
    if gap >= widest:
        return 0.0
    return math.log(widest / gap) / math.log(widest / tol)
