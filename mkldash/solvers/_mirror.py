"""What the solvers over a norm ball share: the loop, certified averages, exact resume."""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.family import KernelFamily, Key
from mkldash.kernels.weights import Weights
from mkldash.problems.losses.squared import Squared
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.norm_ball import NormBall
from mkldash.solvers._checks import check_whole
from mkldash.solvers._mirror_map import MirrorMap
from mkldash.solvers._mirror_snapshot import Drawn, MirrorSnapshot
from mkldash.solvers._mirror_state import Checkpoint, Iterate, Standing
from mkldash.solvers._ridge_rows import solve_fresh
from mkldash.solvers.base import CANCELLED, Best, Snapshot, Solver, WarmStart, option

Array = NDArray[np.float64]

__all__ = [
    "MirrorSolver", "will_not_converge",
]  # fmt: skip

#: Iterations between two checkpoints: a resumed run repeats at most as many.
CHECKPOINT_EVERY = 100

#: nu above which the bound on the error grows with the number of kernels (MATH 1.1), and
#: the number beyond which that is said aloud.
_LAST_GOOD_NU, _SMALL_FAMILY = 2.0, 1000

#: Above 1, but so little that the curvature of the potential, and with it the step, vanishes.
_NEAR_ONE = 1e-4


#: The start is drawn from nothing.
_NONE = np.empty(0)

#: Before anything is known.
_BEFORE = Standing(
    objective=math.inf,
    upper=math.inf,
    lower=-math.inf,
    best=Best(
        iteration=0,
        objective=math.inf,
        weights=Weights((), np.empty(0)),
        alpha=np.empty(0),
        bias=0.0,
    ),
    average_objective=math.nan,
    full_average_objective=math.nan,
    certificate="",
    inner_solves=0,
    certified=-1,
)


