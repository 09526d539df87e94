"""The numbers of a run as a file to keep."""

from __future__ import annotations

import io

import numpy as np

from mkldash.apps.state import AppState
from mkldash.streaming import Session

__all__ = ["as_csv"]


def as_csv(session: Session | None) -> io.StringIO:
    """Raw numbers of a run, one line per iteration: zeros stay zeros.

    Parameters
    ----------
    session : Session or None

    Returns
    -------
    StringIO
        After a line that names all choices, and one with the names of the columns.
    """
    buffer = io.StringIO()
    if session is not None:
        columns = session.trace.columns()
        table = np.column_stack([np.asarray(v, dtype=np.float64) for v in columns.values()])
        label = session.parameters
        told = label.in_full() if isinstance(label, AppState) else ""
        buffer.write(f"# {told}\n{','.join(columns)}\n")
        np.savetxt(buffer, table, delimiter=",", fmt="%.17g")
    else:
        buffer.write("# no run yet\n")
    buffer.seek(0)
    return buffer
