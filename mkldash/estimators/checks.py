"""Checks of what is handed to an estimator: tables of features, labels and targets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mkldash.errors import InputError, MemoryLimitError
from mkldash.estimators.stack import KernelStack
from mkldash.kernels.normalization import constant_columns

Array = NDArray[np.float64]

__all__ = ["check_features", "check_labels", "check_targets", "refuse_text"]

_SHOWN = 5


def check_features(
    estimator: Any, X: Any, *, reset: bool, memory_limit: int, names: Iterable[str] | None = None
) -> Array:
    """X as a finite float64 table; sets or compares the estimator's feature names.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_`` and ``feature_names_in_`` when `reset`.
    X : array-like or sparse matrix, shape (n_rows, n_features)
    reset : bool
        True in ``fit``.
    memory_limit : int
        Bytes; a sparse X that is larger when dense is refused.
    names : iterable of str, optional
        Column names for messages, when X has none of its own.

    Returns
    -------
    array, shape (n_rows, n_features)
        Rows in memory order.

    Raises
    ------
    InputError
        For text, missing or infinite values (naming the place), a wrong shape,
        or other columns than in ``fit``.
    MemoryLimitError
        For a sparse X too large to be made dense.
    TypeError
        For cells that are no numbers at all, as scikit-learn wants it.
    """
    if isinstance(X, KernelStack):
        raise InputError("X is a KernelStack of matrices, not features; set kernels='precomputed'")
    labels = _column_names(X) or (list(names) if names is not None else [])
    refuse_text(X)
    try:
        table = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{error}{_shape_hint(X)}") from error
    if sparse.issparse(table):
        table = _dense(table, memory_limit)
    wrong = ~np.isfinite(table)
    if wrong.any():
        row, column = (int(place) for place in np.argwhere(wrong)[0])
        value = "NaN" if np.isnan(table[row, column]) else str(table[row, column])
        more = f" ({np.count_nonzero(wrong)} such values)" if np.count_nonzero(wrong) > 1 else ""
        raise InputError(
            f"X holds {value} in row {row}, {_named(labels, column)}{more}, counted from 0; "
            "drop these rows, or fill them in (sklearn.impute.SimpleImputer)"
        )
    return np.ascontiguousarray(table)


def refuse_text(X: Any) -> None:
    """Refuse text, categories, booleans and dates, naming the column and its values.

    The answer is the same for the object, string, category and bool columns of a
    DataFrame.  A bool array without column names is taken as 0 and 1.

    Raises
    ------
    InputError
        With the values and what to do.
    """
    for position, name, values in _text_columns(X):
        spelt = sorted({str(value) for value in values})
        shown = ", ".join(repr(value) for value in spelt[:_SHOWN])
        shown += ", ..." if len(spelt) > _SHOWN else ""
        column = f"column {position}" if name is None else f"column {name!r}"
        way = "one-hot encode it (sklearn.preprocessing.OneHotEncoder)"
        if name is not None:
            way = f"one-hot encode it (pandas.get_dummies(X, columns=[{name!r}], dtype=float))"
        raise InputError(
            f"{column} holds text or categories, not numbers ({shown}): {way}, or leave it out"
        )


def check_labels(y: Any, n_rows: int, owner: str) -> tuple[NDArray, NDArray[np.intp]]:
    """Classes in order, and the class of each row.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Numbers, text or booleans.
    n_rows : int
        Rows of X.
    owner : str
        Name of the estimator, for messages.

    Returns
    -------
    classes : array, shape (n_classes,)
        Sorted, of the dtype of y.
    codes : array of int, shape (n_rows,)
        Position of each label in `classes`.

    Raises
    ------
    InputError
        Without labels, for another number than rows, for missing ones, for
        values that are no classes, and for fewer than two classes.
    """
    if y is None:
        raise InputError(f"{owner} requires y to be passed, but the target y is None")
    try:
        labels = column_or_1d(_as_plain(y), warn=True)
    except ValueError as error:
        raise InputError(f"y must hold one label for each row: {error}") from error
    if len(labels) != n_rows:
        raise InputError(
            f"X has {n_rows} rows, y has {len(labels)} labels; there must be one for each row"
        )
    for row, label in enumerate(labels.tolist()):
        if _is_missing(label):
            raise InputError(f"y holds {label} in row {row}, counted from 0; drop that row")
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise InputError(str(error)) from error
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"only class {classes.tolist()[0]!r} found, two needed")
    return classes, codes.astype(np.intp, copy=False)


def check_targets(y: Any, n_rows: int, owner: str) -> Array:
    """Targets of a regression as finite numbers that are not all the same.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Numbers of any type; booleans count as 0 and 1.
    n_rows : int
        Rows of X.
    owner : str
        Name of the estimator, for messages.

    Returns
    -------
    array, shape (n_rows,)

    Raises
    ------
    InputError
        Without targets, for another number than rows, for text, complex numbers
        and dates, for missing or infinite ones, and for a constant target.
    """
    if y is None:
        raise InputError(f"{owner} requires y to be passed, but the target y is None")
    try:
        given = column_or_1d(_as_plain(y), warn=True)
    except ValueError as error:
        if "Complex data not supported" in str(error):
            message = "y holds complex numbers (Complex data not supported): take real ones"
            raise InputError(message) from error
        raise InputError(f"y must hold one number for each row: {error}") from error
    if len(given) != n_rows:
        raise InputError(
            f"X has {n_rows} rows, y has {len(given)} targets; there must be one for each row"
        )
    values = _as_numbers(given)
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        word = "NaN" if np.isnan(values[wrong[0]]) else str(values[wrong[0]])
        more = f" ({wrong.size} such values)" if wrong.size > 1 else ""
        raise InputError(f"y holds {word} in row {wrong[0]}{more}, counted from 0; drop such rows")
    if constant_columns(values[:, None])[0]:
        raise InputError(
            f"y is constant on the training rows ({values[0]:g}): there is nothing to learn; "
            "give a target that varies, or more rows"
        )
    return values


def _as_numbers(given: NDArray) -> Array:
    """Targets as float64, NaN where missing."""
    if given.dtype.kind in "biuf":
        return given.astype(np.float64)
    values = np.empty(len(given))
    for row, item in enumerate(given.tolist()):
        if _is_missing(item):
            values[row] = np.nan if item is None or not isinstance(item, float) else item
        elif isinstance(item, Real):
            values[row] = float(item)
        else:
            raise InputError(
                f"y holds {item!r} in row {row}, counted from 0, which is no number: a regression "
                "needs numbers; classes are for ElasticNetMKLClassifier"
            )
    return values


def _as_plain(y: Any) -> Any:
    """Labels of a nullable pandas dtype in the NumPy dtype of their values.

    scikit-learn would make floats of whole numbers.  With missing labels they
    stay as they are, to be refused.
    """
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if plain is None or not hasattr(y, "isna") or y.isna().any():
        return y
    return y.to_numpy(dtype=plain)


def _is_missing(label: Any) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float) and not np.isfinite(label)


def _column_names(X: Any) -> list[str]:
    return [str(name) for name in X.columns] if hasattr(X, "columns") else []


def _named(names: list[str], column: int) -> str:
    return f"column {names[column]!r}" if column < len(names) else f"column {column}"


def _shape_hint(X: Any) -> str:
    if getattr(X, "ndim", None) == 3:
        return "\nFor kernel matrices of shape (Q, n, n) set kernels='precomputed'."
    return ""


def _dense(table: Any, memory_limit: int) -> Array:
    """A sparse table made dense, unless that is too large."""
    needed = 8 * table.shape[0] * table.shape[1]
    if needed > memory_limit:
        raise MemoryLimitError(
            f"X is sparse and would take {needed:,} bytes when dense, memory_limit is "
            f"{memory_limit:,}; use fewer columns (sklearn.decomposition.TruncatedSVD), fewer "
            "rows, or a higher memory_limit"
        )
    return table.toarray()


def _text_columns(X: Any) -> Iterator[tuple[int, str | None, Iterable[Any]]]:
    """Position, name and values of each column that holds no numbers."""
    if hasattr(X, "iloc") and hasattr(X, "dtypes") and getattr(X, "ndim", 0) == 2:
        for position, name in enumerate(X.columns):
            column = X.iloc[:, position]
            values = _text_of_series(column)
            if values is not None:
                yield position, str(name), values
        return
    if sparse.issparse(X) or getattr(getattr(X, "dtype", None), "kind", "O") in "biufcmM":
        return
    cells = _as_objects(X)
    if cells is None:
        return
    names = _column_names(X)
    for position in range(cells.shape[1]):
        if any(isinstance(cell, str | bytes) for cell in cells[:, position]):
            name = names[position] if position < len(names) else None
            yield position, name, cells[:, position].tolist()


def _text_of_series(column: Any) -> Iterable[Any] | None:
    """Values of a column of a DataFrame that holds no numbers, else None."""
    dtype = column.dtype
    kind = getattr(dtype, "kind", "O")
    if hasattr(dtype, "categories") or kind in "bMm":
        return column.dropna().unique()
    if kind in "iufc":
        return None
    values = column.dropna().unique() if _hashable(column) else column.tolist()
    if any(isinstance(value, str | bytes | bool | np.bool_) for value in values):
        return values
    return None


def _hashable(column: Any) -> bool:
    return all(type(value).__hash__ is not None for value in column)


def _as_objects(X: Any) -> NDArray | None:
    """X as cells, shape (n_rows, n_features), or None when it is no table."""
    try:
        cells = np.asarray(X, dtype=object)
    except (TypeError, ValueError):  # ragged; the shape is refused later
        return None
    return cells if cells.ndim == 2 else None
