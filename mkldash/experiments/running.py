"""Runs a sweep on the cores of this machine or on a Dask cluster, into a folder."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import closing
from pathlib import Path
from typing import Any

from mkldash.errors import InputError
from mkldash.experiments.lanes import Lane, RunQueue, check_scheduler, cluster_lanes, process_lanes
from mkldash.experiments.measuring import FAILED, asked, measure
from mkldash.experiments.results import ResultsFolder, read_results
from mkldash.experiments.sweep import Run, Sweep, check_sweep

__all__ = ["ClusterLost", "Progress", "run_sweep"]

#: Gets the runs done and in all, and the record that came; None before the first.
Progress = Callable[[int, int, dict[str, Any] | None], None]

Record = dict[str, Any]


class ClusterLost(Exception):
    """The Dask cluster went away; what was finished is in the folder."""


def run_sweep(
    sweep: Sweep,
    folder: str | Path,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
    retry_failed: bool = False,
) -> list[Record]:
    """Run what is not in the folder yet; each result is on disk as soon as it comes.

    The same sweep on the same folder goes on where it stopped, however it stopped.  A
    run that breaks, or takes its process with it, is recorded as failed.

    Parameters
    ----------
    sweep : Sweep
    folder : str or Path
    jobs : int, optional
        Runs side by side, each in a process of its own; default one for each core,
        and 1 runs them in this process.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers take the runs in place of `jobs`.
    progress : callable, optional
        See `Progress`.
    retry_failed : bool
        Run again what failed before.

    Returns
    -------
    list of dict
        The records of the sweep, finished earlier or now, in the order of its runs.

    Raises
    ------
    InputError
        Before anything runs, for what cannot be used.
    ClusterLost
        When the Dask cluster went away.
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs!r}")
    if scheduler is not None:
        check_scheduler(scheduler)
    check_sweep(sweep)
    with ResultsFolder(folder, sweep) as results:
        pending = [
            run
            for run in sweep.runs
            if run.id not in results.done or (retry_failed and results.done[run.id] == FAILED)
        ]
        total = len(sweep.runs)
        done = total - len(pending)
        if progress is not None:
            progress(done, total, None)
        with closing(_records(pending, jobs, scheduler)) as records:
            for record in records:
                results.append(record)
                done += 1
                if progress is not None:
                    progress(done, total, record)
    found = {record["id"]: record for record in read_results(folder)}
    return [found[run.id] for run in sweep.runs]


def _records(
    pending: Sequence[Run], jobs: int | None, scheduler: str | None
) -> Generator[Record, None, None]:
    """The records in the order in which they come."""
    if not pending:
        return _here(())
    if scheduler is not None:
        return _side_by_side(pending, cluster_lanes(scheduler))
    return _here(pending) if jobs == 1 else _side_by_side(pending, process_lanes(jobs, pending))


def _here(pending: Sequence[Run]) -> Generator[Record, None, None]:
    for run in pending:
        yield measure(run) | {"jobs": 1}


def _side_by_side(
    pending: Sequence[Run], opened: contextlib.AbstractContextManager[Sequence[Lane]]
) -> Generator[Record, None, None]:
    """One run in each lane at a time; the next is sent before a record is handed on."""
    with opened as lanes:
        queue = RunQueue(pending, len(lanes))
        running: dict[Future[Record], tuple[int, Run]] = {}

        def feed(lane: int) -> None:
            run = queue.next(lane)
            if run is not None:
                running[lanes[lane].submit(run)] = (lane, run)

        for lane in range(len(lanes)):
            feed(lane)
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                lane, run = running.pop(future)
                record = _came(future, run)
                feed(lane)
                # A run with its file in hand has an id of its own; this one was asked for.
                yield record | {"id": run.id, "jobs": len(lanes)}


def _came(future: Future[Record], run: Run) -> Record:
    """The record of a run, also of one that never came back."""
    try:
        return future.result()
    except CancelledError as error:
        raise ClusterLost("the Dask cluster went away") from error
    except BrokenExecutor:
        reason = "its process was killed, perhaps for lack of memory"
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    return asked(run) | {"status": FAILED, "reason": " ".join(reason.split())}
