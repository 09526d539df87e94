"""Whatever cannot be used is refused with one line, exit code 2, and nothing on stdout."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import mkldash.experiments.workload
from mkldash.cli import main
from tests.cli._run import FILES, Cli


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        (("--eta", "2"), "eta"),
        (("--eta", "-0.1"), "eta"),
        (("--eta", "nan"), "eta"),
        (("--eta", "half"), "--eta"),
        (("--weight-norm", "0.5"), "weight norm must be a number of at least 1"),
        (("--weight-norm", "nan"), "weight norm"),
        (("--weight-norm", "two"), "--weight-norm"),
        (("--weight-norm", "2", "--eta", "1"), "weight norm and eta exclude each other"),
        (("--weight-norm", "2", "--problem", "products"), "weight norm has no meaning"),
        (("--weight-norm", "2", "--problem", "neighborhood"), "weight norm has no meaning"),
        (("--weight-norm", "2", "--solver", "block-coordinate"), "take the solver lp-norm"),
        (("--solver", "simplemkl"), "simplemkl needs eta = 1"),
        (("--solver", "lp-norm"), "lp-norm needs a weight norm P"),
        (("--option", "weight_tl=1"), "did you mean weight_tol?"),
        (("--option", "weight_tol=x"), "must be a number from 1e-14 to 0.01, not 'x'"),
        (("--option", "weight_tol=1"), "must be a number from 1e-14 to 0.01, not '1'"),
        (("--option", "weight_tol=none"), "must be a number from"),
        (("--option", "inner_tol=nan"), "from 1e-12 to 0.1, or none"),
        (("--option", "weight_tol"), "NAME=VALUE"),
        (("--option", "weight_tol=1e-9", "--option", "weight-tol=1e-8"), "given twice"),
        (("--option", "step=1"), "write --step 1"),
        (("--option", "seed=1"), "write --seed 1"),
        (("--option", "a=1", "--solver", "levle"), "did you mean level?"),
        (("--C", "0"), "C"),
        (("--C", "-1"), "C"),
        (("--C", "inf"), "C"),
        (("--C", "nan"), "C"),
        (("--tol", "0"), "tol"),
        (("--tol", "nan"), "tol"),
        (("--tol", "inf"), "tol"),
        (("--max-iter", "-1"), "max_iter"),
        (("--max-iter", "1.5"), "--max-iter"),
        (("--time-limit", "0"), "time_limit"),
        (("--time-limit", "nan"), "time_limit"),
        (("--train-fraction", "0"), "train fraction"),
        (("--train-fraction", "1.01"), "train fraction"),
        (("--train-fraction", "nan"), "train fraction"),
        (("--train-fraction", "0.01"), "train fraction"),
        (("--seed", "-1"), "seed"),
        (("--seed", "0.5"), "--seed"),
        (("--bank", "papre"), "paper"),
        (("--solver", "blok-coordinate"), "block-coordinate"),
        (("--missing", "zero"), "--missing"),
        (("--separator", ";;"), "separator"),
        (("--separator", ";"), "separator"),
        (("--label", "V1"), "label"),
        (("--no-header",), "--no-header is for a CSV file"),
        (("--exclude", "x1"), "--exclude is for a CSV file"),
        (("--labels", "nosuchfile"), "--labels is for kernel matrices"),
        (("--normalize",), "--normalize is for kernel matrices"),
        (("--rows", "rows.txt", "--train-fraction", "0.5"), "--train-fraction"),
        (("--seed", str(2**63)), str(2**63 - 1)),
        (("--positive", "rokc"), "positive"),
        (("--rows", "nowhere.txt"), "nowhere.txt"),
        (("--tole", "1"), "--tole"),
        (("--trace", "trace.csv"), ".npz"),
        (("--trace", "no/such/folder/trace.npz"), "--trace"),
        (("--gram", "x.npz"), "--gram"),
        (("--problem", "nb"), "no problem is called 'nb'; there are elastic-net, neighborhood"),
        (("--problem", "neighborhood", "--rho", "0"), "rho must be a positive number, not 0.0"),
        (("--problem", "neighborhood", "--rho", "-2"), "rho must be a positive number, not -2.0"),
        (("--problem", "neighborhood", "--rho", "nan"), "rho must be a positive number, not nan"),
        (("--problem", "neighborhood", "--rho", "big"), "--rho"),
        (("--rho", "10"), "rho has no meaning in the problem elastic-net"),
        (("--sigma-factor", "-1"), "sigma factor must be a positive number, not -1.0"),
        (("--sigma-factor", "0"), "sigma factor must be a positive number, not 0.0"),
        (("--problem", "neighborhood", "--sigma-factor", "inf"), "sigma factor"),
        (("--problem", "neighborhood", "--C", "0"), "C"),
        (
            ("--problem", "neighborhood", "--bank", "linear", "--solver", "shifted-svm"),
            "take one kernel, or block-coordinate",
        ),
        (("--solver", "shifted-svm"), "take one kernel, or block-coordinate"),
    ],
)
def test_values_that_cannot_be_used(cli: Cli, options: tuple[str, ...], parameter: str) -> None:
    complaint = cli("solve", "golden", *options, "--json").complaint
    assert parameter in complaint


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ((), "COMMAND"),
        (("slove",), "solve"),
        (("solve",), "DATA"),
        (("solve", ""), "DATA is empty"),
        (("solve", "sonr"), "did you mean sonar"),
        (("solve", "no/such/table.csv"), "no/such/table.csv"),
        (("solve", "diabetes"), "regression"),
        (("data", "wdcb"), "did you mean wdbc"),
        (("list",), "what"),
        (("list", "losses"), "solvers"),
        (("solve", "--gram", "nowhere.npz"), "nowhere.npz"),
        (("serve", "--port", "70000"), "--port"),
        (("serve", "--num-procs", "0"), "--num-procs"),
    ],
)
def test_commands_and_names_that_do_not_exist(
    cli: Cli, arguments: tuple[str, ...], hint: str
) -> None:
    assert hint in cli(*arguments).complaint


@pytest.mark.parametrize(
    ("table", "options", "hint"),
    [
        ("single_class.csv", (), "only class 'yes' found, two needed"),
        ("text_column.csv", (), "colour"),
        ("t8_plain.csv", ("--label", "colour"), "colour"),
        ("t8_plain.csv", ("--positive", "maybe"), "maybe"),
        ("t8_plain.csv", ("--one-hot", "colour"), "colour"),
        ("kernels_bad.npz", (), "kernels_bad"),
    ],
)
def test_tables_that_cannot_be_used_l03_d09(
    cli: Cli, table: str, options: tuple[str, ...], hint: str
) -> None:
    assert hint in cli("solve", FILES / table, *options).complaint


def test_a_split_that_leaves_one_class_l03(cli: Cli, tmp_path: Path) -> None:
    rows = tmp_path / "rows.txt"
    rows.write_text("3\n5\n6\n7\n")
    complaint = cli("solve", FILES / "t8_plain.csv", "--rows", rows).complaint
    assert "'yes'" in complaint
    assert "two needed" in complaint


@pytest.mark.parametrize(
    ("text", "hint"),
    [("0\n1\nx\n", "line 3"), ("0\n8\n", "8"), ("0\n3\n3\n", "3"), ("", "empty"), ("-1\n", "-1")],
)
def test_row_lists_that_cannot_be_used(cli: Cli, tmp_path: Path, text: str, hint: str) -> None:
    rows = tmp_path / "rows.txt"
    rows.write_text(text)
    assert hint in cli("solve", FILES / "t8_plain.csv", "--rows", rows).complaint


def test_one_hot_makes_a_text_column_usable_d09(cli: Cli) -> None:
    done = cli("solve", FILES / "text_column.csv", "--one-hot", "colour", "--json")
    assert done.code == 0
    assert done.json["features"] == 4
    assert done.json["parameters"]["one_hot"] == ["colour"]


def test_a_text_column_can_be_left_out_as_the_refusal_says_d09(cli: Cli) -> None:
    table = FILES / "text_column.csv"
    assert "--exclude colour" in cli("solve", table).complaint
    done = cli("solve", table, "--exclude", "colour", "--json")
    assert done.code == 0
    without = cli("solve", table, "--one-hot", "colour", "--json").json["features"] - 2
    assert done.json["features"] == without
    assert done.json["parameters"]["exclude"] == ["colour"]
    assert "'nowhere'" in cli("solve", table, "--exclude", "nowhere").complaint
    several = ("--exclude", "colour", "--exclude", "nowhere")
    assert "'nowhere'" in cli("solve", table, *several).complaint


@pytest.mark.parametrize("name", ["semicolon", "Tab", "space", "comma"])
def test_separators_by_name(cli: Cli, tmp_path: Path, name: str) -> None:
    mark = {"semicolon": ";", "Tab": "\t", "space": " ", "comma": ","}[name]
    path = tmp_path / "table.txt"
    path.write_text((FILES / "t8_plain.csv").read_text().replace(",", mark))
    answer = cli("solve", path, "--separator", name, "--json").json
    assert answer["features"] == 2
    assert answer["parameters"]["separator"] == mark


def test_a_complaint_does_not_steer_the_terminal(cli: Cli) -> None:
    complaint = cli("solve", "no\x1b[31msuch").complaint
    assert "\x1b" not in complaint
    assert "no\\x1b[31msuch" in complaint


def test_a_damaged_archive_is_bad_input(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "cut.npz"
    np.savez_compressed(path, a=np.eye(4), y=np.array([1, -1, 1, -1]))
    content = bytearray(path.read_bytes())
    content[40:90] = b"\xff" * 50
    path.write_bytes(content)
    assert "damaged or not a plain .npz" in cli("solve", "--gram", path).complaint


def test_help_tells_exit_codes_and_what_excludes_what(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["solve", "--help"])
    text = capsys.readouterr().out
    for part in ("exit codes", "examples", "excludes what", "decimal mark: . or ,", "test rows"):
        assert part in " ".join(text.split())


def test_a_seed_beside_listed_rows_is_noted(cli: Cli, tmp_path: Path) -> None:
    rows = tmp_path / "rows.txt"
    rows.write_text("0\n1\n6\n7\n")
    command = ("solve", FILES / "t8_plain.csv", "--rows", rows, "--json")
    given, left_out = cli(*command, "--seed", "0"), cli(*command)
    assert given.code == left_out.code == 0
    assert "--seed has no effect with --rows" in given.err
    assert "--seed" not in left_out.err


def test_files_that_are_no_tables(cli: Cli, tmp_path: Path) -> None:
    picture = tmp_path / "picture.csv"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4)
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    assert "text" in cli("solve", picture).complaint
    assert "empty" in cli("solve", empty).complaint
    assert tmp_path.name in cli("solve", tmp_path).complaint


def test_a_table_that_may_not_be_read(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The tests may run as root, who may read everything: let the system refuse.
    locked = tmp_path / "locked.csv"
    locked.write_text("a,label\n1,x\n2,y\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(locked))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    complaint = cli("solve", locked).complaint
    assert "ermission denied" in complaint
    assert "locked" in complaint


def test_a_trace_that_cannot_be_written_is_known_before_solving(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def solved(*_: object, **__: object) -> None:
        raise AssertionError("preparation began")

    monkeypatch.setattr(mkldash.experiments.workload, "prepare", solved)
    folder = tmp_path / "folder.npz"
    folder.mkdir()
    assert "folder" in cli("solve", "golden", "--trace", folder).complaint
    target = tmp_path / "missing" / "trace.npz"
    assert "No such file" in cli("solve", "golden", "--trace", target).complaint
    assert os.listdir(tmp_path) == ["folder.npz"]


def test_an_indefinite_kernel_is_named_k01(cli: Cli, tmp_path: Path) -> None:
    indefinite = np.load(FILES / "kernels_bad.npz")["indef"]
    path = tmp_path / "indefinite.npz"
    np.savez(path, indef=indefinite, y=np.array([1, -1]))
    complaint = cli("solve", "--gram", path, "--C", 5).complaint
    assert "indef" in complaint
    assert "-1" in complaint


def test_a_nan_is_named_with_its_place_k03(cli: Cli, tmp_path: Path) -> None:
    bad = np.load(FILES / "kernels_bad.npz")
    y = np.array([1, 1, 1, -1, -1, -1])
    path = tmp_path / "nan.npz"
    np.savez(path, ok=bad["ok"], has_nan=bad["has_nan"], y=y)
    complaint = cli("solve", "--gram", path).complaint
    assert "has_nan" in complaint
    assert "(1, 4)" in complaint
    np.savez(path, ok=bad["ok"], y=y)
    answer = cli("solve", "--gram", path, "--json").json
    assert answer["weights"] == pytest.approx({"ok": 1.0}, rel=1e-9)


def test_a_nan_among_the_test_rows_is_refused_too_k03(cli: Cli, tmp_path: Path) -> None:
    gram = np.eye(10)
    gram[0, 9] = gram[9, 0] = np.nan
    path = tmp_path / "nan.npz"
    np.savez(path, mine=gram, y=np.array([1, -1] * 5))
    rows = tmp_path / "rows.txt"
    rows.write_text("\n".join(map(str, range(8))))
    complaint = cli("solve", "--gram", path, "--rows", rows).complaint
    assert "mine" in complaint
    assert "(0, 9)" in complaint


@pytest.mark.parametrize(
    ("arrays", "hint"),
    [
        ({"a": np.ones((3, 2))}, "square"),
        ({"a": np.eye(3), "b": np.eye(4)}, "rows"),
        ({"a": np.eye(3)}, "labels"),
        ({"a": np.eye(3), "y": np.array([1, -1])}, "2 labels"),
        ({"a": np.eye(3), "y": np.array([1, 1, 1])}, "only class"),
        ({"a": np.eye(3), "y": np.array([1, 2, 3])}, "--positive"),
        ({"a": np.array([[1.0, 2.0], [0.0, 1.0]]), "y": np.array([1, -1])}, "symmetric"),
        ({"a": np.array([["x", "y"], ["y", "x"]]), "y": np.array([1, -1])}, "numbers"),
    ],
)
def test_matrices_that_cannot_be_used(
    cli: Cli, tmp_path: Path, arrays: dict[str, np.ndarray], hint: str
) -> None:
    path = tmp_path / "matrices.npz"
    np.savez(path, **arrays)
    assert hint in cli("solve", "--gram", path).complaint


def test_table_options_do_not_go_with_matrices(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "matrices.npz"
    np.savez(path, a=np.eye(4), y=np.array([1, -1, 1, -1]))
    assert "--decimal" in cli("solve", "--gram", path, "--decimal", ",").complaint
    assert "--bank" in cli("solve", "--gram", path, "--bank", "linear").complaint
    assert "--no-standardize" in cli("solve", "--gram", path, "--no-standardize").complaint
    assert "--sigma-factor" in cli("solve", "--gram", path, "--sigma-factor", "2").complaint
    drawn = cli("solve", "--gram", path, "--train-fraction", "0.5", "--seed", "0", "--json")
    assert drawn.json["train_rows"] == 2


def test_a_bank_that_would_not_fit_is_refused_with_the_numbers_s16(cli: Cli) -> None:
    complaint = cli("solve", "adult", "--train-fraction", "1").complaint
    # 13 kernels on 123 features and on all of them, 32,561 rows, 8 bytes each.
    assert f"{8 * 13 * 124 * 32561**2 / 1e9:,.0f}".replace(",", "") in complaint.replace(",", "")
