"""Sentences that come from the library, in the words of the page."""

from __future__ import annotations

import re

__all__ = ["for_page"]

#: What the command line calls something, and what it is called on the page.
_SAID = (
    (r"`?--positive(?: LABEL)?`?", "“Class that counts as +1”"),
    (r"`?--problem elastic-net`?", "the app “Elastic-net MKL”"),
    (r"`?--problem neighborhood`?", "the app “Optimal neighborhood kernel”"),
    (r"`?--problem products`?", "the app “Randomized mirror descent”"),
    (r"`?--problem`?", "another app"),
    (r"`?--degree`?", "“D, most factors in a product”"),
    (r"`?--label COLUMN`?", "“Label column”"),
    (r"`?--one-hot [^,;.)`]+`?", "“Text columns: one column per value”"),
    (r"`?--exclude [^,;.)`]+`?", "“Text columns: leave out”"),
    (r"`?--missing drop`?", "“Missing values: drop the rows”"),
    (r"`?--missing mean`?", "“Missing values: fill in the mean”"),
    (r"`?--no-header`?", "“First line holds names: no”"),
    (r"`?--header`?", "“First line holds names: yes”"),
    (r"`?--separator(?: CHAR)?`?", "“Separator”"),
    (r"`?--decimal(?: CHAR)?`?", "“Decimal sign”"),
    (r"`?--train-fraction(?: [\d.]+)?`?", "a smaller “Share of rows that train”"),
    (r"`?--bank (\w+)`?", r"“Kernels: \1”"),
    (r"`?--bank`?", "“Kernels”"),
    (r"`?--solver ([\w-]+)`?", r"“Solver: \1”"),
    (r"`?--solver`?", "“Solver”"),
    (r" \([\d,]{9,} bytes\)", ""),
)


def for_page(sentence: str) -> str:
    """`sentence` with the names of controls in place of command-line options."""
    for pattern, words in _SAID:
        sentence = re.sub(pattern, words, sentence)
    return sentence
