"""The key numbers of the notebook on comparing solvers are the library's, and certified."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

import nbformat
import numpy as np
import pytest

from mkldash.experiments.choices import Choices
from mkldash.experiments.workload import prepare
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.second_order import SecondOrder
from mkldash.solvers.stopping import StopRule
from mkldash.views.lessons import KEY_TYPE
from tests.notebooks._execute import ROOT

SOURCE = ROOT / "notebooks" / "04_solver_race.ipynb"

#: Objectives of WDBC at C = 100 from longer runs, see the elastic-net notebook.
WDBC = {0.25: 3259.327, 0.5: 4238.5565, 0.9: 5115.2017, 1.0: 5288.4919}

pytestmark = [pytest.mark.notebook, pytest.mark.slow]


@pytest.fixture(scope="module")
def cells(run_once: Callable[[Path], nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    return run_once(SOURCE).cells


@pytest.fixture(scope="module")
def keys(cells: list[nbformat.NotebookNode]) -> Mapping[str, str]:
    """Digits of the key numbers, from cells that carry the tag."""
    found = {}
    for cell in cells:
        for output in cell.get("outputs", []):
            key = output.get("metadata", {}).get(KEY_TYPE)
            if key is not None:
                assert "key" in cell.metadata.tags
                assert key["digits"] in output.data["text/plain"]
                assert key["name"] not in found
                found[key["name"]] = key["digits"]
    return found


def tables(cells: list[nbformat.NotebookNode], words: str) -> list[list[str]]:
    """Rows of the one table of the notebook that has these words, as lists of cells."""
    found = [
        o.data["text/markdown"] for cell in cells for o in cell.get("outputs", [])
        if words in o.get("data", {}).get("text/markdown", "")
    ]  # fmt: skip
    assert len(found) == 1, words
    lines = [line for line in found[0].splitlines() if line.startswith("|")]
    return [[part.strip() for part in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("eta", WDBC)
def test_wdbc(keys: Mapping[str, str], eta: float) -> None:
    work = prepare(Choices(data="wdbc", rows="wdbc-math8", eta=eta, C=100.0))
    result = solve(SecondOrder(), work.problem, stop=StopRule(tol=1e-6, max_iter=100))
    assert keys[f"wdbc-solves-eta-{eta:g}"] == str(result.inner_solves)
    assert keys[f"wdbc-upper-eta-{eta:g}"] == f"{result.upper:.2f}"
    assert float(keys[f"wdbc-upper-eta-{eta:g}"]) == pytest.approx(WDBC[eta], rel=2e-6)


def test_three_kernels_by_the_other_method(keys: Mapping[str, str]) -> None:
    moons = prepare(Choices(data="two-moons", eta=1.0, C=100.0))
    names = ("gaussian 0.25 · x1", "gaussian 1 · all", "polynomial 3 · all")
    stack = [
        moons.bank.combine(np.eye(moons.bank.n_kernels)[moons.bank.names.index(name)]).matrix()
        for name in names
    ]
    problem = Problem(precomputed_bank(stack), moons.problem.y, Hinge(10.0), ElasticNet(1.0))
    slow = solve(BlockCoordinateDescent(), problem, stop=StopRule(tol=1e-6, max_iter=2000))
    value = float(keys["three-kernels-optimum"])
    assert slow.lower * (1 - 1e-6) <= value <= slow.upper * (1 + 2e-6)


def test_every_key_number_is_compared(keys: Mapping[str, str]) -> None:
    assert set(keys) == {
        "three-kernels-optimum",
        *(f"wdbc-{what}-eta-{eta:g}" for what in ("solves", "upper") for eta in WDBC),
    }


def test_the_live_race_is_a_still_picture_without_a_front_end(
    cells: list[nbformat.NotebookNode],
) -> None:
    (cell,) = [cell for cell in cells if "live" in cell.metadata.get("tags", [])]
    (output,) = cell.outputs
    assert set(output.data) == {"image/png", "text/plain"}
    said = output.data["text/plain"]
    work = prepare(Choices(data="breast", eta=1.0, C=100.0))
    result = solve(SecondOrder(), work.problem, stop=StopRule(tol=1e-4, max_iter=600))
    assert f"{result.iterations} iterations and {result.inner_solves} SVM solves" in said


def test_damping_table_counts_what_the_library_counts(cells: list[nbformat.NotebookNode]) -> None:
    head, _, usual, undamped, *_ = tables(cells, "ten times the damping")
    assert head[2] == "heart, η = 1"
    work = prepare(Choices(data="heart", eta=1.0, C=100.0))
    for row, damping in ((usual, SecondOrder().damping), (undamped, 0.0)):
        stop = StopRule(tol=1e-6, max_iter=300)
        solver = dataclasses.replace(SecondOrder(), damping=damping)
        assert row[2] == str(solve(solver, work.problem, stop=stop).inner_solves)


def test_cuts_are_what_keeps_newton_on_its_way(cells: list[nbformat.NotebookNode]) -> None:
    rows = {row[0]: row[2] for row in tables(cells, "Newton alone")[2:]}
    assert rows["all cuts, damping"] == rows["all cuts, no damping"] == "reached"
    assert rows["Newton alone, damping"].startswith("stuck at ")
    assert rows["Newton alone, no damping"].startswith("stuck at ")
