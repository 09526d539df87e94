"""The folder: what is on disk survives, and nothing else gets in."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from mkldash.errors import InputError
from mkldash.experiments.results import ResultsFolder, read_results, read_sweep
from mkldash.experiments.sweep import Sweep


def grid(*etas: float, **more: Any) -> Sweep:
    return Sweep.of_grid(["golden"], ["block-coordinate"], axes={"eta": etas or [0.5]}, **more)


def record(sweep: Sweep, k: int = 0, **more: Any) -> dict[str, Any]:
    return {"id": sweep.runs[k].id, "status": "converged", "gap": 1e-4, **more}


def test_a_record_is_on_disk_when_append_returns(tmp_path: Path) -> None:
    sweep = grid(0.0, 0.5)
    with ResultsFolder(tmp_path, sweep) as folder:
        folder.append(record(sweep))
        assert read_results(tmp_path) == [record(sweep)]
        folder.append(record(sweep, 1))
    assert [found["id"] for found in read_results(tmp_path)] == [run.id for run in sweep.runs]
    assert read_sweep(tmp_path)["runs"] == 2


def test_a_number_that_json_does_not_have_is_never_written(tmp_path: Path) -> None:
    sweep = grid()
    with ResultsFolder(tmp_path, sweep) as folder, pytest.raises(ValueError, match="JSON"):
        folder.append(record(sweep, gap=math.inf))
    assert read_results(tmp_path) == []


@pytest.mark.parametrize("torn", [b'{"id": "ab', b'{"id": "ab"}', b"\x00\x00\x00", b"\x00\n"])
def test_a_half_written_line_is_cut_off(tmp_path: Path, torn: bytes) -> None:
    sweep = grid(0.0, 0.5)
    with ResultsFolder(tmp_path, sweep) as folder:
        folder.append(record(sweep))
    path = tmp_path / "results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert read_results(tmp_path) == [record(sweep)]
    with ResultsFolder(tmp_path, sweep) as folder:
        assert path.read_bytes() == whole
        assert set(folder.done) == {sweep.runs[0].id}
        folder.append(record(sweep, 1))
    assert len(read_results(tmp_path)) == 2


def test_a_damaged_line_in_the_middle_is_no_kill_and_is_said(tmp_path: Path) -> None:
    sweep = grid(0.0, 0.5)
    with ResultsFolder(tmp_path, sweep) as folder:
        folder.append(record(sweep))
        folder.append(record(sweep, 1))
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"x" + path.read_bytes())
    with pytest.raises(InputError, match=r"line 1 of .* is damaged"):
        read_results(tmp_path)


def test_the_last_try_of_a_run_counts(tmp_path: Path) -> None:
    sweep = grid()
    with ResultsFolder(tmp_path, sweep) as folder:
        folder.append(record(sweep, status="failed"))
        folder.append(record(sweep))
    assert read_results(tmp_path) == [record(sweep)]


def test_one_comparison_writes_at_a_time(tmp_path: Path) -> None:
    sweep = grid()
    with ResultsFolder(tmp_path, sweep):
        with pytest.raises(InputError, match=r"another comparison .* is writing"):
            ResultsFolder(tmp_path, sweep).__enter__()
        assert read_results(tmp_path) == []
    with ResultsFolder(tmp_path, sweep) as again:
        assert again.done == {}


def test_more_of_the_same_is_added(tmp_path: Path) -> None:
    with ResultsFolder(tmp_path, grid(0.5)) as folder:
        folder.append(record(grid(0.5)))
    wider = grid(0.0, 0.5, 1.0, repeats=2)
    with ResultsFolder(tmp_path, wider) as folder:
        assert set(folder.done) == {grid(0.5).runs[0].id} < {run.id for run in wider.runs}
    assert read_sweep(tmp_path)["runs"] == 6
    with ResultsFolder(tmp_path, grid(1.0)):
        assert len(read_results(tmp_path)) == 1


@pytest.mark.parametrize(
    ("fixed", "said"),
    [
        ({"tol": 1e-2}, "tol 0.001, now 0.01"),
        ({"seed": 1}, "seed 0, now 1"),
        ({"time_limit": 5.0}, "time_limit not given, now 5"),
    ],
)
def test_other_settings_are_refused(tmp_path: Path, fixed: dict, said: str) -> None:
    with ResultsFolder(tmp_path, grid()):
        pass
    before = (tmp_path / "sweep.json").read_bytes()
    with pytest.raises(InputError, match=said):
        ResultsFolder(tmp_path, grid(fixed=fixed)).__enter__()
    assert (tmp_path / "sweep.json").read_bytes() == before


def test_a_table_that_changed_is_refused(tmp_path: Path) -> None:
    mine, out = tmp_path / "mine.csv", tmp_path / "out"
    mine.write_text("a,b\n1,yes\n2,no\n")
    with ResultsFolder(out, Sweep.of_grid([str(mine)], ["block-coordinate"])):
        pass
    with ResultsFolder(out, Sweep.of_grid(["golden"], ["block-coordinate"])):
        pass
    mine.write_text("a,b\n1,yes\n3,no\n")
    with pytest.raises(InputError, match=r"mine\.csv has changed"):
        ResultsFolder(out, Sweep.of_grid([str(mine)], ["block-coordinate"])).__enter__()


def test_folders_of_something_else_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match=r"holds other things \(thesis.tex\)"):
        ResultsFolder(tmp_path, grid()).__enter__()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(InputError, match="is a file"):
        ResultsFolder(tmp_path / "thesis.tex", grid()).__enter__()
    with pytest.raises(InputError, match="holds no comparison"):
        read_results(tmp_path)
    (tmp_path / "sweep.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(InputError, match="has a format that this version does not read"):
        read_sweep(tmp_path)
