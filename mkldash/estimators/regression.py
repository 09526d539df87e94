"""What the regressors share: reading, scaling, predicting."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

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

__all__ = [
    "InnerProducts",
    "Learnt",
    "Model",
    "PolynomialRegressor",
    "ScaledRegressor",
    "TargetScale",
    "ridge_factor",
]

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


class Model(Protocol):
    """What a fit leaves for predictions; can be pickled."""

    def decision(self, new: Array) -> Array:
        """The standardised target of rows as training saw them, (n_new, n_features)."""


@dataclass(frozen=True, eq=False)
class Learnt:
    """What a ridge regressor found on standardised rows and targets.

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


@dataclass(frozen=True, eq=False)
class InnerProducts:
    """Predicts through inner products with the training rows.

    Parameters
    ----------
    rows : array, shape (n_rows, n_features)
        Training rows times `learnt.factors`.
    learnt : Learnt
    """

    rows: Array
    learnt: Learnt

    def decision(self, new: Array) -> Array:
        """Standardised targets of rows (n_new, n_features), shape (n_new,)."""
        learnt, values = self.learnt, np.empty(len(new))
        step = max(1, _PIECE // (8 * len(self.rows)))
        for first in range(0, len(new), step):
            piece = slice(first, first + step)
            products = (new[piece] * learnt.factors) @ self.rows.T
            values[piece] = learnt.profile(products) @ learnt.dual_coef
        return values


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


class ScaledRegressor(RegressorMixin, BaseEstimator, abc.ABC):
    """Base of the regressors: a subclass learns on standardised rows and targets.

    It has the parameters `standardize` and `memory_limit`.  Standardising is
    undone at prediction.
    """

    standardize: bool
    memory_limit: int
    target_scale_: TargetScale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

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
            on these rows is one of them.  The last fit then stays as it was.
        MemoryLimitError
            When it would take more than `memory_limit`.
        """
        before = dict(self.__dict__)
        try:
            self._fit(X, y)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        self._warn()
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
        return self.target_scale_.undo(self._model.decision(seen))

    def _fit(self, X: Any, y: ArrayLike) -> None:
        check_switch(self, "standardize")
        check_memory_limit(self)
        self._check()
        table = check_features(self, X, reset=True, memory_limit=self.memory_limit)
        target = check_targets(y, len(table), type(self).__name__)
        self._check_shape(*table.shape)
        standardizer = Standardizer.fit(table) if self.standardize else None
        seen = table if standardizer is None else standardizer.transform(table)
        self.target_scale_ = TargetScale.fit(target)
        model = self._learn(seen, self.target_scale_.transform(target))
        self._standardizer, self._model = standardizer, model

    @abc.abstractmethod
    def _check(self) -> None:
        """Refuse the subclass's own parameters, before data are read."""

    def _check_shape(self, n_rows: int, n_features: int) -> None:
        """Refuse what does not fit the table, before anything is built."""

    @abc.abstractmethod
    def _learn(self, seen: Array, target: Array) -> Model:
        """Learn from rows and targets, standardised already."""

    def _warn(self) -> None:
        """Say what the person should know of a fit that is stored."""


class PolynomialRegressor(ScaledRegressor):
    """Base of the ridge regressors whose kernel is a function of inner products."""

    def _check_shape(self, n_rows: int, n_features: int) -> None:
        needed = _SQUARES * 8 * n_rows**2
        if needed > self.memory_limit:
            raise MemoryLimitError(
                f"learning from {n_rows} rows takes {needed:,} bytes ({_SQUARES} matrices of "
                f"{n_rows} by {n_rows}), memory_limit is {self.memory_limit:,}; give a subsample "
                "of the rows, or a higher memory_limit"
            )

    def _learn(self, seen: Array, target: Array) -> InnerProducts:
        with np.errstate(over="ignore", invalid="ignore"):
            self.kernel_scale_ = _mean_square(seen)
            learnt = self._ridge(seen / np.sqrt(self.kernel_scale_), target)
        self.dual_coef_ = learnt.dual_coef
        return InnerProducts(seen * learnt.factors, learnt)

    @abc.abstractmethod
    def _ridge(self, rows: Array, target: Array) -> Learnt:
        """Learn from rows whose squared length is 1 on average; factors count from `seen`."""


def _mean_square(seen: Array) -> float:
    """Mean diagonal of the sum of the base kernels; 1 when it is zero."""
    mean = float(np.einsum("ij,ij->i", seen, seen).mean())
    if not np.isfinite(mean):
        raise InputError("the features are too large for inner products; set standardize=True")
    return mean if mean > 0.0 else 1.0
