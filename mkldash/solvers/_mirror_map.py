"""The geometry of mirror descent on the ball of the nu-norm: potentials and steps.

Psi = 1/2 ||.||_r^2 with r = nu for 1 < nu <= 2, r = 2 beyond, and r near 1 for
nu = 1 (MATH 1.2).  A point is carried by its dual z = grad Psi(theta), so that a
step is a sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mkldash.solvers._compiled_mirror import onto_ball, soft_threshold

Array = NDArray[np.float64]

__all__ = ["MirrorMap"]


@dataclass(frozen=True)
class MirrorMap:
    """Potential and Bregman projection for one ball.

    Parameters
    ----------
    nu : float
        Of the ball, from 1 to infinity.
    r : float
        Exponent of the potential, above 1 and at most 2.
    n_keys : int
        Number of kernels.
    """

    nu: float
    r: float
    n_keys: int

    @classmethod
    def of(cls, nu: float, n_keys: int) -> MirrorMap:
        """The potential that belongs to the ball; for nu = 1 it depends on `n_keys`."""
        if nu == 1.0:
            mu = max(2.0, 2.0 * math.log(n_keys))
            return cls(nu, mu / (mu - 1.0), n_keys)
        return cls(nu, min(nu, 2.0), n_keys)

    @property
    def m(self) -> float:
        """Exponent r/(r - 1) of the dual norm."""
        return self.r / (self.r - 1.0)

    @property
    def rescales(self) -> bool:
        """Whether a step multiplies all other weights by one common factor."""
        return self.r == self.nu

    @property
    def diameter(self) -> float:
        """delta = sup Psi over the ball: 1/2, or n_keys^(1 - 2/nu)/2 for nu > 2."""
        if self.nu <= 2.0:
            return 0.5
        return 0.5 * float(self.n_keys) ** (1.0 - 2.0 / self.nu)

    def dual(self, theta: Array) -> Array:
        """z = grad Psi(theta), for theta >= 0."""
        if self.r == 2.0:
            return theta.copy()
        size = self._norm(theta, self.r)
        return size * (theta / size) ** (self.r - 1.0) if size > 0.0 else np.zeros_like(theta)

    def primal(self, z: Array) -> Array:
        """grad Psi*(z), the theta whose dual is z >= 0."""
        if self.r == 2.0:
            return z.copy()
        size = self._norm(z, self.m)
        return size * (z / size) ** (self.m - 1.0) if size > 0.0 else np.zeros_like(z)

    def gradient_norm(self, g: Array) -> float:
        """The dual norm ||g||_m of a gradient."""
        return self._norm(np.abs(g), self.m)

    def inside(self, z: Array) -> tuple[Array, Array]:
        """argmin over the ball of Psi(theta) - z'theta, exactly (MATH 1.2).

        Parameters
        ----------
        z : array, shape (s,)
            Not negative.

        Returns
        -------
        theta, z : array, shape (s,)
            The point, and its own dual.
        """
        if math.isinf(self.nu):
            theta = np.minimum(z, 1.0)
            return theta, theta.copy()
        if self.rescales:
            size = self._norm(z, self.m)
            z = z / size if size > 1.0 else z
            return self.primal(z), z
        if self.nu == 1.0:
            theta = self.primal(z)
            if float(theta.sum()) > 1.0:
                z = soft_threshold(z, self.m)
                theta = self.primal(z)
            return theta, z
        if self._norm(z, self.nu) > 1.0:
            z = onto_ball(z, self.nu)
        return z.copy(), z

    @staticmethod
    def _norm(z: Array, exponent: float) -> float:
        largest = float(z.max(initial=0.0))
        if not largest > 0.0:
            return largest
        return largest * float(((z / largest) ** exponent).sum()) ** (1.0 / exponent)
