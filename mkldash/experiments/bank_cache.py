"""Banks that were built before, found by their content.

Moving eta or C changes no kernel, so an app must not build the bank again.
The key is a hash of the rows themselves: an upload is only ever found by
somebody who holds the very same table.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.base import KernelBank, KernelTerm

__all__ = ["BankCache", "content_key"]


def content_key(X: NDArray[np.float64], terms: Sequence[KernelTerm], *facts: object) -> str:
    """Hash of what a bank is made from.

    Parameters
    ----------
    X : array, shape (n_rows, n_features)
        Training rows as the kernels see them.
    terms : sequence of KernelTerm
    *facts
        Anything else that changes the bank; its ``repr`` is hashed.

    Returns
    -------
    str
    """
    digest = hashlib.sha256(repr((X.shape, tuple(terms), facts)).encode())
    digest.update(np.ascontiguousarray(X, dtype=np.float64).tobytes())
    return digest.hexdigest()


class BankCache:
    """The most recently used banks, up to a number of bytes.

    Parameters
    ----------
    limit : int
        Bytes that the kept banks may take together.  A bank larger than that
        is handed out and not kept.
    most : int, optional
        Banks that are kept at most, however small.
    """

    def __init__(self, limit: int, most: int | None = None) -> None:
        self.limit = limit
        self.most = most
        self._banks: OrderedDict[str, KernelBank] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, build: Callable[[], KernelBank]) -> KernelBank:
        """The bank kept under `key`, else what `build` makes (outside the lock)."""
        with self._lock:
            if key in self._banks:
                self._banks.move_to_end(key)
                return self._banks[key]
        bank = build()
        if bank.nbytes > self.limit:
            return bank
        with self._lock:
            self._banks[key] = bank
            self._banks.move_to_end(key)
            while self.nbytes > self.limit or len(self._banks) > (self.most or math.inf):
                self._banks.popitem(last=False)
        return bank

    @property
    def nbytes(self) -> int:
        """Bytes that the kept banks take."""
        return sum(bank.nbytes for bank in self._banks.values())

    def __len__(self) -> int:
        return len(self._banks)
