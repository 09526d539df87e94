"""Words over base kernels, and the keys that they are stored under."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import chain, groupby

import numpy as np
from numpy.typing import NDArray

from mkldash.errors import InputError

Words = NDArray[np.int64]

__all__ = [
    "OFFSET",
    "SUPERSCRIPTS",
    "Words",
    "as_words",
    "block_orderings",
    "label_of",
    "n_orderings",
    "n_products",
    "n_words",
    "sorted_extensions",
    "word_blocks",
]

#: What the empty product is called, and the digits of powers.
OFFSET, SUPERSCRIPTS = "offset", "⁰¹²³⁴⁵⁶⁷⁸⁹"

_RAISED = str.maketrans("0123456789", SUPERSCRIPTS)


def n_words(n_base: int, degree: int) -> int:
    """Words of at most `degree` letters, the empty one included."""
    return sum(n_base**length for length in range(degree + 1))


def n_products(n_base: int, length: int) -> int:
    """Products of exactly `length` factors, orderings not told apart."""
    return math.comb(n_base + length - 1, length)


def n_orderings(word: Sequence[int]) -> int:
    """Distinct orderings of a word, a multinomial coefficient."""
    found = math.factorial(len(word))
    for count in Counter(word).values():
        found //= math.factorial(count)
    return found


def block_orderings(words: Words) -> NDArray[np.float64]:
    """`n_orderings` of every sorted word of a block (m, d), shape (m,)."""
    m, length = words.shape
    repeats, run = np.ones(m), np.ones(m)
    for position in range(1, length):
        run = np.where(words[:, position] == words[:, position - 1], run + 1.0, 1.0)
        repeats *= run
    found: NDArray[np.float64] = math.factorial(length) / repeats
    return found


def label_of(word: Sequence[int], names: Sequence[str]) -> str:
    """Such as ``age² · sex``; ``offset`` for the empty product.

    Names that read like a product themselves are put in quotes.
    """
    parts = []
    for letter, run in groupby(word):
        power = len(list(run))
        parts.append(_quoted(names[letter]) + (str(power).translate(_RAISED) if power > 1 else ""))
    return " · ".join(parts) or OFFSET


def _quoted(name: str) -> str:
    ambiguous = name == OFFSET or "·" in name or any(sign in name for sign in SUPERSCRIPTS)
    return f"'{name}'" if ambiguous else name


def as_words(keys: Sequence[Hashable], n_base: int, degree: int) -> Words:
    """Keys as an array, shape (len(keys), max(degree, 1)), filled up with -1.

    Raises
    ------
    InputError
        If a key is not a tuple of at most `degree` positions of base kernels.
    """
    try:
        if len(keys) == 1 and _is_word(keys[0], n_base, degree):  # once in every step
            word: tuple[int, ...] = keys[0]  # type: ignore[assignment]
            return np.array([word + (-1,) * (max(degree, 1) - len(word))], dtype=np.int64)
        return _filled(keys, n_base, degree)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        # All at once is what is fast; which of them it was is asked afterwards.
        wrong = next((key for key in keys if not _is_word(key, n_base, degree)), None)
        raise InputError(
            f"key {wrong!r} names no product of the family: a key is a tuple of at most {degree} "
            f"positions from 0 to {n_base - 1}"
        ) from error


def _filled(keys: Sequence[tuple[int, ...]], n_base: int, degree: int) -> Words:
    lengths = np.fromiter(map(len, keys), dtype=np.int64, count=len(keys))
    letters = np.array(list(chain.from_iterable(keys)))
    if not all(isinstance(key, tuple) for key in keys):
        raise TypeError
    if letters.size and (letters.dtype.kind not in "iu" or letters.min() < 0):
        raise ValueError
    if letters.max(initial=0) >= n_base or lengths.max(initial=0) > degree:
        raise ValueError
    words = np.full((len(keys), max(degree, 1)), -1, dtype=np.int64)
    words[np.arange(words.shape[1]) < lengths[:, None]] = letters
    return words


def _is_word(key: Hashable, n_base: int, degree: int) -> bool:
    return (
        isinstance(key, tuple)
        and len(key) <= degree
        and all(isinstance(letter, int | np.integer) and 0 <= letter < n_base for letter in key)
    )


def sorted_extensions(words: Words, n_base: int) -> Words:
    """Every sorted word (m, d) with one more letter, not below its last, in order."""
    first = words[:, -1] if words.shape[1] else np.zeros(len(words), dtype=np.int64)
    counts = n_base - first
    rows = np.repeat(np.arange(len(words)), counts)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    letters = np.arange(len(rows)) - starts + first[rows]
    return _joined(words[rows], letters)


def word_blocks(n_base: int, length: int, merged: bool, most: int) -> Iterator[Words]:
    """All words of one length in lexicographic order, at most about `most` at a time.

    Parameters
    ----------
    n_base, length : int
    merged : bool
        Sorted words only.
    most : int
        Words in a block; one letter's extensions stay together.
    """
    empty = np.empty((1, 0), dtype=np.int64)
    if length == 0:
        yield empty
        return
    step = max(1, most // n_base)
    for prefixes in word_blocks(n_base, length - 1, merged, most):
        for low in range(0, len(prefixes), step):
            part = prefixes[low : low + step]
            if merged:
                yield sorted_extensions(part, n_base)
            else:
                letters = np.tile(np.arange(n_base), len(part))
                yield _joined(np.repeat(part, n_base, axis=0), letters)


def _joined(words: Words, letters: NDArray[np.intp]) -> Words:
    # In C order and int64 always: compiled loops take nothing else.
    out = np.empty((len(words), words.shape[1] + 1), dtype=np.int64)
    out[:, :-1] = words
    out[:, -1] = letters
    return out
