"""Scaling of inputs and of kernels, and the test for kernels that say nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.errors import InputError
from mkldash.kernels.base import Array

__all__ = [
    "CENTRED_THRESHOLD",
    "ConstantKernelWarning",
    "Standardizer",
    "as_features",
    "constant_columns",
    "is_constant_kernel",
    "trace_scale",
]

#: A kernel whose trace after double centring is below this part of its trace is
#: constant: on its rows it only adds to the bias, which is free already.
CENTRED_THRESHOLD = 1e-12


class ConstantKernelWarning(UserWarning):
    """Kernels are constant on the training rows: left out, or of no use."""


def as_features(X: ArrayLike, feature_names: Sequence[str] | None = None) -> Array:
    """X as a finite float64 matrix with rows in memory order.

    Parameters
    ----------
    X : array-like, shape (n_rows, n_features)
        Numbers of any type; a DataFrame works.
    feature_names : sequence of str, optional
        For messages.

    Raises
    ------
    InputError
        If X has not two dimensions, is not numeric, or holds NaN or infinity.
    """
    try:
        values = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"X must be a table of numbers: {error}") from error
    if values.ndim != 2:
        raise InputError(f"X must have shape (n_rows, n_features), got {values.shape}")
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        name = f"column {column}" if feature_names is None else f"column {feature_names[column]!r}"
        raise InputError(
            f"X holds {values[row, column]} in row {row}, {name}; drop or fill missing values"
        )
    return values


def constant_columns(values: Array) -> NDArray[np.bool_]:
    """Which columns hold one value, shape (n_features,).

    A column is constant when its largest and smallest value differ by no more
    than rounding (8 units in the last place of the larger magnitude): the
    computed deviation of a column of 0.3 is not zero, and that of 1e-12 times a
    real column is small but real.

    Parameters
    ----------
    values : array, shape (n_rows, n_features)
        Finite, with at least one row.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    rounding = 8.0 * np.finfo(np.float64).eps * np.maximum(np.abs(low), np.abs(high))
    with np.errstate(over="ignore"):
        return np.asarray(high - low <= rounding)


@dataclass(frozen=True, eq=False)
class Standardizer:
    """Z-scores with the mean and standard deviation (ddof 0) of the training rows.

    A constant column (see `constant_columns`) becomes 0, on new rows too: the
    training rows say nothing about what a change in it would mean.

    Attributes
    ----------
    mean, scale : array, shape (n_features,)
        `scale` is 1 for constant columns.
    constant : array of bool, shape (n_features,)
    """

    mean: Array
    scale: Array
    constant: NDArray[np.bool_]

    @classmethod
    def fit(cls, X: ArrayLike) -> Standardizer:
        """Learn from the training rows, shape (n_rows, n_features)."""
        values = as_features(X)
        if not len(values):
            raise InputError("standardising needs at least one training row")
        constant = constant_columns(values)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = values.mean(axis=0)
            spread = np.abs(values - mean).max(axis=0)
        for column in np.flatnonzero(~np.isfinite(spread)):
            low, high = values[:, column].min(), values[:, column].max()
            raise InputError(
                f"feature column {column} spans {low:.3g} to {high:.3g}, too far "
                "to be standardised; rescale it"
            )
        # Deviations of 1e-200 would vanish when squared: divide by the largest first.
        peak = np.where(constant, 1.0, spread)
        deviation = peak * np.sqrt((((values - mean) / peak) ** 2).mean(axis=0))
        return cls(mean, np.where(constant, 1.0, deviation), constant)

    def transform(self, X: ArrayLike) -> Array:
        """Standardised rows, same shape; constant columns are exactly 0."""
        values = as_features(X)
        if values.shape[1] != len(self.mean):
            raise InputError(
                f"X has {values.shape[1]} columns, the training rows had {len(self.mean)}"
            )
        standard = (values - self.mean) / self.scale
        standard[:, self.constant] = 0.0
        return standard


def is_constant_kernel(trace: float, centred_trace: float) -> bool:
    """Whether a Gram matrix is zero, or zero after double centring.

    Parameters
    ----------
    trace : float
        trace(K).
    centred_trace : float
        trace(HKH) with H = I - 11'/n; it is trace(K) - 1'K1/n.
    """
    return trace <= 0.0 or centred_trace <= CENTRED_THRESHOLD * trace


def trace_scale(trace: float, normalize: bool | float) -> float:
    """The factor for a kernel: 1/trace, `normalize`/trace for a number, 1 when it is False."""
    return float(normalize) / trace if normalize else 1.0
