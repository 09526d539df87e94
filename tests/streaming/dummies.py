"""A problem and a solver small enough to know every number of a run."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.weights import Weights
from mkldash.solvers.base import Best, Snapshot, Solver, WarmStart
from mkldash.streaming import Job

KEYS = ("a", "b", "c")


def make_problem(target: float = 1.0, key: str | None = None, rows: int = 4) -> SimpleNamespace:
    """Only what a dummy needs: the optimum `target`, and a key."""
    return SimpleNamespace(target=target, key=key or f"dummy {target}", rows=rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class DummySnapshot(Snapshot):
    """Adds what later solvers add: scalars, an optional one, an array, shared pieces."""

    state: float
    half_steps: int
    step: float | None = None
    iterate: NDArray[np.float64]
    cuts: tuple[NDArray[np.float64], ...] = ()


@dataclass(frozen=True)
class Halving(Solver):
    """Halves the distance to the optimum; a chaotic `state` makes resuming testable.

    `gate` (an event) holds an iteration until set, looking at the cancel flag
    when `polls`; `fail_at` raises there; `seconds` is slept per iteration.
    """

    name = "halving"
    title = "Halving"
    reference = "none"
    snapshot_type = DummySnapshot

    factor: float = 0.5
    seconds: float = 0.0
    gate_at: int = -1
    gate: threading.Event | None = None
    polls: bool = True
    fail_at: int = -1
    last: int = 10**9
    cut_every: int = 0

    def supports(self, problem: SimpleNamespace) -> str | None:
        return "halving needs a positive optimum" if problem.target <= 0 else None

    def _iterate(
        self,
        problem: SimpleNamespace,
        resume: DummySnapshot | None,
        warm: WarmStart | None,
        cancel: NDArray[np.uint8],
    ) -> Iterator[DummySnapshot]:
        now = resume
        while now is None or now.iteration < self.last:
            k = 0 if now is None else now.iteration + 1
            if k == self.fail_at:
                raise FloatingPointError(f"no number at iteration {k}")
            if k == self.gate_at and self.gate is not None and not self._pass_gate(cancel):
                return
            self._sleep(cancel)
            now = self._next(problem, now, warm, k)
            yield now

    def _pass_gate(self, cancel: NDArray[np.uint8]) -> bool:
        while not self.gate.wait(0.002):
            if self.polls and cancel[0]:
                return False
        return True

    def _sleep(self, cancel: NDArray[np.uint8]) -> None:
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and not cancel[0]:
            time.sleep(min(self.seconds, 0.002))

    def _next(
        self,
        problem: SimpleNamespace,
        last: DummySnapshot | None,
        warm: WarmStart | None,
        k: int,
    ) -> DummySnapshot:
        if last is None:
            state, excess, cuts = 0.3, 1.0, ()
            if warm is not None and warm.weights is not None:
                excess = float(warm.weights.values[1])
        else:
            state = 3.9 * last.state * (1 - last.state)
            excess = float(last.weights.values[1]) * self.factor
            cuts = last.cuts
        events: tuple[str, ...] = ()
        if self.cut_every and k % self.cut_every == 0:
            cuts = (*cuts, np.full(100, state))
            events = (f"cut {len(cuts)} added",)
        t = problem.target
        weights = Weights.of(KEYS, [1.0, excess, 0.0])
        alpha = np.full(problem.rows, state)
        upper = t * (1 + excess)
        best = Best(iteration=k, objective=upper, weights=weights, alpha=alpha, bias=0.0)
        return DummySnapshot(
            iteration=k,
            objective=upper,
            upper=upper,
            lower=t * (1 - excess),
            best_iteration=k,
            best=best,
            weights=weights,
            alpha=alpha,
            bias=0.0,
            inner_solves=2 * k,
            events=events,
            state=state,
            half_steps=k * 3,
            step=None if k == 0 else excess,
            iterate=weights.values,
            cuts=cuts,
        )


def endless(**changes: object) -> Halving:
    """Never converges (its upper bound falls for ever) and never stalls."""
    return Halving(factor=0.999, **changes)


def job(solver: Solver, target: float = 1.0, **given: object) -> Job:
    return Job(solver=solver, problem=make_problem(target), **given)


def same(one: Snapshot, two: Snapshot) -> bool:
    """Equal to the bit, clock included."""
    return all(_same(getattr(one, f.name), getattr(two, f.name)) for f in dataclasses.fields(one))


def _same(one: object, two: object) -> bool:
    if isinstance(one, np.ndarray):
        return isinstance(two, np.ndarray) and one.dtype == two.dtype and np.array_equal(one, two)
    if isinstance(one, tuple):
        return isinstance(two, tuple) and len(one) == len(two) and all(map(_same, one, two))
    if dataclasses.is_dataclass(one):
        return type(one) is type(two) and all(
            _same(getattr(one, f.name), getattr(two, f.name)) for f in dataclasses.fields(one)
        )
    return one == two


def until(condition, timeout: float = 10.0) -> bool:
    """Poll until `condition()`; False when it did not come true in time."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.002)
    return False
