"""Names of kernels and numbers, short enough for an axis and exact enough to tell apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import groupby

__all__ = [
    "LONGEST_NAME", "apart", "count", "cut", "cut_apart", "feature", "number", "percent",
    "product", "short", "word_name",
]  # fmt: skip

#: Characters of a name on an axis; the hover text has all of it.
LONGEST_NAME = 16


def short(label: str) -> str:
    """``gaussian 0.5`` to ``G 0.5``; the axis label says what the letter is."""
    word, _, rest = label.partition(" ")
    letters = {"gaussian": "G", "polynomial": "P", "linear": "L"}
    if word not in letters:
        return label if len(label) <= LONGEST_NAME else label[: LONGEST_NAME - 1] + "…"
    return f"{letters[word]} {rest}".strip()


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 3) -> str:
    """``1000``, ``0.0316``, ``10⁷`` or ``3.16·10⁻⁶``: no "1e+03"."""
    text = f"{value:.{digits - 1}e}"
    if not math.isfinite(value):
        return "∞" if value > 0 else f"{value}"
    head, _, power = text.partition("e")
    if value == 0 or -4 <= int(power) < 6:
        plain = f"{float(text):.{max(0, digits - 1 - int(power))}f}"
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    head = head.rstrip("0").rstrip(".") if "." in head else head
    times = "" if head == "1" else f"{head}·"
    return f"{times}10{str(int(power)).translate(_RAISED)}"


def count(n: int) -> str:
    """``8,421``, or ``2.6 · 10¹⁸`` where the digits would not be read."""
    if n < 10**12:
        return f"{n:,}"
    head, _, power = f"{float(n):.1e}".partition("e")
    return f"{head} · 10{str(int(power)).translate(_RAISED)}"


def apart(low: float, high: float) -> tuple[str, str]:
    """Two numbers with four decimals, or as many (up to ten digits in all) as tell them apart."""
    for places in range(4, 11):
        texts = f"{low:,.{places}f}", f"{high:,.{places}f}"
        digits = sum(c.isdigit() for c in max(texts, key=len).lstrip("-0.,"))
        if texts[0] != texts[1] or low == high or digits >= 10:
            break
    return texts


def percent(share: float) -> str:
    """``62 %``, ``3.4 %`` or ``<0.1 %``."""
    value = 100 * share
    if not math.isfinite(value):
        return "?"
    if value >= 9.95 or value == 0:
        return f"{value:.0f} %"
    return f"{value:.1f} %" if value >= 0.095 else "<0.1 %"


def cut(name: str, longest: int = LONGEST_NAME) -> str:
    """A name of at most so many characters."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def cut_apart(names: Sequence[str], longest: int = LONGEST_NAME) -> list[str]:
    """`cut`, but names that it would make equal are cut in the middle."""
    ends = [cut(name, longest) for name in names]
    twins = {end for end, times in Counter(ends).items() if times > 1}
    return [
        f"{name[: longest - 6]}…{name[-5:]}" if end in twins and len(name) > longest else end
        for name, end in zip(names, ends, strict=True)
    ]


def feature(i: int, features: Sequence[str]) -> str:
    """Name of base feature `i`; ``x1`` and so on where it has none."""
    return features[i] if 0 <= i < len(features) else f"x{i + 1}"


def product(key: Hashable, features: Sequence[str], longest: int = 0) -> str:
    """``x2 · x5``, ``age² · sex``, or ``offset`` for the empty product.

    Parameters
    ----------
    key : tuple of int
        Feature numbers; neighbors that are equal become a power, so that words
        in another order keep names of their own.  Anything else is named by itself.
    features : sequence of str
    longest : int
        Characters of each factor; 0 for all.
    """
    if not isinstance(key, Iterable) or isinstance(key, str):
        return str(key)
    factors = []
    for i, run in groupby(key):
        name = feature(int(i), features)
        times = len(list(run))
        name = cut(name, longest) if longest else name
        factors.append(name if times == 1 else f"{name}{str(times).translate(_RAISED)}")
    return " · ".join(factors) or "offset"


#: Characters of a product in a line of words.
_LONGEST_WORD = 48


def word_name(word: Hashable, features: Sequence[str]) -> str:
    """`product`, short enough for the key of a picture."""
    return cut(product(word, features, longest=LONGEST_NAME), _LONGEST_WORD)
