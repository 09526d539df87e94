"""The one saddle-point problem, with its primal and dual values in one place.

    min over theta in Theta  max over a   -L*(a) - 1/2 sum_k theta_k a'K_k a - ||a||^4/(8 rho)

Hinge loss: a = y * alpha, 0 <= alpha <= C, y'alpha = 0 and -L*(a) = sum(alpha).
Squared loss: a is free and -L*(a) = a'y - ||a||^2/2 (MATH 1.1).  Every
solver is measured by `Problem.primal` and `Problem.dual`; both are valid at
any feasible point, so an inexact inner solve widens the gap and never
falsifies it (MATH 7 and 9).
"""

from __future__ import annotations

import functools
import hashlib
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.kernels.bank_family import BankFamily
from mkldash.kernels.base import CombinedKernel, KernelBank
from mkldash.kernels.family import KernelFamily
from mkldash.kernels.weights import Weights
from mkldash.problems.losses.base import Loss
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.weight_sets.base import SEARCH_BUDGET, Support, WeightSet
from mkldash.problems.weight_sets.elastic_net import ElasticNet

Array = NDArray[np.float64]

__all__ = ["DualValue", "PrimalValue", "Problem"]

#: Least penalty, and the decimal digits that the quartic term may have before the point.
_SMALLEST_RHO, _MOST_DIGITS = 1e-100, 280.0


@dataclass(frozen=True, eq=False)
class PrimalValue:
    """Primal objective at a feasible point: an upper bound on the optimum.

    Attributes
    ----------
    objective : float
    bias : float
        The exact minimiser of the loss; 0 for the squared loss, which has none.
    decision : array, shape (n_rows,)
        f on the training rows, without the bias.
    """

    objective: float
    bias: float
    decision: Array


@dataclass(frozen=True, eq=False)
class DualValue:
    """Dual objective at feasible dual coefficients: a lower bound on the optimum.

    Attributes
    ----------
    objective : float
        May be far below zero early on, for the hinge loss.
    support : Support
    """

    objective: float
    support: Support