@dataclass(frozen=True)
class MirrorSolver(Solver):
    """Squared loss over a norm ball; a subclass says what one step is.

    Parameters
    ----------
    certify_every : int
        Iterations between two certificates.
    search_nodes : int
        Prefixes that the search for the largest gradient entry may expand.
    """

    certify_every: int = option(
        50,
        "Certify every",
        "iterations between two evaluations of the averages and the lower bound",
        bounds=(1, 10_000),
        step=1,
    )
    search_nodes: int = option(
        200,
        "Search nodes",
        "prefixes that the search behind the lower bound may expand; stopped early, "
        "it still gives a valid bound",
        bounds=(1, 1_000_000),
        step=1,
    )

    snapshot_type: ClassVar[type[Snapshot]] = MirrorSnapshot
    reach: ClassVar[float] = 1e-2
    #: Whether every step changes one weight but for a common factor.
    one_at_a_time: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_whole(self, "certify_every", 1)
        check_whole(self, "search_nodes", 1)

    def supports(self, problem: Problem) -> str | None:
        if not isinstance(problem.loss, Squared):
            return f"{self.name} is for the squared loss, not for {problem.loss.name}"
        if not isinstance(problem.weight_set, NormBall):
            return (
                f"{self.name} takes weights in a norm ball, not in the set "
                f"{problem.weight_set.name!r}"
            )
        if not problem.has_family and np.any(problem.bank.residuals):
            return f"{self.name} needs kernels that are stored exactly, not factored"
        return None

    @abc.abstractmethod
    def _move(
        self, problem: Problem, geometry: MirrorMap, at: Iterate, rng: np.random.Generator
    ) -> Drawn:
        """One step of `at`, its ridge solve included."""

    def _seed(self) -> int:
        """Of the random generator."""
        return 0

    def _keys(self, problem: Problem) -> tuple[Key, ...]:
        """Kernels to begin with, at weight zero."""
        return ()

    def _iterate(
        self,
        problem: Problem,
        resume: Snapshot | None,
        warm: WarmStart | None,
        cancel: NDArray[np.uint8],
    ) -> Iterator[Snapshot]:
        geometry = MirrorMap.of(_ball(problem).nu, problem.family.size)
        if isinstance(resume, MirrorSnapshot):
            checkpoint, shown = resume.checkpoint, resume.iteration
        else:
            checkpoint, shown = self._first(problem, geometry, warm), -1
        at = Iterate(problem, geometry, checkpoint, one_at_a_time=self.one_at_a_time)
        if shown < 0:
            standing = self._certify(problem, at, _weigh(problem, at, _BEFORE))
            checkpoint = at.checkpoint(checkpoint.generator, standing)
            events = _warnings(problem)
            drawn = _nothing(problem.family)
            yield _snapshot(at, drawn, _NONE, standing, checkpoint.generator, checkpoint, events)
        rng = _generator(checkpoint.generator)
        standing, held = checkpoint.standing, _NONE
        while cancel[0] != CANCELLED:
            # The snapshot before has these numbers already, but after a checkpoint.
            before = held if np.array_equal(held, at.ridge.a) else at.ridge.a
            drawn = self._move(problem, geometry, at, rng)
            standing = _weigh(problem, at, standing)
            if at.iteration % self.certify_every == 0:
                standing = self._certify(problem, at, standing)
            generator = _state_of(rng)
            renew = at.iteration % CHECKPOINT_EVERY == 0
            if renew:
                checkpoint = at.checkpoint(generator, standing)
            if at.iteration > shown:
                made = _snapshot(at, drawn, before, standing, generator, checkpoint, ())
                held = made.alpha
                yield made
            if renew:
                # A run that is resumed here rebuilds its matrices from the checkpoint:
                # so does this one, to round alike.
                at = Iterate(problem, geometry, checkpoint, one_at_a_time=self.one_at_a_time)

    def _first(self, problem: Problem, geometry: MirrorMap, warm: WarmStart | None) -> Checkpoint:
        """The point to begin with: no weight at all, unless warm."""
        weights = dict.fromkeys(self._keys(problem), 0.0) | _warm_weights(problem, warm)
        theta = np.array(list(weights.values()), dtype=np.float64)
        size = problem.weight_set.constraint(theta)
        theta = theta / size if size > 1.0 else theta
        zero = np.zeros_like(theta)
        return Checkpoint(
            iteration=0,
            keys=tuple(weights),
            theta=theta,
            z=geometry.dual(theta),
            whole=zero,
            block=zero,
            previous=zero,
            squares=(0.0, 0.0, 0.0),
            generator=_state_of(np.random.default_rng(self._seed())),
            standing=_BEFORE,
        )

    def finish(self, problem: Problem, last: Snapshot) -> Snapshot:
        """Evaluate the late average and the lower bound where the run ended."""
        assert isinstance(last, MirrorSnapshot)
        K = np.array(problem.combine(last.average).matrix(), order="C")
        a, fitted = solve_fresh(problem.y, K)
        value = _objective(problem.y, a, fitted)
        best = last.best
        if value < best.objective:
            a.flags.writeable = False
            best = Best(
                iteration=last.iteration, objective=value, weights=last.average, alpha=a, bias=0.0
            )
        nearer = a if value < last.objective else last.alpha
        dual = problem.dual(nearer, budget=self.search_nodes)
        better = dual.objective > last.lower
        return dataclasses.replace(
            last,
            upper=best.objective,
            lower=dual.objective if better else last.lower,
            best=best,
            best_iteration=best.iteration,
            average_objective=value,
            certified=True,
            certificate=dual.support.how if better else last.certificate,
            inner_solves=last.inner_solves + 1,
        )

    def _certify(self, problem: Problem, at: Iterate, standing: Standing) -> Standing:
        """Evaluate the averages, and the lower bound at the best of what there is."""
        found: list[tuple[float, Array]] = []
        best = standing.best
        averages = {"average": at.average(), "full": at.full_average()} if at.iteration else {}
        for what, theta in averages.items():
            a, fitted = at.ridge.elsewhere(at.keys, theta)
            value = _objective(problem.y, a, fitted)
            found.append((value, a))
            if value < best.objective:
                best = _best(at, value, at.weights(theta, what), a)
        _, a = min([(standing.objective, at.ridge.a), *found], key=lambda point: point[0])
        dual = problem.dual(a, budget=self.search_nodes)
        better = dual.objective > standing.lower
        return dataclasses.replace(
            standing,
            upper=best.objective,
            best=best,
            lower=dual.objective if better else standing.lower,
            certificate=dual.support.how if better else standing.certificate,
            average_objective=found[0][0] if found else standing.objective,
            full_average_objective=found[1][0] if found else standing.objective,
            inner_solves=standing.inner_solves + len(found),
            certified=at.iteration,
        )


def _objective(y: Array, a: Array, fitted: Array) -> float:
    """Primal value at a with K a = `fitted`."""
    residual = y - fitted
    return 0.5 * float(residual @ residual) + 0.5 * float(a @ fitted)


