"""What the README and the docs show is true."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from mkldash.cli import main
from mkldash.symbols import markdown_table

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


COMMANDS = [line for block in blocks("console") for line in block.splitlines()]


#: Size and age of the houses in the file that the README calls a person's own.
MINE = [(40 + 7 * i % 90, 5 * i % 60) for i in range(30)]


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("mkldash ")])
def test_the_commands_work(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["size,age,price"] + [f"{s},{a},{3 * s - a * s / 50 + a % 3}" for s, a in MINE]
    (tmp_path / "mine.csv").write_text("\n".join(rows))
    assert main(shlex.split(line)[1:]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("make ")])
def test_the_make_targets_exist(line: str) -> None:
    target = line.split()[1]
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("code", blocks("python"), ids=["classifier", "regressor", "solver"])
def test_the_python_works(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out


def test_the_folders_and_pages_exist() -> None:
    for page in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / page).exists(), page
    for room in re.findall(r"^\| `(mkldash/\w+)` \|", README, flags=re.MULTILINE):
        assert (ROOT / room).exists(), room


def test_the_symbols_are_those_of_the_code() -> None:
    assert markdown_table() in (ROOT / "docs" / "symbols.md").read_text(encoding="utf-8")
