"""Elastic-net multiple kernel learning as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, ClassVar

from mkldash.estimators.base import KernelClassifier
from mkldash.estimators.parameters import check_eta
from mkldash.kernels.banks import BANKS, SINGLE
from mkldash.kernels.memory import DEFAULT_MEMORY_LIMIT
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers.base import Solver

__all__ = ["ElasticNetMKLClassifier"]


class ElasticNetMKLClassifier(KernelClassifier):
    """Support vector machine that learns the weights of its kernels.

    Solves, for two classes,

        min over theta, f, b   1/2 sum_k ||f_k||^2 / theta_k
                               + C sum_i max(0, 1 - y_i (sum_k f_k(x_i) + b))
        with theta >= 0 and eta sum_k theta_k + (1 - eta) sum_k theta_k^2 <= 1,

    and certifies how close it came: the optimum lies between ``lower_`` and
    ``upper_``.  More than two classes are learnt one against the rest, each with
    its own kernel weights.

    Parameters
    ----------
    kernels : str, Kernel, KernelTerm, or list of Kernel and KernelTerm
        A bank of `mkldash.kernels.banks.BANKS`: ``"paper"``, ``"linear"``,
        ``"gaussian"`` or ``"golden"``; a list such as
        ``[Gaussian(1.0), KernelTerm(Linear(), (0,), "age")]``, where a `Kernel`
        sees all features; or ``"precomputed"``: then ``fit`` takes kernel
        matrices, an array (n_kernels, n, n), a list of (n, n), or a `KernelStack`
        (which `GridSearchCV` and `cross_val_score` can slice), and ``predict``
        blocks (n_kernels, n_new, n).
    eta : float
        In [0, 1]; 1 is the simplex (sparse weights), 0 the Euclidean ball.
    C : float
        Price of the hinge losses, which are summed.
    standardize : bool
        Standardise each feature on the training rows (ddof 0).  Given matrices
        are not touched.
    normalize : bool or "auto"
        Divide each kernel, blocks for prediction included, by its trace on the
        training rows.  ``"auto"``: True for features, where the scale of a
        kernel is an accident of its parameters, and False for given matrices,
        which are used as they are.
    storage : {"auto", "dense", "factored"}
        See `mkldash.kernels.building.build_bank`; for features.
    memory_limit : int
        Bytes that the kernels may take; checked before they are built.
        Prediction evaluates them in pieces of at most 32 MiB.
    repair : {"clip"} or None
        What to do with a given matrix that has negative eigenvalues: refuse, or
        set them to zero.
    solver : str or Solver
        A name, or an instance with its own settings, such as
        ``BlockCoordinateDescent(inner_tol=1e-10)``.
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
    classes_ : array, shape (n_classes,)
        Sorted, of the dtype of y.  ``decision_function(X) > 0`` means
        ``classes_[1]`` when there are two.
    weights_ : array, shape (n_kernels,) or (n_classes, n_kernels)
        Kernel weights theta, in the order in which the kernels were given; 0 for
        kernels that were dropped.  They need not sum to 1: the constraint above
        does.
    kernel_names_ : tuple of str, length n_kernels
    dropped_ : tuple of DroppedKernel
        Kernels that are constant on the training rows, with the reason.
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
        ``"converged"``, ``"iteration_limit"``, ``"time_limit"``, ``"stalled"`` or
        ``"not_finite"``.
    result_ : Result, or tuple of Result, length n_classes
        Bounds, best point and last snapshot of each run.
    n_features_in_ : int
        Features; training rows for given matrices.
    feature_names_in_ : array of str, shape (n_features_in_,)
        Only when X had names.

    References
    ----------
    L. Citi, "A simple yet efficient algorithm for multiple kernel learning under
    elastic-net constraints", 2019.  H. Yang, Z. Xu, J. Ye, I. King and M. R. Lyu,
    "Efficient sparse generalized multiple kernel learning", 2011.

    Examples
    --------
    >>> from mkldash import ElasticNetMKLClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.5], [3.0, 1.5], [4.0, 0.0]]
    >>> model = ElasticNetMKLClassifier(kernels="linear", C=10.0)
    >>> model.fit(X, ["no", "no", "yes", "yes"]).predict([[3.5, 1.0]])
    array(['yes'], dtype='<U3')
    """

    _banks: ClassVar[tuple[str, ...]] = tuple(bank for bank in BANKS if bank != SINGLE)

    def __init__(
        self,
        kernels: Any = "paper",
        *,
        eta: float = 0.5,
        C: float = 100.0,
        standardize: bool = True,
        normalize: bool | str = "auto",
        storage: str = "auto",
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
        repair: str | None = None,
        solver: str | Solver = "block-coordinate",
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
        self.eta = eta

    def _check(self) -> None:
        check_eta(self)
        self._weight_set(1)

    def _trace(self, n_kernels: int, n_rows: int) -> bool | float:
        return not self._takes_matrices() if self.normalize == "auto" else bool(self.normalize)

    def _weight_set(self, n_kernels: int) -> ElasticNet:
        return ElasticNet(self.eta)
