"""Shipped data sets: reads the cards of the data folder, and their tables."""

from __future__ import annotations

import difflib
import gzip
import hashlib
import io
import itertools
import operator
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from mkldash.datasets import synthetic
from mkldash.datasets.base import DataCard, Dataset, Mask
from mkldash.errors import InputError

__all__ = ["DataCard", "Dataset", "available", "data_folder", "find_card", "load", "suggest"]

_KNOWN = frozenset(item.name for item in fields(DataCard)) - {"name"}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


def data_folder() -> Path:
    """Folder with the cards and tables.

    Returns
    -------
    Path
        ``mkldash/_data`` in an installed wheel, else ``data`` beside the package.

    Raises
    ------
    InputError
        When neither is there.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_data", package.parent / "data"):
        if folder.is_dir():
            return folder
    raise InputError(
        "the folder of shipped data sets is missing from this installation: install mkldash again"
    )


def available(folder: Path | None = None) -> dict[str, DataCard]:
    """Cards of all shipped data sets; reads no table.

    Parameters
    ----------
    folder : Path, optional
        Where the cards are; the shipped data folder when left out.

    Returns
    -------
    dict of str to DataCard
        From name to card, sorted by name.

    Raises
    ------
    InputError
        For a card that cannot be read, naming it.
    """
    folder = data_folder() if folder is None else folder
    return {path.stem: _read_card(path) for path in sorted(folder.glob("*.toml"), key=_stem)}


def find_card(name: str, folder: Path | None = None) -> DataCard:
    """The card of one data set.

    Parameters
    ----------
    name : str
        Shipped name.
    folder : Path, optional
        Where the cards are; the shipped data folder when left out.

    Returns
    -------
    DataCard
        Its card.

    Raises
    ------
    InputError
        For an unknown name, with names that are close to it.
    """
    cards = available(folder)
    if name in cards:
        return cards[name]
    raise InputError(
        f"no data set is called '{name}'{suggest(name, cards)}; 'mkldash list datasets' names all"
    )


def suggest(name: str, known: Iterable[str]) -> str:
    """Hint " (did you mean ...?)" for a misspelt name, or an empty string.

    Parameters
    ----------
    name : str
        What was typed.
    known : iterable of str
        What there is.

    Returns
    -------
    str
        To be appended to a message.
    """
    lowered = {item.lower(): item for item in known}
    wanted = name.lower()
    close = [item for key, item in lowered.items() if wanted and key.startswith(wanted)]
    close += [lowered[key] for key in difflib.get_close_matches(wanted, lowered, n=3)]
    unique = list(dict.fromkeys(close))[:3]
    return f" (did you mean {' or '.join(unique)}?)" if unique else ""


def load(name: str, folder: Path | None = None) -> Dataset:
    """A shipped data set, its table checked against the card.

    Parameters
    ----------
    name : str
        Shipped name, see `available`.
    folder : Path, optional
        Where cards and tables are; the shipped data folder when left out.

    Returns
    -------
    Dataset
        Raw features, and the target as -1 and +1 (binary) or as it is.

    Raises
    ------
    InputError
        For an unknown name, a missing or altered table, or one that does not
        fit its card.
    """
    folder = data_folder() if folder is None else folder
    card = find_card(name, folder)
    if card.generator is None:
        X, y, features = _read_data(card, folder)
    else:
        X, y = getattr(synthetic, card.generator)(**card.parameters)
        features = tuple(f"x{i}" for i in range(1, X.shape[1] + 1))
    if X.shape != (card.rows, card.columns):
        raise InputError(
            f"data set '{name}': the card says {card.rows} rows and {card.columns} features, "
            f"its table gives {X.shape[0]} and {X.shape[1]}"
        )
    if strange := {name for product in card.true_products for name in product} - set(features):
        raise InputError(f"data set '{name}': true_products names {min(strange)!r}, no feature")
    return Dataset(
        name=name,
        X=X,
        y=y,
        feature_names=features,
        target_name=card.target,
        task=card.task,
        classes=card.classes,
        card=card,
    )


def _stem(path: Path) -> str:
    return path.stem


def _read_card(path: Path) -> DataCard:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        if unknown := sorted(set(values) - _KNOWN):
            raise ValueError(f"unknown fields {', '.join(unknown)}")
        for key in ("drop", "warnings", "classes"):
            if key in values:
                values[key] = tuple(values[key])
        for key in ("parameters", "defaults"):
            values[key] = MappingProxyType(values.get(key, {}))
        values["true_products"] = tuple(map(tuple, values.get("true_products", ())))
        if "mask" in values:
            values["mask"] = Mask(**values["mask"])
        card = DataCard(name=path.stem, **values)
        _check_card(card)
    except (ValueError, TypeError) as error:
        raise InputError(f"data card {path.name}: {error}") from error
    return card


def _check_card(card: DataCard) -> None:
    if card.task not in ("binary", "regression"):
        raise ValueError(f"task is '{card.task}', not binary or regression")
    if (card.task == "binary") != (card.classes is not None and len(card.classes) == 2):
        raise ValueError("a binary set has two classes, a regression set none")
    if (card.generator is None) == (card.table is None):
        raise ValueError("give either a table or a generator")
    if card.generator is not None and card.generator not in synthetic.__all__:
        raise ValueError(f"no generator is called '{card.generator}'")
    if card.table is not None and card.sha256 is None:
        raise ValueError("sha256 of the table is missing")


def _read_data(card: DataCard, folder: Path) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Features, target and feature names of the card's table."""
    assert card.table is not None
    assert card.sha256 is not None
    names, rest = _open(folder / card.table, card.sha256)
    if missing := [c for c in (card.target, *card.drop) if c not in names]:
        raise InputError(f"data set '{card.name}': no column '{missing[0]}' in {card.table}")
    others = [i for i, column in enumerate(names) if column not in (card.target, *card.drop)]
    if card.mask is not None:
        columns, marks = _open(folder / card.mask.table, card.mask.sha256)
        position = columns.index(card.mask.column)
        member = [mark.split(",")[position] == "1" for mark in marks.splitlines()]
        rest = "\n".join(itertools.compress(rest.splitlines(), member))
    y = _target(card, names.index(card.target), rest)
    X = np.loadtxt(io.StringIO(rest), delimiter=",", usecols=others, ndmin=2)
    return np.ascontiguousarray(X), y, tuple(names[i] for i in others)


