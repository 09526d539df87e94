"""The controls of a problem: what is there to choose, and what a choice tells."""

import math
from dataclasses import dataclass
from typing import ClassVar

import pytest

from mkldash.apps import choice as choice_module
from mkldash.apps.sidebar import Sidebar
from mkldash.apps.state import AppState
from mkldash.solvers import available_solvers
from mkldash.solvers.base import option
from mkldash.solvers.shifted_svm import ShiftedSVM


class Person:
    """Chooses, and is told what the app makes of it."""

    def __init__(self, state):
        self.state, self.told = state, []
        self.sidebar = Sidebar(state, self.choose, lambda *_: None, lambda: None)

    def choose(self, name, value):
        self.told.append((name, value))
        self.state = self.state.change(**{name: value})
        self.sidebar.settle(self.state)


@pytest.fixture
def person():
    return Person(AppState.default("neighborhood"))


def slider(person, name):
    return person.sidebar._sliders[name].slider


def field(person, name):
    return person.sidebar._sliders[name].field


def test_a_slider_over_decades_means_three_digits(person):
    slider(person, "rho").value = 0.5
    assert person.told == [("rho", 3.16)]
    assert slider(person, "rho").label == "ρ, price of leaving the kernel: 3.16"
    assert field(person, "rho").value == "3.16"
    assert slider(person, "rho").value == 0.5  # what a person moves is not written to


@pytest.mark.parametrize("text", ["inf", "∞"])
def test_an_infinite_rho_can_be_typed(person, text):
    field(person, "rho").value = text
    assert person.told == [("rho", math.inf)]
    assert slider(person, "rho").label == "ρ = ∞: the plain support vector machine"
    assert slider(person, "rho").value == 6.0
    assert slider(person, "rho").value_label == "infinite"  # said instead of where it stands
    field(person, "rho").value = "100"
    assert slider(person, "rho").value_label is None


def test_what_is_no_rho_is_said_at_the_field(person):
    field(person, "rho").value = "-3"
    assert person.told == []
    assert field(person, "rho").error_state
    assert "must lie between" in field(person, "rho").label
    field(person, "rho").value = "2,5"
    assert person.told == [("rho", 2.5)]
    assert not field(person, "rho").error_state
    assert field(person, "rho").label == "ρ, typed exactly (inf: plain SVM)"


def test_kernels_decide_what_there_is_to_choose(person):
    bar = person.sidebar
    assert slider(person, "sigma_factor").visible
    assert not bar._widgets["eta"].visible
    assert "shifted-svm" in bar._widgets["solver"].options.values()
    assert "o.first_tol" in bar._widgets
    bar._widgets["bank"].value = "golden"
    assert not slider(person, "sigma_factor").visible
    assert bar._widgets["eta"].visible
    assert "shifted-svm" not in bar._widgets["solver"].options.values()
    assert bar._widgets["solver"].value == person.state["solver"] == "block-coordinate"
    assert "o.inner_tol" in bar._widgets
    assert "o.first_tol" not in bar._widgets
    assert person.told == [("bank", "golden")]


def test_all_others_are_compared_with_on_few_rows_and_none_on_many(person):
    bar = person.sidebar
    others = [n for n in person.state.solvers() if n != "shifted-svm"]
    assert list(bar._rivals.options.values()) == bar._rivals.value == others
    person.choose("data", "spambase")
    assert bar._rivals.value == []
    assert person.state["compare"] is None


def test_the_chosen_solver_stays_among_those_to_compare(person):
    person.sidebar._rivals.value = []
    assert person.told == [("compare", ("shifted-svm",))]
    assert person.state.rivals(100) == ()
    person.choose("solver", "block-coordinate")
    assert person.sidebar._rivals.value == ["shifted-svm"]


def test_the_solver_decides_between_eta_and_the_weight_norm():
    person = Person(AppState.default())
    eta, norm = (person.sidebar._widgets[name] for name in ("eta", "weight_norm"))
    assert (eta.visible, norm.visible) == (True, False)
    person.choose("solver", "lp-norm")
    assert (eta.visible, norm.visible) == (False, True)
    norm.value = 3.5
    assert person.told[-1] == ("weight_norm", 3.5)
    person.choose("solver", "simplemkl")
    assert (eta.visible, eta.disabled, eta.value, norm.visible) == (True, True, 1.0, False)
    assert eta.label == "η, fixed by this solver"
    person.choose("solver", "block-coordinate")
    assert (eta.visible, eta.disabled, norm.visible) == (True, False, False)
    assert "smooth" in eta.label


def test_a_link_may_go_beyond_the_slider_of_the_weight_norm():
    bar = Person(AppState.default().change(solver="lp-norm", weight_norm=50.0)).sidebar
    assert bar._widgets["weight_norm"].end == bar._widgets["weight_norm"].value == 50.0


def test_the_elastic_net_has_no_such_choices():
    bar = Person(AppState.default()).sidebar
    assert list(bar._sliders) == ["C"]
    assert bar._widgets["eta"].visible
    assert not hasattr(bar, "_rivals")


def test_an_option_that_asks_for_a_slider_gets_one_among_the_problem(monkeypatch):
    @dataclass(frozen=True)
    class Tuned(ShiftedSVM):
        tau: float = option(0.5, "τ", "Where to aim", bounds=(0.0, 1.0), step=0.05, slider=True)
        name: ClassVar[str] = "shifted-svm"

    kinds = {**available_solvers(), "shifted-svm": Tuned}
    monkeypatch.setattr(choice_module, "available_solvers", lambda: kinds)
    person = Person(AppState.default("neighborhood"))
    (tau,) = person.sidebar._prominent
    assert (tau.label, tau.start, tau.end, tau.step, tau.value) == ("τ", 0.0, 1.0, 0.05, 0.5)
    tau.value = 0.75
    assert person.told == [("o.tau", 0.75)]
    assert "o.tau=0.75" in person.state.to_query()
