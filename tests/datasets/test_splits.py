"""Training and test rows."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkldash.datasets.base import Dataset
from mkldash.datasets.cards import load
from mkldash.datasets.splits import read_rows, row_list, split, three_way
from mkldash.errors import InputError


def made_up(negatives: int, positives: int, task: str = "binary") -> Dataset:
    """A data set with these class counts."""
    n = negatives + positives
    y = np.r_[-np.ones(negatives), np.ones(positives)]
    return Dataset(
        name="made up",
        X=np.arange(float(n))[:, None],
        y=y,
        feature_names=("x",),
        target_name="y",
        task=task,
        classes=("no", "yes") if task == "binary" else None,
    )


def test_wdbc_at_six_tenths_has_341_rows_in_proportion() -> None:
    data = load("wdbc")
    parts = split(data)
    assert (len(parts.train), len(parts.test)) == (341, 228)
    assert ((data.y[parts.train] < 0).sum(), (data.y[parts.train] > 0).sum()) == (214, 127)


@settings(deadline=None)
@given(
    negatives=st.integers(1, 60),
    positives=st.integers(1, 60),
    fraction=st.floats(0.02, 1.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_split_is_a_stratified_partition(
    negatives: int, positives: int, fraction: float, seed: int
) -> None:
    data = made_up(negatives, positives)
    size = int(np.floor(fraction * data.n_rows + 0.5))
    if size < 2:
        with pytest.raises(InputError, match="at least 2 are needed"):
            split(data, fraction, seed)
        return
    parts = split(data, fraction, seed)
    assert sorted([*parts.train, *parts.test]) == list(range(data.n_rows))
    assert len(parts.train) == size
    assert (np.diff(parts.train) > 0).all()
    counts = np.array([(data.y[parts.train] == sign).sum() for sign in (-1.0, 1.0)])
    exact = size * np.array([negatives, positives]) / data.n_rows
    assert (counts >= 1).all()
    assert (np.abs(counts - exact) <= np.maximum(0.5, 1.0 - exact.min()) + 1e-9).all()


def test_seed_decides() -> None:
    data = load("sonar")
    np.testing.assert_array_equal(split(data, seed=1).train, split(data, seed=1).train)
    assert not np.array_equal(split(data, seed=1).train, split(data, seed=2).train)


def test_fraction_one_leaves_no_test_rows() -> None:
    parts = split(load("t8"), train_fraction=1.0)
    assert parts.train.tolist() == list(range(8))
    assert parts.test.size == 0


def test_regression_is_split_without_strata() -> None:
    parts = split(made_up(5, 5, "regression"), 0.6)
    assert len(parts.train) == 6
    assert sorted([*parts.train, *parts.test]) == list(range(10))


def test_the_seed_decides_the_rows_of_a_regression() -> None:
    data = load("known-products")
    one, same, other = (split(data, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.train, same.train)
    assert not np.array_equal(one.train, other.train)
    assert (len(one.train), len(one.test)) == (240, 160)
    assert split(data, 1.0).test.size == 0
    assert split(data, rows=[7, 3]).train.tolist() == [7, 3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train_fraction": 0.1}, r"leaves 1 of 10 rows for training, at least 2 are needed"),
        ({"rows": [3]}, "1 training row, at least 2 are needed for the target 'y': take more"),
        ({"rows": [0, 1, 2]}, "the target column 'y' is -1 in every training row: there is"),
    ],
)
def test_training_rows_that_no_regression_can_use(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        split(made_up(5, 5, "regression"), **options)  # type: ignore[arg-type]


def test_a_constant_target_is_refused_by_its_name() -> None:
    with pytest.raises(InputError, match="the target column 'y' is 1 in every training row"):
        split(made_up(0, 8, "regression"))


@settings(deadline=None)
@given(n_rows=st.integers(10, 400), seed=st.integers(0, 2**32 - 1))
def test_three_ways_are_a_partition_that_the_seed_decides(n_rows: int, seed: int) -> None:
    parts = three_way(n_rows, seed)
    together = [*parts.train, *parts.validation, *parts.test]
    assert sorted(together) == list(range(n_rows))
    sizes = [len(part) for part in (parts.train, parts.validation, parts.test)]
    assert np.abs(np.array(sizes) - n_rows * np.array([0.6, 0.2, 0.2])).max() <= 1.0
    for part, again in zip(
        (parts.train, parts.validation, parts.test), vars(three_way(n_rows, seed)).values(),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_array_equal(part, again)
        assert (np.diff(part) > 0).all()
        assert not part.flags.writeable


@pytest.mark.parametrize("name", ["known-products", "diabetes"])
def test_three_ways_train_on_the_rows_of_two(name: str) -> None:
    data = load(name)
    train = three_way(data.n_rows, 3, (0.6, 0.3, 0.1)).train
    np.testing.assert_array_equal(train, split(data, 0.6, seed=3).train)


def test_three_ways_of_other_sizes() -> None:
    parts = three_way(10, 0, (0.5, 0.25, 0.25))
    assert [len(part) for part in (parts.train, parts.validation, parts.test)] == [5, 3, 2]
    assert not np.array_equal(parts.train, three_way(10, 1, (0.5, 0.25, 0.25)).train)


@pytest.mark.parametrize(
    ("n_rows", "fractions", "message"),
    [
        (100, (0.6, 0.4), "fractions are three numbers above 0 that add up to 1"),
        (100, (0.6, 0.2, 0.3), r"not \(0.6, 0.2, 0.3\)"),
        (100, (0.8, 0.2, 0.0), "three numbers above 0"),
        (100, (1.2, -0.1, -0.1), "three numbers above 0"),
        (100, (float("nan"), 0.5, 0.5), "three numbers above 0"),
        (3, (0.6, 0.2, 0.2), "3 rows give 2 for training, 1 for validation and 0 for the test"),
        (2, (0.6, 0.2, 0.2), "2 rows give 1 for training, 0 for validation and 1 for the test"),
    ],
)
def test_refused_three_ways(n_rows: int, fractions: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        three_way(n_rows, 0, fractions)


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.1, float("nan")])
def test_fraction_outside_is_refused(fraction: float) -> None:
    with pytest.raises(InputError, match=r"train fraction .* outside \(0, 1\]"):
        split(load("t8"), fraction)


def test_rows_are_kept_in_order() -> None:
    parts = split(load("t8"), rows=[5, 0, 3])
    assert parts.train.tolist() == [5, 0, 3]
    assert parts.test.tolist() == [1, 2, 4, 6, 7]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "is empty"),
        ([0, 8], "training row 8 does not exist: the data have rows 0 to 7"),
        ([-1, 3], "training row -1 does not exist"),
        ([0, 3, 3], "training row 3 is listed more than once"),
        ([0.5, 3.0], "whole numbers"),
        ([[0, 3]], "whole numbers"),
        ([3, 5, 6, 7], "the training rows hold only class 'yes', two needed"),
        ([0, 1], "the training rows hold only class 'no', two needed"),
    ],
)
def test_bad_rows_are_refused(rows: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        split(load("t8"), rows=rows)


def test_shipped_list() -> None:
    rows = row_list("wdbc-math8")
    np.testing.assert_array_equal(rows, np.random.default_rng(0).permutation(569)[:341])
    np.testing.assert_array_equal(read_rows("wdbc-math8"), rows)
    assert len(split(load("wdbc"), rows=rows).test) == 228
    with pytest.raises(InputError, match=r"'wdbc-math'.*did you mean wdbc-math8"):
        row_list("wdbc-math")


def test_rows_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("\ufeff3\n\n0\n 12 \n", encoding="utf-8")
    assert read_rows(path).tolist() == [3, 0, 12]
    for wrong in ("-1", "1.5", "x", "²"):
        path.write_text(f"3\n{wrong}\n", encoding="utf-8")
        with pytest.raises(InputError, match=rf"rows\.txt, line 2: '{wrong}' is no row number"):
            read_rows(path)
    with pytest.raises(InputError, match=r"neither a shipped list \(wdbc-math8\)"):
        read_rows(tmp_path / "none.txt")


@pytest.mark.parametrize("digits", [19, 26, 5000])
def test_row_numbers_that_no_machine_counts_to(tmp_path: Path, digits: int) -> None:
    path = tmp_path / "rows.txt"
    path.write_text(f"0\n{'9' * digits}\n")
    with pytest.raises(InputError, match=r"line 2: training row 9+\.\.\. .* does not exist"):
        read_rows(path)
    path.write_text(f"{'0' * digits}\n1\n")
    assert read_rows(path).tolist() == [0, 1]
