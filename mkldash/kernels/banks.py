"""Named lists of kernels: which kernels on which features."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from mkldash.errors import InputError
from mkldash.kernels.base import Kernel, KernelTerm
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.linear import Linear
from mkldash.kernels.normalization import as_features, constant_columns
from mkldash.kernels.polynomial import Polynomial

__all__ = ["BANKS", "SINGLE", "make_terms", "mean_squared_distance"]

#: The bank of one Gaussian whose width follows the training rows.
SINGLE = "single"

_GAUSSIANS = tuple(Gaussian(2.0**power) for power in range(-3, 7))
_POLYNOMIALS = tuple(Polynomial(degree) for degree in (1, 2, 3))
_KERNELS: Mapping[str, tuple[Kernel, ...]] = MappingProxyType(
    {
        "paper": _GAUSSIANS + _POLYNOMIALS,
        "linear": (Linear(),),
        "gaussian": _GAUSSIANS,
        "golden": (
            Linear(),
            Gaussian(math.sqrt(0.5)),
            Gaussian(math.sqrt(5.0)),
            Polynomial(2),
        ),
    }
)

#: What each bank holds, by name.
BANKS: Mapping[str, str] = MappingProxyType(
    {
        "paper": "Gaussian widths 2^-3 .. 2^6 and (1 + x'x')^d, d = 1, 2, 3, "
        "on each feature and on all",
        "linear": "x'x' on each feature and on all",
        "gaussian": "Gaussian widths 2^-3 .. 2^6 on each feature and on all",
        "golden": "x'x', exp(-d2), exp(-0.1 d2) and (1 + x'x')^2 on all features",
        SINGLE: "exp(-d2/sigma) on all features, sigma = factor x mean d2 of the training rows",
    }
)


def mean_squared_distance(X: ArrayLike) -> float:
    """Mean of |x_i - x_j|^2 over all pairs of rows, i = j included.

    Columns that are constant but for rounding count as constant.

    Parameters
    ----------
    X : array-like, shape (n_rows, n_features)

    Returns
    -------
    float

    Raises
    ------
    InputError
        When there is no row, all rows are the same, or the distances over- or underflow.
    """
    values = as_features(X)
    if not len(values):
        raise InputError("a kernel width needs training rows, got none")
    values = values[:, ~constant_columns(values)]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = 2.0 * float(((values - values.mean(axis=0)) ** 2).mean(axis=0).sum())
    if not math.isfinite(mean):
        raise InputError("the distances between the rows overflow; standardise the features")
    if not mean > 0.0 and values.shape[1]:
        raise InputError("the distances between the rows underflow; standardise the features")
    if not mean > 0.0:
        raise InputError(
            "all training rows are the same, so that no kernel width follows from their distances; "
            "take other columns or more rows"
        )
    return mean


def make_terms(
    bank: str, feature_names: Sequence[str], sigma: float | None = None
) -> tuple[KernelTerm, ...]:
    """The kernels of a named bank over the given features.

    Parameters
    ----------
    bank : str
        A key of `BANKS`.
    feature_names : sequence of str, length n_features
    sigma : float, optional
        Of the bank ``single``, exp(-d2/sigma); see `mean_squared_distance`.

    Returns
    -------
    tuple of KernelTerm
        Feature by feature in the order given, and all features last; the paper's
        bank has 13 (n_features + 1).  ``golden`` has its four kernels on
        all only, ``single`` its one.

    Raises
    ------
    InputError
        If there is no such bank, no feature, a name is used twice, or sigma is
        missing.
    """
    if bank not in BANKS:
        raise InputError(f"no bank named {bank!r}; there are {', '.join(sorted(BANKS))}")
    names = [str(name) for name in feature_names]
    if not names:
        raise InputError("a bank needs at least one feature column")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two feature columns are named {name!r}; rename one")
    together = "all"
    while together in names:
        together += " features"
    places = [(tuple(range(len(names))), together)]
    kernels = _single(sigma) if bank == SINGLE else _KERNELS[bank]
    if bank not in ("golden", SINGLE):
        places = [((column,), name) for column, name in enumerate(names)] + places
    return tuple(
        KernelTerm(kernel, columns, feature) for columns, feature in places for kernel in kernels
    )


def _single(sigma: float | None) -> tuple[Kernel, ...]:
    """exp(-d2/sigma) as a Gaussian of width sqrt(sigma/2)."""
    if sigma is None:
        raise InputError(
            f"the bank {SINGLE!r} takes its width from the training rows: hand in sigma, or take "
            "a Gaussian of your own"
        )
    if not (math.isfinite(sigma) and sigma > 0.0):
        raise InputError(f"sigma must be a positive number, not {sigma!r}")
    return (Gaussian(math.sqrt(sigma / 2.0)),)
