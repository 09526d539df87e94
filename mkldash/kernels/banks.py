"""Named lists of kernels: which kernels on which features."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from mkldash.errors import InputError
from mkldash.kernels.base import Kernel, KernelTerm
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.linear import Linear
from mkldash.kernels.polynomial import Polynomial

__all__ = ["BANKS", "make_terms"]

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
    }
)


def make_terms(bank: str, feature_names: Sequence[str]) -> tuple[KernelTerm, ...]:
    """The kernels of a named bank over the given features.

    Parameters
    ----------
    bank : str
        A key of `BANKS`.
    feature_names : sequence of str, length n_features

    Returns
    -------
    tuple of KernelTerm
        Feature by feature in the order given, and all features last; the paper's
        bank has 13 (n_features + 1).  ``golden`` has its four kernels on all only.

    Raises
    ------
    InputError
        If there is no such bank, no feature, or a name is used twice.
    """
    if bank not in _KERNELS:
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
    if bank != "golden":
        places = [((column,), name) for column, name in enumerate(names)] + places
    return tuple(
        KernelTerm(kernel, columns, feature)
        for columns, feature in places
        for kernel in _KERNELS[bank]
    )
