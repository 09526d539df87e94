"""Memory of the factored bank on WDBC against full square storage.

Target: at most 1/10 at a relative trace residual of 1e-12.
"""

from __future__ import annotations

import numpy as np

from benchmarks._wdbc import full_stack, wdbc_bank

if __name__ == "__main__":
    stack, _ = full_stack()
    factored, _ = wdbc_bank("factored")
    dense, _ = wdbc_bank("dense")
    for name, size in (
        ("full square", stack.nbytes),
        ("dense, each matrix once", dense.nbytes),
        ("factored, residual 1e-12", factored.nbytes),
    ):
        print(f"{name:28} {size / 1e6:9.1f} MB  {stack.nbytes / size:6.2f} x smaller")
    assert factored.ranks is not None
    print(f"ranks: {int(factored.ranks.sum())} columns, largest {int(factored.ranks.max())}")
    a = np.random.default_rng(0).standard_normal(341)
    exact = (stack @ a) @ a
    error = np.abs(factored.quadratic_forms(a) - exact).max() / exact.max()
    print(f"largest error of a'K_k a: {error:.1e} of the largest")
