"""Mirror descent over products beside what else learns a polynomial, on one split."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.experiments.scores import RegressionScores, regression_scores, squared_error
from mkldash.experiments.workload import Workload
from mkldash.kernels.family import ENUMERABLE
from mkldash.problems.problem import Problem
from mkldash.solvers import available_solvers
from mkldash.solvers.base import CANCELLED, Solver, new_cancel_flag
from mkldash.solvers.driver import Result, one_blas_thread, solve
from mkldash.solvers.stopping import StopRule

if TYPE_CHECKING:
    from mkldash.estimators.regression import PolynomialRegressor

Array = NDArray[np.float64]

__all__ = ["Baseline", "Measured", "baselines_of", "measure_baselines"]

#: Solves a problem, in its own turns and at its own pace; None: it was cancelled.
Run = Callable[[Solver, Problem, StopRule], Result | None]

#: Penalties that the learnt kernel is tried with, each on so many held-out parts.
_PENALTIES, _FOLDS = (10.0, 1.0, 0.1, 0.01, 1e-3), 3

#: Seconds of a solver's own work that one baseline may take.
SECONDS = 10.0

#: Solvers of the very problem, in the order in which they are run.
SOLVERS = ("box-coordinate-descent", "full-gradient", "uniform-sampling", "mirror-descent")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a method reached.

    Attributes
    ----------
    name, title : str
        Of the method.
    train_mse, test_mse : float, float or None
        Mean squared errors in units of the target squared.
    train_r2, test_r2 : float or None
        1 - mse / variance of the target on those rows.
    objective, lower : float or None
        Of the workload's problem, where the method's weights lie in its set: primal
        value, and certified bound if the method has one.
    iterations : int or None
        None for a closed form.
    seconds : float
        Of learning, predictions not counted.
    remark : str
        Why it ended, or why it could not be measured; then the errors are NaN.
    """

    name: str
    title: str
    train_mse: float
    test_mse: float | None
    train_r2: float | None
    test_r2: float | None
    objective: float | None
    lower: float | None
    iterations: int | None
    seconds: float
    remark: str


@dataclass(frozen=True)
class Baseline:
    """A method by name; `measure` runs it on a workload until the flag is set.

    None: it was cancelled.  `solver` says whether it is one, and takes its own turns.
    """

    name: str
    title: str
    measure: Callable[[Workload, NDArray[np.uint8]], Measured | None]
    solver: bool = False


def measure_baselines(
    workload: Workload,
    names: Sequence[str] | None = None,
    *,
    cancel: NDArray[np.uint8] | None = None,
    turn: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext,
    run: Run | None = None,
) -> Iterator[Measured]:
    """Measure methods one after another, each as soon as it is ready.

    Parameters
    ----------
    workload : Workload
        Of the problem "products"; its rows, penalty, growth, degree, p, seed and
        stop rule are those of all.
    names : sequence of str, optional
        Which, by name; default: all that `baselines_of` has.
    cancel : array of uint8, shape (1,), optional
        Ends the run, within a solver too; see `mkldash.solvers.base.new_cancel_flag`.
    turn : callable, optional
        Gives a context in which a method runs that is no solver, or without `run`.
    run : callable, optional
        Solves, in turns of its own; default: at once.

    Yields
    ------
    Measured

    Raises
    ------
    InputError
        For a name that does not exist here.
    """
    offered = baselines_of(workload, run)
    chosen = tuple(offered) if names is None else tuple(names)
    for name in chosen:
        if name not in offered:
            raise InputError(f"no baseline is called '{name}' here; there are {', '.join(offered)}")
    flag = new_cancel_flag() if cancel is None else cancel
    for name in chosen:
        if flag[0] == CANCELLED:
            return
        baseline = offered[name]
        with contextlib.nullcontext() if baseline.solver and run is not None else turn():
            found = _measured(baseline, workload, flag)
        if found is None or flag[0] == CANCELLED:
            return
        yield found


def _measured(baseline: Baseline, workload: Workload, flag: NDArray[np.uint8]) -> Measured | None:
    """One method; what it refuses is said and does not end the others."""
    try:
        return baseline.measure(workload, flag)
    except InputError as reason:
        return Measured(
            name=baseline.name, title=baseline.title, train_mse=np.nan, test_mse=None,
            train_r2=None, test_r2=None, objective=None, lower=None, iterations=None,
            seconds=0.0, remark=str(reason),
        )  # fmt: skip


def baselines_of(workload: Workload, run: Run | None = None) -> dict[str, Baseline]:
    """The methods that a workload can be measured with, closed forms first.

    Parameters
    ----------
    workload : Workload
    run : callable, optional
        See `measure_baselines`.

    Returns
    -------
    dict of str to Baseline
        By name; the solvers are those that take its p, and the full gradient only
        where the family can be listed.
    """
    degrees = range(1, workload.choices.degree + 1)
    found = [
        Baseline(
            f"ridge-{degree}",
            f"Kernel ridge, degree {degree}",
            functools.partial(_ridge, degree),
        )
        for degree in degrees
    ]
    if degrees:
        found.append(Baseline("learnt-kernel", "Learnt polynomial kernel", _learnt))
    kinds = available_solvers()
    for name in SOLVERS:
        solver = _like(workload, name)
        listed = name in ("full-gradient", "box-coordinate-descent")
        if listed and workload.family.size > ENUMERABLE:
            continue
        if solver.supports(workload.problem) is None:
            measure = functools.partial(_solved, solver, run)
            found.append(Baseline(name, kinds[name].title, measure, solver=True))
    return {baseline.name: baseline for baseline in found}


