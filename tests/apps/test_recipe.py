"""What the page says reproduces a run does: the command and the Python give its choices."""

import dataclasses
import shlex

import pytest

from mkldash.apps.recipe import command, python
from mkldash.apps.state import AppState
from mkldash.cli.arguments import parse
from mkldash.cli.solving import choices_from
from mkldash.experiments.choices import Choices

STATES = {
    "products": AppState.default("products").change(
        data="diabetes", degree=2, p=4 / 3, penalty=0.03, growth=1.0, seed=5, standardize=False
    ).change(**{"o.step": 3.0, "o.sampling": "uniform", "o.certify_every": 25}),
    "defaults": AppState.default("products"),
    "elastic-net": AppState.default().change(eta=0.25, C=10.0, bank="gaussian", tol=1e-4),
    "weight norm": AppState.default().change(solver="lp-norm", weight_norm=3.25, C=1.0),
    "option": AppState.default().change(**{"o.weight_tol": 1e-6, "o.inner_tol": 1e-9}),
    "neighborhood": AppState.default("neighborhood").change(rho=float("inf"), sigma_factor=2.0),
}  # fmt: skip


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_the_command_line_reads_the_same_choices(state):
    wanted = state.choices()
    words = shlex.split(command(wanted))
    assert words[0] == "mkldash"
    found = choices_from(parse(words[1:]))
    assert sorted(found.solver_options) == sorted(wanted.solver_options)
    assert dataclasses.replace(found, solver_options=wanted.solver_options) == wanted


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_the_python_has_the_same_choices(state):
    wanted = state.choices()
    inner = python(wanted).split("prepare(", 1)[1].split("\nresult", 1)[0].rstrip()[:-1]
    assert eval(inner, {"Choices": Choices}) == wanted


def test_the_python_runs_as_it_is(capsys):
    state = AppState.default("products").change(degree=2, max_iter=20)
    exec(compile(python(state.choices()), "recipe", "exec"), {})
    said = capsys.readouterr().out
    assert "x2 · x5" in said


def test_every_option_of_mirror_descent_can_be_said():
    state = AppState.default("products").change(**{"o.search_nodes": 77})
    assert command(state.choices()).endswith("--search-nodes 77")


def test_any_other_hyper_parameter_is_an_option():
    state = AppState.default("neighborhood").change(solver="level").change(**{"o.tau": 0.7})
    assert command(state.choices()).endswith("--option tau=0.7")


def test_own_columns_are_quoted_and_text_columns_are_told():
    table = ("my data.csv", b"size,town name,price\n1,a,2\n2,b,3\n")
    state = AppState.default("products").with_table(*table)
    assert "'my data.csv'" in command(state.change(label="price").choices())
    hot = command(state.change(text="one_hot").choices())
    assert "--one-hot 'town name'" in hot
    assert "text columns left out" in command(state.change(text="exclude").choices())
