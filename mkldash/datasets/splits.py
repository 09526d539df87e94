"""Training and test rows: seeded and stratified by class, or listed row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mkldash.datasets.base import Dataset
from mkldash.datasets.cards import suggest
from mkldash.errors import InputError
from mkldash.kernels.normalization import constant_columns

__all__ = ["ROW_LISTS", "Split", "ThreeWaySplit", "read_rows", "row_list", "split", "three_way"]


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers of a data set, from 0.

    Attributes
    ----------
    train, test : int array
        Training and test rows; together every row once, read-only.
    """

    train: np.ndarray
    test: np.ndarray

    def __post_init__(self) -> None:
        self.train.setflags(write=False)
        self.test.setflags(write=False)


@dataclass(frozen=True, eq=False)
class ThreeWaySplit:
    """Row numbers for learning, for choosing between models, and for judging the one chosen.

    Attributes
    ----------
    train, validation, test : int array
        Together every row once, each in ascending order, read-only.
    """

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray

    def __post_init__(self) -> None:
        for rows in (self.train, self.validation, self.test):
            rows.setflags(write=False)


#: Longer row numbers do not fit into 64 bits, and no table has so many rows.
_MOST_DIGITS = 18


def _wdbc_math8() -> np.ndarray:
    return np.random.default_rng(0).permutation(569)[:341]


ROW_LISTS: dict[str, Callable[[], np.ndarray]] = {"wdbc-math8": _wdbc_math8}
"""Shipped lists of training rows, by name."""


def split(
    dataset: Dataset,
    train_fraction: float = 0.6,
    seed: int = 0,
    rows: Sequence[int] | np.ndarray | None = None,
) -> Split:
    """Training and test rows of a data set.

    The number of training rows is ``train_fraction * n`` rounded to the
    nearest, halves up (0.6 of 569 is 341).  For two classes it is shared out in
    proportion, the seats that rounding leaves go to the largest remainders, and
    each class gets at least one row.  For a regression all rows are drawn alike.
    Both lists are in ascending order.

    Parameters
    ----------
    dataset : Dataset
        Its classes are the strata; a regression set has none.
    train_fraction : float
        In (0, 1]; 1 trains on every row and leaves the test rows empty.
    seed : int
        Seed of ``numpy.random.default_rng``.
    rows : sequence of int, optional
        Training rows from 0, kept in this order; fraction and seed are then
        not used, and all other rows are test rows.

    Returns
    -------
    Split
        Row numbers.

    Raises
    ------
    InputError
        For a fraction outside (0, 1], fewer than two training rows, rows that
        do not exist or repeat, a training part without one of the classes, or
        one whose regression target is constant.
    """
    if rows is not None:
        train = _checked(rows, dataset.n_rows)
    else:
        train = _drawn(dataset, train_fraction, seed)
    if dataset.task == "binary":
        _check_classes(dataset, train)
    else:
        _check_target(dataset, train)
    test = np.setdiff1d(np.arange(dataset.n_rows), train)
    return Split(train=train, test=test)


def three_way(
    n_rows: int, seed: int, fractions: Sequence[float] = (0.6, 0.2, 0.2)
) -> ThreeWaySplit:
    """Training, validation and test rows, drawn at random.

    The first two sizes are their fractions of the rows, rounded to the nearest,
    halves up; the test rows are the rest.  With the same seed and fraction the
    training rows are those of `split` for a regression set.

    Parameters
    ----------
    n_rows : int
        Rows there are.
    seed : int
        Seed of ``numpy.random.default_rng``.
    fractions : sequence of three float
        Of training, validation and test; above 0, together 1.

    Returns
    -------
    ThreeWaySplit
        Row numbers from 0.

    Raises
    ------
    InputError
        For other fractions, and for rows too few to give two for training and
        one for each of the others.
    """
    shares = np.array(fractions, dtype=np.float64)
    if shares.shape != (3,) or not (shares > 0.0).all() or abs(shares.sum() - 1.0) > 1e-9:
        raise InputError(
            f"fractions are three numbers above 0 that add up to 1, such as (0.6, 0.2, 0.2), "
            f"not {tuple(np.atleast_1d(shares).tolist())}"
        )
    train, validation = (int(np.floor(share * n_rows + 0.5)) for share in shares[:2])
    test = n_rows - train - validation
    if train < 2 or validation < 1 or test < 1:
        raise InputError(
            f"{n_rows} rows give {train} for training, {validation} for validation and "
            f"{max(test, 0)} for the test; at least 2, 1 and 1 are needed: take more rows or "
            "other fractions"
        )
    order = np.random.default_rng(seed).permutation(n_rows)
    parts = np.split(order, [train, train + validation])
    return ThreeWaySplit(*(np.sort(part) for part in parts))


