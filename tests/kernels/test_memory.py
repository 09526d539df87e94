"""What a bank needs, said and refused before it is built."""

import tracemalloc

import numpy as np
import pytest

from mkldash.errors import MemoryLimitError
from mkldash.kernels.banks import make_terms
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.building import build_bank, estimate_memory
from mkldash.kernels.gaussian import Gaussian
from mkldash.kernels.prediction import CHUNK_BYTES
from tests.kernels.recipes import normal_rows, paper_terms


@pytest.mark.parametrize(
    ("n_rows", "n_kernels", "square"),
    [
        (351, 455, 448_451_640),
        (210, 455, 160_524_000),
        (4781, 1, 182_863_688),
        (20_000, 100, 320_000_000_000),
    ],
)
def test_square_storage(n_rows, n_kernels, square):  # S16
    estimate = estimate_memory(n_rows, n_kernels)
    assert estimate.square == square
    assert estimate.packed == 4 * n_kernels * n_rows * (n_rows + 1)
    assert estimate.factored_ceiling >= square
    assert estimate.test_blocks == 0


def test_test_blocks_are_listed():  # S16
    assert estimate_memory(210, 455, n_test=141).test_blocks == 8 * 455 * 210 * 141


def test_ionosphere_counts_455_kernels_before_data_are_read():  # S16
    assert len(make_terms("paper", [f"V{j}" for j in range(1, 35)])) == 455


@pytest.mark.parametrize("storage", ["auto", "dense", "factored"])
def test_320_gigabytes_are_refused_with_nothing_allocated(storage):  # S16
    X = normal_rows(20_000, 6)
    # Narrow on six features: ranks are full, so factors do not help either.
    terms = [KernelTerm(Gaussian(0.1 + 1e-3 * k), tuple(range(6)), f"all {k}") for k in range(100)]
    tracemalloc.start()
    with pytest.raises(MemoryLimitError) as caught:
        build_bank(X, terms, storage=storage)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6
    message = str(caught.value)
    for part in ("320 GB (320,000,000,000 bytes)", "160 GB", "limit is 4.29 GB", "fewer widths",
                 "subsample", "memory_limit"):  # fmt: skip
        assert part in message
    # What was tried and found too large is no way out.
    assert ("storage='factored'" in message) == (storage == "dense")


def test_dense_fits_exactly_at_its_packed_size():
    X, terms = normal_rows(30), paper_terms(3)
    need = estimate_memory(30, len(terms)).packed
    assert build_bank(X, terms, storage="dense", memory_limit=need).nbytes == need
    with pytest.raises(MemoryLimitError):
        build_bank(X, terms, storage="dense", memory_limit=need - 1)


def test_pieces_of_test_kernels_count():
    X, terms = normal_rows(30), paper_terms(3)
    estimate = estimate_memory(30, len(terms), n_test=9)
    need = estimate.packed + estimate.test_blocks
    assert estimate.test_blocks < CHUNK_BYTES
    build_bank(X, terms, storage="dense", memory_limit=need, n_test=9)
    with pytest.raises(MemoryLimitError):
        build_bank(X, terms, storage="dense", memory_limit=need - 1, n_test=9)
    # A long test set is predicted in pieces, so it does not forbid a bank.
    build_bank(X, terms, storage="dense", memory_limit=need + CHUNK_BYTES, n_test=10**7)


def test_auto_takes_what_fits():
    X = np.round(normal_rows(200, 2), 1)
    terms = paper_terms(2)
    factored = build_bank(X, terms, storage="factored")
    assert factored.nbytes < estimate_memory(200, len(terms)).packed
    bank = build_bank(X, terms, memory_limit=int(1.5 * factored.nbytes))
    assert bank.storage == "factored"


def test_factors_that_outgrow_the_limit_are_refused():
    X, terms = np.round(normal_rows(200, 2), 1), paper_terms(2)
    need = build_bank(X, terms, storage="factored").nbytes
    with pytest.raises(MemoryLimitError, match="factored"):
        build_bank(X, terms, storage="factored", memory_limit=need // 2)
