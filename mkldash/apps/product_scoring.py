"""What the worker computes for drawn snapshots of a regression over products."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from mkldash.experiments.sampling_laws import second_moments
from mkldash.experiments.scores import RegressionScores, regression_scores
from mkldash.experiments.workload import Workload
from mkldash.kernels.products import ProductFamily
from mkldash.solvers.base import Best, Snapshot
from mkldash.streaming import Score
from mkldash.views.base import FamilyFacts

__all__ = ["LAWS", "ProductFacts", "has_pairs", "make_product_facts", "make_product_score"]

#: Values that belong to a scored row and to no other.
LAWS = frozenset({"first_law", "pair_law"})

#: A pair law of more features would fill the trace; its picture shows fewer anyway.
MOST_FEATURES = 120


@dataclass(frozen=True, eq=False)
class ProductFacts:
    """What a page says of the products beside a run; see `mkldash.views.base.Scene`."""

    features: tuple[str, ...]
    family: FamilyFacts
    true_products: tuple[tuple[int, ...], ...]
    target: str


def make_product_facts(workload: Workload) -> ProductFacts | None:
    """The family in numbers and names; None where kernels are a bank."""
    if not workload.problem.has_family:
        return None
    family, dataset = workload.family, workload.source.dataset
    places = {name: i for i, name in enumerate(family.base_names)}
    card = dataset.card
    known = () if card is None else card.true_products
    return ProductFacts(
        features=family.base_names,
        family=FamilyFacts(
            n_words=family.n_words, n_keys=family.size, degree=family.degree,
            p=float(workload.choices.p), merged=family.merged,
        ),
        true_products=tuple(
            tuple(sorted(places[name] for name in product))
            for product in known
            if len(product) <= family.degree and all(name in places for name in product)
        ),
        target=dataset.target_name,
    )  # fmt: skip


def make_product_score(workload: Workload) -> Score:
    """Errors of the best point so far, the laws of the last draw, and its noise.

    The best point is what the run would answer if it ended there, and what
    `Result` gives.

    Parameters
    ----------
    workload : Workload
        Of the problem "products".

    Returns
    -------
    callable
        From a snapshot to ``train_mse`` and ``test_mse`` (NaN without test rows), and
        after the first draw ``first_law``, shape (r,), ``pair_law``, shape (r, r),
        ``moment_ideal``, ``moment_uniform`` and ``moment_draws`` (0: exact).
    """
    family = cast(ProductFamily, workload.family)
    last: tuple[Best, RegressionScores] | None = None

    def values(snapshot: Snapshot) -> Mapping[str, float | NDArray[np.float64]]:
        nonlocal last
        if last is None or last[0] is not snapshot.best:
            last = (snapshot.best, regression_scores(workload, snapshot.best))
        errors = last[1]
        found: dict[str, float | NDArray[np.float64]] = {
            "train_mse": errors.train_mse,
            "test_mse": np.nan if errors.test_mse is None else errors.test_mse,
        }
        a = getattr(snapshot, "drawn_from", np.empty(0))
        if not len(a):
            return found
        moments = second_moments(family, a, snapshot.iteration)
        found |= {
            "first_law": family.first_law(a).astype(np.float32),
            "moment_ideal": moments.ideal,
            "moment_uniform": moments.uniform,
            "moment_draws": float(moments.draws),
        }
        if has_pairs(family.n_base, family.degree):
            found["pair_law"] = family.pair_law(a).astype(np.float32)
        return found

    return values


def has_pairs(n_base: int, degree: int) -> bool:
    """Whether there are products of two, and few enough for a map of them."""
    return degree >= 2 and n_base <= MOST_FEATURES
