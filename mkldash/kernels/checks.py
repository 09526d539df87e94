"""Checks of kernel matrices that a person gives, before anything is solved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from mkldash.errors import InputError
from mkldash.kernels import spectrum
from mkldash.kernels.base import Array

__all__ = [
    "PLAIN_SIZES",
    "REPAIRS",
    "SCALED_SIZES",
    "SYMMETRY_TOLERANCES",
    "as_matrices",
    "check_gram",
    "check_size",
    "check_square",
    "refuse_other_numbers",
]

#: Largest |K - K'| allowed, relative to the largest |K|: for float32 input (and
#: narrower), and for everything else.
SYMMETRY_TOLERANCES = (1e-5, 1e-8)

#: Smallest and largest size (largest entry) of a matrix that is used as it is:
#: the algorithms square and divide such numbers.
PLAIN_SIZES = (1e-100, 1e100)

#: The same for a matrix that is scaled before use: its trace and the inverse of
#: that must be finite.
SCALED_SIZES = (1e-290, 1e290)

#: Rows of a block when a large matrix is compared with its transpose.
_BLOCK = 512

#: What may be done, on request, with a matrix that is not semidefinite.
REPAIRS = ("clip",)


def as_matrices(kernels: ArrayLike | Iterable[ArrayLike]) -> list[NDArray]:
    """The matrices of a list, of a stack (Q, n, n), or one bare matrix (n, n).

    Float32 stays float32, so that its symmetry is judged by its own precision;
    everything else becomes float64.  Sparse matrices become dense.

    Raises
    ------
    InputError
        For no matrix, a nested list, complex numbers, text, or something that is
        not a square matrix of numbers of the same size as the others; names the
        item.
    """
    if scipy.sparse.issparse(kernels) or _depth(kernels) == 2:
        items = [kernels]
    elif isinstance(kernels, np.ndarray) and kernels.ndim != 3:
        raise InputError(
            f"kernels must have shape (n_kernels, n_rows, n_rows), got {kernels.shape}"
        )
    elif isinstance(kernels, str | bytes) or not isinstance(kernels, Iterable):
        raise InputError(
            "kernel matrices must be an array (n_kernels, n_rows, n_rows) or a list of "
            f"(n_rows, n_rows), got {kernels!r} of type {type(kernels).__name__}"
        )
    else:
        items = list(kernels)
    if not items:
        raise InputError("no kernel matrix was given")
    matrices = [_as_matrix(item, k) for k, item in enumerate(items)]
    for k, matrix in enumerate(matrices):
        if matrix.shape != matrices[0].shape:
            raise InputError(
                f"kernel {k} has shape {matrix.shape}, kernel 0 has {matrices[0].shape}; "
                "all kernels must be over the same rows"
            )
    return matrices


def check_gram(matrix: NDArray, label: str, *, repair: str | None = None) -> tuple[Array, str]:
    """A symmetric, finite, positive semidefinite float64 copy of `matrix`.

    Parameters
    ----------
    matrix : array, shape (n_rows, n_rows)
    label : str
        Names the matrix in messages, such as ``kernel 1 ('rbf')``.
    repair : {"clip"}, optional
        ``"clip"`` sets negative eigenvalues to zero instead of refusing.

    Returns
    -------
    checked : array, shape (n_rows, n_rows)
        (K + K')/2, which is K itself when K is symmetric; new memory.
    note : str
        What was repaired; empty when nothing was.

    Raises
    ------
    InputError
        Says which matrix, what is wrong and where: the number of entries that
        are not finite and the first, a size outside `SCALED_SIZES`, the largest
        asymmetry, or the least eigenvalue.
    """
    if repair is not None and repair not in REPAIRS:
        raise InputError(f"repair must be None or one of {', '.join(REPAIRS)}, got {repair!r}")
    _check_finite(matrix, label)
    narrow = matrix.dtype.kind == "f" and matrix.dtype.itemsize <= 4
    values = matrix.astype(np.float64)
    check_size(values, label, SCALED_SIZES)
    # Judged at a size near one, where nothing under- or overflows.  A power of two
    # changes no digit, so what is handed back is exactly what came in.
    exponent = int(np.frexp(np.abs(values).max())[1])
    values = np.ldexp(values, -exponent)
    _check_symmetric(values, label, SYMMETRY_TOLERANCES[0 if narrow else 1], exponent)
    values = np.ascontiguousarray(0.5 * (values + values.T))
    ends = spectrum.offending_eigenvalues(values)
    if ends is None:
        return np.ldexp(values, exponent), ""
    least, largest = ends
    shown = f"{np.ldexp(least, exponent):.6g}"
    if repair is None:
        raise InputError(
            f"{label} is not positive semidefinite: its least eigenvalue is {shown}, its "
            f"largest {np.ldexp(largest, exponent):.6g}; leave it out, or ask for repair='clip', "
            "which sets negative eigenvalues to zero"
        )
    clipped, count = _clip(values)
    if not clipped.any():
        raise InputError(f"{label} has no positive eigenvalue; leave it out")
    return np.ldexp(clipped, exponent), (
        f"{label} was not positive semidefinite: {count} negative "
        f"{'eigenvalue' if count == 1 else 'eigenvalues'} (least {shown}) set to zero"
    )


def check_square(kernel: ArrayLike, label: str, *, repair: str | None = None) -> tuple[Array, str]:
    """`check_gram` for a large matrix: not copied when it is sound as it is.

    Parameters
    ----------
    kernel : array-like, shape (n_rows, n_rows)
    label, repair
        As for `check_gram`.

    Returns
    -------
    checked : array, shape (n_rows, n_rows)
        `kernel` itself if it is float64, in C order, exactly symmetric and
        semidefinite; else a copy as `check_gram` makes it.
    note : str

    Raises
    ------
    InputError
        As `as_matrices` and `check_gram` do.
    """
    matrices = as_matrices(kernel)
    if len(matrices) > 1:
        raise InputError(f"one kernel matrix is wanted, got {len(matrices)}")
    (matrix,) = matrices
    sound = matrix.dtype == np.float64 and matrix.flags.c_contiguous
    if not (sound and len(matrix) > spectrum.LANCZOS_ABOVE and _exactly_symmetric(matrix)):
        return check_gram(matrix, label, repair=repair)
    size = spectrum.largest_entry(matrix)
    if size == 0.0:
        return matrix, ""
    if not PLAIN_SIZES[0] <= size <= PLAIN_SIZES[1]:
        return check_gram(matrix, label, repair=repair)
    if spectrum.offending_eigenvalues(matrix) is None:
        return matrix, ""
    return check_gram(matrix, label, repair=repair)


def _exactly_symmetric(matrix: Array) -> bool:
    """Whether it is finite and equals its transpose, looked at block by block."""
    parts = [slice(i, i + _BLOCK) for i in range(0, len(matrix), _BLOCK)]
    pairs = ((one, other) for k, one in enumerate(parts) for other in parts[k:])
    same = all(np.array_equal(matrix[i, j], matrix[j, i].T) for i, j in pairs)
    return same and bool(np.isfinite(matrix.sum()))


def check_size(matrix: Array, label: str, sizes: tuple[float, float]) -> None:
    """Refuse a matrix whose largest entry is out of range; a zero matrix passes.

    Parameters
    ----------
    matrix : array, shape (n_rows, n_rows)
        Finite.
    label : str
        Names the matrix.
    sizes : (float, float)
        `PLAIN_SIZES` or `SCALED_SIZES`.

    Raises
    ------
    InputError
        With the size and the remedy.
    """
    size = spectrum.largest_entry(matrix)
    if size == 0.0 or sizes[0] <= size <= sizes[1]:
        return
    what = "small" if size < sizes[0] else "large"
    remedy = "rescale it"
    if SCALED_SIZES[0] <= size <= SCALED_SIZES[1]:
        remedy += " or set normalize=True"
    raise InputError(
        f"{label} is too {what}: its largest entry is {size:.3g}, sizes from {sizes[0]:g} to "
        f"{sizes[1]:g} can be used; {remedy}"
    )


def _depth(item: object) -> int:
    """Dimensions of an array, or levels of nested lists down to numbers."""
    if scipy.sparse.issparse(item):
        return 2
    if hasattr(item, "ndim"):
        return int(item.ndim)
    if isinstance(item, Sequence) and not isinstance(item, str | bytes):
        return 1 + (_depth(item[0]) if len(item) else 0)
    return 0


def _as_matrix(item: object, position: int) -> NDArray:
    if _depth(item) > 2 and isinstance(item, Sequence):
        raise InputError(
            f"item {position} is itself a list of {len(item)}; concatenate the lists of "
            "kernels into one"
        )
    try:
        values = np.asarray(item.toarray() if scipy.sparse.issparse(item) else item)  # type: ignore[attr-defined]
        refuse_other_numbers(values, f"kernel {position}")
        if values.dtype != np.float32:
            values = values.astype(np.float64, copy=False)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"kernel {position} is not a matrix of numbers: {error}") from error
    if values.ndim != 2 or values.shape[0] != values.shape[1] or not len(values):
        raise InputError(
            f"kernel {position} must be a square matrix over the training rows, "
            f"got shape {values.shape}"
        )
    return values


def refuse_other_numbers(values: NDArray, label: str) -> None:
    """Refuse complex numbers, text and dates, which NumPy would convert silently.

    Parameters
    ----------
    values : array
        Of any dtype; cells of dtype object are looked at one by one.
    label : str
        Names the array in the message.

    Raises
    ------
    InputError
        With the dtype.
    """
    kind = values.dtype.kind
    cells = values.ravel().tolist() if kind == "O" else []
    if kind == "c" or any(isinstance(cell, complex | np.complexfloating) for cell in cells):
        raise InputError(
            f"Complex data not supported: {label} has dtype {values.dtype}, kernel matrices must "
            "be real; hand in its real part if the imaginary one is rounding"
        )
    if kind in "USmMV" or any(isinstance(cell, str | bytes) for cell in cells):
        what = "dates" if kind in "mM" else "records" if kind == "V" else "text"
        raise InputError(
            f"{label} is not a matrix of numbers: it holds {what} (dtype {values.dtype}); "
            "convert it with astype(float)"
        )


def _check_finite(matrix: NDArray, label: str) -> None:
    bad = ~np.isfinite(matrix)
    count = int(bad.sum())
    if not count:
        return
    row, column = (int(index) for index in np.argwhere(bad)[0])
    nan = int(np.isnan(matrix).sum())
    what = "NaN" if nan == count else "infinite" if nan == 0 else "NaN or infinite"
    entries = "1 entry is" if count == 1 else f"{count} entries are"
    raise InputError(
        f"{label}: {entries} {what}, first at position ({row}, {column}); "
        "was a sample with k(x, x) = 0 normalised?"
    )


def _check_symmetric(values: Array, label: str, tolerance: float, exponent: int) -> None:
    difference = np.abs(values - values.T)
    worst = float(difference.max())
    if worst > tolerance * float(np.abs(values).max()):
        row, column = np.unravel_index(int(difference.argmax()), difference.shape)
        raise InputError(
            f"{label} is not symmetric: entries ({row}, {column}) and ({column}, {row}) differ "
            f"by {np.ldexp(worst, exponent):.3g}, more than {tolerance:g} of the largest entry"
        )


def _clip(values: Array) -> tuple[Array, int]:
    eigenvalues, vectors = np.linalg.eigh(values)
    positive = eigenvalues > 0.0
    scaled = vectors[:, positive] * np.sqrt(eigenvalues[positive])
    return scaled @ scaled.T, int((eigenvalues < 0.0).sum())
