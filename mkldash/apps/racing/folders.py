"""Recorded comparisons that the person who started the server named; no others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mkldash.errors import InputError

__all__ = ["find_folders", "folders", "offer", "read_records"]

_RESULTS = "results.jsonl"

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
        inside = [path] if (path / _RESULTS).is_file() else []
        if not inside and path.is_dir():
            inside = sorted(p for p in path.iterdir() if (p / _RESULTS).is_file())
        if not inside:
            raise InputError(
                f"--compare {given}: there is no {_RESULTS} in it, nor in a folder in it; "
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


def read_records(folder: Path) -> list[dict[str, Any]]:
    """Runs of a comparison, each with its last result.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of dict
        A line that is still being written is left out.

    Raises
    ------
    InputError
        For a line before the last that is no record.
    """
    path = folder / _RESULTS
    records: dict[str, dict[str, Any]] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as problem:
        raise InputError(f"{path.name} cannot be read: {problem.strerror}") from None
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            records[record["id"]] = record
        except (ValueError, KeyError, TypeError):
            if number < len(lines):
                raise InputError(
                    f"line {number} of {path.name} is damaged: mend it or take it out"
                ) from None
    return list(records.values())
