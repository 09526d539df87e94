"""Elastic-net multiple kernel learning as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mkldash.estimators.checks import check_features, check_labels
from mkldash.estimators.doors import (
    PRECOMPUTED,
    GivenModel,
    Parts,
    TableModel,
    make_kernel_terms,
    read_given,
)
from mkldash.estimators.parameters import check_parameters, make_solver
from mkldash.estimators.reports import UnequalTracesWarning, shortfall, unequal_traces
from mkldash.kernels.base import Array, KernelBank
from mkldash.kernels.building import build_bank
from mkldash.kernels.memory import DEFAULT_MEMORY_LIMIT
from mkldash.kernels.normalization import Standardizer
from mkldash.kernels.notices import warn_caller
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers.base import Snapshot, Solver
from mkldash.solvers.driver import Result, solve
from mkldash.solvers.stopping import StopRule

__all__ = ["ElasticNetMKLClassifier"]


class ElasticNetMKLClassifier(ClassifierMixin, BaseEstimator):
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
        Iterations run, the start not counted.
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
        self.kernels = kernels
        self.eta = eta
        self.C = C
        self.standardize = standardize
        self.normalize = normalize
        self.storage = storage
        self.memory_limit = memory_limit
        self.repair = repair
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._takes_matrices()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        # A fit that was refused leaves `n_features_in_` behind and no model.
        return hasattr(self, "_model")

    def fit(self, X: Any, y: ArrayLike) -> ElasticNetMKLClassifier:
        """Learn kernel weights and support vectors.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_rows, n_features)
            Features: numbers of any type, or a DataFrame of them.  With
            ``kernels="precomputed"`` the training matrices, see the class.
        y : array-like, shape (n_rows,)
            Two or more classes: numbers, text or booleans.  Weights of rows are
            not supported.

        Returns
        -------
        ElasticNetMKLClassifier
            Itself.

        Raises
        ------
        InputError
            For data or parameters that cannot be used, before solving starts.
        MemoryLimitError
            When the kernels would take more than `memory_limit`.

        Warns
        -----
        ConvergenceWarning
            When a limit came first, with the gap that was certified.
        ConstantKernelWarning, UnequalTracesWarning
            See ``notes_``.
        """
        check_parameters(self)
        loss, weight_set = Hinge(self.C), ElasticNet(self.eta)
        stop = StopRule(tol=self.tol, max_iter=self.max_iter, time_limit=self.time_limit)
        solver = make_solver(self.solver)
        starts = self._starts()
        read = self._read_matrices if self._takes_matrices() else self._read_table
        bank, classes, codes, make_model = read(X, y)
        positives = [1] if len(classes) == 2 else range(len(classes))
        results = []
        for output, positive in enumerate(positives):
            signs = np.where(codes == positive, 1.0, -1.0)
            problem = Problem(bank, signs, loss, weight_set)
            start = starts[output] if len(starts) == len(positives) else None
            results.append((solve(solver, problem, start=start, stop=stop), signs))
        self._store(bank, classes, results, make_model)
        self._warn(bank, stop)
        return self

    def decision_function(self, X: Any) -> Array:
        """How far on the side of each class, with the intercept.

        Only kernels with weight and support rows are evaluated.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_new, n_features)
            With ``kernels="precomputed"``, test-by-train blocks of every given
            kernel, not normalised: (n_kernels, n_new, n_rows), a list, or a
            `KernelStack`.

        Returns
        -------
        array, shape (n_new,) or (n_new, n_classes)
            With two classes, positive means ``classes_[1]``.

        Raises
        ------
        InputError
            For other columns, shapes or missing values.
        """
        check_is_fitted(self)
        if isinstance(self._model, TableModel):
            X = check_features(self, X, reset=False, memory_limit=self.memory_limit)
        values = self._model.decision(X) + self.intercept_
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> NDArray:
        """The class of each row; see `decision_function`.

        Parameters
        ----------
        X : array-like, sparse matrix or kernel blocks
            As for `decision_function`.

        Returns
        -------
        array, shape (n_new,)
            Values of ``classes_``.
        """
        values = self.decision_function(X)
        if values.ndim == 1:
            return self.classes_[(values > 0.0).astype(np.intp)]
        return self.classes_[values.argmax(axis=1)]

    def _takes_matrices(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == PRECOMPUTED

    def _starts(self) -> list[Snapshot]:
        """Where a warm start begins, one per output."""
        found = getattr(self, "result_", None) if self.warm_start else None
        results = found if isinstance(found, tuple) else () if found is None else (found,)
        return [result.last for result in results]

    def _normalizes(self) -> bool:
        return not self._takes_matrices() if self.normalize == "auto" else bool(self.normalize)

    def _read_table(self, X: Any, y: Any) -> Any:
        """Bank, classes, codes, and how to make the model, from features."""
        normalize = self._normalizes()
        table = check_features(self, X, reset=True, memory_limit=self.memory_limit)
        classes, codes = check_labels(y, len(table), type(self).__name__)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(table.shape[1])])
        terms = make_kernel_terms(self.kernels, [str(name) for name in names])
        standardizer = Standardizer.fit(table) if self.standardize else None
        seen = table if standardizer is None else standardizer.transform(table)
        bank = build_bank(
            seen,
            terms,
            storage=self.storage,
            normalize=normalize,
            memory_limit=self.memory_limit,
        )
        return bank, classes, codes, lambda parts: TableModel.of(bank, seen, standardizer, parts)

    def _read_matrices(self, X: Any, y: Any) -> Any:
        """The same from given matrices."""
        normalize = self._normalizes()
        stack = read_given(X, self.memory_limit)
        classes, codes = check_labels(y, len(stack), type(self).__name__)
        bank = precomputed_bank(
            stack.blocks(), stack.names, normalize=normalize, repair=self.repair
        )
        self.n_features_in_ = len(stack)
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return bank, classes, codes, lambda parts: GivenModel.of(bank, stack, parts)

    def _store(
        self, bank: KernelBank, classes: NDArray, runs: list[tuple[Result, Array]], make_model: Any
    ) -> None:
        results = tuple(result for result, _ in runs)
        parts = Parts(
            np.stack([result.best.weights.values for result in results]),
            np.stack([signs * result.best.alpha for result, signs in runs]),
        )
        weights = np.zeros((len(results), bank.n_given))
        weights[:, bank.kept] = parts.theta
        single = len(classes) == 2

        def per_output(values: Any) -> Any:
            return values[0] if single else np.array(values)

        self.classes_ = classes
        self.weights_ = per_output(weights)
        self.kernel_names_ = _given_names(bank)
        self.dropped_ = bank.dropped
        note = unequal_traces(bank) if bank.terms is not None else None
        self.notes_ = bank.warnings if note is None else (*bank.warnings, note)
        self.support_ = parts.support
        self.dual_coef_ = per_output(parts.coefficients[:, parts.support])
        self.intercept_ = per_output([result.best.bias for result in results])
        self.upper_ = per_output([result.upper for result in results])
        self.lower_ = per_output([result.lower for result in results])
        self.gap_ = per_output([result.gap for result in results])
        self.n_iter_ = per_output([result.iterations for result in results])
        statuses = tuple(result.status.value for result in results)
        self.status_ = statuses[0] if single else statuses
        self.result_ = results[0] if single else results
        self._model = make_model(parts)

    def _warn(self, bank: KernelBank, stop: StopRule) -> None:
        note = unequal_traces(bank)
        if note is not None:
            warn_caller(note, UnequalTracesWarning)
        results = self.result_ if isinstance(self.result_, tuple) else (self.result_,)
        sentence = shortfall(results, stop, self.classes_)
        if sentence is not None:
            warn_caller(sentence, ConvergenceWarning)


def _given_names(bank: KernelBank) -> tuple[str, ...]:
    """Names of all kernels in the order given, the dropped ones in their places."""
    kept = dict(zip(bank.kept.tolist(), bank.names, strict=True))
    dropped = iter(bank.dropped)
    return tuple(
        kept[position] if position in kept else next(dropped).name
        for position in range(bank.n_given)
    )
