"""The app over products: choices, controls, facts, scores, words and what is measured beside."""

import dataclasses
import html
import itertools
import math
import time

import numpy as np
import pytest

from mkldash.apps import player as player_module
from mkldash.apps.estimates import memory_note, size
from mkldash.apps.facts import expected, possible, present
from mkldash.apps.gallery import Gallery, _subject
from mkldash.apps.jobs import MOST_COMPARED, build_job
from mkldash.apps.on_screen import on_screen
from mkldash.apps.player import Player
from mkldash.apps.saved import as_csv
from mkldash.apps.sidebar import Sidebar
from mkldash.apps.state import AppState
from mkldash.apps.words import report
from mkldash.datasets.cards import available
from mkldash.errors import MemoryLimitError
from mkldash.experiments.scores import regression_scores
from mkldash.experiments.workload import prepare
from mkldash.solvers.base import new_cancel_flag
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import StopRule
from mkldash.streaming import Building, State
from mkldash.views.base import Baseline

DEFAULT = AppState.default("products")


def wait(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def job_of(state):
    return build_job(state, Building(new_cancel_flag()), warm=False, say=lambda _: None)


@pytest.fixture
def make(monkeypatch):
    """Players of given choices, at full speed; ended at the end."""
    monkeypatch.setattr(player_module, "METHODS_QUIET", 0.05)
    made = []

    def player(**choices):
        found = Player(DEFAULT.change(speed=1000.0, **choices), lambda: None)
        made.append(found)
        found.start()
        return found

    yield player
    for one in made:
        one.companions.close()
        one._runner.close()


def ended(player):
    wait(lambda: player.current.state is State.FINISHED)
    return player


# -- choices -------------------------------------------------------------------


def test_it_offers_regression_sets_and_nothing_of_the_other_papers():
    names = DEFAULT.choice("data").names()
    assert set(names) == {n for n, card in available().items() if card.task == "regression"}
    assert not {"eta", "C", "bank", "rho", "sigma_factor", "positive"} & DEFAULT.values.keys()
    assert DEFAULT.summary() == (
        "known-products, D = 3, p = 1, penalty 1, growth 4, Randomized mirror descent, seed 0"
    )


def test_the_choices_are_those_of_the_command_line():
    state = DEFAULT.change(degree=5, p=1.5, penalty=0.1, growth=2.0, seed=3, standardize=False)
    choices = state.change(**{"o.step": 2.0}).choices()
    assert (choices.degree, choices.p, choices.penalty, choices.growth) == (5, 1.5, 0.1, 2.0)
    assert (choices.seed, choices.standardize) == (3, False)
    assert dict(choices.solver_options) == {"certify_every": 10, "step": 2.0}
    assert DEFAULT.choices().standardize is None


def test_a_page_certifies_more_often_than_the_library_and_has_one_seed():
    assert DEFAULT["o.certify_every"] == 10
    assert "o.seed" not in DEFAULT.values
    solver = prepare(DEFAULT.change(seed=4).choices()).solver
    assert (solver.certify_every, solver.seed) == (10, 4)
    fifty = DEFAULT.change(**{"o.certify_every": 50}).choices()
    assert fifty.solver_options == ()


@pytest.mark.parametrize(
    "changes",
    [{}, {"degree": 20, "p": 2.0, "growth": 1.0, "penalty": 1e-3, "standardize": False},
     {"data": "diabetes", "solver": "uniform-sampling", "o.step": 0.5}],
    ids=str,
)  # fmt: skip
def test_a_link_restores_every_choice(changes):
    state = DEFAULT.change(**changes)
    again, notes = AppState.from_query(state.to_query(), "products")
    assert notes == ()
    assert again == state
    assert dict(again.values) == dict(state.values)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("data=sonar", "There is no data set called 'sonar'; showing 'known-products'."),
        ("p=3", "must lie between 1 and 2"),
        ("growth=0.5", "must lie between 1 and"),
        ("degree=0", "must lie between 1 and 20"),
        ("C=1", "The link names 'C', which does not exist here"),
        ("p=1&solver=box-coordinate-descent", "does not take p = 1; using mirror-descent instead"),
    ],
)
def test_what_a_link_cannot_have_is_said(query, words):
    state, notes = AppState.from_query(query, "products")
    assert len(notes) == 1
    assert words in notes[0]
    assert state.same_run(DEFAULT)


def test_p_decides_which_solvers_there_are_and_moves_one_that_does_not_take_it():
    assert "box-coordinate-descent" not in DEFAULT.solvers()
    box = DEFAULT.change(p=2.0).change(solver="box-coordinate-descent")
    assert box.change(p=1.5)["solver"] == "mirror-descent"
    assert box.change(penalty=0.1)["solver"] == "box-coordinate-descent"


