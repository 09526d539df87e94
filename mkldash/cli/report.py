"""What ``mkldash solve`` says about a result: one JSON object, or words."""

from __future__ import annotations

import math
from typing import Any

from mkldash import __version__
from mkldash.cli._phrases import certified, finite, lowered, rows, table_parameters
from mkldash.cli.product_report import products_as_json, products_as_words
from mkldash.experiments.scores import RegressionScores, Scores
from mkldash.experiments.workload import Workload
from mkldash.kernels.weights import ACTIVE_THRESHOLD
from mkldash.problems.weight_sets.fixed import Fixed
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers.driver import Result

__all__ = ["as_json", "as_words"]

_TOP = 10


def as_json(
    workload: Workload, result: Result, scores: Scores | RegressionScores
) -> dict[str, Any]:
    """The result as strict JSON can hold it: an infinite number is None, an infinite rho "inf".

    Parameters
    ----------
    workload : Workload
    result : Result
    scores : Scores or RegressionScores
        Of ``result.best``.

    Returns
    -------
    dict
        `weights` has the kernels above `weight_threshold` times the largest.
    """
    if isinstance(scores, RegressionScores):
        return products_as_json(workload, result, scores)
    source, split = workload.source, workload.split
    return {
        "data": source.name,
        "rows": source.n_rows,
        "features": source.n_features,
        "kernels": workload.bank.n_kernels,
        "problem": workload.choices.problem,
        "solver": workload.choices.solver,
        "parameters": _parameters(workload),
        "status": result.status.value,
        "status_text": result.status.sentence,
        "upper": finite(result.upper),
        "lower": finite(result.lower),
        "gap": finite(result.gap),
        "iterations": result.iterations,
        "inner_solves": result.inner_solves,
        "seconds": result.seconds,
        "bank_seconds": workload.bank_seconds,
        "weights": {str(k): v for k, v in result.best.weights.as_dict().items()},
        "weight_threshold": ACTIVE_THRESHOLD,
        "support_vectors": scores.support_vectors,
        "train_accuracy": scores.train_accuracy,
        "test_accuracy": scores.test_accuracy,
        "train_rows": len(split.train),
        "test_rows": len(split.test),
        "dropped_kernels": [kernel.name for kernel in workload.bank.dropped],
        "notes": list(workload.notes),
        "sigma": workload.sigma,
        "shift": _shift(workload, result),
        "seed": int(workload.choices.seed),
        "version": __version__,
    }


def _parameters(workload: Workload) -> dict[str, Any]:
    """Every choice that the numbers depend on."""
    choices = workload.choices
    given = choices.gram is not None
    learnt = not isinstance(workload.problem.weight_set, Fixed)
    chosen: dict[str, Any] = {
        "eta": choices.eta if learnt else None,
        "C": choices.C,
        "tol": choices.tol,
        "max_iter": choices.max_iter,
        "time_limit": finite(choices.time_limit),
        "train_fraction": workload.source.train_fraction(choices),
        "rows": choices.rows,
        "positive": choices.positive,
    }
    if choices.weight_norm is not None:
        norm = choices.weight_norm
        chosen["weight_norm"] = norm if math.isfinite(norm) else "inf"
    if choices.kind.takes_rho:
        # In words, as --rho takes it: null would read as "without a meaning here".
        chosen["rho"] = choices.rho if math.isfinite(choices.rho) else "inf"
    if workload.sigma is not None:
        chosen["sigma_factor"] = choices.sigma_factor
    if given:
        chosen |= {"gram": choices.gram, "labels": choices.labels, "normalize": choices.normalize}
    else:
        chosen |= table_parameters(workload)
    return chosen | dict(choices.solver_options)


def as_words(workload: Workload, result: Result, scores: Scores | RegressionScores) -> str:
    """The result for a person: what each number is, and why the run ended.

    Parameters
    ----------
    workload, result, scores
        As for `as_json`.

    Returns
    -------
    str
        Several lines, without the last line break.
    """
    if isinstance(scores, RegressionScores):
        return products_as_words(workload, result, scores)
    lines = [*_head(workload), "", result.status.sentence, *_numbers(workload, result)]
    lines += [*_accuracies(workload, scores), "", *_weights(workload, result)]
    return "\n".join(lines)


