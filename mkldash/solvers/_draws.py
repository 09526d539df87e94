"""One kernel drawn, its unbiased gradient estimate, and the step along it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from mkldash.solvers._mirror_map import MirrorMap
from mkldash.solvers._mirror_snapshot import Drawn
from mkldash.solvers._mirror_state import Iterate

__all__ = ["adaptive_step", "ideal_draw", "take", "uniform_draw"]


def adaptive_step(geometry: MirrorMap, at: Iterate) -> float:
    """sqrt((r - 1) / sum of ||ghat_j||^2), MATH 1.2; 0 while there was no gradient."""
    return math.sqrt((geometry.r - 1.0) / at.squares) if at.squares > 0.0 else 0.0


def take(at: Iterate, drawn: Drawn, eta: float) -> Drawn:
    """The mirror step along the estimate of `drawn`."""
    at.step_one(at.position(drawn.key), eta * drawn.gradient)
    return dataclasses.replace(drawn, step=eta)


def ideal_draw(at: Iterate, rng: np.random.Generator) -> Drawn:
    """Algorithm 3: a word with probability u/C, its gradient estimate C/(2m).

    A key that m words mean is drawn m times as often: without the division
    the iterates go to a point that minimises nothing (MATH 1.3).
    """
    draw = at.family.sample(at.ridge.a, rng)
    share = draw.total * draw.probability
    n_degrees = at.family.degree + 1
    return Drawn(
        word=draw.word,
        key=draw.key,
        orderings=draw.orderings,
        total=draw.total,
        degree_law=(
            draw.degree_totals / draw.total
            if draw.total > 0.0
            else np.full(n_degrees, 1.0 / n_degrees)
        ),
        position_laws=draw.position_laws,
        value=share,
        gradient=draw.total / (2.0 * draw.orderings),
    )


def uniform_draw(at: Iterate, rng: np.random.Generator) -> Drawn:
    """Every word alike, its gradient estimate |I| u/(2m): unbiased, and of great variance."""
    family = at.family
    word = family.uniform(rng)
    key = family.stored(word)
    orderings = family.orderings(key)
    value = float(family.quadratic_forms(at.ridge.a, (key,))[0])
    sizes = np.array([float(family.n_base) ** d for d in range(family.degree + 1)])
    if family.degree == 1 and not family.has(()):
        sizes[0] = 0.0
    return Drawn(
        word=word,
        key=key,
        orderings=orderings,
        degree_law=sizes / sizes.sum(),
        position_laws=np.full((len(word), family.n_base), 1.0 / family.n_base),
        value=value,
        gradient=float(family.n_words) * value / (2.0 * orderings),
    )
