"""Which kernels a bank leaves out, and the sentences that say why."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from mkldash.kernels.base import Array, DroppedKernel, KernelTerm

__all__ = ["explain_dropped"]

_UNDERFLOW = "too small: the kernel underflows; standardise or rescale"


def explain_dropped(
    X: Array, terms: Sequence[KernelTerm], names: Sequence[str], keep: Collection[int]
) -> tuple[tuple[DroppedKernel, ...], str | None]:
    """The kernels left out with their reasons, and one sentence on all of them.

    Parameters
    ----------
    X : array, shape (n_rows, n_features)
    terms : sequence of KernelTerm
    names : sequence of str
        One per term.
    keep : collection of int
        Positions of the terms that are kept.
    """
    constant = np.ptp(X, axis=0) == 0.0
    peak = np.abs(X).max(axis=0)
    # Kernels are made of squares, and those of smaller numbers vanish.
    underflows = ~constant & (peak < np.sqrt(np.finfo(np.float64).tiny))
    still: dict[str, None] = {}
    small: dict[str, None] = {}
    dropped: list[DroppedKernel] = []
    for position, term in enumerate(terms):
        if position in keep:
            continue
        columns = list(term.columns)
        called = {column: _called(column, terms, X.shape[1]) for column in columns}
        still.update((called[column], None) for column in columns if constant[column])
        if constant[columns].all():
            reason = f"{_listed(called.values())} constant on the training rows"
        elif (constant | underflows)[columns].all():
            tiny = [called[column] for column in columns if underflows[column]]
            small.update((name, None) for name in tiny)
            reason = f"{_listed(tiny)} {_UNDERFLOW}"
        else:
            reason = "its values on the training rows are all the same to rounding"
        dropped.append(DroppedKernel(names[position], reason))
    if not dropped:
        return (), None
    what = [f"{_listed(still)} constant on the training rows"] if still else []
    what += [f"{_listed(small)} {_UNDERFLOW}"] if small else []
    what = what or ["some kernels are constant on the training rows, to rounding"]
    shown = ", ".join(repr(kernel.name) for kernel in dropped[:4])
    more = f" and {len(dropped) - 4} more" if len(dropped) > 4 else ""
    count = "1 kernel is" if len(dropped) == 1 else f"{len(dropped)} kernels are"
    return tuple(dropped), (
        f"{', and '.join(what)}: {count} zero after centring and dropped, weight 0 ({shown}{more})"
    )


def _called(column: int, terms: Sequence[KernelTerm], n_features: int) -> str:
    """The name that a kernel on this column alone gives it, else its number."""
    for term in terms:
        # On a table of one column, "all" is that column and not its name.
        together = n_features == 1 and term.feature == "all"
        if term.columns == (column,) and not together:
            return repr(term.feature)
    return str(column)


def _listed(names: Collection[str]) -> str:
    """Such as ``columns 'a', 'b' are``."""
    shown = list(names)[:8]
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"column {shown[0]} is" if len(names) == 1 else f"columns {', '.join(shown)}{more} are"
