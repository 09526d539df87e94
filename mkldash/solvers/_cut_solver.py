"""What the solvers that cut over the kernel weights share: all but the next weights."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mkldash.problems.problem import Problem
from mkldash.solvers._bank_step import (
    BankSnapshot,
    changes,
    check_positive,
    evaluate,
    start,
    svm_tolerance,
)
from mkldash.solvers._cut_model import CutModel, Lowest, needs_cut_set
from mkldash.solvers._weight_cuts import WeightCut, cut_of
from mkldash.solvers.base import (
    CANCELLED,
    Snapshot,
    Solver,
    WarmStart,
    needs_hinge_over_bank,
    option,
)

Array = NDArray[np.float64]

__all__ = ["CutSnapshot", "CutSolver", "Move"]

#: Cuts beyond which those that hold nothing up are dropped when the gap has halved.
_MANY_CUTS = 60
_INACTIVE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class CutSnapshot(BankSnapshot):
    """State after an SVM solve, a new cut and the minimum of the model.

    Attributes
    ----------
    cuts : tuple of WeightCut
        Planes below the reduced cost, oldest first.
    multipliers : array, shape (n_cuts,)
        Share of each in the model's minimum, the newest included.
    minimiser : array, shape (n_kernels,)
        The model's.
    model_lower : float
        Best lower bound that the cuts certified together.
    newest_lower : float
        Bound of the newest cut alone.
    halving_gap : float
        The gap when it last fell to half.
    n_cuts, dropped : int
        Cuts that are kept, and those dropped in this iteration.
    lp_iterations, qp_iterations : int
        Interior-point steps of the model's minimum, and of the projection that led here.
    """

    cuts: tuple[WeightCut, ...]
    multipliers: Array
    minimiser: Array
    model_lower: float
    newest_lower: float
    halving_gap: float
    n_cuts: int
    dropped: int
    lp_iterations: int
    qp_iterations: int

    @property
    def settles(self) -> bool:
        """Not before the model's bound is above zero: until then it moves unseen."""
        return self.model_lower > 0.0


@dataclass(frozen=True, eq=False)
class Move:
    """Where to solve the SVM next.

    Attributes
    ----------
    theta : array, shape (n_kernels,)
    steps : int
        Of the program that found it, if not the model's minimum.
    events : tuple of str
    """

    theta: Array
    steps: int = 0
    events: tuple[str, ...] = ()


@dataclass(frozen=True)
class CutSolver(Solver):
    """Cuts from SVM solves, and the certified minimum of their model.

    Parameters
    ----------
    inner_tol : float or None
        Tolerance of each SVM solve; None ties it to the outer gap.
    """

    inner_tol: float | None = option(
        None,
        "SVM tolerance",
        "Tolerance of each SVM solve; empty ties it to the gap (0.02 x gap, 1e-10 to 1e-3)",
        bounds=(1e-12, 1e-1),
    )

    def __post_init__(self) -> None:
        check_positive(self, "inner_tol")

    def supports(self, problem: Problem) -> str | None:
        reason = needs_hinge_over_bank(self.name, problem)
        return needs_cut_set(self.name, problem.weight_set) if reason is None else reason

    @abc.abstractmethod
    def _next(self, problem: Problem, last: Any) -> Move:
        """The next weights."""

    @abc.abstractmethod
    def _snapshot(self, fields: dict[str, Any]) -> CutSnapshot:
        """A snapshot of the solver's own kind."""

    def _iterate(
        self,
        problem: Problem,
        resume: Snapshot | None,
        warm: WarmStart | None,
        cancel: NDArray[np.uint8],
    ) -> Iterator[Snapshot]:
        last = resume
        if last is None:
            theta, alpha = start(problem, warm)
            last = self._evaluate(problem, None, Move(theta), alpha, cancel)
            yield last
        while cancel[0] != CANCELLED:
            assert isinstance(last, CutSnapshot)
            if last.bounded == problem.n_rows:
                # alpha does not react to small changes of the weights: Algorithm 3 is exact.
                said = f"all {last.bounded} points at the bound C: weights by Algorithm 3"
                move = Move(problem.weight_set.maximise(last.quadratic_forms)[0], events=(said,))
            else:
                move = self._next(problem, last)
            last = self._evaluate(problem, last, move, last.alpha, cancel)
            if cancel[0] == CANCELLED:
                return
            yield last

    def _evaluate(
        self,
        problem: Problem,
        last: CutSnapshot | None,
        move: Move,
        alpha: Array | None,
        cancel: NDArray[np.uint8],
    ) -> CutSnapshot:
        """The SVM at the next weights, its cut, and the minimum of the model with it."""
        found = evaluate(
            problem, move.theta, alpha=alpha, decision=None if last is None else last.decision,
            tol=svm_tolerance(self.inner_tol, last), cancel=cancel,
        )  # fmt: skip
        iteration = 0 if last is None else last.iteration + 1
        cuts = (*(() if last is None else last.cuts), cut_of(problem, found, iteration))
        fields = found.fields(problem, last)
        lowest = CutModel.of(cuts, problem.weight_set, fields["upper"]).lowest(move.theta)
        known = lowest.bound if last is None else max(last.model_lower, lowest.bound)
        fields["lower"] = float(max(fields["lower"], known))
        keep, halving_gap = _kept(cuts, lowest.multipliers, last, fields)
        return self._snapshot(
            {
                **fields,
                "events": (*move.events, *_events(problem, last, lowest, fields, len(cuts), keep)),
                "cuts": tuple(cuts[j] for j in keep),
                "multipliers": lowest.multipliers[keep],
                "minimiser": lowest.theta,
                "model_lower": known,
                "newest_lower": float(found.dual.objective),
                "halving_gap": halving_gap,
                "n_cuts": keep.size,
                "dropped": len(cuts) - keep.size,
                "lp_iterations": lowest.steps,
                "qp_iterations": move.steps,
            }
        )


def _kept(
    cuts: tuple[WeightCut, ...],
    multipliers: Array,
    last: CutSnapshot | None,
    fields: dict[str, Any],
) -> tuple[NDArray[np.intp], float]:
    """Which cuts stay, and the gap that the next halving is measured from.

    The active ones alone have the same minimum, so that the bound stands.
    """
    everything = np.arange(len(cuts))
    gap = fields["upper"] - fields["lower"]
    if last is None:
        return everything, gap
    if gap > 0.5 * last.halving_gap:
        return everything, last.halving_gap
    if len(cuts) <= _MANY_CUTS:
        return everything, gap
    stays = multipliers > _INACTIVE * multipliers.max()
    stays[-1] = True
    stays |= np.array([cut.iteration == fields["best_iteration"] for cut in cuts])
    return np.flatnonzero(stays), gap


def _events(
    problem: Problem,
    last: CutSnapshot | None,
    lowest: Lowest,
    fields: dict[str, Any],
    n_cuts: int,
    keep: NDArray[np.intp],
) -> tuple[str, ...]:
    """What is worth a line in the log."""
    said = []
    if last is not None and fields["best_iteration"] != fields["iteration"]:
        said.append("cut added where the primal value is no better")
    if lowest.failed:
        said.append(
            f"conic program failed: off by {lowest.error:.1e}; its bound holds all the same"
        )
    if keep.size < n_cuts:
        said.append(f"{n_cuts - keep.size} inactive cuts dropped, {keep.size} kept")
    if last is not None:
        said.extend(changes(problem.bank.names, last.weights.active(), fields["weights"].active()))
    return tuple(said)
