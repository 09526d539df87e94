"""Trees of snapshots as JSON and plain arrays: no pickle, shared pieces once.

Arrays of one dtype and shape are stacked into one entry of the .npz file.
Tuples, lists, dicts and dataclasses become nodes of a list in which children
come before their parents; a piece that is shared becomes one node.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError

__all__ = ["decode", "encode"]


class _Encoder:
    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self._ids: dict[int, int] = {}
        self._pools: dict[tuple[str, tuple[int, ...]], list[NDArray[Any]]] = {}

    def value(self, item: object) -> object:
        """What stands for `item` in a node."""
        if item is None or isinstance(item, bool | int | str):
            return item
        if isinstance(item, float):
            return float(item) if math.isfinite(item) else {"f": str(float(item))}
        if isinstance(item, np.generic):
            return self.value(item.item())
        if id(item) not in self._ids:
            node = self._node(item)
            self._ids[id(item)] = len(self.nodes)
            self.nodes.append(node)
        return {"n": self._ids[id(item)]}

    def _node(self, item: object) -> list[Any]:
        if isinstance(item, np.ndarray):
            if item.dtype.hasobject:
                raise TypeError("arrays of Python objects cannot be saved in a trace")
            pool = self._pools.setdefault((item.dtype.str, item.shape), [])
            pool.append(item)
            return ["array", list(self._pools).index((item.dtype.str, item.shape)), len(pool) - 1]
        if isinstance(item, enum.Enum):
            return ["enum", _type_name(type(item)), item.name]
        if dataclasses.is_dataclass(item) and not isinstance(item, type):
            fields = {f.name: self.value(getattr(item, f.name)) for f in dataclasses.fields(item)}
            return ["object", _type_name(type(item)), fields]
        if isinstance(item, dict):
            return ["dict", [[self.value(k), self.value(v)] for k, v in item.items()]]
        for kind in (tuple, list, frozenset):
            if type(item) is kind:
                return [kind.__name__, [self.value(part) for part in item]]
        raise TypeError(f"a {type(item).__name__} cannot be saved in a trace")

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {f"pool.{i}": np.stack(pool) for i, pool in enumerate(self._pools.values())}


def encode(tree: object) -> dict[str, NDArray[Any]]:
    """`tree` as named arrays: ``tree`` (JSON, UTF-8 bytes) and ``pool.0`` and so on.

    Parameters
    ----------
    tree : object
        None, bool, int, float, str, arrays, enums and dataclasses, in tuples,
        lists, dicts and frozensets, nested.  The caller keeps it alive.

    Raises
    ------
    TypeError
        For anything else.
    """
    encoder = _Encoder()
    root = encoder.value(tree)
    text = json.dumps({"root": root, "nodes": encoder.nodes}, allow_nan=False)
    return {"tree": np.frombuffer(text.encode(), dtype=np.uint8), **encoder.arrays()}


def decode(arrays: Mapping[str, NDArray[Any]], types: Iterable[type] = ()) -> object:
    """The tree that `encode` wrote; its arrays are read-only.

    Parameters
    ----------
    arrays : mapping of str to array
    types : iterable of type
        Dataclasses and enums that may occur beside those of mkldash itself.

    Raises
    ------
    InputError
        When a type is neither of mkldash nor in `types`, or has other fields.
    """
    document = json.loads(bytes(arrays["tree"]).decode())
    known = {_type_name(kind): kind for kind in types}
    pools = {name: array for name, array in arrays.items() if name.startswith("pool.")}
    done: list[object] = []

    def value(item: Any) -> Any:
        if isinstance(item, dict):
            return float(item["f"]) if "f" in item else done[item["n"]]
        return item

    made: Any
    for kind, *rest in document["nodes"]:
        if kind == "array":
            # A copy, so that dropping a state frees its own bytes.
            made = pools[f"pool.{rest[0]}"][rest[1]].copy()
            made.flags.writeable = False
        elif kind == "enum":
            made = _type_named(rest[0], known)[rest[1]]
        elif kind == "object":
            made = _made(_type_named(rest[0], known), {k: value(v) for k, v in rest[1].items()})
        elif kind == "dict":
            made = {value(k): value(v) for k, v in rest[0]}
        else:
            parts = [value(part) for part in rest[0]]
            made = {"tuple": tuple, "list": list, "frozenset": frozenset}[kind](parts)
        done.append(made)
    return value(document["root"])


def _made(kind: type, fields: dict[str, Any]) -> object:
    try:
        return kind(**fields)
    except TypeError as error:
        raise InputError(f"{kind.__name__} of another version of mkldash: {error}") from error


def _type_name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _type_named(name: str, known: Mapping[str, type]) -> Any:
    """A dataclass or enum of mkldash, or one that the caller allows."""
    if name in known:
        return known[name]
    module, _, qualified = name.partition(":")
    found: Any = None
    if module.startswith("mkldash."):
        try:
            found = importlib.import_module(module)
            for part in qualified.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError):
            found = None
    if not (isinstance(found, type) and (dataclasses.is_dataclass(found) or _is_enum(found))):
        raise InputError(f"a state of type {name} is in the file, which mkldash does not have")
    return found


def _is_enum(kind: type) -> bool:
    return issubclass(kind, enum.Enum)