def _best(at: Iterate, value: float, weights: Weights, a: Array) -> Best:
    a = a.copy()
    a.flags.writeable = False
    return Best(iteration=at.iteration, objective=value, weights=weights, alpha=a, bias=0.0)


def _weigh(problem: Problem, at: Iterate, before: Standing) -> Standing:
    """Count the solve of this iteration, and keep the iterate if it is the best point."""
    value = _objective(problem.y, at.ridge.a, at.ridge.fitted)
    best = before.best
    if value < best.objective:
        best = _best(at, value, at.weights(at.theta), at.ridge.a)
    return dataclasses.replace(
        before,
        objective=value,
        upper=best.objective,
        best=best,
        inner_solves=before.inner_solves + 1,
    )


def _snapshot(
    at: Iterate,
    drawn: Drawn,
    before: Array,
    standing: Standing,
    generator: tuple[int, ...],
    checkpoint: Checkpoint,
    events: tuple[str, ...],
) -> MirrorSnapshot:
    return MirrorSnapshot(
        iteration=at.iteration,
        objective=standing.objective,
        upper=standing.upper,
        lower=standing.lower,
        best_iteration=standing.best.iteration,
        best=standing.best,
        weights=at.weights(at.theta),
        alpha=at.ridge.a,
        bias=0.0,
        inner_solves=standing.inner_solves,
        events=events,
        average=at.weights(at.average(), "average"),
        average_objective=standing.average_objective,
        full_average_objective=standing.full_average_objective,
        certified=standing.certified == at.iteration,
        certificate=standing.certificate,
        step=drawn.step,
        total=drawn.total,
        degree_law=drawn.degree_law,
        drawn=drawn.word,
        drawn_key=drawn.key,
        position_laws=drawn.position_laws,
        drawn_from=before,
        orderings=drawn.orderings,
        gradient=drawn.gradient,
        drawn_value=drawn.value,
        support_size=int(np.count_nonzero(at.theta)),
        generator=generator,
        checkpoint=checkpoint,
    )


def _nothing(family: KernelFamily) -> Drawn:
    """The start draws nothing."""
    return Drawn(
        degree_law=np.full(family.degree + 1, math.nan), position_laws=np.empty((0, family.n_base))
    )


def _warnings(problem: Problem) -> tuple[str, ...]:
    """What a person should know before the first step."""
    nu, size = _ball(problem).nu, problem.family.size
    if 1.0 < nu < 1.0 + _NEAR_ONE:
        return (
            f"p = {2.0 * nu / (1.0 + nu):.17g} is so near 1 that its steps are tiny: take p = 1, "
            "which has steps of its own",
        )
    p = 2.0 if math.isinf(nu) else 2.0 * nu / (1.0 + nu)
    if will_not_converge(p, size):
        return (
            f"p = {p:g} is above 4/3 and there are {size:,} kernels: the bound on the error grows "
            "with their number, so convergence is not to be expected",
        )
    return ()


def will_not_converge(p: float, size: int) -> bool:
    """Whether convergence is not to be expected: the error's bound grows with the family.

    Parameters
    ----------
    p : float
        Norm over the products, from 1 to 2.
    size : int
        Kernels of the family.
    """
    nu = math.inf if p == 2.0 else p / (2.0 - p)
    return nu > _LAST_GOOD_NU * (1.0 + 1e-12) and size > _SMALL_FAMILY


def _ball(problem: Problem) -> NormBall:
    assert isinstance(problem.weight_set, NormBall)
    return problem.weight_set


def _warm_weights(problem: Problem, warm: WarmStart | None) -> dict[Key, float]:
    """Weights of the start that name kernels of this problem."""
    if warm is None or warm.weights is None:
        return {}
    named = zip(warm.weights.keys, warm.weights.values, strict=True)
    if not problem.has_family:
        names = {name: k for k, name in enumerate(problem.bank.names)}
        named = (((names[key],), value) for key, value in named if key in names)  # type: ignore
    family = problem.family
    return {
        key: float(value)
        for key, value in named
        if math.isfinite(value) and value > 0.0 and family.has(key)
    }


def _state_of(rng: np.random.Generator) -> tuple[int, ...]:
    """The state of PCG64; only whole doubles are drawn from it, so nothing else is buffered."""
    state = rng.bit_generator.state["state"]
    return int(state["state"]), int(state["inc"])


def _generator(state: tuple[int, ...]) -> np.random.Generator:
    bits = np.random.PCG64()
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": state[0], "inc": state[1]},
        "has_uint32": 0,
        "uinteger": 0,
    }
    return np.random.Generator(bits)
