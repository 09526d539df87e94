"""The neighborhood problem through the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

from tests.cli._run import EXACT, Cli
from tests.recipes import golden_blocks, golden_data
from tests.solvers.test_shifted import S10

NEAR = ("--problem", "neighborhood")


@pytest.fixture
def rbf(tmp_path: Path) -> Path:
    """GOLDEN's second kernel, exp(-|x - x'|^2), not scaled."""
    X, y = golden_data()
    kernel = golden_blocks(X, X)[1]
    path = tmp_path / "rbf.npz"
    np.savez(path, rbf=0.5 * (kernel + kernel.T), y=y)
    return path


@pytest.mark.parametrize(("rho", "value", "square"), S10)
@pytest.mark.parametrize("solver", ["shifted-svm", "block-coordinate"])
def test_s10_values(
    cli: Cli, rbf: Path, rho: float, value: float, square: float, solver: str
) -> None:
    options = (*NEAR, "--C", 1, "--rho", rho, "--solver", solver)
    answer = cli("solve", "--gram", rbf, *options, *EXACT).json
    # The case's values are twice the saddle value.
    assert answer["lower"] == pytest.approx(value / 2, abs=1e-5)
    assert answer["upper"] == pytest.approx(value / 2, abs=1e-5)
    assert answer["status"] == "converged"
    assert answer["weights"] == {"rbf": 1.0}
    assert answer["parameters"]["rho"] == rho
    assert answer["parameters"]["eta"] is None
    assert "sigma_factor" not in answer["parameters"]
    words = cli("solve", "--gram", rbf, *options, *EXACT[:-1]).out
    norm = float(words.split("rank-one part of norm ")[1].split()[0])
    assert norm == pytest.approx(square / (2 * rho), rel=1e-3)


def test_an_infinite_rho_is_the_plain_support_vector_machine(cli: Cli, rbf: Path) -> None:
    done = cli("solve", "--gram", rbf, *NEAR, "--rho", "inf", *EXACT)
    answer = done.json  # strict: an infinity would be refused here
    assert answer["parameters"]["rho"] == "inf"
    given = np.load(rbf)
    svc = SVC(kernel="precomputed", C=1.0, tol=1e-9).fit(given["rbf"], given["y"])
    a = svc.dual_coef_[0]
    K = given["rbf"][np.ix_(svc.support_, svc.support_)]
    dual = np.abs(a).sum() - 0.5 * a @ K @ a
    assert answer["upper"] == pytest.approx(dual, abs=1e-6)
    assert answer["lower"] == pytest.approx(dual, abs=1e-6)
    assert answer["support_vectors"] == len(svc.support_)
    large = cli("solve", "--gram", rbf, *NEAR, "--rho", "1e12", *EXACT).json
    assert large["upper"] == pytest.approx(answer["upper"], rel=1e-8)
    # What JSON says may be written on the command line again.
    again = cli("solve", "--gram", rbf, *NEAR, "--rho", answer["parameters"]["rho"], *EXACT)
    assert again.json["upper"] == answer["upper"]


def test_the_defaults_are_all_told(cli: Cli) -> None:
    done = cli("solve", "liver", *NEAR, "--json")
    answer = done.json
    assert answer["problem"] == "neighborhood"
    assert answer["solver"] == "shifted-svm"
    assert answer["kernels"] == 1
    # Five standardised features: a mean squared distance of two each.
    assert answer["sigma"] == pytest.approx(4 * 10, rel=1e-9)
    parameters = answer["parameters"]
    assert parameters["rho"] == 100.0
    assert parameters["C"] == 1.0
    assert parameters["sigma_factor"] == 4.0
    assert parameters["eta"] is None
    assert parameters["bank"] == "single"
    assert parameters["standardize"] is True
    assert answer["status"] == "converged"
    assert 0.0 <= answer["gap"] <= 1e-3
    (weight,) = answer["weights"].values()
    assert weight == 1.0
    assert "note:" not in done.err


def test_several_kernels_learn_their_weights(cli: Cli) -> None:
    answer = cli("solve", "liver", *NEAR, "--bank", "linear", "--eta", 0.2, "--json").json
    assert answer["solver"] == "block-coordinate"
    assert answer["kernels"] == 6
    assert answer["sigma"] is None
    assert answer["parameters"]["eta"] == 0.2
    assert answer["parameters"]["rho"] == 100.0
    assert "sigma_factor" not in answer["parameters"]
    assert len(answer["weights"]) > 1


def test_elastic_net_tells_nothing_of_rho(cli: Cli) -> None:
    answer = cli("solve", "t8", "--json").json
    assert answer["problem"] == "elastic-net"
    assert answer["sigma"] is None
    assert "rho" not in answer["parameters"]
    assert "sigma_factor" not in answer["parameters"]
    one = cli("solve", "t8", "--bank", "single", "--sigma-factor", 2, "--json").json
    assert one["parameters"]["sigma_factor"] == 2.0
    assert one["sigma"] > 0.0


def test_words_say_what_rho_and_sigma_are(cli: Cli) -> None:
    words = cli("solve", "liver", *NEAR, "--rho", 30).out
    assert "Optimal neighborhood kernel by shifted SVM" in words
    assert "rho = 30 (price of leaving the given kernel)" in words
    assert "sigma = 40 (4 x mean squared distance)" in words
    assert "eta" not in words
    assert "and predicts like the given one" in words
    plain = cli("solve", "liver", *NEAR, "--rho", "inf").out
    assert "rho = inf" in plain
    assert "rank-one part of norm 0 " in plain


def test_a_width_of_ones_own(cli: Cli) -> None:
    narrow = cli("solve", "liver", *NEAR, "--sigma-factor", 0.5, "--json").json
    assert narrow["sigma"] == pytest.approx(5.0, rel=1e-9)
    raw = cli("solve", "adult-a1a", *NEAR, "--no-standardize", "--json").json
    assert raw["sigma"] < 4 * 123 / 2


@pytest.mark.parametrize(
    ("options", "note"),
    [
        (("--eta", "0.3"), "--eta has no effect on a single kernel"),
        (("--bank", "linear", "--sigma-factor", "2"), "--sigma-factor has no effect without"),
    ],
)
def test_what_changes_nothing_is_noted(cli: Cli, options: tuple[str, ...], note: str) -> None:
    done = cli("solve", "golden", *NEAR, *options, "--json")
    assert done.code == 0
    assert note in done.err


def test_normalizing_one_matrix_gives_it_trace_n(cli: Cli, rbf: Path) -> None:
    # Its diagonal is 1 already; a tenth of it is scaled back.
    arrays = dict(np.load(rbf))
    tenth = rbf.with_name("tenth.npz")
    np.savez(tenth, rbf=arrays["rbf"] / 10, y=arrays["y"])
    plain = cli("solve", "--gram", rbf, *NEAR, *EXACT).json
    scaled = cli("solve", "--gram", tenth, *NEAR, "--normalize", *EXACT).json
    assert scaled["upper"] == pytest.approx(plain["upper"], rel=1e-8)
    weak = cli("solve", "--gram", tenth, *NEAR, *EXACT).json
    assert weak["upper"] < 0.9 * plain["upper"] or weak["upper"] > 1.1 * plain["upper"]


def test_a_single_matrix_that_cannot_be_used_is_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, mine=-np.eye(4), y=np.array([1, -1, 1, -1]))
    complaint = cli("solve", "--gram", path, *NEAR).complaint
    assert "kernel 0 ('mine') is not positive semidefinite" in complaint
