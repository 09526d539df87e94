"""What a kernel and a bank of kernels must answer.

Solvers never touch a Gram matrix except through `KernelBank`.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from mkldash.kernels.weights import Weights

if TYPE_CHECKING:
    from mkldash.kernels.block_memory import BlockMemory

Array = NDArray[np.float64]

__all__ = [
    "CombinedKernel",
    "DroppedKernel",
    "Kernel",
    "KernelBank",
    "KernelTerm",
    "ProductKernel",
    "RadialKernel",
]


@dataclass(frozen=True)
class Kernel(abc.ABC):
    """A kernel function; a frozen dataclass of its parameters.

    Class facts: `name` (used by the command line) and `reference`.
    """

    name: ClassVar[str]
    reference: ClassVar[str] = ""

    @abc.abstractmethod
    def gram(self, X: Array, Y: Array | None = None) -> Array:
        """Kernel values, shape (n, m), between rows of X (n, p) and Y (m, p)."""

    @abc.abstractmethod
    def diagonal(self, X: Array) -> Array:
        """k(x_i, x_i), shape (n,), without the matrix."""

    @property
    @abc.abstractmethod
    def label(self) -> str:
        """Short readable name with its parameters, such as ``gaussian 0.5``."""

    @property
    def exact_label(self) -> str:
        """The label with every digit, for kernels whose short labels agree."""
        return self.label


@dataclass(frozen=True)
class RadialKernel(Kernel):
    """A kernel of the squared distance alone.

    Banks compute the distances on a set of columns once and hand them to every
    radial kernel on those columns.
    """

    @abc.abstractmethod
    def profile(self, squared: Array) -> Array:
        """Kernel values, a new array of any shape, from squared distances."""

    def gram(self, X: Array, Y: Array | None = None) -> Array:
        """Kernel values, shape (n, m), between rows of X (n, p) and Y (m, p)."""
        return self.profile(squared_distances(X, X if Y is None else Y))

    def diagonal(self, X: Array) -> Array:
        """k(x_i, x_i), shape (n,): the profile at zero."""
        return self.profile(np.zeros(len(X)))


@dataclass(frozen=True)
class ProductKernel(Kernel):
    """A kernel of the inner product alone; shared like `RadialKernel`'s distances."""

    @abc.abstractmethod
    def profile(self, products: Array) -> Array:
        """Kernel values, a new array of any shape, from inner products."""

    def gram(self, X: Array, Y: Array | None = None) -> Array:
        """Kernel values, shape (n, m), between rows of X (n, p) and Y (m, p)."""
        return self.profile(inner_products(X, X if Y is None else Y))

    def diagonal(self, X: Array) -> Array:
        """k(x_i, x_i), shape (n,)."""
        return self.profile(np.einsum("ij,ij->i", X, X))


def squared_distances(X: Array, Y: Array) -> Array:
    """|x_i - y_j|^2, shape (n, m), summed from differences.

    The usual |x|^2 + |y|^2 - 2 x'y cancels for near rows, and a narrow Gaussian
    multiplies that error; differences keep the diagonal exactly zero.
    """
    squared = np.zeros((len(X), len(Y)))
    for x, y in zip(X.T, Y.T, strict=True):
        difference = np.subtract.outer(x, y)
        difference *= difference
        squared += difference
    return squared


def inner_products(X: Array, Y: Array) -> Array:
    """x_i'y_j, shape (n, m), summed column by column so that it is symmetric."""
    products = np.zeros((len(X), len(Y)))
    for x, y in zip(X.T, Y.T, strict=True):
        products += np.multiply.outer(x, y)
    return products


@dataclass(frozen=True)
class KernelTerm:
    """One kernel on some of the features.

    Parameters
    ----------
    kernel : Kernel
    columns : tuple of int
        Feature columns that the kernel sees.
    feature : str
        Name of the single feature, or ``"all"``.
    """

    kernel: Kernel
    columns: tuple[int, ...]
    feature: str

    @property
    def name(self) -> str:
        """Readable, such as ``gaussian 0.5 · V3``; a bank makes it unique."""
        return f"{self.kernel.label} · {self.feature}"

    @property
    def exact_name(self) -> str:
        """The name with every digit of the kernel's parameters."""
        return f"{self.kernel.exact_label} · {self.feature}"


