"""``mkldash solve``: prepare, solve, say what came out."""

from __future__ import annotations

import argparse
import dataclasses
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

from mkldash.cli.progress import ProgressBar
from mkldash.errors import InputError

if TYPE_CHECKING:
    from numpy import uint8
    from numpy.typing import NDArray

    from mkldash.experiments.choices import Choices
    from mkldash.experiments.workload import Workload
    from mkldash.solvers.base import Snapshot

T = TypeVar("T")

__all__ = ["choices_from", "run"]

#: Hyper-parameters that solvers may have.
SOLVER_OPTIONS = ("step", "step_rule", "horizon", "sampling", "certify_every", "search_nodes")

#: Separators that may be written by name.
SEPARATORS = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "\\t": "\t",
    "space": " ",
    "pipe": "|",
}


def run(arguments: argparse.Namespace) -> int:
    """Solve what the arguments say; returns the exit code."""
    from mkldash.cli.report import as_json, as_words
    from mkldash.experiments.scores import score
    from mkldash.experiments.warming import warm_up
    from mkldash.experiments.workload import prepare
    from mkldash.solvers.base import new_cancel_flag
    from mkldash.solvers.driver import solve
    from mkldash.solvers.stopping import Status
    from mkldash.streaming.trace import Trace

    choices = choices_from(arguments)
    if arguments.trace is not None:
        check_writable(arguments.trace)
    bar = ProgressBar(choices.tol)
    try:
        workload = prepare(choices, progress=bar.stage)
        bar.stage("compiling the inner loops, once on a machine")
        warm_up(workload.solver, workload.storage, choices.kind)
    finally:
        bar.clear()
    for note in _idle(arguments, workload):
        _say(f"note: {note}")
    for note in workload.notes:
        _say(f"note: {note}")
    flag = new_cancel_flag()
    trace = None if arguments.trace is None else Trace()
    record = () if trace is None else (trace.append,)
    opening: list[str] = []

    def hear(snapshot: Snapshot) -> None:
        if snapshot.iteration == 0:
            opening.extend(snapshot.events)
            for event in snapshot.events:
                _say(f"note: {event}")

    with _interrupt_sets(flag):
        result = _in_worker(
            lambda: solve(
                workload.solver,
                workload.problem,
                stop=workload.stop,
                cancel=flag,
                callbacks=(*record, hear, bar),
            )
        )
    bar.close()
    workload = dataclasses.replace(workload, notes=(*workload.notes, *opening))
    scores = score(workload, result.best)
    if trace is not None:
        trace.save(arguments.trace)
    if arguments.json:
        _print(json.dumps(as_json(workload, result, scores), indent=2, allow_nan=False))
    else:
        _print(as_words(workload, result, scores))
    return {Status.NOT_FINITE: 1, Status.STOPPED: 130}.get(result.status, 0)


def _idle(arguments: argparse.Namespace, workload: Workload) -> list[str]:
    """What was said and changes nothing."""
    from mkldash.problems.weight_sets.fixed import Fixed

    found = []
    draws = hasattr(workload.solver, "seed")
    if arguments.rows is not None and arguments.seed is not None and not draws:
        found.append("--seed has no effect with --rows, which lists the training rows")
    if arguments.eta is not None and isinstance(workload.problem.weight_set, Fixed):
        found.append("--eta has no effect on a single kernel: its weight is 1")
    if arguments.horizon is not None and arguments.step_rule != "theoretical":
        found.append("--horizon has no effect without --step-rule theoretical")
    if arguments.sigma_factor is not None and workload.sigma is None:
        found.append("--sigma-factor has no effect without the bank single")
    return found


def choices_from(arguments: argparse.Namespace) -> Choices:
    """The choices that the arguments of ``solve`` make.

    Raises
    ------
    InputError
        For options that do not go together or values that cannot be used.
    """
    from mkldash.experiments.choices import Choices

    if arguments.data is None and arguments.gram is None:
        raise InputError(
            "solve needs DATA (a name that 'mkldash data' lists, or a CSV file) or --gram FILE.npz"
        )
    if arguments.data is not None and arguments.gram is not None:
        raise InputError("DATA and --gram exclude each other: the matrices stand for the data")
    _refuse_idle(arguments)
    separator = arguments.separator
    if separator is not None:
        separator = SEPARATORS.get(separator.lower(), separator)
    return Choices(
        data=arguments.data or "",
        gram=arguments.gram,
        labels=arguments.labels,
        normalize=arguments.normalize,
        problem=arguments.problem,
        solver=arguments.solver,
        solver_options=_settings(arguments),
        eta=arguments.eta,
        weight_norm=arguments.weight_norm,
        C=arguments.C,
        rho=arguments.rho,
        sigma_factor=arguments.sigma_factor,
        degree=arguments.degree,
        p=arguments.p,
        penalty=arguments.penalty,
        growth=arguments.growth,
        tol=arguments.tol,
        max_iter=arguments.max_iter,
        time_limit=arguments.time_limit,
        train_fraction=arguments.train_fraction,
        seed=0 if arguments.seed is None else arguments.seed,
        rows=arguments.rows,
        bank=arguments.bank,
        standardize=False if arguments.no_standardize else None,
        missing=arguments.missing,
        one_hot=tuple(arguments.one_hot),
        exclude=tuple(arguments.exclude),
        separator=separator,
        decimal=arguments.decimal,
        header=False if arguments.no_header else (True if arguments.header else None),
        label=arguments.label,
        positive=arguments.positive,
    )


