"""Errors that a person can act on.

Every message names the thing that is wrong (a column, row, kernel or
parameter) and what to do about it.  The command line prints the message of an
`InputError` on one line and exits with 2; the apps show it beside the control.
"""

from __future__ import annotations

__all__ = ["InputError", "MemoryLimitError", "UnsupportedProblemError"]


class InputError(ValueError):
    """Input that cannot be used as given."""


class MemoryLimitError(InputError):
    """A bank that would need more memory than the stated limit."""


class UnsupportedProblemError(InputError):
    """A solver was asked for a problem that it cannot solve; says why."""
