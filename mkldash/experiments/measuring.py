"""One run of a sweep, measured: the record that goes on its line."""

from __future__ import annotations

import functools
import math
import os
import platform
import threading
import time
import warnings
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np

from mkldash import __version__
from mkldash.errors import UnsupportedProblemError
from mkldash.experiments.banks_of_choices import keep_one_bank
from mkldash.experiments.choices import Choices
from mkldash.experiments.scores import RegressionScores, Scores, score
from mkldash.experiments.sweep import Run, parameters_of, plain
from mkldash.experiments.warming import functions_loaded, warm_up_once
from mkldash.experiments.workload import Workload, prepare
from mkldash.solvers import available_solvers
from mkldash.solvers.base import Snapshot
from mkldash.solvers.driver import Result, one_blas_thread, solve

__all__ = ["FAILED", "LONGEST_TRACE", "UNSUPPORTED", "asked", "measure", "thinned_rows"]

#: What `status` is beside the values of `mkldash.solvers.stopping.Status`.
FAILED, UNSUPPORTED = "failed", "unsupported"

#: Rows of a trace that are kept, and weights.
LONGEST_TRACE, MOST_WEIGHTS = 400, 50

#: Seconds of a run to which loading compiled code adds too little to repeat it.
LONG = 60.0

#: Runs in this process take turns: side by side they would share its interpreter.
_TURN = threading.Lock()

#: Seconds that the bank of some choices took when this process built it.
_BUILT: dict[str, float] = {}


def measure(run: Run) -> dict[str, Any]:
    """Prepare, warm up, solve and score one run.

    Nothing is raised for a run that cannot be made or breaks: its record says why.
    The bank is kept for the next run on the same rows and kernels, and
    `bank_seconds` is what building it took.  `load` is the machine's over the last
    minute of the run, all its processes together; `wall_seconds` is what the whole run
    took, preparing and scoring included.  A run with a task does that in place of solving.

    Parameters
    ----------
    run : Run

    Returns
    -------
    dict
        As strict JSON can hold it.
    """
    record, begun = asked(run), time.perf_counter()
    with _TURN, warnings.catch_warnings(record=True) as heard:
        try:
            if run.task is None:
                record |= _measured(run.choices, record)
            else:
                record |= _done(run)
        except UnsupportedProblemError as error:
            record |= {"status": UNSUPPORTED, "reason": str(error)}
        except MemoryError:
            record |= {"status": FAILED, "reason": "out of memory"}
        except Exception as error:
            known = isinstance(error, ValueError) and str(error)
            reason = str(error) if known else f"{type(error).__name__}: {error}"
            record |= {"status": FAILED, "reason": " ".join(reason.split())}
    record["wall_seconds"] = time.perf_counter() - begun
    record["load"] = round(os.getloadavg()[0], 2)
    said = (str(warning.message) for warning in heard)
    record["notes"] = list(dict.fromkeys((*record["notes"], *said)))
    return record


def asked(run: Run) -> dict[str, Any]:
    """The record as it is before anything runs: what was not measured is None."""
    choices, task = run.choices, run.task
    measured = (
        "n_train", "n_test", "n_kernels", "objective", "upper", "lower", "gap", "iterations",
        "inner_solves", "seconds", "bank_seconds", "support_vectors", "active_kernels",
        "train_score", "test_score", "train_mse", "test_mse", "wall_seconds",
    )  # fmt: skip
    return {
        "id": run.id,
        "label": run.label,
        "data": (task.data if task else None) or choices.gram or choices.data,
        "problem": choices.problem,
        "solver": task.name if task else choices.solver,
        "title": task.title if task else available_solvers()[choices.solver].title,
        "options": {n: plain(v) for n, v in (task.options if task else choices.solver_options)},
        "parameters": {} if task else parameters_of(choices),
        "asked_bank": choices.bank,
        "bank": choices.bank,
        "tol": None if task else choices.tol,
        "max_iter": None if task else choices.max_iter,
        "time_limit": None if task else choices.time_limit,
        "train_fraction": choices.train_fraction,
        "rows": choices.rows,
        "repeat": run.repeat,
        "seed": int(choices.seed),
        "status": FAILED,
        "reason": None,
        **dict.fromkeys(measured),
        "weights": [],
        "trace": {name: [] for name in _Rows.names},
        "load": None,
        "cores": os.cpu_count(),
        "notes": [],
        "versions": versions(),
    }


@functools.cache
def versions() -> Mapping[str, str]:
    """Versions of what computes."""
    import numba

    return {
        "mkldash": __version__,
        "numpy": np.__version__,
        "numba": numba.__version__,
        "python": platform.python_version(),
    }