def _settings(arguments: argparse.Namespace) -> tuple[tuple[str, object], ...]:
    """The solver's hyper-parameters: those with an option of their own, and the rest."""
    found: dict[str, object] = {
        name: getattr(arguments, name)
        for name in SOLVER_OPTIONS
        if getattr(arguments, name) is not None
    }
    given: dict[str, str] = {}
    for pair in arguments.option:
        name, sign, text = pair.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or not name:
            raise InputError(f"--option takes NAME=VALUE, such as inner_tol=1e-6, not {pair!r}")
        if name in (*SOLVER_OPTIONS, "seed"):
            own = f"--{name.replace('_', '-')}"
            raise InputError(f"{name} has an option of its own: write {own} {text.strip()}")
        if name in given:
            raise InputError(f"--option {name} is given twice")
        given[name] = text
    if not given:
        return tuple(found.items())
    from mkldash.experiments.choices import Choices
    from mkldash.experiments.solver_settings import read_setting
    from mkldash.experiments.workload import check_solver_name

    solver = arguments.solver
    if solver is None:
        solver = Choices(
            problem=arguments.problem,
            bank=arguments.bank,
            p=arguments.p,
            weight_norm=arguments.weight_norm,
        ).solver
    check_solver_name(solver)
    return (*found.items(), *((n, read_setting(solver, n, text)) for n, text in given.items()))


def _refuse_idle(arguments: argparse.Namespace) -> None:
    """Options that would be silently without effect are a mistake of the person."""
    if arguments.gram is None:
        for option, given in (
            ("--labels", arguments.labels is not None),
            ("--normalize", arguments.normalize),
        ):
            if given:
                raise InputError(f"{option} is for kernel matrices: it goes with --gram FILE.npz")
    else:
        for option, given in (
            ("--bank", arguments.bank is not None),
            ("--sigma-factor", arguments.sigma_factor is not None),
            ("--no-standardize", arguments.no_standardize),
        ):
            if given:
                raise InputError(
                    f"{option} is for DATA: matrices given with --gram are taken as is"
                )
    if arguments.rows is not None and arguments.train_fraction is not None:
        raise InputError(
            "--rows and --train-fraction exclude each other: --rows lists the training rows"
        )


def check_writable(path: str) -> None:
    """Make sure, before solving, that the trace can be written.

    Raises
    ------
    InputError
        With the reason why it cannot.
    """
    target = Path(path)
    if target.suffix != ".npz":
        raise InputError(f"--trace writes an .npz file; {path!r} does not end in .npz")
    if target.is_dir():
        raise InputError(f"--trace cannot write {path!r}: it is a folder")
    existed = target.exists()
    try:
        with target.open("ab"):
            pass
        if not existed:
            target.unlink()
    except OSError as error:
        raise InputError(f"--trace cannot write {path!r}: {error.strerror}") from error


@contextmanager
def _interrupt_sets(flag: NDArray[uint8]) -> Iterator[None]:
    """Ctrl-C asks the run to end; a second one does not wait for it."""

    def ask(number: int, frame: FrameType | None) -> None:
        if flag[0]:
            raise KeyboardInterrupt
        flag[0] = 1
        _say("\nstopping after this step; Ctrl-C again to abort")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _in_worker(task: Callable[[], T]) -> T:
    """Run `task` in a thread, so that compiled loops cannot hold up a signal."""
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(task())
        except BaseException as error:
            errors.append(error)

    worker = threading.Thread(target=work, name="mkldash-solve", daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.1)
    if errors:
        raise errors[0]
    return results[0]


def _say(text: str) -> None:
    """A line on stderr, if there is one."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(text + "\n")
            sys.stderr.flush()
    except (OSError, ValueError):
        pass


def _print(text: str) -> None:
    """A line on stdout, delivered."""
    if sys.stdout is None:
        raise BrokenPipeError
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
