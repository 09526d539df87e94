"""The optimal neighborhood kernel as a scikit-learn classifier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from mkldash.estimators.base import KernelClassifier, Reading, Run, per_output
from mkldash.estimators.parameters import check_eta, check_positive
from mkldash.estimators.stack import KernelStack
from mkldash.kernels.banks import SINGLE, mean_squared_distance
from mkldash.kernels.base import Array, KernelBank, KernelTerm
from mkldash.kernels.memory import DEFAULT_MEMORY_LIMIT
from mkldash.kernels.square import build_square, given_square
from mkldash.problems.weight_sets.base import WeightSet
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.solvers.base import Solver

__all__ = ["NeighborhoodKernelClassifier"]


class NeighborhoodKernelClassifier(KernelClassifier):
    """Support vector machine that learns its kernel matrix near a given one.

    Solves, for two classes,

        min over G   max over alpha   sum_i alpha_i - 1/2 (y alpha)' G (y alpha)
                                      + rho/2 ||G - K||_F^2
        with G positive semidefinite, 0 <= alpha <= C and y'alpha = 0,

    and certifies how close it came: the optimum lies between ``lower_`` and
    ``upper_``.  The learnt kernel is G = K + r r' with r = y alpha / sqrt(2 rho)
    (``rank_one_``).  It settles alpha and the bias; the rank-one part says
    nothing about new rows, so predictions are

        sum_i alpha_i y_i k(x_i, x) + b

    with the given kernel alone, for training rows too.  With several kernels K
    is sum_k theta_k K_k, and the weights are learnt as in
    `ElasticNetMKLClassifier`: theta >= 0 and
    eta sum_k theta_k + (1 - eta) sum_k theta_k^2 <= 1.  More than two classes
    are learnt one against the rest.

    Parameters
    ----------
    kernels : str, Kernel, KernelTerm, or list of Kernel and KernelTerm
        ``"single"``: exp(-|x - x'|^2 / sigma) on all features, with sigma from
        the training rows, see `sigma_factor`.  Or any other bank of
        `mkldash.kernels.banks.BANKS`, one kernel such as ``Gaussian(1.0)``, a
        list of kernels, or ``"precomputed"``, as in `ElasticNetMKLClassifier`.
    rho : float
        Price of leaving the given kernel, above 0; ``numpy.inf`` is the plain
        support vector machine.
    C : float
        Price of the hinge losses, which are summed.
    sigma_factor : float
        For ``kernels="single"``: sigma over the mean of |x_i - x_j|^2 over all
        pairs of training rows, standardised if they are.
    eta : float
        In [0, 1]; 1 is the simplex (sparse weights), 0 the Euclidean ball.
        Only several kernels use it.
    standardize : bool
        Standardise each feature on the training rows (ddof 0).  Given matrices
        are not touched.
    normalize : bool or "auto"
        Scale each kernel, blocks for prediction included, to trace n on the n
        training rows, so that a rho means the same for each.  ``"auto"``: True
        for several kernels of features, and False for a single one and for
        given matrices, which are used as they are.
    storage : {"auto", "dense", "factored"}
        For features: see `mkldash.kernels.building.build_bank`.  ``"auto"``
        keeps a single kernel, when it is not scaled, as a full matrix.
    memory_limit : int
        Bytes that the kernels may take; checked before they are built.
    repair : {"clip"} or None
        What to do with a given matrix that has negative eigenvalues: refuse, or
        set them to zero.
    solver : str or Solver
        ``"auto"`` is ``"shifted-svm"`` for one kernel and ``"block-coordinate"``
        for several; or a name, or an instance with its own settings.
    tol : float
        Relative duality gap to reach, ``upper_ / lower_ - 1``.
    max_iter : int
        Iterations, per class if there are more than two.
    time_limit : float or None
        Seconds of the solver's work, per class.
    warm_start : bool
        Start from the last fit's weights and dual coefficients where they fit;
        with unchanged data and parameters the run is resumed.

    Attributes
    ----------
    rank_one_ : array, shape (n_rows,) or (n_classes, n_rows)
        y * alpha / sqrt(2 rho): the learnt kernel on the training rows is
        K + rank_one_ rank_one_'.  Zeros when rho is infinite.
    shift_ : float, or array, shape (n_classes,)
        ||alpha||^2 / (2 rho), the Frobenius norm of the rank-one part: alpha is
        that of a support vector machine on K + shift_ I.
    sigma_ : float or None
        Of ``kernels="single"``.
    classes_ : array, shape (n_classes,)
        Sorted, of the dtype of y.  ``decision_function(X) > 0`` means
        ``classes_[1]`` when there are two.
    weights_ : array, shape (n_kernels,) or (n_classes, n_kernels)
        Kernel weights theta, in the order in which the kernels were given; 1 for
        a single one, 0 for kernels that were dropped.
    kernel_names_ : tuple of str, length n_kernels
    dropped_ : tuple of DroppedKernel
        Kernels among several that are constant on the training rows.
    notes_ : tuple of str
        Sentences on constant columns, unequal traces and repairs.
    support_ : array of int, shape (n_support,)
        Training rows that predictions depend on, of any class.
    dual_coef_ : array, shape (n_support,) or (n_classes, n_support)
        y * alpha on the rows of ``support_``.
    intercept_ : float, or array, shape (n_classes,)
    upper_, lower_, gap_ : float, or array, shape (n_classes,)
        Certified bounds on the optimum; ``upper_ / lower_ - 1`` (infinite while
        the lower bound is not positive).
    n_iter_ : int, or array of int, shape (n_classes,)
        Iterations run; the start counts only when nothing came after it.
    status_ : str, or tuple of str, length n_classes
        See `ElasticNetMKLClassifier`.
    result_ : Result, or tuple of Result, length n_classes
        Bounds, best point and last snapshot of each run.
    n_features_in_ : int
        Features; training rows for given matrices.
    feature_names_in_ : array of str, shape (n_features_in_,)
        Only when X had names.

    References
    ----------
    J. Liu, J. Chen, S. Chen and J. Ye, "Learning the optimal neighborhood kernel
    for classification", IJCAI 2009.

    Examples
    --------
    >>> from mkldash import NeighborhoodKernelClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.5], [3.0, 1.5], [4.0, 0.0]]
    >>> model = NeighborhoodKernelClassifier(rho=10.0)
    >>> model.fit(X, ["no", "no", "yes", "yes"]).predict([[3.5, 1.0]])
    array(['yes'], dtype='<U3')
    """

    _scaled_to: ClassVar[str] = "trace n"

    def __init__(
        self,
        kernels: Any = SINGLE,
        *,
        rho: float = 100.0,
        C: float = 1.0,
        sigma_factor: float = 4.0,
        eta: float = 0.5,
        standardize: bool = True,
        normalize: bool | str = "auto",
        storage: str = "auto",
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
        repair: str | None = None,
        solver: str | Solver = "auto",
        tol: float = 1e-3,
        max_iter: int = 500,
        time_limit: float | None = None,
        warm_start: bool = False,
    ) -> None:
        super().__init__(
            kernels,
            C=C,
            standardize=standardize,
            normalize=normalize,
            storage=storage,
            memory_limit=memory_limit,
            repair=repair,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            time_limit=time_limit,
            warm_start=warm_start,
        )
        self.rho = rho
        self.sigma_factor = sigma_factor
        self.eta = eta

    def _check(self) -> None:
        check_positive(self, "rho", infinite="a plain support vector machine")
        check_positive(self, "sigma_factor")

    def _trace(self, n_kernels: int, n_rows: int) -> bool | float:
        wanted = self.normalize
        if isinstance(wanted, str):
            wanted = n_kernels > 1 and not self._takes_matrices()
        return float(n_rows) if wanted else False

    def _weight_set(self, n_kernels: int) -> WeightSet:
        if n_kernels == 1:
            return Fixed((1.0,))
        check_eta(self)
        return ElasticNet(self.eta)

    def _penalty(self) -> float:
        return float(self.rho)

    def _usual_solver(self, n_kernels: int) -> str:
        return "shifted-svm" if n_kernels == 1 else "block-coordinate"

    def _sigma(self, seen: Array) -> float | None:
        if not (isinstance(self.kernels, str) and self.kernels == SINGLE):
            return None
        return float(self.sigma_factor) * mean_squared_distance(seen)

    def _build(self, seen: Array, terms: tuple[KernelTerm, ...]) -> KernelBank:
        if self.storage == "auto" and self._keeps_square(len(terms), len(seen)):
            return build_square(seen, terms[0], memory_limit=self.memory_limit)
        return super()._build(seen, terms)

    def _take(self, stack: KernelStack) -> KernelBank:
        if self._keeps_square(stack.n_kernels, len(stack)):
            return given_square(stack.block(0), stack.names[0], repair=self.repair)
        return super()._take(stack)

    def _keeps_square(self, n_kernels: int, n_rows: int) -> bool:
        return n_kernels == 1 and not self._trace(n_kernels, n_rows)

    def _store(self, reading: Reading, runs: Sequence[Run]) -> None:
        super()._store(reading, runs)
        coefficients = np.stack([run.coefficients for run in runs])
        self.sigma_ = reading.sigma
        self.shift_ = per_output([float(a @ a) / (2.0 * self._penalty()) for a in coefficients])
        self.rank_one_ = per_output(coefficients / math.sqrt(2.0 * self._penalty()))
