"""Given kernel matrices as one thing of n samples, which scikit-learn can slice."""

from __future__ import annotations

import types
import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from mkldash.errors import InputError
from mkldash.kernels.checks import as_matrices

__all__ = ["KernelStack"]

Index = NDArray[np.intp]


class KernelStack:
    """Q kernel matrices over the same n samples.

    scikit-learn's splitters and searches (`GridSearchCV`, `cross_val_score`,
    `train_test_split` ...) count and index samples along the first axis, which
    in an array of shape (Q, n, n) is the kernels.  A stack has ``len`` n and
    shape (n_rows, n_columns), as one kernel matrix would have, and slices all
    its matrices at once.  Slices share the matrices and copy nothing.

    Each row and column remembers its sample.  So ``stack[rows]`` (all columns
    kept) may be handed to ``fit``, which takes the block of these rows among
    themselves, and ``stack[other_rows]`` to ``predict``, which takes their
    columns of the training samples.

    Parameters
    ----------
    kernels : array, shape (n_kernels, n, n), or sequence of arrays of shape (n, n)
        Not copied when they are float64 or float32 arrays; a bare matrix is one
        kernel.  Values are checked by ``fit``.
    names : sequence of str, optional
        By default ``kernel 0``, ``kernel 1`` ...

    Raises
    ------
    InputError
        For matrices that are not square or differ in size, for lists in lists,
        and for names that are too few, too many or repeated.

    Examples
    --------
    >>> stack = KernelStack(np.stack([np.eye(4), np.ones((4, 4))]))
    >>> len(stack), stack.shape, stack.n_kernels
    (4, (4, 4), 2)
    >>> stack[np.ix_([0, 1], [2, 3])].to_array().shape
    (2, 2, 2)
    """

    ndim = 2

    def __init__(self, kernels: ArrayLike | Sequence[Any], names: Sequence[str] | None = None):
        self._matrices = tuple(as_matrices(kernels))
        n = len(self._matrices[0])
        self.names = _names(names, len(self._matrices))
        self._rows: Index = np.arange(n, dtype=np.intp)
        self._columns: Index = self._rows
        # Slices of one stack know each other by this, in other processes too.
        self._token = uuid.uuid4().hex

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_columns)."""
        return len(self._rows), len(self._columns)

    @property
    def n_kernels(self) -> int:
        """Number of matrices, Q."""
        return len(self._matrices)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"KernelStack({self.n_kernels} kernels, {rows} rows, {columns} columns)"

    def __getitem__(self, key: Any) -> KernelStack:
        """Rows, or ``(rows, columns)``: always a block, like ``np.ix_``."""
        rows, columns = key if isinstance(key, tuple) else (key, Ellipsis)
        return self._cut(_take(self._rows, rows), _take(self._columns, columns))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray:
        if copy is False:
            raise ValueError("a KernelStack becomes an array by copying")
        array = self.to_array()
        return array if dtype is None else array.astype(dtype)

    def to_array(self) -> NDArray:
        """All blocks, shape (n_kernels, n_rows, n_columns), copied."""
        return np.stack(self.blocks())

    def blocks(self) -> list[NDArray]:
        """One block per kernel, shape (n_rows, n_columns); copied unless whole."""
        return [self.block(position) for position in range(self.n_kernels)]

    def block(self, position: int) -> NDArray:
        """Block of the kernel at `position`, shape (n_rows, n_columns)."""
        matrix = self._matrices[position]
        whole = np.arange(len(matrix))
        if np.array_equal(self._rows, whole) and np.array_equal(self._columns, whole):
            return matrix
        return matrix[np.ix_(self._rows, self._columns)]

    def training(self) -> KernelStack:
        """The square block of these rows among themselves.

        Raises
        ------
        InputError
            When a row's own column has been cut off.
        """
        missing = np.setdiff1d(self._rows, self._columns)
        if len(missing):
            raise InputError(
                f"a training block needs the columns of its own rows, the one of sample "
                f"{missing[0]} is missing; fit on stack[rows] or stack[np.ix_(rows, rows)]"
            )
        return self._cut(self._rows, self._rows)

    def against(self, training: KernelStack) -> KernelStack:
        """These rows against the samples that `training` was fitted on.

        A stack that `training` was not cut from comes back as it is: its columns
        must be the training samples then.

        Raises
        ------
        InputError
            When the column of a training sample has been cut off.
        """
        if self._token != training._token:
            return self
        missing = np.setdiff1d(training._rows, self._columns)
        if len(missing):
            raise InputError(
                f"the column of training sample {missing[0]} is missing; predict on stack[rows] "
                "or stack[np.ix_(rows, training_rows)]"
            )
        return self._cut(self._rows, training._rows)

    def outline(self) -> KernelStack:
        """Who the samples are, without the matrices; enough for `against`."""
        return self._cut(self._rows, self._columns, matrices=())

    def _cut(
        self, rows: Index, columns: Index, matrices: tuple[NDArray, ...] | None = None
    ) -> KernelStack:
        other = object.__new__(KernelStack)
        other._matrices = self._matrices if matrices is None else matrices
        other.names, other._token = self.names, self._token
        other._rows, other._columns = rows, columns
        return other


def _take(ids: Index, key: Any) -> Index:
    if isinstance(key, types.EllipsisType):
        return ids
    if isinstance(key, slice):
        return ids[key]
    wanted = np.asarray(key)
    if wanted.dtype.kind not in "iub" and wanted.size:
        raise IndexError(f"a KernelStack takes row numbers, a mask or a slice, not {key!r}")
    return ids[wanted.reshape(-1) if wanted.dtype.kind in "iub" else []]


def _names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"kernel {position}" for position in range(count))
    given = tuple(str(name) for name in names)
    if len(given) != count:
        raise InputError(f"{len(given)} names for {count} kernels; give each kernel one")
    for name in given:
        if given.count(name) > 1:
            raise InputError(f"two kernels are named {name!r}; rename one")
    return given
