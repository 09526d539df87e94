"""What a block memory keeps changes the time, never a bit of the result."""

import numpy as np
import pytest

from mkldash.kernels import block_memory as module
from mkldash.kernels.block_memory import BlockMemory
from mkldash.kernels.factored import FactoredCombined

N_ROWS, RANKS = 60, [1, 7, 30, 12, 9, 27, 5, 16]


@pytest.fixture
def factors():
    rng = np.random.default_rng(0)
    return rng.standard_normal((N_ROWS, sum(RANKS)))


OFFSETS = np.concatenate(([0], np.cumsum(RANKS))).astype(np.int64)


def theta(*live):
    found = np.zeros(len(RANKS))
    found[list(live)] = [0.3 + 0.1 * k for k in live]
    return found


def truth(factors, weights, rows):
    scaled = factors[rows] * np.sqrt(np.repeat(weights, RANKS))
    return scaled @ scaled.T


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 17])
def test_a_block_is_the_weighted_sum(factors, m):
    rows = np.random.default_rng(m).permutation(N_ROWS)[:m]
    found = BlockMemory().block(factors, OFFSETS, theta(1, 2, 5), rows)
    np.testing.assert_allclose(found, truth(factors, theta(1, 2, 5), rows), rtol=1e-13, atol=1e-12)
    assert np.array_equal(found, found.T)


def test_whatever_came_before_the_block_is_the_same_bit_by_bit(factors):
    rng = np.random.default_rng(1)
    memory = BlockMemory()
    for _ in range(200):
        live = rng.permutation(len(RANKS))[: rng.integers(1, 5)]
        weights = theta(*live)
        rows = rng.permutation(N_ROWS)[: rng.integers(1, 40)]
        kept = memory.block(factors, OFFSETS, weights, rows)
        fresh = BlockMemory().block(factors, OFFSETS, weights, rows)
        assert np.array_equal(kept, fresh)


def test_what_is_known_is_not_computed_again(factors, monkeypatch):
    filled = []
    fill = module._compiled_factors.fill_pairs

    def counting(L, starts, stops, rows, known, out):
        filled.append((len(starts), len(rows) - known))
        fill(L, starts, stops, rows, known, out)

    monkeypatch.setattr(module._compiled_factors, "fill_pairs", counting)
    memory = BlockMemory()
    rows = np.arange(20)
    memory.block(factors, OFFSETS, theta(0, 1, 2, 3), rows)
    memory.block(factors, OFFSETS, theta(0, 2, 3), rows[::-1])  # a kernel died
    memory.block(factors, OFFSETS, theta(0, 2), rows[3:])  # two rows left
    assert filled == [(4, 20)]
    memory.block(factors, OFFSETS, theta(0, 2), np.arange(22))  # two came
    assert filled == [(4, 20), (2, 2)]
    memory.block(factors, OFFSETS, theta(0, 7), np.arange(22))  # another kernel lives
    assert filled[2:] == [(2, 22)]
    memory.block(factors, OFFSETS, theta(0, 7), np.arange(40, 50))  # other rows altogether
    assert filled[3:] == [(2, 10)]
    other = factors.copy()
    memory.block(other, OFFSETS, theta(0, 7), np.arange(40, 50))  # another bank
    assert filled[4:] == [(2, 10)]


def test_too_large_or_too_crowded_is_refused(factors):
    rows = np.arange(30)
    small = BlockMemory(most_bytes=8 * (30 * 31 // 2) * 2)
    assert small.block(factors, OFFSETS, theta(0, 1), rows) is not None
    assert small.block(factors, OFFSETS, theta(0, 1, 2), rows) is None
    assert BlockMemory().block(factors, OFFSETS, theta(0, 1, 2, 3), rows) is not None
    assert BlockMemory().block(factors, OFFSETS, theta(0, 1, 2, 3, 4), rows) is None


def test_a_combined_kernel_falls_back_to_its_factors(factors):
    bank = type("Bank", (), {})()
    bank.factors, bank.offsets, bank.n_rows = factors, OFFSETS, N_ROWS
    rows = np.array([3, 50, 7])
    for live in ((0, 3), tuple(range(8))):
        combined = FactoredCombined(bank, theta(*live))
        expected = truth(factors, theta(*live), rows)
        for memory in (None, BlockMemory(), BlockMemory(most_bytes=0)):
            np.testing.assert_allclose(combined.block(rows, memory), expected, rtol=1e-12)
