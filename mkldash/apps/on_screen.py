"""The runs that a page shows, with what a file about them must say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.apps.companions import RIVAL_SECONDS
from mkldash.apps.descent import Descent
from mkldash.apps.jobs import Extra
from mkldash.apps.player import Player, Shown
from mkldash.apps.script import Numbers, Seen
from mkldash.apps.state import AppState
from mkldash.solvers import available_solvers
from mkldash.solvers.stopping import Status
from mkldash.streaming import Session
from mkldash.views.base import Rival

__all__ = ["OWN_ENDS", "Shot", "as_seen", "numbers_of", "on_screen"]

#: Ends that come again without anybody's doing.
OWN_ENDS = (Status.CONVERGED, Status.ITERATION_LIMIT)


@dataclass(frozen=True, eq=False)
class Shot:
    """One run on screen, as it is at this moment.

    Parameters
    ----------
    name : str
        What the page calls it.
    solver : str
        Its title.
    told : str
        Its parameters and where it began.
    columns : mapping of str to array
        Raw numbers of every iteration.
    k : int
        The row that is shown.
    descent : Descent
    ended : bool
        Whether its own stop rule ended it.
    remark : str
        What keeps its last iteration from coming again.
    """

    name: str
    solver: str
    told: str
    columns: Mapping[str, NDArray[Any]]
    k: int
    descent: Descent
    ended: bool = False
    remark: str = ""


def on_screen(player: Player, shown: Shown | None = None) -> list[Shot]:
    """The shown run, the grey one, and those of other solvers beside it, in this order.

    Parameters
    ----------
    player : Player
    shown : Shown, optional
        By default what belongs on screen now.

    Returns
    -------
    list of Shot
        Empty before the first iteration of the page.
    """
    shown = player.shown() if shown is None else shown
    session = shown.session
    first = None if session is None else _of_session("shown run", session, shown.k)
    if first is None or session is None:
        return []
    found = [first]
    if shown.ghost is not None and len(shown.ghost.trace):
        name = "run branched from" if player.fork is not None else "run before"
        ghost = _of_session(name, shown.ghost, len(shown.ghost.trace) - 1)
        found += [] if ghost is None else [ghost]
    for rival in player.companions.rivals(session):
        found += [] if not len(rival.trace) else [_of_rival(rival, first)]
    return found


def _of_session(name: str, session: Session, k: int) -> Shot | None:
    state, job = session.parameters, session.job
    extra = None if job is None else job.extra
    if job is None or not isinstance(state, AppState) or not isinstance(extra, Extra):
        return None
    descent = extra.descent
    if descent is None or k < 0:
        return None
    title = job.solver.title
    return Shot(
        name=name,
        solver=title,
        told=f"{_in_full(state, title)}{_began(descent)}",
        columns=session.trace.columns(),
        k=k,
        descent=descent,
        ended=session.status in OWN_ENDS,
    )


def _in_full(state: AppState, title: str) -> str:
    """All choices of a run, its solver and the settings of that."""
    told = state.in_full()
    settings = "".join(
        f", {o.label[:1].lower()}{o.label[1:]} {o.write(state[o.name]) or 'automatic'}"
        for o in state.choices_offered()
        if o.name.startswith("o.") and state[o.name] != o.default
    )
    return f"{told}{settings}" if title in told else f"{told}, {title}{settings}"


def _began(descent: Descent) -> str:
    if descent.parent is None:
        return ""
    if descent.best:
        return f"; began at the best weights of iteration {descent.at} of the run before it"
    if descent.resumed:
        return f"; branched at iteration {descent.at} of another run, goes on from its whole state"
    return (
        f"; branched at iteration {descent.at} of another run, a warm start from its weights "
        "and α there, iterations counted from 0"
    )


def _of_rival(rival: Rival, first: Shot) -> Shot:
    trace = rival.trace
    columns = trace.columns() if hasattr(trace, "columns") else {}
    name = next(n for n, kind in available_solvers().items() if kind.title == rival.title)
    choices = replace(first.descent.choices, solver=name, solver_options=())
    over = rival.done and float(columns["elapsed"][-1]) >= RIVAL_SECONDS
    return Shot(
        name=f"beside: {rival.title}",
        solver=rival.title,
        told="the problem and the start of the shown run",
        columns=columns,
        k=len(columns["iteration"]) - 1,
        descent=first.descent.beside(choices),
        # The time that cut its last iteration short does not come again.
        remark=f"stopped by its limit of {RIVAL_SECONDS:g} s; compared one iteration before"
        if over and len(columns["iteration"]) > 1
        else "",
    )


def as_seen(shot: Shot) -> Seen:
    """What a script needs of a run."""
    rows = [shot.k, len(shot.columns["iteration"]) - 1]
    if shot.remark:
        rows = [rows[1] - 1]
    numbers = [numbers_of(shot.columns, row) for row in dict.fromkeys(rows)]
    last = None if shot.ended else numbers[-1].iteration
    return Seen(shot.name, shot.descent, last, numbers, shot.remark)


def numbers_of(columns: Mapping[str, NDArray[Any]], row: int) -> Numbers:
    """What is compared of one row of a trace."""

    def cell(name: str) -> float:
        return float(np.asarray(columns[name])[row])

    return Numbers(
        iteration=int(cell("iteration")),
        upper=cell("upper"),
        lower=cell("lower"),
        gap=cell("gap"),
        inner_solves=int(cell("inner_solves")),
    )
