"""Runs the command line, in this process or in its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mkldash.cli import main

FILES = Path(__file__).resolve().parents[1] / "files"

#: The cases marked EXACT: a tight gap, every row trains.
EXACT = ("--train-fraction", "1", "--tol", "1e-9", "--max-iter", "5000", "--json")


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Standard output as strict JSON."""

        def refuse(constant: str) -> None:
            raise ValueError(f"{constant} is no JSON")

        return json.loads(self.out, parse_constant=refuse)

    @property
    def complaint(self) -> str:
        """The one line of a refusal, with nothing beside it."""
        assert self.code == 2, self
        assert self.out == ""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("mkldash: ")
        return lines[0].removeprefix("mkldash: ")


Cli = Callable[..., Done]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process."""

    def run(*arguments: object) -> Done:
        code = main([str(item) for item in arguments])
        caught = capsys.readouterr()
        return Done(code, caught.out, caught.err)

    return run


def start(*arguments: object, code: str | None = None) -> subprocess.Popen[str]:
    """The command line in a process of its own; `code` replaces ``-m mkldash``."""
    head = ["-m", "mkldash"] if code is None else ["-c", code]
    return subprocess.Popen(
        [sys.executable, *head, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
