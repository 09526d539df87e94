"""The tour's key numbers are the library's, and it leads to everything there is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import nbformat
import pytest

from mkldash.cli.arguments import parse
from mkldash.experiments.choices import Choices
from mkldash.experiments.problem_kinds import PROBLEMS
from mkldash.experiments.workload import prepare
from mkldash.solvers.driver import solve
from mkldash.solvers.second_order import SecondOrder
from mkldash.solvers.stopping import StopRule
from mkldash.views.lessons import KEY_TYPE
from tests.notebooks._execute import ROOT

SOURCE = ROOT / "notebooks" / "00_tour.ipynb"
FOLDER = SOURCE.parent

#: Where the tour solves each problem.
DATA = {"elastic-net": "heart", "neighborhood": "heart", "products": "diabetes"}


def source_text() -> str:
    return "\n".join(cell["source"] for cell in nbformat.read(SOURCE, as_version=4).cells)


def test_it_leads_to_every_other_notebook() -> None:
    linked = set(re.findall(r"\]\((\w+\.ipynb)\)", source_text()))
    assert linked == {path.name for path in FOLDER.glob("*.ipynb")} - {SOURCE.name}


def test_the_folder_says_what_each_notebook_teaches() -> None:
    rows = re.findall(r"^\| \[(\w+\.ipynb)\]\(\1\) \| (.+?) \| (.+?) \|$",
                      (FOLDER / "README.md").read_text(encoding="utf-8"), re.M)  # fmt: skip
    assert [name for name, _, _ in rows] == sorted(path.name for path in FOLDER.glob("*.ipynb"))


def test_its_commands_are_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"])
    known = set(re.findall(r"^    (\w+) ", capsys.readouterr().out, re.M))
    shown = set(re.findall(r"`mkldash (\w+)", source_text()))
    assert known
    assert shown <= known


@pytest.fixture(scope="module")
def keys(run_once: Callable[[Path], nbformat.NotebookNode]) -> Mapping[str, str]:
    """Digits of the key numbers, from cells that carry the tag."""
    found = {}
    for cell in run_once(SOURCE).cells:
        for output in cell.get("outputs", []):
            key = output.get("metadata", {}).get(KEY_TYPE)
            if key is not None:
                assert "key" in cell.metadata.tags
                assert key["name"] not in found
                found[key["name"]] = key["digits"]
    return found


@pytest.mark.notebook
@pytest.mark.slow
class TestKeyNumbers:
    @pytest.mark.parametrize("problem", PROBLEMS)
    def test_each_problem(self, keys: Mapping[str, str], problem: str) -> None:
        work = prepare(Choices(problem=problem, data=DATA[problem]))
        result = solve(work.solver, work.problem, stop=work.stop)
        assert keys[f"{problem}-upper"] == f"{result.upper:.4f}"

    def test_heart_is_bounded_on_both_sides(self, keys: Mapping[str, str]) -> None:
        work = prepare(Choices(data="heart", eta=0.5, C=100.0))
        exact = solve(SecondOrder(), work.problem, stop=StopRule(tol=1e-7, max_iter=300))
        lower, upper = float(keys["heart-lower"]), float(keys["heart-upper"])
        assert lower <= exact.lower < exact.upper <= upper
        assert upper / lower - 1 <= 1e-3

    def test_every_key_number_is_compared(self, keys: Mapping[str, str]) -> None:
        assert set(keys) == {"heart-upper", "heart-lower", *(f"{name}-upper" for name in PROBLEMS)}
