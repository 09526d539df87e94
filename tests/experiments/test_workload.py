"""From choices to a problem: what is split, scaled, built, noted, kept."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

from mkldash.errors import InputError, MemoryLimitError
from mkldash.experiments import banks_of_choices, workload
from mkldash.experiments.choices import Choices
from mkldash.experiments.workload import Cancelled, prepare

FILES = Path(__file__).resolve().parents[1] / "files"


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch) -> banks_of_choices.BankCache:
    cache = banks_of_choices.BankCache(2**28)
    monkeypatch.setattr(banks_of_choices, "_BANKS", cache)
    return cache


def test_only_training_rows_make_the_scaling() -> None:
    work = prepare(Choices(data="sonar", bank="linear"))
    assert work.X_train is not None
    assert work.X_train.mean(axis=0) == pytest.approx(np.zeros(60), abs=1e-12)
    assert work.X_train.std(axis=0) == pytest.approx(np.ones(60))
    assert abs(work.X_test.mean(axis=0)).max() > 0.01
    raw = work.source.dataset.X
    train = raw[work.split.train]
    expected = (raw[work.split.test] - train.mean(axis=0)) / train.std(axis=0)
    assert work.X_test == pytest.approx(expected)


def test_a_constant_column_is_noted_once_and_not_warned_about() -> None:
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        work = prepare(Choices(data="ionosphere"))
    assert [w for w in raised if "constant" in str(w.message)] == []
    notes = [note for note in work.notes if "V2" in note]
    assert len(notes) == 1
    assert len(work.bank.dropped) == 13
    assert work.bank.n_given == 455


def test_another_eta_or_cost_takes_the_bank_that_was_built() -> None:
    first = prepare(Choices(data="golden", eta=0.5))
    again = prepare(Choices(data="golden", eta=0.9, C=1.0))
    other = prepare(Choices(data="golden", eta=0.5, seed=1))
    assert again.bank is first.bank
    assert other.bank is not first.bank
    assert again.problem.key != first.problem.key


def test_uploads_are_told_apart_by_content_not_by_name_u05() -> None:
    table = (FILES / "t8_plain.csv").read_bytes()
    changed = table.replace(b"1.5,1200", b"1.5,1250")
    options = {"data": "t8_plain.csv", "bank": "linear", "train_fraction": 1.0}
    mine = prepare(Choices(content=table, **options))
    yours = prepare(Choices(content=changed, **options))
    same = prepare(Choices(content=table, **{**options, "data": "another_name.csv"}))
    assert mine.bank.key != yours.bank.key
    assert same.bank is mine.bank


def test_text_columns_can_be_left_out_d09() -> None:
    table = (FILES / "text_column.csv").read_bytes()
    options = {"data": "mine.csv", "content": table, "bank": "linear", "train_fraction": 1.0}
    with pytest.raises(InputError, match="colour"):
        prepare(Choices(**options))
    work = prepare(Choices(exclude_text=True, **options))
    assert work.source.dataset.feature_names == ("size", "weight")


def test_ways_out_of_the_memory_limit_are_options_that_exist() -> None:
    def refusal(**choices: object) -> str:
        with pytest.raises(MemoryLimitError) as caught:
            prepare(Choices(data="sonar", memory_limit=10_000, **choices))
        return str(caught.value)

    usual = refusal()
    assert usual.endswith("(--bank linear) or fewer training rows (such as --train-fraction 0.1).")
    assert "storage=" not in usual
    assert "memory_limit" not in usual
    assert "--bank linear" not in refusal(bank="linear")
    assert refusal(bank="linear", train_fraction=0.1).endswith("(a smaller --train-fraction).")


def test_the_limit_on_memory_is_the_one_chosen() -> None:
    with pytest.raises(MemoryLimitError, match="limit"):
        prepare(Choices(data="sonar", memory_limit=10_000))


def test_a_bank_that_is_at_hand_does_not_lift_the_limit() -> None:
    prepare(Choices(data="sonar", bank="linear"))
    with pytest.raises(MemoryLimitError):
        prepare(Choices(data="sonar", bank="linear", memory_limit=10_000))


def test_progress_tells_the_parts_and_cancelling_stops_between_them() -> None:
    said: list[str] = []
    prepare(Choices(data="golden"), progress=said.append)
    assert said[0] == "reading the data"
    assert "building 4 kernels on 12 training rows" in said
    assert said[-1] == "solving"
    heard: list[str] = []
    with pytest.raises(Cancelled):
        prepare(
            Choices(data="golden"),
            progress=heard.append,
            cancelled=lambda: len(heard) == 1,
        )
    assert heard == ["reading the data"]


def test_solver_options_reach_the_solver_and_wrong_ones_are_refused() -> None:
    work = prepare(Choices(data="golden", solver_options=(("inner_tol", 1e-7),)))
    assert work.solver.inner_tol == 1e-7  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="did you mean inner_tol"):
        prepare(Choices(data="golden", solver_options=(("inner_tool", 1e-7),)))


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"eta": float("nan")}, "eta"),
        ({"C": 0.0}, "C"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": -1}, "max_iter"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"train_fraction": 0.0}, "train fraction"),
        ({"seed": -1}, "seed"),
        ({"missing": "guess"}, "missing"),
        ({"separator": "ab"}, "separator"),
        ({"separator": ",", "decimal": ","}, "separator"),
        ({"memory_limit": 0}, "memory limit"),
        ({"bank": "nothing"}, "bank"),
        ({"solver": "nothing"}, "solver"),
    ],
)
def test_every_number_is_checked_before_data_are_read(
    change: dict, parameter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object) -> None:
        raise AssertionError("the data were read")

    monkeypatch.setattr(workload, "read_source", read)
    with pytest.raises(InputError, match=parameter):
        prepare(Choices(**change))


def test_given_matrices_are_cut_to_rows(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((20, 3))
    gram = X @ X.T
    gram = 0.5 * (gram + gram.T)
    y = np.tile([1, -1], 10)
    path = tmp_path / "mine.npz"
    np.savez(path, mine=gram, twice=2 * gram, y=y)
    whole = prepare(Choices(gram=str(path)))
    assert len(whole.split.train) == 20
    assert whole.X_test.shape == (2, 0, 20)
    assert whole.source.n_features is None
    part = prepare(Choices(gram=str(path), train_fraction=0.5, normalize=True))
    train, test = part.split.train, part.split.test
    assert part.X_test[0] == pytest.approx(gram[np.ix_(test, train)])
    assert part.bank.scales == pytest.approx(
        np.array([1.0, 0.5]) / np.trace(gram[np.ix_(train, train)])
    )


def test_many_threads_may_prepare_at_once() -> None:
    """Sessions of an app share the cache; none may see another's bank."""
    keys: dict[int, str] = {}

    def work(seed: int) -> None:
        keys[seed] = prepare(Choices(data="golden", seed=seed % 4)).bank.key

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys.values())) == 4
    assert all(keys[seed] == keys[seed + 4] for seed in range(4))
