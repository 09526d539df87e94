"""What an estimator says after a fit: how far it came, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mkldash.kernels.base import KernelBank
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import Result
from mkldash.solvers.stopping import Status, StopRule

__all__ = [
    "CLASSIFIERS",
    "LOUD_RATIO",
    "SlowConvergenceWarning",
    "UnequalTracesWarning",
    "Ways",
    "shortfall",
    "unequal_traces",
]

#: Traces that differ by this factor are worth a warning.  Below it, as in a fold
#: of kernels that were normalised together, the note is kept in ``notes_``.
LOUD_RATIO = 2.0


class UnequalTracesWarning(UserWarning):
    """Kernels of unequal scale: the weights then also undo the scales."""


class SlowConvergenceWarning(ConvergenceWarning):
    """Said before the first step: this many kernels are too many for this norm."""


def unequal_traces(bank: KernelBank, scaled_to: str) -> str | None:
    """A sentence on kernels of unequal scale, when that was not normalised away.

    Parameters
    ----------
    bank : KernelBank
    scaled_to : str
        What ``normalize=True`` scales each kernel to, such as ``"unit trace"``.
    """
    scaled = bank.traces * bank.scales
    low, high = float(scaled.min()), float(scaled.max())
    # A factor of exactly two must not be lost to rounding.
    if high < LOUD_RATIO * low * (1.0 - 1e-9):
        return None
    values = (
        f"{scaled[0]:.6g} and {scaled[1]:.6g}"
        if len(scaled) == 2
        else (f"from {low:.6g} to {high:.6g}")
    )
    return (
        f"kernels have traces {values}: weights are not comparable, a larger kernel needs less; "
        f"normalize=True scales every kernel to {scaled_to}"
    )


@dataclass(frozen=True)
class Ways:
    """What helps where more iterations do not.

    Attributes
    ----------
    stalled, not_finite, limit : str
        After a run that ended so; `limit` beside more iterations or time.
    """

    stalled: str
    not_finite: str
    limit: str = ""


#: For the classifiers.
CLASSIFIERS = Ways("lower C", "standardise the features, normalise the kernels, or lower C")


def shortfall(
    results: Sequence[Result], stop: StopRule, classes: NDArray, ways: Ways = CLASSIFIERS
) -> str | None:
    """Which runs ended above the tolerance, with their gaps, why, and a remedy.

    Parameters
    ----------
    results : sequence of Result
        One for two classes, else one per class.
    stop : StopRule
        What they ran under.
    classes : array, shape (n_classes,)
    ways : Ways
        What a person can do about it.
    """
    said = []
    for result, label in zip(results, classes.tolist(), strict=False):
        if result.status is Status.CONVERGED:
            continue
        who = f"class {label!r} against the rest: " if len(results) > 1 else ""
        why, remedy = _reason(result, stop, ways)
        said.append(
            f"{who}the certified relative gap is {result.gap:.6g}, above tol={stop.tol:g}, after "
            f"{result.iterations} iterations: {why}; {remedy}"
        )
    return "\n".join(said) if said else None


def _reason(result: Result, stop: StopRule, ways: Ways) -> tuple[str, str]:
    """Why the run ended and what would help."""
    settle = f"or accept this gap with a larger tol (now {stop.tol:g})"
    match result.status:
        case Status.ITERATION_LIMIT:
            return (
                "it reached max_iter",
                f"raise max_iter (now {stop.max_iter}), {ways.limit}{settle}",
            )
        case Status.TIME_LIMIT:
            return (
                "it reached time_limit",
                f"raise time_limit (now {stop.time_limit:g} s), {ways.limit}{settle}",
            )
        case Status.STALLED:
            tighter = ""
            if result.last.origin.solver == BlockCoordinateDescent.name:
                tighter = (
                    "give the solver a tighter inner tolerance, such as "
                    "solver=BlockCoordinateDescent(inner_tol=1e-12), "
                )
            return "it stalled, the bounds no longer moved", f"{tighter}{ways.stalled}, {settle}"
        case Status.NOT_FINITE:
            return (
                "a value was not finite or the bounds crossed",
                ways.not_finite,
            )
    return result.status.sentence, settle
