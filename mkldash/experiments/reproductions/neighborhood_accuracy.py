"""Test accuracy with C and rho by cross-validation, and what a plain shift gives."""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.experiments.point_figures import Panel, panels_svg, points_svg
from mkldash.experiments.reproductions._neighborhood import DATA, neighborhood
from mkldash.experiments.reproductions._reading import (
    pick,
    point_series,
    styles_of,
    values_of,
    verdict,
)
from mkldash.experiments.reproductions.base import LIVER, Record, Reproduction
from mkldash.experiments.scores import accuracy
from mkldash.experiments.sweep import Run, Task
from mkldash.experiments.workload import prepare
from mkldash.problems.certificates import hinge_bias

__all__ = ["NeighborhoodAccuracy", "accuracy_run", "measure_accuracy"]

Array = NDArray[np.float64]

#: Kernels that learn: the given one, its neighborhood, and the given one with a shift.
PLAIN, LEARNT, SHIFTED = "plain", "neighborhood", "shifted"
METHODS = {
    PLAIN: "SVM on K",
    LEARNT: "Neighborhood kernel",
    SHIFTED: "SVM on K + cI, c by cross-validation",
}

#: What is tried; of equal choices the first, so that what changes K least comes first.
PRICES = (0.1, 1.0, 10.0, 100.0, 1000.0)
RHOS = (1e5, 1e4, 1e3, 1e2, 10.0, 1.0, 0.1)
SHIFTS = (1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 10.0)

FOLDS, TOL = 5, 1e-3

#: A mean of paired differences is called significant from so many standard errors on.
ERRORS = 2.0


class NeighborhoodAccuracy(Reproduction):
    """Table 2: what the neighborhood adds to the given kernel."""

    name: ClassVar[str] = "neighborhood-accuracy"
    title: ClassVar[str] = "Test accuracy of the neighborhood kernel"
    order: ClassVar[int] = 7
    paper: ClassVar[str] = "neighborhood"
    claim: ClassVar[str] = (
        "the learnt kernel classifies better than the given one, in many cases significantly"
    )
    setting: ClassVar[str] = (
        "kernel exp(-d2/sigma), sigma = the factor times the mean squared distance, 20 % of the "
        "rows train; C of 0.1 to 1000 (5 values), rho of 0.1 to 1e5 (7 values) and c of 0.001 to "
        "10 (7 values) by 5-fold cross-validation on the training rows; SVMs to a violation of "
        "1e-3 of the margin; 'significantly' is a mean of paired differences beyond two standard "
        "errors, which is optimistic because splits of one data set overlap"
    )
    unlike: ClassVar[str] = (
        "The paper's grids of C and rho, its folds and its test of significance are not in its "
        "text. The SVM on K + cI is ours: the optimum of the paper's problem is such an SVM, so "
        "that it is the fair rival. The adult sets and hill-valley are stand-ins for the paper's "
        "rows (see their cards). " + LIVER
    )
    quick: ClassVar[str] = "liver-selector, ionosphere and pima, sigma factor 4, 20 splits"
    full: ClassVar[str] = "six sets, sigma factors 1, 4 and 16, 20 splits"
    has_gaps: ClassVar[bool] = False

    def runs(self, quick: bool) -> Sequence[Run]:
        data, factors, repeats = (DATA[:3], (4.0,), 20) if quick else (DATA, (1.0, 4.0, 16.0), 20)
        return tuple(
            accuracy_run(method, name, factor, repeat)
            for name in data
            for factor in factors
            for repeat in range(repeats)
            for method in METHODS
        )

    def outcome(self, results: Sequence[Record]) -> str:
        plain = [d for *_, d in _compared(results, LEARNT, PLAIN)]
        shifted = [d for *_, d in _compared(results, LEARNT, SHIFTED)]
        if not plain:
            return "nothing can be said yet"
        higher = sum(mean > 0 for mean, _ in plain)
        sure = any(mean > ERRORS * error for mean, error in plain)
        return (
            f"{verdict(higher + sure, len(plain) + 1)}: over {len(plain)} "
            "settings (data set and sigma) its mean test accuracy was, against the plain SVM, "
            f"{_counted(plain)}, and against the SVM on K + cI {_counted(shifted)}"
        )

    def table(self, results: Sequence[Record]) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [
            ("data", "sigma factor", "splits", *METHODS.values(), "learnt − plain", "− shifted")
        ]
        for data in values_of(results, "data"):
            for factor in values_of(pick(results, data=data), "factor"):
                mine = pick(results, data=data, factor=factor)
                means = [_mean(pick(mine, solver=method)) for method in METHODS]
                apart = [
                    "–" if math.isnan(found[0]) else f"{100 * found[0]:+.2f} ± {100 * found[1]:.2f}"
                    for found in (_paired(mine, LEARNT, other) for other in (PLAIN, SHIFTED))
                ]
                splits = str(len(values_of(mine, "repeat")))
                rows.append((data, f"{factor:g}", splits, *means, *apart))
        return rows

    def figure(self, results: Sequence[Record]) -> str:
        names, panels = values_of(results, "data"), []
        for factor in values_of(results, "factor"):
            series = point_series(pick(results, factor=factor), "data", "test_score", names)
            picture = points_svg(series, "", "test accuracy: median, range", names=names)
            panels.append(Panel(f"sigma factor {factor:g}", picture))
        return panels_svg(panels, list(styles_of(results).items()))


