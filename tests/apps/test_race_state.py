"""A race as a value: who may run, its address, its script."""

import dataclasses

import pytest

from mkldash.apps.racing import exports
from mkldash.apps.racing.state import LETTERS, RaceState, own_choices, reason_against
from mkldash.experiments.problem_kinds import solvers_for
from mkldash.solvers import available_solvers


def race():
    """Two lanes of two problems."""
    state = RaceState.default("two-moons").tune("neighborhood", "rho", 7.0)
    state = dataclasses.replace(state, lanes=()).add("elastic-net", "block-coordinate")
    return state.add("neighborhood", "level", options=(("tau", 0.3),))


def test_a_race_opens_with_every_solver_that_takes_the_problem():
    state = RaceState.default()
    assert state.first["data"] == "ionosphere"
    names = [lane.solver for lane in state.lanes]
    assert set(names) == set(solvers_for("elastic-net")[: len(LETTERS)])
    assert names[0] == "block-coordinate"
    assert {lane.problem for lane in RaceState.default("concrete").lanes} == {"products"}


def test_the_address_restores_everything():
    state = race().change("seed", 5).change("tol", 1e-4)
    state = state.add("neighborhood", "level", overrides=(("rho", 1.0),), parent="b", at=4)
    again, notes = RaceState.from_query(state.to_query())
    assert notes == ()
    assert again == state
    assert again.to_query() == state.to_query()
    assert again.lane("c").parent == "b"
    assert again.choices_of(again.lane("c")).rho == 1.0
    assert again.choices_of(again.lane("b")).solver_options == (("tau", 0.3),)


def test_parts_of_a_link_that_cannot_be_used_are_said():
    state, notes = RaceState.from_query(
        "data=nowhere&seed=-3&axis=luck&a=neighborhood~wizard&b=elastic-net~block-coordinate"
        "&c=elastic-net~block-coordinate~from:z4&speed=fast&what=1"
    )
    assert [lane.letter for lane in state.lanes] == ["b"]
    told = " ".join(notes)
    for word in ("nowhere", "Seed", "luck", "wizard", "Lane C", "fast", "what"):
        assert word in told


def test_who_cannot_run_has_a_reason_and_data_of_another_task_change_the_lanes():
    state = race()
    assert "squared loss" in reason_against(state.bases["elastic-net"], "full-gradient")
    assert reason_against(state.bases["neighborhood"], "level") is None
    several = state.tune("neighborhood", "bank", "golden")
    assert "several kernels" in reason_against(several.bases["neighborhood"], "level")
    with pytest.raises(ValueError, match="no data for the problem products"):
        state.add("products", "full-gradient")
    assert state.change("data", "concrete").problems == ("products",)
    assert state.change("data", "liver").lanes == state.lanes


def test_lanes_keep_their_letters_and_branches_go_with_their_parent():
    state = race().add("neighborhood", "level", parent="b", at=2)
    deeper = state.add("neighborhood", "level", parent="c", at=1)
    assert deeper.branches("b") == ("c", "d")
    assert [lane.letter for lane in deeper.remove("b").lanes] == ["a"]
    assert [lane.letter for lane in deeper.remove("c").lanes] == ["a", "b"]
    assert [lane.letter for lane in state.remove("a").lanes] == ["b", "c"]
    assert state.remove("a").free_letter() == "a"
    assert state.same_lane(state.change("tol", 1e-3), "c")
    assert not state.same_lane(state.change("seed", 9), "c")
    assert not state.same_lane(state.tune("neighborhood", "rho", 8.0), "b")
    assert state.same_lane(state.tune("neighborhood", "rho", 8.0), "a")


def test_the_script_gives_the_lanes_again(capsys):
    state = RaceState.default("golden").change("train_fraction", 1.0)
    state = dataclasses.replace(state.tune("elastic-net", "bank", "golden"), lanes=())
    state = state.add("elastic-net", "block-coordinate")
    state = state.add("elastic-net", "block-coordinate", parent="a", at=2)
    namespace = {}
    exec(exports.script(state), namespace)
    results = namespace["results"]
    assert list(results) == ["A", "B"]
    assert results["A"].iterations == results["B"].iterations
    assert results["A"].upper == results["B"].upper  # a resume is exact
    assert "A Block-coordinate descent converged" in capsys.readouterr().out
    assert exports.commands(state).startswith("mkldash solve golden --problem elastic-net")


def test_solvers_of_the_simplex_and_of_norms_join_where_they_solve_the_same_problem():
    base = RaceState.default().bases["elastic-net"]
    assert {"simplemkl", "lp-norm"} <= {
        name for name in available_solvers() if reason_against(base.change(eta=1.0), name) is None
    }
    assert "needs eta = 1" in reason_against(base, "simplemkl")
    assert "weight norm P" in reason_against(base, "lp-norm")
    assert "weight_norm" not in {choice.name for choice in own_choices("elastic-net")}
    state = RaceState.default().tune("elastic-net", "eta", 1.0).add("elastic-net", "lp-norm")
    choices = state.choices_of(state.lanes[-1])
    assert (choices.solver, choices.eta, choices.weight_norm) == ("lp-norm", 1.0, None)
