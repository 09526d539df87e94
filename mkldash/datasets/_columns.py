"""Columns of cells to features and a target, with every refusal on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mkldash.datasets._dialect import LABEL_NAMES
from mkldash.datasets._numbers import is_missing
from mkldash.datasets.base import Dataset
from mkldash.datasets.cards import suggest
from mkldash.datasets.labels import encode_labels
from mkldash.errors import InputError
from mkldash.kernels.normalization import constant_columns

__all__ = ["Column", "Options", "assemble", "guess_label"]

ONE_HOT_LIMIT = 100
"""More values than this in one column are names or numbers, not categories."""

_SHOWN = 5
_IDENTIFIERS = ("id", "index", "no", "nr", "row", "rownames")


@dataclass(frozen=True, eq=False)
class Column:
    """One column, as text and as numbers.

    Attributes
    ----------
    name : str
        Its name.
    cells : list of str, length n
        As written, without surrounding blanks.
    values : array, shape (n,)
        As numbers; NaN where missing or text.
    text : list of int
        Positions of cells that are neither numbers nor missing.
    """

    name: str
    cells: list[str]
    values: np.ndarray
    text: list[int]

    @property
    def missing(self) -> np.ndarray:
        """Positions of missing values."""
        if not self.text:
            return np.flatnonzero(np.isnan(self.values))
        return np.flatnonzero([is_missing(cell) for cell in self.cells])


@dataclass(frozen=True)
class Options:
    """What the user says about columns; see `mkldash.datasets.tables.read_csv`."""

    label: str | None = None
    positive: str | None = None
    missing: str = "error"
    one_hot: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    task: str = "binary"


def guess_label(names: Sequence[str]) -> str:
    """The column that looks like the label: by its name, else the last.

    Parameters
    ----------
    names : sequence of str
        Column names.

    Returns
    -------
    str
        One of them.
    """
    lowered = [name.lower() for name in names]
    for wanted in LABEL_NAMES:
        if wanted in lowered:
            return names[lowered.index(wanted)]
    return names[-1]


def assemble(
    columns: Sequence[Column], options: Options, name: str, notes: tuple[str, ...]
) -> Dataset:
    """Features and target out of columns.

    Parameters
    ----------
    columns : sequence of Column
        All columns of the table.
    options : Options
        What the user said.
    name : str
        Name of the data set.
    notes : tuple of str
        What was noted while reading.

    Returns
    -------
    Dataset
        Finite features and the target.

    Raises
    ------
    InputError
        Naming column, rows and remedy.
    """
    label, features, index_notes = _choose(columns, options, name)
    _check_text(features, options)
    features, label, missing_notes = _handle_missing([*features], label, options)
    names, arrays = _numbers(features, options)
    if options.task == "regression":
        y, classes = _regression_target(label), None
    else:
        y, classes = encode_labels(label.cells, options.positive, label.name)
    return Dataset(
        name=name,
        X=np.column_stack(arrays),
        y=y,
        feature_names=tuple(names),
        target_name=label.name,
        task=options.task,
        classes=classes,
        notes=(*notes, *index_notes, *missing_notes, *_identifier_notes(features)),
    )


def _choose(
    columns: Sequence[Column], options: Options, name: str
) -> tuple[Column, list[Column], list[str]]:
    """Label column, feature columns, and notes on columns left out."""
    if options.missing not in ("error", "drop", "mean"):
        raise InputError(f"missing is '{options.missing}', not one of error, drop, mean")
    if options.task not in ("binary", "regression"):
        raise InputError(f"task is '{options.task}', not binary or regression")
    if options.task == "regression" and options.positive is not None:
        raise InputError(
            f"--positive {options.positive}: a regression keeps the target's numbers and has no "
            "classes; leave it out"
        )
    known = {column.name: column for column in columns}
    for what, wanted in (
        ("--label", (options.label,) if options.label is not None else ()),
        ("--one-hot", options.one_hot),
        ("--exclude", options.exclude),
    ):
        for item in wanted:
            if item not in known:
                shown = ", ".join(list(known)[:20]) + (", ..." if len(known) > 20 else "")
                raise InputError(
                    f"{what}: no column is called '{item}'{suggest(item, known)}; "
                    f"'{name}' has: {shown}"
                )
    kept = [column for column in columns if column.name not in options.exclude]
    notes = []
    if options.exclude:
        notes.append(f"left out on request: {', '.join(options.exclude)}")
    if len(kept) > 1 and options.label != kept[0].name and _counts_rows(kept[0]):
        notes.append("the first column has no name and counts the rows: left out")
        kept = kept[1:]
    if not kept:
        raise InputError("every column is excluded: nothing is left")
    label = known[options.label or guess_label([column.name for column in kept])]
    for what, taken in (("--exclude", options.exclude), ("--one-hot", options.one_hot)):
        if label.name in taken:
            raise InputError(f"{what}: '{label.name}' is the label column; set --label COLUMN")
    if both := set(options.exclude) & set(options.one_hot):
        raise InputError(f"column '{min(both)}' is in --exclude and in --one-hot: choose one")
    features = [column for column in kept if column is not label]
    if not features and options.exclude:
        raise InputError(f"--exclude leaves no feature beside the label column '{label.name}'")
    if not features:
        raise InputError(
            f"'{name}' has one column only ('{label.name}'), a label and at least one feature "
            "are needed; if the columns were not told apart, set --separator"
        )
    return label, features, notes


def _counts_rows(column: Column) -> bool:
    """Whether this is the row index that spreadsheets and pandas write."""
    if column.name not in ("unnamed1", "Unnamed: 0") or column.text:
        return False
    counting = np.arange(len(column.values))
    start = column.values[0]
    return bool(start in (0.0, 1.0) and np.array_equal(column.values, counting + start))


def _rows(positions: Sequence[int] | np.ndarray) -> str:
    """Row numbers from 1, the first few of them."""
    shown = ", ".join(str(i + 1) for i in positions[:_SHOWN])
    return f"row{'s' * (len(positions) > 1)} {shown}" + ", ..." * (len(positions) > _SHOWN)


def _check_text(features: Sequence[Column], options: Options) -> None:
    """Text in a feature column is refused, with its values and the ways out."""
    wrong = [column for column in features if column.text and column.name not in options.one_hot]
    if not wrong:
        return
    column = wrong[0]
    words = sorted({column.cells[i] for i in column.text})
    shown = ", ".join(f"'{word}'" for word in words[:_SHOWN]) + ", ..." * (len(words) > _SHOWN)
    others = ""
    if len(wrong) > 1:
        names = ", ".join(f"'{item.name}'" for item in wrong[1 : 1 + _SHOWN])
        others = f"; also text: {names}" + ", ..." * (len(wrong) > 1 + _SHOWN)
    ways = f"leave it out with --exclude {column.name}"
    if len(column.text) * 2 < len(column.cells):
        found = f"holds {shown} among its numbers ({_rows(column.text)})"
        ways = f"correct the file ('?' stands for a missing value), or {ways}"
    else:
        found = f"holds text ({shown})"
    if len(words) <= ONE_HOT_LIMIT:
        ways = f"make a 0/1 column of each value with --one-hot {column.name}, or {ways}"
    raise InputError(f"column '{column.name}' {found}: {ways}{others}")


def _handle_missing(
    features: list[Column], label: Column, options: Options
) -> tuple[list[Column], Column, list[str]]:
    """Rows left out or means filled in, and what to say about it."""
    gaps = [(column, column.missing) for column in (*features, label)]
    gaps = [(column, positions) for column, positions in gaps if len(positions)]
    if not gaps:
        return features, label, []
    listed = ", ".join(
        f"{len(positions)} missing in {column.name} ({_rows(positions)})"
        for column, positions in gaps[:_SHOWN]
    ) + f" and in {len(gaps) - _SHOWN} more columns" * (len(gaps) > _SHOWN)
    if options.missing == "error":
        ways = "leave these rows out with --missing drop"
        if all(_has_mean(column, label, options) for column, _ in gaps):
            ways += ", or fill in the column's mean with --missing mean"
        raise InputError(f"missing values: {listed}; {ways}")
    if options.missing == "drop":
        keep = np.ones(len(label.cells), dtype=bool)
        for _, positions in gaps:
            keep[positions] = False
        if keep.sum() < 2:
            raise InputError(f"missing values: {listed}; --missing drop leaves {keep.sum()} rows")
        gone = np.flatnonzero(~keep)
        note = f"{len(gone)} row{'s' * (len(gone) > 1)} with missing values left out: {listed}"
        return [_take(c, keep) for c in features], _take(label, keep), [note]
    notes = []
    filled = {}
    for column, positions in gaps:
        if column.name in options.one_hot and not column.text:
            raise InputError(
                f"{len(positions)} missing in the --one-hot column '{column.name}' "
                f"({_rows(positions)}): a mean is no category, leave the rows out with "
                "--missing drop"
            )
        filled[column.name], note = _fill(column, positions, label)
        notes.append(note)
    return [filled.get(column.name, column) for column in features], label, notes


def _has_mean(column: Column, label: Column, options: Options) -> bool:
    """Whether gaps of a column can be filled in with its mean."""
    known = len(column.missing) < len(column.cells)
    return known and column is not label and not column.text and column.name not in options.one_hot


def _take(column: Column, keep: np.ndarray) -> Column:
    cells = [cell for cell, kept in zip(column.cells, keep, strict=True) if kept]
    text = set(column.text)
    places = np.flatnonzero(keep).tolist()
    return Column(
        column.name, cells, column.values[keep], [i for i, old in enumerate(places) if old in text]
    )


def _fill(column: Column, positions: np.ndarray, label: Column) -> tuple[Column, str]:
    if column is label:
        raise InputError(
            f"{len(positions)} missing in the label column '{label.name}' ({_rows(positions)}): "
            "a label cannot be filled in, leave the rows out with --missing drop"
        )
    if column.text:
        raise InputError(
            f"{len(positions)} missing in the text column '{column.name}' ({_rows(positions)}): "
            "it has no mean, leave the rows out with --missing drop"
        )
    if len(positions) == len(column.cells):
        raise InputError(
            f"column '{column.name}' holds no value at all: leave it out with "
            f"--exclude {column.name}"
        )
    values = column.values.copy()
    mean = float(np.nanmean(values))
    values[positions] = mean
    note = f"{len(positions)} missing in {column.name}: the column's mean {mean:.7g} filled in"
    return Column(column.name, column.cells, values, column.text), note


def _numbers(features: Sequence[Column], options: Options) -> tuple[list[str], list[np.ndarray]]:
    """Names and values of the feature columns, one-hot columns in their place."""
    names: list[str] = []
    arrays: list[np.ndarray] = []
    for column in features:
        if column.name in options.one_hot:
            for value, indicator in _indicators(column):
                names.append(f"{column.name}={value}")
                arrays.append(indicator)
            continue
        infinite = np.flatnonzero(np.isinf(column.values))
        if infinite.size:
            raise InputError(
                f"column '{column.name}' has {infinite.size} infinite value"
                f"{'s' * (infinite.size > 1)} ({_rows(infinite)}): remove the rows, or leave the "
                f"column out with --exclude {column.name}"
            )
        names.append(column.name)
        arrays.append(column.values)
    return names, arrays


def _indicators(column: Column) -> list[tuple[str, np.ndarray]]:
    """A 0/1 array of each value, sorted; equal numbers are one, as first written."""
    keys = column.cells if column.text else column.values.tolist()
    spelled: dict[str | float, str] = {}
    for key, cell in zip(keys, column.cells, strict=True):
        spelled.setdefault(key, cell)
    if len(spelled) > ONE_HOT_LIMIT:
        raise InputError(
            f"--one-hot {column.name}: it has {len(spelled)} different values, more than "
            f"{ONE_HOT_LIMIT}; leave it out with --exclude {column.name}"
        )
    wanted = sorted(spelled)
    return [(spelled[key], np.array([float(k == key) for k in keys])) for key in wanted]


def _regression_target(label: Column) -> np.ndarray:
    if label.text:
        raise InputError(
            f"the target column '{label.name}' holds text ('{label.cells[label.text[0]]}', "
            f"{_rows(label.text)}): regression needs numbers, choose another with --label COLUMN"
        )
    if np.isinf(label.values).any():
        positions = np.flatnonzero(np.isinf(label.values))
        raise InputError(
            f"the target column '{label.name}' is infinite in {_rows(positions)}: remove the rows, "
            "or choose another with --label COLUMN"
        )
    if constant_columns(label.values[:, None])[0]:
        raise InputError(
            f"the target column '{label.name}' is {label.cells[0]} in every row: there is nothing "
            "to learn, choose another with --label COLUMN"
        )
    return label.values.copy()


def _identifier_notes(features: Sequence[Column]) -> list[str]:
    """A hint for whole numbers that only tell rows apart."""
    return [
        f"column '{column.name}' looks like a row identifier, not a measurement: "
        f"leave it out with --exclude {column.name}"
        for column in features
        if column.name.lower() in _IDENTIFIERS
        and not column.text
        and len(np.unique(column.values)) == len(column.values)
    ]
