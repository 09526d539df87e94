"""``mkldash serve`` and ``mkldash lab`` hand on what was asked for."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import mkldash.apps
from mkldash.cli.serving import USUAL_PORT, notebook_folder, usual_port
from tests.cli._run import Cli


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict]:
    """Calls of the server, which does not start."""
    calls: list[dict] = []
    stand_in = SimpleNamespace(serve=lambda **options: calls.append(options))
    monkeypatch.setitem(sys.modules, "mkldash.apps.serve", stand_in)
    monkeypatch.setattr(mkldash.apps, "serve", stand_in, raising=False)
    return calls


def test_serve_hands_on_its_options(cli: Cli, served: list[dict]) -> None:
    done = cli("serve", "--address", "127.0.0.1", "--port", 8123, "--num-procs", 2, "--show",
               "--compare", "here", "--compare", "there")  # fmt: skip
    assert done.code == 0
    assert served == [
        {"address": "127.0.0.1", "port": 8123, "num_procs": 2, "show": True,
         "compare": ["here", "there"]}
    ]  # fmt: skip


def test_a_taken_usual_port_is_stepped_around() -> None:
    with socket.socket() as taken:
        try:
            taken.bind(("127.0.0.1", USUAL_PORT))
            taken.listen()
        except OSError:
            pass  # Somebody else has it, which serves as well.
        assert usual_port("127.0.0.1") == 0


def test_lab_opens_the_notebooks(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], check: bool) -> SimpleNamespace:
        commands.append(command)
        return SimpleNamespace(returncode=7)

    monkeypatch.setattr(subprocess, "run", run)
    assert cli("lab", "--no-browser").code == 7
    assert commands[0][1:3] == ["-m", "jupyterlab"]
    assert commands[0][3] == f"--notebook-dir={notebook_folder()}"
    assert commands[0][4:] == ["--no-browser"]
    assert notebook_folder() == Path(__file__).resolve().parents[2] / "notebooks"


def test_lab_opens_the_folder_that_a_person_names(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], check: bool) -> SimpleNamespace:
        commands.append(command)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", run)
    assert cli("lab", "--notebook-dir=mine").code == 0
    assert commands[0][3:] == ["--notebook-dir=mine"]


def test_a_wheel_has_no_notebooks_and_says_where_they_are(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = tmp_path / "site-packages" / "mkldash" / "cli" / "serving.py"
    monkeypatch.setattr("mkldash.cli.serving.__file__", str(place))
    monkeypatch.chdir(tmp_path)
    done = cli("lab")
    assert done.code == 2
    assert "mkldash lab --notebook-dir=FOLDER" in done.err
    assert done.err.count("\n") == 1
    (tmp_path / "mine.ipynb").touch()
    assert notebook_folder() == tmp_path
