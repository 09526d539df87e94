"""The race outside the page: its numbers, and the Python that gives it again."""

from __future__ import annotations

import csv
import io

from mkldash.apps.racing.conductor import Race
from mkldash.apps.racing.state import LaneSpec, RaceState
from mkldash.apps.recipe import arguments, command, versions

__all__ = ["as_csv", "commands", "note", "script"]

#: Columns of a trace that are saved of every lane.
_COLUMNS = (
    "iteration", "inner_solves", "elapsed", "upper", "lower", "gap", "active_kernels",
    "train_score", "test_score",
)  # fmt: skip


def as_csv(race: Race) -> io.StringIO:
    """Raw numbers of all lanes, one line for each of their iterations: zeros stay zeros.

    Parameters
    ----------
    race : Race

    Returns
    -------
    StringIO
        After a line with the address of the race.
    """
    buffer = io.StringIO()
    buffer.write(f"# {versions()}; race?{race.shown_state.to_query()}\n")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("lane", "problem", "solver", "label", *_COLUMNS))
    for lane in race.lanes:
        columns, spec = lane.columns(), lane.spec
        for row in range(len(columns.get("iteration", ()))):
            told = [repr(columns[c][row].item()) if c in columns else "" for c in _COLUMNS]
            writer.writerow((spec.letter.upper(), spec.problem, spec.solver, lane.label, *told))
    buffer.seek(0)
    return buffer


def commands(state: RaceState) -> str:
    """``mkldash solve ...`` for each lane; a branch has none."""
    lines = []
    for spec in state.lanes:
        name = spec.letter.upper()
        if spec.parent is not None:
            lines.append(f"# {name} branched from {spec.parent.upper()}: see the Python")
            continue
        try:
            lines.append(command(state.choices_of(spec)))
        except ValueError as problem:
            lines.append(f"# {name} cannot run: {problem}")
    return "\n".join(lines)


def note(state: RaceState) -> str:
    """What must be at hand."""
    if state.first.table is None:
        return ""
    return f"{state.first['data']} must be in the folder where this is run."


def script(state: RaceState) -> str:
    """Python that solves every lane again, branches included."""
    lanes = [_lane(state, spec) for spec in state.lanes]
    return (
        f"# Made with {versions()}; seed {state.first['seed']}\n"
        "from mkldash.experiments.choices import Choices\n"
        "from mkldash.experiments.workload import prepare\n"
        "from mkldash.solvers.driver import one_blas_thread, solve\n\n"
        f"# letter: choices, the lane that it branched from, the iteration there\nlanes = {{\n"
        f"{''.join(lanes)}}}\n"
        "results, works, starts = {}, {}, {}\n"
        "for letter, (choices, parent, at) in lanes.items():\n"
        "    work = works[letter] = prepare(choices)\n"
        "    start = None\n"
        "    if parent is not None:\n"
        "        steps = works[parent].solver.iterate(works[parent].problem, starts[parent])\n"
        "        with one_blas_thread():\n"
        "            start = next(s for s in steps if s.iteration == at)\n"
        "    starts[letter] = start\n"
        "    result = solve(work.solver, work.problem, start=start, stop=work.stop)\n"
        "    results[letter] = result\n"
        "    print(letter, work.solver.title, result.status.value, result.gap,\n"
        "          result.iterations, result.inner_solves, result.seconds)\n"
    )


def _lane(state: RaceState, spec: LaneSpec) -> str:
    try:
        choices = state.choices_of(spec)
    except ValueError as problem:
        return f"    # {spec.letter.upper()} cannot run: {problem}\n"
    inner = arguments(choices, indent=8)
    parent = None if spec.parent is None else spec.parent.upper()
    return f"    {spec.letter.upper()!r}: (Choices(\n{inner}    ), {parent!r}, {spec.at}),\n"