def _head(workload: Workload) -> list[str]:
    source, choices = workload.source, workload.choices
    negative, positive = source.classes or ("-1", "+1")
    if source.n_features is None:
        kernels = f"{_kernels(workload)} given as matrices"
        trace = "trace n" if choices.kind.per_row else "unit trace"
        kernels += f", scaled to {trace}" if choices.normalize else ", scaled as given"
    else:
        kernels = (
            f"{_kernels(workload)} (bank {workload.bank_name}) on {source.n_features} features"
        )
    parameters = f"C = {choices.C:g} (times the sum of hinge losses)"
    title = choices.kind.title
    if choices.weight_norm is not None:
        title = "Lp-norm MKL"
        meaning = "1 keeps few kernels, inf takes all alike"
        parameters = f"weight norm P = {choices.weight_norm:g} ({meaning}), {parameters}"
    elif not isinstance(workload.problem.weight_set, Fixed):
        parameters = f"eta = {choices.eta:g} (0 keeps all kernels, 1 keeps few), {parameters}"
    if choices.kind.takes_rho:
        parameters += f", rho = {choices.rho:g} (price of leaving the given kernel)"
    if workload.sigma is not None:
        parameters += (
            f", sigma = {workload.sigma:.6g} ({choices.sigma_factor:g} x mean squared distance)"
        )
    return [
        f"{source.name}: {rows(workload)}",
        f"{kernels}; +1 is {positive!r}, -1 is {negative!r}",
        f"{title} by {lowered(workload.solver.title)}; {parameters}",
    ]


def _kernels(workload: Workload) -> str:
    count = workload.bank.n_kernels
    return f"{count} kernel{'' if count == 1 else 's'}"


def _numbers(workload: Workload, result: Result) -> list[str]:
    nothing = "nothing" if isinstance(workload.problem.weight_set, Fixed) else "no weights"
    return certified(workload, result, nothing, "SVM solves")


def _accuracies(workload: Workload, scores: Scores) -> list[str]:
    train, test = len(workload.split.train), len(workload.split.test)
    lines = [
        f"  training    {100 * scores.train_accuracy:.2f} %   of {train} rows predicted rightly",
    ]
    if scores.test_accuracy is not None:
        lines.append(f"  test        {100 * scores.test_accuracy:.2f} %   of {test} rows not seen")
    bounded = f"{scores.bounded} of them" if scores.bounded < train else f"all {train} points"
    lines.append(
        f"  support     {scores.support_vectors}   of {train} training rows carry the decision "
        f"(support vectors), {bounded} at the bound C"
    )
    return lines


def _rank_one(workload: Workload, result: Result) -> str:
    """How far the learnt kernel moved from the given one."""
    return (
        f"; the learnt kernel adds a rank-one part of norm {_shift(workload, result):.6g} "
        "(||alpha||^2 / (2 rho)), and predicts like the given one"
    )


def _shift(workload: Workload, result: Result) -> float | None:
    """||alpha||^2 / (2 rho) at the best point; None without a penalty in the problem."""
    if not workload.choices.kind.takes_rho:
        return None
    alpha = result.best.alpha
    return float(alpha @ alpha) / (2.0 * workload.problem.rho)


def _weights(workload: Workload, result: Result) -> list[str]:
    weights = result.best.weights
    active = weights.as_dict()
    if isinstance(workload.problem.weight_set, Fixed):
        (name, value), *_ = active.items()
        learnt = _rank_one(workload, result) if workload.choices.kind.takes_rho else ""
        return [f"one kernel with weight {value:g}: {name}{learnt}"]
    constraint = workload.problem.weight_set.constraint(weights.values)
    normed = isinstance(workload.problem.weight_set, NormBall)
    left = "||theta||_P" if normed else "eta*sum + (1-eta)*sum of squares"
    lines = [
        f"{len(active)} of {len(weights)} kernels carry weight (above {ACTIVE_THRESHOLD:g} of the "
        f"largest); {left} = {constraint:.6g} (at most 1)"
    ]
    for name, value in list(active.items())[:_TOP]:
        lines.append(f"  {value:.6f}  {name}")
    if len(active) > _TOP:
        lines.append(f"  and {len(active) - _TOP} smaller ones (--json lists all)")
    return lines
