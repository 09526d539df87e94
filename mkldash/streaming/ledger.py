"""Counts the bytes that kept objects hold, shared pieces once."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

__all__ = ["Ledger"]

#: Bytes of an array object beside its data.
_ARRAY_OVERHEAD = 112

#: Types of most fields, told at once because this runs in every iteration.
_FREE = frozenset({int, float, bool, str, type(None), np.float64})


@dataclass(slots=True)
class _Node:
    item: object  # held, so that its id cannot be taken by another object
    count: int
    nbytes: int
    children: list[object]


class Ledger:
    """Reference-counted byte count over arrays, tuples and dataclasses.

    An array (or tuple, or dataclass) that several kept objects share, such as
    the best point or the cuts of a model, is counted once, and given back when
    the last object that holds it is removed.  Shared pieces are recognised by
    identity, so they cost one look-up however large they are.  Strings and
    numbers are not counted.
    """

    def __init__(self) -> None:
        self._nodes: dict[int, _Node] = {}
        self.total = 0

    def add(self, item: object) -> None:
        """Count `item` and all that it holds."""
        stack = [item]
        while stack:
            top = stack.pop()
            node = self._nodes.get(id(top))
            if node is not None:
                node.count += 1
                continue
            nbytes, children = _measure(top)
            self._nodes[id(top)] = _Node(top, 1, nbytes, children)
            self.total += nbytes
            stack.extend(children)

    def remove(self, item: object) -> None:
        """Undo one `add` of the same object.

        Raises
        ------
        KeyError
            When `item` is not counted.
        """
        stack = [item]
        while stack:
            top = stack.pop()
            node = self._nodes[id(top)]
            node.count -= 1
            if node.count == 0:
                del self._nodes[id(top)]
                self.total -= node.nbytes
                stack.extend(node.children)


def _measure(item: object) -> tuple[int, list[object]]:
    """Own bytes of `item`, and the pieces in it that are counted on their own."""
    if isinstance(item, np.ndarray):
        if isinstance(item.base, np.ndarray):  # a view keeps all of its base alive
            return _ARRAY_OVERHEAD, [item.base]
        return item.nbytes + _ARRAY_OVERHEAD, []
    own = sys.getsizeof(item)
    fields = getattr(item, "__dataclass_fields__", None)
    if fields is not None:
        values: Iterable[object] = [getattr(item, name) for name in fields]
    elif isinstance(item, dict):
        values = item.values()
    else:
        values = item  # type: ignore[assignment]
    return own, [value for value in values if type(value) not in _FREE and _is_counted(value)]


def _is_counted(value: object) -> bool:
    return isinstance(value, np.ndarray | tuple | list | dict | frozenset) or (
        hasattr(value, "__dataclass_fields__") and not isinstance(value, type)
    )
