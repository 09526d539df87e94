"""A user's own Gram matrices from an .npz file."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from mkldash.datasets._numbers import is_missing
from mkldash.datasets._text import Source, decode, plain_name, read_bytes
from mkldash.datasets.labels import encode_labels
from mkldash.errors import InputError

__all__ = ["GramData", "read_gram"]


@dataclass(frozen=True, eq=False)
class GramData:
    """Kernels and labels as they are in the files.

    Attributes
    ----------
    name : str
        File name without its ending.
    names : tuple of str, length Q
        Kernel names.
    kernels : list of Q arrays, shape (n, n)
        Gram matrices as float64 (float32 where stored so), unscaled and unchecked
        beyond their shape: the bank checks them when it is built.
    y : array, shape (n,), optional
        Labels as given (text or numbers); None when there are none.
    """

    name: str
    names: tuple[str, ...]
    kernels: list[np.ndarray]
    y: np.ndarray | None

    def binary_labels(self, positive: str | None = None) -> tuple[np.ndarray, tuple[str, str]]:
        """Labels as -1 and +1.

        Parameters
        ----------
        positive : str, optional
            The class that becomes +1, against all others.

        Returns
        -------
        y : array, shape (n,)
            -1.0 and +1.0.
        classes : pair of str
            Labels of -1 and +1.

        Raises
        ------
        InputError
            Without labels, for one class, and for more than two without
            `positive`.
        """
        if self.y is None:
            raise InputError(
                f"'{self.name}' holds no labels: put an array y into it, "
                "or give a file with one label a line (--labels FILE)"
            )
        return encode_labels(self.y, positive)


def read_gram(source: Source, labels: Source | None = None, *, name: str | None = None) -> GramData:
    """Gram matrices, and labels if there are any.

    The file holds either n x n arrays, whose names are the kernels' names, or
    one (Q, n, n) array called ``kernels`` (kernels 0, 1, ..., or named by an
    array ``names`` of Q strings).  An array ``y`` of length n holds the labels.

    Parameters
    ----------
    source : path or bytes
        The .npz file; nothing in it is unpickled.
    labels : path or bytes, optional
        A text file with one label a line, instead of ``y``.
    name : str, optional
        Name to be shown; by default the file's, without its ending.

    Returns
    -------
    GramData
        Kernels in the file's order.

    Raises
    ------
    InputError
        For a file that is no .npz, arrays of another shape or kind, kernels of
        different sizes, and labels of another number than the rows.
    """
    content, name = read_bytes(source, name)
    arrays = _arrays(content, name)
    y = arrays.pop("y", None)
    if "kernels" in arrays and arrays["kernels"].ndim == 3:
        names, kernels = _stack(arrays, name)
    else:
        names, kernels = _plain_names(arrays, f"'{name}'"), list(arrays.values())
    if not kernels:
        raise InputError(f"'{name}' holds no Gram matrix: n x n arrays are needed")
    rows = kernels[0].shape[0] if kernels[0].ndim else 0
    kernels = [_square(k, item, rows) for k, item in zip(kernels, names, strict=True)]
    if labels is not None:
        y = _read_labels(labels)
    if y is not None:
        if y.ndim != 1 or y.dtype.kind not in "biufUS":
            raise InputError(
                f"the labels are an array of shape {y.shape} and type {y.dtype}: "
                "one text or number for each row is needed"
            )
        if len(y) != rows:
            raise InputError(f"{len(y)} labels for kernels of {rows} rows: they must be as many")
        if y.dtype.kind in "US":
            for number, item in enumerate(y.tolist(), start=1):
                text = item.decode("utf-8", "replace") if isinstance(item, bytes) else item
                if is_missing(text.strip()):
                    raise InputError(f"label {number} is missing ('{text}'): every row needs one")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise InputError(f"label {int(np.flatnonzero(~np.isfinite(y))[0]) + 1} is not finite")
    return GramData(name, names, kernels, y)


def _arrays(content: bytes, name: str) -> dict[str, np.ndarray]:
    if not content.startswith(b"PK"):
        raise InputError(
            f"'{name}' is not an .npz file: write one with numpy.savez(FILE, name=matrix, ...)"
        )
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {item: _array(archive, item, name) for item in archive.files}
    except (InputError, MemoryError):
        raise
    except Exception as error:
        # Whatever a broken or encrypted archive makes zipfile, zlib, lzma and NumPy raise.
        raise InputError(
            f"'{name}' is damaged or not a plain .npz ({error or type(error).__name__}): "
            "write it with numpy.savez(FILE, name=matrix, ...)"
        ) from error


def _array(archive: Mapping[str, object], item: str, name: str) -> np.ndarray:
    try:
        array = archive[item]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise InputError(
            f"array '{item}' of '{name}' holds Python objects, or is no NumPy "
            "array: numbers are needed"
        ) from error
    if not isinstance(array, np.ndarray):
        raise InputError(f"'{item}' of '{name}' is no NumPy array")
    return array


def _stack(arrays: dict[str, np.ndarray], name: str) -> tuple[tuple[str, ...], list[np.ndarray]]:
    stack = arrays.pop("kernels")
    given = arrays.pop("names", None)
    if arrays:
        raise InputError(
            f"'{name}' holds the stack 'kernels' and also '{next(iter(arrays))}': "
            "give one or the other"
        )
    if given is None:
        return tuple(f"kernel {i}" for i in range(len(stack))), list(stack)
    if given.shape != (len(stack),):
        raise InputError(f"'names' has shape {given.shape}, {len(stack)} kernels need as many")
    return _plain_names(map(str, given), "'names'"), list(stack)


def _plain_names(given: Iterable[str], where: str) -> tuple[str, ...]:
    """Names that can be printed, no two of them alike."""
    names = tuple(plain_name(item) or f"kernel {i}" for i, item in enumerate(given))
    repeated = [item for item, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(f"{where} repeats a name: '{repeated[0]}'; kernels need different ones")
    return names


def _square(array: np.ndarray, name: str, rows: int) -> np.ndarray:
    if array.ndim == 3:
        raise InputError(
            f"array '{name}' has shape {array.shape}: a stack of kernels must be called 'kernels'"
        )
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.size == 0:
        raise InputError(f"kernel '{name}' has shape {array.shape}: a square matrix is needed")
    if array.shape[0] != rows:
        raise InputError(
            f"kernel '{name}' has {array.shape[0]} rows, the first one {rows}: "
            "all kernels must belong to the same rows"
        )
    if array.dtype.kind not in "biuf":
        raise InputError(f"kernel '{name}' has type {array.dtype}: real numbers are needed")
    # Single precision stays: the bank's check of symmetry allows for its rounding.
    return np.array(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)


def _read_labels(source: Source) -> np.ndarray:
    content, name = read_bytes(source)
    text, _ = decode(content, name)
    lines = [line.strip().strip('"') for line in text.rstrip().splitlines()]
    for number, line in enumerate(lines, start=1):
        if is_missing(line):
            found = f" ('{line}' stands for a missing value)" if line else ""
            raise InputError(
                f"'{name}', line {number}: a label is missing{found}; every row needs one"
            )
    return np.array(lines)