# -- controls ------------------------------------------------------------------


class Person:
    """Chooses, and is told what the app makes of it."""

    def __init__(self, state):
        self.state, self.told = state, []
        self.sidebar = Sidebar(state, self.choose, lambda *_: None, lambda: None)

    def choose(self, name, value):
        self.told.append((name, value))
        self.state = self.state.change(**{name: value})
        self.sidebar.settle(self.state)


def test_sliders_for_degree_p_penalty_growth_and_step():
    person = Person(DEFAULT)
    bar = person.sidebar
    assert set(bar._sliders) == {"penalty", "growth", "o.step"}
    bar._widgets["degree"].value = 5
    bar._widgets["p"].value = 4 / 3
    bar._sliders["penalty"].slider.value = -1.0
    bar._sliders["growth"].slider.value = 0.0
    bar._sliders["o.step"].slider.value = 0.5
    assert person.told == [
        ("degree", 5), ("p", 1.333333), ("penalty", 0.1), ("growth", 1.0), ("o.step", 3.16),
    ]  # fmt: skip
    assert bar._sliders["growth"].slider.label == "Growth 1: long products cost no more"
    assert "eta" not in bar._widgets
    assert "bank" not in bar._widgets


def test_controls_follow_the_state_and_tell_nobody():
    person = Person(DEFAULT)
    state = DEFAULT.change(degree=12, p=2.0, penalty=0.03, standardize=False)
    person.sidebar.show(state)
    values = {name: person.sidebar._widgets[name].value for name in ("degree", "p", "standardize")}
    assert values == {"degree": 12, "p": 2.0, "standardize": False}
    assert person.sidebar._sliders["penalty"].field.value == "0.03"
    assert person.told == []


def test_another_solver_has_other_settings_and_no_step_of_one_before():
    person = Person(DEFAULT.change(p=2.0))
    person.choose("solver", "box-coordinate-descent")
    assert "o.step" not in person.sidebar._sliders
    person.choose("penalty", 0.5)
    assert "o.step" not in person.state.values


def test_the_size_of_the_family_is_said_before_anything_is_built():
    note = html.unescape(memory_note(DEFAULT))
    assert "Products of up to 3 of 8 features: 585 words, 165 kernels" in note
    large = html.unescape(memory_note(DEFAULT.change(degree=20)))
    assert "1.3 · 10¹⁸ words" in large
    assert "convergence" not in large


@pytest.mark.parametrize(
    ("p", "degree", "said"),
    [(1.0, 8, False), (1.333333, 4, False), (1.5, 3, False), (1.5, 4, True)],
)
def test_above_four_thirds_on_a_large_family_no_convergence_is_promised(p, degree, said):
    state = DEFAULT.change(p=p, degree=degree)
    assert ("convergence is not to be expected" in memory_note(state)) is said


def test_a_family_beyond_the_memory_is_said_to_be_too_much():
    state = DEFAULT.change(data="cpu-act", degree=20, train_fraction=1.0)
    note = memory_note(state)
    assert "Too much: take fewer rows or a smaller D." in note
    with pytest.raises(MemoryLimitError) as refused:
        prepare(state.choices())
    needed = int(str(refused.value).split("needs ")[1].split(" bytes")[0].replace(",", ""))
    assert f"Memory: {size(needed)};" in note


# -- facts and pictures --------------------------------------------------------


def facts(**choices):
    job = job_of(DEFAULT.change(**choices))
    beside = type("Beside", (), {"job": job, "races": lambda self, session: False})()
    return present(beside, beside)


def test_a_run_over_products_has_no_facts_of_classes():
    found = facts()
    assert {"products", "baselines", "first_law", "pair_law", "moment_ideal", "test_mse"} <= found
    assert not found & {"train_accuracy", "decision_grid", "support_vectors", "several_kernels"}
    assert found == expected(DEFAULT) <= possible("products")


@pytest.mark.parametrize(
    ("changes", "gone"),
    [({"degree": 1}, {"pair_law"}), ({"train_fraction": 1.0}, {"baselines"}),
     ({"data": "ccpp"}, {"baselines"})],
    ids=str,
)  # fmt: skip
def test_what_is_not_there_is_not_offered(changes, gone):
    found = facts(**changes)
    assert not found & gone
    assert found == expected(DEFAULT.change(**changes))
    assert round(0.6 * available()["ccpp"].rows) > MOST_COMPARED


