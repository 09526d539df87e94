"""What the three papers measured, to be measured again: one file each, found by itself."""

from __future__ import annotations

import functools
import sys

from mkldash._discovery import discover
from mkldash.experiments.reproductions.base import Reproduction

__all__ = ["available_reproductions"]


@functools.cache
def available_reproductions() -> dict[str, type[Reproduction]]:
    """The reproductions by name, paper by paper.

    Returns
    -------
    dict of str to type
    """
    found = discover(sys.modules[__name__], Reproduction)  # type: ignore[type-abstract]
    return dict(sorted(found.items(), key=lambda item: (item[1].order, item[0])))
