"""What a set of kernel weights must answer."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.kernels.base import KernelBank
from mkldash.kernels.family import KernelFamily

Array = NDArray[np.float64]

__all__ = ["SEARCH_BUDGET", "Support", "WeightSet"]

#: Nodes that the search for the largest quadratic form of a family expands, unless told.
SEARCH_BUDGET = 200


@dataclass(frozen=True, eq=False)
class Support:
    """max over the set of u'theta, with u_k = a' K_k a.

    Attributes
    ----------
    value : float
        The maximum, or an upper bound on it.
    exact : bool
        False when `value` is only a bound.
    maximiser : array, shape (n_kernels,)
        Empty over an implicit family.
    quadratic_forms : array, shape (n_kernels,)
        u, as the bank stores its kernels; empty over an implicit family.
    how : str
        How the value over a family was found, in words, such as ``"exact"`` or
        ``"search stopped at 200 nodes"``.
    """

    value: float
    exact: bool
    maximiser: Array
    quadratic_forms: Array
    how: str = "exact"


@dataclass(frozen=True)
class WeightSet(abc.ABC):
    """A closed convex set of non-negative weights with its linear and reciprocal programs."""

    name: ClassVar[str]

    @abc.abstractmethod
    def start(self, n_kernels: int) -> Array:
        """Uniform weights on the boundary, shape (n_kernels,)."""

    @abc.abstractmethod
    def constraint(self, theta: Array) -> float:
        """Left side of the constraint; feasible up to 1."""

    @abc.abstractmethod
    def pull_inside(self, theta: Array) -> Array:
        """A strictly positive point of the boundary near `theta` (MATH 0.2)."""

    @abc.abstractmethod
    def maximise(self, u: Array) -> tuple[Array, float]:
        """Maximiser and maximum of u'theta over the set, u >= 0."""

    def support(self, bank: KernelBank, a: Array, quadratic_forms: Array | None = None) -> Support:
        """Support function of the set at the bank's quadratic forms of `a`.

        What factored storage left out is added, so that the value bounds the
        maximum over the exact kernels (MATH 9).  `quadratic_forms` saves their
        evaluation when they are at hand.
        """
        u = bank.quadratic_forms(a) if quadratic_forms is None else quadratic_forms
        exact = not bool(np.any(bank.residuals))
        bounded = u if exact else u + bank.residuals * float(a @ a)
        maximiser, value = self.maximise(bounded)
        return Support(value, exact, maximiser, u)

    def check_family(self) -> None:
        """Refuse implicit families, unless the set can bound its support function there.

        Raises
        ------
        InputError
        """
        raise self._no_families()

    def support_of_family(self, family: KernelFamily, a: Array, budget: int) -> Support:
        """An upper bound on the support function over an implicit family (MATH 1.4)."""
        raise self._no_families()

    def _no_families(self) -> InputError:
        return InputError(
            f"the set {self.name!r} has no certificate over an implicit family of kernels; "
            "take the norm-ball"
        )
