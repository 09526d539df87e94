"""Every choice once: URL round trip, bad links, reset, solver options."""

import math
from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkldash.apps import choice as choice_module
from mkldash.apps.choice import Choice, solver_options
from mkldash.apps.offers import SIMPLEX, choices_of, solver_titles, weights_by
from mkldash.apps.state import TABLE, AppState
from mkldash.experiments.problem_kinds import PROBLEMS
from mkldash.solvers.base import option
from mkldash.solvers.block_coordinate import BlockCoordinateDescent


def values_of(choice: Choice):
    if choice.kind == "names":
        found = st.lists(st.sampled_from(sorted(choice.names())), unique=True).map(tuple)
    elif choice.names is not None:
        found = st.sampled_from(sorted(choice.names()))
    elif choice.kind == "number":
        low, high = choice.bounds or (1e-12, 0.1)
        found = st.floats(low, high, allow_nan=False)
        found = found | st.just(math.inf) if choice.infinite else found
    elif choice.kind == "whole":
        low, high = choice.bounds or (0, 1000)
        found = st.integers(int(low), int(high))
    elif choice.kind == "flag":
        found = st.booleans()
    else:
        found = st.text(min_size=1, max_size=5)
    return st.none() | found if choice.optional else found


@st.composite
def chosen(draw, problem):
    """Values of every choice, the options being those of the drawn solver."""
    choices = {choice.name: choice for choice in choices_of(problem)}
    bank = draw(values_of(choices["bank"]))
    solver = draw(st.sampled_from(sorted(solver_titles(problem, bank))))
    rest = {
        name: values_of(choice)
        for name, choice in (*choices.items(), *((o.name, o) for o in solver_options(solver)))
        if name not in ("bank", "solver")
    }
    values = {"bank": bank, "solver": solver, **draw(st.fixed_dictionaries(rest))}
    return values | ({"eta": 1.0} if weights_by(problem, bank, solver) == SIMPLEX else {})


#: Those with kernels to choose.
WITH_BANKS = sorted(name for name, kind in PROBLEMS.items() if kind.takes("bank"))


@settings(deadline=None)  # no unit test is timed
@given(st.sampled_from(WITH_BANKS).flatmap(lambda p: st.tuples(st.just(p), chosen(p))))
def test_the_url_holds_every_choice_and_restores_it(drawn):
    problem, values = drawn
    state = AppState.default(problem).change(**values)
    again, notes = AppState.from_query("?" + state.to_query(), problem)
    assert notes == ()
    assert dict(again.values) == dict(state.values)
    assert again == state


def test_the_solver_decides_which_parameter_chooses_the_weights():
    state = AppState.default().change(eta=0.3)
    assert (state.choices().eta, state.choices().weight_norm) == (0.3, None)
    normed = state.change(solver="lp-norm", weight_norm=3.0)
    assert (normed.choices().eta, normed.choices().weight_norm) == (None, 3.0)
    assert "weight norm 3" in normed.summary()
    assert "weight_norm=3" in normed.to_query()
    assert "η" not in normed.summary()
    back = normed.change(solver="block-coordinate")
    assert back.choices().eta == 0.3
    assert "weight_norm" not in state.to_query()


def test_simplemkl_pins_eta():
    state = AppState.default().change(eta=0.3).change(solver="simplemkl")
    assert state["eta"] == state.choices().eta == 1.0
    with pytest.raises(ValueError, match="SimpleMKL needs η = 1"):
        state.change(eta=0.5)
    linked, notes = AppState.from_query("?solver=simplemkl&eta=0.5")
    assert linked["solver"] == "simplemkl"
    assert notes == ("SimpleMKL needs η = 1; using 1 instead.",)


def test_only_the_elastic_net_app_has_a_weight_norm():
    assert "lp-norm" not in AppState.default("neighborhood").solvers()
    state = AppState.default("neighborhood").change(bank="paper")
    assert not {"lp-norm", "simplemkl"} & set(state.solvers())
    assert "weight_norm" not in state.values


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


def test_a_link_that_compares_with_nothing_known_says_what_is_compared():
    state, notes = AppState.from_query("compare=foo", "neighborhood")
    assert state["compare"] is None
    assert notes == (
        "Compare with: there is no 'foo'; using all solvers (none on more than 1,000 training "
        "rows) instead.",
    )


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


# -- the neighborhood problem --------------------------------------------------


def test_the_defaults_are_those_of_the_problem():
    state = AppState.default("neighborhood")
    found = {name: state[name] for name in ("bank", "solver", "C", "rho", "sigma_factor")}
    assert found == {
        "bank": "single", "solver": "shifted-svm", "C": 1.0, "rho": 100.0, "sigma_factor": 4.0,
    }  # fmt: skip
    choices = state.choices()
    assert (choices.problem, choices.bank, choices.rho) == ("neighborhood", "single", 100.0)
    assert "rho" not in AppState.default().values
    assert AppState.default().choices().problem == "elastic-net"


