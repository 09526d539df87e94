"""A user's own table: CSV of any dialect, or a DataFrame, to a `Dataset`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mkldash.datasets._columns import Column, Options, assemble, guess_label
from mkldash.datasets._dialect import parse_table
from mkldash.datasets._numbers import detect_decimal, is_missing, parse_column
from mkldash.datasets._text import Source, decode, plain_name, read_bytes, size_text
from mkldash.datasets.base import Dataset
from mkldash.datasets.gram import GramData, read_gram
from mkldash.errors import InputError

if TYPE_CHECKING:
    import pandas

__all__ = [
    "UPLOAD_LIMIT_BYTES",
    "GramData",
    "TablePreview",
    "check_upload",
    "from_dataframe",
    "preview",
    "read_csv",
    "read_gram",
]

UPLOAD_LIMIT_BYTES = 10_000_000
"""Largest file that the apps take (10 MB); the command line has no limit."""


@dataclass(frozen=True)
class TablePreview:
    """How a table was read, to be shown before it is used.

    Attributes
    ----------
    name : str
        File name without its ending.
    encoding : str
        As Python calls it.
    separator, decimal : str
        One character each.
    header : bool
        Whether the first row held names.
    n_rows : int
        Rows of data.
    columns : tuple of str, length p
        Column names.
    types : tuple of str, length p
        ``"number"`` or ``"text"``.
    missing : tuple of int, length p
        Missing values in each column.
    rows : tuple of tuples of str
        The first five rows as written.
    label_guess : str
        The column that is taken as label unless told otherwise.
    label_values : tuple of str
        Distinct values of that column, at most 20, in order of appearance.
    """

    name: str
    encoding: str
    separator: str
    decimal: str
    header: bool
    n_rows: int
    columns: tuple[str, ...]
    types: tuple[str, ...]
    missing: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]
    label_guess: str
    label_values: tuple[str, ...]


@dataclass(frozen=True)
class _Table:
    """A parsed file: its columns and the dialect they were read in."""

    columns: list[Column]
    encoding: str
    separator: str
    decimal: str
    header: bool
    notes: tuple[str, ...]


def check_upload(name: str, size: int) -> None:
    """Refuse an upload that is larger than `UPLOAD_LIMIT_BYTES`.

    Parameters
    ----------
    name : str
        File name, for the message.
    size : int
        Bytes.

    Raises
    ------
    InputError
        With the size and the limit.
    """
    if size > UPLOAD_LIMIT_BYTES:
        raise InputError(
            f"'{name}' has {size_text(size)}, the limit for uploads is "
            f"{size_text(UPLOAD_LIMIT_BYTES)}: take fewer rows or columns, "
            "or the command line (mkldash solve FILE)"
        )


def read_csv(
    source: Source,
    *,
    name: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    label: str | None = None,
    positive: str | None = None,
    missing: str = "error",
    one_hot: Sequence[str] = (),
    exclude: Sequence[str] = (),
    task: str = "binary",
) -> Dataset:
    """A table from a text file; its dialect is detected and can be overridden.

    Understood: separators comma, semicolon, tab, bar and blanks; decimal point
    or comma; thousands separators; byte order marks, UTF-8 and Windows-1252;
    quoted cells, with line ends in them; a separator at the end of each row;
    files with and without a header.  Missing are ``?``, empty cells, NA, N/A,
    NaN and null.  Row numbers in messages count rows of data from 1.

    Parameters
    ----------
    source : path or bytes
        The file or its content.
    name : str, optional
        Name of the data set; by default the file's, without its ending.
    separator, decimal : str, optional
        One character each; ``\\t`` for a tab.
    header : bool, optional
        Whether the first row holds names.
    label : str, optional
        Label column; by default the first called label, target, class or y
        (in any case), else the last one.
    positive : str, optional
        The class that becomes +1, against all others.  By default there must
        be two classes, and the second in sorted order is +1.
    missing : str
        ``"error"``, ``"drop"`` (leave the rows out) or ``"mean"`` (fill in the
        mean of the column's values, all rows of the file together).
    one_hot : sequence of str
        Columns to be turned into one 0/1 column per value.
    exclude : sequence of str
        Columns to be left out.
    task : str
        ``"binary"``, or ``"regression"``: the label column is a target of real
        numbers, kept as they are; it must vary.

    Returns
    -------
    Dataset
        `notes` say what was left out or filled in.

    Raises
    ------
    InputError
        For a file that is no text table, rows of unequal length, text in a
        feature column, missing or infinite values, and labels that do not
        make two classes, or for a regression are no numbers or all the same.
        The message names the column and the remedy.
    """
    content, name = read_bytes(source, name)
    table = _parse(content, name, separator, decimal, header)
    options = Options(label, positive, missing, tuple(one_hot), tuple(exclude), task)
    return assemble(table.columns, options, name, table.notes)


def preview(
    source: Source,
    *,
    name: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
) -> TablePreview:
    """How `read_csv` would read a file, without asking anything of its columns.

    Parameters
    ----------
    source : path or bytes
        The file or its content.
    name : str, optional
        Name of the data set; by default the file's, without its ending.
    separator, decimal : str, optional
        As for `read_csv`.
    header : bool, optional
        As for `read_csv`.

    Returns
    -------
    TablePreview
        Dialect, columns and first rows.

    Raises
    ------
    InputError
        For a file that is no text table, or whose rows have unequal lengths.
    """
    content, name = read_bytes(source, name)
    table = _parse(content, name, separator, decimal, header)
    columns = table.columns
    guess = guess_label([column.name for column in columns])
    values = next(column.cells for column in columns if column.name == guess)
    return TablePreview(
        name=name,
        encoding=table.encoding,
        separator=table.separator,
        decimal=table.decimal,
        header=table.header,
        n_rows=len(values),
        columns=tuple(column.name for column in columns),
        types=tuple("text" if column.text else "number" for column in columns),
        missing=tuple(len(column.missing) for column in columns),
        rows=tuple(zip(*(column.cells[:5] for column in columns), strict=True)),
        label_guess=guess,
        label_values=tuple(dict.fromkeys(v for v in values if not is_missing(v)))[:20],
    )


def from_dataframe(
    frame: pandas.DataFrame,
    *,
    name: str = "table",
    label: str | None = None,
    positive: str | None = None,
    missing: str = "error",
    one_hot: Sequence[str] = (),
    exclude: Sequence[str] = (),
    task: str = "binary",
) -> Dataset:
    """A table from a pandas DataFrame, by the same rules as `read_csv`.

    Columns of dtype object, string, category and bool are read as text cell by
    cell, so that the same values give the same answer in every dtype.

    Parameters
    ----------
    frame : pandas.DataFrame, shape (n, p + 1)
        The table; its index is not used.
    name : str
        Name of the data set.
    label, positive, missing, one_hot, exclude, task
        As for `read_csv`.

    Returns
    -------
    Dataset
        `notes` say what was left out or filled in.

    Raises
    ------
    InputError
        As `read_csv`, for everything that concerns columns and labels.
    """
    names = [plain_name(str(item).strip()) for item in frame.columns]
    if repeated := [item for item in names if names.count(item) > 1]:
        raise InputError(f"the column name '{repeated[0]}' occurs more than once: rename one")
    if len(names) == 0 or len(frame) < 2:
        raise InputError(
            f"'{name}' has {len(frame)} rows and {len(names)} columns, "
            "at least 2 rows and 2 columns are needed"
        )
    columns = [_frame_column(item, frame.iloc[:, j]) for j, item in enumerate(names)]
    options = Options(label, positive, missing, tuple(one_hot), tuple(exclude), task)
    return assemble(columns, options, name, ())


def _frame_column(name: str, series: Any) -> Column:
    from pandas.api import types

    if types.is_numeric_dtype(series.dtype) and not types.is_bool_dtype(series.dtype):
        if types.is_complex_dtype(series.dtype):
            raise InputError(f"column '{name}' holds complex numbers: take real ones")
        values = np.array(series.to_numpy(dtype=float, na_value=np.nan))
        cells = [_spell(value) for value in values.tolist()]
        return Column(name, cells, values, [])
    absent = series.isna().to_numpy()
    cells = ["" if gone else str(v).strip() for v, gone in zip(series, absent, strict=True)]
    values, text, _ = parse_column(cells, ".")
    return Column(name, cells, values, text)


def _spell(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _odd_first_line(columns: Sequence[Sequence[str]]) -> bool:
    """Whether some column has few values and its first cell is none of them: a name, likely."""
    for cells in columns:
        rest = set(cells[1:])
        if 0 < len(rest) <= max(2, len(cells) // 4) and cells[0] not in rest:
            return True
    return False


def _parse(
    content: bytes, name: str, separator: str | None, decimal: str | None, header: bool | None
) -> _Table:
    if decimal not in (None, ".", ","):
        raise InputError(f"the decimal mark '{decimal}' is neither . nor ,")
    text, encoding = decode(content, name)
    raw = parse_table(text, name, separator, header)
    if decimal is None:
        decimal = detect_decimal(raw.names, raw.columns)
    columns, grouped = [], []
    for item, cells in zip(raw.names, raw.columns, strict=True):
        values, words, thousands = parse_column(cells, decimal)
        columns.append(Column(item, cells, values, words))
        if thousands:
            grouped.append(item)
    notes = []
    if encoding in ("cp1252", "latin-1"):
        notes.append("the file is not UTF-8: read as Windows-1252")
    if grouped:
        notes.append(f"thousands separators read in {', '.join(grouped)}")
    if header is None and not raw.header and _odd_first_line(raw.columns):
        notes.append("no names found in the first line: it is read as data (else say --header)")
    return _Table(columns, encoding, raw.separator, decimal, raw.header, tuple(notes))
