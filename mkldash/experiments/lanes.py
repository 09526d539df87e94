"""Where runs go: processes of this machine or workers of a Dask cluster, each a lane.

Runs on the same rows and kernels follow each other in one lane, whose process keeps
their bank: it is built once, and memory holds one bank a process.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mkldash.errors import InputError
from mkldash.experiments.measuring import measure
from mkldash.experiments.sweep import Run

__all__ = ["Lane", "RunQueue", "check_scheduler", "cluster_lanes", "process_lanes"]

#: Seconds that a scheduler may take to answer, and to have a worker.
PATIENCE = 10

#: These reach every process of a terminal or job; the first one decides for all.
_FOR_THE_FIRST = (signal.SIGINT, signal.SIGTERM)

#: Who multiplies matrices takes one thread: the other cores have runs of their own.
_ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "NUMBA")
}


class RunQueue:
    """Deals runs out to lanes, a group with the same bank to one of them.

    A lane whose group is done takes the next; when there is none left it takes half of
    what the fullest lane has waiting, so that no lane is idle while runs are left.

    Parameters
    ----------
    runs : sequence of Run
    lanes : int
    """

    def __init__(self, runs: Sequence[Run], lanes: int) -> None:
        groups: dict[str, deque[Run]] = {}
        for run in runs:
            groups.setdefault(run.bank_key, deque()).append(run)
        self._groups = deque(groups.values())
        self._waiting: list[deque[Run]] = [deque() for _ in range(lanes)]

    def next(self, lane: int) -> Run | None:
        """The next run of a lane, or None when all are given out."""
        if not self._waiting[lane] and self._groups:
            self._waiting[lane] = self._groups.popleft()
        own = self._waiting[lane]
        if not own:
            fullest = max(self._waiting, key=len)
            for _ in range((len(fullest) + 1) // 2):
                own.appendleft(fullest.pop())
        return own.popleft() if own else None


class Lane:
    """A place for one run at a time, made anew when it broke.

    Parameters
    ----------
    make : callable
        Gives the executor.
    close : callable
        Ends an executor, and what runs in it.
    prepare : callable, optional
        What a run needs to leave this machine.
    """

    def __init__(
        self,
        make: Callable[[], Executor],
        close: Callable[[Executor], None],
        prepare: Callable[[Run], Run] = lambda run: run,
    ) -> None:
        self._make, self._close, self._prepare = make, close, prepare
        self._executor: Executor | None = None

    def submit(self, run: Run) -> Future[dict[str, Any]]:
        """Start a run."""
        run = self._prepare(run)
        if self._executor is not None:
            try:
                return self._executor.submit(measure, run)
            except BrokenExecutor:
                self.close()
        with _deaf():
            self._executor = self._make()
            return self._executor.submit(measure, run)

    def close(self) -> None:
        """End its process, and the run in it."""
        executor, self._executor = self._executor, None
        if executor is not None:
            self._close(executor)


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """A process that begins in here never hears Ctrl-C: it inherits what is ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _FOR_THE_FIRST}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def process_lanes(jobs: int | None, runs: Sequence[Run]) -> Iterator[list[Lane]]:
    """Processes of joblib's pool, a pool of one for each lane.

    Parameters
    ----------
    jobs : int or None
        How many; None: as many as cores, by joblib's count.
    runs : sequence of Run
        There are no more lanes than runs.
    """
    import joblib
    from joblib.externals.loky import ProcessPoolExecutor

    def make() -> Executor:
        pool: Executor = ProcessPoolExecutor(1, initializer=_begin_process, env=_ONE_THREAD)
        return pool

    def close(executor: Any) -> None:
        executor.shutdown(wait=True, kill_workers=True)

    wanted = joblib.cpu_count() if jobs is None else jobs
    lanes = [Lane(make, close) for _ in range(min(wanted, len(runs)))]
    try:
        yield lanes
    finally:
        for lane in lanes:
            lane.close()


def _begin_process() -> None:
    """What a process of a lane does first."""
    from joblib.externals.loky import process_executor

    for number in _FOR_THE_FIRST:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    # The pool takes a bank that is kept for the next run for a leak, and would start anew.
    process_executor._USE_PSUTIL = False


def _end_with(parent: int) -> None:
    """End this process when its parent is gone: nobody will take the record."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


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
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=PATIENCE):
            pass
    except (OSError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {address} ({error}); its address looks like "
            "tcp://host:8786"
        ) from error


@contextlib.contextmanager
def cluster_lanes(address: str) -> Iterator[list[Lane]]:
    """Workers of a Dask cluster, a lane each; another takes the runs of one that leaves.

    Parameters
    ----------
    address : str
        Of the scheduler.

    Raises
    ------
    InputError
        When there is no scheduler, or no worker.
    """
    from distributed import Client

    # A cluster that goes away is said in one sentence, not in its client's tracebacks.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = Client(address, set_as_default=False, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise InputError(f"the Dask scheduler at {address} has no worker") from error

        def lane(worker: str) -> Lane:
            return Lane(
                lambda: client.get_executor(workers=[worker], allow_other_workers=True, pure=False),
                lambda executor: executor.shutdown(wait=False),
                _with_content,
            )

        yield [lane(worker) for worker in client.nthreads()]


def _with_content(run: Run) -> Run:
    """The run with its CSV file in hand, which workers elsewhere may not see."""
    path = Path(run.choices.data)
    if run.choices.gram is not None or not path.is_file():
        return run
    return dataclasses.replace(
        run, choices=dataclasses.replace(run.choices, content=path.read_bytes())
    )
