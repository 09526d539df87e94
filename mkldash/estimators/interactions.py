"""What was learnt over products, as a table that a person can read."""

from __future__ import annotations

from typing import NamedTuple

from mkldash.kernels.family import KernelFamily
from mkldash.kernels.weights import Weights

__all__ = ["Interaction", "interactions"]


class Interaction(NamedTuple):
    """One product and the weight that was learnt for it.

    Attributes
    ----------
    product : str
        Such as ``bmi · bp``, ``age² · sex``, or ``offset`` for the empty product.
    degree : int
        Number of factors.
    weight : float
        Kernel weight theta; of all orderings together.
    orderings : int
        How many orderings the weight is of.  Where they are one kernel (p = 1),
        all that there are; where each is a kernel of its own, those with weight.
    """

    product: str
    degree: int
    weight: float
    orderings: int


def interactions(family: KernelFamily, weights: Weights) -> tuple[Interaction, ...]:
    """The products that carry weight, largest first.

    Parameters
    ----------
    family : KernelFamily
        Whose keys are tuples of positions.
    weights : Weights
        Sparse; those below 1e-5 of the largest do not count.
    """
    totals: dict[tuple[int, ...], tuple[float, int]] = {}
    for key, value in weights.as_dict().items():
        assert isinstance(key, tuple)
        product = tuple(sorted(key))
        weight, count = totals.get(product, (0.0, 0))
        totals[product] = weight + value, count + family.orderings(key)
    table = [
        Interaction(family.label(key), len(key), weight, count)
        for key, (weight, count) in sorted(totals.items())
    ]
    return tuple(sorted(table, key=lambda row: (-row.weight, row.degree)))
