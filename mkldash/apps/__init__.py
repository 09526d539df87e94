"""Dashboards: choices, player, pump and page; one file per app."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

__all__ = ["available_apps"]


def available_apps() -> dict[str, ModuleType]:
    """Modules of this room that have ``create`` and ``TITLE``, by URL name."""
    found = {}
    for info in pkgutil.iter_modules(__path__):
        if info.name.startswith("_") or info.ispkg:
            continue
        module = importlib.import_module(f"{__name__}.{info.name}")
        if hasattr(module, "create") and hasattr(module, "TITLE"):
            found[info.name] = module
    return found