@dataclass(frozen=True, eq=False)
class Problem:
    """A loss over a bank or an implicit family of kernels and a set of weights.

    Parameters
    ----------
    kernels : KernelBank or KernelFamily
    y : array, shape (n_rows,)
        Labels, -1 or +1, for the hinge loss; real targets for the squared loss.
    loss : Loss
    weight_set : WeightSet
    rho : float
        Strength of the neighborhood penalty; infinite without one.

    Raises
    ------
    InputError
        For targets of the wrong kind or length, a set that cannot be taken over
        an implicit family, or a rho that is not positive, too small for C, or
        finite where the loss or the family has no neighborhood.
    """

    kernels: KernelBank | KernelFamily
    y: Array
    loss: Loss = field(default_factory=Hinge)
    weight_set: WeightSet = field(default_factory=ElasticNet)
    rho: float = math.inf
    key: str = field(init=False)

    def __post_init__(self) -> None:
        y = np.array(self.y, dtype=np.float64)
        if y.shape != (self.n_rows,):
            what = "labels" if self.loss.task == "binary" else "targets"
            raise InputError(f"{y.size} {what} for a bank of {self.n_rows} training rows")
        self.loss.check(y)
        self._check_rho()
        if self.has_family:
            self.weight_set.check_family()
        else:
            self.weight_set.start(self.bank.n_kernels)  # refuses a set of the wrong size
        y.flags.writeable = False
        object.__setattr__(self, "y", y)
        facts = f"{self.kernels.key}|{self.loss!r}|{self.weight_set!r}|{self.rho!r}|"
        digest = hashlib.sha256(facts.encode() + y.tobytes()).hexdigest()[:32]
        object.__setattr__(self, "key", digest)

    def _check_rho(self) -> None:
        if not self.rho > 0.0:
            raise InputError(f"rho must be positive, not {self.rho!r}")
        if self.rho < _SMALLEST_RHO:
            raise InputError(f"rho must be at least {_SMALLEST_RHO:g}, not {self.rho:g}")
        if math.isinf(self.rho):
            return
        if self.has_family or math.isinf(self.loss.C):
            raise InputError(
                f"rho = {self.rho:g}: the neighborhood penalty belongs to the hinge loss over "
                "explicit kernels; leave rho infinite"
            )
        # The quartic at the far corner of the box, by its logarithm.
        most = 4.0 * math.log10(self.loss.C) + 2.0 * math.log10(self.bank.n_rows)
        if most - math.log10(8.0 * self.rho) > _MOST_DIGITS:
            raise InputError(
                f"C = {self.loss.C:g} is too large for rho = {self.rho:g}: ||alpha||^4 / (8 rho) "
                "may overflow; take a smaller C or a larger rho"
            )

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return self.kernels.n_rows

    @property
    def has_family(self) -> bool:
        """Whether the kernels are an implicit family, and not a bank."""
        return isinstance(self.kernels, KernelFamily)

    @property
    def bank(self) -> KernelBank:
        """The explicit kernels.

        Raises
        ------
        TypeError
            When there is only an implicit family.
        """
        if not isinstance(self.kernels, KernelBank):
            raise TypeError("an implicit family of kernels is no bank")
        return self.kernels

    @functools.cached_property
    def family(self) -> KernelFamily:
        """The implicit family, or the bank as one: its kernels by position."""
        if isinstance(self.kernels, KernelFamily):
            return self.kernels
        return BankFamily(self.kernels)

    def signed(self, alpha: Array) -> Array:
        """The coefficients a of f = K a; y * alpha for the hinge loss."""
        return self.loss.signed(alpha, self.y)

    def combine(self, theta: Array | Weights) -> CombinedKernel:
        """The weighted Gram matrix at weights of the bank or of the family."""
        if isinstance(self.kernels, KernelFamily):
            if not isinstance(theta, Weights):
                raise TypeError("weights over an implicit family come with their keys")
            return self.kernels.combine(theta)
        return self.kernels.combine(theta.values if isinstance(theta, Weights) else theta)

    def primal(
        self,
        theta: Array | Weights,
        alpha: Array,
        combined: CombinedKernel | None = None,
        decision: Array | None = None,
    ) -> PrimalValue:
        """Primal objective at weights `theta` and the functions that alpha gives.

        Parameters
        ----------
        theta : array, shape (n_kernels,), or Weights
            In the weight set; over a family always `Weights`.
        alpha : array, shape (n_rows,)
            Dual coefficients.
        combined : CombinedKernel, optional
            ``combine(theta)``, when it is at hand.
        decision : array, shape (n_rows,), optional
            K_theta a, when it is at hand.

        Returns
        -------
        PrimalValue
            With what factored storage left out added (MATH 9), so that it
            bounds the optimum over the exact kernels.
        """
        a = self.signed(alpha)
        kernel = self.combine(theta) if combined is None else combined
        f = kernel.apply(a) if decision is None else decision
        square = float(a @ a)
        norm = 0.5 * float(a @ f)
        if math.isfinite(self.rho):
            f = f + a * (square / (2.0 * self.rho))
            norm += 3.0 * square**2 / (8.0 * self.rho)
        bias, loss = self.loss.fit(f, self.y)
        left_out, diagonal = kernel.residual()
        extra = 0.0
        if left_out > 0.0:
            errors = np.sqrt(np.maximum(diagonal, 0.0)) * math.sqrt(left_out * square)
            extra = 0.5 * left_out * square + self.loss.slack(f, self.y, errors)
        return PrimalValue(norm + loss + extra, bias, f)

    def dual(
        self, alpha: Array, quadratic_forms: Array | None = None, budget: int = SEARCH_BUDGET
    ) -> DualValue:
        """Dual objective at feasible `alpha`: a certified lower bound.

        Parameters
        ----------
        alpha : array, shape (n_rows,)
            Dual coefficients.
        quadratic_forms : array, shape (n_kernels,), optional
            ``bank.quadratic_forms(signed(alpha))``, when it is at hand.
        budget : int
            Nodes that a search through an implicit family may expand.

        Returns
        -------
        DualValue
        """
        a = self.signed(alpha)
        if isinstance(self.kernels, KernelFamily):
            support = self.weight_set.support_of_family(self.kernels, a, budget)
        else:
            support = self.weight_set.support(self.kernels, a, quadratic_forms)
        value = self.loss.dual(alpha, self.y, support.value)
        if math.isfinite(self.rho):
            value -= float(a @ a) ** 2 / (8.0 * self.rho)
        return DualValue(value, support)
