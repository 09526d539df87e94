"""A bank of one kernel whose full matrix is held as it is: nothing is copied to solve with it."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mkldash.errors import InputError
from mkldash.kernels import _compiled, _compiled_square
from mkldash.kernels.base import Array, KernelTerm, ProductKernel, RadialKernel
from mkldash.kernels.block_memory import BlockMemory
from mkldash.kernels.checks import PLAIN_SIZES, check_size, check_square
from mkldash.kernels.memory import DEFAULT_MEMORY_LIMIT, estimate_memory, refuse
from mkldash.kernels.naming import gram_label
from mkldash.kernels.normalization import (
    ConstantKernelWarning,
    as_features,
    is_constant_kernel,
)
from mkldash.kernels.notices import warn_caller
from mkldash.kernels.prediction import CHUNK_BYTES, GivenPredictor, TermPredictor
from mkldash.kernels.stored import BankFacts, Predictor, StoredBank

__all__ = ["SquareBank", "SquareCombined", "build_square", "given_square"]


class SquareCombined:
    """theta K for one square matrix; see `CombinedKernel`."""

    cheap_blocks = False

    def __init__(self, square: Array, theta: float) -> None:
        self.n_rows = len(square)
        self._square = square
        self._theta = theta

    def matrix(self) -> Array:
        """All of it, shape (n_rows, n_rows): with weight 1 the bank's own, not a copy."""
        return self._square if self._theta == 1.0 else self._theta * self._square

    def block(self, rows: NDArray[np.intp], memory: BlockMemory | None = None) -> Array:
        """K[rows][:, rows], shape (m, m)."""
        return np.asarray(self._theta * self._square[np.ix_(rows, rows)])

    def apply(self, a: ArrayLike) -> Array:
        """K a, shape (n_rows,)."""
        values = np.array(a, dtype=np.float64)
        return np.asarray(self._theta * _compiled_square.symmetric_product(self._square, values))

    def residual(self) -> tuple[float, Array]:
        """Zeros: nothing is left out."""
        return 0.0, np.zeros(self.n_rows)


class SquareBank(StoredBank):
    """One kernel, its matrix whole.

    Parameters
    ----------
    square : array, shape (n_rows, n_rows)
        Symmetric, C order; kept, not copied, and never written to.
    facts : BankFacts
    predictor : Predictor
    storage : str
    """

    def __init__(
        self, square: Array, facts: BankFacts, predictor: Predictor, storage: str = "square"
    ) -> None:
        super().__init__(facts, predictor)
        # Writeable for numba alone: it compiles anew for read-only arrays.
        self._square = square
        self.storage = storage
        self.nbytes = square.nbytes

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__({k: v for k, v in state.items() if k != "_square"})
        self.__dict__["_square"] = state["_square"]

    def combine(self, theta: ArrayLike) -> SquareCombined:
        """The matrix times its weight, made when asked for."""
        return SquareCombined(self._square, float(self._weights(theta)[0]))

    def quadratic_forms(self, a: ArrayLike) -> Array:
        """a' K a as an array of one, clipped at zero."""
        values = self._coefficients(a)
        product = _compiled_square.symmetric_product(self._square, values)
        return np.array([max(0.0, float(values @ product))])

    def columns(self, a: ArrayLike, rows: NDArray[np.intp]) -> Array:
        """(K a) on `rows`, shape (len(rows), 1)."""
        return np.asarray((self._square[rows] @ self._coefficients(a))[:, None])


def build_square(
    X: ArrayLike, term: KernelTerm, *, memory_limit: int = DEFAULT_MEMORY_LIMIT, n_test: int = 0
) -> SquareBank:
    """The bank of one kernel over the training rows, not scaled.

    Parameters
    ----------
    X : array-like, shape (n_rows, n_features)
        Training rows as the kernel sees them, standardised already; copied.
    term : KernelTerm
    memory_limit : int
        Bytes that the matrix, and half of it while it is built, may take.
    n_test : int
        Rows that will be predicted; see `mkldash.kernels.building.build_bank`.

    Raises
    ------
    InputError
        If X is not a finite table of at least two rows, or the kernel overflows.
    MemoryLimitError
        If it does not fit; nothing has been allocated.
    """
    X = as_features(X) + 0.0
    if len(X) < 2:
        raise InputError(f"a bank needs at least two training rows, got {len(X)}")
    estimate = estimate_memory(len(X), 1, n_test)
    needed = estimate.square + estimate.packed + min(estimate.test_blocks, CHUNK_BYTES)
    if needed > memory_limit:
        raise refuse(needed, estimate, memory_limit, "square")
    part = np.ascontiguousarray(X[:, term.columns])
    square = _square_of(term, part)
    trace = float(square.trace())
    if not np.isfinite(trace):
        raise InputError(f"kernel {term.name!r} overflows; standardise the features")
    digest = hashlib.sha256(X.tobytes())
    digest.update(repr((X.shape, term, "square")).encode())
    facts = _facts(square, term.name, (term,), digest.hexdigest(), ())
    return SquareBank(square, facts, TermPredictor(X, (term,)))


def _square_of(term: KernelTerm, part: Array) -> Array:
    """The kernel's matrix, from the distances or products of each pair once."""
    with np.errstate(over="ignore", invalid="ignore"):
        # Nothing is named on the way, so that only the result lives beside the square.
        if isinstance(term.kernel, RadialKernel):
            packed = term.kernel.profile(_compiled.packed_distances(part))
        elif isinstance(term.kernel, ProductKernel):
            packed = term.kernel.profile(_compiled.packed_products(part))
        else:
            return np.ascontiguousarray(term.kernel.gram(part))
        return _compiled.unpack(packed, len(part))


def given_square(
    kernel: ArrayLike, name: str = "kernel 0", *, repair: str | None = None
) -> SquareBank:
    """The bank of one given Gram matrix, kept as it is.

    Parameters
    ----------
    kernel : array-like, shape (n_rows, n_rows)
        A float64 matrix in C order that is exactly symmetric is not copied; it
        must not be changed afterwards.
    name : str
    repair : {"clip"}, optional
        See `mkldash.kernels.precomputed.precomputed_bank`.

    Raises
    ------
    InputError
        As `mkldash.kernels.precomputed.precomputed_bank` does.
    """
    label = gram_label(0, name)
    square, note = check_square(kernel, label, repair=repair)
    check_size(square, label, PLAIN_SIZES)
    if not square.any():
        raise InputError(
            f"{label} is zero: there is nothing to learn from; give a kernel that is not"
        )
    digest = hashlib.sha256(np.ascontiguousarray(square).data)
    digest.update(f"{name}, square".encode())
    facts = _facts(square, name, None, digest.hexdigest(), (note,) if note else ())
    return SquareBank(square, facts, GivenPredictor(facts.kept, 1, len(square)), "precomputed")


def _facts(
    square: Array,
    name: str,
    terms: tuple[KernelTerm, ...] | None,
    key: str,
    notes: tuple[str, ...],
) -> BankFacts:
    n, trace = len(square), float(square.trace())
    if is_constant_kernel(trace, trace - float(square.sum()) / n):
        note = (
            f"{name} is constant: it cannot separate the classes; all points get the same decision"
        )
        warn_caller(note, ConstantKernelWarning)
        notes = (*notes, note)
    return BankFacts(
        names=(name,),
        terms=terms,
        scales=np.ones(1),
        traces=np.array([trace]),
        kept=np.zeros(1, dtype=np.intp),
        n_given=1,
        dropped=(),
        warnings=notes,
        n_rows=n,
        key=key,
    )
