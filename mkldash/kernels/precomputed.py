"""Banks of kernel matrices that a person gives."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.errors import InputError
from mkldash.kernels import _compiled
from mkldash.kernels.base import Array, DroppedKernel
from mkldash.kernels.checks import PLAIN_SIZES, as_matrices, check_gram, check_size
from mkldash.kernels.dense import DenseBank, packed_size
from mkldash.kernels.naming import gram_label
from mkldash.kernels.normalization import (
    ConstantKernelWarning,
    is_constant_kernel,
    trace_scale,
)
from mkldash.kernels.notices import warn_caller
from mkldash.kernels.prediction import GivenPredictor
from mkldash.kernels.stored import BankFacts

__all__ = ["TRACE_TOLERANCE", "precomputed_bank"]

#: Traces that differ by less than this part of the largest count as equal.
TRACE_TOLERANCE = 1e-6


def precomputed_bank(
    kernels: ArrayLike | Iterable[ArrayLike],
    names: Sequence[str] | None = None,
    *,
    normalize: bool | float = False,
    repair: str | None = None,
) -> DenseBank:
    """A bank of given Gram matrices over the training rows.

    Parameters
    ----------
    kernels : list of (n_rows, n_rows), or array (n_kernels, n_rows, n_rows)
        Both give bitwise equal banks.  A bare (n_rows, n_rows) matrix is one
        kernel.  Float32, integer and sparse matrices become float64.
    names : sequence of str, optional
        By default ``kernel 0``, ``kernel 1``, ...
    normalize : bool or float
        Divide each kernel by its trace, or scale it to the trace given.  Off,
        unequal traces are noted in `bank.warnings`: the weights then also undo
        the scales.  Off, the largest entry must lie in `checks.PLAIN_SIZES`, on,
        in `checks.SCALED_SIZES`.
    repair : {"clip"}, optional
        Set negative eigenvalues to zero instead of refusing; noted in
        `bank.warnings`.

    Returns
    -------
    DenseBank
        Its `decision` takes blocks of shape (n_given, n_new, n_rows).  Kernels
        that are constant (zero after double centring) are left out with a
        `ConstantKernelWarning` as long as another one is left.  When all are
        constant those that are not zero are kept, with such a warning too.

    Raises
    ------
    InputError
        If the matrices are not square and of one size, not symmetric (1e-8 of the
        largest entry, 1e-5 for float32), not finite, too large or too small,
        complex or text, or have an eigenvalue below -1e-6 of the largest; the
        message names the kernel.  If every kernel is zero.
    """
    matrices = as_matrices(kernels)
    names = _names(names, len(matrices))
    n = len(matrices[0])
    packed = np.empty((len(matrices), packed_size(n)))
    notes: list[str] = []
    for k, matrix in enumerate(matrices):
        label = gram_label(k, names[k])
        checked, note = check_gram(matrix, label, repair=repair)
        if not normalize:
            check_size(checked, label, PLAIN_SIZES)
        _compiled.pack(checked, packed[k])
        notes += [note] if note else []
    traces = np.array([_compiled.packed_trace(row, n) for row in packed])
    sums = np.array([_compiled.packed_sum(row, n) for row in packed])
    constant = _constant(traces, traces - sums / n)
    keep, reasons = _choose(traces, constant, names)
    said = [_sentence(reasons, names)] if reasons else []
    if constant.all():
        said.append(_useless([names[k] for k in keep]))
    for sentence in said:
        warn_caller(sentence, ConstantKernelWarning)
    notes += said
    if not normalize:
        notes += _unequal(traces[keep])
    key = hashlib.sha256(packed.tobytes())
    key.update(repr((names, normalize)).encode())
    scales = np.array([trace_scale(traces[k], normalize) for k in keep])
    for k, (position, scale) in enumerate(zip(keep, scales, strict=True)):
        # Upwards in place: position >= k, so nothing is overwritten too early.
        packed[k] = packed[position] * scale
    facts = BankFacts(
        names=tuple(names[k] for k in keep),
        terms=None,
        scales=scales,
        traces=traces[keep],
        kept=np.array(keep, dtype=np.intp),
        n_given=len(matrices),
        dropped=tuple(DroppedKernel(names[k], reason) for k, reason in reasons.items()),
        warnings=tuple(notes),
        n_rows=n,
        key=key.hexdigest(),
    )
    predictor = GivenPredictor(facts.kept, len(matrices), n)
    return DenseBank(packed[: len(keep)], facts, predictor, "precomputed")


def _names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"kernel {k}" for k in range(count))
    given = tuple(str(name) for name in names)
    if len(given) != count:
        raise InputError(f"{len(given)} names for {count} kernels")
    for name in given:
        if given.count(name) > 1:
            raise InputError(f"two kernels are named {name!r}; rename one")
    return given


def _constant(traces: Array, centred: Array) -> NDArray[np.bool_]:
    return np.array(
        [is_constant_kernel(t, c) for t, c in zip(traces, centred, strict=True)], dtype=bool
    )


def _choose(
    traces: Array, constant: NDArray[np.bool_], names: tuple[str, ...]
) -> tuple[list[int], dict[int, str]]:
    """Kernels to keep, and why each of the others is left out."""
    zero = traces <= 0.0
    out = zero if constant.all() else constant
    if out.all():
        who = f"{gram_label(0, names[0])} is zero" if len(names) == 1 else "every kernel is zero"
        raise InputError(f"{who}: there is nothing to learn from; give a kernel that is not")
    reasons = {
        int(k): "it is zero" if zero[k] else "it is constant: zero after double centring"
        for k in np.flatnonzero(out)
    }
    return [int(k) for k in np.flatnonzero(~out)], reasons


def _useless(names: list[str]) -> str:
    """What it means that only constant kernels are left."""
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    them = (
        f"{shown} is constant: it cannot"
        if len(names) == 1
        else (f"{shown} are constant: they cannot")
    )
    return f"{them} separate the classes; all points get the same decision"


def _sentence(reasons: dict[int, str], names: tuple[str, ...]) -> str:
    shown = ", ".join(f"{names[k]} ({reason})" for k, reason in list(reasons.items())[:4])
    more = f" and {len(reasons) - 4} more" if len(reasons) > 4 else ""
    return f"dropped, weight 0: {shown}{more}"


def _unequal(traces: Array) -> list[str]:
    low, high = float(traces.min()), float(traces.max())
    if high - low <= TRACE_TOLERANCE * high:
        return []
    if len(traces) == 2:
        values = f"{traces[0]:.6g} and {traces[1]:.6g}"
    else:
        values = f"from {low:.6g} to {high:.6g}"
    return [f"kernels have traces {values}: weights are not comparable"]
