"""What newcomers ran into on the command line."""

import numpy as np
import pytest

from mkldash.cli import main

SPECTRA = "400,402,404,species\n" + "".join(
    f"{i * 0.5},{3 - i * 0.2},{(i % 3) * 1.5},{'yes' if i % 2 else 'no'}\n" for i in range(12)
)


@pytest.fixture
def spectra(tmp_path):
    path = tmp_path / "spectra.csv"
    path.write_text(SPECTRA)
    return str(path)


def test_a_header_of_numbers_can_be_said(spectra, capsys):
    assert main(["solve", spectra, "--header", "--json", "--max-iter", "2"]) == 0
    assert '"rows": 12' in capsys.readouterr().out


def test_that_the_first_line_was_taken_as_data_is_told(spectra, capsys):
    assert main(["solve", spectra, "--positive", "yes", "--max-iter", "2"]) == 0
    assert "read as data (else say --header)" in capsys.readouterr().err


def test_rows_and_missing_drop_do_not_go_together(spectra, tmp_path, capsys):
    rows = tmp_path / "rows.txt"
    rows.write_text("0\n1\n2\n3\n")
    code = main(["solve", spectra, "--header", "--rows", str(rows), "--missing", "drop"])
    assert code == 2
    assert "would renumber them" in capsys.readouterr().err


def test_advice_names_options_that_exist(tmp_path, capsys):
    path = tmp_path / "indefinite.npz"
    K = np.eye(4)
    K[0, 1] = K[1, 0] = 2.0
    np.savez(path, a=K, y=np.array([1, -1, 1, -1]))
    assert main(["solve", "--gram", str(path)]) == 2
    said = capsys.readouterr().err
    assert "not positive semidefinite" in said
    assert "repair" not in said


def test_values_that_nearly_overflow_give_no_warning(tmp_path, capsys):
    path = tmp_path / "huge.csv"
    path.write_text("a,b,y\n" + "".join(f"{s}1e308,{i},{i % 2}\n" for i, s in enumerate("- - - -")))
    assert main(["solve", str(path), "--max-iter", "2", "--bank", "gaussian"]) == 0


@pytest.mark.parametrize("data", ["sonar", "own table"])
def test_l01_which_class_is_called_positive_changes_no_number(data, spectra, capsys):
    import json

    arguments = ["sonar"] if data == "sonar" else [spectra, "--header"]
    classes = ("rock", "mine") if data == "sonar" else ("no", "yes")
    found = []
    for positive in classes:
        assert main(["solve", *arguments, "--positive", positive, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    # Both certify the same optimum, of the same rows.
    assert found[0]["lower"] <= found[1]["upper"]
    assert found[1]["lower"] <= found[0]["upper"]
    assert found[0]["upper"] == pytest.approx(found[1]["upper"], rel=1e-3)
    assert found[0]["test_accuracy"] == found[1]["test_accuracy"]
