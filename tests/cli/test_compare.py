"""``mkldash compare``: what a person sees, and what survives a kill."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mkldash.cli.comparing import SweepBar
from mkldash.experiments import measuring
from mkldash.experiments.results import read_results
from tests.cli._run import Cli

QUICK = ("golden", "--solvers", "block-coordinate", "--jobs", "1")

#: Twelve runs of a few tenths of a second, two side by side.
LONG = (
    "sonar", "--solvers", "block-coordinate", "--bank", "linear", "--eta", "0.9,1", "--tol",
    "1e-6", "--max-iter", "400", "--repeats", "6", "--jobs", "2",
)  # fmt: skip

CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def begin(*arguments: object) -> subprocess.Popen[str]:
    """``compare`` at the head of a process group of its own, as a shell starts it."""
    return subprocess.Popen(
        [sys.executable, "-m", "mkldash", "compare", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def wait_for_lines(path: Path, n: int, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 120
    while not (path.exists() and path.read_bytes().count(b"\n") >= n):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def test_a_comparison_leaves_lines_table_and_report(cli: Cli, tmp_path: Path) -> None:
    done = cli("compare", *QUICK, "--eta", "0,0.5", "--repeats", "2", "--out", tmp_path)
    assert done.code == 0, done
    assert done.err == ""
    assert re.search(r"golden +eta 0.5 +Block-coordinate descent +2 of 2", done.out)
    assert "4 runs: 4 converged" in done.out
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"lock", "results.jsonl", "sweep.json", "table.csv", "report.html"}
    with (tmp_path / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["eta"], row["repeat"], row["seed"]) for row in rows] == [
        ("0.0", "0", "0"), ("0.5", "0", "0"), ("0.0", "1", "1"), ("0.5", "1", "1"),
    ]  # fmt: skip
    assert all(float(row["gap"]) <= 1e-3 for row in rows)
    saved = json.loads((tmp_path / "sweep.json").read_text())
    assert saved["runs"] == 4
    assert saved["command"].startswith("mkldash compare golden --solvers block-coordinate")
    (tmp_path / "report.html").unlink()
    again = cli("compare", "--report", tmp_path)
    assert (again.code, again.out) == (0, done.out)
    assert (tmp_path / "report.html").exists()


def test_failed_and_unsupported_runs_are_told_apart(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("compare", *QUICK, "--repeats", "1", "--out", tmp_path)
    done = cli(*arguments, "--solvers", "block-coordinate,mirror-descent")
    assert done.code == 0
    assert "1 converged, 1 not supported by the solver" in done.out

    def breaks(choices: Any) -> None:
        raise ArithmeticError("no more numbers")

    monkeypatch.setattr(measuring, "prepare", breaks)
    done = cli(*arguments, "--repeats", "2")
    assert done.code == 1
    assert "failed: block-coordinate on golden: ArithmeticError: no more numbers" in done.err
    assert "1 of 2 runs were there already" in done.err
    monkeypatch.undo()
    done = cli(*arguments, "--repeats", "2", "--retry-failed")
    assert done.code == 0
    assert "2 converged" in done.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "compare needs DATA"),
        (("golden",), "compare needs --out FOLDER"),
        (("golden", "--out", "x", "--report", "y"), "--report FOLDER writes a report again"),
        (("golden", "--out", "x", "--eta", "0,half"), "'half' is not a number"),
        (("golden", "--out", "x", "--eta", "0,2"), "eta"),
        (("golden", "--out", "x", "--degree", "1.5"), "not a list of whole numbers"),
        (("golden", "--out", "x", "--solvers", "block-coordinate,"), "has an empty name"),
        (("golden", "--out", "x", "--solvers", "simplx"), "no solver is called 'simplx'"),
        (("golden", "gone", "--out", "x"), "no data set and no file is called 'gone'"),
        (("golden", "--out", "x", "--option", "step"), "is not NAME=VALUE"),
        (("golden", "--out", "x", "--option", "step=1"), "has an option 'step'"),
        (("golden", "--out", "x", "--jobs", "0"), "jobs must be at least 1"),
        (("golden", "--out", "x", "--jobs", "2", "--scheduler", "a:1"), "exclude each other"),
        (("golden", "--out", "x", "--label", "y"), "--label is for a CSV file"),
        (("golden", "--out", "x", "--rows", "wdbc-math8", "--train-fraction", "1"), "exclude"),
        (("--report", "nowhere"), "nowhere holds no comparison"),
    ],
)
def test_what_cannot_run_is_refused_in_one_line(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple, complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert complaint in cli("compare", *arguments).complaint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        ("step=fast", "option step must be a number, not 'fast'"),
        ("search-nodes=1.5", "option search_nodes must be a whole number"),
    ],
)
def test_values_of_options_have_the_type_of_their_default(
    cli: Cli, tmp_path: Path, option: str, complaint: str
) -> None:
    arguments = ("compare", "known-products", "--problem", "products", "--option", option)
    assert complaint in cli(*arguments, "--out", tmp_path / "out").complaint


def test_parquet_holds_what_the_csv_holds(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet

    rho = ("two-moons", "--problem", "neighborhood", "--solvers", "shifted-svm", "--rho", "1,inf")
    arguments = ("compare", *rho, "--jobs", "1", "--repeats", "1", "--parquet")
    assert cli(*arguments, "--out", tmp_path).code == 0
    rows = pyarrow.parquet.read_table(tmp_path / "table.parquet").to_pylist()
    with (tmp_path / "table.csv").open(newline="") as file:
        written = list(csv.DictReader(file))
    assert [row["rho"] for row in rows] == ["1.0", "inf"] == [row["rho"] for row in written]
    assert [row["gap"] for row in rows] == [float(row["gap"]) for row in written]
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    refused = cli(*arguments, "--out", tmp_path / "more")
    assert "pip install 'mkldash[parquet]'" in refused.complaint
    assert not (tmp_path / "more").exists()


def test_a_killed_comparison_goes_on_where_it_stopped(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    process = begin(*LONG, "--out", tmp_path)
    wait_for_lines(results, 3, process)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.communicate()
    survived = results.read_bytes()
    survived = survived[: survived.rindex(b"\n") + 1]
    n = survived.count(b"\n")
    assert 3 <= n < 12
    results.write_bytes(survived + b'{"id":"half a li')  # as a kill within a write leaves it
    process = begin(*LONG, "--out", tmp_path)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert err == f"{n} of 12 runs were there already\n"
    assert "12 runs: " in out
    assert results.read_bytes().startswith(survived)
    assert Counter(Counter(ids(results)).values()) == {1: 12}


def test_ctrl_c_ends_with_a_word_on_how_to_go_on(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    process = begin(*LONG, "--out", tmp_path)
    wait_for_lines(results, 1, process)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the whole group
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    done = len(read_results(tmp_path))
    assert 1 <= done < 12
    assert out == ""
    assert err == (
        f"stopped by you: {done} of 12 runs are in {tmp_path}; "
        "the same command goes on from there\n"
    )


def test_a_cluster_of_two_workers_takes_the_runs(cli: Cli, tmp_path: Path) -> None:
    mine = tmp_path / "mine.csv"
    rows = [f"{k % 7},{k * k % 11},{'yes' if k % 3 else 'no'}" for k in range(30)]
    mine.write_text("\n".join(["size,weight,label", *rows]))
    grid = ("golden", mine, "--solvers", "block-coordinate", "--eta", "0,1", "--repeats", "2")
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, cwd=os.sep,
    ) as cluster:  # fmt: skip
        assert cluster.stdout is not None
        address = cluster.stdout.readline().strip()
        process = begin(*grid, "--scheduler", address, "--out", tmp_path / "there")
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        cluster.communicate("", timeout=60)
    assert cli("compare", *grid, "--jobs", "1", "--out", tmp_path / "here").code == 0
    there, here = (
        {record["id"]: record for record in read_results(tmp_path / place)}
        for place in ("there", "here")
    )
    assert there.keys() == here.keys()
    assert len(there) == 8
    for one in there.values():
        assert one["jobs"] == 2
        assert one["upper"] == here[one["id"]]["upper"]
        assert one["data"] == here[one["id"]]["data"]


def test_the_bar_says_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    bar = SweepBar()
    bar(2, 12, None)
    bar(5, 12, {"status": "failed"})
    assert bar.line(6.0) == "[##########..............] 5 of 12 runs, 1 failed, about 14 s left"
    bar(12, 12, {"status": "converged"})
    assert bar.line(9.0) == f"[{24 * '#'}] 12 of 12 runs, 1 failed"
    assert capsys.readouterr().err == "2 of 12 runs were there already\n"


def test_the_help_says_how_to_go_on_and_what_a_folder_takes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from mkldash.cli import main

    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "the same command goes on where it stopped" in text
    assert "Under other settings the folder is refused" in text
    assert "take --jobs 1 where seconds matter" in text
