"""The banks that are kept: by content, up to a number of bytes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mkldash.experiments.bank_cache import BankCache, content_key
from mkldash.kernels.banks import make_terms


def bank(nbytes: int) -> SimpleNamespace:
    return SimpleNamespace(nbytes=nbytes)


def test_the_oldest_goes_first() -> None:
    cache = BankCache(100)
    for key in "abc":
        cache.get(key, lambda: bank(40))
    built: list[str] = []

    def build(key: str) -> SimpleNamespace:
        built.append(key)
        return bank(40)

    cache.get("c", lambda: build("c"))
    cache.get("b", lambda: build("b"))
    assert built == []
    cache.get("a", lambda: build("a"))
    assert built == ["a"]
    cache.get("b", lambda: build("b"))
    assert built == ["a"]
    cache.get("c", lambda: build("c"))
    assert built == ["a", "c"]
    assert cache.nbytes == 80


def test_a_bank_that_is_too_large_is_handed_out_and_drives_no_other_out() -> None:
    cache = BankCache(100)
    small = cache.get("small", lambda: bank(60))
    large = cache.get("large", lambda: bank(101))
    assert large.nbytes == 101
    assert len(cache) == 1
    assert cache.get("small", lambda: bank(1)) is small


def test_the_key_is_the_content() -> None:
    X = np.arange(6.0).reshape(3, 2)
    terms = make_terms("linear", ["a", "b"])
    key = content_key(X, terms, "auto")
    assert content_key(X.copy(order="F"), terms, "auto") == key
    assert content_key(X.reshape(2, 3), terms, "auto") != key
    assert content_key(X, make_terms("linear", ["a", "c"]), "auto") != key
    assert content_key(X, terms, "dense") != key
    X[0, 0] = np.nextafter(0, 1)
    assert content_key(X, terms, "auto") != key


def test_an_error_while_building_leaves_nothing() -> None:
    cache = BankCache(100)

    def broken() -> SimpleNamespace:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.get("a", broken)
    assert len(cache) == 0
