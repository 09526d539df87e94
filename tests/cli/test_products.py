"""The problem of products through the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mkldash.cli import main
from tests.cli._run import Cli

PRODUCTS = ("--problem", "products")

TABLE = "size,age,price\n" + "".join(
    f"{i % 7 + 0.5 * (i % 3)},{(i * 5) % 11},{100.0 + 3.0 * (i % 7) * ((i * 5) % 11)}\n"
    for i in range(60)
)

#: Said by every problem alike.
COMMON = """data rows features kernels problem solver parameters status status_text upper lower gap
    iterations inner_solves seconds bank_seconds weights weight_threshold support_vectors
    train_accuracy test_accuracy train_rows test_rows dropped_kernels notes sigma shift seed
    version""".split()


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.csv"
    path.write_text(TABLE)
    return path


def test_json_has_every_key(cli: Cli) -> None:
    answer = cli("solve", "diabetes", *PRODUCTS, "--json").json
    own = set(answer) - set(COMMON)
    assert set(COMMON) <= set(answer)
    assert own == {
        "family_size", "family_keys", "interactions", "certificate", "target", "target_deviation",
        "train_mse", "test_mse", "train_r2", "test_r2",
    }  # fmt: skip
    # Words of up to three of ten features, and multisets of them.
    assert answer["family_size"] == 1 + 10 + 100 + 1000
    assert answer["family_keys"] == answer["kernels"] == 1 + 10 + 55 + 220
    assert answer["problem"] == "products"
    assert answer["solver"] == "mirror-descent"
    assert answer["status"] == "converged"
    assert 0 <= answer["gap"] <= 1e-2
    assert answer["certificate"] == "exact"
    for name in ("support_vectors", "train_accuracy", "test_accuracy", "sigma", "shift"):
        assert answer[name] is None
    expected = {
        "degree": 3, "p": 1.0, "penalty": 1.0, "growth": 4.0, "step": 1.0,
        "step_rule": "recent", "sampling": "ideal", "certify_every": 50, "eta": None, "C": None,
        "tol": 1e-2, "max_iter": 2000, "bank": "products", "standardize": True,
    }  # fmt: skip
    assert expected.items() <= answer["parameters"].items()
    assert answer["target"] == "target"
    assert 0 < answer["test_mse"] < 1.2 * answer["target_deviation"] ** 2
    assert answer["train_mse"] == pytest.approx(
        (1 - answer["train_r2"]) * answer["target_deviation"] ** 2
    )


def test_interactions_are_products_largest_first(cli: Cli) -> None:
    answer = cli(
        "solve", "diabetes", *PRODUCTS, "--penalty", 0.1, "--growth", 1, "--max-iter", 300, "--json"
    ).json
    found = answer["interactions"]
    weights = [item["weight"] for item in found]
    assert weights == sorted(weights, reverse=True)
    assert min(weights) > answer["weight_threshold"] * max(weights)
    assert answer["weights"] == {item["product"]: item["weight"] for item in found}
    pairs = [item for item in found if item["degree"] == 2]
    assert pairs
    for item in pairs:
        alike = item["product"].endswith("²")
        assert item["orderings"] == (1 if alike else 2)
        assert alike != (" · " in item["product"])
    assert sum(weights) <= 1.0 + 1e-9


def test_each_order_is_a_kernel_of_its_own_above_one(cli: Cli) -> None:
    answer = cli("solve", "diabetes", *PRODUCTS, "--p", 1.25, "--degree", 2, "--json").json
    assert answer["family_keys"] == answer["family_size"] == 111
    assert all(item["orderings"] == 1 for item in answer["interactions"])
    total = sum(item["weight"] for item in answer["interactions"])
    assert sum(answer["weights"].values()) == pytest.approx(total)


def test_a_table_of_ones_own(cli: Cli, prices: Path) -> None:
    done = cli("solve", prices, *PRODUCTS, "--label", "price", "--degree", 2, "--json")
    answer = done.json
    assert done.code == 0
    assert answer["target"] == "price"
    assert answer["family_size"] == 7
    assert answer["parameters"]["label"] == "price"
    y = np.loadtxt(prices, delimiter=",", skiprows=1)[:, 2]
    assert answer["target_deviation"] == pytest.approx(y.std(), rel=0.3)


def test_large_families_are_counted_exactly(cli: Cli) -> None:
    short = ("--degree", 20, "--max-iter", 2, "--json")
    answer = cli("solve", "diabetes", *PRODUCTS, *short).json
    assert answer["family_size"] == sum(10**d for d in range(21))
    words = cli("solve", "diabetes", *PRODUCTS, *short[:-1]).out
    assert "about 10^20.0 with their orders" in words


def test_the_hyper_parameters_reach_the_solver(cli: Cli) -> None:
    options = ("--step", 0.5, "--step-rule", "theoretical", "--horizon", 40, "--certify-every", 10)
    done = cli("solve", "diabetes", *PRODUCTS, *options, "--sampling", "uniform", "--json")
    expected = {
        "step": 0.5, "step_rule": "theoretical", "horizon": 40, "certify_every": 10,
        "sampling": "uniform",
    }  # fmt: skip
    assert expected.items() <= done.json["parameters"].items()
    assert "--horizon has no effect" not in done.err


def test_the_seed_is_also_that_of_the_draws(cli: Cli, tmp_path: Path) -> None:
    rows = tmp_path / "rows.txt"
    rows.write_text("\n".join(map(str, range(0, 442, 2))))
    command = ("solve", "diabetes", *PRODUCTS, "--rows", rows, "--max-iter", 60, "--json")
    first, again, other = (cli(*command, "--seed", seed) for seed in (3, 3, 4))
    assert first.json["upper"] == again.json["upper"]
    assert first.json["upper"] != other.json["upper"]
    assert first.json["parameters"]["seed"] == 3
    assert "--seed has no effect" not in first.err
    words = cli(*command[:-1], "--seed", 3).out
    assert "seed 3 of the draws" in words
    both = cli("solve", "diabetes", *PRODUCTS, "--max-iter", 2).out
    assert "177 test rows, seed 0 of the split and of the draws" in both


def test_words_say_what_each_number_is(cli: Cli) -> None:
    words = cli("solve", "diabetes", *PRODUCTS).out
    for fact in (
        "286 products of up to 3 of 10 features (1,111 with their orders)",
        "features and target 'target' standardised on the training rows",
        "Regression over product kernels by randomized mirror descent",
        "a product of d features costs 1 x 4^d",
        "step rule recent",
        "Converged:",
        "an upper bound",
        "certificate exact   of the lower bound",
        "objective/lower - 1 (asked: 0.01)",
        "% of the optimum",
        "ridge solves",
        "mean squared error of 265 rows, in units of the target squared",
        "mean squared error of 177 rows not seen",
        "products carry weight",
        "(at most 1)",
        "  bmi",
    ):
        assert fact in words
    raw = cli("solve", "diabetes", *PRODUCTS, "--no-standardize", "--max-iter", 2).out
    assert "; target 'target' standardised" in raw
    none = cli("solve", "diabetes", *PRODUCTS, "--train-fraction", 1, "--max-iter", 2).out
    assert "none left for a test, seed 0 of the draws" in none
    assert "not seen" not in none


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--p", 1.4), True),
        (("--p", 1.4, "--degree", 2), False),
        (("--p", 1.25), False),
        ((), False),
    ],
)
def test_where_convergence_is_not_to_be_expected_stderr_and_json_say_so(
    cli: Cli, options: tuple[object, ...], told: bool
) -> None:
    done = cli("solve", "diabetes", *PRODUCTS, *options, "--max-iter", 1, "--json")
    sentence = "convergence is not to be expected"
    assert (sentence in done.err) == told
    assert any(sentence in note for note in done.json["notes"]) == told
    assert done.err.count(sentence) == told


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--degree", -1), "degree must be a whole number from 0 to 20, not -1"),
        (("--degree", 21), "degree must be a whole number from 0 to 20, not 21"),
        (("--degree", 1.5), "--degree"),
        (("--p", 0.9), "p must lie between 1 (few products) and 2 (all), not 0.9"),
        (("--p", "nan"), "p must lie between 1"),
        (("--p", "one"), "--p"),
        (("--penalty", 0), "penalty must be a positive number, not 0.0"),
        (("--penalty", "inf"), "penalty must be a positive number, not inf"),
        (("--growth", 0.5), "growth must be a number of at least 1, not 0.5"),
        (("--eta", 0.5), "eta has no meaning in the problem products"),
        (("--C", 1), "C has no meaning in the problem products"),
        (("--rho", 1), "rho has no meaning in the problem products"),
        (("--bank", "linear"), "bank has no meaning in the problem products"),
        (("--sigma-factor", 1), "sigma factor has no meaning in the problem products"),
        (("--positive", "1"), "--positive is for two classes"),
        (("--step", 0), "step"),
        (("--step", -1), "step"),
        (("--step-rule", "greedy"), "step_rule"),
        (("--sampling", "fair"), "sampling"),
        (("--certify-every", 0), "certify_every"),
        (("--horizon", 0), "horizon"),
        (("--tol", 0), "tol"),
        (("--max-iter", -1), "max_iter"),
        (("--solver", "block-coordinate"), "for products take the solver mirror-descent"),
        (("--solver", "box-coordinate-descent"), "take the solver mirror-descent"),
        (
            ("--solver", "full-gradient", "--sampling", "uniform"),
            "full-gradient has no option 'sampling'; it has certify_every",
        ),
    ],
)
def test_values_that_cannot_be_used(cli: Cli, options: tuple[object, ...], words: str) -> None:
    assert words in cli("solve", "diabetes", *PRODUCTS, *options, "--json").complaint


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sonar", *PRODUCTS), "'sonar' has two classes (target 'target')"),
        (("sonar", *PRODUCTS), "take --problem elastic-net or --problem neighborhood"),
        (("diabetes",), "take --problem products"),
        (("diabetes", "--problem", "neighborhood"), "take --problem products"),
        (("sonar", "--degree", 2), "degree has no meaning in the problem elastic-net"),
        (("sonar", "--p", 1), "p has no meaning in the problem elastic-net; it belongs to prod"),
        (("sonar", "--penalty", 1), "penalty has no meaning"),
        (("sonar", "--growth", 1), "growth has no meaning"),
        (("sonar", "--step", 1), "block-coordinate has no option 'step'"),
        (("sonar", "--solver", "mirror-descent"), "mirror-descent"),
        (("--gram", "kernels.npz", *PRODUCTS), "gram has no meaning in the problem products"),
    ],
)
def test_what_does_not_go_together(cli: Cli, arguments: tuple[object, ...], words: str) -> None:
    assert words in cli("solve", *arguments).complaint


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        (TABLE, ("--label", "prize"), "did you mean price"),
        (TABLE.replace(",100.0", ",cheap"), (), "target column 'price' holds text"),
        (TABLE.replace(",100.0", ",", 1), (), "--missing drop"),
        ("a,y\n" + "1,7\n2,7\n3,7\n", (), "target column 'y' is 7 in every row"),
        ("a,y\n" + "1,7\n1,8\n1,9\n1,6\n", (), "every feature is constant on the training rows"),
    ],
)
def test_tables_that_cannot_be_learnt(
    cli: Cli, tmp_path: Path, table: str, options: tuple[str, ...], words: str
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(table)
    assert words in cli("solve", path, *PRODUCTS, *options).complaint


def test_a_number_in_place_of_classes_names_the_problem_for_it(cli: Cli, prices: Path) -> None:
    assert "--problem products" in cli("solve", prices).complaint


def test_a_constant_column_is_noted_and_left_out(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "still.csv"
    lines = TABLE.splitlines()
    path.write_text("\n".join([f"still,{lines[0]}", *(f"3,{line}" for line in lines[1:])]) + "\n")
    done = cli("solve", path, *PRODUCTS, "--degree", 1, "--json")
    assert "note: still is constant on the training rows" in done.err
    assert done.json["dropped_kernels"] == ["still"]
    assert done.json["family_size"] == 3


def test_what_changes_nothing_is_noted(cli: Cli) -> None:
    done = cli("solve", "diabetes", *PRODUCTS, "--horizon", 10, "--max-iter", 1, "--json")
    assert "--horizon has no effect without --step-rule theoretical" in done.err


@pytest.mark.parametrize(
    ("solver", "p"),
    [("uniform-sampling", 1), ("full-gradient", 1), ("box-coordinate-descent", 2)],
)
def test_every_solver_of_products_is_at_hand(cli: Cli, solver: str, p: float) -> None:
    options = ("--solver", solver, "--p", p, "--degree", 1, "--max-iter", 4000, "--json")
    answer = cli("solve", "diabetes", *PRODUCTS, *options).json
    assert answer["solver"] == solver
    assert answer["lower"] <= answer["upper"]
    assert answer["gap"] < 0.5


def test_the_trace_holds_every_iteration(cli: Cli, tmp_path: Path) -> None:
    from mkldash.streaming.trace import Trace

    path = tmp_path / "trace.npz"
    answer = cli("solve", "diabetes", *PRODUCTS, "--trace", path, "--json").json
    trace = Trace.load(path)
    assert len(trace) == answer["iterations"] + 1
    columns = trace.columns()
    assert columns["upper"][-1] == answer["upper"]
    assert np.all(np.diff(columns["upper"]) <= 0)
    last = trace[len(trace) - 1]
    assert last.certificate == "exact"
    assert last.best.objective == answer["upper"]


def test_progress_goes_to_the_tolerance_of_the_problem(cli: Cli) -> None:
    assert "(to 0.01)" in cli("solve", "diabetes", *PRODUCTS).err
    assert "(to 0.001)" in cli("solve", "golden").err


def test_lists_say_what_goes_with_what(cli: Cli) -> None:
    lines = {line.split()[0]: line for line in cli("data").out.splitlines()}
    assert "products" in lines["diabetes"]
    assert "elastic-net or neighborhood" in lines["sonar"]
    assert "products" not in lines["sonar"].split()
    assert "--problem products" in cli("data", "diabetes").out
    assert "--problem elastic-net or --problem neighborhood" in cli("data", "sonar").out
    solvers = {line.split()[0]: line for line in cli("list", "solvers").out.splitlines()}
    for name in ("mirror-descent", "uniform-sampling", "full-gradient", "box-coordinate-descent"):
        assert "products" in solvers[name].split()
    assert "elastic-net, neighborhood" in solvers["block-coordinate"]
    assert "products" in cli("list", "kernels").out


def test_help_tells_the_options_of_products(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["solve", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for option in (
        "--degree", "--p ", "--penalty", "--growth", "--step ", "--step-rule", "--horizon",
        "--sampling", "--certify-every", "penalty x growth^d", "need --problem products",
    ):  # fmt: skip
        assert option in text
