"""What a mirror-descent run carries from step to step, and how it is put down and taken up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.family import KernelFamily, Key
from mkldash.kernels.weights import Weights
from mkldash.problems.problem import Problem
from mkldash.solvers._mirror_map import MirrorMap
from mkldash.solvers._ridge import Ridge
from mkldash.solvers.base import Best

Array = NDArray[np.float64]

__all__ = ["Checkpoint", "Iterate", "Standing"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Standing:
    """Bounds and averages as last certified; shared by the snapshots in between.

    Attributes
    ----------
    objective : float
        Primal value at the iterate.
    upper, lower : float
    best : Best
    average_objective, full_average_objective : float
        Primal values at the averages, at the last certified iteration.
    certificate : str
        How the lower bound was found.
    inner_solves : int
        Ridge solves so far.
    certified : int
        Iteration of the last certificate.
    """

    objective: float
    upper: float
    lower: float
    best: Best
    average_objective: float
    full_average_objective: float
    certificate: str
    inner_solves: int
    certified: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Checkpoint:
    """Everything from which a run goes on, bit for bit; immutable and shared.

    Attributes
    ----------
    iteration : int
    keys : tuple of Key
        Every key drawn so far, in the order of the first draw.
    theta, z : array, shape (n_keys,)
        The iterate, and its dual grad Psi(theta).
    whole, block, previous : array, shape (n_keys,)
        Sums of the iterates: of all, since the last power of two, and between
        the two powers of two before that.
    squares : tuple of float
        Sums of the squared norms of the gradient estimates, over the same three
        ranges.
    generator : tuple of int
        State of the random generator.
    standing : Standing
    """

    iteration: int
    keys: tuple[Key, ...]
    theta: Array
    z: Array
    whole: Array
    block: Array
    previous: Array
    squares: tuple[float, float, float]
    generator: tuple[int, ...]
    standing: Standing


class Iterate:
    """The growing arrays of a run: weights by key, their dual, and their sums.

    Parameters
    ----------
    problem : Problem
    geometry : MirrorMap
    checkpoint : Checkpoint
    one_at_a_time : bool
        Whether every step will change one weight but for a common factor.
    """

    def __init__(
        self,
        problem: Problem,
        geometry: MirrorMap,
        checkpoint: Checkpoint,
        *,
        one_at_a_time: bool = True,
    ) -> None:
        self._problem, self._geometry = problem, geometry
        self._follows = one_at_a_time and (geometry.rescales or geometry.nu == np.inf)
        self.iteration = checkpoint.iteration
        self.keys: list[Key] = list(checkpoint.keys)
        self._positions = {key: i for i, key in enumerate(self.keys)}
        self.theta, self.z = checkpoint.theta.copy(), checkpoint.z.copy()
        self._whole, self._block = checkpoint.whole.copy(), checkpoint.block.copy()
        self._previous = checkpoint.previous.copy()
        self._squares = checkpoint.squares
        self._supports: dict[str, tuple[NDArray[np.intp], tuple[Key, ...]]] = {}
        self.ridge = Ridge(
            self.family, problem.y, self.keys, self.theta,
            follows=self._follows, rescales=geometry.rescales,
        )  # fmt: skip

    @property
    def family(self) -> KernelFamily:
        """The kernels."""
        return self._problem.family

    def position(self, key: Key) -> int:
        """Where a key is kept; a new one is put at the end with weight zero."""
        found = self._positions.get(key)
        if found is None:
            found = self._positions[key] = len(self.keys)
            self.keys.append(key)
            zero = np.zeros(1)
            for name in ("theta", "z", "_whole", "_block", "_previous"):
                setattr(self, name, np.concatenate([getattr(self, name), zero]))
        return found

    def see(self, size: float) -> None:
        """Count a gradient estimate of this norm, before its step."""
        whole, block, previous = self._squares
        if (self.iteration + 1) & self.iteration == 0:
            block, previous = 0.0, block
        square = size * size  # unlike a power, too much for a double is infinity
        self._squares = whole + square, block + square, previous

    @property
    def squares(self) -> float:
        """Sum of the squared norms of all gradient estimates seen."""
        return self._squares[0]

    @property
    def recent_squares(self) -> float:
        """The same for those that `average` covers: since the power of two before the last."""
        return self._squares[1] + self._squares[2]

    def step_one(self, position: int, amount: float) -> None:
        """z <- z + amount e_position, back into the ball, solve, add to the sums."""
        before = self.theta
        z = self.z.copy()
        z[position] += amount
        self.theta, self.z = self._geometry.inside(z)
        self._finish(self._change(before, position) if self._follows else None)

    def step_all(self, amounts: Array) -> None:
        """z <- z + amounts, back into the ball, solve, add to the sums."""
        self.theta, self.z = self._geometry.inside(self.z + amounts)
        self._finish(None)

    def move(self, position: int, value: float) -> None:
        """Set one weight of a box, solve, add to the sums."""
        before, self.theta = self.theta, self.theta.copy()
        self.theta[position] = value
        self.z = self.theta
        self._finish(self._change(before, position))

    def _change(self, before: Array, position: int) -> tuple[float, int, float]:
        """(scale, position, extra) of the last step."""
        others = before > 0.0
        others[position] = False
        # The largest of the others has lost the fewest digits.
        reference = int(np.argmax(np.where(others, before, 0.0)))
        scale = 1.0
        if others[reference]:
            scale = float(self.theta[reference] / before[reference])
        return scale, position, float(self.theta[position] - scale * before[position])

    def _finish(self, change: tuple[float, int, float] | None) -> None:
        self.iteration += 1
        self.ridge.step(self.keys, self.theta, change)
        if self.iteration & (self.iteration - 1) == 0:
            self._previous, self._block = self._block, np.zeros_like(self._block)
        self._block = self._block + self.theta
        self._whole = self._whole + self.theta

    def weights(self, theta: Array, what: str = "iterate") -> Weights:
        """`theta`, shape (n_keys,), as weights of the bank or the family.

        As long as the support of `what` stays, its keys are one shared tuple.
        """
        if not self._problem.has_family:
            values = np.zeros(self.family.size)
            for key, value in zip(self.keys, theta, strict=True):
                assert isinstance(key, tuple)
                values[key[0]] = value
            return self._problem.bank.weights(values)
        active = np.flatnonzero(theta)
        support = self._supports.get(what)
        if support is None or not np.array_equal(support[0], active):
            all_of_them = active.size == len(self.keys)
            keys = self.keys if all_of_them else map(self.keys.__getitem__, active.tolist())
            support = (active, tuple(keys))
            self._supports[what] = support
        return Weights(support[1], theta[active])

    def average(self) -> Array:
        """Mean of the iterates since the power of two before the last."""
        k = self.iteration
        if k == 0:
            return self.theta
        first = 1 << (k.bit_length() - 1)
        return (self._previous + self._block) / (k - first + 1 + first // 2)

    def full_average(self) -> Array:
        """Mean of all iterates after the start."""
        return self._whole / self.iteration if self.iteration else self.theta

    def checkpoint(self, generator: tuple[int, ...], standing: Standing) -> Checkpoint:
        """The state as it is now."""
        arrays = {
            "theta": self.theta, "z": self.z, "whole": self._whole, "block": self._block,
            "previous": self._previous,
        }  # fmt: skip
        for array in arrays.values():
            array.flags.writeable = False
        return Checkpoint(
            iteration=self.iteration,
            keys=tuple(self.keys),
            squares=self._squares,
            generator=generator,
            standing=standing,
            **arrays,
        )
