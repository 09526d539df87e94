"""What a loss must answer for the primal and dual values of a problem."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

__all__ = ["Loss"]


@dataclass(frozen=True)
class Loss(abc.ABC):
    """A convex loss of decision values f against targets y, summed over the rows.

    Class facts: `name`, and `task`, ``"binary"`` or ``"regression"``.
    """

    name: ClassVar[str]
    task: ClassVar[str]

    @property
    @abc.abstractmethod
    def C(self) -> float:
        """Bound of the dual coefficients; infinite without one."""

    @abc.abstractmethod
    def check(self, y: Array) -> None:
        """Refuse targets that the loss cannot take.

        Raises
        ------
        InputError
        """

    @abc.abstractmethod
    def feasible(self, alpha: Array, y: Array) -> Array:
        """`alpha` moved to where the dual is finite, shape (n_rows,)."""

    @abc.abstractmethod
    def signed(self, alpha: Array, y: Array) -> Array:
        """The coefficients a of f = K a that the dual coefficients `alpha` mean."""

    @abc.abstractmethod
    def fit(self, decision: Array, y: Array) -> tuple[float, float]:
        """The best bias for f = `decision`, and the loss with it."""

    @abc.abstractmethod
    def slack(self, decision: Array, y: Array, errors: Array) -> float:
        """How much the loss can grow when f moves by at most `errors` on each row."""

    @abc.abstractmethod
    def dual(self, alpha: Array, y: Array, norm: float) -> float:
        """Dual objective with the penalty `norm`, at `alpha` or a multiple of it.

        Parameters
        ----------
        alpha : array, shape (n_rows,)
            Feasible dual coefficients.
        y : array, shape (n_rows,)
        norm : float
            Support function of the weight set at the quadratic forms of a.
        """
