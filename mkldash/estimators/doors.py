"""From what a person hands in to a bank, and from a fit to predictions on new rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mkldash.errors import InputError, MemoryLimitError
from mkldash.estimators.stack import KernelStack
from mkldash.kernels.banks import SINGLE, make_terms
from mkldash.kernels.base import Array, Kernel, KernelBank, KernelTerm
from mkldash.kernels.memory import estimate_memory
from mkldash.kernels.normalization import Standardizer
from mkldash.kernels.prediction import GivenPredictor, TermPredictor

__all__ = [
    "PRECOMPUTED",
    "GivenModel",
    "Parts",
    "TableModel",
    "given_blocks",
    "make_kernel_terms",
    "read_given",
]

#: Value of `kernels` for matrices that the user gives.
PRECOMPUTED = "precomputed"


def make_kernel_terms(
    kernels: Any,
    feature_names: Sequence[str],
    banks: Sequence[str],
    sigma: float | None = None,
) -> tuple[KernelTerm, ...]:
    """The kernels that were asked for, on the given features.

    Parameters
    ----------
    kernels : str, Kernel, KernelTerm, or sequence of Kernel and KernelTerm
        The name of a bank; a `Kernel` sees all features, a `KernelTerm` its own.
    feature_names : sequence of str, length n_features
    banks : sequence of str
        Names of the banks that the estimator takes.
    sigma : float, optional
        Of the bank ``single``.

    Raises
    ------
    InputError
        For a bank that does not exist and for items of another type.
    """
    offered = ", ".join(sorted(banks))
    if isinstance(kernels, str):
        if kernels == SINGLE and SINGLE not in banks:
            raise InputError(
                f"kernels={SINGLE!r} is one kernel whose width a sigma_factor sets: it belongs to "
                "NeighborhoodKernelClassifier; here give the width, kernels=Gaussian(width)"
            )
        if kernels not in banks:
            raise InputError(
                f"kernels={kernels!r} is no bank; there are {offered}, "
                f"{PRECOMPUTED!r}, or a list of kernels such as [Gaussian(1.0), Linear()]"
            )
        return make_terms(kernels, feature_names, sigma)
    items = [kernels] if isinstance(kernels, Kernel | KernelTerm) else kernels
    if not isinstance(items, list | tuple):
        raise InputError(
            f"kernels must name a bank ({offered}), be {PRECOMPUTED!r} or a list "
            f"of kernels, not {type(kernels).__name__}; matrices go into fit, with "
            f"kernels={PRECOMPUTED!r}"
        )
    together = "all"
    while together in feature_names:
        together += " features"
    everything = tuple(range(len(feature_names)))
    terms = []
    for position, item in enumerate(items):
        if isinstance(item, Kernel):
            item = KernelTerm(item, everything, together)
        if not isinstance(item, KernelTerm):
            raise InputError(
                f"item {position} of kernels is a {type(item).__name__}, not a Kernel or KernelTerm"
            )
        terms.append(item)
    return tuple(terms)


def read_given(X: Any, memory_limit: int, keeps_square: Callable[[int, int], bool]) -> KernelStack:
    """Training matrices as a square stack.

    Parameters
    ----------
    X : KernelStack, array of shape (n_kernels, n, n) or (n, n), or list of (n, n)
    memory_limit : int
        Bytes that the bank may take.
    keeps_square : callable
        Whether a bank of so many kernels and rows holds full matrices.

    Raises
    ------
    InputError
        For anything else, such as lists in lists or matrices that are not square.
    MemoryLimitError
        With the numbers, before anything is copied.
    """
    if isinstance(X, KernelStack):
        stack = X.training()
    else:
        stack = KernelStack(_array_or_list(X))
    estimate = estimate_memory(len(stack), stack.n_kernels)
    if keeps_square(stack.n_kernels, len(stack)):
        needed, how = estimate.square, "a full square"
    else:
        needed = estimate.packed
        how = f"each symmetric matrix stored once; {estimate.square:,} as full squares"
    if needed > memory_limit:
        count = f"{stack.n_kernels} kernel{'' if stack.n_kernels == 1 else 's'}"
        fewer = "" if stack.n_kernels == 1 else "fewer kernels, "
        raise MemoryLimitError(
            f"the bank needs {needed:,} bytes ({count} of {len(stack)} rows, {how}), memory_limit "
            f"is {memory_limit:,}; give {fewer}a subsample of the rows, or a higher memory_limit"
        )
    return stack


def given_blocks(X: Any, training: KernelStack, live: NDArray[np.intp]) -> list[Any]:
    """Test-by-train blocks, one per given kernel; dead kernels' are not read.

    Parameters
    ----------
    X : KernelStack, array of shape (n_kernels, n_new, n) or (n_new, n), or list
    training : KernelStack
        What was fitted on, or its outline.
    live : array of int
        Positions of the kernels that carry weight in some class.
    """
    if isinstance(X, KernelStack):
        rows = X.against(training)
        nothing = np.broadcast_to(0.0, rows.shape)
        wanted = set(live.tolist())
        return [rows.block(k) if k in wanted else nothing for k in range(rows.n_kernels)]
    items = _array_or_list(X)
    if getattr(items, "ndim", None) == 2:
        items = [items]
    wanted = set(live.tolist())
    return [
        _dense(item) if k in wanted else np.broadcast_to(0.0, np.shape(item))
        for k, item in enumerate(items)
    ]


def _dense(block: Any) -> Any:
    return block.toarray() if sparse.issparse(block) else block


def _array_or_list(X: Any) -> Any:
    """X itself when it is a list or has dimensions, else as an array."""
    return X if isinstance(X, list | tuple) or hasattr(X, "ndim") else np.asarray(X)


@dataclass(frozen=True, eq=False)
class Parts:
    """What a fit found, for one output (two classes) or one per class.

    Parameters
    ----------
    theta : array, shape (n_outputs, n_kernels)
        Weights of the kernels kept.
    coefficients : array, shape (n_outputs, n_rows)
        y * alpha.
    """

    theta: Array
    coefficients: Array

    @property
    def live(self) -> NDArray[np.intp]:
        """Kernels that carry weight in some output."""
        return np.flatnonzero((self.theta > 0.0).any(axis=0))

    @property
    def support(self) -> NDArray[np.intp]:
        """Rows that some output depends on."""
        return np.flatnonzero((self.coefficients != 0.0).any(axis=0))


@dataclass(frozen=True, eq=False)
class TableModel:
    """Predicts from rows of features; keeps support rows and live kernels only.

    Parameters
    ----------
    standardizer : Standardizer or None
    predictor : TermPredictor
        Over the support rows and the kernels that carry weight in some class.
    weights : array, shape (n_outputs, n_live)
        Kernel weights times training scales.
    coefficients : array, shape (n_outputs, n_support)
        y * alpha.
    """

    standardizer: Standardizer | None
    predictor: TermPredictor
    weights: Array
    coefficients: Array

    @classmethod
    def of(
        cls, bank: KernelBank, seen: Array, standardizer: Standardizer | None, parts: Parts
    ) -> TableModel:
        """From the bank and the training rows as its kernels see them."""
        assert bank.terms is not None
        terms = tuple(bank.terms[k] for k in parts.live)
        predictor = TermPredictor(np.ascontiguousarray(seen[parts.support]), terms)
        weights = parts.theta[:, parts.live] * bank.scales[parts.live]
        return cls(standardizer, predictor, weights, parts.coefficients[:, parts.support])

    def decision(self, X: Array) -> Array:
        """Values without the bias, shape (n_new, n_outputs), for finite rows X."""
        rows = X if self.standardizer is None else self.standardizer.transform(X)
        return _outputs(self.predictor, rows, self.weights, self.coefficients)


@dataclass(frozen=True, eq=False)
class GivenModel:
    """Predicts from test-by-train blocks of the kernels that were given.

    Parameters
    ----------
    training : KernelStack
        Outline of the training samples.
    predictor : GivenPredictor
    weights : array, shape (n_outputs, n_live)
        Kernel weights times training scales.
    coefficients : array, shape (n_outputs, n_rows)
        y * alpha.
    """

    training: KernelStack
    predictor: GivenPredictor
    weights: Array
    coefficients: Array

    @classmethod
    def of(cls, bank: KernelBank, stack: KernelStack, parts: Parts) -> GivenModel:
        """From the bank and the matrices it was made of."""
        predictor = GivenPredictor(bank.kept[parts.live], bank.n_given, bank.n_rows)
        weights = parts.theta[:, parts.live] * bank.scales[parts.live]
        return cls(stack.outline(), predictor, weights, parts.coefficients)

    def decision(self, X: Any) -> Array:
        """Values without the bias, shape (n_new, n_outputs)."""
        blocks = given_blocks(X, self.training, self.predictor.kept)
        return _outputs(self.predictor, blocks, self.weights, self.coefficients)


def _outputs(
    predictor: TermPredictor | GivenPredictor, new: Any, weights: Array, coefficients: Array
) -> Array:
    columns = [predictor.decision(new, w, a) for w, a in zip(weights, coefficients, strict=True)]
    return np.stack(columns, axis=1)
