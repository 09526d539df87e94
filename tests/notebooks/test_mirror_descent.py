"""The key numbers of the mirror-descent notebook are the library's, found by other methods."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import nbformat
import numpy as np
import pytest
from scipy.optimize import brentq
from sklearn.linear_model import Lasso

from mkldash.datasets.cards import load
from mkldash.kernels.products import ProductFamily, product_family
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers.box_coordinate_descent import BoxCoordinateDescent
from mkldash.solvers.driver import Result, solve
from mkldash.solvers.full_gradient import FullGradient
from mkldash.solvers.mirror_descent import RandomizedMirrorDescent
from mkldash.solvers.stopping import StopRule
from mkldash.solvers.uniform_sampling import UniformSampling
from mkldash.views.lessons import KEY_TYPE
from tests.notebooks._execute import ROOT

SOURCE = ROOT / "notebooks" / "02_randomized_mirror_descent.ipynb"

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


def said(cells: list[nbformat.NotebookNode], pattern: str) -> re.Match[str]:
    """The one place where the notebook prints it."""
    texts = [
        o.get("text") or o.get("data", {}).get("text/markdown", "")
        for cell in cells for o in cell.get("outputs", [])
    ]  # fmt: skip
    found = [match for text in texts if (match := re.search(pattern, text, re.MULTILINE))]
    assert len(found) == 1, pattern
    return found[0]


def toy(p: float) -> Problem:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((12, 3))
    y = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.standard_normal(12)
    family = product_family(X, penalty=0.1, growth=2.0, merged=p == 1.0, scale=False)
    return Problem(family, y, Squared(), NormBall.of_p(p))


def known(growth: float, *, merged: bool = True) -> Problem:
    data = load("known-products")
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    y = (data.y - data.y.mean()) / data.y.std()
    family = product_family(X, data.feature_names, penalty=0.03, growth=growth, merged=merged)
    return Problem(family, y, Squared(), NormBall(1.0))


def run(problem: Problem, max_iter: int, tol: float = 1e-6) -> Result:
    return solve(RandomizedMirrorDescent(), problem, stop=StopRule(tol=tol, max_iter=max_iter))


def by_coordinates(problem: Problem) -> tuple[float, np.ndarray]:
    """J* at p = 1 and its weights: the Lasso, solved anew for each price until it agrees."""
    family = problem.family
    phi, y = family.features(family.keys()), problem.y
    assert phi is not None

    def solved(price: float) -> np.ndarray:
        model = Lasso(price / y.size, fit_intercept=False, tol=1e-9, max_iter=500_000)
        return model.fit(phi, y).coef_

    most = float(np.abs(phi.T @ y).max())
    price = brentq(lambda t: np.abs(solved(t)).sum() - t, 1e-3 * most, most, rtol=1e-9)
    w = solved(price)
    value = 0.5 * np.sum((y - phi @ w) ** 2) + 0.5 * np.abs(w).sum() ** 2
    return float(value), np.abs(w) / np.abs(w).sum()


def test_the_toy_at_p_two(keys: Mapping[str, str]) -> None:
    result = solve(BoxCoordinateDescent(), toy(2.0), stop=StopRule(tol=1e-8, max_iter=20_000))
    value = float(keys["toy-p-2"])
    assert result.lower - 1e-6 <= value <= result.upper + 1e-6
    assert result.upper == pytest.approx(value, rel=1e-4)


def test_the_toy_at_p_one(keys: Mapping[str, str]) -> None:
    problem, value = toy(1.0), float(keys["toy-p-1"])
    assert value == pytest.approx(by_coordinates(problem)[0], abs=1e-6)
    result = solve(FullGradient(), problem, stop=StopRule(tol=1e-4, max_iter=20_000))
    assert result.lower - 1e-6 <= value <= result.upper + 1e-6


@pytest.mark.parametrize("growth", [4.0, 1.0])
def test_the_optima_of_known_products(keys: Mapping[str, str], growth: float) -> None:
    problem = known(growth)
    value, theta = by_coordinates(problem)
    assert float(keys[f"known-products-growth-{growth:g}"]) == pytest.approx(value, abs=1e-3)
    names = problem.family.keys()
    assert {names[i] for i in np.argsort(theta)[-2:]} == {(1, 4), (2,)}


@pytest.mark.parametrize(("growth", "rule", "found"), [
    (4.0, "adaptive", True), (4.0, "recent", True), (1.0, "adaptive", False), (1.0, "recent", True),
])  # fmt: skip
def test_growth_and_step_decide_what_the_run_finds(
    keys: Mapping[str, str], growth: float, rule: str, found: bool
) -> None:
    solver = RandomizedMirrorDescent(step_rule=rule)
    result = solve(solver, known(growth), stop=StopRule(tol=1e-4, max_iter=1000))
    assert keys[f"known-products-growth-{growth:g}-{rule}"] == f"{result.upper:.4f}"
    assert (set(list(result.best.weights.as_dict())[:2]) == {(1, 4), (2,)}) is found


def test_growth_one_stays_far_from_its_optimum(keys: Mapping[str, str]) -> None:
    above = {
        growth: float(keys[f"known-products-growth-{growth}-recent"])
        / float(keys[f"known-products-growth-{growth}"]) - 1
        for growth in (1, 4)
    }  # fmt: skip
    assert above[4] < 1e-3
    assert above[1] > 0.05


def test_two_kernels_by_hand(keys: Mapping[str, str]) -> None:
    assert keys["two-kernels"] == f"{49 / 24:.6f}"


def test_a_scaled_target_has_the_value_times_the_square(keys: Mapping[str, str]) -> None:
    value = 9 * run(known(4.0), 50, 1e-9).upper
    assert float(keys["scaled-target"]) == pytest.approx(value, abs=1e-3)


def test_every_key_number_is_compared(keys: Mapping[str, str]) -> None:
    assert set(keys) == {
        "known-products-growth-1",
        "known-products-growth-4",
        "known-products-growth-1-adaptive",
        "known-products-growth-1-recent",
        "known-products-growth-4-adaptive",
        "known-products-growth-4-recent",
        "scaled-target",
        "toy-p-1",
        "toy-p-2",
        "two-kernels",
    }


def test_the_live_run_is_a_still_picture_without_a_front_end(
    cells: list[nbformat.NotebookNode],
) -> None:
    (cell,) = [cell for cell in cells if "live" in cell.metadata.get("tags", [])]
    (output,) = cell.outputs
    assert set(output.data) == {"image/png", "text/plain"}
    words = output.data["text/plain"]
    assert "2 of 2 true products are the heaviest ones" in words
    result = solve(
        RandomizedMirrorDescent(certify_every=10), known(4.0), stop=StopRule(1e-2, max_iter=400)
    )
    assert f"certified to lie between {result.lower:.4f} and {result.upper:.4f}" in words


def test_the_ideal_law_wins_as_often_as_said(cells: list[nbformat.NotebookNode]) -> None:
    wins = 0
    for seed in range(10):
        ends = [
            solve(kind(seed=seed), known(4.0), stop=StopRule(tol=1e-6, max_iter=500)).upper
            for kind in (RandomizedMirrorDescent, UniformSampling)
        ]
        wins += ends[0] < ends[1]
    assert int(said(cells, r"lower with the ideal law for (\d+) of 10 seeds")[1]) == wins


def test_the_draws_follow_the_law(cells: list[nbformat.NotebookNode]) -> None:
    found = said(cells, r"4000 draws: chi-square ([\d.]+), p-value ([\d.]+)")
    # Twelve degrees of freedom: 26.2 is exceeded once in a hundred.
    assert float(found[1]) < 26.2
    assert float(found[2]) > 0.01


def test_the_trap_is_sprung(cells: list[nbformat.NotebookNode], keys: Mapping[str, str]) -> None:
    ends = {
        word: said(cells, rf"^{word} the division: J = ([\d.]+) \(J\* = [\d.]+\), gap ([\d.]+)")
        for word in ("with", "without")
    }
    value = float(keys["toy-p-1"])
    assert float(ends["with"][1]) - value < 0.1 * (float(ends["without"][1]) - value)
    assert 5 * float(ends["with"][2]) < float(ends["without"][2])


def test_the_long_list_has_the_length_of_a_geometric_sum(
    cells: list[nbformat.NotebookNode],
) -> None:
    assert f"{(200**9 - 1) // 199:,}" in said(cells, r"([\d,]+) words\n\d+ decisions")[1]


def test_the_table_of_growth(cells: list[nbformat.NotebookNode]) -> None:
    """C at the optimum, the law of the degrees, and how often a true product is drawn."""
    for growth in (4.0, 1.0):
        problem = known(growth)
        family = problem.family
        assert isinstance(family, ProductFamily)
        _, theta = by_coordinates(problem)
        phi = family.features(family.keys())
        assert phi is not None
        a = np.linalg.solve(phi * theta @ phi.T + np.eye(problem.n_rows), problem.y)
        u = dict(zip(family.keys(), family.all_forms(a), strict=True))
        total = sum(family.orderings(key) * value for key, value in u.items())
        row = said(cells, rf"(?m)^\| {growth:g} \| ([\d.]+) \| ([\d%, ]+) \| (\d+)% \|")
        assert float(row[1]) == pytest.approx(total, abs=0.06)
        law = [float(share.rstrip("%")) for share in row[2].split(", ")]
        assert law == pytest.approx(100 * family.degree_totals(a) / total, abs=0.6)
        assert float(row[3]) == pytest.approx(100 * (2 * u[1, 4] + u[2,]) / total, abs=0.6)
        assert math.isclose(total, family.total(a), rel_tol=1e-9)
