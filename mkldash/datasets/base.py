"""What a data set is: its table in memory, and the card that describes it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

__all__ = ["DataCard", "Dataset", "Mask"]


@dataclass(frozen=True)
class Mask:
    """The rows of a table that belong to a data set.

    Attributes
    ----------
    table : str
        File in the data folder with one line for each row of the card's table.
    column : str
        Its 0/1 column that marks membership.
    sha256 : str
        Checksum of the file.
    """

    table: str
    column: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class DataCard:
    """Everything known about a shipped data set, without its numbers.

    Attributes
    ----------
    name, title : str
        The name that users type, and a line for people.
    task : str
        ``"binary"`` or ``"regression"``.
    row, meaning : str
        What one row is; what the target means and which class is +1.
    target : str
        Target column of the table.
    rows, columns : int
        Number of rows, and of features.
    source, source_licence : str
        Package (name, version, file) that the numbers came from; its licence.
    citation, licence : str
        Whom to cite; the licence of the data.
    classes : pair of str, optional
        Labels of -1 and +1; None for regression.
    table, sha256 : str, optional
        File in the data folder and its checksum; None when generated.
    generator : str, optional
        Function of `mkldash.datasets.synthetic`; None when there is a table.
    rule : str, optional
        Condition on the target column that makes +1, such as ``drinks >= 3``.
    drop : tuple of str
        Columns of the table that are not features.
    dropped : str
        What was left out, columns and rows, in words.
    mask : Mask, optional
        The rows of the table that belong here; None for all of them.
    warnings : tuple of str
        What a user should know before trusting a result.
    true_products : tuple of tuples of str
        Products of features that made the target, where that is known; the empty
        one is the offset.
    parameters : Mapping
        Keyword arguments of the generator.
    defaults : Mapping
        Recommended choices: ``bank``, ``standardize``, ``storage``, ``train_fraction``.
    """

    name: str
    title: str
    task: str
    row: str
    meaning: str
    target: str
    rows: int
    columns: int
    source: str
    source_licence: str
    citation: str
    licence: str
    classes: tuple[str, str] | None = None
    table: str | None = None
    sha256: str | None = None
    generator: str | None = None
    rule: str | None = None
    drop: tuple[str, ...] = ()
    dropped: str = ""
    mask: Mask | None = None
    warnings: tuple[str, ...] = ()
    true_products: tuple[tuple[str, ...], ...] = ()
    parameters: Mapping[str, float | int] = field(default_factory=lambda: MappingProxyType({}))
    defaults: Mapping[str, str | bool | float] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """A table ready for kernels: raw features and the target.

    Attributes
    ----------
    name : str
        Shipped name, or the file's name without its ending.
    X : array, shape (n, p)
        Raw features, float64, finite, read-only.
    y : array, shape (n,)
        -1 and +1 (binary) or the real target, float64, read-only.
    feature_names : tuple of str, length p
        Column names.
    target_name : str
        The target column.
    task : str
        ``"binary"`` or ``"regression"``.
    classes : pair of str, optional
        Labels of -1 and +1; None for regression.
    card : DataCard, optional
        The card of a shipped set; None for a user's own table.
    notes : tuple of str
        Choices made while reading (rows left out, values filled in, ...), to
        be shown with the result.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...]
    target_name: str
    task: str
    classes: tuple[str, str] | None = None
    card: DataCard | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.X, self.y):
            array.setflags(write=False)

    @property
    def n_rows(self) -> int:
        """Number of rows n."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return self.X.shape[1]

    @cached_property
    def key(self) -> str:
        """Digest of the content (never of the name), for caches."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(repr((self.X.shape, self.feature_names, self.classes)).encode())
        digest.update(np.ascontiguousarray(self.X).tobytes())
        digest.update(self.y.tobytes())
        return digest.hexdigest()
