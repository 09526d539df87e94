"""What is said: JSON keys, words, lists, progress, traces."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import mkldash
import mkldash.cli.listing
from mkldash.cli import main
from mkldash.cli.progress import ProgressBar, share_done
from tests.cli._run import EXACT, Cli

KEYS = """data rows features kernels solver parameters status status_text upper lower gap iterations
    inner_solves seconds bank_seconds weights weight_threshold support_vectors train_accuracy
    test_accuracy seed version""".split()


def test_json_has_every_key(cli: Cli) -> None:
    done = cli("solve", "golden", "--json")
    answer = done.json
    assert set(KEYS) <= set(answer)
    assert answer["data"] == "golden"
    assert (answer["rows"], answer["features"], answer["kernels"]) == (20, 4, 4)
    assert (answer["train_rows"], answer["test_rows"]) == (12, 8)
    assert answer["solver"] == "block-coordinate"
    assert answer["status"] == "converged"
    assert answer["status_text"].startswith("Converged")
    assert answer["gap"] == pytest.approx(answer["upper"] / answer["lower"] - 1, abs=1e-12)
    assert 0 <= answer["gap"] <= 1e-3
    assert answer["weight_threshold"] == 1e-5
    assert list(answer["weights"].values()) == sorted(answer["weights"].values(), reverse=True)
    assert answer["version"] == mkldash.__version__
    assert {"eta": 0.5, "C": 100.0, "bank": "golden", "standardize": False}.items() <= answer[
        "parameters"
    ].items()


def test_a_weight_norm_is_said_in_the_place_of_eta(cli: Cli) -> None:
    options = ("golden", "--train-fraction", "1", "--tol", "1e-9", "--max-iter", "5000")
    ball = cli("solve", *options, "--weight-norm", "2", "--json").json
    assert (ball["solver"], ball["upper"]) == ("lp-norm", pytest.approx(268.941941, rel=1e-6))
    assert (ball["parameters"]["eta"], ball["parameters"]["weight_norm"]) == (None, 2.0)
    said = cli("solve", *options, "--weight-norm", "inf").out
    assert "Lp-norm MKL by lp-norm, closed form; weight norm P = inf" in said
    assert "||theta||_P = 1 (at most 1)" in said
    assert "eta" not in said.replace("theta", "")
    box = cli("solve", *options, "--weight-norm", "inf", "--json").json
    assert box["parameters"]["weight_norm"] == "inf"
    assert set(box["weights"].values()) == {1.0}


def test_any_hyper_parameter_is_an_option(cli: Cli) -> None:
    options = ("--solver", "simplemkl", "--eta", "1", "--option", "inner-tol=1e-8")
    done = cli("solve", "golden", *options, "--json").json
    assert done["parameters"]["inner_tol"] == 1e-8
    assert done["status"] == "converged"
    words = ("--problem", "neighborhood", "--solver", "level", "--option", "tau=0.7")
    assert cli("solve", "golden", *words, "--json").json["parameters"]["tau"] == 0.7


def test_an_infinite_gap_is_null(cli: Cli) -> None:
    answer = cli("solve", "sonar", "--max-iter", "0", "--json").json
    assert answer["lower"] <= 0
    assert answer["gap"] is None
    assert answer["status"] == "iteration_limit"


def test_training_on_every_row_leaves_no_test_accuracy(cli: Cli) -> None:
    assert cli("solve", "t8", "--train-fraction", "1", "--json").json["test_accuracy"] is None
    assert cli("solve", "sonar", "--bank", "linear", "--json").json["test_accuracy"] > 0.5


def test_the_same_seed_gives_the_same_answer_and_another_seed_another(cli: Cli) -> None:
    runs = [
        cli("solve", "sonar", "--bank", "linear", "--seed", seed, "--json").json
        for seed in (3, 3, 4)
    ]
    assert runs[0]["upper"] == runs[1]["upper"]
    assert runs[0]["upper"] != runs[2]["upper"]
    assert runs[0]["seed"] == 3


def test_a_time_limit_is_a_result_too(cli: Cli) -> None:
    done = cli("solve", "sonar", "--tol", "1e-12", "--time-limit", "1e-6", "--json")
    assert done.code == 0
    assert done.json["status"] == "time_limit"


def test_no_limit_on_time_is_null_whichever_way_it_is_said(cli: Cli) -> None:
    assert cli("solve", "golden", "--json").json["parameters"]["time_limit"] is None
    endless = cli("solve", "golden", "--time-limit", "inf", "--json")
    assert endless.json["parameters"]["time_limit"] is None


def test_swapping_the_positive_class_keeps_the_objective(cli: Cli) -> None:
    swapped = cli("solve", "golden", "--positive", "below", *EXACT).json
    assert swapped["upper"] == pytest.approx(305.684692, rel=1e-6)
    assert swapped["parameters"]["positive"] == "below"


def test_not_standardizing_is_another_problem(cli: Cli) -> None:
    raw = cli("solve", "wpbc", "--bank", "linear", "--no-standardize", "--json").json
    scaled = cli("solve", "wpbc", "--bank", "linear", "--json").json
    assert raw["parameters"]["standardize"] is False
    assert scaled["parameters"]["standardize"] is True
    assert raw["upper"] != pytest.approx(scaled["upper"], rel=1e-3)


def test_words_say_what_each_number_is(cli: Cli) -> None:
    words = cli("solve", "sonar", "--bank", "linear", "--eta", "0.25", "--C", "10").out
    for fact in (
        "sonar: 125 training rows, 83 test rows, seed 0",
        "61 kernels (bank linear) on 60 features",
        "eta = 0.25",
        "C = 10 (times the sum of hinge losses)",
        "Converged:",
        "an upper bound",
        "certified",
        "objective/lower - 1 (asked: 0.001)",
        "% of the optimum",
        "SVM solves",
        "of 61 kernels carry weight",
        "(at most 1)",
        "linear · ",
    ):
        assert fact in words
    constraint = re.search(r"eta\*sum \+ \(1-eta\)\*sum of squares = (\S+) ", words)
    assert constraint is not None
    assert 0.999 <= float(constraint[1]) <= 1.0


def test_the_trace_holds_every_iteration(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "trace.npz"
    answer = cli("solve", "golden", "--trace", path, "--json").json
    from mkldash.streaming.trace import Trace

    trace = Trace.load(path)
    assert len(trace) == answer["iterations"] + 1
    columns = trace.columns()
    assert columns["upper"][-1] == answer["upper"]
    assert np.all(np.diff(columns["upper"]) <= 0)


def test_progress_tells_iteration_gap_and_time_on_stderr_only(cli: Cli) -> None:
    done = cli("solve", "golden")
    assert "iteration 0" in done.err
    assert "gap" in done.err
    assert " s" in done.err.splitlines()[-1]
    assert "iteration 0," not in done.out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_bar_stays_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from mkldash.solvers.block_coordinate import BlockCoordinateDescent
    from tests.recipes import golden_problem

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    bar = ProgressBar(1e-3)
    bar.stage("building the kernels")
    bar.clear()
    steps = BlockCoordinateDescent().iterate(golden_problem())
    for _ in range(3):
        bar(next(steps))
    bar.close()
    drawn = screen.getvalue()
    assert drawn.count("\n") == 1
    assert drawn.startswith("\rbuilding the kernels ...\r ")
    assert "\r[" in drawn
    assert "iteration 2" in drawn.rsplit("\r", 1)[1]


@pytest.mark.parametrize(
    ("gap", "first", "share"),
    [
        (np.inf, np.inf, 0.0),
        (1.0, 1.0, 0.0),
        (10**-1.5, 1.0, 0.5),
        (1e-3, 1.0, 1.0),
        (0.0, 1.0, 1.0),
        (2.0, 1.0, 0.0),
        (1e-4, 1e-4, 1.0),
    ],
)
def test_the_bar_fills_on_a_log_axis(gap: float, first: float, share: float) -> None:
    assert share_done(gap, first, 1e-3) == pytest.approx(share)


@pytest.mark.parametrize("command", [(), ("serve",), ("solve",), ("data",), ("list",), ("lab",)])
def test_help_is_there_and_quick(command: tuple[str, ...], capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    assert "usage: mkldash" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"mkldash {mkldash.__version__}\n"


def test_lists(cli: Cli) -> None:
    assert "block-coordinate" in cli("list", "solvers").out
    assert "ionosphere" in cli("list", "datasets").out
    assert cli("list", "datasets").out == cli("data").out
    kernels = cli("list", "kernels").out
    for name in ("gaussian", "polynomial", "linear", "paper", "golden"):
        assert name in [line.split()[0] for line in kernels.splitlines()]
    assert "bounds" in cli("list", "views").out


def test_a_card_tells_everything(cli: Cli) -> None:
    card = cli("data", "liver").out
    for fact in ("345", "selector", "drinks >= 3", "licence", "sha256", "cite"):
        assert fact in card


def test_every_set_is_listed_with_its_size(cli: Cli) -> None:
    from mkldash.datasets.cards import available

    lines = {line.split()[0]: line.split() for line in cli("data").out.splitlines()[1:]}
    cards = available()
    assert set(lines) == set(cards)
    for name, card in cards.items():
        assert lines[name][1:4] == [card.task, str(card.rows), str(card.columns)]


def test_tables_align() -> None:
    text = mkldash.cli.listing.table([("a", "bbb", "x"), ("aaa", "b", "y")])
    assert text == "a    bbb  x\naaa  b    y"
    assert mkldash.cli.listing.table([]) == ""


def test_a_terminal_that_knows_no_dots_shows_question_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    assert main(["solve", "t8"]) == 0
    assert b"linear ? all" in screen.buffer.getvalue()
