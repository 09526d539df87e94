"""What runs beside the shown run: it waits, it is fair, and it is dropped at once."""

import math
import threading
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from mkldash.apps import companions as companions_module
from mkldash.apps.companions import Companions, blank_sweep
from mkldash.apps.player import Player
from mkldash.apps.state import AppState
from mkldash.experiments.rho_sweep import GRID
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.streaming import State

SMALL = {"data": "two-moons", "speed": 1000.0, "train_fraction": 0.3}


def wait(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


@pytest.fixture
def player(monkeypatch):
    monkeypatch.setattr(companions_module, "QUIET", 0.02)
    monkeypatch.setattr(companions_module, "UNDER_WAY", 0.05)
    found = Player(AppState.default("neighborhood").change(**SMALL), lambda: None)
    yield found
    found.companions.close()
    found._runner.close()


def settled(player):
    return lambda: player.current.state is State.FINISHED and not player.companions.busy


def scene(player):
    return player.shown().scene


def run(player):
    player.start()
    wait(settled(player))


def test_other_solvers_reach_the_same_value_on_the_same_problem(player):
    run(player)
    (rival,) = [r for r in scene(player).rivals if r.title == "Block-coordinate descent"]
    assert rival.done
    ours = player.current.result
    last = rival.trace[len(rival.trace) - 1]
    assert last.upper == pytest.approx(ours.upper, rel=1e-5)
    assert last.gap <= player.state["tol"]
    assert last.origin.problem == ours.last.origin.problem
    said = player.companions.sentences()
    assert any(s.startswith("Beside it, Block-coordinate descent: certified, gap") for s in said)
    assert player.companions.sentences() == []


def test_none_is_solved_beside_when_none_is_chosen(player):
    player.state = player.state.change(compare=())
    run(player)
    assert scene(player).rivals == ()
    assert not player.races(player.current)


def test_the_chosen_solver_is_never_its_own_rival(player):
    player.state = player.state.change(solver="block-coordinate")
    run(player)
    titles = [rival.title for rival in scene(player).rivals]
    assert "Shifted SVM" in titles
    assert "Block-coordinate descent" not in titles


def test_adding_a_solver_starts_no_new_run_and_keeps_what_is_there(player):
    player.state = player.state.change(compare=())
    run(player)
    runs, session = player.started, player.current
    player.change(compare=("block-coordinate",))
    wait(lambda: len(scene(player).rivals) == 1 and settled(player)())
    assert (player.started, player.current) == (runs, session)
    before = scene(player).rivals
    player.change(compare=("block-coordinate", "shifted-svm"))
    wait(settled(player))
    assert scene(player).rivals == before
    player.change(compare=())
    wait(lambda: scene(player).rivals == ())


def test_a_warm_run_has_warm_rivals(player):
    run(player)
    player.change(rho=80.0)
    wait(lambda: player.current.job is not None)
    wait(settled(player))
    extra = player.current.job.extra
    assert extra.warm
    assert extra.start is not None
    rivals = {rival.title: rival for rival in scene(player).rivals}
    first = rivals["Block-coordinate descent"].trace[0]
    cold = BlockCoordinateDescent().iterate(player.current.job.problem)
    assert first.gap < next(cold).gap


@pytest.mark.parametrize(
    "changes", [{"solver": "level"}, {"tol": 1e-5}, {"max_iter": 300}], ids=str
)
def test_another_solver_tolerance_or_limit_begins_cold_and_so_do_its_rivals(player, changes):
    run(player)
    player.change(**changes)
    wait(settled(player))
    assert not player.is_warm(player.current)
    assert player.current.job.extra.start is None
    assert len(player.current.trace) > 1
    rivals = [rival for rival in scene(player).rivals if rival.done]
    assert rivals
    assert all(len(rival.trace) > 1 for rival in rivals)


def test_what_rivals_have_to_say_is_known_until_it_is_said(player):
    run(player)
    assert player.companions.has_words
    player.companions.sentences()
    assert not player.companions.has_words


def test_the_sweep_has_every_rho_of_the_grid_the_shown_one_and_the_plain_machine(player):
    player.state = player.state.change(rho=3.0)
    player.start()
    wait(lambda: player.current.job is not None and len(player.current.trace) > 0)
    assert np.isnan(scene(player).sweep.train).all()
    wait(settled(player))
    sweep = scene(player).sweep
    assert sweep.rho.tolist() == sorted([*GRID, 3.0])
    assert not np.isnan([sweep.train, sweep.test, sweep.support_vectors]).any()
    assert sweep.train[-1] == pytest.approx(sweep.plain_train, abs=0.02)
    assert len(sweep.grids) == 14
    assert all(grid.shape == (48, 48) for grid in sweep.grids)


def test_the_sweep_stays_when_only_rho_changes_and_goes_when_the_problem_does(player):
    run(player)
    before = dict(player.companions._points)
    player.change(rho=2.0)
    wait(lambda: player.current.job is not None and len(player.current.trace) > 0)
    assert not np.isnan(scene(player).sweep.train).any()
    wait(settled(player))
    after = player.companions._points
    assert 2.0 in after
    assert all(after[rho] is before[rho] for rho in GRID)
    player.change(solver="block-coordinate", tol=1e-3)
    wait(lambda: player.current.job is not None and len(player.current.trace) > 0)
    assert not np.isnan(scene(player).sweep.train).any()
    wait(settled(player))
    player.change(C=7.0)
    wait(lambda: player.current.job is not None and len(player.current.trace) > 0)
    assert scene(player).sweep is blank_sweep(plane=True)
    wait(settled(player))
    assert not np.isnan(scene(player).sweep.train).any()


def test_an_infinite_rho_is_its_own_end_of_the_sweep(player):
    player.state = player.state.change(rho=math.inf)
    run(player)
    sweep = scene(player).sweep
    assert sweep.rho.tolist() == list(GRID)
    assert 0.5 < sweep.plain_train <= 1.0
    assert scene(player).rho == math.inf


# -- a solver that never ends --------------------------------------------------


@dataclass(frozen=True)
class Endless(BlockCoordinateDescent):
    """Counts its iterations, until it is cancelled."""

    name: ClassVar[str] = "endless"
    title: ClassVar[str] = "Endless"
    begun: ClassVar[list[int]] = []

    def _iterate(self, problem, resume, warm, cancel):
        first = next(super()._iterate(problem, resume, warm, cancel))
        type(self).begun.append(1)
        while not cancel[0]:
            time.sleep(0.002)
            yield first


@pytest.fixture
def endless(player, monkeypatch):
    Endless.begun.clear()
    plan = companions_module.Plan

    def only(*args, **options):
        return plan(*args, **{**options, "rivals": (Endless(),)})

    monkeypatch.setattr("mkldash.apps.jobs.Plan", only)
    monkeypatch.setattr(companions_module, "RIVAL_SECONDS", 1e6)
    player.state = player.state.change(max_iter=5000)
    player.start()
    wait(lambda: Endless.begun)
    # It counts on without an end of its own.
    wait(lambda: scene(player).rivals and len(scene(player).rivals[0].trace) > 3)
    return player


def test_a_new_choice_drops_it_at_once_and_begins_anew(endless):
    control = endless.companions._control
    begun = time.monotonic()
    endless.change(C=3.0)
    wait(lambda: endless.companions._control is not control)
    assert time.monotonic() - begun < 5.0
    wait(lambda: len(Endless.begun) == 2)


def test_nobody_looks_and_it_rests(endless):
    endless.leave()
    time.sleep(0.05)
    rival = endless.companions.rivals(endless.current)[0]
    n = len(rival.trace)
    time.sleep(0.1)
    assert len(rival.trace) == n
    endless.come_back()
    wait(lambda: len(rival.trace) > n)


def test_closing_ends_the_thread(endless):
    endless.close()
    wait(lambda: not [t for t in threading.enumerate() if t.name == "mkldash-companions"])


def test_a_limit_of_time_is_said(player, monkeypatch):
    monkeypatch.setattr(companions_module, "RIVAL_SECONDS", 1e-9)
    run(player)
    said = player.companions.sentences()
    assert any("stopped at its limit of 1e-09 s with a gap of" in s for s in said)


def test_nothing_begins_while_choices_keep_changing(player, monkeypatch):
    monkeypatch.setattr(companions_module, "QUIET", 0.3)
    monkeypatch.setattr(companions_module, "UNDER_WAY", 0.3)
    for cost in range(1, 15):
        player.change(C=float(cost))
        time.sleep(0.02)
        assert player.companions._control is None
    wait(settled(player))
    assert scene(player).rivals


def test_a_rival_that_fails_is_said_and_the_next_run_has_company_again(player, monkeypatch):
    def fail(*_):
        raise RuntimeError("no such luck")

    with monkeypatch.context() as patch:
        patch.setattr(companions_module, "warm_up_once", fail)
        run(player)
        assert "What runs beside it failed: no such luck" in player.companions.sentences()
    player.reset()
    wait(lambda: player.current.state is State.FINISHED and len(scene(player).rivals) > 0)
    wait(settled(player))


def test_the_elastic_net_has_no_companions():
    found = Player(AppState.default().change(data="golden", bank="golden"), lambda: None)
    try:
        found.start()
        wait(lambda: found.current.state is State.FINISHED)
        assert found.companions._thread is None
        seen = scene(found)
        assert (seen.rivals, seen.sweep, seen.gram, seen.rho) == ((), None, None, None)
    finally:
        found.close()
        found._runner.close()


def test_closed_companions_attend_nothing():
    found = Companions(lambda: None)
    found.close()
    found.attend(None, lambda job: None)
    assert found._thread is None
