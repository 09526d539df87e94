"""What the draws of a step come from, and how noisy their gradient estimate is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.kernels.products import ProductFamily

Array = NDArray[np.float64]

__all__ = ["DRAWS", "SecondMoments", "second_moments"]

#: Multiplications up to which all products are evaluated.
ALL = 2e7

#: Draws that an estimate is the mean of.
DRAWS = 16


@dataclass(frozen=True)
class SecondMoments:
    """E ||ghat||^2 of the gradient estimate of one step, under two laws.

    Attributes
    ----------
    ideal : float
        Words drawn in proportion to u: C/4 times the sum of u/m over keys.
    uniform : float
        Every word alike: n_words/4 times the sum of u^2/m over keys.
    draws : int
        0: both are exact.  Else they are means over so many draws of the ideal law.
    """

    ideal: float
    uniform: float
    draws: int


def second_moments(family: ProductFamily, a: ArrayLike, seed: int = 0) -> SecondMoments:
    """Second moments of the estimates at dual coefficients `a` (MATH 1.2, 1.3).

    The estimate of a key that m words mean is C/(2m), or n_words u/(2m) where words
    are uniform.

    Parameters
    ----------
    family : ProductFamily
    a : array-like, shape (n_rows,)
    seed : int
        Of the draws, where the family is too large to be evaluated.
    """
    if family.size * family.n_rows <= ALL:
        u, m = family.all_forms(a), family.all_orderings()
        total = float(m @ u)
        return SecondMoments(
            ideal=total * float(np.sum(u / m)) / 4.0,
            uniform=float(family.n_words) * float(np.sum(u * u / m)) / 4.0,
            draws=0,
        )
    return _estimated(family, a, np.random.default_rng(seed))


def _estimated(family: ProductFamily, a: ArrayLike, rng: np.random.Generator) -> SecondMoments:
    """Both as means over draws of the ideal law: over words, sums of u/m^2 and u^2/m^2."""
    ideal = uniform = 0.0
    for _ in range(DRAWS):
        draw = family.sample(a, rng)
        share = draw.total / (4.0 * draw.orderings**2 * DRAWS)
        ideal += draw.total * share
        uniform += float(family.n_words) * draw.total * draw.probability * share
    # Beyond the range of double precision nothing is known.
    ideal, uniform = (x if math.isfinite(x) else math.nan for x in (ideal, uniform))
    return SecondMoments(ideal=ideal, uniform=uniform, draws=DRAWS)
