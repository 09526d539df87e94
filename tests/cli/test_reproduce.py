"""``mkldash reproduce``: the list, a run, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mkldash.experiments.reproductions import available_reproductions
from mkldash.experiments.reproductions.projection_times import ProjectionTimes, projection_run
from tests.cli._run import Cli


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick form of two runs."""
    runs = tuple(projection_run(name, 60, 2) for name in ("projection", "piqp"))
    monkeypatch.setattr(ProjectionTimes, "runs", lambda self, quick: runs)


def test_without_a_name_all_are_listed_with_their_times(cli: Cli) -> None:
    done = cli("reproduce")
    assert done.code == 0
    lines = done.out.splitlines()
    for name, kind in available_reproductions().items():
        at = lines.index(name)
        assert kind.title in lines[at + 1]
        assert lines[at + 2].startswith(f"  quick: {kind.quick}; took ")
        assert "with one run at a time (measured" in lines[at + 2]
        assert kind.full in lines[at + 3]


@pytest.mark.usefixtures("_few")
def test_a_run_prints_table_and_sentence_and_goes_on(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = cli("reproduce", "projection-times", "--quick", "--out", folder, "--jobs", "1")
    assert done.code == 0, done
    assert f"The paper says that {ProjectionTimes.claim}; here " in done.out
    assert str(folder / "figure.svg") in done.out
    assert "quick form" in done.err
    before = (folder / "results.jsonl").read_bytes()
    command = json.loads((folder / "sweep.json").read_text())["command"]
    assert command.startswith("mkldash reproduce projection-times --quick")
    again = cli("reproduce", "projection-times", "--quick", "--out", folder, "--jobs", "1")
    assert again.code == 0
    assert "2 of 2 runs were there already" in again.err
    assert (folder / "results.jsonl").read_bytes() == before
    assert "form" in cli("reproduce", "projection-times", "--out", folder).complaint
    assert "'mkldash reproduce NAME --out" in cli("compare", "--report", folder).complaint


@pytest.mark.usefixtures("_few")
def test_the_folder_is_named_after_the_form(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("reproduce", "projection-times", "--quick", "--jobs", "1").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["reproduce-projection-times-quick"]


def test_what_cannot_be_run_is_refused_in_one_line(cli: Cli, tmp_path: Path) -> None:
    assert "did you mean product-errors" in cli("reproduce", "product-error").complaint
    assert "--out needs the name" in cli("reproduce", "--out", tmp_path).complaint
    odd = cli("reproduce", "projection-times", "--quick", "--jobs", "0", "--out", tmp_path / "x")
    assert "jobs must be at least 1, not 0" in odd.complaint
