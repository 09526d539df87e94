"""What a choice will cost, said beforehand: it agrees with what is refused."""

import html

import pytest

from mkldash.apps.estimates import memory_note
from mkldash.apps.state import AppState
from mkldash.errors import MemoryLimitError
from mkldash.experiments.workload import prepare
from mkldash.kernels.banks import BANKS


def test_one_kernel_that_is_refused_is_said_to_be_too_much_with_the_same_number():
    state = AppState.default("neighborhood").change(data="adult")
    note = memory_note(state)
    assert "Too much: take fewer rows." in note
    with pytest.raises(MemoryLimitError) as refused:
        prepare(state.choices())
    number = note.split("Memory: ")[1].split(",")[0]
    assert number in str(refused.value)


def test_one_kernel_that_fits_is_not():
    state = AppState.default("neighborhood").change(data="adult", train_fraction=0.1)
    note = html.unescape(memory_note(state))
    assert "Too much" not in note
    assert "exp(-‖x-x'‖²/σ) on all features, σ = factor × mean ‖x-x'‖² of" in note


@pytest.mark.parametrize("bank", BANKS)
def test_no_letters_stand_for_signs(bank):
    note = memory_note(AppState.default("neighborhood").change(bank=bank))
    assert not any(letters in note for letters in ("d2", "sigma", "^"))
