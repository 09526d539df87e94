"""A folder of results: one line a run, on disk before the next one counts.

``sweep.json`` says what was asked, ``results.jsonl`` has one JSON object a line.
One process writes, under a lock that the system lifts when the process dies;
anybody may read meanwhile.  A line that a kill left half-written is cut off, and
its run is run again.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from mkldash import __version__
from mkldash.errors import InputError
from mkldash.experiments.sweep import Sweep

__all__ = ["ResultsFolder", "read_results", "read_sweep"]

#: Version of the record's format.
FORMAT = 1

SWEEP, RESULTS, LOCK = "sweep.json", "results.jsonl", "lock"


def read_sweep(folder: str | Path) -> dict[str, Any]:
    """What ``sweep.json`` of a folder says.

    Raises
    ------
    InputError
        When the folder is none of a comparison.
    """
    path = Path(folder) / SWEEP
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder} holds no comparison: there is no {SWEEP} in it") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(f"{path} has a format that this version does not read (it reads {FORMAT})")
    return found


def read_results(folder: str | Path) -> list[dict[str, Any]]:
    """The finished runs of a folder, in the order in which they ended.

    A run that was tried again counts once, with its last result.  A line that is
    being written is left out.

    Parameters
    ----------
    folder : str or Path

    Returns
    -------
    list of dict

    Raises
    ------
    InputError
        When the folder is none of a comparison, or a line is damaged.
    """
    read_sweep(folder)
    path = Path(folder) / RESULTS
    records, _ = _parse(path)
    return list({record["id"]: record for record in records}.values())


def _parse(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The whole lines of a file, and how many bytes they take.

    Raises
    ------
    InputError
        For a line before the last that is no record.
    """
    if not path.exists():
        return [], 0
    records: list[dict[str, Any]] = []
    sound = 0
    lines = path.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            record = None
        if not isinstance(record, dict) or "id" not in record:
            if number < len(lines):
                raise InputError(f"line {number} of {path} is damaged: mend it or take it out")
            break
        records.append(record)
        sound += len(line)
    return records, sound


class ResultsFolder:
    """The one writer of a folder; use it as a context.

    Parameters
    ----------
    folder : str or Path
        Made if it is not there.
    sweep : Sweep

    Raises
    ------
    InputError
        When it holds something else, a comparison under other settings, or
        another process writes to it.
    """

    def __init__(self, folder: str | Path, sweep: Sweep) -> None:
        self.folder = Path(folder)
        self.sweep = sweep
        #: Status of each run that is in the folder.
        self.done: dict[str, str] = {}
        self._stack = contextlib.ExitStack()
        self._file: IO[bytes] | None = None

    def __enter__(self) -> ResultsFolder:
        with contextlib.ExitStack() as opening:
            self._make()
            opening.enter_context(_locked(self.folder / LOCK))
            self._check_settings()
            self._repair()
            self._write_settings()
            self._file = opening.enter_context(open(self.folder / RESULTS, "ab", buffering=0))
            self._stack = opening.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._file = None
        self._stack.close()

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record, and return when it is on disk."""
        assert self._file is not None, "use it as a context"
        line = json.dumps(record, allow_nan=False, separators=(",", ":")) + "\n"
        left = memoryview(line.encode())
        while left:  # a signal may cut a write short
            left = left[self._file.write(left) or 0 :]
        os.fsync(self._file.fileno())
        self.done[str(record["id"])] = str(record["status"])

    def _make(self) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file: name a folder for the results")
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / SWEEP).exists():
            others = {path.name for path in self.folder.iterdir()} - {LOCK, f"{SWEEP}.new"}
            if others:
                raise InputError(
                    f"{self.folder} holds other things ({sorted(others)[0]}) and no comparison: "
                    "name a new folder"
                )

    def _check_settings(self) -> None:
        """Runs may be added under the same settings only: all must be comparable."""
        if not (self.folder / SWEEP).exists():
            return
        before = read_sweep(self.folder).get("settings", {})
        was, now = before.get("fixed", {}), json.loads(json.dumps(dict(self.sweep.fixed)))
        differ = [name for name in sorted({*was, *now}) if was.get(name) != now.get(name)]
        if differ:
            said = ", ".join(f"{n} {_said(was.get(n))}, now {_said(now.get(n))}" for n in differ)
            raise InputError(
                f"{self.folder} holds a comparison under other settings ({said}): "
                "its runs and these cannot stand side by side; name a new folder"
            )
        files = self.sweep.settings.get("files", {})
        known = before.get("files", {})
        changed = [name for name in known if files.get(name, known[name]) != known[name]]
        if changed:
            raise InputError(
                f"{changed[0]} has changed since {self.folder} was begun: name a new folder"
            )

    def _repair(self) -> None:
        """Cut off what a kill left half-written."""
        path = self.folder / RESULTS
        records, sound = _parse(path)
        if path.exists() and path.stat().st_size > sound:
            with open(path, "r+b") as file:
                file.truncate(sound)
                os.fsync(file.fileno())
        self.done = {str(record["id"]): str(record["status"]) for record in records}

    def _write_settings(self) -> None:
        path = self.folder / SWEEP
        before = read_sweep(self.folder) if path.exists() else {}
        settings = dict(self.sweep.settings)
        files = {**before.get("settings", {}).get("files", {}), **settings.get("files", {})}
        if files:
            settings["files"] = files
        ids = {run.id for run in self.sweep.runs}
        earlier = before.get("commands", [])
        commands = [*(c for c in earlier if c != self.sweep.command), self.sweep.command]
        text = json.dumps(
            {
                "format": FORMAT,
                "mkldash": __version__,
                "command": self.sweep.command,
                "settings": settings,
                "runs": len(ids | set(self.done)),
                "commands": commands,
            },
            indent=1,
        )
        new = path.with_name(f"{SWEEP}.new")
        new.write_text(text + "\n", encoding="utf-8")
        os.replace(new, path)


def _said(value: object) -> str:
    return "not given" if value is None else json.dumps(value)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock file; the system lifts the lock when this process ends, however it ends.

    Raises
    ------
    InputError
        When another process holds it.
    """
    with open(path, "a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read(40).decode(errors="replace").strip()
            raise InputError(
                f"another comparison ({holder or 'unknown process'}) is writing to {path.parent}: "
                "wait for it, or name another folder"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()}".encode())
        file.flush()
        yield
