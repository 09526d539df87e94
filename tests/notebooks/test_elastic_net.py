"""The key numbers of the elastic-net notebook are the library's, and the certified ones."""

from __future__ import annotations

import dataclasses
import math
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
from mkldash.problems.reciprocals import minimise_reciprocals
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import Result, solve
from mkldash.solvers.stopping import StopRule
from mkldash.views.lessons import KEY_TYPE
from tests.notebooks._execute import ROOT
from tests.recipes import GOLDEN, golden_data, golden_kernels, golden_problem

SOURCE = ROOT / "notebooks" / "01_elastic_net_mkl.ipynb"

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


def tight(problem: Problem, tol: float = 1e-7) -> Result:
    return solve(BlockCoordinateDescent(), problem, stop=StopRule(tol=tol, max_iter=5000))


@pytest.mark.parametrize("eta", [0.0, 0.2, 0.5])
def test_golden_objective(keys: Mapping[str, str], eta: float) -> None:
    digits = keys[f"golden-objective-eta-{eta:g}"]
    assert digits == f"{tight(golden_problem(eta)).upper:.3f}"
    assert digits == f"{GOLDEN[eta][0]:.3f}"


def test_weight_step(keys: Mapping[str, str]) -> None:
    betas = 10.0 ** np.random.default_rng(5).uniform(-6, 0, size=(30, 100))
    result = minimise_reciprocals(betas[0], 0.5, tol=1e-12)
    assert keys["weight-step-100-kernels"] == f"{result.upper:.6f}"


def test_wdbc(keys: Mapping[str, str]) -> None:
    work = prepare(Choices(data="wdbc", rows="wdbc-math8", eta=0.5, C=100.0))
    result = solve(work.solver, work.problem, stop=work.stop)
    assert keys["wdbc-upper"] == f"{result.upper:.2f}"
    assert keys["wdbc-lower"] == f"{result.lower:.2f}"
    assert float(keys["wdbc-lower"]) <= 4238.5565 <= float(keys["wdbc-upper"])


def test_twins_share_by_the_golden_ratio(keys: Mapping[str, str]) -> None:
    kernel, (_, y) = golden_kernels()[0], golden_data()
    twins = Problem(precomputed_bank([kernel, kernel]), y, Hinge(10.0), ElasticNet(0.5))
    weights = tight(twins, 1e-9).best.weights.values
    assert keys["twins"] == f"{weights[0]:.6f}" == f"{(math.sqrt(5) - 1) / 2:.6f}"


def test_scaled_kernels(keys: Mapping[str, str]) -> None:
    _, y = golden_data()
    bank = precomputed_bank(list(7 * golden_kernels()))
    scaled = Problem(bank, y, Hinge(100.0 / 7), ElasticNet(0.5))
    assert keys["scaled-objective"] == f"{tight(scaled).upper:.3f}" == f"{GOLDEN[0.5][0] / 7:.3f}"


def test_every_key_number_is_compared(keys: Mapping[str, str]) -> None:
    assert set(keys) == {
        "golden-objective-eta-0",
        "golden-objective-eta-0.2",
        "golden-objective-eta-0.5",
        "scaled-objective",
        "twins",
        "wdbc-lower",
        "wdbc-upper",
        "weight-step-100-kernels",
    }


def test_the_streaming_view_is_a_still_picture_without_a_front_end(
    cells: list[nbformat.NotebookNode],
) -> None:
    (cell,) = [cell for cell in cells if "live" in cell.metadata.get("tags", [])]
    (output,) = cell.outputs
    assert set(output.data) == {"image/png", "text/plain"}
    assert "the optimum is certified to lie between" in output.data["text/plain"]


def test_the_trap_is_sprung_at_the_simplex(cells: list[nbformat.NotebookNode]) -> None:
    work = prepare(Choices(data="wdbc", rows="wdbc-math8", eta=1.0, C=100.0))
    problem = dataclasses.replace(work.problem, weight_set=ElasticNet(1.0))
    first = next(iter(BlockCoordinateDescent().iterate(problem)))
    raw = problem.dual(first.alpha).objective
    said = [o.text for c in cells for o in c.get("outputs", []) if "raw lower" in o.get("text", "")]
    assert len(said) == 1
    assert f"raw lower {raw:.0f}" in said[0]
