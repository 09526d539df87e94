"""Test errors of regression over products and of its baselines, over random splits.

Each split has training, validation and test rows.  A method's parameters are those
that did best on the validation rows; then it learns once more from training and
validation rows together and is judged on the test rows.  Features and target are
standardised on the rows that a method learns from, so that an error of 1 is that of
predicting their mean.
"""

from __future__ import annotations

import functools
import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.datasets.base import Dataset
from mkldash.datasets.splits import three_way
from mkldash.kernels.normalization import Standardizer, constant_columns
from mkldash.kernels.products import product_family
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers import available_solvers
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import StopRule

Array = NDArray[np.float64]

#: Learns from standardised rows and target; what comes back predicts new rows.
Fit = Callable[..., Callable[[Array], Array]]

__all__ = ["DATA", "METHODS", "Method", "SplitError", "as_markdown", "split_errors"]

#: The regression sets of the table.
DATA = ("diabetes", "concrete", "airfoil", "energy-heating", "energy-cooling")

#: Most factors in a product, for every method that has them.
DEGREE = 3

#: What is tried on the validation rows.
PENALTIES, GROWTHS = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5), (2.0, 4.0)

#: Iterations of a solver: the same while parameters are tried and at last, as stopping
#: early is part of what the parameters are tuned to.
ITERATIONS = 1000

#: Relative gap at which a solver may end before.
TOL = 1e-3


@dataclass(frozen=True)
class Method:
    """A way to learn, and what is tried for it.

    Attributes
    ----------
    title : str
    fit : callable
        ``fit(X, y, **options)``.
    grid : mapping of str to sequence
        Values of each option that are tried; empty: nothing is.
    own_validation : bool
        Whether it chooses its options itself, by cross-validation.
    """

    title: str
    fit: Fit
    grid: Mapping[str, Sequence[float]] = field(default_factory=dict)
    own_validation: bool = False

    def options(self) -> list[dict[str, float]]:
        """Every combination that is tried."""
        names = list(self.grid)
        return [
            dict(zip(names, values, strict=True))
            for values in itertools.product(*self.grid.values())
        ]


@dataclass(frozen=True, kw_only=True)
class SplitError:
    """One method on one split.

    Attributes
    ----------
    data, method : str
        Names of the data set and of the method.
    seed : int
        Of the split.
    mse : float
        Mean squared error on the test rows, of the standardised target.
    options : mapping of str to float
        What was chosen on the validation rows.
    seconds : float
        Choosing included.
    """

    data: str
    method: str
    seed: int
    mse: float
    options: Mapping[str, float]
    seconds: float


def _solver(
    name: str, p: float, X: Array, y: Array, *, penalty: float, growth: float
) -> Callable[[Array], Array]:
    """One of the solvers of the problem."""
    family = product_family(X, degree=DEGREE, penalty=penalty, growth=growth, merged=p == 1.0)
    problem = Problem(family, y, Squared(), NormBall.of_p(p))
    stop = StopRule(tol=TOL, max_iter=ITERATIONS)
    best = solve(available_solvers()[name](), problem, stop=stop).best
    return lambda new: family.decision(new, best.weights, best.alpha)


def _ridge(
    degree: int, X: Array, y: Array, *, penalty: float, growth: float
) -> Callable[[Array], Array]:
    """Kernel ridge with weight 1 for every product."""
    from mkldash.estimators.polynomial_ridge import PolynomialRidge

    model = PolynomialRidge(degree, penalty=penalty, growth=growth, standardize=False)
    return model.fit(X, y).predict


def _learnt(X: Array, y: Array, *, penalty: float) -> Callable[[Array], Array]:
    """A polynomial kernel with learnt weights of the features."""
    from mkldash.estimators.polynomial_kernel import LearntPolynomialKernel

    model = LearntPolynomialKernel(DEGREE, penalty=penalty, tol=TOL, standardize=False)
    return model.fit(X, y).predict


