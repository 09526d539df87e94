"""A trace as an .npz file that ``numpy.load`` reads without pickle."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.solvers.base import Snapshot
from mkldash.streaming.columns import Columns
from mkldash.streaming.encoding import decode, encode

__all__ = ["Record", "read_record", "write_record"]

_FORMAT = "mkldash trace 1"
_COLUMN = "column."


@dataclass(frozen=True, kw_only=True, eq=False)
class Record:
    """What is written of a trace: everything but the states that it dropped."""

    columns: Columns
    states: dict[int, Snapshot]
    values: dict[int, dict[str, Any]]
    scored: list[int]
    events: list[tuple[int, str]]
    best: int
    budget: int


def write_record(path: str | Path, record: Record) -> None:
    """Write an .npz file.

    Entries: ``column.NAME``, each column whole; ``kept``, the rows whose states
    are kept, with ``weights`` (n_kept, n_kernels) and ``kernels`` (names) when
    all are over the same kernels; ``tree`` and ``pool.N``, the rest as
    `mkldash.streaming.encoding` says.

    Raises
    ------
    TypeError
        When a snapshot holds something that has no plain form.
    """
    columns = record.columns
    parts = {f.name: getattr(record, f.name) for f in dataclasses.fields(Record)}
    parts["columns"] = [name for name in columns.names if not columns.is_own(name)]
    arrays: dict[str, NDArray[Any]] = encode(parts)
    arrays |= {f"{_COLUMN}{name}": array for name, array in columns.read().items()}
    arrays["format"] = np.array(_FORMAT)
    arrays["kept"] = np.array(list(record.states), dtype=np.int64)
    keys = {snapshot.weights.keys for snapshot in record.states.values()}
    if len(keys) == 1:
        arrays["kernels"] = np.array([str(key) for key in keys.pop()])
        arrays["weights"] = np.stack([s.weights.values for s in record.states.values()])
    with Path(path).open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def read_record(path: str | Path, types: Iterable[type] = ()) -> Record:
    """Read what `write_record` wrote; arrays are read-only.

    Raises
    ------
    InputError
        When the file cannot be read, is damaged or not a trace, or has types
        that mkldash does not have.
    """
    arrays = _arrays(path)
    if str(arrays.get("format")) != _FORMAT:
        raise InputError(f"{path} is not an mkldash trace (no entry format = {_FORMAT!r})")
    try:
        parts: Any = decode(arrays, types)
        columns = {n.removeprefix(_COLUMN): a for n, a in arrays.items() if n.startswith(_COLUMN)}
        parts["columns"] = Columns.of(columns, parts["columns"])
        return Record(**parts)
    except (InputError, MemoryError):
        raise
    except Exception as error:
        # Entries that are missing, of another shape, or point nowhere.
        raise InputError(f"{path} is not an mkldash trace, or is damaged") from error


def _arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """The entries of an .npz file."""
    try:
        with Path(path).open("rb") as file:
            if file.read(2) != b"PK":
                raise InputError(f"{path} is not an mkldash trace: a trace is an .npz file")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                return dict(archive)
    except (InputError, MemoryError):
        raise
    except OSError as error:
        raise InputError(f"{path} is not an mkldash trace: {error.strerror or error}") from error
    except Exception as error:
        # Whatever a broken or encrypted archive makes zipfile, zlib, lzma and NumPy raise.
        raise InputError(
            f"{path} is not an mkldash trace: it is damaged or not a plain .npz"
        ) from error
