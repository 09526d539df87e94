"""One widget for one choice: nothing is echoed to what a person moves."""

import pytest

from mkldash.apps.choice import Choice, solver_options
from mkldash.apps.fields import Field
from mkldash.apps.offers import choices_of
from mkldash.apps.ui import TextField
from mkldash.solvers import available_solvers


def eta():
    return next(c for c in choices_of("elastic-net") if c.name == "eta")


def test_what_is_moved_is_told_and_not_written_to():
    told = []

    def tell(value):
        told.append(value)
        field.show(value)

    field = Field(eta(), 0.5, tell)
    slider = field.widgets[0]
    slider.value = 0.57 + 1e-16 + 1e-9
    assert told == [0.57]
    assert slider.value == pytest.approx(0.57 + 1e-9, abs=1e-12)  # as the person left it
    field.show(0.2)
    assert told == [0.57]
    assert slider.value == 0.2


def test_what_is_typed_wrongly_is_said_and_not_told():
    told = []
    seed = Choice(name="seed", kind="whole", default=0, label="Seed", bounds=(0, 9))
    field = Field(seed, 0, told.append)
    text = field.widgets[0]
    assert isinstance(text, TextField)
    text.value = "12"
    assert text.error_state
    assert "between 0 and 9" in text.label
    text.value = "3"
    assert not text.error_state
    assert told == [3]


@pytest.mark.parametrize("solver", sorted(available_solvers()))
def test_every_hyper_parameter_has_a_field_that_shows_its_default(solver):
    for option in solver_options(solver):
        assert Field(option, option.default, print).widgets
