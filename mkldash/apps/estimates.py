"""What a choice of data and kernels will cost, counted before anything is built."""

from __future__ import annotations

import functools
import html

from mkldash.apps.state import AppState
from mkldash.datasets.base import DataCard
from mkldash.datasets.cards import available
from mkldash.datasets.tables import preview
from mkldash.errors import InputError
from mkldash.experiments.choices import DEFAULT_MEMORY_LIMIT
from mkldash.kernels.banks import BANKS, SINGLE, make_terms
from mkldash.kernels.building import estimate_memory
from mkldash.kernels.prediction import CHUNK_BYTES
from mkldash.kernels.products import family_size
from mkldash.solvers.mirror_descent import will_not_converge
from mkldash.views._names import count

__all__ = ["data_note", "memory_note", "size", "train_rows"]


@functools.cache
def _cards() -> dict[str, DataCard]:
    return dict(available())


def size(n_bytes: float) -> str:
    """Bytes in words: 2.2 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} TB"


def _shape(state: AppState) -> tuple[int, int] | None:
    """Rows and features of the chosen data; None when the table cannot be read."""
    if state.table is None:
        card = _cards().get(state["data"])
        return None if card is None else (card.rows, card.columns)
    try:
        found = preview(state.table[1])
    except InputError:
        return None
    features = sum(kind == "number" for kind in found.types)
    label = state["label"] or found.label_guess
    kinds = dict(zip(found.columns, found.types, strict=True))
    return found.n_rows, max(1, features - (kinds.get(label) == "number"))


def train_rows(state: AppState) -> int:
    """Training rows of these choices, as far as can be told; 0 when nothing can."""
    shape = _shape(state)
    return 0 if shape is None else _train(shape[0], state)


def _train(rows: int, state: AppState) -> int:
    return max(1, round(rows * float(state["train_fraction"])))


def data_note(state: AppState) -> str:
    """What a row and the target mean, and what to be careful with, as HTML."""
    shape = _shape(state)
    if shape is None:
        return ""
    rows, columns = shape
    head = f"{rows:,} rows, {columns} features."
    card = None if state.table is not None else _cards().get(state["data"])
    if card is None:
        return f"{head} Your table; only this page sees it."
    details = "".join(
        f"<p style='margin:4px 0'>{html.escape(part)}</p>"
        for part in (card.row, card.meaning, *card.warnings, f"Source: {card.source}.")
    )
    return (
        f"{head} <details style='display:inline'><summary style='cursor:pointer;"
        f"display:inline;text-decoration:underline dotted'>What is it?</summary>{details}</details>"
    )


#: What the command line writes in letters.
_SIGNS = (
    ("x'x'", "x·x'"),
    ("sigma = factor x mean d2", "σ = factor × mean ‖x-x'‖²"),
    ("sigma", "σ"),
    (" d2", " ‖x-x'‖²"),
    ("-d2", "-‖x-x'‖²"),
    ("2^-3 .. 2^6", "2⁻³ … 2⁶"),
    (")^2", ")²"),
    (")^d", ")ᵈ"),
)


def _in_signs(formula: str) -> str:
    for letters, sign in _SIGNS:
        formula = formula.replace(letters, sign)
    return formula


def _family_note(state: AppState, train: int, features: int) -> str:
    """How many products there are, what they take, and whether a run will converge."""
    degree, p = int(state["degree"]), float(state["p"])
    found = family_size(train, features, degree, merged=p == 1.0)
    kinds = (
        f"{count(found.n_keys)} kernels, as all orders of a product are one"
        if found.n_keys != found.n_words
        else "each order of a product is a kernel of its own"
    )
    text = (
        f"Products of up to {degree} of {features} features: {count(found.n_words)} words, "
        f"{kinds}; none is listed. Memory: {size(found.nbytes)}; the limit is "
        f"{size(DEFAULT_MEMORY_LIMIT)}."
    )
    if found.nbytes > DEFAULT_MEMORY_LIMIT:
        text += " <b>Too much: take fewer rows or a smaller D.</b>"
    if will_not_converge(p, found.n_keys):
        text += (
            " <b>p is above 4/3 and there are more than 1,000 kernels: the bound on the error "
            "grows with their number, so convergence is not to be expected.</b>"
        )
    return text


def memory_note(state: AppState) -> str:
    """Number of kernels, and the memory that they take, as HTML."""
    shape = _shape(state)
    if shape is None:
        return ""
    rows, columns = shape
    if state.kind.has_family:
        return _family_note(state, _train(rows, state), columns)
    # How wide a kernel is changes nothing of what it takes.
    terms = make_terms(state["bank"], [f"x{i}" for i in range(columns)], 1.0)
    kernels, train = len(terms), _train(rows, state)
    need = estimate_memory(train, kernels, rows - train)
    tests = min(need.test_blocks, CHUNK_BYTES)
    if state["bank"] == SINGLE:
        needed = need.square + need.packed + tests
        stored = f"{size(needed)}, for a full matrix and half of it again while it is built"
        counted = f"one kernel on {train:,} training rows"
    else:
        needed = min(need.packed, need.factored_ceiling) + tests
        stored = f"{size(need.square)} as full matrices, {size(need.packed)} packed"
        counted = f"{kernels:,} kernels on {train:,} training rows"
    refused = needed > DEFAULT_MEMORY_LIMIT
    text = (
        f"{html.escape(_in_signs(BANKS[state['bank']]))}: {counted}. "
        f"Memory: {stored}; the limit is {size(DEFAULT_MEMORY_LIMIT)}."
    )
    if refused:
        way = "Too much" if state["bank"] == SINGLE else "May be refused"
        bank = "" if state["bank"] in (SINGLE, "linear") else " or a smaller bank"
        text += f" <b>{way}: take fewer rows{bank}.</b>"
    return text
