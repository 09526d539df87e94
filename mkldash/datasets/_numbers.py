"""Cells of a text table as numbers: decimal marks, thousands, missing values."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mkldash.errors import InputError

__all__ = ["MISSING", "detect_decimal", "is_missing", "looks_numeric", "parse_column"]

MISSING = frozenset({"", "?", "na", "n/a", "#n/a", "nan", "null"})
"""Cells (in lower case) that stand for a missing value."""

_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_EITHER = re.compile(
    rf"[+-]?(?:\d+(?:[.,]\d+)*[.,]?|[.,]\d+|\d{{1,3}}(?:['’ \u00a0\u202f]\d{{3}})+(?:[.,]\d*)?)"
    rf"{_EXPONENT}"
)
_PLAIN = {
    mark: re.compile(rf"[+-]?(?:\d+(?:{re.escape(mark)}\d*)?|{re.escape(mark)}\d+){_EXPONENT}")
    for mark in ".,"
}
# The same grouping mark throughout, groups of three, no leading zero.
_GROUPED = {
    mark: re.compile(
        rf"[+-]?[1-9]\d{{0,2}}(?:([{other}'’ \u00a0\u202f])\d{{3}})(?:\1\d{{3}})*"
        rf"(?:{re.escape(mark)}\d*)?{_EXPONENT}"
    )
    for mark, other in ((".", ","), (",", "."))
}
_ONE_GROUP = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
_SAMPLE = 200
_GROUPS_OF_DOTS = re.compile(r"\d\.\d{3}\.\d{3}")


class _Evidence(NamedTuple):
    """A cell that speaks for a decimal mark, and where it is."""

    column: str
    row: int
    cell: str

    def __str__(self) -> str:
        return f"'{self.cell}' (column '{self.column}', row {self.row})"


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value (``?``, empty, NA, NaN, ...).

    Parameters
    ----------
    cell : str
        Without surrounding blanks.

    Returns
    -------
    bool
        True for a missing value.
    """
    return cell.lower() in MISSING


def looks_numeric(cell: str) -> bool:
    """Whether a cell is a number under either decimal mark.

    Parameters
    ----------
    cell : str
        Without surrounding blanks.

    Returns
    -------
    bool
        True for a number; infinity counts, a missing value does not.
    """
    return bool(_EITHER.fullmatch(cell) or _INFINITE.fullmatch(cell))


def parse_column(cells: Sequence[str], decimal: str) -> tuple[np.ndarray, list[int], bool]:
    """Numbers of one column.

    Parameters
    ----------
    cells : sequence of str, length n
        Without surrounding blanks.
    decimal : str
        ``"."`` or ``","``.

    Returns
    -------
    values : array, shape (n,)
        NaN where the value is missing or no number.
    text : list of int
        Positions that hold something else than a number or a missing value.
    grouped : bool
        Whether thousands separators were read.
    """
    joined = "\n".join(cells)
    if "_" not in joined and (decimal == "." or "." not in joined):
        plain = cells if decimal == "." else joined.replace(",", ".").split("\n")
        try:
            return np.array([float(cell) for cell in plain]), [], False
        except ValueError:
            pass  # Missing values, thousands separators or text: cell by cell.
    values = np.empty(len(cells))
    text: list[int] = []
    grouped = False
    for i, cell in enumerate(cells):
        if cell.lower() in MISSING:
            values[i] = math.nan
        elif _PLAIN[decimal].fullmatch(cell):
            values[i] = float(cell.replace(",", "."))
        elif _GROUPED[decimal].fullmatch(cell):
            whole, mark, rest = cell.partition(decimal)
            values[i] = float(re.sub(r"[^\d+-]", "", whole) + ("." + rest if mark else ""))
            grouped = True
        elif _INFINITE.fullmatch(cell):
            values[i] = float(cell)
        else:
            values[i] = math.nan
            text.append(i)
    return values, text, grouped


def detect_decimal(names: Sequence[str], columns: Sequence[Sequence[str]]) -> str:
    """The decimal mark of a table.

    Parameters
    ----------
    names : sequence of str, length p
        Column names, for messages.
    columns : sequence of p sequences of str
        Cells; columns that are mostly text are not asked.

    Returns
    -------
    str
        ``"."`` or ``","``.

    Raises
    ------
    InputError
        When cells contradict each other, or when every comma might be a
        decimal comma or a thousands separator alike.
    """
    certain: dict[str, _Evidence] = {}
    doubtful: dict[str, _Evidence] = {}
    joined = ["\n".join(cells) for cells in columns]
    if not any("," in text or _GROUPS_OF_DOTS.search(text) for text in joined):
        return "."
    for name, cells in zip(names, columns, strict=True):
        marked = [(i, cell) for i, cell in enumerate(cells) if "," in cell or "." in cell]
        sample = marked[:_SAMPLE]
        if sum(looks_numeric(cell) for _, cell in sample) * 2 < len(sample):
            continue
        for i, cell in marked:
            if _still_open(cell, certain):
                mark, sure = _speaks_for(cell)
                if mark:
                    (certain if sure else doubtful).setdefault(mark, _Evidence(name, i + 1, cell))
    if len(certain) == 2:
        raise InputError(
            f"two decimal marks in one table: {certain[',']} has a decimal comma, "
            f"{certain['.']} a decimal point; make them alike"
        )
    if certain:
        return next(iter(certain))
    if "," in doubtful:
        raise InputError(
            f"{doubtful[',']} may have a decimal comma or a thousands separator: "
            "say which with --decimal , or --decimal ."
        )
    return "."


def _still_open(cell: str, certain: dict[str, _Evidence]) -> bool:
    """Whether a cell could show a mark that no other cell has shown for certain."""
    return any(
        mark not in certain and (mark in cell or cell.count(other) > 1)
        for mark, other in ((",", "."), (".", ","))
    )


def _speaks_for(cell: str) -> tuple[str, bool]:
    """The decimal mark that a cell shows, and whether that is certain."""
    if _ONE_GROUP.fullmatch(cell):
        return ("," if "," in cell else "."), False
    for mark, other in ((".", ","), (",", ".")):
        if _GROUPED[mark].fullmatch(cell) and other in cell:
            return mark, True
        if mark in cell and (_PLAIN[mark].fullmatch(cell) or _GROUPED[mark].fullmatch(cell)):
            return mark, True
    return "", False
