"""How a text table is written: separator, header, and its rows of cells."""

from __future__ import annotations

import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from mkldash.datasets._numbers import is_missing, looks_numeric
from mkldash.datasets._text import plain_name
from mkldash.errors import InputError

__all__ = ["LABEL_NAMES", "RawTable", "parse_table"]

LABEL_NAMES = ("label", "target", "class", "y")
"""Names (in lower case) that mark a label column, in order of preference."""

_CANDIDATES = ("\t", ";", "|", ",", " ")
_SPOKEN = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}
_SAMPLE = 200


@dataclass(frozen=True)
class RawTable:
    """Cells of a table as text, without surrounding blanks.

    Attributes
    ----------
    separator : str
        One character.
    header : bool
        Whether the first row held the names.
    names : list of str, length p
        Column names; ``col1``, ``col2``, ... without a header, and ``unnamed1``
        for a first column without a name below a header.
    columns : list of p lists of str
        Cells, column by column.
    """

    separator: str
    header: bool
    names: list[str]
    columns: list[list[str]]


def parse_table(
    text: str, name: str, separator: str | None = None, header: bool | None = None
) -> RawTable:
    """Rows and columns of a text table.

    Parameters
    ----------
    text : str
        The whole file.
    name : str
        For messages.
    separator : str, optional
        One character, ``\\t`` or ``tab``; detected when left out.
    header : bool, optional
        Whether the first row holds names; detected when left out.

    Returns
    -------
    RawTable
        Cells as text.

    Raises
    ------
    InputError
        For rows of unequal length, a quote that is never closed, repeated
        column names, or fewer than two rows.
    """
    told, text = _excel_hint(text)
    separator = _one_character(separator or told) or _detect_separator(text)
    try:
        records = list(_records(text, separator))
    except csv.Error as error:
        reason = "a quotation mark is never closed" if "end of data" in str(error) else error
        raise InputError(
            f"'{name}' is broken as a table with separator {_spell(separator)}: {reason}"
        ) from error
    if header is None:
        header = _detect_header(records)
    records = _rectangular(records, header, separator)
    first = records.pop(0) if header else []
    if len(records) < 2:
        raise InputError(
            f"'{name}' has {len(records)} row{'s' * (len(records) != 1)} below its header, "
            "at least 2 are needed (if the first row is data, say --no-header)"
            if header
            else f"'{name}' has only one row, at least 2 are needed"
        )
    columns = [list(cells) for cells in zip(*records, strict=True)]
    names = [plain_name(item) for item in first] or [f"col{i}" for i in range(1, len(columns) + 1)]
    if not header and len(columns) > 1 and not any(columns[-1]):
        # A separator at the end of every row makes an empty last column.
        names, columns = names[:-1], columns[:-1]
    names = [item or f"unnamed{i}" for i, item in enumerate(names, start=1)]
    repeated = [item for item, count in Counter(names).items() if count > 1]
    if repeated:
        places = [str(i) for i, item in enumerate(names, start=1) if item == repeated[0]]
        raise InputError(
            f"the column name '{repeated[0]}' occurs {len(places)} times "
            f"(columns {', '.join(places)}): rename all but one"
        )
    return RawTable(separator, header, names, columns)


def _records(text: str, separator: str) -> Iterator[list[str]]:
    """Rows of cells without surrounding blanks; blank lines are skipped."""
    if separator == " ":
        text = "\n".join(line.strip() for line in text.splitlines())
    rows = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        skipinitialspace=separator != "\t",
        strict=True,
    )
    for row in rows:
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield cells


def _excel_hint(text: str) -> tuple[str | None, str]:
    """Separator from Excel's first line ``sep=;``, and the text below it."""
    first, _, rest = text.partition("\n")
    first = first.strip().strip('"')
    if first.lower().startswith("sep=") and len(first) == 5:
        return first[-1], rest
    return None, text


def _one_character(separator: str | None) -> str | None:
    if separator is None:
        return None
    separator = _SPOKEN.get(separator.lower(), separator)
    if len(separator) != 1 or separator in '"\r\n':
        raise InputError(
            f"the separator '{separator}' is not one character such as , ; | or \\t (a tab)"
        )
    return separator


def _spell(separator: str) -> str:
    return {"\t": "tab", " ": "space"}.get(separator, f"'{separator}'")


def _detect_separator(text: str) -> str:
    scores = {candidate: _score(text, candidate) for candidate in _CANDIDATES}
    best = max(_CANDIDATES, key=lambda candidate: scores[candidate])
    return best if scores[best] > 0 else ","


def _score(text: str, separator: str) -> float:
    """How well the first rows make a table: equal lengths, numbers, whole cells."""
    try:
        rows = list(itertools.islice(_records(text, separator), _SAMPLE))
    except csv.Error:
        return 0.0
    width, count = Counter(map(len, rows)).most_common(1)[0]
    if width < 2:
        return 0.0
    cells = [cell for row in rows for cell in row if not is_missing(cell)]
    others = set(_CANDIDATES) - {separator, " "}
    numbers = torn = 0
    for cell in cells:
        # A blank inside may group thousands, or be the separator that was not tried.
        if looks_numeric(cell) and " " not in cell:
            numbers += 1
        elif not others.isdisjoint(cell):
            torn += 1
    score = count / len(rows) * (1.0 + (numbers - torn) / max(len(cells), 1))
    return score * 0.9 if separator == " " else score


def _detect_header(records: list[list[str]]) -> bool:
    """Whether the first row differs in kind from the rows below it."""
    if len(records) < 2:
        return not any(looks_numeric(cell) for cell in records[0])
    first, rest = records[0], records[1 : 1 + _SAMPLE]
    if any(cell.lower() in LABEL_NAMES for cell in first):
        return True
    names = values = words = 0
    for j, cell in enumerate(first):
        below = [row[j] for row in rest if j < len(row) and not is_missing(row[j])]
        if is_missing(cell) or not below:
            continue
        if sum(map(looks_numeric, below)) * 2 > len(below):
            values += looks_numeric(cell)
            names += not looks_numeric(cell)
        elif cell in below:
            words -= 1
        elif len(set(below)) < len(below):
            words += 1
    # What stands above numbers decides; words above words only when nothing does.
    return names >= values if names or values else words > 0


def _rectangular(records: list[list[str]], header: bool, separator: str) -> list[list[str]]:
    """The rows, surplus empty cells at their ends cut off, or a refusal."""
    width = Counter(map(len, records[header:] or records)).most_common(1)[0][0]
    if header:
        named = len(records[0]) - _trailing_empty(records[0])
        if named < width and not any(any(row[named:]) for row in records):
            width = named
    wrong = []
    for i, row in enumerate(records):
        if len(row) > width and not any(row[width:]):
            del row[width:]
        if len(row) != width:
            what = "the header" if header and i == 0 else f"row {i + 1 - header}"
            wrong.append(f"{what} has {len(row)}")
    if wrong:
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise InputError(
            f"rows of unequal length: most have {width} cells, {', '.join(wrong[:3])}{more} "
            f"(separator {_spell(separator)}; another one is set with --separator)"
        )
    return records


def _trailing_empty(row: list[str]) -> int:
    return next((i for i, cell in enumerate(reversed(row)) if cell), len(row))
