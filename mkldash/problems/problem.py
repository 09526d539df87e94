"""The one saddle-point problem, with its primal and dual values in one place.

    min over theta in Theta  max over a   sum(alpha) - 1/2 sum_k theta_k a'K_k a - ||a||^4/(8 rho)

with a = y * alpha, 0 <= alpha <= C and y'alpha = 0 (hinge loss).  Every
solver is measured by `Problem.primal` and `Problem.dual`; both are valid at
any feasible point, so an inexact inner solve widens the gap and never
falsifies it (MATH 7 and 9).
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError
from mkldash.kernels.base import CombinedKernel, KernelBank
from mkldash.problems.certificates import hinge_bias
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.weight_sets.base import Support, WeightSet
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
        The exact minimiser of the hinge sum.
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
        May be far below zero early on.
    support : Support
    """

    objective: float
    support: Support


@dataclass(frozen=True, eq=False)
class Problem:
    """Hinge loss over a bank of kernels and a set of weights.

    Parameters
    ----------
    bank : KernelBank
    y : array, shape (n_rows,)
        Labels, -1 or +1.
    loss : Hinge
    weight_set : WeightSet
    rho : float
        Strength of the neighborhood penalty; infinite without one.

    Raises
    ------
    InputError
        For labels that are not -1 or +1, of the wrong length, or a rho that
        is not positive or too small for C.
    """

    bank: KernelBank
    y: Array
    loss: Hinge = field(default_factory=Hinge)
    weight_set: WeightSet = field(default_factory=ElasticNet)
    rho: float = math.inf
    key: str = field(init=False)

    def __post_init__(self) -> None:
        y = np.array(self.y, dtype=np.float64)
        if y.shape != (self.bank.n_rows,):
            raise InputError(f"{y.size} labels for a bank of {self.bank.n_rows} training rows")
        if not np.all(np.abs(y) == 1.0):
            raise InputError("labels must be -1 or +1")
        self._check_rho()
        self.weight_set.start(self.bank.n_kernels)  # refuses a set of the wrong size
        y.flags.writeable = False
        object.__setattr__(self, "y", y)
        facts = f"{self.bank.key}|{self.loss!r}|{self.weight_set!r}|{self.rho!r}|"
        digest = hashlib.sha256(facts.encode() + y.tobytes()).hexdigest()[:32]
        object.__setattr__(self, "key", digest)

    def _check_rho(self) -> None:
        if not self.rho > 0.0:
            raise InputError(f"rho must be positive, not {self.rho!r}")
        if self.rho < _SMALLEST_RHO:
            raise InputError(f"rho must be at least {_SMALLEST_RHO:g}, not {self.rho:g}")
        # The quartic at the far corner of the box, by its logarithm.
        most = 4.0 * math.log10(self.loss.C) + 2.0 * math.log10(self.bank.n_rows)
        if math.isfinite(self.rho) and most - math.log10(8.0 * self.rho) > _MOST_DIGITS:
            raise InputError(
                f"C = {self.loss.C:g} is too large for rho = {self.rho:g}: ||alpha||^4 / (8 rho) "
                "may overflow; take a smaller C or a larger rho"
            )

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return self.bank.n_rows

    def signed(self, alpha: Array) -> Array:
        """a = y * alpha."""
        return self.y * alpha

    def primal(
        self,
        theta: Array,
        alpha: Array,
        combined: CombinedKernel | None = None,
        decision: Array | None = None,
    ) -> PrimalValue:
        """Primal objective at weights `theta` and the functions that alpha gives.

        Parameters
        ----------
        theta : array, shape (n_kernels,)
            In the weight set.
        alpha : array, shape (n_rows,)
            Dual coefficients.
        combined : CombinedKernel, optional
            ``bank.combine(theta)``, when it is at hand.
        decision : array, shape (n_rows,), optional
            K_theta a, when it is at hand.

        Returns
        -------
        PrimalValue
            With what factored storage left out added (MATH 9), so that it
            bounds the optimum over the exact kernels.
        """
        a = self.signed(alpha)
        kernel = self.bank.combine(theta) if combined is None else combined
        f = kernel.apply(a) if decision is None else decision
        square = float(a @ a)
        norm = 0.5 * float(a @ f)
        if math.isfinite(self.rho):
            f = f + a * (square / (2.0 * self.rho))
            norm += 3.0 * square**2 / (8.0 * self.rho)
        bias, loss = hinge_bias(f, self.y)
        left_out, diagonal = kernel.residual()
        extra = 0.0
        if left_out > 0.0:
            errors = np.sqrt(np.maximum(diagonal, 0.0)).sum() * math.sqrt(left_out * square)
            extra = 0.5 * left_out * square + self.loss.C * float(errors)
        return PrimalValue(norm + self.loss.C * loss + extra, bias, f)

    def dual(self, alpha: Array, quadratic_forms: Array | None = None) -> DualValue:
        """Dual objective at feasible `alpha`: a certified lower bound.

        Parameters
        ----------
        alpha : array, shape (n_rows,)
            Dual coefficients.
        quadratic_forms : array, shape (n_kernels,), optional
            ``bank.quadratic_forms(signed(alpha))``, when it is at hand.

        Returns
        -------
        DualValue
        """
        a = self.signed(alpha)
        support = self.weight_set.support(self.bank, a, quadratic_forms)
        value = float(alpha.sum()) - 0.5 * support.value
        if math.isfinite(self.rho):
            value -= float(a @ a) ** 2 / (8.0 * self.rho)
        return DualValue(value, support)