def _open(path: Path, sha256: str) -> tuple[list[str], str]:
    """Header and remaining text of a table whose checksum is right."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"the table {path.name} is missing from the data folder") from None
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise InputError(
            f"the table {path.name} has been altered: its sha256 is not the one on its card"
        )
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    header, _, rest = text.partition("\n")
    return header.strip().split(","), rest


def _target(card: DataCard, position: int, text: str) -> np.ndarray:
    """The target of each row."""
    raw = np.loadtxt(io.StringIO(text), delimiter=",", usecols=position, dtype=str)
    if card.rule is None:
        y = raw.astype(float)
        if card.task == "binary" and not np.isin(y, (-1.0, 1.0)).all():
            raise InputError(f"data set '{card.name}': targets other than -1 and 1, and no rule")
        return y
    column, comparison, value = _parse_rule(card)
    if column != card.target:
        raise InputError(f"data set '{card.name}': the rule speaks of '{column}', not the target")
    try:
        met = _COMPARISONS[comparison](raw.astype(float), float(value))
    except ValueError:
        met = _COMPARISONS[comparison](raw, value)
    return np.where(met, 1.0, -1.0)


def _parse_rule(card: DataCard) -> tuple[str, str, str]:
    assert card.rule is not None
    for comparison in _COMPARISONS:
        column, found, value = card.rule.partition(f" {comparison} ")
        if found:
            return column.strip(), comparison, value.strip()
    raise InputError(f"data set '{card.name}': the rule '{card.rule}' is not 'COLUMN >= VALUE'")
