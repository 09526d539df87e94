"""The key numbers of the neighborhood notebook are the library's, found by other solvers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

import nbformat
import numpy as np
import pytest

from mkldash import NeighborhoodKernelClassifier
from mkldash.experiments.choices import Choices
from mkldash.experiments.workload import prepare
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers.accelerated_gradient import AcceleratedGradient
from mkldash.solvers.base import Solver
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import Result, solve
from mkldash.solvers.shifted_svm import ShiftedSVM
from mkldash.solvers.stopping import StopRule
from mkldash.views.lessons import KEY_TYPE
from tests.notebooks._execute import ROOT

SOURCE = ROOT / "notebooks" / "03_optimal_neighborhood_kernel.ipynb"

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


def tight(problem: Problem, solver: Solver | None = None, tol: float = 1e-9) -> Result:
    """By a method that the notebook's number was not made with, unless said otherwise."""
    return solve(
        AcceleratedGradient() if solver is None else solver, problem,
        stop=StopRule(tol=tol, max_iter=20_000),
    )  # fmt: skip


def moons(rho: float) -> Problem:
    choices = Choices(
        problem="neighborhood", data="two-moons", train_fraction=0.3, C=10.0, sigma_factor=0.25,
        rho=rho,
    )  # fmt: skip
    return prepare(choices).problem


def test_moons(keys: Mapping[str, str]) -> None:
    result = tight(moons(10.0))
    assert float(keys["moons-value"]) == pytest.approx(result.upper, abs=2e-6)
    shift = result.best.alpha @ result.best.alpha / 20.0
    assert float(keys["moons-shift"]) == pytest.approx(shift, abs=1e-5)


def test_moons_by_the_estimator(keys: Mapping[str, str]) -> None:
    work = prepare(Choices(problem="neighborhood", data="two-moons", train_fraction=0.3))
    model = NeighborhoodKernelClassifier(
        rho=10.0, C=10.0, sigma_factor=0.25, standardize=False, tol=1e-9
    ).fit(work.X_train, work.y_train)
    assert keys["moons-value"] == f"{model.upper_:.6f}"
    assert float(keys["moons-shift"]) == pytest.approx(model.shift_, abs=1e-5)


def test_three_rows(keys: Mapping[str, str]) -> None:
    X, y = np.array([[0.0, 0.0], [1.1, 0.2], [-0.2, 1.5]]), np.array([-1.0, 1.0, 1.0])
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=-1) / 3) + 0.2 * np.eye(3)
    three = Problem(precomputed_bank([K]), y, Hinge(1.0), Fixed((1.0,)), rho=0.5)
    assert keys["three-rows-value"] == f"{tight(three).upper:.6f}"


def test_liver_lies_between(keys: Mapping[str, str]) -> None:
    choices = Choices(
        problem="neighborhood", data="liver", train_fraction=1.0, standardize=False, C=1.0,
        rho=100.0, sigma_factor=4.0,
    )  # fmt: skip
    optimum = tight(prepare(choices).problem).upper
    lower, upper = float(keys["liver-value"]), float(keys["liver-upper"])
    assert lower - 1e-4 <= optimum <= upper + 1e-4
    assert upper - lower <= 1e-5 * optimum


@pytest.mark.parametrize(("name", "rho"), [
    ("many-kernels-rho-10", 10.0), ("many-kernels-plain", np.inf)
])  # fmt: skip
def test_many_kernels(keys: Mapping[str, str], name: str, rho: float) -> None:
    choices = Choices(
        problem="neighborhood", data="two-moons", bank="gaussian", train_fraction=0.3, C=10.0,
        eta=0.5,
    )  # fmt: skip
    problem = dataclasses.replace(prepare(choices).problem, rho=rho)
    result = tight(problem, BlockCoordinateDescent(), 1e-5)
    # The notebook stops at a gap of 1e-4, above the optimum.
    assert result.lower - 0.005 <= float(keys[name]) <= result.upper * (1 + 1e-4) + 0.005


def test_the_blank_kernel_by_hand(keys: Mapping[str, str]) -> None:
    assert keys["blank-alpha"] == f"{(3.0 / 12) ** (1 / 3):.6f}"


def test_the_scaled_kernel_has_the_value_over_the_scale(keys: Mapping[str, str]) -> None:
    assert float(keys["scaled-value"]) == pytest.approx(float(keys["moons-value"]) / 7, abs=1e-6)


def test_every_key_number_is_compared(keys: Mapping[str, str]) -> None:
    assert set(keys) == {
        "blank-alpha",
        "liver-upper",
        "liver-value",
        "many-kernels-plain",
        "many-kernels-rho-10",
        "moons-shift",
        "moons-value",
        "scaled-value",
        "three-rows-value",
    }


def test_both_live_views_are_still_pictures_without_a_front_end(
    cells: list[nbformat.NotebookNode],
) -> None:
    live = [cell for cell in cells if "live" in cell.metadata.get("tags", [])]
    said = []
    for cell in live:
        (output,) = cell.outputs
        assert set(output.data) == {"image/png", "text/plain"}
        said.append(output.data["text/plain"])
    first, second = said
    assert "1 cut bounds a level set" in first
    assert "the optimum is certified to lie between" in second


def test_the_race_tells_what_the_solvers_need(cells: list[nbformat.NotebookNode]) -> None:
    (table,) = [
        o.data["text/markdown"] for c in cells for o in c.get("outputs", [])
        if "iterations to a gap of" in o.get("data", {}).get("text/markdown", "")
    ]  # fmt: skip
    choices = Choices(
        problem="neighborhood", data="liver", train_fraction=1.0, standardize=True, C=1.0,
        rho=100.0, sigma_factor=4.0,
    )  # fmt: skip
    problem, seen = prepare(choices).problem, []
    solve(ShiftedSVM(), problem, stop=StopRule(tol=1e-6), callbacks=[seen.append])
    needed = [next(s.iteration for s in seen if s.gap <= tol) for tol in (1e-2, 1e-3, 1e-4, 1e-6)]
    assert f"| shifted SVM; Liver, standardised | {' | '.join(map(str, needed))} |" in table
