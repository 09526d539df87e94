"""Kernel ridge over all products of features, every product weighing the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from mkldash.estimators.parameters import check_at_least, check_positive, check_whole
from mkldash.estimators.regression import Learnt, PolynomialRegressor, ridge_factor
from mkldash.kernels.base import Array
from mkldash.kernels.memory import DEFAULT_MEMORY_LIMIT

__all__ = ["PolynomialRidge", "Series"]


@dataclass(frozen=True)
class Series:
    """A polynomial of inner products, entry by entry.

    Parameters
    ----------
    coefficients : tuple of float
        Of the powers 0, 1, ...
    """

    coefficients: tuple[float, ...]

    def __call__(self, products: Array) -> Array:
        """Values, same shape as `products`."""
        values = np.full_like(products, self.coefficients[-1])
        for coefficient in self.coefficients[-2::-1]:
            values *= products
            values += coefficient
        return values


class PolynomialRidge(PolynomialRegressor):
    """Kernel ridge regression over all products of up to `degree` features.

    Nothing is learnt about the products.  With S = X X' / s, the sum of the
    linear kernels of the features over the mean s of its diagonal, the kernel is

        K = weight sum_{d=0..degree} S^(d) / rho_d^2,    rho_d^2 = penalty growth^d,

    with powers entry by entry.  S^(d) is the sum of the kernels of all ordered
    products of d features, so each of the sum_d n_features^d products has the
    kernel weight theta = `weight`; that of d = 0 is the offset.  The dual
    coefficients minimise 1/2 sum_i (y_i - f(x_i))^2 + 1/2 ||f||^2:

        a = (K + I)^-1 y,    f(x) = sum_i a_i k(x, x_i).

    The default, 1 for every product, is the optimum over 0 <= theta <= 1
    (multiple kernel learning with p = 2).  For theta in the simplex the uniform
    point is ``weight = 1 / (number of products)``.

    Parameters
    ----------
    degree : int
        Most features in a product, at least 1.
    penalty : float
        Strength of the ridge, above 0.
    growth : float
        How much more a product costs for each feature in it; at least 1.
    weight : float
        Kernel weight of every product, above 0.  Only ``weight / penalty``
        counts; it is here so that an objective can be compared.
    standardize : bool
        Standardise each feature on the training rows (ddof 0).  The target
        always is, and predictions are in its own units.
    memory_limit : int
        Bytes that fitting may take; checked before anything is built.

    Attributes
    ----------
    dual_coef_ : array, shape (n_rows,)
        a, for the standardised target.
    objective_ : float
        1/2 y'(K + I)^-1 y of the standardised target.
    n_products_ : int
        Number of ordered products, offset included.
    kernel_scale_ : float
        s above.
    target_scale_ : TargetScale
        Mean and standard deviation of the training targets.
    n_features_in_ : int
    feature_names_in_ : array of str, shape (n_features_in_,)
        Only when X had names.

    References
    ----------
    C. Saunders, A. Gammerman and V. Vovk, "Ridge regression learning algorithm in
    dual variables", ICML 1998.

    Examples
    --------
    >>> from mkldash import PolynomialRidge
    >>> X = [[0.0, 1.0], [1.0, 2.0], [2.0, 0.0], [3.0, 3.0]]
    >>> model = PolynomialRidge(degree=2, penalty=0.01).fit(X, [0.0, 2.0, 0.0, 9.0])
    >>> model.predict([[2.0, 2.0]]).round().tolist()
    [4.0]
    """

    def __init__(
        self,
        degree: int = 3,
        *,
        penalty: float = 1.0,
        growth: float = 4.0,
        weight: float = 1.0,
        standardize: bool = True,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
    ) -> None:
        self.degree = degree
        self.penalty = penalty
        self.growth = growth
        self.weight = weight
        self.standardize = standardize
        self.memory_limit = memory_limit

    def _check(self) -> None:
        check_whole(self, "degree", 1)
        check_positive(self, "penalty")
        check_at_least(self, "growth", 1.0)
        check_positive(self, "weight")

    def _ridge(self, rows: Array, target: Array) -> Learnt:
        powers = float(self.growth) ** -np.arange(int(self.degree) + 1.0)
        profile = Series(tuple((float(self.weight) / float(self.penalty) * powers).tolist()))
        factor = ridge_factor(profile(rows @ rows.T), 1.0)
        dual = scipy.linalg.cho_solve(factor, target, check_finite=False)
        n_features = rows.shape[1]
        self.objective_ = 0.5 * float(target @ dual)
        self.n_products_ = sum(n_features**d for d in range(int(self.degree) + 1))
        factors = np.full(n_features, 1.0 / np.sqrt(self.kernel_scale_))
        return Learnt(profile, factors, dual)
