"""Regression over products: choices, problem, scores, and what is refused."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import mean_squared_error, r2_score

from mkldash.errors import InputError, MemoryLimitError
from mkldash.experiments.choices import Choices
from mkldash.experiments.problem_kinds import (
    PROBLEMS,
    find_problem,
    make_loss,
    make_weight_set,
    owners,
    probe,
    solvers_for,
    takers,
)
from mkldash.experiments.scores import RegressionScores, score, scorer, squared_error
from mkldash.experiments.workload import PRODUCTS, Workload, prepare
from mkldash.kernels.weights import Weights
from mkldash.problems.losses.squared import Squared
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers.base import Best
from mkldash.solvers.driver import solve

TABLE = "size,age,price\n" + "".join(
    f"{i % 7 + 0.5 * (i % 3)},{(i * 5) % 11},{100.0 + 3.0 * (i % 7) * ((i * 5) % 11)}\n"
    for i in range(40)
)


def products(**changes: object) -> Choices:
    return Choices(**{"problem": "products", "data": "diabetes", **changes})


def own(table: str = TABLE, **changes: object) -> Choices:
    return products(data="mine.csv", content=table.encode(), **changes)


def test_the_defaults_belong_to_the_problem() -> None:
    choices = products()
    assert (choices.degree, choices.p, choices.penalty, choices.growth) == (3, 1.0, 1.0, 4.0)
    assert (choices.solver, choices.max_iter) == ("mirror-descent", 2000)
    assert choices.tol == find_problem("products").tol
    assert choices.eta is None
    assert choices.C is None
    assert choices.rho == math.inf
    usual = Choices()
    assert (usual.tol, usual.max_iter, usual.eta, usual.C) == (1e-3, 500, 0.5, 100.0)
    assert (usual.degree, usual.p, usual.penalty, usual.growth) == (None,) * 4
    near = Choices(problem="neighborhood")
    assert (near.tol, near.max_iter, near.eta, near.C, near.rho) == (1e-3, 500, 0.5, 1.0, 100.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"degree": -1}, "degree must be a whole number from 0 to 20, not -1"),
        ({"degree": 21}, "degree must be a whole number from 0 to 20, not 21"),
        ({"degree": 2.5}, "degree must be a whole number from 0 to 20, not 2.5"),
        ({"p": 0.99}, r"p must lie between 1 \(few products\) and 2 \(all\), not 0.99"),
        ({"p": 2.01}, "p must lie between 1"),
        ({"p": math.nan}, "p must lie between 1"),
        ({"penalty": 0.0}, "penalty must be a positive number, not 0.0"),
        ({"penalty": math.inf}, "penalty must be a positive number, not inf"),
        ({"growth": 0.5}, "growth must be a number of at least 1, not 0.5"),
        ({"growth": math.nan}, "growth must be a number of at least 1, not nan"),
        ({"tol": 0.0}, "tol must be a positive number"),
        ({"max_iter": -1}, "max_iter must not be negative"),
        ({"eta": 0.5}, "eta has no meaning in the problem products; it belongs to elastic-net"),
        ({"C": 1.0}, "C has no meaning in the problem products; it belongs to elastic-net and"),
        ({"rho": 1.0}, "rho has no meaning in the problem products; it belongs to neighborhood"),
        ({"sigma_factor": 4.0}, "sigma factor has no meaning in the problem products"),
        ({"bank": "linear"}, "bank has no meaning in the problem products"),
        ({"gram": "kernels.npz"}, "gram has no meaning in the problem products"),
        ({"positive": "yes"}, "--positive is for two classes, and the problem products learns"),
        ({"solver": "block-coordinate"}, "for products take the solver mirror-descent or"),
        (
            {"solver_options": (("steps", 2),)},
            r"no option 'steps' \(did you mean step\?\); it has certify_every, .*seed",
        ),
        ({"data": "sonar"}, "'sonar' has two classes .* take --problem elastic-net or --problem n"),
        ({"memory_limit": 1000}, r"Ways out: fewer features .* or a smaller --degree or fewer tr"),
        ({"train_fraction": 0.001}, "train fraction"),
    ],
)
def test_what_cannot_be_used_is_named(change: dict, words: str) -> None:
    with pytest.raises((InputError, MemoryLimitError), match=words):
        prepare(products(**change))


@pytest.mark.parametrize("problem", ["elastic-net", "neighborhood"])
@pytest.mark.parametrize("name", ["degree", "p", "penalty", "growth"])
def test_the_parameters_of_products_are_refused_elsewhere(problem: str, name: str) -> None:
    words = f"{name} has no meaning in the problem {problem}; it belongs to products"
    with pytest.raises(InputError, match=words):
        Choices(problem=problem, **{name: 2})


def test_a_regression_set_names_its_problem() -> None:
    with pytest.raises(InputError, match=r"regression set \(target 'target'\).*--problem products"):
        prepare(Choices(data="diabetes"))


def test_settled_choices_may_be_settled_again() -> None:
    import dataclasses

    for name in PROBLEMS:
        choices = Choices(problem=name)
        assert dataclasses.replace(choices, seed=0) == dataclasses.replace(choices)


def test_who_takes_what() -> None:
    assert takers("regression") == ("products",)
    assert takers("binary") == ("elastic-net", "neighborhood")
    assert owners("eta") == "elastic-net and neighborhood"
    assert owners("growth") == "products"
    kind = find_problem("products")
    assert kind.has_family
    assert not kind.takes_rho
    assert make_loss(kind) == Squared()
    assert make_weight_set(kind, 0, p=4 / 3) == NormBall.of_p(4 / 3)
    assert solvers_for("products")[0] == "mirror-descent"
    assert "box-coordinate-descent" not in solvers_for("products")
    assert "box-coordinate-descent" in solvers_for("products", p=2.0)
    for name in solvers_for("products"):
        assert name not in (*solvers_for("elastic-net"), *solvers_for("neighborhood"))
    assert probe("products", True, 1.0).family.merged
    assert not probe("products", True, 1.5).family.merged


def test_asking_for_solvers_compiles_nothing() -> None:
    code = (
        "import sys\n"
        "from mkldash.experiments.problem_kinds import solvers_for\n"
        "for p in (1.0, 1.5, 2.0): solvers_for('products', p=p)\n"
        "used = [f'{n}.{k}' for n, m in sys.modules.items() if n.startswith('mkldash')\n"
        "        for k, f in vars(m).items() if getattr(f, 'signatures', None)]\n"
        "print(used)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_training_rows_make_the_scaling() -> None:
    work = prepare(products())
    data, parts = work.source.dataset, work.split
    assert work.X_train is not None
    assert work.X_train.mean(axis=0) == pytest.approx(np.zeros(10), abs=1e-12)
    assert work.X_train.std(axis=0) == pytest.approx(np.ones(10))
    raw = data.y[parts.train]
    assert work.problem.y == pytest.approx((raw - raw.mean()) / raw.std())
    assert work.y_test == pytest.approx((data.y[parts.test] - raw.mean()) / raw.std())
    assert work.target is not None
    assert work.target.scale[0] == pytest.approx(raw.std())
    assert work.storage == PRODUCTS
    assert work.bank_name == PRODUCTS
    assert (work.family.n_words, work.family.size) == (1111, 286)
    assert work.family.base_names == data.feature_names


def test_without_standardising_only_the_target_is_scaled() -> None:
    work = prepare(products(standardize=False))
    assert np.array_equal(work.X_train, work.source.dataset.X[work.split.train])
    assert work.problem.y.std() == pytest.approx(1.0)
    assert work.standardizer is None


def test_degree_penalty_growth_and_norm_reach_the_family() -> None:
    work = prepare(products(degree=2, penalty=0.5, growth=3.0, p=1.5, seed=3))
    assert work.family.degree == 2
    assert not work.family.merged
    assert work.family.rho**2 == pytest.approx(0.5 * 3.0 ** np.arange(3))  # type: ignore[attr-defined]
    assert work.problem.weight_set == NormBall.of_p(1.5)
    assert work.problem.loss == Squared()
    assert work.solver.seed == 3  # type: ignore[attr-defined]
    told = prepare(products(solver_options=(("seed", 5), ("step", 0.5))))
    assert (told.solver.seed, told.solver.step) == (5, 0.5)  # type: ignore[attr-defined]


def test_a_degree_of_twenty_is_a_number_not_a_list() -> None:
    work = prepare(products(degree=20))
    assert work.family.n_words == sum(10**d for d in range(21))


def test_errors_are_in_units_of_the_target_squared() -> None:
    work = prepare(products(max_iter=60))
    best = solve(work.solver, work.problem, stop=work.stop).best
    found = score(work, best)
    assert isinstance(found, RegressionScores)
    kernel = work.family.combine(best.weights).matrix()
    raw, parts = work.source.dataset.y, work.split
    mean, deviation = raw[parts.train].mean(), raw[parts.train].std()
    fitted = mean + deviation * (kernel @ best.alpha)
    assert found.train_mse == pytest.approx(mean_squared_error(raw[parts.train], fitted))
    assert found.train_r2 == pytest.approx(r2_score(raw[parts.train], fitted))
    predicted = mean + deviation * work.family.decision(work.X_test, best.weights, best.alpha)
    assert found.test_mse == pytest.approx(mean_squared_error(raw[parts.test], predicted))
    assert found.test_r2 == pytest.approx(r2_score(raw[parts.test], predicted))
    assert scorer(work)(best) == found


def test_the_offset_and_all_linear_products_are_plain_kernel_ridge() -> None:
    """Weights of one in the box: kernel ridge with the kernel written out."""
    work = prepare(own(p=2.0, degree=1, penalty=0.3, growth=1.0, train_fraction=0.5))
    X, y = work.X_train, work.y_train
    assert X is not None
    scale = np.square(X).sum(axis=1).mean()
    ridge = KernelRidge(alpha=1.0, kernel="precomputed")
    ridge.fit((1.0 + X @ X.T / scale) / 0.3, y)
    weights = Weights.of(work.family.keys(), np.ones(3))
    point = best_at(work, weights, ridge.dual_coef_)
    found = score(work, point)
    predicted = ridge.predict((1.0 + work.X_test @ X.T / scale) / 0.3)
    assert isinstance(found, RegressionScores)
    assert work.target is not None
    expected = work.target.scale[0] ** 2 * mean_squared_error(work.y_test, predicted)
    assert found.test_mse == pytest.approx(expected)


def best_at(work: Workload, weights: Weights, alpha: np.ndarray) -> Best:
    return Best(iteration=0, objective=0.0, weights=weights, alpha=alpha, bias=0.0)


def test_no_test_rows_leave_no_test_error() -> None:
    work = prepare(own(train_fraction=1.0, max_iter=5))
    found = score(work, solve(work.solver, work.problem, stop=work.stop).best)
    assert isinstance(found, RegressionScores)
    assert found.test_mse is None
    assert found.test_r2 is None
    assert found.train_mse >= 0.0


def test_the_share_explained_is_undefined_where_nothing_varies() -> None:
    assert squared_error(np.array([1.0, 3.0]), np.array([2.0, 2.0]), 10.0) == (100.0, None)
    assert squared_error(np.array([1.0, 3.0]), np.array([1.0, 3.0])) == (0.0, 1.0)
    assert squared_error(np.array([2.0, 2.0]), np.array([1.0, 3.0]), 2.0) == (4.0, 0.0)


def test_a_table_of_ones_own() -> None:
    work = prepare(own(label="price"))
    assert work.source.classes is None
    assert work.source.dataset.target_name == "price"
    assert work.source.dataset.feature_names == ("size", "age")
    other = prepare(own(label="age"))
    assert other.source.dataset.target_name == "age"


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        (TABLE.replace("100.0,", "?,", 1).replace(",100.0", ",", 1), {}, "--missing drop"),
        (TABLE.replace("size", "colour").replace("\n0.0,", "\nred,"), {}, "column 'colour'"),
        (TABLE.replace(",100.0", ",cheap"), {}, "target column 'price' holds text"),
        (
            "a,y\n" + "".join(f"{i},7\n" for i in range(9)),
            {},
            "target column 'y' is 7 in every row",
        ),
        (
            "a,y\n" + "".join(f"{i},{s}1.7e308\n" for i, s in enumerate("--+++++++++++")),
            {},
            "too far to be standardised",
        ),
        (TABLE, {"label": "prize"}, "did you mean price"),
    ],
)
def test_tables_that_cannot_be_learnt(table: str, options: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        prepare(own(table, **options))


def test_text_becomes_indicators_and_rows_with_gaps_are_left_out() -> None:
    lines = TABLE.splitlines()
    coloured = [
        f"{'colour' if i == 0 else ('red', 'blue')[i % 2]},{t}" for i, t in enumerate(lines)
    ]
    coloured[3] = coloured[3].rsplit(",", 1)[0] + ","
    work = prepare(own("\n".join(coloured) + "\n", one_hot=("colour",), missing="drop"))
    assert work.source.dataset.feature_names[:2] == ("colour=blue", "colour=red")
    assert work.source.n_rows == 39
    assert any("1 row with missing values left out" in note for note in work.notes)


def test_a_constant_column_is_noted() -> None:
    lines = [f"{'still' if i == 0 else '4.5'},{t}" for i, t in enumerate(TABLE.splitlines())]
    work = prepare(own("\n".join(lines) + "\n"))
    assert len([note for note in work.notes if "still" in note]) == 1
