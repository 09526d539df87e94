"""Which old states to drop so that the distance between them grows with age."""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np

__all__ = ["choose_victims"]


def choose_victims(
    rows: Sequence[int], newest: int, keep: Container[int], most: float = 0.25
) -> list[int]:
    """Rows that may go, the least missed first.

    Dropping a row leaves a hole from the row before it to the row after it.
    The hole is missed less the longer ago it is, so rows go in the order of
    hole / age.  What stays is dense near the newest row and about
    geometrically spaced behind it.  No two neighbours are returned, because
    the second hole would be wider than what was weighed.

    Parameters
    ----------
    rows : sequence of int
        Kept rows, ascending.
    newest : int
        The last row of the trace.
    keep : container of int
        Rows that always stay.  The first and last of `rows` stay too.
    most : float
        At most this part of `rows` (at least one), so that holes are weighed
        again before more goes.

    Returns
    -------
    list of int
        Empty when nothing may go.
    """
    at = np.asarray(rows, dtype=np.int64)
    if len(at) < 3:
        return []
    holes = (at[2:] - at[:-2]) / (newest + 1 - at[1:-1])
    victims: list[int] = []
    gone = np.zeros(len(at), dtype=bool)
    limit = max(1, int(most * len(at)))
    for position in np.argsort(holes, kind="stable") + 1:
        if gone[position - 1] or gone[position + 1] or int(at[position]) in keep:
            continue
        gone[position] = True
        victims.append(int(at[position]))
        if len(victims) == limit:
            break
    return victims