def _measured(choices: Choices, record: dict[str, Any]) -> dict[str, Any]:
    """What the run gave; facts of its data are written into `record` before it is solved."""
    keep_one_bank(choices.memory_limit)
    work = prepare(choices)
    record |= {
        "bank": work.bank_name,
        "n_train": len(work.split.train),
        "n_test": len(work.split.test),
        "n_kernels": work.family.size,
        "train_fraction": work.source.train_fraction(choices) if choices.rows is None else None,
        "bank_seconds": _bank_seconds(work),
        "notes": list(work.notes),
    }
    warm_up_once(work.solver, work.storage, choices.kind, work.problem.weight_set)
    result, rows, notes = _timed(work)
    record["notes"] += notes
    return {
        "status": result.status.value,
        **_numbers(result),
        "active_kernels": len(result.best.weights.active()),
        **_scores(score(work, result.best)),
        "weights": _weights(work, result),
        "trace": rows.thinned(),
    }


def _done(run: Run) -> dict[str, Any]:
    """What a task gave, its kernels and products on one BLAS thread like a solver's."""
    assert run.task is not None
    with one_blas_thread():
        return {"status": "converged", **run.task.measure(run)}


def _timed(work: Workload) -> tuple[Result, _Rows, list[str]]:
    """Solve; and solve again if anything was compiled or loaded while the clock ran.

    Two iterations on twenty rows warm up most functions, and cannot reach all.
    """
    for _ in range(2):
        rows, before = _Rows(), functions_loaded()
        result = solve(work.solver, work.problem, stop=work.stop, callbacks=(rows,))
        if result.final is not result.last:
            rows(result.final)
        clean = functions_loaded() == before
        if clean or result.seconds > LONG:
            break
    late = [] if clean else ["compiled code was loaded while the clock ran"]
    return result, rows, late


def _bank_seconds(work: Workload) -> float:
    """What building took, when this run built it or when an earlier one here did."""
    key = work.family.key
    _BUILT[key] = max(work.bank_seconds, _BUILT.get(key, 0.0))
    return _BUILT[key]


def _numbers(result: Result) -> dict[str, Any]:
    return {
        "objective": _finite(result.best.objective),
        "upper": _finite(result.upper),
        "lower": _finite(result.lower),
        "gap": _finite(result.gap),
        "iterations": int(result.iterations),
        "inner_solves": int(result.inner_solves),
        "seconds": float(result.seconds),
    }


def _scores(scores: Scores | RegressionScores) -> dict[str, Any]:
    if isinstance(scores, RegressionScores):
        return {"train_mse": _finite(scores.train_mse), "test_mse": _finite(scores.test_mse)}
    return {
        "train_score": scores.train_accuracy,
        "test_score": scores.test_accuracy,
        "support_vectors": scores.support_vectors,
    }


def _weights(work: Workload, result: Result) -> list[list[Any]]:
    """The largest weights with the names of their kernels; orders of one product add up."""
    found: dict[str, float] = {}
    for key, value in result.best.weights.as_dict(0.0).items():
        name = work.family.label(key) if work.problem.has_family else str(key)
        found[name] = found.get(name, 0.0) + value
    largest = sorted(found.items(), key=lambda item: -item[1])[:MOST_WEIGHTS]
    return [[name, value] for name, value in largest]


def _finite(value: float | None) -> float | None:
    """JSON has no infinity."""
    return float(value) if value is not None and math.isfinite(value) else None


class _Rows:
    """Bounds, solves and seconds of each iteration, as a callback collects them."""

    names = ("iteration", "inner_solves", "seconds", "upper", "lower")

    def __init__(self) -> None:
        self._columns = {name: array("d") for name in self.names}

    def __call__(self, snapshot: Snapshot) -> None:
        row = (
            snapshot.iteration, snapshot.inner_solves, snapshot.elapsed,
            snapshot.upper, snapshot.lower,
        )  # fmt: skip
        for column, value in zip(self._columns.values(), row, strict=True):
            column.append(value)

    def thinned(self) -> dict[str, list[Any]]:
        """At most `LONGEST_TRACE` rows, denser at the start; the first and last are kept."""
        kept = thinned_rows(len(self._columns["upper"]))
        whole = ("iteration", "inner_solves")
        return {
            name: [int(column[k]) if name in whole else _finite(column[k]) for k in kept]
            for name, column in self._columns.items()
        }


def thinned_rows(n: int, most: int = LONGEST_TRACE) -> list[int]:
    """Rows to keep of `n`: half of them evenly spaced, half at growing distance.

    Parameters
    ----------
    n : int
    most : int
        At least 2.

    Returns
    -------
    list of int
        Ascending, at most `most`; all of them when they are no more.
    """
    if n <= most:
        return list(range(n))
    even = np.linspace(0, n - 1, most // 2)
    growing = np.geomspace(1, n, most - most // 2) - 1
    return np.unique(np.concatenate([even, growing]).round().astype(int)).tolist()