def row_list(name: str) -> np.ndarray:
    """A shipped list of training rows.

    Parameters
    ----------
    name : str
        Such as ``wdbc-math8``: the 341 rows of WDBC that the documented exact
        values belong to.

    Returns
    -------
    int array
        Row numbers from 0.

    Raises
    ------
    InputError
        For an unknown name.
    """
    if name not in ROW_LISTS:
        raise InputError(
            f"no list of rows is called '{name}'{suggest(name, ROW_LISTS)}; "
            f"shipped: {', '.join(ROW_LISTS)}"
        )
    return ROW_LISTS[name]()


def read_rows(source: str | Path) -> np.ndarray:
    """Training rows from a shipped list's name, or from a file.

    Parameters
    ----------
    source : str or Path
        Name of a shipped list, else a text file of row numbers from 0, one a
        line; blank lines are skipped.

    Returns
    -------
    int array
        Row numbers as written.

    Raises
    ------
    InputError
        When there is no such list or file, or a line is no whole number,
        naming it.
    """
    if str(source) in ROW_LISTS:
        return row_list(str(source))
    path = Path(source)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"rows '{source}': neither a shipped list ({', '.join(ROW_LISTS)}) "
            "nor a text file that can be read"
        ) from error
    rows = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not (text.isascii() and text.isdigit()):
            raise InputError(
                f"{path.name}, line {number}: '{text}' is no row number; "
                "write one whole number from 0 a line"
            )
        digits = text.lstrip("0")
        if len(digits) > _MOST_DIGITS:
            raise InputError(
                f"{path.name}, line {number}: training row {digits[:_MOST_DIGITS]}... "
                f"({len(digits)} digits) does not exist"
            )
        if text:
            rows.append(int(digits or "0"))
    return np.array(rows, dtype=np.intp)


def _checked(rows: Sequence[int] | np.ndarray, n_rows: int) -> np.ndarray:
    train = np.array(rows)
    if train.size == 0:
        raise InputError("the list of training rows is empty")
    if train.ndim != 1 or train.dtype.kind not in "iu":
        raise InputError("training rows are whole numbers from 0 in one list")
    outside = train[(train < 0) | (train >= n_rows)]
    if outside.size:
        raise InputError(
            f"training row {outside[0]} does not exist: the data have rows 0 to {n_rows - 1}"
        )
    values, counts = np.unique(train, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"training row {values[counts > 1][0]} is listed more than once")
    return train.astype(np.intp)


def _drawn(dataset: Dataset, train_fraction: float, seed: int) -> np.ndarray:
    if not 0.0 < train_fraction <= 1.0:
        raise InputError(f"train fraction {train_fraction:g} is outside (0, 1]: 0.6 is usual")
    n = dataset.n_rows
    size = int(np.floor(train_fraction * n + 0.5))
    if size < 2:
        raise InputError(
            f"train fraction {train_fraction:g} leaves {size} of {n} rows for training, "
            "at least 2 are needed: take a larger fraction"
        )
    rng = np.random.default_rng(seed)
    if dataset.task != "binary":
        return np.sort(rng.permutation(n)[:size])
    strata = [np.flatnonzero(dataset.y == sign) for sign in (-1.0, 1.0)]
    negatives = _seats(size, len(strata[0]), len(strata[1]))
    drawn = [
        rng.permutation(stratum)[:seats]
        for stratum, seats in zip(strata, (negatives, size - negatives), strict=True)
    ]
    return np.sort(np.concatenate(drawn))


def _seats(size: int, negatives: int, positives: int) -> int:
    """Training rows for the negative class out of `size`."""
    seats = int(np.floor(size * negatives / (negatives + positives) + 0.5))
    least = max(min(negatives, 1), size - positives)
    most = min(negatives, size - min(positives, 1))
    return min(max(seats, least), most)


def _check_classes(dataset: Dataset, train: np.ndarray) -> None:
    present = np.unique(dataset.y[train])
    if len(present) == 1 and dataset.classes is not None:
        label = dataset.classes[int(present[0] > 0)]
        raise InputError(
            f"the training rows hold only class '{label}', two needed: "
            "take a larger train fraction or other rows"
        )


def _check_target(dataset: Dataset, train: np.ndarray) -> None:
    if len(train) < 2:
        raise InputError(
            f"{len(train)} training row, at least 2 are needed for the target "
            f"'{dataset.target_name}': take more rows"
        )
    values = dataset.y[train]
    if constant_columns(values[:, None])[0]:
        raise InputError(
            f"the target column '{dataset.target_name}' is {values[0]:g} in every training row: "
            "there is nothing to learn, take a larger train fraction, other rows or another target"
        )
