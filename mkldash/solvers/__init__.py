"""Solvers: one file each, all on the protocol of `base`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mkldash._discovery import discover

if TYPE_CHECKING:
    from mkldash.solvers.base import Solver

__all__ = ["available_solvers"]


def available_solvers() -> dict[str, type[Solver]]:
    """Every solver of this room by name, found by scanning it."""
    from mkldash.solvers.base import Solver

    return discover(sys.modules[__name__], Solver)  # type: ignore[type-abstract]
