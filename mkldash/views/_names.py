"""Names of kernels, short enough for an axis."""

from __future__ import annotations

__all__ = ["LONGEST_NAME", "short"]

#: Characters of a name on an axis; the hover text has all of it.
LONGEST_NAME = 16


def short(label: str) -> str:
    """``gaussian 0.5`` to ``G 0.5``; the axis label says what the letter is."""
    word, _, rest = label.partition(" ")
    letters = {"gaussian": "G", "polynomial": "P", "linear": "L"}
    if word not in letters:
        return label if len(label) <= LONGEST_NAME else label[: LONGEST_NAME - 1] + "…"
    return f"{letters[word]} {rest}".strip()
