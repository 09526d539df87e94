"""What a sweep is made of, and what is refused before it runs."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest

from mkldash.errors import InputError
from mkldash.experiments.choices import Choices
from mkldash.experiments.sweep import Run, Sweep, _settings, check_sweep, parameters_of

BCD = "block-coordinate"


def test_the_same_choices_have_the_same_id_however_they_were_said() -> None:
    bare = Run(choices=Choices(data="sonar", solver=BCD))
    said = Run(choices=Choices(data="sonar", solver=BCD, eta=0.5, C=100, tol=1e-3))
    assert bare.id == said.id
    # Pinned: a folder of yesterday is gone on with tomorrow.
    assert bare.id == "ea7e1cec69a70b0a"


@pytest.mark.parametrize(
    "other",
    [
        Run(choices=Choices(data="sonar", solver=BCD), repeat=1),
        Run(choices=Choices(data="sonar", solver=BCD), label="warm"),
        Run(choices=Choices(data="sonar", solver=BCD, seed=1)),
        Run(choices=Choices(data="sonar", solver=BCD, eta=0.25)),
        Run(choices=Choices(data="sonar", solver=BCD, content=b"a,b\n1,2\n")),
    ],
    ids=["repeat", "label", "seed", "eta", "content"],
)
def test_another_run_has_another_id(other: Run) -> None:
    assert other.id != Run(choices=Choices(data="sonar", solver=BCD)).id


def test_a_grid_has_every_combination_once() -> None:
    sweep = Sweep.of_grid(
        ["golden", "t8", "golden"], [BCD], axes={"eta": [0.0, 0.5, 0.5], "C": [1, 10]},
        repeats=2, fixed={"seed": 3, "tol": 1e-4},
    )  # fmt: skip
    made = [(r.choices.data, r.choices.eta, r.choices.C, r.choices.seed, r.repeat)
            for r in sweep.runs]  # fmt: skip
    assert sorted(made) == sorted(
        (data, eta, C, 3 + repeat, repeat)
        for data in ("golden", "t8") for eta in (0.0, 0.5) for C in (1.0, 10.0)
        for repeat in (0, 1)
    )  # fmt: skip
    assert {run.choices.tol for run in sweep.runs} == {1e-4}
    assert sweep.settings["data"] == ["golden", "t8"]
    assert sweep.fixed["seed"] == 3


def test_no_solver_is_always_the_first_on_a_split() -> None:
    names = ("shifted-svm", "gradient", "accelerated")
    sweep = Sweep.of_grid(["two-moons"], names, repeats=3, fixed={"problem": "neighborhood"})
    firsts = [run.choices.solver for run in sweep.runs][::3]
    assert sorted(firsts) == sorted(names)


def test_without_names_all_solvers_of_the_problem_run() -> None:
    sweep = Sweep.of_grid(["two-moons"], fixed={"problem": "neighborhood"})
    solvers = {run.choices.solver for run in sweep.runs}
    assert solvers >= {"shifted-svm", "level", "gradient", "accelerated"}
    assert "mirror-descent" not in solvers


def test_an_option_goes_to_the_solvers_that_have_it() -> None:
    sweep = Sweep.of_grid(
        ["known-products"], ["mirror-descent", "full-gradient", "box-coordinate-descent"],
        options={"step": [0.5, 1.0], "step_rule": ["recent"]}, fixed={"problem": "products"},
    )  # fmt: skip
    runs = Counter((r.choices.solver, r.choices.solver_options) for r in sweep.runs)
    assert set(runs.values()) == {1}
    by_solver = Counter(solver for solver, _ in runs)
    assert by_solver == {"mirror-descent": 2, "full-gradient": 2, "box-coordinate-descent": 1}
    assert (("step", 0.5), ("step_rule", "recent")) in {options for _, options in runs}


def test_csv_options_are_for_the_files_among_the_data() -> None:
    sweep = Sweep.of_grid(["golden", "mine.csv"], [BCD], table={"label": "grade"})
    labels = {run.choices.data: run.choices.label for run in sweep.runs}
    assert labels == {"golden": None, "mine.csv": "grade"}


@pytest.mark.parametrize(
    ("grid", "complaint"),
    [
        ({"data": []}, "needs at least one data set"),
        ({"repeats": 0}, "repeats must be at least 1, not 0"),
        ({"axes": {"tol": [1]}}, "'tol' cannot be varied"),
        ({"axes": {"eta": []}}, "eta has no value"),
        ({"axes": {"rho": [1.0]}}, "rho has no meaning in the problem elastic-net"),
        ({"solvers": ["block-cordinate"]}, "did you mean block-coordinate"),
        ({"options": {"stepp": [1]}}, "none of block-coordinate has an option 'stepp'"),
    ],
)
def test_a_grid_that_nobody_can_run_is_refused(grid: dict, complaint: str) -> None:
    whole = {"data": ["golden"], "solvers": [BCD], **grid}
    with pytest.raises(InputError, match=complaint):
        Sweep.of_grid(whole.pop("data"), whole.pop("solvers"), **whole)


@pytest.mark.parametrize(
    ("choices", "complaint"),
    [
        ({"data": "sonnar"}, "no data set and no file is called 'sonnar' .did you mean sonar"),
        ({"data": "diabetes"}, "is a regression set"),
        ({"eta": 1.5}, "eta"),
        ({"C": -1.0}, "C"),
        ({"tol": 0.0}, "tol must be a positive number"),
        ({"bank": "papre"}, "no bank is called 'papre'"),
        ({"rows": "no-such-list"}, "no-such-list"),
    ],
)
def test_what_nobody_can_run_is_found_before_anything_runs(choices: dict, complaint: str) -> None:
    good = Run(choices=Choices(data="golden", solver=BCD))
    bad = Run(choices=Choices(**{"data": "golden", "solver": BCD, **choices}))
    with pytest.raises(InputError, match=complaint):
        check_sweep(Sweep(runs=(good, bad)))


def test_a_sweep_has_runs_and_none_twice() -> None:
    run = Run(choices=Choices(data="golden"))
    with pytest.raises(InputError, match="at least one run"):
        Sweep(runs=())
    with pytest.raises(InputError, match="twice"):
        Sweep(runs=(run, dataclasses.replace(run)))


def test_parameters_are_those_that_the_problem_has() -> None:
    assert parameters_of(Choices(data="golden")) == {"eta": 0.5, "C": 100.0}
    assert parameters_of(Choices(problem="neighborhood", rho=float("inf"))) == {
        "eta": 0.5, "C": 1.0, "rho": "inf", "sigma_factor": 4.0,
    }  # fmt: skip
    assert parameters_of(Choices(data="diabetes", problem="products")) == {
        "degree": 3, "p": 1.0, "penalty": 1.0, "growth": 4.0,
    }  # fmt: skip


def test_eta_and_the_norm_of_the_weights_stand_in_for_each_other() -> None:
    axes = {"C": [1.0, 10.0], "weight_norm": [2.0], "eta": [0.0, 1.0]}
    made = [tuple(settings.items()) for settings in _settings(axes)]
    places = [("eta", 0.0), ("eta", 1.0), ("weight_norm", 2.0)]
    assert made == [(place, ("C", C)) for place in places for C in (1.0, 10.0)]


def test_all_solvers_that_take_a_setting_are_in_the_grid_by_default():
    def names(**axes):
        return set(Sweep.of_grid(["golden"], axes=axes).settings["solvers"])

    assert "simplemkl" not in names(eta=[0.5])
    assert {"simplemkl", "second-order"} <= names(eta=[0.5, 1.0])
    assert "lp-norm" in names(weight_norm=[3.0])
    assert "second-order" not in names(weight_norm=[3.0])
    assert {"lp-norm", "second-order"} <= names(eta=[0.5], weight_norm=[3.0])
