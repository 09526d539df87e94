"""Every choice that makes a run, with its default: command line and apps share it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mkldash.errors import InputError
from mkldash.kernels.building import DEFAULT_MEMORY_LIMIT

__all__ = ["DEFAULT_BANK", "DEFAULT_TRAIN_FRACTION", "Choices"]

#: Share of the rows that trains, unless said otherwise (the papers' protocol).
DEFAULT_TRAIN_FRACTION = 0.6

#: Kernels, unless a data set's card says otherwise.
DEFAULT_BANK = "paper"


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What to solve, and how.

    Parameters
    ----------
    data : str
        Name of a shipped data set, or path of a CSV file; ignored with `gram`.
    content : bytes or None
        An uploaded table; `data` is then its file name.
    gram, labels : str or None
        An .npz file of kernel matrices, and a file of labels, one a line.
    normalize : bool
        Scale given matrices to unit trace on the training rows.
    solver : str
        Name, as ``mkldash list solvers`` gives it.
    solver_options : tuple of (str, value)
        Hyper-parameters that differ from the solver's defaults.
    eta, C : float
        Elastic-net mixing in [0, 1]; price of the losses, above 0.
    tol, max_iter, time_limit
        See `mkldash.solvers.stopping.StopRule`.
    train_fraction : float or None
        Share of the rows that trains, in (0, 1].  None: 0.6, or all rows
        for given matrices.
    seed : int
        Of the split; not negative.
    rows : str or None
        Name of a shipped list of training rows, or a file with one row number
        a line, from 0; replaces `train_fraction` and `seed`.
    bank : str or None
        Which kernels: a name of `mkldash.kernels.banks.BANKS`.  None: as the
        data set's card says, else the papers' bank.
    standardize : bool or None
        Z-score the features on the training rows.  None: as the data set's
        card says, else yes.
    missing : {"error", "drop", "mean"}
        What to do with missing values of a CSV file.
    one_hot : tuple of str
        Text columns to turn into indicator columns.
    exclude : tuple of str
        Columns of a CSV file to leave out.
    exclude_text : bool
        Leave the text columns of a CSV file out instead of refusing them.
    separator, decimal : str or None
        Of a CSV file; None: detected.
    header : bool or None
        Whether its first line holds names; None: detected.
    label, positive : str or None
        Label column, and the label that becomes +1; None: guessed.
    memory_limit : int
        Bytes that the bank may take.

    Raises
    ------
    InputError
        For a value that cannot be used, naming the parameter.
    """

    data: str = "ionosphere"
    content: bytes | None = None
    gram: str | None = None
    labels: str | None = None
    normalize: bool = False
    solver: str = "block-coordinate"
    solver_options: tuple[tuple[str, Any], ...] = ()
    eta: float = 0.5
    C: float = 100.0
    tol: float = 1e-3
    max_iter: int = 500
    time_limit: float | None = None
    train_fraction: float | None = None
    seed: int = 0
    rows: str | None = None
    bank: str | None = None
    standardize: bool | None = None
    missing: str = "error"
    one_hot: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    exclude_text: bool = False
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    label: str | None = None
    positive: str | None = None
    memory_limit: int = DEFAULT_MEMORY_LIMIT

    def __post_init__(self) -> None:
        fraction = self.train_fraction
        if fraction is not None and not (math.isfinite(fraction) and 0.0 < fraction <= 1.0):
            raise InputError(f"train fraction must lie above 0 and at most at 1, not {fraction!r}")
        if not isinstance(self.seed, int | np.integer) or not 0 <= self.seed < 2**63:
            raise InputError(
                f"seed must be a whole number from 0 to {2**63 - 1}, not {_short(self.seed)}"
            )
        if self.missing not in ("error", "drop", "mean"):
            raise InputError(f"missing must be error, drop or mean, not {self.missing!r}")
        for name in ("separator", "decimal"):
            value = getattr(self, name)
            if value is not None and len(value) != 1:
                raise InputError(f"{name} must be one character, not {value!r}")
        if self.decimal is not None and self.decimal == self.separator:
            raise InputError(f"separator and decimal cannot both be {self.decimal!r}")
        if self.rows is not None and self.missing == "drop":
            raise InputError(
                "--rows counts the rows of the file, and --missing drop would renumber them; "
                "fill gaps in with --missing mean, or take incomplete rows out of the file"
            )
        if self.memory_limit <= 0:
            raise InputError(f"memory limit must be positive bytes, not {self.memory_limit!r}")

    def table_options(self) -> dict[str, Any]:
        """The options that only a CSV file takes and that were set, by name."""
        values = {
            "separator": self.separator,
            "decimal": self.decimal,
            "header": self.header,
            "label": self.label,
            "positive": self.positive,
            "missing": None if self.missing == "error" else self.missing,
            "one_hot": self.one_hot or None,
            "exclude": self.exclude or None,
            "exclude_text": self.exclude_text or None,
        }
        return {name: value for name, value in values.items() if value is not None}


def _short(value: object) -> str:
    """A value for a message; long numbers in their first digits."""
    text = repr(value)
    return text if len(text) <= 30 else f"{text[:20]}... ({len(text)} characters)"
