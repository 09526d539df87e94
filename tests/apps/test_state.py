"""Every choice once: URL round trip, bad links, reset, solver options."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkldash.apps import choice as choice_module
from mkldash.apps.choice import Choice, solver_options
from mkldash.apps.state import CHOICES, TABLE, AppState
from mkldash.solvers.base import option
from mkldash.solvers.block_coordinate import BlockCoordinateDescent


def values_of(choice: Choice):
    if choice.names is not None:
        found = st.sampled_from(sorted(choice.names()))
    elif choice.kind == "number":
        low, high = choice.bounds or (1e-12, 0.1)
        found = st.floats(low, high, allow_nan=False)
    elif choice.kind == "whole":
        low, high = choice.bounds or (0, 1000)
        found = st.integers(int(low), int(high))
    elif choice.kind == "flag":
        found = st.booleans()
    else:
        found = st.text(min_size=1, max_size=5)
    return st.none() | found if choice.optional else found


OFFERED = {c.name: values_of(c) for c in (*CHOICES, *solver_options("block-coordinate"))}


@settings(deadline=None)  # no unit test is timed
@given(st.fixed_dictionaries(OFFERED))
def test_the_url_holds_every_choice_and_restores_it(values):
    state = AppState.default().change(**values)
    again, notes = AppState.from_query("?" + state.to_query())
    assert notes == ()
    assert dict(again.values) == dict(state.values)


def test_the_seed_is_in_the_link_even_at_its_default():
    assert "seed=0" in AppState.default().to_query()


@pytest.mark.parametrize(
    ("query", "name", "words"),
    [
        ("eta=2", "eta", "must lie between 0 and 1, not 2; using 0.5 instead"),
        ("eta=much", "eta", "cannot be 'much'; using 0.5"),
        ("C=-1", "C", "must lie between"),
        ("C=inf", "C", "must be finite"),
        ("tol=nan", "tol", "must be finite"),
        ("seed=1.5", "seed", "cannot be '1.5'"),
        ("data=nowhere", "data", "no data set called 'nowhere'; showing 'two-moons'"),
        ("data=mine.csv", "data", "only its owner has: upload it again"),
        ("solver=magic", "solver", "there is no 'magic'"),
        ("bank=rome", "bank", "there is no 'rome'"),
        ("o.inner_tol=-3", "o.inner_tol", "must lie between"),
    ],
)
def test_a_value_that_cannot_be_used_is_said_and_replaced(query, name, words):
    state, notes = AppState.from_query(query)
    assert len(notes) == 1
    assert words in notes[0]
    assert state[name] == AppState.default()[name]


def test_an_unknown_name_is_said_and_the_rest_is_kept():
    state, notes = AppState.from_query("?theme=dark&colour=red&eta=0.25")
    assert notes == ("The link names 'colour', which does not exist here; ignored.",)
    assert state["eta"] == 0.25


def test_reset_keeps_the_data_and_nothing_else():
    state = AppState.default().change(data="sonar", eta=0.1, seed=7, bank="gaussian")
    fresh = state.reset()
    assert fresh["data"] == "sonar"
    assert dict(fresh.values) == {**AppState.default().values, "data": "sonar"}


def test_speed_does_not_make_another_run_and_anything_else_does():
    state = AppState.default()
    assert state.same_run(state.change(speed=50.0))
    assert not state.same_run(state.change(eta=0.4))
    assert not state.same_run(state.with_table("t.csv", b"x"))


def test_a_table_is_not_in_the_url_and_its_options_go_with_it():
    state = AppState.default().with_table("t.csv", b"a,b\n1,x\n")
    state = state.change(label="b", missing="drop")
    assert "a,b" not in state.to_query()
    back = state.without_table("sonar")
    assert back.table is None
    assert all(back[name] == AppState.default()[name] for name in TABLE)


def test_the_choices_are_those_of_the_command_line():
    state = AppState.default().change(eta=0.2, C=5.0, seed=3, train_fraction=1.0)
    choices = state.change(**{"o.inner_tol": 1e-8}).choices()
    assert (choices.eta, choices.C, choices.seed, choices.train_fraction) == (0.2, 5.0, 3, 1.0)
    assert choices.solver_options == (("inner_tol", 1e-8),)
    assert choices.content is None


def test_a_new_hyper_parameter_touches_no_app(monkeypatch):
    @dataclass(frozen=True)
    class Other(BlockCoordinateDescent):
        name: ClassVar[str] = "other"
        title: ClassVar[str] = "Another"
        restarts: int = option(3, "restarts", "How often", bounds=(1, 9))
        careful: bool = option(True, "careful", "Check twice")
        rule: str = option("first", "rule", "Which", choices=("first", "best"))

    kinds = {"block-coordinate": BlockCoordinateDescent, "other": Other}
    monkeypatch.setattr(choice_module, "available_solvers", lambda: kinds)
    found = {c.name: c for c in solver_options("other")}
    assert (found["o.restarts"].kind, found["o.restarts"].bounds) == ("whole", (1, 9))
    assert found["o.careful"].kind == "flag"
    assert set(found["o.rule"].names()) == {"first", "best"}
    assert found["o.inner_tol"].optional