def _sklearn(X: Array, y: Array) -> Callable[[Array], Array]:
    """scikit-learn's KernelRidge, its parameters by five-fold cross-validation."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV, KFold

    grid = {
        "degree": list(range(1, DEGREE + 1)),
        "alpha": [1.0, 0.1, 0.01, 1e-3],
        "coef0": [1.0, 3.0],
    }
    folds = KFold(5, shuffle=True, random_state=0)
    model = KernelRidge(kernel="polynomial", gamma=1.0 / X.shape[1])
    search = GridSearchCV(model, grid, scoring="neg_mean_squared_error", cv=folds)
    predict: Callable[[Array], Array] = search.fit(X, y).predict
    return predict


_BOTH = MappingProxyType({"penalty": PENALTIES, "growth": GROWTHS})

#: The methods of the table, in its order.
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "mirror-1": Method(
            "Mirror descent, p = 1", functools.partial(_solver, "mirror-descent", 1.0), _BOTH
        ),
        "mirror-4/3": Method(
            "Mirror descent, p = 4/3",
            functools.partial(_solver, "mirror-descent", 4.0 / 3.0),
            _BOTH,
        ),
        "uniform-1": Method(
            "Uniform sampling, p = 1",
            functools.partial(_solver, "uniform-sampling", 1.0),
            _BOTH,
        ),
        "full-1": Method(
            "Full gradient, p = 1",
            functools.partial(_solver, "full-gradient", 1.0),
            _BOTH,
        ),
        **{
            f"ridge-{degree}": Method(
                f"Kernel ridge, degree {degree}, all products alike",
                functools.partial(_ridge, degree),
                _BOTH,
            )
            for degree in range(1, DEGREE + 1)
        },
        "box-2": Method(
            "Box coordinate descent, p = 2",
            functools.partial(_solver, "box-coordinate-descent", 2.0),
            _BOTH,
        ),
        "learnt": Method("Learnt polynomial kernel (Cortes 2009)", _learnt, {"penalty": PENALTIES}),
        "sklearn": Method("scikit-learn KernelRidge, polynomial", _sklearn, own_validation=True),
    }
)


def split_errors(
    dataset: Dataset, seeds: Sequence[int], methods: Sequence[str] | None = None
) -> Iterator[SplitError]:
    """Measure methods on random splits, one result after another.

    Parameters
    ----------
    dataset : Dataset
        A regression set.
    seeds : sequence of int
        One for each split.
    methods : sequence of str, optional
        Names of `METHODS`; default all.

    Yields
    ------
    SplitError
    """
    names = tuple(METHODS) if methods is None else tuple(methods)
    for seed in seeds:
        parts = three_way(dataset.n_rows, seed)
        for name in names:
            begun = time.perf_counter()
            method = METHODS[name]
            options = _choose(method, dataset, parts.train, parts.validation)
            rows = np.concatenate([parts.train, parts.validation])
            mse = _error(method, options, dataset, rows, parts.test)
            yield SplitError(
                data=dataset.name,
                method=name,
                seed=seed,
                mse=mse,
                options=options,
                seconds=time.perf_counter() - begun,
            )


def _choose(
    method: Method, dataset: Dataset, train: NDArray[np.intp], validation: NDArray[np.intp]
) -> dict[str, float]:
    """The options that do best on the validation rows."""
    tried = method.options()
    if len(tried) == 1:
        return tried[0]
    errors = [_error(method, o, dataset, train, validation) for o in tried]
    return tried[int(np.argmin(errors))]


def _error(
    method: Method,
    options: Mapping[str, float],
    dataset: Dataset,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
) -> float:
    """Mean squared error on `test` after learning from `train`."""
    X, y = dataset.X[train], dataset.y[train]
    varies = ~constant_columns(X)
    features, target = Standardizer.fit(X[:, varies]), Standardizer.fit(y[:, np.newaxis])
    predict = method.fit(
        features.transform(X[:, varies]),
        target.transform(y[:, np.newaxis])[:, 0],
        **options,
    )
    predicted = predict(features.transform(dataset.X[np.ix_(test, np.flatnonzero(varies))]))
    expected = target.transform(dataset.y[test][:, np.newaxis])[:, 0]
    return float(np.mean((predicted - expected) ** 2))


def as_markdown(errors: Sequence[SplitError]) -> str:
    """A table: a line for each method, a column for each data set.

    Parameters
    ----------
    errors : sequence of SplitError

    Returns
    -------
    str
        Mean and standard error over the splits, without a last line break.
    """
    data = list(dict.fromkeys(error.data for error in errors))
    names = list(dict.fromkeys(error.method for error in errors))
    lines = [
        f"| method | {' | '.join(data)} | seconds a split |",
        f"|---|{'---|' * len(data)}---|",
    ]
    for name in names:
        mine = [error for error in errors if error.method == name]
        cells = [_cell([error.mse for error in mine if error.data == one]) for one in data]
        seconds = math.fsum(error.seconds for error in mine) / len(mine)
        lines.append(f"| {METHODS[name].title} | {' | '.join(cells)} | {seconds:.1f} |")
    return "\n".join(lines)


def _cell(values: Sequence[float]) -> str:
    """Mean, and standard error where there are several splits."""
    if not values:
        return ""
    if len(values) == 1:
        return f"{values[0]:.4f}"
    spread: Any = np.std(values, ddof=1) / math.sqrt(len(values))
    return f"{np.mean(values):.4f} ± {spread:.4f}"
