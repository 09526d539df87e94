"""What the ridge regressors with polynomial kernels share: reading, scaling, predicting."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mkldash.errors import InputError, MemoryLimitError
from mkldash.estimators.checks import check_features, check_targets
from mkldash.estimators.parameters import check_memory_limit, check_switch
from mkldash.kernels.base import Array
from mkldash.kernels.normalization import Standardizer

__all__ = ["Learnt", "PolynomialRegressor", "TargetScale", "ridge_factor"]

#: Bytes of a piece of test-by-train kernel values.
_PIECE = 32 * 2**20

#: Matrices (n_rows, n_rows) that are held at once while learning.
_SQUARES = 4


@dataclass(frozen=True)
class TargetScale:
    """Mean and standard deviation (ddof 0) of the training targets.

    Attributes
    ----------
    mean, scale : float
    """

    mean: float
    scale: float

    @classmethod
    def fit(cls, y: Array) -> TargetScale:
        """Learn from targets that vary, shape (n_rows,).

        Raises
        ------
        InputError
            For targets too far apart for their spread to be a number.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(y.mean())
            peak = float(np.abs(y - mean).max())
        if not np.isfinite(peak):
            raise InputError(
                f"y spans {y.min():.3g} to {y.max():.3g}, too far to be standardised; rescale it"
            )
        # Deviations of 1e-200 would vanish when squared: divide by the largest first.
        return cls(mean, peak * float(np.sqrt((((y - mean) / peak) ** 2).mean())))

    def transform(self, y: Array) -> Array:
        """Standardised targets, same shape."""
        return (y - self.mean) / self.scale

    def undo(self, y: Array) -> Array:
        """Standardised values in the units of the target, same shape."""
        return self.mean + self.scale * y


@dataclass(frozen=True, eq=False)
class Learnt:
    """What a subclass found on standardised rows and targets.

    Parameters
    ----------
    profile : callable
        Kernel values from inner products of rows, entry by entry; can be pickled.
    factors : array, shape (n_features,)
        What each feature is multiplied by before inner products are taken.
    dual_coef : array, shape (n_rows,)
    """

    profile: Callable[[Array], Array]
    factors: Array
    dual_coef: Array


def ridge_factor(kernel: Array, ridge: float) -> tuple[Array, bool]:
    """Cholesky factor of kernel + ridge I, as `scipy.linalg.cho_solve` takes it.

    Parameters
    ----------
    kernel : array, shape (n_rows, n_rows)
        Not kept as it is: its diagonal grows by `ridge`.
    ridge : float

    Raises
    ------
    InputError
        When it is too large or too badly conditioned to be factored.
    """
    kernel[np.diag_indices_from(kernel)] += ridge
    if np.isfinite(kernel).all():
        try:
            return scipy.linalg.cho_factor(kernel, lower=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            pass
    raise InputError(
        f"the kernel is too large for a ridge of {ridge:g} (largest entry {kernel.max():.3g}): "
        "take a lower degree, a larger penalty, or standardize=True"
    )


class PolynomialRegressor(RegressorMixin, BaseEstimator, abc.ABC):
    """Base of the ridge regressors whose kernel is a function of inner products.

    A subclass has the parameters `standardize` and `memory_limit` and learns on
    rows and targets that are standardised here and undone at prediction.
    """

    standardize: bool
    memory_limit: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        # A fit that was refused leaves `n_features_in_` behind and no model.
        return hasattr(self, "_learnt")

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from rows with their targets.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_rows, n_features)
            Features: numbers of any type, or a DataFrame of them.
        y : array-like, shape (n_rows,)
            Real targets.  Weights of rows are not supported.

        Returns
        -------
        Self
            The regressor itself.

        Raises
        ------
        InputError
            For data or parameters that cannot be used; a target that is constant
            on these rows is one of them.
        MemoryLimitError
            When the kernel matrix would take more than `memory_limit`.
        """
        check_switch(self, "standardize")
        check_memory_limit(self)
        self._check()
        table = check_features(self, X, reset=True, memory_limit=self.memory_limit)
        target = check_targets(y, len(table), type(self).__name__)
        self._check_memory(len(table))
        self._check_columns(table.shape[1])
        standardizer = Standardizer.fit(table) if self.standardize else None
        seen = table if standardizer is None else standardizer.transform(table)
        self.target_scale_ = TargetScale.fit(target)
        with np.errstate(over="ignore", invalid="ignore"):
            self.kernel_scale_ = _mean_square(seen)
            learnt = self._learn(
                seen / np.sqrt(self.kernel_scale_), self.target_scale_.transform(target)
            )
        self.dual_coef_ = learnt.dual_coef
        self._standardizer, self._learnt = standardizer, learnt
        self._rows = seen * learnt.factors
        return self

    def predict(self, X: Any) -> Array:
        """The target of new rows.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_new, n_features)

        Returns
        -------
        array, shape (n_new,)
            In the units of the training target.

        Raises
        ------
        InputError
            For other columns than in ``fit`` and for missing values.
        """
        check_is_fitted(self)
        table = check_features(self, X, reset=False, memory_limit=self.memory_limit)
        seen = table if self._standardizer is None else self._standardizer.transform(table)
        learnt, values = self._learnt, np.empty(len(seen))
        step = max(1, _PIECE // (8 * len(self._rows)))
        for first in range(0, len(seen), step):
            piece = slice(first, first + step)
            products = (seen[piece] * learnt.factors) @ self._rows.T
            values[piece] = learnt.profile(products) @ learnt.dual_coef
        return self.target_scale_.undo(values)

    @abc.abstractmethod
    def _check(self) -> None:
        """Refuse the subclass's own parameters, before data are read."""

    @abc.abstractmethod
    def _learn(self, rows: Array, target: Array) -> Learnt:
        """Learn from rows whose squared length is 1 on average; factors count from `seen`."""

    def _check_columns(self, n_features: int) -> None:
        """Refuse parameters that do not fit the number of features."""

    def _check_memory(self, n_rows: int) -> None:
        needed = _SQUARES * 8 * n_rows**2
        if needed > self.memory_limit:
            raise MemoryLimitError(
                f"learning from {n_rows} rows takes {needed:,} bytes ({_SQUARES} matrices of "
                f"{n_rows} by {n_rows}), memory_limit is {self.memory_limit:,}; give a subsample "
                "of the rows, or a higher memory_limit"
            )


def _mean_square(seen: Array) -> float:
    """Mean diagonal of the sum of the base kernels; 1 when it is zero."""
    mean = float(np.einsum("ij,ij->i", seen, seen).mean())
    if not np.isfinite(mean):
        raise InputError("the features are too large for inner products; set standardize=True")
    return mean if mean > 0.0 else 1.0
