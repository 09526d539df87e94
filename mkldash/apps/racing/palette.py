"""Colour and dashes of each lane, kept for its life."""

from __future__ import annotations

from mkldash.apps.racing.state import LETTERS
from mkldash.views._palette import LINES

__all__ = ["colour_of"]

#: The first six as everywhere, then two more that hold on white and on near-black.
_ALL = (*LINES[:5], ("#5f6fd0", (14, 4, 2, 4, 2, 4)), ("#b04a5a", (5, 2)), ("#67788c", (1, 3)))


def colour_of(letter: str) -> tuple[str, tuple[int, ...]]:
    """Colour and dashes of a lane."""
    return _ALL[LETTERS.index(letter)]
