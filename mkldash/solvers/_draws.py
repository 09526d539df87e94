"""One kernel drawn, its unbiased gradient estimate, and the step along it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.family import KernelFamily
from mkldash.solvers._mirror_map import MirrorMap
from mkldash.solvers._mirror_snapshot import Drawn
from mkldash.solvers._mirror_state import Iterate

Array = NDArray[np.float64]

__all__ = ["adaptive_step", "ideal_draw", "take", "uniform_draw"]


def adaptive_step(geometry: MirrorMap, squares: float) -> float:
    """sqrt((r - 1) / squares) with the sum of ||ghat_j||^2, MATH 1.2; 0 without a gradient."""
    return math.sqrt((geometry.r - 1.0) / squares) if squares > 0.0 else 0.0


def take(at: Iterate, drawn: Drawn, eta: float) -> Drawn:
    """The mirror step along the estimate of `drawn`."""
    at.step_one(at.position(drawn.key), eta * drawn.gradient)
    return dataclasses.replace(drawn, step=eta)


def _word_shares(family: KernelFamily) -> Array:
    """Share of all words that each degree has, shape (degree + 1,)."""
    sizes = np.array([float(family.n_base) ** d for d in range(family.degree + 1)])
    if not family.has(()):  # a bank: words of one letter only
        sizes[0] = 0.0
    shares: Array = sizes / sizes.sum()
    return shares


def ideal_draw(at: Iterate, rng: np.random.Generator) -> Drawn:
    """Algorithm 3: a word with probability u/C, its gradient estimate C/(2m).

    A key that m words mean is drawn m times as often: without the division
    the iterates go to a point that minimises nothing (MATH 1.3).
    """
    draw = at.family.sample(at.ridge.a, rng)
    total = draw.total
    return Drawn(
        word=draw.word,
        key=draw.key,
        orderings=draw.orderings,
        total=total,
        # Without any gradient every word is as likely.
        degree_law=draw.degree_totals / total if total > 0.0 else _word_shares(at.family),
        position_laws=draw.position_laws,
        value=total * draw.probability,
        gradient=total / (2.0 * draw.orderings),
    )


def uniform_draw(at: Iterate, rng: np.random.Generator) -> Drawn:
    """Every word alike, its gradient estimate |I| u/(2m): unbiased, and of great variance."""
    family = at.family
    word = family.uniform(rng)
    key = family.stored(word)
    orderings = family.orderings(key)
    value = float(family.quadratic_forms(at.ridge.a, (key,))[0])
    return Drawn(
        word=word,
        key=key,
        orderings=orderings,
        degree_law=_word_shares(family),
        position_laws=np.full((len(word), family.n_base), 1.0 / family.n_base),
        value=value,
        gradient=float(family.n_words) * value / (2.0 * orderings),
    )
