"""The sentence that always says what is going on, and the numbers with their names."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mkldash.apps.branching import branch_words, is_branch
from mkldash.apps.jobs import Extra
from mkldash.apps.phrases import for_page
from mkldash.apps.player import Player, Shown
from mkldash.apps.product_scoring import ProductFacts
from mkldash.apps.state import AppState
from mkldash.apps.tiles import percent, tiles
from mkldash.errors import InputError
from mkldash.kernels.weights import ACTIVE_THRESHOLD
from mkldash.solvers.base import Snapshot
from mkldash.solvers.mirror_descent import will_not_converge
from mkldash.solvers.stopping import Status
from mkldash.streaming import Session, State
from mkldash.views._names import count, word_name

__all__ = ["Report", "report"]

_ENDS = {
    Status.CONVERGED: "Certified",
    Status.ITERATION_LIMIT: "Iteration limit reached",
    Status.TIME_LIMIT: "Time limit reached",
    Status.STALLED: "Stalled, neither bound moves any more",
    Status.NOT_FINITE: "Stopped, a value was not finite",
    Status.STOPPED: "Stopped by you",
}


class Report(NamedTuple):
    """What the board shows.

    Attributes
    ----------
    tone : str
        ``running``, ``paused``, ``certified``, ``ended``, ``failed`` or ``preparing``.
    sentence, more, alert : str
    progress : float
        Share of the decades between the first gap and the tolerance.
    tiles : list of (label, value, hint)
    facts : dict of str to str
        For the sentence's data attributes: state, iteration, run.
    """

    tone: str
    sentence: str
    more: str
    alert: str
    progress: float
    tiles: list[tuple[str, str, str]]
    facts: dict[str, str]


def report(player: Player, shown: Shown) -> Report:
    """What is going on, in words and numbers.

    Parameters
    ----------
    player : Player
    shown : Shown
        From `Player.shown`.
    """
    current = player.current
    state = "idle" if current is None else current.state.value
    if state != "running" and player.following:
        # The run may have ended since the frame began: its last row goes with its end.
        shown = player.shown()
    session = shown.session
    snapshot = session.trace.peek(shown.k) if session is not None and shown.k >= 0 else None
    alert = _alert(current)
    facts = {
        "state": "preparing" if shown.stale or session is None else state,
        "iteration": str(int(_cell(session, "iteration", shown.k))) if shown.k >= 0 else "",
        "run": str(player.started),
        "status": "" if current is None or current.status is None else current.status.value,
    }
    if alert:
        facts["state"] = "failed"
    tone, sentence = _sentence(player, shown, alert, snapshot)
    return Report(
        tone=tone,
        sentence=sentence,
        more=_more(player, shown, snapshot),
        alert=alert,
        progress=_progress(session, shown.k),
        tiles=tiles(session, shown.k, snapshot),
        facts=facts,
    )


def _cell(session: Session | None, name: str, k: int) -> float:
    if session is None or not 0 <= k < len(session.trace):
        return math.nan
    cells = session.trace.columns().get(name)
    return math.nan if cells is None else float(cells[k])


def _alert(current: Session | None) -> str:
    if current is None or current.error is None:
        return ""
    if isinstance(current.error, InputError):
        return for_page(str(current.error))
    return f"This run failed: {type(current.error).__name__}: {current.error}"


def _sentence(
    player: Player, shown: Shown, alert: str, snapshot: Snapshot | None
) -> tuple[str, str]:
    current, session = player.current, shown.session
    if alert:
        return "failed", "This cannot be solved as it is; see below what to change."
    if player.ended_empty:
        return "ended", "Stopped before the first iteration; play starts it again."
    if current is None or session is None or shown.stale:
        stage = player.stage or "preparing"
        return "preparing", f"{stage[:1].upper()}{stage[1:]} …"
    if snapshot is None:
        return "running", "Computing an iteration again that was not kept …"
    where = _within(snapshot)
    carried = _carried(session, snapshot)
    last = len(session.trace) - 1
    number_of = snapshot.iteration
    if player.replaying:
        return "running", f"Replaying, iteration {number_of}: {where}. {carried}"
    if not player.following and shown.k < last:
        newest = int(_cell(session, "iteration", last))
        return "paused", f"Looking back at iteration {number_of} of {newest}: {where}. {carried}"
    if session.state is State.FINISHED:
        status = session.status
        begin = _ENDS.get(status, "Ended") if status is not None else "Ended"
        tone = "certified" if status is Status.CONVERGED else "ended"
        unit = "iteration" if number_of == 1 else "iterations"
        text = f"{begin}: {where} after {number_of} {unit} ({snapshot.elapsed:.2g} s). {carried}"
        return tone, text
    if session.state is State.PAUSED:
        return "paused", f"Paused at iteration {number_of}: {where}. {carried}"
    return "running", f"Solving, iteration {number_of}: {where}. {carried}"


def _within(snapshot: Snapshot) -> str:
    if math.isinf(snapshot.gap):
        return "no certificate yet, the lower bound is not above zero"
    if snapshot.gap <= 1e-12:
        return "at the optimum to rounding"
    return f"within {percent(snapshot.gap)} of the optimum{_kind(snapshot)}"


def _kind(snapshot: Snapshot) -> str:
    """Of what kind the lower bound is, where a search may have stopped early."""
    kind = str(getattr(snapshot, "certificate", ""))
    return f" (bound {kind})" if kind == "exact" else f" ({kind})" if kind else ""


def _carried(session: Session, snapshot: Snapshot) -> str:
    extra = session.job.extra if session.job is not None else None
    if isinstance(extra, Extra) and extra.products is not None:
        return _learnt(extra.products, snapshot)
    active, total = len(snapshot.weights.active()), len(snapshot.weights)
    if total == 1:
        support, rows = int(np.count_nonzero(snapshot.alpha > 0.0)), len(snapshot.alpha)
        return f"{support} of {rows} training rows are support vectors."
    verb = "carries" if active == 1 else "carry"
    return f"{active} of {total} kernels {verb} weight."


def _learnt(products: ProductFacts, snapshot: Snapshot) -> str:
    """How many products carry weight, and which most."""
    weights = snapshot.best.weights.as_dict(ACTIVE_THRESHOLD)
    unit = "product carries" if len(weights) == 1 else "products carry"
    text = f"{len(weights):,} of {count(products.family.n_keys)} {unit} weight"
    if not weights:
        return f"{text}."
    return f"{text}, most of all {word_name(next(iter(weights)), products.features)}."


def _more(player: Player, shown: Shown, snapshot: Snapshot | None) -> str:
    session = shown.session
    if session is None:
        return ""
    parameters = session.parameters
    if shown.stale and isinstance(parameters, AppState):
        current = player.current
        over = player.ended_empty or (current is not None and current.error is not None)
        until = "" if over else ", until the new one is here"
        return f"Greyed: the run before ({parameters.summary()}){until}."
    parts = []
    if snapshot is not None:
        bounded = getattr(snapshot, "bounded", None)
        if bounded is not None and bounded == len(snapshot.alpha):
            parts.append(
                f"All {len(snapshot.alpha)} points at the bound C: a smaller C only scales "
                "the picture."
            )
    if said := _expectation(session):
        parts.append(said)
    parts.extend(_ghost_words(player, shown))
    if session.score_error is not None:
        parts.append(f"Scores are missing: {session.score_error}")
    return " ".join(parts)


def _expectation(session: Session) -> str:
    """That a run over products may not come near, where that is so."""
    extra = session.job.extra if session.job is not None else None
    if not (isinstance(extra, Extra) and extra.products is not None):
        return ""
    family = extra.products.family
    if not will_not_converge(family.p, family.n_keys):
        return ""
    return (
        f"p = {family.p:.3g} is above 4/3 and there are {count(family.n_keys)} kernels: "
        "convergence is not to be expected."
    )


def _ghost_words(player: Player, shown: Shown) -> list[str]:
    """How this run compares with the one before, at the tighter common gap."""
    session, ghost = shown.session, shown.ghost
    if session is None or ghost is None or not len(ghost.trace):
        return []
    label = "before"
    if isinstance(ghost.parameters, AppState) and isinstance(session.parameters, AppState):
        other_choices = ghost.parameters.difference(session.parameters)
        label = ", ".join((ghost.parameters.summary(), *other_choices))
    if player.fork is not None and (told := branch_words(session, label, waits=player.waits)):
        return [told]
    if session.status is None:
        return []
    ours, theirs = session.trace.columns(), ghost.trace.columns()
    tol = max(float(np.min(ours["gap"])), float(np.min(theirs["gap"])))
    if not math.isfinite(tol):
        return []
    mine = int(ours["iteration"][int(np.argmax(ours["gap"] <= tol))])
    other = int(theirs["iteration"][int(np.argmax(theirs["gap"] <= tol))])
    warm = player.is_warm(session), player.is_warm(ghost)
    if any(warm) and is_branch(ghost):
        return [
            f"Grey: the run before ({label}), a branch: their iterations do not compare; "
            "Reset starts afresh."
        ]
    if any(warm):
        began = "Both began" if all(warm) else f"{'This run' if warm[0] else 'That one'} began"
        return [
            f"Grey: the run before ({label}). {began} at the weights of the one before it, "
            "so their iterations do not compare; Reset starts afresh."
        ]
    if mine == other:
        compared = "as many iterations"
    else:
        count = abs(mine - other)
        unit = "iteration" if count == 1 else "iterations"
        compared = f"{count} {unit} {'fewer' if mine < other else 'more'}"
    return [f"Grey: the run before ({label}). To a gap of {percent(tol)}, this took {compared}."]


def _progress(session: Session | None, k: int) -> float:
    if session is None or k < 0 or not isinstance(session.parameters, AppState):
        return 0.0
    gaps = session.trace.columns()["gap"][: k + 1]
    finite = gaps[np.isfinite(gaps)]
    tol = float(session.parameters["tol"])
    if not finite.size:
        return 0.0
    first, now = max(float(finite[0]), tol), max(float(gaps[-1]), 1e-300)
    if not math.isfinite(now):
        return 0.0
    if now <= tol:
        return 1.0
    if first <= tol * 1.0001:
        return 0.0
    return min(1.0, max(0.0, math.log(first / now) / math.log(first / tol)))
