"""The product with a symmetric matrix of 4,781 rows: BLAS, skipping rows, reading half of it."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._timing import interleaved, table
from benchmarks.neighborhood import matrix
from mkldash.kernels._compiled_square import product, symmetric_product


def products(K: np.ndarray) -> None:
    """Print the time of K a by the ways there are."""
    rng = np.random.default_rng(0)
    for share in (1.0, 0.6, 0.45, 0.35, 0.2):
        a = rng.standard_normal(len(K)) * (rng.random(len(K)) < share)
        with threadpool_limits(1, user_api="blas"):
            seconds = interleaved({
                "BLAS": lambda a=a: K @ a,
                "rows that are not zero": lambda a=a: product(K, a),
                "symmetric_product": lambda a=a: symmetric_product(K, a),
            })  # fmt: skip
        print(f"{share:.0%} of the entries not zero")
        print("\n".join(table(seconds, "BLAS")))


if __name__ == "__main__":
    products(matrix(4.0)[0])
