"""Projection onto the dual's feasible set, {x: 0 <= x <= C, y'x = 0}.

The nearest point is x_i = clip(v_i - shift y_i, 0, C), and the shift is a root of

    h(shift) = sum_i y_i clip(v_i - shift y_i, 0, C),

which falls, piecewise linear and continuous, from C n_plus to -C n_minus.  Where h
is flat at zero the root is not unique, the projection still is.  (Liu et al. 2009,
eqs. 15 to 22; their uniqueness claim needs this care.)
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.errors import InputError
from mkldash.problems import _compiled

__all__ = ["METHODS", "Projection", "breakpoints", "imbalance", "project"]

Array = NDArray[np.float64]

Method = Literal["newton", "bisection", "brent", "sort"]

#: Above it, C is compared with the values first.
_LARGE = 100.0

_FLOAT = np.dtype(np.float64)

#: Root finders: Newton's is the fastest, sorting the one without iterations.
METHODS: tuple[Method, ...] = ("newton", "bisection", "brent", "sort")


class Projection(NamedTuple):
    """The nearest feasible point.

    Attributes
    ----------
    x : array, shape (n,)
    shift : float
        A root of h: the multiplier of y'x = 0.
    evaluations : int
        How often h was evaluated; 0 for sorting.
    """

    x: Array
    shift: float
    evaluations: int


def project(
    v: ArrayLike,
    y: ArrayLike,
    C: float,
    *,
    method: Method = "newton",
    out: Array | None = None,
) -> Projection:
    """Nearest point to `v` with 0 <= x <= C and y'x = 0, exact within rounding.

    Parameters
    ----------
    v : array, shape (n,)
    y : array, shape (n,)
        Labels, -1 or +1.  With one class only 0 is feasible, and 0 is returned.
    C : float
        Positive.
    method : {"newton", "bisection", "brent", "sort"}
        How the root of h is found: safeguarded Newton in O(n) an evaluation,
        bisection, Brent's interpolation, or a walk along the sorted
        breakpoints, O(n log n).  All agree within rounding.
    out : array, shape (n,), optional
        Where x is written; else new memory, whose page faults can cost more than
        the projection.

    Returns
    -------
    Projection

    Raises
    ------
    InputError
        For values that are not finite, labels that are not -1 or +1, lengths
        that differ, a C that is not positive, or an unknown method.
    """
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    point, labels = _shaped(v, y, C)
    if out is None:
        x = np.empty(point.size)
    elif out.shape == point.shape and out.dtype is _FLOAT and out.flags.c_contiguous:
        x = out
    else:
        raise InputError(f"out must be a contiguous float64 array of shape {point.shape}")
    if C > _LARGE:
        C = _bound(point, C)
    if method == "newton":
        excess, shift, evaluations, odd = _compiled.project_newton(point, labels, float(C), x)
        if odd != 0.0:
            _refuse(point, labels)
    else:
        s, positive, odd = _compiled.fold(point, labels, float(C))
        if odd != 0.0:
            _refuse(point, labels)
        if positive in (0.0, point.size):
            x[:] = 0.0
            return Projection(x, 0.0, 0)
        shift, evaluations = _root(s, float(C), C * positive, method)
        if not math.isfinite(shift):  # the breakpoints themselves overflow
            return project(point, labels, C, out=x)
        shift = _compiled.polish(point, labels, shift, C)
        excess, _ = _compiled.unfold(point, labels, shift, C, x)
    if abs(excess) > 1e-14 * C * x.size:
        _balance(x, excess, point, labels, shift, C)
    return Projection(x, shift, evaluations)


def _balance(x: Array, excess: float, point: Array, labels: Array, shift: float, C: float) -> None:
    """Mix x with the next point on the other side of the root.

    With values that are huge beside C, h jumps from one representable shift to
    the next; the mixture of both sides is feasible.
    """
    step = math.copysign(math.ulp(max(abs(shift), float(np.abs(point).max()))), excess)
    other = np.empty(x.size)
    for _ in range(60):
        beyond, _ = _compiled.unfold(point, labels, shift + step, C, other)
        if beyond * excess <= 0.0:
            x += (other - x) * (excess / (excess - beyond))
            return
        step *= 2.0


def _bound(point: Array, C: float) -> float:
    """`C`, or a smaller bound with the same projection.

    The root is at most M = max |v| in size, so that no x_i exceeds 2 M; a C far
    above that would only cost digits.
    """
    most = float(np.abs(point).max())
    return min(float(C), 2.0 * most) if math.isfinite(most) and most > 0.0 else float(C)


def _root(s: Array, C: float, target: float, method: Method) -> tuple[float, int]:
    if method == "bisection":
        return _compiled.bisection_root(s, C, target, -np.inf, np.inf)
    if method == "brent":
        return _compiled.brent_root(s, C, target)
    return _compiled.sorted_root(np.sort(s), C, target), 0


def imbalance(shift: ArrayLike, v: ArrayLike, y: ArrayLike, C: float) -> Array:
    """h at each shift: sum_i y_i clip(v_i - shift y_i, 0, C), the shape of `shift`."""
    point, labels = _checked(v, y, C)
    shifts = np.asarray(shift, dtype=np.float64)
    x = np.clip(point - shifts[..., None] * labels, 0.0, C)
    return np.asarray(x @ labels)


def breakpoints(v: ArrayLike, y: ArrayLike, C: float) -> Array:
    """Where h bends, sorted, shape (2 n,): y_i v_i and y_i (v_i - C)."""
    point, labels = _checked(v, y, C)
    return np.sort(np.concatenate((labels * point, labels * (point - C))))


def _checked(v: ArrayLike, y: ArrayLike, C: float) -> tuple[Array, Array]:
    point, labels = _shaped(v, y, C)
    if not (np.isfinite(point).all() and (np.abs(labels) == 1.0).all()):
        _refuse(point, labels)
    return point, labels


def _shaped(v: ArrayLike, y: ArrayLike, C: float) -> tuple[Array, Array]:
    # A call costs about as much as a pass over a few thousand rows: what is sound is
    # looked at, not handed to NumPy.
    if not (type(v) is np.ndarray and v.dtype is _FLOAT and v.flags.c_contiguous):
        v = _numbers(v, "v")
    if not (type(y) is np.ndarray and y.dtype is _FLOAT and y.flags.c_contiguous):
        y = _numbers(y, "y")
    shape = v.shape
    if shape != y.shape or len(shape) != 1 or shape[0] == 0:
        raise InputError(
            f"v and y must be of one dimension and equally long, not {shape}, {y.shape}"
        )
    if not 0.0 < C < math.inf:
        raise InputError(f"C must be a positive number, not {C!r}")
    return v, y


def _numbers(values: ArrayLike, name: str) -> Array:
    try:
        found = np.asarray(values)
        if found.dtype.kind in "cSUO":
            raise TypeError(f"dtype {found.dtype}")
        return np.ascontiguousarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an array of numbers: {error}") from error


def _refuse(point: Array, labels: Array) -> NoReturn:
    if not (np.abs(labels) == 1.0).all():
        raise InputError("labels must be -1 or +1")
    at = int(np.flatnonzero(~np.isfinite(point))[0])
    raise InputError(f"v[{at}] is {point[at]}; only finite values can be projected")