def _compared(
    results: Sequence[Record], one: str, other: str
) -> list[tuple[str, float, tuple[float, float]]]:
    """Data set, sigma factor, and mean difference with its standard error."""
    found = []
    for data in values_of(results, "data"):
        for factor in values_of(pick(results, data=data), "factor"):
            apart = _paired(pick(results, data=data, factor=factor), one, other)
            if not math.isnan(apart[0]):
                found.append((data, factor, apart))
    return found


def _paired(results: Sequence[Record], one: str, other: str) -> tuple[float, float]:
    """Mean and standard error of the differences over the splits that both have."""
    first, second = (
        {r["repeat"]: r["test_score"] for r in pick(results, solver=name)} for name in (one, other)
    )
    apart = [first[k] - second[k] for k in first if k in second]
    if not apart:
        return math.nan, math.nan
    error = statistics.stdev(apart) / math.sqrt(len(apart)) if len(apart) > 1 else math.inf
    return statistics.fmean(apart), error


def _counted(apart: Sequence[tuple[float, float]]) -> str:
    """``higher in 2 (significantly in 1) and lower in 1 (significantly in 0)``."""
    above = [(mean, error) for mean, error in apart if mean > 0]
    below = [(mean, error) for mean, error in apart if mean < 0]
    sure = [sum(abs(mean) > ERRORS * error for mean, error in side) for side in (above, below)]
    return (
        f"higher in {len(above)} (significantly in {sure[0]}) and lower in {len(below)} "
        f"(significantly in {sure[1]})"
    )


def _mean(results: Sequence[Record]) -> str:
    """Mean accuracy and standard deviation over the splits, in percent."""
    scores = [100 * r["test_score"] for r in results]
    if not scores:
        return "–"
    spread = f" ± {statistics.stdev(scores):.2f}" if len(scores) > 1 else ""
    return f"{statistics.fmean(scores):.2f}{spread}"


def accuracy_run(method: str, data: str, factor: float, repeat: int) -> Run:
    """One method on one split."""
    task = Task(
        measure=measure_accuracy,
        name=method,
        title=METHODS[method],
        options=(("factor", factor),),
    )
    choices = neighborhood(data=data, sigma_factor=factor, train_fraction=0.2, seed=repeat)
    return Run(choices=choices, repeat=repeat, task=task)


def measure_accuracy(run: Run) -> Mapping[str, Any]:
    """Test accuracy with what cross-validation on the training rows has chosen."""
    assert run.task is not None
    begun, work = time.perf_counter(), prepare(run.choices)
    X, y = work.X_train, work.y_train
    assert X is not None
    assert work.sigma is not None
    K = _gaussian(X, X, work.sigma)
    method = run.task.name
    tried = {PLAIN: (0.0,), LEARNT: RHOS, SHIFTED: SHIFTS}[method]
    choices = list(itertools.product(tried, PRICES))
    parts = _parts(y, run.choices.seed)
    scores = [_validated(method, K, y, parts, C, value) for value, C in choices]
    value, C = choices[int(np.argmax(scores))]
    signed, bias = _learn(method, K, y, C, value)
    decision = _gaussian(work.X_test, X, work.sigma) @ signed + bias
    return {
        "n_train": len(y),
        "n_test": len(work.y_test),
        "test_score": accuracy(decision, work.y_test),
        "train_score": accuracy(K @ signed + bias, y),
        "validation_score": max(scores),
        "chosen_C": C,
        "chosen_rho": value if method == LEARNT else None,
        "chosen_c": value if method == SHIFTED else None,
        "seconds": time.perf_counter() - begun,
    }


def _gaussian(A: Array, B: Array, sigma: float) -> Array:
    squares = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1)[None, :] - 2.0 * (A @ B.T)
    kernel: Array = np.exp(-np.maximum(squares, 0.0) / sigma)
    return kernel


def _parts(y: Array, seed: int) -> NDArray[np.intp]:
    """The part that each row is held out in; the parts have the classes' shares."""
    rng, part = np.random.default_rng(seed), np.empty(len(y), dtype=np.intp)
    for label in (-1.0, 1.0):
        rows = np.flatnonzero(y == label)
        part[rng.permutation(rows)] = np.arange(len(rows)) % FOLDS
    return part


def _validated(
    method: str, K: Array, y: Array, parts: NDArray[np.intp], C: float, value: float
) -> float:
    """Share of the held-out rows that are right."""
    decision = np.zeros_like(y)
    for fold in range(FOLDS):
        seen, held = np.flatnonzero(parts != fold), np.flatnonzero(parts == fold)
        signed, bias = _learn(
            method, np.ascontiguousarray(K[np.ix_(seen, seen)]), y[seen], C, value
        )
        decision[held] = K[np.ix_(held, seen)] @ signed + bias
    return accuracy(decision, y)


def _learn(method: str, K: Array, y: Array, C: float, value: float) -> tuple[Array, float]:
    """Signed coefficients and bias; new rows see K alone, whatever was added to it."""
    from mkldash.solvers.svm import solve_shifted

    rho = value if method == LEARNT else math.inf
    if method == SHIFTED:
        K = K + value * np.eye(len(y))
    found = solve_shifted(K, y, C, rho, tol=TOL)
    signed = y * found.alpha
    shift = float(found.alpha @ found.alpha) / (2.0 * rho)
    bias, _ = hinge_bias(found.decision + shift * signed, y)
    return signed, float(bias)