@pytest.mark.parametrize("text", ["inf", "∞", "Infinity"])
def test_rho_may_be_infinite_and_c_may_not(text):
    state, notes = AppState.from_query(f"rho={text}", "neighborhood")
    assert notes == ()
    assert state.choices().rho == math.inf
    assert "rho=inf" in state.to_query()
    assert "ρ = ∞" in state.summary()
    _, notes = AppState.from_query("C=inf", "neighborhood")
    assert len(notes) == 1


@pytest.mark.parametrize("text", ["0", "-1", "nan", "-inf"])
def test_a_rho_that_is_no_price_is_refused(text):
    state, notes = AppState.from_query(f"rho={text}", "neighborhood")
    assert len(notes) == 1
    assert state["rho"] == 100.0


def test_kernels_that_the_solver_does_not_take_move_it_to_one_that_does():
    state = AppState.default("neighborhood").change(**{"o.first_tol": 0.5})
    several = state.change(bank="paper")
    assert several["solver"] == "block-coordinate"
    assert "o.first_tol" not in several.values
    assert several["o.inner_tol"] is None
    assert next(iter(several.solvers())) == "block-coordinate"
    assert "shifted-svm" not in several.solvers()
    # One that a person chose stays.
    chosen = several.change(solver="block-coordinate")
    assert chosen.change(bank="single")["solver"] == "block-coordinate"
    assert next(iter(state.solvers())) == "shifted-svm"


def test_one_kernel_again_brings_the_default_solver_back_if_no_person_chose():
    state = AppState.default("neighborhood")
    own = state["solver"]
    several = state.change(bank="paper")
    assert several["solver"] != own
    assert several.change(bank="gaussian").change(C=2.0).change(bank="single")["solver"] == own
    chosen = several.change(solver=several["solver"])
    assert chosen.change(bank="single")["solver"] == several["solver"]


def test_the_header_of_the_numbers_names_share_tolerance_and_limit():
    said = AppState.default("neighborhood").in_full()
    assert said.endswith("share that trains 0.6, tolerance 1e-06, iteration limit 500")


def test_a_link_to_a_solver_that_does_not_take_the_kernels_is_said():
    state, notes = AppState.from_query("bank=paper&solver=shifted-svm", "neighborhood")
    assert notes == ("Shifted SVM does not take several kernels; using block-coordinate instead.",)
    assert state["solver"] == "block-coordinate"


def test_the_elastic_net_offers_no_single_kernel_and_no_solver_for_one():
    state = AppState.default()
    assert "single" not in state.choice("bank").names()
    assert "shifted-svm" not in state.choice("solver").names()


def test_the_solvers_beside_it_are_part_of_the_link_and_start_no_run():
    state = AppState.default("neighborhood")
    assert state["compare"] is None
    assert "compare" not in state.to_query()
    none = state.change(compare=())
    assert "compare=none" in none.to_query()
    assert AppState.from_query(none.to_query(), "neighborhood")[0]["compare"] == ()
    one = state.change(compare=("block-coordinate",))
    assert "compare=block-coordinate" in one.to_query()
    assert one.same_run(state)
    _, notes = AppState.from_query("compare=magic", "neighborhood")
    assert "there is no 'magic'" in notes[0]


def test_a_run_is_named_by_what_makes_it():
    state = AppState.default("neighborhood").change(rho=0.5, C=2.0)
    assert state.summary() == (
        "two-moons, one Gaussian, ρ = 0.5, σ factor 4, C = 2, Shifted SVM, seed 0"
    )
    several = state.change(bank="paper").summary()
    assert several == "two-moons, paper, ρ = 0.5, η = 0.5, C = 2, Block-coordinate descent, seed 0"
    assert AppState.default().summary() == "two-moons, paper, η = 0.5, C = 100, seed 0"
    assert state.difference(state.change(rho=3.0, sigma_factor=1.0, solver="block-coordinate")) == (
        "first tolerance 0.1", "tolerance factor 0.1",
    )  # fmt: skip


def test_the_share_of_rows_that_trains_comes_and_goes_with_a_card_that_says_one():
    state = AppState.default("neighborhood")
    three = state.change(data="three-points")
    assert three["train_fraction"] == 1.0
    assert three.change(data="liver")["train_fraction"] == 0.6
    assert three.change(train_fraction=0.7).change(data="liver")["train_fraction"] == 0.7
    linked, notes = AppState.from_query("train_fraction=0.5&data=three-points", "neighborhood")
    assert notes == ()
    assert linked["train_fraction"] == 0.5