def test_the_page_shows_the_pictures_of_mirror_descent():
    shown = [p.view.name for p in Gallery(DEFAULT).visible]
    assert shown == [
        "objective-bounds", "gap", "learnt-products", "baseline-errors", "drawn-path",
        "degree-law", "first-law", "pair-law", "products-map", "test-error", "second-moment",
        "step-size",
    ]  # fmt: skip


# -- scores --------------------------------------------------------------------


def test_the_laws_are_those_that_the_draw_came_from():
    state = DEFAULT.change(degree=2)
    job = job_of(state)
    run = list(itertools.islice(job.solver.iterate(job.problem), 12))
    assert set(job.score(run[0])) == {"train_mse", "test_mse"}
    for before, here in itertools.pairwise(run):
        found = job.score(here)
        family = job.problem.family
        np.testing.assert_allclose(found["first_law"], family.first_law(before.alpha), rtol=1e-5)
        np.testing.assert_allclose(found["pair_law"], family.pair_law(before.alpha), rtol=1e-5)
        assert found["first_law"].sum() == pytest.approx(1.0, abs=1e-5)
        assert here.gradient == pytest.approx(here.total / (2 * here.orderings), rel=1e-12)
        assert 0 < found["moment_ideal"] < found["moment_uniform"]
        assert found["moment_draws"] == 0.0


def test_errors_are_those_of_the_best_point_in_units_of_the_target():
    job = job_of(DEFAULT.change(data="energy-heating"))
    result = solve(job.solver, job.problem, stop=StopRule(tol=1e-9, max_iter=60))
    found = job.score(result.last)
    wanted = regression_scores(job.extra.workload, result.best)
    assert (found["train_mse"], found["test_mse"]) == (wanted.train_mse, wanted.test_mse)
    y = job.extra.workload.source.dataset.y
    assert found["test_mse"] < y.var()


def test_without_test_rows_the_test_error_is_not_a_number():
    job = job_of(DEFAULT.change(train_fraction=1.0))
    found = job.score(next(iter(job.solver.iterate(job.problem))))
    assert math.isnan(found["test_mse"])
    assert found["train_mse"] > 0


def test_the_card_names_the_true_products_and_they_are_found():
    job = job_of(DEFAULT)
    products = job.extra.products
    names = [[products.features[i] for i in key] for key in products.true_products]
    assert names == [["x2", "x5"], ["x3"]]
    assert products.target == "y"
    assert (products.family.n_words, products.family.n_keys) == (585, 165)
    assert job_of(DEFAULT.change(degree=1)).extra.products.true_products == ((2,),)
    assert job_of(DEFAULT.change(data="diabetes")).extra.products.true_products == ()


# -- a run on the page ---------------------------------------------------------


def test_the_board_says_what_is_certified_and_which_product_is_heaviest(make):
    player = ended(make())
    found = report(player, player.shown())
    assert found.sentence.startswith("Certified: within ")
    assert "of the optimum (bound exact) after" in found.sentence
    assert found.sentence.endswith("of 165 products carry weight, most of all x2 · x5.")
    numbers = {label: value for label, value, _ in found.tiles}
    assert numbers["Relative gap"].endswith("%, exact")
    assert (numbers["Words |I|"], numbers["True products on top"]) == ("585", "2 of 2")
    assert "Train accuracy" not in numbers
    k = player.shown().k
    player.current.want(k)
    wait(lambda: player.current.trace.has_values(k))
    scored = {label: value for label, value, _ in report(player, player.shown()).tiles}
    assert float(scored["Test error"]) == pytest.approx(
        player.current.trace.values(k)["test_mse"], rel=1e-3
    )


def test_a_search_that_stopped_is_said_beside_the_gap():
    from mkldash.apps.words import _within

    job = job_of(DEFAULT)
    snapshot = next(itertools.islice(job.solver.iterate(job.problem), 11, None))
    stopped = dataclasses.replace(snapshot, certificate="search stopped at 200 nodes")
    assert _within(stopped).endswith("of the optimum (search stopped at 200 nodes)")


def test_no_convergence_is_promised_on_the_board_either(make):
    player = ended(make(p=2.0, degree=4, max_iter=5))
    text = report(player, player.shown()).more
    assert text.startswith("p = 2 is above 4/3 and there are 4,681 kernels: convergence is not")
    assert any("above 4/3" in sentence for _, sentence in player.current.trace.events(0))
    small = ended(make(p=2.0, degree=2, max_iter=5))
    assert "4/3" not in report(small, small.shown()).more


