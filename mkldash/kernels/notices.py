"""Warnings that point to the line of the person who called."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_caller"]

#: Packages that only pass a call on, such as a pipeline's ``fit``.
_BETWEEN = ("mkldash", "sklearn", "joblib")


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the nearest line outside this package and scikit-learn.

    Parameters
    ----------
    message : str
    category : type of Warning
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _between(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    # `level` 1 is this function; the loop began at its caller, level 2.
    warnings.warn(message, category, stacklevel=level)


def _between(module: str) -> bool:
    return module.split(".", 1)[0] in _BETWEEN
