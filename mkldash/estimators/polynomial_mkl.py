"""Multiple kernel learning over all products of features as a scikit-learn regressor."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mkldash.errors import InputError
from mkldash.estimators.doors import make_kernel_terms
from mkldash.estimators.interactions import interactions
from mkldash.estimators.parameters import (
    check_at_least,
    check_between,
    check_positive,
    check_stop,
    check_switch,
    check_whole,
    make_solver,
)
from mkldash.estimators.regression import ScaledRegressor
from mkldash.estimators.reports import SlowConvergenceWarning, Ways, shortfall
from mkldash.kernels.base import Array, Kernel, KernelTerm
from mkldash.kernels.memory import DEFAULT_MEMORY_LIMIT
from mkldash.kernels.normalization import ConstantKernelWarning, constant_columns
from mkldash.kernels.notices import warn_caller
from mkldash.kernels.products import (
    HIGHEST_DEGREE,
    ProductFamily,
    ProductPredictor,
    product_family,
    product_family_of_terms,
)
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers.base import Snapshot, Solver
from mkldash.solvers.driver import solve

__all__ = ["PolynomialMKLRegressor"]

#: Value of `kernels` for one linear kernel per feature.
_LINEAR = "linear"

_KERNELS = (
    f"kernels must be {_LINEAR!r} (one for each feature) or a list of kernels to be multiplied, "
    "such as [Linear(), Gaussian(1.0)]"
)

_WAYS = Ways(
    "raise penalty or growth, or take another random_state",
    "standardise the features, or raise penalty",
    "raise penalty, ",
)

#: Seeds that a solver takes.
_SEEDS = 2**31 - 1


class PolynomialMKLRegressor(ScaledRegressor):
    """Regression that learns which products of up to `degree` features matter.

    The kernels are the products of d = 0 .. degree base kernels, by default
    linear ones, so that they are the monomials of the features; d = 0 is the
    offset.  With r base kernels there are 1 + r + ... + r^degree, and they are
    never listed.  With base kernels divided by the mean diagonal of their sum it
    solves

        min over theta, f   1/2 sum_i (y_i - sum_w f_w(x_i))^2
                            + 1/2 sum_w rho_d^2 ||f_w||^2 / theta_w,
        rho_d^2 = penalty growth^d,    theta >= 0,    ||theta||_nu <= 1,

    nu = p / (2 - p), over words w of length d, and certifies how close it came:
    the optimum lies between ``lower_`` and ``upper_``.

    For p = 1 all orderings of a product are one kernel, and few products get
    weight.  For p > 1 they are kernels of their own, which is another model:
    a product of many different features then counts for more.  p = 2 has the
    optimum theta = 1, for which `PolynomialRidge` needs no iteration.

    Parameters
    ----------
    degree : int
        Most factors in a product, 1 to 20.
    p : float
        Norm over the products, 1 (few of them) to 2 (all of them).  Above 4/3
        and 1,000 kernels convergence is not to be expected; it warns.
    penalty : float
        Strength of the penalty, above 0.
    growth : float
        How much more a product costs for each factor in it; at least 1.  With 1,
        many nearly equal products of noise hide the true ones for long.
    kernels : "linear", Kernel, KernelTerm, or list of Kernel and KernelTerm
        What is multiplied: ``"linear"`` is one linear kernel for each feature
        that is not constant; a list is such as
        ``[Gaussian(1.0), KernelTerm(Linear(), (0,), "age")]``, where a `Kernel`
        sees all features.
    standardize : bool
        Standardise each feature on the training rows (ddof 0).  The target
        always is, and predictions are in its own units.
    memory_limit : int
        Bytes that the family may take; checked before it is built.
    solver : str or Solver
        A name, or an instance with its own settings, such as
        ``RandomizedMirrorDescent(certify_every=10)``.
    tol : float
        Relative duality gap to reach, ``upper_ / lower_ - 1``.
    max_iter : int
        Iterations.
    time_limit : float or None
        Seconds of the solver's work.
    random_state : int, RandomState or None
        Seed of the solver's draws, if it draws.  An int gives the same fit every
        time.  With None a solver given by name draws anew in every fit, and an
        instance keeps its own seed.
    warm_start : bool
        Start from the last fit's weights where they fit; with unchanged data and
        parameters the run is resumed, with the draws that it would have made.

    Attributes
    ----------
    interactions_ : tuple of Interaction
        The products with weight, largest first: ``product``, ``degree``,
        ``weight`` and ``orderings``; for p > 1 the orderings of one product are
        summed.
    weights_ : dict
        Kernel weight of each kernel that has one (above 1e-5 of the largest),
        largest first.  Its key is the tuple of positions in `kernel_names_`, with
        repeats, ``()`` for the offset.
    kernel_names_ : tuple of str
        Names of the base kernels: of the features, for linear ones.
    family_size_ : int
        Number of words: products in all their orderings, offset included.
    upper_, lower_, gap_ : float
        Certified bounds on the optimum for the standardised target;
        ``upper_ / lower_ - 1`` (infinite while the lower bound is 0).
    certificate_ : str
        What the lower bound rests on: ``"exact"``, or a search that stopped
        early, whose bound is valid and weaker.  ``""`` from a solver that does
        not say.
    n_iter_ : int
        Iterations run; a start that is good enough counts for itself.
    status_ : str
        ``"converged"``, ``"iteration_limit"``, ``"time_limit"``, ``"stalled"`` or
        ``"not_finite"``.
    notes_ : tuple of str
        Sentences on constant features and on what to expect.
    dual_coef_ : array, shape (n_rows,)
        a, for the standardised target.
    result_ : Result
        Bounds, best point and last snapshot.
    target_scale_ : TargetScale
        Mean and standard deviation of the training targets.
    n_features_in_ : int
    feature_names_in_ : array of str, shape (n_features_in_,)
        Only when X had names.

    References
    ----------
    A. Afkanpour, A. Gyorgy, C. Szepesvari and M. Bowling, "A randomized mirror
    descent algorithm for large scale multiple kernel learning", ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mkldash import PolynomialMKLRegressor
    >>> X = np.random.default_rng(0).standard_normal((200, 6))
    >>> model = PolynomialMKLRegressor(random_state=0).fit(X, 2 * X[:, 1] * X[:, 4] + X[:, 2])
    >>> [row.product for row in model.interactions_[:2]]
    ['x1 · x4', 'x2']
    """

    def __init__(
        self,
        degree: int = 3,
        *,
        p: float = 1.0,
        penalty: float = 1.0,
        growth: float = 4.0,
        kernels: Any = _LINEAR,
        standardize: bool = True,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
        solver: str | Solver = "mirror-descent",
        tol: float = 1e-2,
        max_iter: int = 2000,
        time_limit: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
    ) -> None:
        self.degree = degree
        self.p = p
        self.penalty = penalty
        self.growth = growth
        self.kernels = kernels
        self.standardize = standardize
        self.memory_limit = memory_limit
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.warm_start = warm_start

    def _check(self) -> None:
        check_whole(self, "degree", 1)
        check_between(self, "degree", 1, HIGHEST_DEGREE)
        check_between(self, "p", 1.0, 2.0)
        check_positive(self, "penalty")
        check_at_least(self, "growth", 1.0)
        check_switch(self, "warm_start")
        check_stop(self)
        make_solver(self.solver)
        self._generator()
        listed = isinstance(self.kernels, Kernel | KernelTerm | list | tuple)
        if not (listed or (isinstance(self.kernels, str) and self.kernels == _LINEAR)):
            shown = repr(self.kernels)
            raise InputError(f"{_KERNELS}, not {shown if len(shown) < 60 else shown[:60] + '...'}")
        if isinstance(self.kernels, list | tuple) and not self.kernels:
            raise InputError(f"{_KERNELS}; the list is empty")

    def _generator(self) -> np.random.RandomState:
        """What `random_state` stands for; drawing from it moves a RandomState on."""
        try:
            return check_random_state(self.random_state)
        except ValueError as error:
            raise InputError(
                "random_state must be None, a whole number from 0 to 4294967295 or a "
                f"numpy.random.RandomState, not {self.random_state!r}"
            ) from error

    def _seeded(self) -> Solver:
        """The solver with the seed of this fit."""
        solver = make_solver(self.solver)
        draws = any(field.name == "seed" for field in dataclasses.fields(solver))
        own = self.random_state is None and isinstance(self.solver, Solver)
        if not draws or own:
            return solver
        whole = isinstance(self.random_state, int | np.integer)
        seed = self.random_state if whole else self._generator().randint(_SEEDS)
        return dataclasses.replace(solver, seed=int(seed))  # type: ignore[call-arg, arg-type]

    def _learn(self, seen: Array, target: Array) -> _Model:
        names = [f"x{j}" for j in range(seen.shape[1])]
        names = [str(name) for name in getattr(self, "feature_names_in_", names)]
        family, columns, note = self._family(seen, names)
        problem = Problem(family, target, Squared(), NormBall.of_p(float(self.p)))
        self.notes_ = family.warnings if note is None else (note, *family.warnings)
        for sentence in self.notes_:
            warn_caller(sentence, ConstantKernelWarning)
        start = getattr(self, "result_", None) if self.warm_start else None
        result = solve(
            self._seeded(),
            problem,
            start=None if start is None else start.last,
            stop=check_stop(self),
            callbacks=[self._hear],
        )
        best = result.best
        self.result_ = result
        self.kernel_names_ = tuple(names) if columns is not None else family.base_names
        self.weights_ = {
            _in_columns(key, columns): value for key, value in best.weights.as_dict().items()
        }
        self.interactions_ = interactions(family, best.weights)
        self.family_size_ = family.n_words
        self.upper_, self.lower_, self.gap_ = result.upper, result.lower, result.gap
        self.certificate_ = str(getattr(result.final, "certificate", ""))
        # scikit-learn wants at least 1: a start that is good enough counts for itself.
        self.n_iter_ = max(1, result.iterations)
        self.status_ = result.status.value
        self.dual_coef_ = best.alpha
        return _Model(columns, family.predictor(best.weights, best.alpha))

    def _family(
        self, seen: Array, names: Sequence[str]
    ) -> tuple[ProductFamily, NDArray[np.intp] | None, str | None]:
        """The products, the columns that linear ones are over, and a note on the others."""
        settings: dict[str, Any] = {
            "degree": int(self.degree),
            "penalty": float(self.penalty),
            "growth": float(self.growth),
            "merged": self.p == 1.0,
            "memory_limit": self.memory_limit,
        }
        if not isinstance(self.kernels, str):
            terms = make_kernel_terms(self.kernels, names, ())
            return product_family_of_terms(seen, terms, **settings), None, None
        # A constant is the offset over again, or nothing once it is standardised.
        constant = constant_columns(seen)
        columns = np.flatnonzero(~constant)
        if not len(columns):
            raise InputError(
                "every feature is constant on the training rows: there is nothing to learn from; "
                "give other features, or more rows"
            )
        varying = [name for name, still in zip(names, constant, strict=True) if not still]
        family = product_family(seen[:, columns], varying, **settings)
        return family, columns, _left_out([name for name in names if name not in varying])

    def _hear(self, snapshot: Snapshot) -> None:
        """What the solver says before its first step is for the person, at once."""
        if snapshot.iteration:
            return
        for sentence in snapshot.events:
            self.notes_ = (*self.notes_, sentence)
            if self.p == 2:
                sentence += "; for p = 2 PolynomialRidge is the optimum, without iterations"
            warn_caller(sentence, SlowConvergenceWarning)

    def _warn(self) -> None:
        sentence = shortfall([self.result_], check_stop(self), np.zeros(1), _WAYS)
        if sentence is not None:
            certificate = self.certificate_
            how = f" (lower bound: {certificate})" if certificate not in ("", "exact") else ""
            warn_caller(sentence + how, ConvergenceWarning)


@dataclasses.dataclass(frozen=True, eq=False)
class _Model:
    """Predicts from the columns that the products are over.

    Parameters
    ----------
    columns : array of int, or None
        None: all.
    predictor : ProductPredictor
    """

    columns: NDArray[np.intp] | None
    predictor: ProductPredictor

    def decision(self, new: Array) -> Array:
        """Standardised targets of rows (n_new, n_features), shape (n_new,)."""
        return self.predictor.decision(new if self.columns is None else new[:, self.columns])


def _in_columns(key: Any, columns: NDArray[np.intp] | None) -> tuple[int, ...]:
    """A key of the family with positions in the table."""
    return tuple(int(j if columns is None else columns[j]) for j in key)


def _left_out(names: Sequence[str]) -> str | None:
    """A sentence on constant features."""
    if not names:
        return None
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    verb = "is" if len(names) == 1 else "are"
    return f"{shown} {verb} constant on the training rows: left out of the products"