def test_laws_are_drawn_at_the_scored_row_and_baselines_when_they_change(make):
    player = ended(make(max_iter=30, tol=1e-9))
    session = player.current
    session.want(7)
    wait(lambda: session.trace.has_values(7))
    player.scrub(9)
    shown = player.shown()
    views = {p.view.name: p.view for p in Gallery(DEFAULT).pictures}
    assert _subject(shown, session, views["first-law"])[0] == 7
    assert _subject(shown, session, views["drawn-path"])[0] == 9
    more = (Baseline("one more"),)
    other = dataclasses.replace(shown, scene=dataclasses.replace(shown.scene, baselines=more))
    keys = [_subject(s, session, views["baseline-errors"])[1] for s in (shown, other)]
    assert keys[0] != keys[1]


def test_other_methods_are_measured_one_after_another_on_the_same_rows(make):
    player = ended(make(degree=2, max_iter=100))
    wait(lambda: player.shown().scene.baselines and not player.companions.busy)
    found = {one.title: one for one in player.shown().scene.baselines}
    assert list(found) == [
        "Kernel ridge, degree 1", "Kernel ridge, degree 2", "Learnt polynomial kernel",
        "Full gradient", "Uniform sampling",
    ]  # fmt: skip
    assert all(one.done and one.test_mse > 0 for one in found.values())
    assert "100 iterations" in found["Uniform sampling"].note
    assert math.isnan(found["Kernel ridge, degree 1"].objective)
    full = found["Full gradient"].objective
    assert full == pytest.approx(player.current.result.upper, rel=0.1)
    assert player.shown().scene.target == "y"


def test_another_choice_drops_the_methods_at_once(make):
    player = ended(make(degree=2, max_iter=50))
    wait(lambda: player.shown().scene.baselines)
    before = player.current
    player.change(penalty=0.5)
    wait(lambda: player.current.job is not None and len(player.current.trace) > 0)
    assert player.current is not before
    wait(lambda: player.shown().scene.baselines and not player.companions.busy)
    assert all(one.done for one in player.shown().scene.baselines)


def test_a_run_of_uniform_draws_is_compared_with_others_only(make):
    player = ended(make(degree=1, max_iter=20, **{"o.sampling": "uniform"}))
    wait(lambda: player.shown().scene.baselines and not player.companions.busy)
    titles = [one.title for one in player.shown().scene.baselines]
    assert "Uniform sampling" not in titles


def test_a_change_of_the_penalty_begins_afresh_and_the_run_before_is_its_ghost(make):
    player = ended(make(max_iter=30))
    player.change(penalty=0.5)
    wait(lambda: player.current.state is State.FINISHED)
    assert not player.is_warm(player.current)
    ghost = player.shown().scene
    assert ghost.ghost is not None
    assert "penalty 1, growth 4" in ghost.ghost_label


def test_the_numbers_of_a_run_are_saved_with_its_choices(make):
    player = ended(make(max_iter=5))
    shot = on_screen(player)[0]
    lines = as_csv([(shot.name, shot.solver, shot.told, shot.columns)]).splitlines()
    assert lines[1].startswith("# shown run: known-products, D = 3, p = 1, penalty 1, growth 4, ")
    assert "step" in lines[2].split(",")
    assert len(lines) == 3 + 6


def test_a_table_with_a_number_to_predict_is_solved_and_one_with_words_is_refused(make):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 3))
    text = "size,age,price\n" + "\n".join(f"{a},{b},{a * b}" for a, b, _ in rows)
    state = DEFAULT.with_table("homes.csv", text.encode()).change(degree=2)
    job = job_of(state)
    assert job.extra.products.features == ("size", "age")
    assert job.extra.products.target == "price"
    words = "a,b\n" + "\n".join(f"{i},{'yes' if i % 2 else 'no'}" for i in range(30))
    with pytest.raises(ValueError, match="number"):
        job_of(DEFAULT.with_table("words.csv", words.encode()))


def test_board_and_picture_agree_on_the_true_products_where_orders_are_kernels(make):
    player = ended(make(p=1.5, degree=2, penalty=0.1, max_iter=40))
    shown = player.shown()
    view = {p.view.name: p.view for p in Gallery(DEFAULT).pictures}["learnt-products"]
    info = type(view).prepare(player.current.trace, shown.k, shown.scene)
    names = dict(zip(info.names, info.true, strict=True))
    assert names["x2 · x5"]
    assert names["x5 · x2"]
    tiles = {label: value for label, value, _ in report(player, shown).tiles}
    assert tiles["True products on top"] == f"{info.found} of {info.known}"
