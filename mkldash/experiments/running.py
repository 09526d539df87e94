"""Runs a sweep on the cores of this machine or on a Dask cluster, into a folder."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import socket
import threading
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mkldash.errors import InputError
from mkldash.experiments.measuring import FAILED, asked, measure
from mkldash.experiments.results import ResultsFolder, read_results
from mkldash.experiments.sweep import Run, Sweep, check_sweep

__all__ = ["Progress", "WorkerLost", "check_scheduler", "run_sweep"]

#: Gets the runs done and in all, and the record that came; None before the first.
Progress = Callable[[int, int, dict[str, Any] | None], None]

Record = dict[str, Any]


class WorkerLost(Exception):
    """A worker process died without a word; what was finished is in the folder."""


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

    The same sweep on the same folder goes on where it stopped, however it stopped.

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
    WorkerLost
        When a process died, for lack of memory for example.
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
        return _on_cluster(pending, scheduler)
    return _here(pending) if jobs == 1 else _on_cores(pending, jobs)


def _here(pending: Sequence[Run]) -> Generator[Record, None, None]:
    for run in pending:
        yield measure(run) | {"jobs": 1}


def _on_cores(pending: Sequence[Run], jobs: int | None) -> Generator[Record, None, None]:
    """Joblib's processes, one BLAS thread each."""
    import joblib
    from joblib.externals.loky import get_reusable_executor

    side_by_side = min(joblib.cpu_count() if jobs is None else jobs, len(pending))
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(
            n_jobs=side_by_side, batch_size=1, return_as="generator_unordered"
        )
        stream = parallel(joblib.delayed(_measure_in_worker)(run) for run in pending)
    ended = False
    try:
        for record in stream:
            yield record | {"jobs": side_by_side}
        ended = True
    except BrokenExecutor as error:
        raise WorkerLost(str(error).splitlines()[0]) from error
    finally:
        with contextlib.suppress(BrokenExecutor), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib counts the runs that it gives up
            stream.close()
        # Nobody waits for a run whose record nobody will read.
        get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=not ended)


def _measure_in_worker(run: Run) -> Record:
    # Ctrl-C reaches every process of the terminal; the first one decides for all.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return measure(run)


def check_scheduler(address: str) -> None:
    """Refuse a Dask cluster where Dask is not installed, or where nobody answers.

    Parameters
    ----------
    address : str
        Such as ``tcp://host:8786``.

    Raises
    ------
    InputError
        With the command that installs it, or with what an address looks like.
    """
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise InputError(
            "a Dask cluster needs Dask, which is not installed: pip install 'mkldash[dask]'"
        ) from error
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10):
            pass
    except (OSError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {address} ({error}); its address looks like "
            "tcp://host:8786"
        ) from error


def _on_cluster(pending: Sequence[Run], scheduler: str) -> Generator[Record, None, None]:
    """A Dask cluster; a worker that dies costs a run that is tried elsewhere."""
    from distributed import Client, as_completed

    try:
        client = Client(scheduler, set_as_default=False, timeout=10)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {scheduler}: {error}") from error
    with client:
        futures = {
            client.submit(measure, _with_content(run), key=f"mkldash-{run.id}", pure=False): run
            for run in pending
        }
        for future in as_completed(futures, loop=client.loop):
            run, lost = futures.pop(future), future.exception()
            if lost is None:
                record: Record = future.result()
            else:
                reason = f"{type(lost).__name__}: {lost}"
                record = asked(run) | {"status": FAILED, "reason": reason}
            # The run with its file in hand has an id of its own; this one was asked for.
            yield record | {"id": run.id, "jobs": len(client.nthreads())}


def _with_content(run: Run) -> Run:
    """The run with its CSV file in hand, which workers elsewhere may not see."""
    path = Path(run.choices.data)
    if run.choices.gram is not None or not path.is_file():
        return run
    return dataclasses.replace(
        run, choices=dataclasses.replace(run.choices, content=path.read_bytes())
    )
