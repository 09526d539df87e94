"""Recorded comparisons that the person who started the server named; no others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from mkldash.errors import InputError
from mkldash.experiments.results import RESULTS

__all__ = ["find_folders", "folders", "offer"]


#: Of this process, and set before it serves.
_offered: dict[str, Path] = {}


def find_folders(paths: Iterable[str | Path]) -> dict[str, Path]:
    """Folders with results by name: those given, or else those directly in them.

    Parameters
    ----------
    paths : iterable of str or Path

    Raises
    ------
    InputError
        For a path without any.
    """
    found: dict[str, Path] = {}
    for given in paths:
        path = Path(given).resolve()
        inside = [path] if (path / RESULTS).is_file() else []
        if not inside and path.is_dir():
            inside = sorted(p for p in path.iterdir() if (p / RESULTS).is_file())
        if not inside:
            raise InputError(
                f"--compare {given}: there is no {RESULTS} in it, nor in a folder in it; "
                "`mkldash compare ... --out FOLDER` makes one"
            )
        for folder in inside:
            name, twins = folder.name, 2
            while name in found and found[name] != folder:
                name, twins = f"{folder.name} ({twins})", twins + 1
            found[name] = folder
    return found


def offer(paths: Iterable[str | Path]) -> None:
    """Let the pages of this process open these folders, and only these."""
    found = find_folders(paths)
    _offered.clear()
    _offered.update(found)


def folders() -> Mapping[str, Path]:
    """Folders that may be opened, by the name that a link calls them."""
    return MappingProxyType(dict(_offered))
