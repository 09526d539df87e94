"""The neighborhood problem from choices: kernels, scales, defaults, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mkldash.errors import InputError, MemoryLimitError
from mkldash.experiments import banks_of_choices, workload
from mkldash.experiments.choices import Choices
from mkldash.experiments.problem_kinds import (
    PROBLEMS,
    find_problem,
    make_weight_set,
    solvers_for,
)
from mkldash.experiments.workload import Workload, prepare
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers import available_solvers
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import Status
from tests.recipes import golden_data, golden_kernels


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(banks_of_choices, "_BANKS", banks_of_choices.BankCache(2**28))


def near(data: str = "golden", **choices: object) -> Workload:
    return prepare(Choices(data=data, problem="neighborhood", **choices))


def test_the_defaults_belong_to_the_problem() -> None:
    choices = Choices(problem="neighborhood")
    assert (choices.C, choices.rho, choices.sigma_factor) == (1.0, 100.0, 4.0)
    assert choices.solver == "shifted-svm"
    assert choices.bank is None
    assert choices.kind is find_problem("neighborhood")
    assert choices.kind.takes_rho
    usual = Choices()
    assert (usual.problem, usual.C, usual.solver) == ("elastic-net", 100.0, "block-coordinate")
    assert usual.rho == math.inf
    assert not usual.kind.takes_rho
    chosen = Choices(problem="neighborhood", C=3, rho=math.inf, sigma_factor=1)
    assert (chosen.C, chosen.rho, chosen.sigma_factor) == (3.0, math.inf, 1.0)


def test_several_kernels_get_a_solver_that_learns_weights() -> None:
    assert Choices(problem="neighborhood", bank="linear").solver == "block-coordinate"
    assert Choices(problem="neighborhood", bank="single").solver == "shifted-svm"
    assert solvers_for("neighborhood")[0] == "shifted-svm"
    assert "block-coordinate" in solvers_for("neighborhood")
    over_a_bank = solvers_for("neighborhood", "paper")
    assert over_a_bank[0] == "block-coordinate"
    assert "second-order" in over_a_bank
    assert not {"shifted-svm", "level", "gradient"} & set(over_a_bank)
    assert solvers_for("elastic-net")[0] == "block-coordinate"


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_default_solver_takes_its_problem(name: str) -> None:
    kind = PROBLEMS[name]
    assert kind.name == name
    assert kind.solver in available_solvers()
    assert solvers_for(name)[0] == kind.solver


def test_what_weights_are_allowed() -> None:
    near, net = PROBLEMS["neighborhood"], PROBLEMS["elastic-net"]
    assert make_weight_set(near, 1, 0.5) == Fixed((1.0,))
    assert make_weight_set(near, 3, 0.25) == ElasticNet(0.25)
    assert make_weight_set(net, 1, 0.25) == ElasticNet(0.25)


@pytest.mark.parametrize("standardize", [None, False])
def test_the_single_kernel_has_the_width_of_the_training_rows(standardize: bool | None) -> None:
    work = near("liver", standardize=standardize, sigma_factor=2.0)
    train = work.source.dataset.X[work.split.train]
    if standardize is None:
        train = (train - train.mean(axis=0)) / train.std(axis=0)
    assert work.X_train == pytest.approx(train)
    distances = ((train[:, None] - train[None]) ** 2).sum(-1)
    assert work.sigma == pytest.approx(2.0 * distances.mean(), rel=1e-10)
    assert work.bank_name == "single"
    assert work.bank.storage == "square"
    matrix = work.bank.combine(np.ones(1)).matrix()
    np.testing.assert_allclose(matrix, np.exp(-distances / work.sigma), rtol=1e-9)
    np.testing.assert_array_equal(matrix.diagonal(), 1.0)
    assert work.problem.rho == 100.0
    assert work.problem.loss.C == 1.0
    assert work.problem.weight_set == Fixed((1.0,))


def test_rows_kept_for_the_test_do_not_make_the_width() -> None:
    one, other = near("liver", seed=0), near("liver", seed=1, standardize=False)
    whole = near("liver", train_fraction=1.0, standardize=False)
    assert one.sigma == pytest.approx(4.0 * 2 * 5, rel=1e-12)  # standardised: 2 a column
    assert other.sigma != pytest.approx(whole.sigma, rel=1e-6)


def test_adults_bits_are_taken_raw_unless_asked_otherwise() -> None:
    work = near("adult-a1a")
    assert work.standardizer is None
    assert work.X_train is not None
    assert set(np.unique(work.X_train)) == {0.0, 1.0}
    # Bits: the mean over all pairs is 2 p (1 - p) a column.
    p = work.X_train.mean(axis=0)
    assert work.sigma == pytest.approx(4.0 * 2.0 * (p * (1.0 - p)).sum(), rel=1e-12)
    scaled = near("adult-a1a", standardize=True)
    assert scaled.standardizer is not None
    varying = np.count_nonzero(~scaled.standardizer.constant)
    assert 0 < varying < 123
    assert scaled.sigma == pytest.approx(4.0 * 2.0 * varying, rel=1e-12)


@pytest.mark.parametrize("bank", ["linear", "golden"])
def test_several_kernels_have_trace_n(bank: str) -> None:
    work = near("sonar", bank=bank)
    n = len(work.split.train)
    np.testing.assert_allclose(work.bank.traces * work.bank.scales, n, rtol=1e-12)
    theta = np.zeros(work.bank.n_kernels)
    theta[0] = 1.0
    assert work.bank.combine(theta).matrix().trace() == pytest.approx(n, rel=1e-9)
    assert work.sigma is None
    assert work.problem.weight_set == ElasticNet(0.5)
    net = prepare(Choices(data="sonar", bank=bank))
    np.testing.assert_allclose(net.bank.traces * net.bank.scales, 1.0, rtol=1e-12)
    assert net.problem.rho == math.inf


def test_a_card_that_suggests_a_bank_does_not_replace_the_single_kernel() -> None:
    assert near("golden").bank_name == "single"
    assert prepare(Choices(data="golden")).bank_name == "golden"


def test_elastic_net_may_take_the_bank_single_too() -> None:
    work = prepare(Choices(data="golden", bank="single", sigma_factor=1.0))
    assert work.sigma is not None
    assert work.bank.n_kernels == 1
    assert work.bank.traces * work.bank.scales == pytest.approx([1.0])


@pytest.mark.parametrize("bank", [None, "linear"])
def test_banks_of_the_two_problems_are_kept_apart(bank: str | None) -> None:
    first, again = near("golden", bank=bank), near("golden", bank=bank, rho=3.0, C=2.0)
    assert again.bank is first.bank
    assert again.problem.key != first.problem.key
    net = prepare(Choices(data="golden", bank=bank or "single"))
    assert net.bank is not first.bank
    assert net.bank.key != first.bank.key
    wider = near("golden", bank=bank, sigma_factor=5.0)
    assert (wider.bank is first.bank) == (bank == "linear")


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("count", [1, 4])
def test_given_matrices_are_as_given_or_of_trace_n(
    tmp_path: Path, count: int, normalize: bool
) -> None:
    path = tmp_path / "mine.npz"
    kernels = golden_kernels()[:count]
    np.savez(path, kernels=kernels, y=golden_data()[1])
    for fraction in (None, 0.6):
        work = prepare(
            Choices(
                gram=str(path),
                problem="neighborhood",
                normalize=normalize,
                train_fraction=fraction,
                solver="block-coordinate",
            )
        )
        train = np.ix_(work.split.train, work.split.train)
        theta = np.zeros(count)
        theta[0] = 1.0
        expected = kernels[0][train]
        if normalize:
            expected = len(expected) * expected / expected.trace()
        np.testing.assert_allclose(work.bank.combine(theta).matrix(), expected, rtol=1e-12)
        assert len(work.X_test) == count
        result = solve(work.solver, work.problem, stop=work.stop)
        assert result.status is Status.CONVERGED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"problem": "nb"}, "no problem is called 'nb'; there are elastic-net, neighborhood"),
        ({"rho": 100.0}, "rho has no meaning in the problem elastic-net"),
        ({"problem": "neighborhood", "rho": 0.0}, "rho must be a positive number, not 0.0"),
        ({"problem": "neighborhood", "rho": -1}, "rho must be a positive number, not -1.0"),
        ({"problem": "neighborhood", "rho": math.nan}, "rho must be a positive number, not nan"),
        ({"sigma_factor": 0}, "sigma factor must be a positive number, not 0.0"),
        ({"sigma_factor": math.inf}, "sigma factor must be a positive number, not inf"),
        ({"sigma_factor": math.nan}, "sigma factor must be a positive number, not nan"),
        ({"problem": "neighborhood", "C": 0.0}, "C must be a positive number"),
    ],
)
def test_values_are_checked_before_data_are_read(
    change: dict, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object) -> None:
        raise AssertionError("the data were read")

    monkeypatch.setattr(workload, "read_source", read)
    with pytest.raises(InputError, match=message):
        prepare(Choices(**change))


def test_a_solver_of_one_kernel_is_refused_for_several() -> None:
    with pytest.raises(InputError, match=r"learns no kernel weights.* or block-coordinate"):
        near("golden", bank="linear", solver="shifted-svm")


def test_ways_out_of_the_memory_limit_leave_out_fewer_kernels() -> None:
    with pytest.raises(MemoryLimitError) as caught:
        near("sonar", memory_limit=10_000)
    assert str(caught.value).endswith(
        "Ways out: fewer training rows (such as --train-fraction 0.1)."
    )


def test_a_table_without_any_difference_between_rows_is_refused() -> None:
    table = b"a,b,label\n" + b"1,2,x\n1,2,y\n" * 4
    with pytest.raises(InputError, match=r"all training rows are the same.*take other columns"):
        near("flat.csv", content=table)


def test_several_given_matrices_settle_on_a_solver_that_takes_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    y = np.where(np.arange(20) % 2, 1, -1)
    squared = ((X[:, None] - X[None]) ** 2).sum(-1)
    np.savez(tmp_path / "two.npz", linear=X @ X.T, gaussian=np.exp(-squared), y=y)
    np.savez(tmp_path / "one.npz", gaussian=np.exp(-squared), y=y)
    two = prepare(Choices(problem="neighborhood", gram=str(tmp_path / "two.npz")))
    one = prepare(Choices(problem="neighborhood", gram=str(tmp_path / "one.npz")))
    assert (two.solver.name, two.choices.solver) == ("block-coordinate", "block-coordinate")
    assert one.solver.name == "shifted-svm"
    chosen = Choices(
        problem="neighborhood", gram=str(tmp_path / "two.npz"), solver="level"
    )  # fmt: skip
    with pytest.raises(InputError, match="level learns no kernel weights"):
        prepare(chosen)


@pytest.mark.parametrize("problem", ["elastic-net", "neighborhood"])
def test_a_solver_for_one_kernel_is_refused_before_many_are_built(
    problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workload, "read_source", lambda choices: pytest.fail("data were read"))
    choices = Choices(problem=problem, data="liver", bank="paper", solver="level")
    with pytest.raises(InputError, match="take the solver block-coordinate"):
        prepare(choices)


def test_constant_columns_are_named_where_a_kernel_of_distances_cannot_see_them() -> None:
    assert any("V2 is constant" in note for note in near("ionosphere").notes)
    assert not any("constant" in note for note in near("liver").notes)


@pytest.mark.parametrize("factor", [1e-320, 1e308])
def test_a_factor_that_makes_no_usable_sigma_is_named(factor: float) -> None:
    with pytest.raises(InputError, match="sigma factor"):
        near("liver", sigma_factor=factor)
