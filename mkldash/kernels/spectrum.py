"""Whether a symmetric matrix has negative eigenvalues that matter."""

from __future__ import annotations

import numpy as np
import scipy.sparse.linalg

from mkldash.kernels import _compiled_square
from mkldash.kernels.base import Array

__all__ = [
    "LANCZOS_ABOVE",
    "NEGATIVE_TOLERANCE",
    "extreme_eigenvalues",
    "is_semidefinite",
    "largest_entry",
    "offending_eigenvalues",
]

#: Refused when the least eigenvalue is below minus this part of the largest.
NEGATIVE_TOLERANCE = 1e-6

#: Rows above which Lanczos' method is tried before a matrix is factored.
LANCZOS_ABOVE = 2000

#: Relative accuracy of Lanczos' method: far below the tolerance it decides about.
_ACCURACY = 0.01 * NEGATIVE_TOLERANCE

#: Restarts that it gets.  A crowd of small eigenvalues, as wide Gaussian kernels
#: have, would take it thousands of products; a factor is cheaper then.
_RESTARTS = 8


def offending_eigenvalues(matrix: Array) -> tuple[float, float] | None:
    """Least and largest eigenvalue if the least is too negative, else None.

    Parameters
    ----------
    matrix : array, shape (n_rows, n_rows)
        Symmetric, finite; a copy is made up to `LANCZOS_ABOVE` rows, and above
        only when Lanczos' method does not tell.
    """
    if len(matrix) > LANCZOS_ABOVE and matrix.any():
        try:
            least, largest = _lanczos(matrix)
            return None if least >= -NEGATIVE_TOLERANCE * largest else (least, largest)
        except scipy.sparse.linalg.ArpackNoConvergence:
            pass
    if is_semidefinite(matrix):
        return None
    least, largest = _all_eigenvalues(matrix)
    return None if least >= -NEGATIVE_TOLERANCE * largest else (least, largest)


def largest_entry(matrix: Array) -> float:
    """Largest size of an entry, without a copy."""
    return float(max(matrix.max(), -matrix.min()))


def is_semidefinite(matrix: Array) -> bool:
    """Whether Cholesky proves the least eigenvalue >= -1e-6 of the largest; fast.

    K + t I has a Cholesky factor only if no eigenvalue of K is below -t.  With t
    from a lower bound on the largest eigenvalue, success is a proof; failure is
    not.
    """
    # Rayleigh quotients never exceed the largest eigenvalue.
    largest = float(matrix.diagonal().max())
    vector = np.random.default_rng(0).standard_normal(len(matrix))
    for _ in range(3):
        vector = matrix @ vector
        norm = float(np.linalg.norm(vector))
        if norm == 0.0:
            break
        vector /= norm
        largest = max(largest, float(vector @ matrix @ vector))
    if largest <= 0.0:
        return not matrix.any()
    shifted = matrix.copy()
    shifted.flat[:: len(matrix) + 1] += NEGATIVE_TOLERANCE * largest
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return False
    return True


def extreme_eigenvalues(matrix: Array) -> tuple[float, float]:
    """Least and largest eigenvalue, to 1e-8 of the largest at worst."""
    if not matrix.any():  # Lanczos' method would find no vector to begin with
        return 0.0, 0.0
    if len(matrix) > LANCZOS_ABOVE:
        try:
            return _lanczos(matrix)
        except scipy.sparse.linalg.ArpackNoConvergence:
            pass
    return _all_eigenvalues(matrix)


def _all_eigenvalues(matrix: Array) -> tuple[float, float]:
    values = np.linalg.eigvalsh(matrix)
    return float(values[0]), float(values[-1])


def _lanczos(matrix: Array) -> tuple[float, float]:
    """Both ends by Lanczos' method.

    The least one is found as the largest of the matrix subtracted from a multiple
    of the identity: relative accuracy is then accuracy relative to the largest,
    which is what the check needs.

    Raises
    ------
    ArpackNoConvergence
        When the restarts did not suffice.
    """
    n = len(matrix)
    start = np.random.default_rng(0).standard_normal(n)

    def product(vector: Array) -> Array:
        values = np.array(vector, dtype=np.float64).ravel()
        return _compiled_square.symmetric_product(matrix, values)

    def top(shift: float, sign: float) -> float:
        operator = scipy.sparse.linalg.LinearOperator(
            (n, n), matvec=lambda v: shift * np.ravel(v) + sign * product(v), dtype=np.float64
        )
        found = scipy.sparse.linalg.eigsh(
            operator, k=1, which="LA", v0=start, tol=_ACCURACY, maxiter=_RESTARTS,
            return_eigenvectors=False,
        )  # fmt: skip
        return float(found[0])

    largest = top(0.0, 1.0)
    shift = max(1.01 * largest, largest_entry(matrix))
    return shift - top(shift, -1.0), largest
