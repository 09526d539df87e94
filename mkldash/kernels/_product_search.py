"""Best-first search over prefixes for the word of largest u."""

from __future__ import annotations

import heapq

from mkldash.kernels._product_bases import Expansion, Tree
from mkldash.kernels.base import Array
from mkldash.kernels.family import Search

__all__ = ["best_first"]


def best_first(tree: Tree, factors: Array, budget: int) -> Search:
    """The largest factors_d times the form of a sorted word of length d.

    The prefix with the largest bound is expanded until none is above the best
    word seen, or `budget` of them were.  Ties go to the shorter, then to the
    lexicographically smaller prefix, so that the search is the same every time.

    Parameters
    ----------
    tree : Tree
    factors : array, shape (degree + 1,)
        rho_d^-2.
    budget : int
        Prefixes to expand at most.
    """
    best, nodes = -1.0, 0
    word: tuple[int, ...] = ()
    heap: list[tuple[float, int, tuple[int, ...]]] = []

    def take(found: Expansion, length: int) -> None:
        nonlocal best, word
        value = found.value * float(factors[length])
        if value > best:
            best, word = value, found.word

    for length in range(len(factors)):
        bound, found = tree.root(length)
        take(found, length)
        if length > 1:
            heapq.heappush(heap, (-bound * float(factors[length]), length, ()))
    while heap and -heap[0][0] > best and nodes < budget:
        limit, length, prefix = heapq.heappop(heap)
        found = tree.expand(prefix, length)
        nodes += 1
        take(found, length)
        for longer, bound in zip(found.prefixes, found.bounds, strict=True):
            # A part of the words cannot hold more than the whole.
            bound = min(bound * float(factors[length]), -limit)
            if bound > best:
                heapq.heappush(heap, (-bound, length, longer))
    open_bound = -heap[0][0] if heap else best
    exact = open_bound <= best
    return Search(word, best, best if exact else open_bound, exact, nodes)
