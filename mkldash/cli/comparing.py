"""``mkldash compare``: a sweep into a folder, its table and its report."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from mkldash.cli.listing import table
from mkldash.cli.solving import SEPARATORS
from mkldash.errors import InputError

if TYPE_CHECKING:
    from mkldash.experiments.sweep import Sweep

__all__ = [
    "SweepBar",
    "finish",
    "kept",
    "run",
    "say",
    "sweep_from",
    "termination_interrupts",
]

#: Rows of the summary on stdout; the report has all.
_MOST_ROWS = 60

_AXES = (
    "eta",
    "weight_norm",
    "C",
    "rho",
    "sigma_factor",
    "p",
    "penalty",
    "growth",
    "degree",
    "bank",
)
_ALIKE = ("problem", "tol", "max_iter", "time_limit", "seed", "train_fraction", "rows")


def run(arguments: argparse.Namespace) -> int:
    """Run, or only report, what the arguments say; returns the exit code."""
    from mkldash.experiments.comparison_table import check_parquet
    from mkldash.experiments.running import ClusterLost, run_sweep

    if arguments.parquet:
        check_parquet()
    if arguments.report is not None:
        if arguments.data or arguments.out is not None:
            raise InputError(
                "--report FOLDER writes a report again: it goes without DATA and --out"
            )
        return finish(arguments.report, parquet=arguments.parquet)
    sweep = sweep_from(arguments)
    folder = Path(arguments.out)
    bar = SweepBar()
    try:
        with termination_interrupts():
            run_sweep(
                sweep,
                folder,
                jobs=arguments.jobs,
                scheduler=arguments.scheduler,
                progress=bar,
                retry_failed=arguments.retry_failed,
            )
    except KeyboardInterrupt:
        if not bar.total:
            raise
        bar.close()
        say(f"stopped by you: {kept(sweep, folder)}; the same command goes on from there")
        return 130
    except ClusterLost as error:
        bar.close()
        say(f"{error}: {kept(sweep, folder)}; the same command goes on from there")
        return 1
    finally:
        bar.close()
    return finish(folder, parquet=arguments.parquet)


def kept(sweep: Sweep, folder: Path) -> str:
    """How far a sweep has come."""
    from mkldash.experiments.results import read_results

    kept = {record["id"] for record in read_results(folder)} & {run.id for run in sweep.runs}
    return f"{len(kept)} of {len(sweep.runs)} runs are in {folder}"


@contextlib.contextmanager
def termination_interrupts() -> Iterator[None]:
    """A batch system that says its time is up gets the same clean end as Ctrl-C."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def sweep_from(arguments: argparse.Namespace) -> Sweep:
    """The sweep that the arguments of ``compare`` make.

    Raises
    ------
    InputError
        For options that do not go together or values that cannot be used.
    """
    from mkldash.experiments.sweep import Sweep

    if not arguments.data:
        raise InputError(
            "compare needs DATA (names that 'mkldash data' lists, or CSV files), or --report FOLDER"
        )
    if arguments.out is None:
        raise InputError("compare needs --out FOLDER, where results are kept as they come")
    if arguments.rows is not None and arguments.train_fraction is not None:
        raise InputError(
            "--rows and --train-fraction exclude each other: --rows lists the training rows"
        )
    if arguments.jobs is not None and arguments.scheduler is not None:
        raise InputError(
            "--jobs and --scheduler exclude each other: the workers of the cluster take the runs"
        )
    alike = {name: getattr(arguments, name) for name in _ALIKE}
    if arguments.no_standardize:
        alike["standardize"] = False
    return Sweep.of_grid(
        arguments.data,
        arguments.solvers or (),
        axes={n: values for n in _AXES if (values := getattr(arguments, n)) is not None},
        options=_options(arguments.option),
        repeats=arguments.repeats,
        fixed={name: value for name, value in alike.items() if value is not None},
        table=_table_choices(arguments),
        command=arguments.command,
    )


def _table_choices(arguments: argparse.Namespace) -> dict[str, Any]:
    """How CSV files are read, as far as it was said."""
    separator = arguments.separator
    if separator is not None:
        separator = SEPARATORS.get(separator.lower(), separator)
    said = {
        "missing": None if arguments.missing == "error" else arguments.missing,
        "one_hot": tuple(arguments.one_hot) or None,
        "exclude": tuple(arguments.exclude) or None,
        "separator": separator,
        "decimal": arguments.decimal,
        "header": False if arguments.no_header else (True if arguments.header else None),
        "label": arguments.label,
        "positive": arguments.positive,
    }
    return {name: value for name, value in said.items() if value is not None}


