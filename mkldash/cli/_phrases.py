"""What both reports say alike."""

from __future__ import annotations

import math

from mkldash.experiments.workload import Workload
from mkldash.solvers.driver import Result

__all__ = ["certified", "finite", "lowered", "rows", "table_parameters"]


def finite(value: float | None) -> float | None:
    """JSON has no infinity."""
    return float(value) if value is not None and math.isfinite(value) else None


def lowered(title: str) -> str:
    """A title within a sentence; names such as SVM and SimpleMKL stay."""
    named = any(letter.isupper() for letter in title.split(" ", 1)[0][1:])
    return title if named else f"{title[:1].lower()}{title[1:]}"


def rows(workload: Workload, drawn: str = "") -> str:
    """How many rows train and test, and the seed that chose them."""
    split, choices = workload.split, workload.choices
    seed = f", seed {choices.seed}{drawn}" if len(split.test) and choices.rows is None else ""
    if not seed and drawn:
        seed = f", seed {choices.seed} of the draws"
    text = f"{len(split.train)} training rows"
    if not len(split.test):
        return f"{text}, none left for a test{seed}"
    return f"{text}, {len(split.test)} test rows{seed}"


def certified(workload: Workload, result: Result, nothing: str, solves: str) -> list[str]:
    """Bounds, gap and time, each with what it is."""
    gap = result.gap
    if math.isfinite(gap):
        meaning = f"the objective is within {100 * gap:.3g} % of the optimum"
        shown = f"{gap:.3e}"
    else:
        meaning, shown = "no lower bound above zero yet, so nothing is certified", "infinite"
    return [
        f"  objective   {result.upper:.9g}   primal value of the best point, an upper bound",
        f"  lower       {result.lower:.9g}   certified: {nothing} can do better",
        f"  gap         {shown}   objective/lower - 1 (asked: {workload.stop.tol:g}): {meaning}",
        f"  iterations  {result.iterations}   with {result.inner_solves} {solves} in "
        f"{result.seconds:.2f} s; building the kernels took {workload.bank_seconds:.2f} s",
    ]


def table_parameters(workload: Workload) -> dict[str, object]:
    """How a table was read, as JSON has it."""
    choices = workload.choices
    chosen: dict[str, object] = {
        "bank": workload.bank_name,
        "standardize": workload.standardizer is not None,
        "missing": choices.missing,
        "one_hot": list(choices.one_hot),
        "exclude": list(choices.exclude),
    }
    return chosen | {k: v for k, v in choices.table_options().items() if k not in chosen}
