"""What a draw of products is likely to be, beyond what the solver itself needs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mkldash.experiments.scores import Point, regression_scores
from mkldash.experiments.workload import Workload
from mkldash.kernels.products import ProductFamily

Array = NDArray[np.float64]

__all__ = ["MOST_KERNELS", "MOST_ROWS", "ProductLaws", "product_values"]

#: Beyond so many training rows there are no laws: they need the whole matrix S.
MOST_ROWS = 3000

#: Beyond so many kernels nobody goes through them at every drawing.
MOST_KERNELS = 200_000


class ProductLaws:
    """Laws of a word drawn with probability u / C, and second moments of the gradient estimate.

    With S the sum of the base kernels and M = a a', a first letter j has, in words of
    d letters, the total rho_d^-2 <S^(d-1) o K_j, M> (MATH 1.3).

    Parameters
    ----------
    family : ProductFamily
        Laws are NaN unless its base kernels have rank one, one for each feature.
    most_rows, most_kernels : int
        Beyond them laws, or moments, are NaN.
    """

    def __init__(
        self, family: ProductFamily, *, most_rows: int = MOST_ROWS, most_kernels: int = MOST_KERNELS
    ) -> None:
        self._family, self._orderings = family, None
        if family.size <= most_kernels:
            counts = [family.orderings(key) for key in family.keys()]
            self._orderings = np.array(counts, dtype=np.float64)
        letters = [(j,) for j in range(family.n_base)]
        small = family.degree > 0 and family.n_rows <= most_rows
        features = family.features(letters) if small else None
        self.n_base, self._features, self._prefixes = family.n_base, features, np.empty((0, 0))
        self._pairs = family.degree > 1
        if features is not None:
            # Without its factor each base kernel is x x'.
            self._features = features * family.rho[1]
            self._prefixes = _prefixes(self._features @ self._features.T, family.rho)

    def first(self, a: Array) -> Array:
        """Law of the first letter given that there is one, shape (n_base,).

        Parameters
        ----------
        a : array, shape (n_rows,)
            Dual coefficients; where all is zero, the law is uniform.
        """
        if self._features is None:
            return np.full(self.n_base, np.nan)
        weighted = a[:, np.newaxis] * self._features
        return _law(np.einsum("ij,ij->j", weighted, self._prefixes @ weighted))

    def pair(self, a: Array) -> Array:
        """Law of the letters of a word of two, shape (n_base, n_base), symmetric."""
        if self._features is None or not self._pairs:
            return np.full((self.n_base, self.n_base), np.nan)
        inner = self._features.T @ (a[:, np.newaxis] * self._features)
        return _law(inner**2)

    def moments(self, a: Array) -> tuple[float, float]:
        """E||ghat||^2, drawn ideally and drawn uniformly.

        A kernel that m words mean is drawn with probability m u / C, and its estimate
        is C / (2 m); uniformly with m / N, and N u / (2 m), N being the number of words.
        """
        family, total = self._family, self._family.total(a)
        if self._orderings is None:
            return (np.nan if family.merged else total**2 / 4.0), np.nan
        u, m = family.all_forms(a), self._orderings
        ideal = total / 4.0 * float((u / m).sum())
        return ideal, float(family.n_words) / 4.0 * float((u**2 / m).sum())


def _prefixes(S: Array, rho: Array) -> Array:
    """sum over d >= 1 of rho_d^-2 S^(d-1), entrywise powers, by Horner's rule."""
    total = np.full_like(S, rho[-1] ** -2.0)
    for value in rho[-2:0:-1]:
        total *= S
        total += value**-2.0
    return total


def _law(totals: Array) -> Array:
    totals = np.maximum(totals, 0.0)
    whole = float(totals.sum())
    return totals / whole if whole > 0.0 else np.full(totals.shape, 1.0 / totals.size)


def product_values(
    workload: Workload, laws: ProductLaws, point: Point
) -> Mapping[str, float | Array]:
    """What a session adds to a drawn snapshot of the problem "products".

    Parameters
    ----------
    workload : Workload
    laws : ProductLaws
        Of its family, made once.
    point : Snapshot or Best
        Its alpha is what the next word is drawn from.

    Returns
    -------
    mapping
        ``train_mse``, ``test_mse`` (left out without test rows), ``first_law``,
        ``pair_law``, ``moment_ideal`` and ``moment_uniform``.
    """
    scores = regression_scores(workload, point)
    values: dict[str, float | Array] = {"train_mse": scores.train_mse}
    if scores.test_mse is not None:
        values["test_mse"] = scores.test_mse
    ideal, uniform = laws.moments(point.alpha)
    return values | {
        "first_law": laws.first(point.alpha),
        "pair_law": laws.pair(point.alpha),
        "moment_ideal": ideal,
        "moment_uniform": uniform,
    }
