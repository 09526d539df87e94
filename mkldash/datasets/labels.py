"""Labels of any coding as -1 and +1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from mkldash.datasets.cards import suggest
from mkldash.errors import InputError

__all__ = ["encode_labels"]

_SHOWN = 10
_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)


def encode_labels(
    labels: Sequence[object] | np.ndarray, positive: str | None = None, column: str = ""
) -> tuple[np.ndarray, tuple[str, str]]:
    """Two classes as -1 and +1.

    Classes are sorted, as numbers when all of them are plain decimal numbers (so
    2 comes before 10, and 1 and 1.0 are one class; values are compared exactly),
    else as text; the second is +1.

    Parameters
    ----------
    labels : sequence, length n
        Text, numbers or booleans, none of them missing.
    positive : str, optional
        The class that becomes +1; all others together become -1.
    column : str
        Name of the label column, for messages.

    Returns
    -------
    y : array, shape (n,)
        -1.0 and +1.0.
    classes : pair of str
        Labels of -1 and +1, such as ``("no", "yes")``, or
        ``("not b", "b")`` when more than one class makes -1.

    Raises
    ------
    InputError
        For one class, for more than two without `positive`, and for a
        `positive` that does not occur.
    """
    where = f"the label column '{column}'" if column else "the labels"
    values = [_spell(label) for label in labels]
    keys = _keys(values)
    first: dict[object, str] = {}
    for key, value in zip(keys, values, strict=True):
        first.setdefault(key, value)
    order = sorted(first)  # type: ignore[type-var]
    names = [first[key] for key in order]
    if len(order) < 2:
        found = f"only class '{names[0]}' found" if names else "no class found"
        raise InputError(f"{found}, two needed ({where})")
    if positive is None:
        if len(order) > 2:
            shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
            ways = "choose the one that stands against the rest with --positive LABEL"
            ways += ", or another column with --label COLUMN" if column else ""
            if column and len(names) > _SHOWN and isinstance(order[0], Decimal):
                ways += "; to predict the number itself, take --problem products"
            raise InputError(
                f"{where} {'holds' if column else 'hold'} {len(names)} classes ({shown}), two "
                f"needed: {ways}"
            )
        chosen = order[1]
    else:
        wanted = _keys([*values, str(positive).strip()])[-1]
        if wanted not in first:
            shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
            raise InputError(
                f"no class is called '{positive}'{suggest(str(positive), names)}; "
                f"{where} {'holds' if column else 'hold'}: {shown}"
            )
        chosen = wanted
    y = np.array([1.0 if key == chosen else -1.0 for key in keys])
    others = [name for key, name in zip(order, names, strict=True) if key != chosen]
    negative = others[0] if len(others) == 1 else f"not {first[chosen]}"
    return y, (negative, first[chosen])


def _spell(label: object) -> str:
    """A label as text: 1.0 of a float column is the class 1."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    if isinstance(label, bytes):
        return label.decode("utf-8", "replace")
    return str(label).strip()


def _keys(values: list[str]) -> list[object]:
    """What tells classes apart and sorts them: numbers if all are, else text."""
    distinct = dict.fromkeys(values)
    if not all(map(_PLAIN.fullmatch, distinct)):
        return list(values)
    # Exact: as floats, 2^53 and 2^53 + 1 would be one class.
    numbers = {value: Decimal(value) for value in distinct}
    return [numbers[value] for value in values]