@dataclass(frozen=True)
class DroppedKernel:
    """A kernel that the bank left out, and why (a sentence)."""

    name: str
    reason: str


class CombinedKernel(Protocol):
    """The weighted Gram matrix K = sum_k theta_k K_k, as much of it as asked for."""

    n_rows: int
    #: Whether `block` on few rows and `apply` cost much less than `matrix`.
    cheap_blocks: bool

    def matrix(self) -> Array:
        """All of it, shape (n_rows, n_rows), symmetric; not to be written to."""

    def block(self, rows: NDArray[np.intp], memory: BlockMemory | None = None) -> Array:
        """K[rows][:, rows], shape (m, m).

        `memory` may keep what the next call at other weights needs again; it
        changes the time, and nothing that a caller could tell from its history.
        """

    def apply(self, a: Array) -> Array:
        """K a, shape (n_rows,), exact for the stored kernels; uses a != 0 only."""

    def residual(self) -> tuple[float, Array]:
        """What the storage left out: (sum_k theta_k eps_k, diagonal of R).

        eps_k bounds the trace of K_k minus its stored form and
        R = sum_k theta_k (K_k - stored K_k); zeros when storage is exact.
        """


class KernelBank(abc.ABC):
    """An explicit, ordered list of Gram matrices over the training rows.

    Attributes
    ----------
    names : tuple of str
        Names of the kernels kept, in order.
    terms : tuple of KernelTerm or None
        What each kept kernel is; None for matrices that the user gave.
    scales : array, shape (n_kernels,)
        Factor by which each kernel was multiplied (1/trace, n/trace, or 1).
    traces : array, shape (n_kernels,)
        Traces before scaling.
    residuals : array, shape (n_kernels,)
        Upper bound on trace(K_k - stored K_k); zeros when exact.
    kept : array of int, shape (n_kernels,)
        Position of each kept kernel in the list that was given.
    n_given : int
        Number of kernels given, dropped ones included.
    dropped : tuple of DroppedKernel
    warnings : tuple of str
        Sentences for the person (constant columns, unequal traces).
    n_rows, nbytes : int
        Training rows; bytes that the stored kernels take.
    storage : str
        ``"dense"``, ``"factored"``, ``"square"`` or ``"precomputed"``.
    ranks : array of int or None
        Rank of each kernel's factor; None unless factored.
    key : str
        Hash of the content: equal keys mean equal banks.
    """

    names: tuple[str, ...]
    terms: tuple[KernelTerm, ...] | None
    scales: Array
    traces: Array
    residuals: Array
    kept: NDArray[np.intp]
    n_given: int
    dropped: tuple[DroppedKernel, ...]
    warnings: tuple[str, ...]
    n_rows: int
    nbytes: int
    storage: str
    ranks: NDArray[np.intp] | None
    key: str

    @property
    def n_kernels(self) -> int:
        """Number of kernels kept."""
        return len(self.names)

    def weights(self, values: Array) -> Weights:
        """Weights over this bank's kernels."""
        return Weights.of(self.names, values)

    @abc.abstractmethod
    def combine(self, theta: Array) -> CombinedKernel:
        """The weighted Gram matrix; kernels of weight zero cost nothing."""

    @abc.abstractmethod
    def quadratic_forms(self, a: Array) -> Array:
        """u_k = a' K_k a, shape (n_kernels,), clipped at zero; uses a != 0 only."""

    @abc.abstractmethod
    def columns(self, a: Array, rows: NDArray[np.intp]) -> Array:
        """(K_k a) on `rows` for every kernel, shape (len(rows), n_kernels)."""

    @abc.abstractmethod
    def decision(self, X_new: Array, theta: Array, a: Array) -> Array:
        """sum_k theta_k K_k(X_new, X) a, shape (n_new,), without the bias.

        Uses the training scales and touches only theta_k > 0 and a_i != 0.
        For given matrices `X_new` is the stack of shape (n_given, n_new, n_rows).
        """
