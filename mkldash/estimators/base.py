"""What the classifiers over kernels share: reading, solving, storing, predicting."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

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
from mkldash.estimators.parameters import check_parameters, check_stop, make_solver
from mkldash.estimators.reports import UnequalTracesWarning, shortfall, unequal_traces
from mkldash.estimators.stack import KernelStack
from mkldash.kernels.banks import BANKS
from mkldash.kernels.base import Array, KernelBank, KernelTerm
from mkldash.kernels.building import build_bank
from mkldash.kernels.normalization import Standardizer
from mkldash.kernels.notices import warn_caller
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.base import WeightSet
from mkldash.solvers.base import Snapshot, Solver
from mkldash.solvers.driver import Result, solve
from mkldash.solvers.stopping import StopRule

__all__ = ["KernelClassifier", "Reading", "Run", "per_output"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """Training data as a solver takes them.

    Attributes
    ----------
    bank : KernelBank
    classes : array, shape (n_classes,)
        Sorted.
    codes : array of int, shape (n_rows,)
        Position of each row's label in `classes`.
    make_model : callable
        From what a fit found to what predicts.
    sigma : float or None
        Of the bank "single".
    """

    bank: KernelBank
    classes: NDArray
    codes: NDArray[np.intp]
    make_model: Callable[[Parts], TableModel | GivenModel]
    sigma: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """One output: a class against the rest, solved.

    Attributes
    ----------
    result : Result
    signs : array, shape (n_rows,)
        +1 for rows of the class, -1 for the others.
    """

    result: Result
    signs: Array

    @property
    def coefficients(self) -> Array:
        """y * alpha at the best point, shape (n_rows,)."""
        return self.signs * self.result.best.alpha


def per_output(values: Sequence[Any] | NDArray) -> Any:
    """The only value when there are two classes, else an array with one per class."""
    return values[0] if len(values) == 1 else np.array(values)


class KernelClassifier(ClassifierMixin, BaseEstimator, abc.ABC):
    """Base of the classifiers; a subclass says which problem is solved.

    Its constructor names all parameters and hands those that all have to this
    one.  More than two classes are learnt one against the rest.
    """

    #: Names of the banks that `kernels` may be.
    _banks: ClassVar[tuple[str, ...]] = tuple(BANKS)
    #: What ``normalize=True`` scales each kernel to, in words.
    _scaled_to: ClassVar[str] = "unit trace"

    def __init__(
        self,
        kernels: Any,
        *,
        C: float,
        standardize: bool,
        normalize: bool | str,
        storage: str,
        memory_limit: int,
        repair: str | None,
        solver: str | Solver,
        tol: float,
        max_iter: int,
        time_limit: float | None,
        warm_start: bool,
    ) -> None:
        self.kernels = kernels
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

    def fit(self, X: Any, y: ArrayLike) -> Self:
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
        Self
            The classifier itself.

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
        self._check()
        loss = Hinge(self.C)
        stop = check_stop(self)
        make_solver(self.solver, self._usual_solver(1))  # refused before data are read
        starts = self._starts()
        reading = self._read_matrices(X, y) if self._takes_matrices() else self._read_table(X, y)
        bank = reading.bank
        weight_set = self._weight_set(bank.n_kernels)
        solver = make_solver(self.solver, self._usual_solver(bank.n_kernels))
        positives = [1] if len(reading.classes) == 2 else range(len(reading.classes))
        runs = []
        for output, positive in enumerate(positives):
            signs = np.where(reading.codes == positive, 1.0, -1.0)
            problem = Problem(bank, signs, loss, weight_set, self._penalty())
            start = starts[output] if len(starts) == len(positives) else None
            result = solve(solver, problem, start=start, stop=stop)
            runs.append(Run(result=result, signs=signs))
        self._store(reading, runs)
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

    @abc.abstractmethod
    def _check(self) -> None:
        """Refuse the subclass's own parameters, before data are read."""

    @abc.abstractmethod
    def _trace(self, n_kernels: int, n_rows: int) -> bool | float:
        """What each kernel is scaled to: False for not at all, True for unit trace."""

    @abc.abstractmethod
    def _weight_set(self, n_kernels: int) -> WeightSet:
        """The set of allowed weights; may refuse parameters that only it uses."""

    def _penalty(self) -> float:
        """Strength rho of the neighborhood penalty; infinite without one."""
        return np.inf

    def _usual_solver(self, n_kernels: int) -> str | None:
        """What ``solver="auto"`` means; None where there is no such value."""
        return None

    def _sigma(self, seen: Array) -> float | None:
        """Sigma of the bank "single" on the rows as the kernel sees them, if that was chosen."""
        return None

    def _build(self, seen: Array, terms: tuple[KernelTerm, ...]) -> KernelBank:
        """The bank of `terms` over features."""
        return build_bank(
            seen,
            terms,
            storage=self.storage,
            normalize=self._trace(len(terms), len(seen)),
            memory_limit=self.memory_limit,
        )

    def _take(self, stack: KernelStack) -> KernelBank:
        """The bank of given matrices."""
        trace = self._trace(stack.n_kernels, len(stack))
        return precomputed_bank(stack.blocks(), stack.names, normalize=trace, repair=self.repair)

    def _keeps_square(self, n_kernels: int, n_rows: int) -> bool:
        """Whether the bank holds a full matrix, rather than half of each symmetric one."""
        return False

    def _takes_matrices(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == PRECOMPUTED

    def _starts(self) -> list[Snapshot]:
        """Where a warm start begins, one per output."""
        found = getattr(self, "result_", None) if self.warm_start else None
        results = found if isinstance(found, tuple) else () if found is None else (found,)
        return [result.last for result in results]

    def _read_table(self, X: Any, y: Any) -> Reading:
        table = check_features(self, X, reset=True, memory_limit=self.memory_limit)
        classes, codes = check_labels(y, len(table), type(self).__name__)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(table.shape[1])])
        standardizer = Standardizer.fit(table) if self.standardize else None
        seen = table if standardizer is None else standardizer.transform(table)
        sigma = self._sigma(seen)
        terms = make_kernel_terms(self.kernels, [str(name) for name in names], self._banks, sigma)
        self._weight_set(max(1, len(terms)))  # refuses before anything is built
        bank = self._build(seen, terms)
        return Reading(
            bank=bank,
            classes=classes,
            codes=codes,
            make_model=lambda parts: TableModel.of(bank, seen, standardizer, parts),
            sigma=sigma,
        )

    def _read_matrices(self, X: Any, y: Any) -> Reading:
        stack = read_given(X, self.memory_limit, self._keeps_square)
        classes, codes = check_labels(y, len(stack), type(self).__name__)
        self._weight_set(stack.n_kernels)
        bank = self._take(stack)
        self.n_features_in_ = len(stack)
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return Reading(
            bank=bank,
            classes=classes,
            codes=codes,
            make_model=lambda parts: GivenModel.of(bank, stack, parts),
        )

    def _store(self, reading: Reading, runs: Sequence[Run]) -> None:
        """Set the fitted attributes."""
        bank, results = reading.bank, tuple(run.result for run in runs)
        parts = Parts(
            np.stack([result.best.weights.values for result in results]),
            np.stack([run.coefficients for run in runs]),
        )
        weights = np.zeros((len(results), bank.n_given))
        weights[:, bank.kept] = parts.theta
        self.classes_ = reading.classes
        self.weights_ = per_output(weights)
        self.kernel_names_ = _given_names(bank)
        self.dropped_ = bank.dropped
        note = unequal_traces(bank, self._scaled_to) if bank.terms is not None else None
        self.notes_ = bank.warnings if note is None else (*bank.warnings, note)
        self.support_ = parts.support
        self.dual_coef_ = per_output(parts.coefficients[:, parts.support])
        self.intercept_ = per_output([result.best.bias for result in results])
        self.upper_ = per_output([result.upper for result in results])
        self.lower_ = per_output([result.lower for result in results])
        self.gap_ = per_output([result.gap for result in results])
        # scikit-learn wants at least 1: a start that is good enough counts for itself.
        self.n_iter_ = per_output([max(1, result.iterations) for result in results])
        statuses = tuple(result.status.value for result in results)
        self.status_ = statuses[0] if len(results) == 1 else statuses
        self.result_ = results[0] if len(results) == 1 else results
        self._model = reading.make_model(parts)

    def _warn(self, bank: KernelBank, stop: StopRule) -> None:
        note = unequal_traces(bank, self._scaled_to)
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