def _like(workload: Workload, name: str) -> Solver:
    """A solver with the hyper-parameters that it shares with the workload's own."""
    kind, own = available_solvers()[name], workload.solver
    if isinstance(own, kind):
        return own
    shared = {f.name for f in dataclasses.fields(kind)} & {f.name for f in dataclasses.fields(own)}
    return kind(**{field: getattr(own, field) for field in shared})


def _solved(
    solver: Solver, run: Run | None, workload: Workload, flag: NDArray[np.uint8]
) -> Measured | None:
    """A solver of the very problem, for at most `SECONDS`."""
    limit = workload.stop.time_limit
    stop = StopRule(
        tol=workload.stop.tol,
        max_iter=workload.stop.max_iter,
        time_limit=SECONDS if limit is None else min(limit, SECONDS),
    )
    if run is None:
        result: Result | None = solve(solver, workload.problem, stop=stop, cancel=flag)
    else:
        result = run(solver, workload.problem, stop)
    if result is None:
        return None
    return _with(
        regression_scores(workload, result.best),
        name=solver.name,
        title=solver.title,
        objective=result.upper,
        lower=result.lower,
        iterations=result.iterations,
        seconds=result.seconds,
        remark=result.status.sentence,
    )


def _ridge(degree: int, workload: Workload, flag: NDArray[np.uint8]) -> Measured:
    """Plain kernel ridge: weight 1 for every product up to a degree."""
    from mkldash.estimators.polynomial_ridge import PolynomialRidge

    choices = workload.choices
    model = PolynomialRidge(
        degree,
        penalty=choices.penalty,
        growth=choices.growth,
        standardize=False,
        memory_limit=choices.memory_limit,
    )
    scores, seconds = _fitted(model, workload)
    objective = None
    if choices.p == 2.0:
        # Ones lie in the box, and at the ridge solution the primal value is y'(y - f)/2.
        y = workload.y_train
        objective = 0.5 * float(y @ (y - model.predict(workload.X_train)))
    return _with(
        scores,
        name=f"ridge-{degree}",
        title=f"Kernel ridge, degree {degree}",
        objective=objective,
        lower=None,
        iterations=None,
        seconds=seconds,
        remark="Closed form.",
    )


def _learnt(workload: Workload, flag: NDArray[np.uint8]) -> Measured:
    """The polynomial kernel with learnt weights of the features; its set is another."""
    from mkldash.estimators.polynomial_kernel import LearntPolynomialKernel

    class Quiet(LearntPolynomialKernel):
        """Its remark says how it ended; filters of warnings are not one thread's own."""

        def _warn(self) -> None:
            pass

    choices = workload.choices

    def made(penalty: float) -> PolynomialRegressor:
        return Quiet(
            choices.degree,
            penalty=penalty,
            standardize=False,
            memory_limit=choices.memory_limit,
        )

    begun = time.perf_counter()
    penalty = _cross_validated(made, workload)
    chosen = time.perf_counter() - begun
    model = made(penalty)
    scores, seconds = _fitted(model, workload)
    return _with(
        scores,
        name="learnt-kernel",
        title="Learnt polynomial kernel",
        objective=None,
        lower=None,
        iterations=model.n_iter_,
        seconds=seconds + chosen,
        remark=f"Penalty {penalty:g} by cross-validation; projected gradient: "
        + model.status_.replace("_", " ")
        + ".",
    )


def _cross_validated(made: Callable[[float], PolynomialRegressor], workload: Workload) -> float:
    """The penalty of least error on three held-out parts of the training rows.

    The penalty of the products means something else to this kernel: taken over, it
    overfits without bound where the products do not.
    """
    X, y = workload.X_train, workload.y_train
    assert X is not None
    part = np.random.default_rng(0).permutation(len(y)) % _FOLDS
    errors = []
    with one_blas_thread():
        for penalty in _PENALTIES:
            residuals = [
                made(penalty).fit(X[part != fold], y[part != fold]).predict(X[part == fold])
                - y[part == fold]
                for fold in range(_FOLDS)
            ]
            errors.append(float(np.mean(np.concatenate(residuals) ** 2)))
    return _PENALTIES[int(np.argmin(errors))]


def _fitted(model: PolynomialRegressor, workload: Workload) -> tuple[RegressionScores, float]:
    """Errors of a regressor in units of the target squared, and the seconds of its fit."""
    target = workload.target
    unit = 1.0 if target is None else float(target.scale[0])
    begun = time.perf_counter()
    with one_blas_thread():
        model.fit(workload.X_train, workload.y_train)
        seconds = time.perf_counter() - begun
        train = squared_error(model.predict(workload.X_train), workload.y_train, unit)
        test: tuple[float | None, float | None] = (None, None)
        if len(workload.y_test):
            test = squared_error(model.predict(workload.X_test), workload.y_test, unit)
    return RegressionScores(train[0], test[0], train[1], test[1]), seconds


def _with(
    scores: RegressionScores,
    *,
    name: str,
    title: str,
    objective: float | None,
    lower: float | None,
    iterations: int | None,
    seconds: float,
    remark: str,
) -> Measured:
    return Measured(
        name=name, title=title, train_mse=scores.train_mse, test_mse=scores.test_mse,
        train_r2=scores.train_r2, test_r2=scores.test_r2, objective=objective, lower=lower,
        iterations=iterations, seconds=seconds, remark=remark,
    )  # fmt: skip
