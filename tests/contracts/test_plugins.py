"""A file that is dropped into a room is found everywhere, without an edit elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SOLVER = '''
"""A solver that somebody dropped into the room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.base import option


@dataclass(frozen=True)
class Dummy(BlockCoordinateDescent):
    """Block-coordinate descent under another name."""

    patience: int = option(3, "patience", "A hyper-parameter of its own", bounds=(1, 9))
    name: ClassVar[str] = "dummy"
    title: ClassVar[str] = "Dummy of the tests"
    reference: ClassVar[str] = "nobody, nowhere"
'''

KERNEL = '''
"""A kernel that somebody dropped into the room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mkldash.kernels.base import Kernel


@dataclass(frozen=True)
class Constant(Kernel):
    """One everywhere."""

    name: ClassVar[str] = "ones"

    def gram(self, X, Y=None):
        return np.ones((len(X), len(X if Y is None else Y)))

    def diagonal(self, X):
        return np.ones(len(X))

    @property
    def label(self):
        return "ones"
'''

VIEW = '''
"""A view that somebody dropped into the room."""

from __future__ import annotations

from mkldash.views.bounds import BoundsView


class Dropped(BoundsView):
    """The bounds once more."""

    name = "dropped"
    title = "Dropped view"
    caption = "What the tests dropped"
'''


COMMAND_LINE = """
import sys
from mkldash.cli import main
sys.exit(main(sys.argv[1:]))
"""

APP = """
from mkldash.apps.state import AppState
state, complaints = AppState.from_query("data=golden&solver=dummy&o.patience=5")
print(complaints)
print(state.choice("solver").names()["dummy"])
print([choice.label for choice in state.choices_offered() if choice.name == "o.patience"])
print(state.choices().solver, state.choices().solver_options)
"""


def mkldash_with(
    room: str, folder: Path, *arguments: str, code: str = COMMAND_LINE
) -> subprocess.CompletedProcess[str]:
    """A process in which `room` has the files of `folder` too."""
    extended = f"import mkldash.{room}\nmkldash.{room}.__path__.append({str(folder)!r})\n{code}"
    return subprocess.run(
        [sys.executable, "-c", extended, *arguments], capture_output=True, text=True, check=False
    )


@pytest.fixture
def solvers(tmp_path: Path) -> Path:
    (tmp_path / "dummy.py").write_text(SOLVER)
    return tmp_path


def test_a_dropped_solver_is_listed(solvers: Path) -> None:
    done = mkldash_with("solvers", solvers, "list", "solvers")
    assert done.returncode == 0, done.stderr
    assert "dummy" in [line.split()[0] for line in done.stdout.splitlines()]
    assert "nobody, nowhere" in done.stdout


def test_a_dropped_solver_solves(solvers: Path) -> None:
    options = ("--solver", "dummy", "--train-fraction", "1", "--json")
    done = mkldash_with("solvers", solvers, "solve", "golden", *options)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["solver"] == "dummy"
    assert answer["lower"] <= 305.684692 * (1 + 1e-6)
    assert answer["upper"] >= 305.684692 * (1 - 1e-6)


def test_an_app_offers_a_dropped_solver_with_its_hyper_parameters(solvers: Path) -> None:
    done = mkldash_with("solvers", solvers, code=APP)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "()",
        "Dummy of the tests",
        "['patience']",
        "dummy (('patience', 5),)",
    ]


def test_without_the_file_there_is_no_such_solver(tmp_path: Path) -> None:
    done = mkldash_with("solvers", tmp_path, "solve", "golden", "--solver", "dummy")
    assert done.returncode == 2
    assert "no solver is called 'dummy'" in done.stderr


def test_a_dropped_kernel_is_listed(tmp_path: Path) -> None:
    (tmp_path / "ones.py").write_text(KERNEL)
    done = mkldash_with("kernels", tmp_path, "list", "kernels")
    assert done.returncode == 0, done.stderr
    assert "ones" in [line.split()[0] for line in done.stdout.splitlines()]


def test_a_dropped_view_is_listed(tmp_path: Path) -> None:
    (tmp_path / "dropped.py").write_text(VIEW)
    done = mkldash_with("views", tmp_path, "list", "views")
    assert done.returncode == 0, done.stderr
    assert "What the tests dropped" in done.stdout
