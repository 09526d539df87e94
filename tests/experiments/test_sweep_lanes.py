"""Who runs what: groups stay together, nobody is idle, what breaks is replaced."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

import pytest

from mkldash.experiments.choices import Choices
from mkldash.experiments.lanes import Lane, RunQueue
from mkldash.experiments.running import ClusterLost, _side_by_side
from mkldash.experiments.sweep import Run, Sweep


def runs(*etas: float, repeats: int = 1) -> tuple[Run, ...]:
    grid = Sweep.of_grid(["golden"], ["block-coordinate"], axes={"eta": etas}, repeats=repeats)
    return grid.runs


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"solver": "accelerated"}, True),
        ({"eta": 0.1, "C": 3.0, "tol": 1e-2, "max_iter": 3, "time_limit": 9.0}, True),
        ({"seed": 1}, False),
        ({"bank": "linear"}, False),
        ({"data": "t8"}, False),
        ({"train_fraction": 0.5}, False),
    ],
)
def test_a_bank_belongs_to_rows_and_kernels(change: dict, same: bool) -> None:
    base = {"data": "golden", "solver": "block-coordinate"}
    one, two = Run(choices=Choices(**base)), Run(choices=Choices(**{**base, **change}))
    assert (one.bank_key == two.bank_key) is same
    assert one.id != two.id


def test_a_lane_keeps_its_bank_while_there_are_others() -> None:
    queue = RunQueue(runs(0.0, 0.5, 1.0, repeats=3), 2)
    turns = [queue.next(k % 2) for k in range(6)]
    assert [run and run.repeat for run in turns] == [0, 1, 0, 1, 0, 1]
    third = queue.next(0)
    assert third is not None
    assert third.repeat == 2


def test_the_last_group_is_shared_out() -> None:
    given = runs(0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    queue = RunQueue(given, 3)
    taken = [queue.next(lane) for lane in (0, 1, 2, 0, 1, 2, 0, 1)]
    assert None not in taken[:6]
    assert {run.id for run in taken[:6] if run is not None} == {run.id for run in given}
    assert taken[6:] == [None, None]


class Frail(Executor):
    """Ends at the first run whose eta is 0.5, as a pool does whose process is killed."""

    def __init__(self, error: Callable[[], BaseException]) -> None:
        self.error = error
        self.broken = False

    def submit(self, call: Any, /, run: Run, **_: Any) -> Future[dict[str, Any]]:
        if self.broken:
            raise BrokenExecutor("broken for good")
        future: Future[dict[str, Any]] = Future()
        if run.choices.eta == 0.5:
            self.broken = True
            future.set_exception(self.error())
        else:
            future.set_result({"id": run.id, "status": "converged"})
        return future


def outcome(error: Callable[[], BaseException]) -> tuple[list[dict[str, Any]], int, int]:
    """Records of three runs in one lane, and how many executors were made and closed."""
    made: list[Executor] = []
    closed: list[Executor] = []

    def make() -> Executor:
        made.append(Frail(error))
        return made[-1]

    lane = Lane(make, closed.append)
    with contextlib.closing(
        _side_by_side(runs(0.0, 0.5, 1.0), contextlib.nullcontext([lane]))
    ) as records:
        found = list(records)
    lane.close()
    return found, len(made), len(closed)


def test_a_run_that_takes_its_process_along_fails_alone() -> None:
    found, made, closed = outcome(lambda: BrokenExecutor("killed"))
    assert [record["status"] for record in found] == ["converged", "failed", "converged"]
    assert found[1]["reason"] == "its process was killed, perhaps for lack of memory"
    assert found[1]["id"] == runs(0.5)[0].id
    assert made == closed == 2


def test_an_error_on_the_way_is_the_reason() -> None:
    found, _, _ = outcome(lambda: OSError("no space\nleft"))
    assert found[1]["reason"] == "OSError: no space left"


def test_a_cluster_that_goes_away_ends_the_sweep() -> None:
    from concurrent.futures import CancelledError

    with pytest.raises(ClusterLost, match="cluster went away"):
        outcome(CancelledError)
