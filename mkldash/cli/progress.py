"""The bar on stderr."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkldash.solvers.base import Snapshot

__all__ = ["ProgressBar", "share_done"]

_WIDTH = 24


def share_done(gap: float, first_gap: float, tol: float) -> float:
    """How far the gap has come on a log axis, in [0, 1].

    Parameters
    ----------
    gap : float
        Relative gap now; infinite while no bound is above zero.
    first_gap : float
        First finite gap of the run.
    tol : float
        Where the run ends.

    Returns
    -------
    float
    """
    if not math.isfinite(gap) or not math.isfinite(first_gap):
        return 0.0
    if gap <= tol:
        return 1.0
    if first_gap <= tol:
        return 0.0
    return min(max(math.log(first_gap / gap) / math.log(first_gap / tol), 0.0), 1.0)


class ProgressBar:
    """Iteration, gap and time while a run goes on.

    On a terminal one line is drawn again and again; into a file or pipe a
    line goes every two seconds.

    Parameters
    ----------
    tol : float
        Relative gap at which the run ends.
    """

    def __init__(self, tol: float) -> None:
        self._tol = tol
        self._first_gap = math.inf
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._every = 0.1 if self._terminal else 2.0
        self._due = 0.0
        self._drawn = ""
        self._last: Snapshot | None = None

    def __call__(self, snapshot: Snapshot) -> None:
        """Draw `snapshot`, unless something was drawn a moment ago."""
        self._last = snapshot
        if not math.isfinite(self._first_gap):
            self._first_gap = snapshot.gap
        now = time.monotonic()
        if now >= self._due:
            self._due = now + self._every
            self._draw(snapshot)

    def stage(self, sentence: str) -> None:
        """What is being prepared; shown on a terminal only, until `clear`."""
        if self._terminal:
            self._show(f"{sentence} ...")

    def clear(self) -> None:
        """Empty the line, for what comes next."""
        if self._terminal and self._drawn:
            self._show("")
            self._write("\r")

    def close(self) -> None:
        """Draw the last iteration and leave the line."""
        if self._last is not None:
            self._draw(self._last)
        if self._terminal and self._drawn:
            self._write("\n")

    def line(self, snapshot: Snapshot) -> str:
        """The text for `snapshot`."""
        share = share_done(snapshot.gap, self._first_gap, self._tol)
        filled = round(share * _WIDTH)
        bar = "#" * filled + "." * (_WIDTH - filled)
        gap = f"{snapshot.gap:.2e}" if math.isfinite(snapshot.gap) else "not yet finite"
        return (
            f"[{bar}] iteration {snapshot.iteration}, "
            f"gap {gap} (to {self._tol:g}), {snapshot.elapsed:.1f} s"
        )

    def _draw(self, snapshot: Snapshot) -> None:
        self._show(self.line(snapshot))

    def _show(self, text: str) -> None:
        if text == self._drawn:
            return
        if self._terminal:
            self._write("\r" + text.ljust(len(self._drawn)))
        else:
            self._write(text + "\n")
        self._drawn = text

    def _write(self, text: str) -> None:
        """A closed stderr must not end the run."""
        try:
            if sys.stderr is not None:
                sys.stderr.write(text)
                sys.stderr.flush()
        except (OSError, ValueError):
            self._due = math.inf
