"""Branching: from any iteration a new run beside the old one, with other parameters or the same."""

import numpy as np
import pytest

from mkldash.apps.descent import Descent
from mkldash.apps.log import Log
from mkldash.apps.player import Player
from mkldash.apps.state import AppState
from mkldash.apps.words import report
from mkldash.experiments.choices import Choices
from mkldash.streaming import State
from tests.apps.test_player import GOLDEN, finished, wait

MOONS = {"data": "two-moons", "train_fraction": 0.1, "speed": 1000.0, "tol": 1e-4}
PRODUCTS = {"degree": 2, "max_iter": 40, "speed": 1000.0}


@pytest.fixture
def make():
    made = []

    def of(problem="elastic-net", **changes):
        found = Player(AppState.default(problem).change(**changes), lambda: None)
        made.append(found)
        found.start()
        wait(finished(found))
        return found

    yield of
    for found in made:
        found.close()


def branched(player, k):
    """Branch at row `k`, and wait until the branch is on screen."""
    player.scrub(k)
    player.shown()
    assert player.branch()
    wait(lambda: player.current.job is not None and not player.shown().stale)
    return player.current


def ended(player):
    wait(finished(player))
    return player.current


def columns(session, *names):
    return [np.asarray(session.trace.columns()[n]) for n in names]


def test_a_branch_waits_and_then_goes_on_as_the_old_run_did(make):
    player = make(**GOLDEN)
    old = player.current
    branch = branched(player, 4)
    wait(lambda: branch.state is State.PAUSED)
    shown = player.shown()
    assert (shown.k, shown.ghost, len(branch.trace)) == (4, old, 5)
    assert player.waits
    said = report(player, shown)
    assert said.sentence.startswith("Paused at iteration 4: ")
    assert "Branched at iteration 4 of the grey run (golden, " in said.more
    assert "Change a parameter to go another way" in said.more
    assert player.branch()  # once more there: still the same branch
    assert player.current is branch
    player.toggle()
    ended(player)
    assert not player.waits
    assert "goes on from its whole state" in report(player, player.shown()).more
    for mine, theirs in zip(
        columns(branch, "iteration", "upper", "lower", "inner_solves"),
        columns(old, "iteration", "upper", "lower", "inner_solves"),
        strict=True,
    ):
        np.testing.assert_array_equal(mine, theirs)


def test_other_parameters_start_warm_from_that_iteration_however_often_they_change(make):
    player = make(**GOLDEN)
    old, point = player.current, player.current.trace[3]
    branched(player, 3)
    for eta in (0.2, 0.7):
        assert player.change(eta=eta)
        branch = ended(player)
        shown = player.shown()
        assert shown.ghost is old
        assert int(columns(branch, "iteration")[0][0]) == 0
        extra = branch.job.extra
        assert (extra.descent.at, extra.descent.resumed) == (3, False)
        np.testing.assert_array_equal(extra.start.alpha, point.alpha)
        assert "a warm start from its weights and α there, iterations counted from 0" in (
            report(player, shown).more
        )
    assert len(old.trace) - 1 == player.shown().ghost.trace.latest.iteration


def test_other_settings_of_a_solver_go_on_from_its_whole_state(make):
    player = make("products", **PRODUCTS)
    old = player.current
    branched(player, 20)
    player.change(**{"o.step": 3.0})
    branch = ended(player)
    assert branch.job.extra.descent.resumed
    np.testing.assert_array_equal(columns(branch, "upper")[0][:21], columns(old, "upper")[0][:21])
    assert (columns(branch, "upper")[0][21:] != columns(old, "upper")[0][21:]).any()


def test_another_solver_begins_at_the_point(make):
    player = make("neighborhood", **MOONS, solver="accelerated")
    branched(player, len(player.current.trace) // 2)
    player.change(solver="level")
    branch = ended(player)
    assert branch.error is None
    assert branch.job.extra.descent.branched
    assert not branch.job.extra.descent.resumed


@pytest.mark.parametrize(
    "leave",
    [
        lambda player: player.reset(),
        lambda player: player.new_seed(),
        lambda player: player.change(bank="gaussian"),
    ],
    ids=["reset", "new seed", "other kernels"],
)
def test_a_branch_is_left_by(make, leave):
    player = make(**{**GOLDEN, "train_fraction": 0.6})
    branched(player, 2)
    player.change(eta=0.3)
    ended(player)
    leave(player)
    run = ended(player)
    assert player.fork is None
    assert run.job.extra.descent.parent is None
    assert "Branched" not in report(player, player.shown()).more
    player.change(C=50.0)
    assert ended(player).job.extra.descent.best  # warm from the run before, as ever


def test_a_branch_of_a_branch_shows_the_first_one_in_grey(make):
    player = make(**GOLDEN)
    branched(player, 3)
    player.change(eta=0.2)
    first = ended(player)
    branched(player, 2)
    player.change(C=10.0)
    second = ended(player)
    assert player.shown().ghost is first
    told = second.job.extra.descent
    assert [d.at for d in (told, told.parent)] == [2, 3]


def test_nothing_to_branch_from_before_the_first_iteration():
    player = Player(AppState.default(), lambda: None)
    assert not player.branch()
    player.close()


def test_the_log_says_it_once_and_does_not_repeat_what_the_old_run_did(make):
    player = make("neighborhood", **MOONS, solver="level")
    log = Log()
    branch = branched(player, 5)
    assert branch.trace.events()
    log.follow(branch)
    log.write()
    assert "Branched at iteration 5, from its whole state: two-moons" in log.layout.object
    assert "The address keeps the choices only" in log.layout.object
    assert "<b>" not in log.layout.object


def test_the_iterations_of_a_resumed_run_up_to_there_belong_to_its_parent():
    root = Descent(Choices(data="golden"))
    once = Descent.of(Choices(data="golden"), root, 7, resumed=True)
    twice = Descent.of(Choices(data="golden", eta=0.3), once, 5)
    assert once.owner(7) is root
    assert once.owner(8) is once
    assert twice.parent is root
    assert (twice.beginning, once.beginning) == (twice, root)
    assert list(twice.ancestors()) == [root]
