"""Where rows and labels come from: a shipped set, a table, or given matrices."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.datasets.base import Dataset
from mkldash.datasets.cards import available, load, suggest
from mkldash.datasets.splits import Split, read_rows, split
from mkldash.datasets.tables import preview, read_csv, read_gram
from mkldash.errors import InputError
from mkldash.experiments.choices import DEFAULT_TRAIN_FRACTION, Choices
from mkldash.experiments.problem_kinds import takers

Array = NDArray[np.float64]

__all__ = ["Source", "read_gram_source", "read_source", "read_table_source"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """Rows and their labels or target, before any of them is set aside for a test.

    Attributes
    ----------
    name : str
        Shipped name, or path.
    dataset : Dataset
        Labels and classes; for given matrices it has no features.
    classes : (str, str) or None
        Labels of -1 and +1; None for regression.
    kernels : tuple of array, shape (n_rows, n_rows), or None
        Given matrices.
    kernel_names : tuple of str
        Their names.
    flipped : bool
        Whether +1 is the class that would be -1 if nobody chose.
    """

    name: str
    dataset: Dataset
    classes: tuple[str, str] | None
    kernels: tuple[Array, ...] | None = None
    kernel_names: tuple[str, ...] = ()
    flipped: bool = False

    @property
    def n_rows(self) -> int:
        """All rows, test rows included."""
        return self.dataset.n_rows

    @property
    def n_features(self) -> int | None:
        """Number of features; None for given matrices."""
        return self.dataset.n_features if self.kernels is None else None

    @property
    def defaults(self) -> Mapping[str, str | bool | float]:
        """What the data set's card suggests.

        ``bank``, ``standardize``, ``storage``, ``train_fraction``.
        """
        card = self.dataset.card
        return MappingProxyType({}) if card is None else card.defaults

    def train_fraction(self, choices: Choices) -> float:
        """The share of rows that trains: 0.6, or 1 for given matrices, unless chosen.

        The card of a tiny data set may say otherwise.
        """
        if choices.train_fraction is not None:
            return choices.train_fraction
        usual = DEFAULT_TRAIN_FRACTION if self.kernels is None else 1.0
        return float(self.defaults.get("train_fraction", usual))

    def split(self, choices: Choices) -> Split:
        """Training and test rows.

        Raises
        ------
        InputError
            For rows that cannot be used, or a class without a training row.
        """
        rows = None if choices.rows is None else read_rows(choices.rows)
        # Which class is called +1 must not decide which rows train.
        dataset = self.dataset
        if self.flipped:
            dataset = dataclasses.replace(dataset, y=-dataset.y)
        return split(dataset, self.train_fraction(choices), choices.seed, rows)


def read_source(choices: Choices) -> Source:
    """The rows and labels that were chosen.

    Raises
    ------
    InputError
        For a name, file, option or target that cannot be used.
    """
    return read_table_source(choices) if choices.gram is None else read_gram_source(choices)


def read_table_source(choices: Choices) -> Source:
    """A shipped set or a CSV file; see `read_source`."""
    cards, flipped = available(), False
    options, task = choices.table_options(), choices.kind.task
    if task == "regression" and choices.positive is not None:
        raise InputError(
            f"--positive is for two classes, and the problem {choices.problem} learns a number"
        )
    if not choices.data.strip() and choices.content is None:
        raise InputError(
            "DATA is empty: give a name that 'mkldash data' lists, or the path of a CSV file"
        )
    if choices.content is not None:
        dataset = _read_table(choices.content, choices.data, options, task)
    elif choices.data in cards:
        _refuse_options(options, f"{choices.data!r} is a shipped data set")
        dataset = card = load(choices.data)
        _check_task(choices, dataset)
        if choices.positive is not None:
            dataset = _with_positive(dataset, choices.positive)
        flipped = dataset is not card
    elif Path(choices.data).exists():
        dataset = _read_table(Path(choices.data), None, options, task)
    else:
        raise InputError(
            f"no data set and no file is called '{choices.data}'{suggest(choices.data, cards)}; "
            "'mkldash data' lists the sets"
        )
    classes = dataset.classes
    if classes is not None and (choices.content is not None or choices.data not in cards):
        flipped = choices.positive is not None and classes[0] > classes[1]
    return Source(name=choices.data, dataset=dataset, classes=classes, flipped=flipped)


def _check_task(choices: Choices, dataset: Dataset) -> None:
    """Two classes for the classifiers, a number for the regression."""
    if dataset.task == choices.kind.task:
        return
    others = " or ".join(f"--problem {name}" for name in takers(dataset.task))
    if dataset.task == "regression":
        raise InputError(
            f"'{choices.data}' is a regression set (target '{dataset.target_name}'); "
            f"two classes are needed for {choices.problem}: take {others}"
        )
    raise InputError(
        f"'{choices.data}' has two classes (target '{dataset.target_name}'); a number to predict "
        f"is needed for {choices.problem}: take {others}, or a set that 'mkldash data' lists "
        "as regression"
    )


def _read_table(
    source: Path | bytes, name: str | None, options: dict[str, Any], task: str
) -> Dataset:
    """A person's own table; `exclude_text` becomes the columns that it means."""
    chosen = dict(options)
    if chosen.pop("exclude_text", False):
        dialect = {key: chosen.get(key) for key in ("separator", "decimal", "header")}
        seen = preview(source, name=name, **dialect)
        label = chosen.get("label", seen.label_guess)
        kept = (label, *chosen.get("one_hot", ()), *chosen.get("exclude", ()))
        text = [
            column
            for column, kind in zip(seen.columns, seen.types, strict=True)
            if kind == "text" and column not in kept
        ]
        chosen["exclude"] = [*chosen.get("exclude", ()), *text]
    return read_csv(source, name=name, task=task, **chosen)


def read_gram_source(choices: Choices) -> Source:
    """Matrices and labels that the person gave; see `read_source`."""
    assert choices.gram is not None
    _refuse_options(choices.table_options(), "given matrices have no table")
    given = read_gram(Path(choices.gram), None if choices.labels is None else Path(choices.labels))
    y, classes = given.binary_labels(choices.positive)
    dataset = Dataset(
        name=given.name,
        X=np.empty((len(y), 0)),
        y=y,
        feature_names=(),
        target_name="y",
        task="binary",
        classes=classes,
    )
    return Source(
        name=choices.gram,
        dataset=dataset,
        classes=classes,
        kernels=tuple(given.kernels),
        kernel_names=given.names,
        flipped=choices.positive is not None and classes[0] > classes[1],
    )


def _refuse_options(options: Mapping[str, object], why: str) -> None:
    """Options that would be silently without effect are a mistake of the person."""
    for name in options:
        if name != "positive":
            option = name.replace("_", "-")
            if name == "header" and not options[name]:
                option = "no-header"
            raise InputError(f"--{option} is for a CSV file, but {why}")


def _with_positive(dataset: Dataset, positive: str) -> Dataset:
    """A shipped set with `positive` as +1."""
    classes = dataset.classes or ("", "")
    if positive not in classes:
        raise InputError(
            f"positive must be '{classes[0]}' or '{classes[1]}' for {dataset.name}, "
            f"not '{positive}'"
        )
    if positive == classes[1]:
        return dataset
    return dataclasses.replace(dataset, y=-dataset.y, classes=(classes[1], classes[0]))
