"""The certified values of the cases, through the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli._run import EXACT, FILES, Cli
from tests.recipes import GOLDEN, golden_kernels

T8 = 117.229353
T8_WEIGHTS = {"linear · size": 0.181630, "linear · weight": 0.688048, "linear · all": 0.434839}


def value(answer: dict) -> float:
    """The objective, after its certificate was looked at."""
    assert answer["status"] in ("converged", "stalled")
    assert 0.0 <= answer["gap"] < 1e-6
    assert answer["lower"] <= answer["upper"]
    return answer["upper"]


@pytest.mark.parametrize(
    "table",
    ["t8_plain.csv", "t8_semicolon_decimalcomma.csv", "t8_bom.csv", "t8_noheader.csv"],
)
def test_t8_in_every_dialect_d01_d02_d04(cli: Cli, table: str) -> None:
    answer = cli("solve", FILES / table, "--bank", "linear", *EXACT).json
    assert answer["rows"] == 8
    assert answer["features"] == 2
    assert value(answer) == pytest.approx(T8, rel=1e-6)
    names = T8_WEIGHTS
    if table == "t8_noheader.csv":
        names = {
            name.replace("size", "col1").replace("weight", "col2"): weight
            for name, weight in T8_WEIGHTS.items()
        }
    assert answer["weights"] == pytest.approx(names, abs=1e-4)


def test_t8_is_shipped_too(cli: Cli) -> None:
    answer = cli("solve", "t8", "--bank", "linear", *EXACT).json
    assert value(answer) == pytest.approx(T8, rel=1e-6)
    assert answer["weights"] == pytest.approx(T8_WEIGHTS, abs=1e-4)


def test_t8_at_small_cost(cli: Cli) -> None:
    answer = cli("solve", "t8", "--C", "1", *EXACT).json
    assert value(answer) == pytest.approx(4.936740, rel=1e-6)
    assert answer["weights"] == pytest.approx(
        {"linear · size": 0.476859, "linear · weight": 0.437729, "linear · all": 0.457294},
        abs=1e-4,
    )


def test_the_dialect_can_be_said_d01(cli: Cli) -> None:
    path = FILES / "t8_semicolon_decimalcomma.csv"
    said = ("--separator", ";", "--decimal", ",", "--label", "label", "--positive", "yes")
    answer = cli("solve", path, "--bank", "linear", *said, *EXACT).json
    assert value(answer) == pytest.approx(T8, rel=1e-6)
    assert answer["parameters"]["separator"] == ";"
    assert answer["parameters"]["positive"] == "yes"


def test_a_wrong_header_choice_gives_the_wrong_reading_d04(cli: Cli) -> None:
    path = FILES / "t8_noheader.csv"
    right = cli("solve", path, "--no-header", "--bank", "linear", *EXACT).json
    assert right["rows"] == 8
    assert value(right) == pytest.approx(T8, rel=1e-6)


@pytest.mark.parametrize(
    ("missing", "rows", "objective", "weights"),
    [
        ("drop", 7, 53.439309, {"linear · weight": 0.810153, "linear · all": 0.385155}),
        (
            "mean",
            8,
            157.760207,
            {"linear · size": 0.267141, "linear · weight": 0.625257, "linear · all": 0.446199},
        ),
    ],
)
def test_question_marks_d03(
    cli: Cli, missing: str, rows: int, objective: float, weights: dict[str, float]
) -> None:
    path = FILES / "t8_questionmark.csv"
    done = cli("solve", path, "--missing", missing, "--bank", "linear", *EXACT)
    assert done.json["rows"] == rows
    assert done.json["parameters"]["missing"] == missing
    assert "1 missing in size" in " ".join(done.json["notes"])
    assert "1 missing in size" in done.err
    assert value(done.json) == pytest.approx(objective, rel=1e-6)
    assert done.json["weights"] == pytest.approx(weights, abs=1e-4)


def test_question_marks_are_refused_unless_said_d03(cli: Cli) -> None:
    complaint = cli("solve", FILES / "t8_questionmark.csv").complaint
    assert "1 missing in" in complaint
    assert "size" in complaint


def test_a_constant_column_changes_nothing_k09(cli: Cli) -> None:
    done = cli("solve", FILES / "const_column.csv", "--bank", "linear", *EXACT)
    assert value(done.json) == pytest.approx(T8, rel=1e-6)
    assert done.json["weights"] == pytest.approx(T8_WEIGHTS, abs=1e-4)
    assert done.json["dropped_kernels"] == ["linear · zero"]
    notes = [line for line in done.err.splitlines() if line.startswith("note:")]
    assert len(notes) == 1
    assert "zero" in notes[0]


@pytest.mark.parametrize("eta", [1.0, 0.5, 0.2, 0.0])
def test_golden(cli: Cli, eta: float) -> None:
    objective, theta = GOLDEN[eta]
    answer = cli("solve", "golden", "--bank", "golden", "--eta", eta, *EXACT).json
    assert answer["lower"] <= objective * (1 + 1e-6)
    assert answer["upper"] >= objective * (1 - 1e-6)
    assert answer["upper"] == pytest.approx(objective, rel=1e-6)
    labels = (
        "linear · all",
        "gaussian 0.707107 · all",
        "gaussian 2.23607 · all",
        "polynomial 2 · all",
    )
    found = [answer["weights"].get(label, 0.0) for label in labels]
    assert found == pytest.approx(theta, abs=1e-4)


@pytest.mark.parametrize("cost", [1e4, 1e6])
@pytest.mark.parametrize(
    ("eta", "objective"), [(1, 323.858233), (0.5, 305.835439), (0.2, 284.063165), (0, 268.941941)]
)
def test_huge_cost_ends_s01(cli: Cli, cost: float, eta: float, objective: float) -> None:
    limits = ("--time-limit", 10, "--tol", "1e-7", "--max-iter", 5000)
    done = cli(
        "solve", "golden", "--C", cost, "--eta", eta, "--train-fraction", 1, *limits, "--json"
    )
    assert done.code == 0
    answer = done.json
    assert answer["status"] in ("converged", "iteration_limit", "time_limit", "stalled")
    assert answer["lower"] <= objective * (1 + 1e-6)
    assert answer["upper"] >= objective * (1 - 1e-6)
    assert answer["upper"] == pytest.approx(objective, rel=1e-4)


@pytest.mark.parametrize(("eta", "objective"), [(0.5, 19.125096), (1, 19.172900)])
def test_tiny_cost_puts_all_points_at_the_bound_s02(cli: Cli, eta: float, objective: float) -> None:
    done = cli("solve", "golden", "--C", 1, "--eta", eta, *EXACT)
    assert value(done.json) == pytest.approx(objective, rel=1e-6)
    words = cli("solve", "golden", "--C", 1, "--eta", eta, "--train-fraction", 1).out
    assert "all 20 points at the bound C" in words


def save_k11(path: Path, scale: float) -> Path:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 3))
    y = np.sign(X[:, 0] + 0.3 * rng.standard_normal(10))
    assert "".join("+" if label > 0 else "-" for label in y) == "-++---+++-"
    gram = X @ X.T
    gram = (gram + gram.T) / (2 * np.trace(gram))
    np.savez(path, plain=gram, scaled=scale * gram, y=y)
    return path


@pytest.mark.parametrize(
    ("eta", "scale", "theta"),
    [
        (0.5, 2, ((np.sqrt(2) - 1) / 2, np.sqrt(2) - 0.5)),
        (0.5, 5, (0.0, 1.0)),
        (0.0, 3, (0.316228, 0.948683)),
        (1.0, 2, (0.0, 1.0)),
    ],
)
def test_scale_moves_the_weights_k11(
    cli: Cli, tmp_path: Path, eta: float, scale: float, theta: tuple[float, float]
) -> None:
    path = save_k11(tmp_path / "k11.npz", scale)
    # The objective is flat in theta: a gap of 1e-9 still leaves 1.0005e-4 here.
    done = cli("solve", "--gram", path, "--C", 10, "--eta", eta, *EXACT, "--tol", "1e-11")
    found = [done.json["weights"].get(name, 0.0) for name in ("plain", "scaled")]
    assert found == pytest.approx(theta, abs=1e-4)
    assert "not comparable" in done.err
    assert any("not comparable" in note for note in done.json["notes"])


def test_normalizing_makes_them_equal_k11(cli: Cli, tmp_path: Path) -> None:
    path = save_k11(tmp_path / "k11.npz", 5)
    done = cli("solve", "--gram", path, "--C", 10, "--normalize", *EXACT)
    assert done.json["weights"] == pytest.approx({"plain": 0.618034, "scaled": 0.618034}, abs=1e-6)
    assert "not comparable" not in done.err


@pytest.mark.parametrize("stacked", [False, True])
def test_golden_as_matrices_with_labels_in_a_file(cli: Cli, tmp_path: Path, stacked: bool) -> None:
    from tests.recipes import golden_data

    kernels, (_, y) = golden_kernels(), golden_data()
    arrays = {"kernels": kernels} if stacked else dict(zip("abcd", kernels, strict=True))
    np.savez(tmp_path / "golden.npz", **arrays)
    labels = tmp_path / "labels.txt"
    labels.write_text("".join("good\n" if label > 0 else "bad\n" for label in y))
    answer = cli("solve", "--gram", tmp_path / "golden.npz", "--labels", labels, *EXACT).json
    assert value(answer) == pytest.approx(305.684692, rel=1e-6)
    assert answer["features"] is None
    assert answer["test_accuracy"] is None
    assert len(answer["weights"]) == 3


def test_single_precision_matrices_may_be_symmetric_to_single_precision_d15(
    cli: Cli, tmp_path: Path
) -> None:
    from tests.recipes import golden_data

    kernels = golden_kernels().astype(np.float32)
    kernels[:, 3, 7] *= np.float32(1 + 3e-7)  # as single precision products leave it
    np.savez(tmp_path / "golden.npz", kernels=kernels, y=golden_data()[1])
    answer = cli("solve", "--gram", tmp_path / "golden.npz", *EXACT).json
    assert value(answer) == pytest.approx(305.684692, rel=1e-6)


def test_wdbc_on_the_listed_rows_math8(cli: Cli) -> None:
    answer = cli("solve", "wdbc", "--rows", "wdbc-math8", "--json").json
    assert (answer["train_rows"], answer["test_rows"]) == (341, 228)
    assert answer["kernels"] == 403
    assert answer["status"] == "converged"
    assert answer["lower"] <= 4238.5565 * (1 + 1e-6)
    assert answer["upper"] >= 4238.5565 * (1 - 1e-6)
    assert answer["gap"] <= 1e-3
