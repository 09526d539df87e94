"""What a bank would take, said before anything is built."""

from __future__ import annotations

from dataclasses import dataclass

from mkldash.errors import MemoryLimitError

__all__ = ["DEFAULT_MEMORY_LIMIT", "MemoryEstimate", "estimate_memory", "refuse"]

#: Bytes that a bank may take unless told otherwise: 4 GiB.
DEFAULT_MEMORY_LIMIT = 4 * 2**30


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes that a bank would take, by way of storing it.

    Attributes
    ----------
    square : int
        Full matrices, 8 Q n^2: what a plain program needs.
    packed : int
        Each symmetric matrix once, 8 Q n (n + 1) / 2: storage ``"dense"``.
    factored_ceiling : int
        Factors if every kernel had full rank; most have far less.
    test_blocks : int
        All kernels between test and training rows, 8 Q n_test n, if kept whole.
        Banks built from features evaluate them in pieces instead.
    """

    square: int
    packed: int
    factored_ceiling: int
    test_blocks: int

    def text(self) -> str:
        """One line with all four numbers."""
        return (
            f"{_bytes(self.square)} as full squares, {_bytes(self.packed)} with each symmetric "
            f"matrix once, at most {_bytes(self.factored_ceiling)} as low-rank factors, "
            f"{_bytes(self.test_blocks)} for test blocks"
        )


def estimate_memory(n_rows: int, n_kernels: int, n_test: int = 0) -> MemoryEstimate:
    """Bytes of a bank, from its sizes alone.

    Parameters
    ----------
    n_rows, n_kernels : int
        Training rows; kernels, constant ones included.
    n_test : int
        Rows to predict.
    """
    n_rows, n_kernels, n_test = int(n_rows), int(n_kernels), int(n_test)
    square = 8 * n_kernels * n_rows**2
    return MemoryEstimate(
        square=square,
        packed=8 * n_kernels * (n_rows * (n_rows + 1) // 2),
        # A factor of full rank is a triangle, stored with its zeros, and the bank
        # keeps a bound on the diagonal of what each factor leaves out.
        factored_ceiling=square + 8 * n_kernels * n_rows,
        test_blocks=8 * n_kernels * n_rows * n_test,
    )


def refuse(needed: int, estimate: MemoryEstimate, limit: int, storage: str) -> MemoryLimitError:
    """The error for a bank that does not fit; for the caller to raise.

    Parameters
    ----------
    needed : int
        Bytes of the chosen storage, test blocks included.
    estimate : MemoryEstimate
    limit : int
        Bytes allowed.
    storage : str
        The storage that `needed` is about.
    """
    if storage == "square":  # one kernel, and its solvers need all of it
        return MemoryLimitError(
            f"the kernel needs {_bytes(needed)}, its full matrix and half of that again while it "
            f"is built; the limit is {_bytes(limit)}. Ways out: a subsample of the rows, or a "
            "higher memory_limit."
        )
    tried = storage.startswith("factored")
    factors = "" if tried else "storage='factored' (low-rank factors), "
    ways = f"fewer kernels (fewer widths), a subsample of the rows, {factors}or a higher "
    ways += "memory_limit"
    return MemoryLimitError(
        f"the bank needs {_bytes(needed)} ({storage}), the limit is {_bytes(limit)}; "
        f"it would take {estimate.text()}. Ways out: {ways}."
    )


def _bytes(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit} ({count:,} bytes)"
    return f"{count} bytes"
