"""Products of up to D base kernels: a family of kernels that is never listed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from mkldash.errors import InputError
from mkldash.kernels import _compiled
from mkldash.kernels._gram_products import GramProducts, diagonal_positions, gram_bytes
from mkldash.kernels._linear_products import LinearProducts, linear_bytes
from mkldash.kernels._product_blocks import GivenBlocks, TermBlocks
from mkldash.kernels._product_facts import (
    HIGHEST_DEGREE,
    FamilyFacts,
    base_notes,
    check_memory,
    keyed,
    make_facts,
    mean_diagonal,
)
from mkldash.kernels._product_family import ProductFamily
from mkldash.kernels._product_predictors import BaseBlocks, ProductPredictor
from mkldash.kernels._words import n_products, n_words
from mkldash.kernels.base import Array, KernelTerm
from mkldash.kernels.checks import PLAIN_SIZES, as_matrices, check_gram, check_size
from mkldash.kernels.dense import packed_size
from mkldash.kernels.memory import DEFAULT_MEMORY_LIMIT
from mkldash.kernels.naming import unique_names
from mkldash.kernels.normalization import as_features, constant_columns

__all__ = [
    "HIGHEST_DEGREE",
    "FamilyFacts",
    "FamilySize",
    "ProductFamily",
    "ProductPredictor",
    "family_size",
    "product_family",
    "product_family_of",
    "product_family_of_terms",
]


@dataclass(frozen=True)
class FamilySize:
    """How large a family of products of linear kernels will be.

    Attributes
    ----------
    n_words, n_keys : int
        Ordered products, and kernels: fewer where orders are merged.
    nbytes : int
    """

    n_words: int
    n_keys: int
    nbytes: int


def family_size(n_rows: int, n_base: int, degree: int, merged: bool) -> FamilySize:
    """What `product_family` will make of so many rows and features, counted only."""
    words = n_words(n_base, degree)
    merged_keys = sum(n_products(n_base, d) for d in range(degree + 1))
    return FamilySize(words, merged_keys if merged else words, linear_bytes(n_rows, n_base, degree))


_FEWER = "fewer base kernels, a lower degree"


def product_family(
    X: ArrayLike,
    base_names: Sequence[str] | None = None,
    *,
    degree: int = 3,
    penalty: float = 1.0,
    growth: float = 4.0,
    rho: Sequence[float] | None = None,
    scale: bool = True,
    merged: bool = True,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
) -> ProductFamily:
    """Products of linear kernels, one for each feature: the monomials of the features.

    Parameters
    ----------
    X : array-like, shape (n_rows, n_features)
        Training rows, standardised already; copied.
    base_names : sequence of str, optional
        By default ``x0``, ``x1``, ...
    degree : int
        Most factors in a product, at most `HIGHEST_DEGREE`.
    penalty, growth : float
        rho_d^2 = penalty growth^d: above one, growth asks more of long products.
    rho : sequence of float, optional
        rho_0 .. rho_degree themselves, instead of penalty and growth.
    scale : bool
        Divide the base kernels by the mean diagonal of their sum, without which
        long products over many features leave the range of double precision.
    merged : bool
        Whether the orderings of a product are one kernel; see `ProductFamily`.
    memory_limit : int
        Bytes that the family may take.

    Raises
    ------
    InputError
        Names the parameter that cannot be used as given.
    MemoryLimitError
        If it does not fit; nothing has been allocated.
    """
    X = as_features(X) + 0.0  # a copy; the key must not tell -0.0 from 0.0
    n, r = X.shape
    if n < 2 or r < 1:
        raise InputError(f"X must have at least two rows and one feature, got shape {X.shape}")
    facts = make_facts(r, base_names, degree, penalty, growth, rho, merged)
    check_memory(linear_bytes(n, r, facts.degree), memory_limit, "a lower degree")
    notes = base_notes(~X.any(axis=0), constant_columns(X), facts.base_names)
    facts = keyed(facts, notes, "linear", scale, X)
    with np.errstate(over="ignore"):
        diagonal = np.square(X).sum(axis=1)
    factor = mean_diagonal(diagonal, facts.degree, scale) ** -0.5
    return ProductFamily(LinearProducts(X * factor, factor, facts.degree), facts)


def product_family_of(
    grams: ArrayLike | Iterable[ArrayLike],
    base_names: Sequence[str] | None = None,
    *,
    degree: int = 3,
    penalty: float = 1.0,
    growth: float = 4.0,
    rho: Sequence[float] | None = None,
    scale: bool = True,
    merged: bool = True,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
) -> ProductFamily:
    """Products of given Gram matrices; the other parameters are `product_family`'s.

    Parameters
    ----------
    grams : list of (n_rows, n_rows), or array (n_base, n_rows, n_rows)
        Symmetric and positive semidefinite.

    Raises
    ------
    InputError
        If one is not, naming it, or names a parameter that cannot be used.
    MemoryLimitError
        If it does not fit.
    """
    matrices = as_matrices(grams)
    n, r = len(matrices[0]), len(matrices)
    facts = make_facts(r, base_names, degree, penalty, growth, rho, merged)
    check_memory(gram_bytes(n, r, facts.degree), memory_limit, _FEWER)
    packed = np.empty((r, packed_size(n)))
    for row, matrix, (j, name) in zip(packed, matrices, enumerate(facts.base_names), strict=True):
        label = f"base kernel {j} ({name!r})"
        checked, _ = check_gram(matrix, label)
        check_size(checked, label, PLAIN_SIZES)
        _compiled.pack(checked, row)
    facts = keyed(facts, (), "given", scale, packed)
    return _of_packed(packed, n, scale, facts, GivenBlocks(r, n))


def product_family_of_terms(
    X: ArrayLike,
    terms: Sequence[KernelTerm],
    base_names: Sequence[str] | None = None,
    *,
    degree: int = 3,
    penalty: float = 1.0,
    growth: float = 4.0,
    rho: Sequence[float] | None = None,
    scale: bool = True,
    merged: bool = True,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
) -> ProductFamily:
    """Products of kernels of any kind on the features; else as `product_family`.

    Parameters
    ----------
    X : array-like, shape (n_rows, n_features)
        Training rows, standardised already; copied.
    terms : sequence of KernelTerm
        The base kernels, such as those of `mkldash.kernels.banks.make_terms`.
    base_names : sequence of str, optional
        By default the names of the terms.

    Raises
    ------
    InputError
        Names the term or parameter that cannot be used as given.
    MemoryLimitError
        If it does not fit; nothing has been allocated.
    """
    X, terms = as_features(X) + 0.0, tuple(terms)
    n, r = len(X), len(terms)
    if n < 2 or r < 1:
        raise InputError(f"terms and rows of X are needed, got {r} terms and {n} rows (at least 2)")
    names = unique_names(terms) if base_names is None else base_names
    facts = make_facts(r, names, degree, penalty, growth, rho, merged)
    for name, term in zip(facts.base_names, terms, strict=True):
        if not term.columns or min(term.columns) < 0 or max(term.columns) >= X.shape[1]:
            raise InputError(f"terms: {name!r} asks for columns {term.columns}, X has {X.shape[1]}")
    check_memory(gram_bytes(n, r, facts.degree) + 16 * n * n, memory_limit, _FEWER)
    packed = np.empty((r, packed_size(n)))
    for row, name, term in zip(packed, facts.base_names, terms, strict=True):
        with np.errstate(over="ignore", invalid="ignore"):
            matrix = term.kernel.gram(np.ascontiguousarray(X[:, term.columns]))
        if not np.isfinite(matrix).all():
            raise InputError(f"terms: kernel {name!r} overflows; standardise the features")
        _compiled.pack(np.ascontiguousarray(matrix), row)
    facts = keyed(facts, (), repr(terms), scale, X)
    return _of_packed(packed, n, scale, facts, TermBlocks(X, terms))


def _of_packed(
    packed: Array, n: int, scale: bool, facts: FamilyFacts, blocks: BaseBlocks
) -> ProductFamily:
    constant = packed.max(axis=1) == packed.min(axis=1)
    notes = base_notes(~packed.any(axis=1), constant, facts.base_names)
    diagonal = packed[:, diagonal_positions(n)].sum(axis=0)
    factor = 1.0 / mean_diagonal(diagonal, facts.degree, scale)
    packed *= factor
    bases = GramProducts(packed, n, factor, facts.degree, blocks)
    return ProductFamily(bases, replace(facts, warnings=notes))
