"""Learning a polynomial kernel by projected gradient (Cortes, Mohri, Rostamizadeh 2009)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from mkldash.errors import InputError
from mkldash.estimators.parameters import check_at_least, check_positive, check_whole
from mkldash.estimators.regression import Learnt, PolynomialRegressor, ridge_factor
from mkldash.kernels.base import Array
from mkldash.kernels.memory import DEFAULT_MEMORY_LIMIT
from mkldash.kernels.notices import warn_caller

__all__ = ["LearntPolynomialKernel", "Power", "Value", "objective", "projection"]

#: Steps smaller than this part of the first one change nothing but rounding.
_SHORTEST = 1e-14


@dataclass(frozen=True)
class Power:
    """(offset + inner product)^degree, entry by entry.

    Parameters
    ----------
    degree : int
        At least 0.
    offset : float
    """

    degree: int
    offset: float

    def __call__(self, products: Array) -> Array:
        """Values, same shape as `products`."""
        return (products + self.offset) ** self.degree


@dataclass(frozen=True, eq=False)
class Value:
    """The objective at a point.

    Attributes
    ----------
    value : float
        F(mu) = y'(K_mu + penalty I)^-1 y.
    gradient : array, shape (n_features,)
        None of it is positive.
    dual_coef : array, shape (n_rows,)
        (K_mu + penalty I)^-1 y.
    """

    value: float
    gradient: Array
    dual_coef: Array


def objective(mu: Array, rows: Array, target: Array, power: Power, penalty: float) -> Value:
    """F(mu) = y'(K_mu + penalty I)^-1 y and its gradient.

    With H = offset + sum_k mu_k x_k x_k' and K_mu = H^(degree), powers entry by
    entry, and a = (K_mu + penalty I)^-1 y, the gradient is
    dF/dmu_k = -degree a' (H^(degree - 1) o x_k x_k') a.

    Parameters
    ----------
    mu : array, shape (n_features,)
        Not negative.
    rows : array, shape (n_rows, n_features)
        The columns are the x_k.
    target : array, shape (n_rows,)
    power : Power
    penalty : float

    Returns
    -------
    Value
    """
    products = (rows * mu) @ rows.T
    factor = ridge_factor(power(products), penalty)
    dual = scipy.linalg.cho_solve(factor, target, check_finite=False)
    weighted = dual[:, None] * rows
    lower = Power(power.degree - 1, power.offset)(products)
    slope = np.einsum("ik,ik->k", weighted, lower @ weighted)
    # Not positive by Schur's product theorem; beyond that it is rounding.
    return Value(float(target @ dual), -power.degree * np.maximum(slope, 0.0), dual)


def projection(point: Array, center: Array, radius: float) -> Array:
    """The nearest point of {mu >= 0, ||mu - center|| <= radius}, for point >= center - radius.

    Clips at zero and then rescales towards the center, which is exact wherever
    the gradient steps lead: they only ever raise mu.

    Parameters
    ----------
    point : array, shape (n_features,)
    center : array, shape (n_features,)
        Not negative.
    radius : float
    """
    away = np.maximum(point, 0.0) - center
    distance = float(np.linalg.norm(away))
    return center + away * (radius / distance) if distance > radius else center + away


class LearntPolynomialKernel(PolynomialRegressor):
    """Kernel ridge regression that learns the base weights of a polynomial kernel.

    With K_k = x_k x_k' / s, the linear kernel of feature k over the mean s of the
    diagonal of their sum, it looks for

        min over mu   F(mu) = y' (K_mu + penalty I)^-1 y,
        K_mu = (offset + sum_k mu_k K_k)^(degree)  entry by entry,
        with mu >= 0 and ||mu - center|| <= radius,

    by projected gradient: a step, negative weights to zero, back onto the ball.
    The step is halved until F falls enough, so F never rises.  For degree 1 F is
    convex.  **For a higher degree it is not convex in mu**: what is found is a
    stationary point, it may depend on the start (all features equally far from
    the center), and there are no bounds on the optimum.  It minimises another
    function over another set than the multiple kernel learning of this package:
    compare the test errors, not the objectives.

    Parameters
    ----------
    degree : int
        At least 1.
    penalty : float
        Price of the squared norm of the function, above 0.
    radius : float or None
        Of the ball, above 0.  None: the square root of the number of features, so
        that with ``center=0`` the start is mu = 1, the uniform polynomial kernel.
    center : float or array-like, shape (n_features,)
        Not negative.
    offset : float
        At least 0.  The paper's kernel has 0: then only products of exactly
        `degree` features occur, and neither main effects nor a constant at a
        higher degree.  A positive offset, which is not learnt, brings in all
        lower degrees.
    tol : float
        Stop when no direction in the set promises, to first order, to lower F by
        more than this part of it.
    max_iter : int
        Gradient steps, at least 1.
    standardize : bool
        Standardise each feature on the training rows (ddof 0).  The target
        always is, and predictions are in its own units.
    memory_limit : int
        Bytes that fitting may take; checked before anything is built.

    Attributes
    ----------
    mu_ : array, shape (n_features_in_,)
    objective_path_ : array, shape (n_steps + 1,)
        F of the standardised target, from the start on; it never rises.
    n_iter_ : int
        Gradient steps taken; a start that is good enough counts for itself.
    converged_ : bool
    status_ : str
        Why it stopped: ``"converged"``, ``"iteration_limit"``, or ``"stalled"`` when no
        step, however short, lowers F.
    stationarity_ : float
        What `tol` is compared with, at the end.
    dual_coef_ : array, shape (n_rows,)
        (K_mu + penalty I)^-1 y, for the standardised target.
    kernel_scale_ : float
        s above.
    target_scale_ : TargetScale
        Mean and standard deviation of the training targets.
    n_features_in_ : int
    feature_names_in_ : array of str, shape (n_features_in_,)
        Only when X had names.

    References
    ----------
    C. Cortes, M. Mohri and A. Rostamizadeh, "Learning non-linear combinations of
    kernels", NIPS 2009.

    Examples
    --------
    >>> from mkldash import LearntPolynomialKernel
    >>> X = [[0.0, 1.0], [1.0, 2.0], [2.0, 0.0], [3.0, 3.0]]
    >>> model = LearntPolynomialKernel(penalty=0.01).fit(X, [0.0, 2.0, 0.0, 9.0])
    >>> model.predict([[2.0, 2.0]]).round().tolist()
    [4.0]
    """

    def __init__(
        self,
        degree: int = 2,
        *,
        penalty: float = 1.0,
        radius: float | None = None,
        center: float | ArrayLike = 0.0,
        offset: float = 1.0,
        tol: float = 1e-4,
        max_iter: int = 500,
        standardize: bool = True,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
    ) -> None:
        self.degree = degree
        self.penalty = penalty
        self.radius = radius
        self.center = center
        self.offset = offset
        self.tol = tol
        self.max_iter = max_iter
        self.standardize = standardize
        self.memory_limit = memory_limit

    def _check(self) -> None:
        check_whole(self, "degree", 1)
        check_positive(self, "penalty")
        if self.radius is not None:
            check_positive(self, "radius")
        check_at_least(self, "offset", 0.0)
        check_positive(self, "tol")
        check_whole(self, "max_iter", 1)
        self._center(None)

    def _check_shape(self, n_rows: int, n_features: int) -> None:
        super()._check_shape(n_rows, n_features)
        self._center(n_features)

    def _center(self, n_features: int | None) -> Array:
        """The center of the ball; checked, and spread out when the features are known."""
        message = "center must be a number, at least 0, or one such number for each feature"
        try:
            center = np.asarray(self.center, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{message}, not {self.center!r}") from error
        if isinstance(self.center, str | bytes | bool) or center.ndim > 1:
            raise InputError(f"{message}, not {self.center!r}")
        if not (np.isfinite(center).all() and (center >= 0.0).all()):
            raise InputError(f"{message}, not {self.center!r}")
        if n_features is None:
            return center
        if center.ndim == 1 and len(center) != n_features:
            raise InputError(f"center has {len(center)} numbers, X has {n_features} features")
        return np.broadcast_to(center, (n_features,)).astype(np.float64)

    def _ridge(self, rows: Array, target: Array) -> Learnt:
        n_features = rows.shape[1]
        center = self._center(n_features)
        radius = float(np.sqrt(n_features) if self.radius is None else self.radius)
        power = Power(int(self.degree), float(self.offset))
        found = _descend(
            lambda mu: objective(mu, rows, target, power, float(self.penalty)),
            center,
            radius,
            float(self.tol),
            int(self.max_iter),
        )
        self.mu_ = found.mu
        self.objective_path_ = np.array(found.path)
        self.n_iter_ = max(1, len(found.path) - 1)
        self.status_, self.converged_ = found.status, found.status == "converged"
        self.stationarity_ = found.stationarity
        return Learnt(power, np.sqrt(found.mu / self.kernel_scale_), found.at.dual_coef)

    def _warn(self) -> None:
        if self.converged_:
            return
        remedy = f"raise max_iter (now {self.max_iter})"
        if self.status_ == "stalled":
            remedy = "no step lowers the objective any more: raise penalty"
        warn_caller(
            f"after {self.n_iter_} steps the first-order promise is {self.stationarity_:.3g} of "
            f"the objective, above tol={self.tol:g}; {remedy}, or accept it with a larger tol",
            ConvergenceWarning,
        )


@dataclass(frozen=True, eq=False)
class _Descent:
    mu: Array
    at: Value
    path: list[float]
    status: str
    stationarity: float


def _descend(
    evaluate: Callable[[Array], Value], center: Array, radius: float, tol: float, max_iter: int
) -> _Descent:
    """Projected gradient with backtracking from the point in the middle of the boundary."""
    mu = center + radius / np.sqrt(len(center))
    at = evaluate(mu)
    path, status = [at.value], "iteration_limit"
    step = longest = radius / max(float(np.linalg.norm(at.gradient)), 1e-300)
    while True:
        promise = _promise(mu, at, center, radius)
        if promise <= tol:
            status = "converged"
            break
        if len(path) > max_iter:
            break
        while step > _SHORTEST * longest:
            new = projection(mu - step * at.gradient, center, radius)
            move = new - mu
            then = evaluate(new)
            bound = at.gradient @ move + move @ move / (2.0 * step)
            if then.value <= min(at.value, at.value + bound):
                break
            step *= 0.5
        else:
            status = "stalled"
            break
        mu, at, step = new, then, 2.0 * step
        longest = max(longest, step)
        path.append(at.value)
    return _Descent(mu, at, path, status, promise)


def _promise(mu: Array, at: Value, center: Array, radius: float) -> float:
    """The most that a linear model of F falls within the set, as a part of F."""
    best = radius * float(np.linalg.norm(at.gradient))
    return max(0.0, float(at.gradient @ (mu - center)) + best) / at.value
