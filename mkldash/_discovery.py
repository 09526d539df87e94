"""Finds the plug-ins of a room: one file each, no registry to edit."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")

__all__ = ["discover"]


def discover(room: ModuleType, base: type[T]) -> dict[str, type[T]]:
    """Concrete subclasses of `base` defined in the modules of `room`.

    Folders, modules whose name starts with an underscore, and ``base``, are skipped.

    Parameters
    ----------
    room : module
        A package such as ``mkldash.solvers``.
    base : type
        The abstract class; its concrete subclasses carry a class fact ``name``.

    Returns
    -------
    dict of str to type
        From ``name`` to class, sorted by name.
    """
    found: dict[str, type[T]] = {}
    for info in pkgutil.iter_modules(room.__path__):
        if info.ispkg or info.name.startswith("_") or info.name == "base":
            continue
        module = importlib.import_module(f"{room.__name__}.{info.name}")
        for item in vars(module).values():
            if (
                inspect.isclass(item)
                and issubclass(item, base)
                and not inspect.isabstract(item)
                and item.__module__ == module.__name__
            ):
                found[item.name] = item  # type: ignore[attr-defined]
    return dict(sorted(found.items()))
