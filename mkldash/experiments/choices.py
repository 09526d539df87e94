"""Every choice that makes a run, with its default: command line and apps share it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mkldash.errors import InputError
from mkldash.experiments.problem_kinds import (
    OWNED,
    ProblemKind,
    find_problem,
    owners,
    solvers_for,
)
from mkldash.kernels.building import DEFAULT_MEMORY_LIMIT
from mkldash.kernels.products import HIGHEST_DEGREE

__all__ = ["DEFAULT_TRAIN_FRACTION", "Choices"]

#: Share of the rows that trains, unless said otherwise (the papers' protocol).
DEFAULT_TRAIN_FRACTION = 0.6

#: What the problem settles where nothing was chosen.
_SETTLED = (
    "eta", "C", "rho", "sigma_factor", "degree", "p", "penalty", "growth", "tol", "max_iter",
)  # fmt: skip


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
    problem : str
        A name of `mkldash.experiments.problem_kinds.PROBLEMS`; the defaults of
        solver, stop rule and parameters belong to it.  A parameter without a
        meaning in it is refused, and settled to None (rho: infinity).
    solver : str or None
        Name, as ``mkldash list solvers`` gives it.  None: the problem's own, or
        the first that takes the chosen bank.
    solver_options : tuple of (str, value)
        Hyper-parameters that differ from the solver's defaults.
    eta : float or None
        Elastic-net mixing in [0, 1]; without effect on a single kernel.  None with
        a weight norm.
    weight_norm : float or None
        P of the ball ||theta||_P <= 1 in the place of the elastic net: at least 1,
        may be infinite.
    C : float or None
        Price of the hinge losses, above 0.
    rho : float or None
        Strength of the neighborhood penalty, above 0; only for problems with one.
    sigma_factor : float or None
        Of the bank "single": sigma over the mean squared distance, above 0.
    degree : int or None
        Most factors in a product, from 0 (the offset alone) to 20.
    p : float or None
        Norm over the products, from 1 (few) to 2 (all).
    penalty, growth : float or None
        A product of d features costs penalty * growth^d; above 0, and at least 1.
    tol, max_iter, time_limit
        See `mkldash.solvers.stopping.StopRule`; None: the problem's own.
    train_fraction : float or None
        Share of the rows that trains, in (0, 1].  None: 0.6, or all rows
        for given matrices.
    seed : int
        Of the split, and of solvers that draw; not negative.
    rows : str or None
        Name of a shipped list of training rows, or a file with one row number
        a line, from 0; replaces `train_fraction` and `seed`.
    bank : str or None
        Which kernels: a name of `mkldash.kernels.banks.BANKS`.  None: the
        problem's own; for elastic-net first what the data set's card says.
    standardize : bool or None
        Z-score the features on the training rows.  None: as the data set's
        card says, else yes; for neighborhood, bits (0 and 1 only) are left raw.
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
    solver_given : bool
        Whether `solver` was chosen rather than settled.

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
    problem: str = "elastic-net"
    solver: str = None  # type: ignore[assignment]  # settled below, as are the next ones
    solver_options: tuple[tuple[str, Any], ...] = ()
    eta: float = None  # type: ignore[assignment]
    weight_norm: float | None = None
    C: float = None  # type: ignore[assignment]
    rho: float = None  # type: ignore[assignment]
    sigma_factor: float = None  # type: ignore[assignment]
    degree: int = None  # type: ignore[assignment]
    p: float = None  # type: ignore[assignment]
    penalty: float = None  # type: ignore[assignment]
    growth: float = None  # type: ignore[assignment]
    tol: float = None  # type: ignore[assignment]
    max_iter: int = None  # type: ignore[assignment]
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
    solver_given: bool = field(init=False, default=True)

    def __post_init__(self) -> None:
        self._settle()
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

    def _settle(self) -> None:
        """Put the problem's defaults where nothing was chosen, and check what was."""
        kind = self.kind
        for name in OWNED:
            value = getattr(self, name)
            idle = value is None or (name == "rho" and value == math.inf)
            if not idle and not kind.takes(name):
                raise InputError(
                    f"{_spoken(name)} has no meaning in the problem {kind.name}; "
                    f"it belongs to {owners(name)}"
                )
        if self.weight_norm is not None:
            object.__setattr__(self, "weight_norm", _weight_norm(self.weight_norm, self.eta))
        for name in _SETTLED:
            value = getattr(self, name)
            if name != "eta" or self.weight_norm is None:
                object.__setattr__(self, name, getattr(kind, name) if value is None else value)
        self._check_parameters()
        if self.solver is None:
            object.__setattr__(self, "solver_given", False)
            names = solvers_for(self.problem, self.bank, self.p, weight_norm=self.weight_norm)
            object.__setattr__(self, "solver", names[0] if names else kind.solver)

    def _check_parameters(self) -> None:
        """Check those that the problem has, the rest is None."""
        kind = self.kind
        for name in _SETTLED:
            value = getattr(self, name)
            if name not in ("max_iter", "degree") and value is not None:
                object.__setattr__(self, name, float(value))
        if not self.rho > 0.0:
            raise InputError(f"rho must be a positive number, not {self.rho!r}")
        for name in ("sigma_factor", "penalty"):
            value = getattr(self, name)
            if kind.takes(name) and not (math.isfinite(value) and value > 0.0):
                raise InputError(f"{_spoken(name)} must be a positive number, not {value!r}")
        if not kind.has_family:
            return
        degree, highest = self.degree, HIGHEST_DEGREE
        if not isinstance(degree, int | np.integer) or not 0 <= degree <= highest:
            raise InputError(
                f"degree must be a whole number from 0 to {highest}, not {_short(degree)}"
            )
        if not 1.0 <= self.p <= 2.0:
            raise InputError(f"p must lie between 1 (few products) and 2 (all), not {self.p!r}")
        if not (math.isfinite(self.growth) and self.growth >= 1.0):
            raise InputError(f"growth must be a number of at least 1, not {self.growth!r}")

    @property
    def kind(self) -> ProblemKind:
        """The problem that was chosen."""
        return find_problem(self.problem)

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


def _weight_norm(norm: Any, eta: float | None) -> float:
    """A weight norm that can be used, or an InputError."""
    if eta is not None:
        raise InputError(
            f"weight norm and eta exclude each other: each is a set of weights of its own; "
            f"leave out the weight norm {norm!r} or eta {eta!r}"
        )
    if isinstance(norm, bool) or not isinstance(norm, int | float | np.number) or not norm >= 1.0:
        raise InputError(
            f"weight norm must be a number of at least 1 (1 keeps few kernels, inf all), "
            f"not {norm!r}"
        )
    return float(norm)


def _spoken(name: str) -> str:
    """A parameter's name in a sentence."""
    return name.replace("_", " ")


def _short(value: object) -> str:
    """A value for a message; long numbers in their first digits."""
    text = repr(value)
    return text if len(text) <= 30 else f"{text[:20]}... ({len(text)} characters)"