def _options(given: Sequence[tuple[str, Sequence[str]]]) -> dict[str, list[Any]]:
    """Values of the solvers' own parameters, of the type that their defaults have."""
    defaults = _defaults()
    found: dict[str, list[Any]] = {}
    for name, texts in given:
        if name in found:
            raise InputError(f"option {name} is given twice: write its values with commas")
        found[name] = [_typed(name, text, defaults.get(name)) for text in texts]
    return found


def _defaults() -> Mapping[str, Any]:
    """Default of each parameter that some solver has."""
    from mkldash.solvers import available_solvers

    return {
        part.name: part.default
        for kind in available_solvers().values()
        for part in dataclasses.fields(kind)
    }


def _typed(name: str, text: str, default: object) -> Any:
    """A value of the type of the default; a number that looks like one where it has none."""
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise InputError(f"option {name} must be true or false, not {text!r}")
        return text.lower() == "true"
    if isinstance(default, str):
        return text
    kinds = (int,) if isinstance(default, int) else (float,)
    for kind in kinds if default is not None else (int, float, str):
        try:
            return kind(text)
        except ValueError:
            continue
    what = "a whole number" if kinds == (int,) else "a number"
    raise InputError(f"option {name} must be {what}, not {text!r}")


def finish(folder: str | Path, *, parquet: bool = False) -> int:
    """Write table and report of a folder, and say what is in them.

    Parameters
    ----------
    folder : str or Path
    parquet : bool
        Write the table as Parquet too.

    Returns
    -------
    int
        Exit code: 1 when a run failed.
    """
    from mkldash.experiments.comparison_report import write_report
    from mkldash.experiments.comparison_table import group_results, write_table
    from mkldash.experiments.comparison_words import statuses, summary_rows
    from mkldash.experiments.results import read_results

    results = read_results(folder)
    path = write_table(results, folder, parquet=parquet)
    report = write_report(folder)
    rows = summary_rows(group_results(results))
    shown = table(rows[: _MOST_ROWS + 1])
    if len(rows) > _MOST_ROWS + 1:
        shown += f"\nand {len(rows) - _MOST_ROWS - 1} more; the report has all"
    broken = [record for record in results if record["status"] in ("failed", "not_finite")]
    for reason in dict.fromkeys(f"{r['solver']} on {r['data']}: {r['reason']}" for r in broken):
        say(f"failed: {reason}")
    sys.stdout.write(
        f"{shown}\n\n{len(results)} runs: {statuses(results)}\ntable   {path}\nreport  {report}\n"
    )
    return 1 if broken else 0


class SweepBar:
    """Runs done, and how long the rest may take.

    On a terminal one line is drawn again and again; into a file or pipe a plain
    line goes every half minute.
    """

    def __init__(self) -> None:
        self.done, self.total = 0, 0
        self._failed = 0
        self._begun = time.monotonic()
        self._at_start = 0
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._due = self._begun + (0.0 if self._terminal else 30.0)
        self._drawn = ""

    def __call__(self, done: int, total: int, record: Mapping[str, Any] | None) -> None:
        """Take note of a run that ended; None before the first."""
        self.done, self.total = done, total
        if record is None:
            self._begun, self._at_start = time.monotonic(), done
            if done:
                say(f"{done} of {total} runs were there already")
        elif record["status"] == "failed":
            self._failed += 1
        now = time.monotonic()
        if now >= self._due or (self._terminal and done == total):
            self._due = now + (0.1 if self._terminal else 30.0)
            self._show(self.line(now - self._begun))

    def line(self, elapsed: float) -> str:
        """The text after so many seconds."""
        width = 24
        filled = width * self.done // max(self.total, 1)
        text = f"[{'#' * filled}{'.' * (width - filled)}] {self.done} of {self.total} runs"
        if self._failed:
            text += f", {self._failed} failed"
        new = self.done - self._at_start
        if new and self.done < self.total:
            text += f", about {_duration(elapsed / new * (self.total - self.done))} left"
        return text

    def close(self) -> None:
        """Leave the line."""
        if self._terminal and self._drawn:
            say("")
            self._drawn = ""

    def _show(self, text: str) -> None:
        if not self._terminal:
            say(text)
            return
        _write("\r" + text.ljust(len(self._drawn)))
        self._drawn = text


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def say(text: str) -> None:
    """A line on stderr."""
    _write(text + "\n")


def _write(text: str) -> None:
    """On stderr; a closed one must not end the sweep."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()
    except (OSError, ValueError):
        pass
