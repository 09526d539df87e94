"""Names of the kernels of a bank: short, and different for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mkldash.errors import InputError
from mkldash.kernels.base import KernelTerm

__all__ = ["gram_label", "unique_names"]


def gram_label(position: int, name: str) -> str:
    """How messages call a given matrix, such as ``kernel 1 ('rbf')``.

    Parameters
    ----------
    position : int
    name : str
        ``kernel 1`` if it has none of its own.
    """
    return name if name == f"kernel {position}" else f"kernel {position} ({name!r})"


def unique_names(terms: Sequence[KernelTerm]) -> tuple[str, ...]:
    """A name for each term, in order.

    Short names as long as they differ.  Where kernels on the same columns share
    one, such as two widths that agree to six digits, all their digits are shown;
    kernels that are the same get `` (2)``, `` (3)`` ...

    Parameters
    ----------
    terms : sequence of KernelTerm

    Raises
    ------
    InputError
        If two terms on different columns have one name.
    """
    columns: dict[str, tuple[int, ...]] = {}
    for term in terms:
        if columns.setdefault(term.name, term.columns) != term.columns:
            raise InputError(
                f"two kernels on different columns are named {term.name!r}; rename a feature"
            )
    kernels: dict[str, set] = {}
    for term in terms:
        kernels.setdefault(term.name, set()).add(term.kernel)
    wanted = [term.exact_name if len(kernels[term.name]) > 1 else term.name for term in terms]
    taken, used = set(wanted), Counter[str]()
    names = []
    for name in wanted:
        used[name] += 1
        unique = name
        if used[name] > 1:
            while (unique := f"{name} ({used[name]})") in taken:
                used[name] += 1
            taken.add(unique)
        names.append(unique)
    return tuple(names)
