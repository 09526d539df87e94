"""From choices to lanes: everything that is built before the first one begins."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from mkldash.apps.racing.lanes import Lane
from mkldash.apps.racing.state import RaceState
from mkldash.experiments.choices import Choices
from mkldash.experiments.workload import Cancelled, Workload, prepare
from mkldash.streaming.control import Control
from mkldash.streaming.session import BUILD_SLOTS

__all__ = ["build_lanes"]


def build_lanes(
    state: RaceState,
    kept: Mapping[str, Lane],
    control: Control,
    say: Callable[[str], None],
    closed: Callable[[], bool],
) -> tuple[Lane, ...]:
    """Lanes of `state`; those of one problem share one problem, bank and split.

    Parameters
    ----------
    state : RaceState
    kept : mapping of str to Lane
        Lanes that go on, by letter.
    control : Control
        Cancelled when nobody wants them any more.
    say : callable
        Gets a sentence before each part that takes time.
    closed : callable
        Whether the page is gone.

    Raises
    ------
    Cancelled
        When nobody wants them any more.
    """
    shared: dict[Choices, Workload | str] = {}
    lanes = [kept.get(spec.letter) or _new_lane(state, spec.letter) for spec in state.lanes]
    for lane in lanes:
        if lane.choices is not None and lane.workload is not None:
            shared[_without_solver(lane.choices)] = lane.workload
    for lane in lanes:
        if lane.choices is None or lane.workload is not None:
            continue
        choices = _without_solver(lane.choices)
        if choices not in shared:
            shared[choices] = _prepare(choices, control, say, closed)
        found = shared[choices]
        if isinstance(found, str):
            lane.error = found
        else:
            lane.workload = found
    return tuple(lanes)


def _new_lane(state: RaceState, letter: str) -> Lane:
    spec = state.lane(letter)
    lane = Lane(spec, state.label(spec))
    try:
        lane.choices = state.choices_of(spec)
    except ValueError as problem:
        lane.error = str(problem)
    return lane


def _prepare(
    choices: Choices, control: Control, say: Callable[[str], None], closed: Callable[[], bool]
) -> Workload | str:
    """A problem that is ready to solve, or why it cannot be."""

    def cancelled() -> bool:
        return bool(control.cancel[0]) or closed()

    ticket = control.take(BUILD_SLOTS, lambda: not cancelled())
    if ticket is None:
        raise Cancelled("cancelled before solving")
    try:
        return prepare(choices, progress=say, cancelled=cancelled)
    except (ValueError, MemoryError) as problem:
        return str(problem)
    finally:
        BUILD_SLOTS.release(ticket)


def _without_solver(choices: Choices) -> Choices:
    return dataclasses.replace(choices, solver=None, solver_options=())  # type: ignore[arg-type]
