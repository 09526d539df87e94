"""What ``mkldash solve --problem products`` says about a result."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from mkldash import __version__
from mkldash.cli._phrases import certified, finite, lowered, rows, table_parameters
from mkldash.experiments.scores import RegressionScores
from mkldash.experiments.workload import Workload
from mkldash.kernels.family import KernelFamily
from mkldash.kernels.weights import ACTIVE_THRESHOLD, Weights
from mkldash.solvers.driver import Result

__all__ = ["interactions", "products_as_json", "products_as_words"]

_TOP = 10

#: From here on a count is written as a power of ten.
_LONG = 10**15


def interactions(family: KernelFamily, weights: Weights) -> list[dict[str, Any]]:
    """The products that carry weight, largest first.

    Parameters
    ----------
    family : KernelFamily
    weights : Weights
        Sparse.

    Returns
    -------
    list of dict
        ``product`` (its name), ``degree`` (factors), ``weight`` and ``orderings``
        (how many words mean it; 1 where each order is a kernel of its own).
    """
    return [
        {
            "product": family.label(key),
            "degree": len(key) if isinstance(key, tuple) else 1,
            "weight": value,
            "orderings": family.orderings(key),
        }
        for key, value in weights.as_dict().items()
    ]


def products_as_json(
    workload: Workload, result: Result, scores: RegressionScores
) -> dict[str, Any]:
    """See `mkldash.cli.report.as_json`; what has no meaning here is None."""
    source, split, family = workload.source, workload.split, workload.family
    found = interactions(family, result.best.weights)
    weights: dict[str, float] = {}
    for item in found:
        weights[item["product"]] = weights.get(item["product"], 0.0) + item["weight"]
    return {
        "data": source.name,
        "rows": source.n_rows,
        "features": source.n_features,
        "kernels": family.size,
        "family_size": family.n_words,
        "family_keys": family.size,
        "problem": workload.choices.problem,
        "solver": workload.choices.solver,
        "parameters": _parameters(workload),
        "status": result.status.value,
        "status_text": result.status.sentence,
        "upper": finite(result.upper),
        "lower": finite(result.lower),
        "gap": finite(result.gap),
        "certificate": _certificate(result),
        "iterations": result.iterations,
        "inner_solves": result.inner_solves,
        "seconds": result.seconds,
        "bank_seconds": workload.bank_seconds,
        "interactions": found,
        "weights": weights,
        "weight_threshold": ACTIVE_THRESHOLD,
        "support_vectors": None,
        "train_accuracy": None,
        "test_accuracy": None,
        "target": source.dataset.target_name,
        "target_deviation": _unit(workload),
        "train_mse": finite(scores.train_mse),
        "test_mse": finite(scores.test_mse),
        "train_r2": finite(scores.train_r2),
        "test_r2": finite(scores.test_r2),
        "train_rows": len(split.train),
        "test_rows": len(split.test),
        "dropped_kernels": [
            name for name in source.dataset.feature_names if name not in family.base_names
        ],
        "notes": list(workload.notes),
        "sigma": None,
        "shift": None,
        "seed": int(workload.choices.seed),
        "version": __version__,
    }


def _parameters(workload: Workload) -> dict[str, Any]:
    """Every choice that the numbers depend on; the solver's own are all told."""
    choices = workload.choices
    chosen: dict[str, Any] = {
        "eta": None,
        "C": None,
        "degree": int(choices.degree),
        "p": choices.p,
        "penalty": choices.penalty,
        "growth": choices.growth,
        "tol": choices.tol,
        "max_iter": choices.max_iter,
        "time_limit": finite(choices.time_limit),
        "train_fraction": workload.source.train_fraction(choices),
        "rows": choices.rows,
    }
    return chosen | table_parameters(workload) | dataclasses.asdict(workload.solver)


def _certificate(result: Result) -> str | None:
    """What the latest lower bound rests on."""
    return getattr(result.final, "certificate", "") or None


def _unit(workload: Workload) -> float:
    """Standard deviation of the target on the training rows."""
    return 1.0 if workload.target is None else float(workload.target.scale[0])


def products_as_words(workload: Workload, result: Result, scores: RegressionScores) -> str:
    """See `mkldash.cli.report.as_words`."""
    numbers = certified(workload, result, "no weights", "ridge solves")
    numbers[2:2] = [f"  certificate {_certificate(result) or 'none yet'}   of the lower bound"]
    lines = [*_head(workload), "", result.status.sentence, *numbers, *_errors(workload, scores)]
    return "\n".join([*lines, "", *_products(workload, result)])


def _head(workload: Workload) -> list[str]:
    source, choices, family = workload.source, workload.choices, workload.family
    draws = " of the split and of the draws" if hasattr(workload.solver, "seed") else ""
    of = f"of up to {choices.degree} of {family.n_base} features"
    if family.merged:
        count = f"{_count(family.size)} products {of} ({_count(family.n_words)} with their orders)"
    else:
        count = f"{_count(family.n_words)} products {of}, each order one of its own"
    standard = "" if workload.standardizer is None else "features and "
    options = ", ".join(
        f"{name.replace('_', ' ')} {value}"
        for name, value in dataclasses.asdict(workload.solver).items()
        if name != "seed"
    )
    return [
        f"{source.name}: {rows(workload, draws)}",
        f"{count}; {standard}target {source.dataset.target_name!r} standardised on the "
        "training rows",
        f"{choices.kind.title} by {lowered(workload.solver.title)}; p = {choices.p:g} (1 keeps few "
        f"products, 2 all), a product of d features costs {choices.penalty:g} x "
        f"{choices.growth:g}^d",
        f"solver: {options}",
    ]


def _count(number: int) -> str:
    """A count with its digits, or as a power of ten where nobody would read them."""
    return f"{number:,}" if number < _LONG else f"about 10^{math.log10(number):.1f}"


def _errors(workload: Workload, scores: RegressionScores) -> list[str]:
    lines = [_error("training", scores.train_mse, scores.train_r2, len(workload.split.train), "")]
    if scores.test_mse is not None:
        lines.append(
            _error("test", scores.test_mse, scores.test_r2, len(workload.split.test), " not seen")
        )
    return lines


def _error(name: str, mse: float, r2: float | None, n_rows: int, which: str) -> str:
    share = "" if r2 is None else f"; R2 {r2:.4f} (1 - error/variance of the target there)"
    return (
        f"  {name:<11} {mse:.6g}   mean squared error of {n_rows} rows{which}, in units of the "
        f"target squared{share}"
    )


def _products(workload: Workload, result: Result) -> list[str]:
    weights = result.best.weights
    found = interactions(workload.family, weights)
    constraint = workload.problem.weight_set.constraint(weights.values)
    lines = [
        f"{len(found)} products carry weight (above {ACTIVE_THRESHOLD:g} of the largest); "
        f"their norm is {constraint:.6g} (at most 1)"
    ]
    for item in found[:_TOP]:
        orders = f"   ({item['orderings']} orders)" if item["orderings"] > 1 else ""
        lines.append(f"  {item['weight']:.6f}  {item['product']}{orders}")
    if len(found) > _TOP:
        lines.append(f"  and {len(found) - _TOP} smaller ones (--json lists all)")
    return lines
