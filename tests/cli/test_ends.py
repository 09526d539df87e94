"""How a run ends that does not end by itself."""

from __future__ import annotations

import errno
import io
import json
import signal
import sys
import textwrap
import time
from pathlib import Path

import pytest

import mkldash.cli.listing
from mkldash.cli import main
from tests.cli._run import start

LONG = (
    "solve",
    "sonar",
    "--bank",
    "linear",
    "--eta",
    "1",
    "--tol",
    "1e-14",
    "--max-iter",
    "10000000",
)

DEAF = """
import sys, time
from mkldash.solvers.block_coordinate import BlockCoordinateDescent

def deaf(self, problem, resume, warm, cancel):
    steps = original(self, problem, resume, warm, cancel)
    if problem.n_rows < 100:
        yield from steps
    yield next(steps)
    time.sleep(600)

original = BlockCoordinateDescent._iterate
BlockCoordinateDescent._iterate = deaf
from mkldash.cli import main
sys.exit(main(sys.argv[1:]))
"""


def wait_for(stream: io.TextIOBase, text: str) -> str:
    """Read lines until one holds `text`; an ended process fails the test."""
    for line in stream:
        if text in line:
            return line
    raise AssertionError(f"never said {text!r}")


def test_ctrl_c_ends_with_the_partial_result() -> None:
    process = start(*LONG, "--json")
    assert process.stderr is not None
    wait_for(process.stderr, "iteration")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    answer = json.loads(out)
    assert answer["status"] == "stopped"
    assert answer["lower"] <= answer["upper"]
    assert "Traceback" not in err


def test_a_second_ctrl_c_does_not_wait() -> None:
    process = start("solve", "sonar", "--bank", "linear", "--json", code=textwrap.dedent(DEAF))
    assert process.stderr is not None
    wait_for(process.stderr, "iteration 0")
    process.send_signal(signal.SIGINT)
    wait_for(process.stderr, "again to abort")
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - begun < 30
    assert out == ""
    assert "stopped by you" in err
    assert "Traceback" not in err


def test_ctrl_c_before_there_is_anything(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mkldash.cli.listing, "run", interrupted)
    assert main(["data"]) == 130
    assert capsys.readouterr().err == "mkldash: stopped by you before there was a result\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    with start("solve", "golden", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
    assert process.returncode == 141
    assert "Traceback" not in err
    assert "Exception" not in err


class Full(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(sys, "stdout", Full())
    assert main(["data"]) == 2
    assert capsys.readouterr().err == "mkldash: No space left on device\n"


def test_no_stderr_no_harm(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["solve", "golden", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "converged"


def test_a_fault_of_ours_shows_no_traceback_unless_asked(
    monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(mkldash.cli.listing, "run", broken)
    monkeypatch.delenv("MKLDASH_TRACEBACK", raising=False)
    assert main(["data"]) == 70
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "ZeroDivisionError: division by zero" in err
    monkeypatch.setenv("MKLDASH_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["data"])


def test_numbers_that_are_not_finite_exit_with_1(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    import dataclasses

    from mkldash.solvers.block_coordinate import BlockCoordinateDescent

    original = BlockCoordinateDescent._iterate

    def poisoned(self, *arguments):
        for snapshot in original(self, *arguments):
            if snapshot.iteration == 2 and len(snapshot.alpha) == 12:
                yield dataclasses.replace(snapshot, objective=float("nan"))
                return
            yield snapshot

    monkeypatch.setattr(BlockCoordinateDescent, "_iterate", poisoned)
    assert main(["solve", "golden", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "not_finite"
    assert answer["iterations"] == 1


def test_the_trace_of_a_stopped_run_is_written(tmp_path: Path) -> None:
    path = tmp_path / "trace.npz"
    process = start(*LONG, "--json", "--trace", path)
    assert process.stderr is not None
    wait_for(process.stderr, "iteration")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    from mkldash.streaming.trace import Trace

    assert len(Trace.load(path)) == json.loads(out)["iterations"] + 1
