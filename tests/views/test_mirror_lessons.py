"""The pictures of the mirror-descent notebook: geometry exactly, drawings by their words."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image

from mkldash.kernels.products import product_family
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers.driver import solve
from mkldash.solvers.mirror_descent import RandomizedMirrorDescent
from mkldash.solvers.stopping import StopRule
from mkldash.views import lessons
from mkldash.views.lessons.mirror_step import ball_edge

NAMES = ("age", "bmi", "sex")


def problem(degree: int = 2) -> Problem:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20, 3))
    family = product_family(X, NAMES, degree=degree, penalty=0.1)
    return Problem(family, X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(20), Squared(), NormBall())


@pytest.fixture(scope="module")
def run() -> lessons.ProductsRun:
    seen: list = []
    solver = RandomizedMirrorDescent(certify_every=5)
    solve(solver, problem(), stop=StopRule(tol=1e-9, max_iter=40), callbacks=[seen.append])
    return lessons.ProductsRun(seen, problem().family)


@pytest.fixture(scope="module")
def scene() -> lessons.products_scene:
    return lessons.products_scene(problem(), 1.0, ((0, 1),), 1e-2)


def step() -> lessons.MirrorStep:
    """From (0.5, 0.5) along the first weight, with the ruler, into the square."""
    z = np.array([1.4, 0.5])
    before, landed = np.array([0.5, 0.5]), np.array([1.0, 0.5])
    return lessons.MirrorStep("clip", math.inf, 2.0, before, z, z, landed)


@pytest.mark.parametrize("nu", [1.0, 1.5, 2.0, 3.0, math.inf])
def test_the_edge_of_a_ball_has_norm_one_from_corner_to_corner(nu: float) -> None:
    points = ball_edge(nu, 31)
    assert [NormBall(nu).constraint(x) for x in points] == pytest.approx([1.0] * 31, rel=1e-12)
    np.testing.assert_array_equal(points[[0, -1]], [[1.0, 0.0], [0.0, 1.0]])
    assert points[15, 0] == pytest.approx(points[15, 1])


def test_the_distance_with_the_ruler_is_half_the_square() -> None:
    theta = np.array([[1.0, 0.5], [0.2, 0.1], [1.4, 0.5]])
    expected = 0.5 * ((theta - step().free) ** 2).sum(axis=1)
    np.testing.assert_allclose(step().distance(theta), expected, atol=1e-15)


def test_pairs_are_the_law_of_words_of_two(run: lessons.ProductsRun) -> None:
    family = problem().family
    assert run.values(0) == {}
    law, a = run.values(7)["pair_law"], run[6].alpha
    forms = np.array([[family.quadratic_forms(a, [(i, j)])[0] for j in range(3)] for i in range(3)])
    np.testing.assert_allclose(law, forms / family.degree_totals(a)[2], rtol=1e-10)
    assert law.sum() == pytest.approx(1.0)


def test_single_features_have_no_pairs() -> None:
    single = problem(degree=1)
    snapshots = [next(iter(RandomizedMirrorDescent().iterate(single)))] * 2
    assert lessons.ProductsRun(snapshots, single.family).values(1) == {}


def test_the_chance_of_a_branch_is_a_product() -> None:
    assert lessons.Branch((1, 0), (0.5, 0.4, 0.25), "b · a", 0.0).probability == 0.05


def pictures(run: lessons.ProductsRun, scene: object) -> Iterator[tuple[str, lessons.Picture]]:
    branches = [
        lessons.Branch((), (0.2,), "offset", 0.25),
        lessons.Branch((0,), (0.8, 0.3), "age", 0.2),
        lessons.Branch((1,), (0.8, 0.7), "bmi", 0.55),
    ]
    x = np.linspace(-1, 1, 20)
    yield "scatters", lessons.draw_scatters({"x": x, "x²": x**2}, x, "target")
    yield "penalty", lessons.draw_penalty((1.0, 1.5, 2.0), np.array([0.6, 0.3]))
    yield "steps", lessons.draw_mirror_steps([step(), step()])
    yield (
        "optima",
        lessons.draw_optima(lambda theta: float(1 / (1 + theta.sum())), (1.0, 2.0), ("$a$", "$b$")),
    )
    yield "tree", lessons.draw_tree(branches, NAMES)
    weights = {"age · bmi": 0.7, "sex": 0.1}
    yield "best", lessons.draw_best_products({"one": weights, "two": weights}, ["sex"])
    groups = {"ideal": np.array([[3.0, 1.0], [4.0, 2.0]]), "uniform": np.array([[5.0, 4.0]])}
    yield (
        "spread",
        lessons.draw_spread(groups, [1, 10], title="Two laws", x_label="k", y_label="J", log="xy"),
    )
    yield "run", lessons.draw_products_run(run, scene)
    yield "path", lessons.draw_drawn_path(run, 7, scene)
    curves = [lessons.Curve("a", [1, 2], [1, 2])]
    yield (
        "beside",
        lessons.draw_curves(curves, title="One curve", x_label="x", y_label="y", beside=True),
    )


@pytest.mark.slow
def test_each_is_a_sharp_png_with_words(run: lessons.ProductsRun, scene: object) -> None:
    for name, picture in pictures(run, scene):
        image = Image.open(io.BytesIO(picture.png))
        assert image.format == "PNG", name
        assert image.width > 1.4 * picture.width, name
        assert image.convert("L").getextrema()[0] < 140, f"{name} is empty"
        assert len(picture.png) < 200_000, name
        assert len(picture.text) > 15, name


def test_words_hold_the_numbers(run: lessons.ProductsRun, scene: object) -> None:
    said = {name: picture.text for name, picture in pictures(run, scene)}
    for p in (1.0, 1.5, 2.0):
        penalty = (np.array([0.6, 0.3]) ** p).sum() ** (2 / p)
        assert f"{penalty:.3f} for p = {p:g}" in said["penalty"]
    assert "p = 1: 0.500" in said["optima"]
    assert "p = 2: 0.333 at (1.00, 1.00)" in said["optima"]
    assert "lands on (1.00, 0.50)" in said["steps"]
    assert "likeliest is bmi with 56 %, drawn in 55 %" in said["tree"]
    assert "x: +1.00" in said["scatters"]
    assert "one: age · bmi 0.700, sex 0.100." in said["best"]
    assert "ideal 1.5 (from 1 to 2)" in said["spread"]
    assert f"lie between {run[40].lower:.4f} and {run[40].upper:.4f}" in said["run"]
    assert "At iteration 7 the draw fell on degree" in said["path"]


def test_the_dial_has_its_own_notches_and_the_run_its_own_pace() -> None:
    def make(growth: float) -> tuple[list, object]:
        return [next(iter(RandomizedMirrorDescent().iterate(problem())))], scene_of(growth)

    def scene_of(growth: float) -> object:
        return lessons.products_scene(problem(), 1.0)

    from mkldash.views.degree_law import DegreeLawView

    dial = lessons.Dial("growth", 4.0, 1.0, 16.0, step=math.log10(2))
    shown = lessons.Scrubber(make, dial, [DegreeLawView], lessons.draw_products_run, pace=8)
    assert shown.pace == 8
    assert shown._widget is not None
    slider = shown._walk.dial
    assert (slider.step, slider.value) == (math.log10(2), math.log10(4))
