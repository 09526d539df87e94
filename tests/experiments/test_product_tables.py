"""Test errors over random splits: the protocol and the table."""

from __future__ import annotations

import numpy as np
import pytest

from mkldash.datasets.base import Dataset
from mkldash.datasets.cards import load
from mkldash.datasets.splits import three_way
from mkldash.experiments import product_tables
from mkldash.experiments.product_tables import (
    DATA,
    METHODS,
    Method,
    SplitError,
    as_markdown,
    split_errors,
)


def made_up(rows: int = 60) -> Dataset:
    """A product and a constant column."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((rows, 4))
    X[:, 3] = 2.0
    y = 5.0 + 3.0 * X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(rows)
    return Dataset(
        name="made-up", X=X, y=y, feature_names=("a", "b", "c", "d"), target_name="y",
        task="regression",
    )  # fmt: skip


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product_tables, "ITERATIONS", 100)


@pytest.mark.usefixtures("short")
def test_every_method_is_judged_on_every_split() -> None:
    found = list(split_errors(made_up(), [0, 1]))
    assert [(item.seed, item.method) for item in found] == [(s, m) for s in (0, 1) for m in METHODS]
    for item in found:
        assert item.data == "made-up"
        assert 0.0 < item.mse < 3.0
        assert item.options in METHODS[item.method].options()
    by_name = {item.method: item for item in found if item.seed == 0}
    # The target is one product: those that have it find it, main effects alone do not.
    assert by_name["mirror-1"].mse < 0.1 * by_name["ridge-1"].mse


def test_options_are_chosen_on_validation_rows_and_judged_on_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, seen = made_up(), []

    def fit(X, y, *, shift):
        seen.append((len(X), shift, float(y.mean()), float(y.std())))
        return lambda new: np.full(len(new), shift)

    method = Method("shifted", fit, {"shift": (3.0, 0.0, -2.0)})
    monkeypatch.setattr(product_tables, "METHODS", {"shifted": method})
    (found,) = split_errors(data, [4])
    parts = three_way(60, 4)
    tried = [(36, 3.0), (36, 0.0), (36, -2.0)]
    assert [(n, shift) for n, shift, *_ in seen] == [*tried, (48, 0.0)]
    for *_, mean, deviation in seen:
        assert mean == pytest.approx(0.0, abs=1e-12)
        assert deviation == pytest.approx(1.0)
    known = data.y[np.concatenate([parts.train, parts.validation])]
    expected = np.mean(((data.y[parts.test] - known.mean()) / known.std()) ** 2)
    assert found.mse == pytest.approx(expected)
    assert found.options == {"shift": 0.0}


@pytest.mark.usefixtures("short")
def test_the_same_seed_gives_the_same_error() -> None:
    names = ["mirror-4/3", "learnt", "sklearn"]
    first, again = ([e.mse for e in split_errors(made_up(), [3], names)] for _ in range(2))
    assert first == again


def test_the_table_has_mean_and_standard_error() -> None:
    errors = [
        SplitError(data=data, method="ridge-1", seed=k, mse=mse, options={}, seconds=2.0)
        for data, values in (("one", (1.0, 3.0)), ("two", (0.5,)))
        for k, mse in enumerate(values)
    ]
    errors.append(
        SplitError(data="two", method="mirror-1", seed=0, mse=0.25, options={}, seconds=1.0)
    )
    lines = as_markdown(errors).splitlines()
    assert lines == [
        "| method | one | two | seconds a split |",
        "|---|---|---|---|",
        "| Kernel ridge, degree 1, all products alike | 2.0000 ± 1.0000 | 0.5000 | 2.0 |",
        "| Mirror descent, p = 1 |  | 0.2500 | 1.0 |",
    ]


def test_the_data_of_the_table_are_regressions() -> None:
    assert all(load(name).task == "regression" for name in DATA)
