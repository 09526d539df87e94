"""The player without a page: commands, the one cursor, stale results, the ghost."""

import re
import time

import pytest

from mkldash.apps import jobs as jobs_module
from mkldash.apps.player import Player
from mkldash.apps.state import AppState
from mkldash.apps.tiles import constraint_value, percent
from mkldash.apps.words import report
from mkldash.solvers.stopping import Status
from mkldash.streaming import State

GOLDEN = {"data": "golden", "bank": "golden", "train_fraction": 1.0, "speed": 1000.0, "tol": 1e-7}


def wait(condition, seconds=30.0):
    """Until `condition`; a run must never take that long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def finished(player):
    return lambda: player.current is not None and player.current.state in (
        State.FINISHED, State.FAILED,
    )  # fmt: skip


@pytest.fixture
def player():
    found = Player(AppState.default().change(**GOLDEN), lambda: None)
    yield found
    current = found.current
    found._runner.close()
    assert current is None or current._thread is None or not current._thread.is_alive()


def test_a_run_reaches_the_certified_value_and_says_so(player):
    player.start()
    wait(finished(player))
    shown = player.shown()
    said = report(player, shown)
    assert re.fullmatch(
        r"Certified: within [1-9.]+e-6 % of the optimum after \d+ iterations \([\d.]+ s\)\. "
        r"3 of 4 kernels carry weight\.",
        said.sentence,
    )
    tiles = {label: value for label, value, _ in said.tiles}
    assert tiles["Upper bound"] == "305.685"
    assert tiles["Constraint (≤ 1)"] == "1.000000"
    assert said.progress == 1.0
    assert said.facts["state"] == "finished"


def test_tiny_c_says_that_all_points_are_at_the_bound(player):
    player.state = player.state.change(C=0.1)
    player.start()
    wait(finished(player))
    assert "All 20 points at the bound C" in report(player, player.shown()).more


def test_step_back_and_scrub_share_one_cursor(player):
    player.start(play=False)
    player.step()
    wait(lambda: player.current is not None and len(player.current.trace) == 1)
    for n in (2, 3, 4):
        player.step()
        wait(lambda n=n: len(player.current.trace) == n)
    assert player.shown().k == 3
    player.back()
    assert player.shown().k == 2
    player.step()
    assert player.shown().k == 3
    assert len(player.current.trace) == 4
    player.scrub(1)
    shown = player.shown()
    assert shown.k == 1
    assert "Looking back at iteration 1 of 3" in report(player, shown).sentence
    player.scrub(99)
    assert player.shown().k == 3
    assert player.following


def test_scrubbing_back_holds_the_run(player):
    player.state = player.state.change(speed=5.0, tol=1e-10)
    player.start()
    wait(lambda: player.current is not None and len(player.current.trace) >= 3)
    player.scrub(0)
    assert not player.current.playing
    player.toggle()
    assert player.playing


def test_pause_and_play(player):
    player.state = player.state.change(speed=5.0, tol=1e-10)
    player.start()
    wait(lambda: player.current is not None and len(player.current.trace) >= 1)
    player.toggle()
    wait(lambda: player.current.state is State.PAUSED)
    n = len(player.current.trace)
    assert "Paused at iteration" in report(player, player.shown()).sentence
    player.toggle()
    wait(lambda: len(player.current.trace) > n)


def test_stop_keeps_the_partial_result(player):
    player.state = player.state.change(speed=20.0, tol=1e-10)
    player.start()
    wait(lambda: player.current is not None and len(player.current.trace) >= 2)
    player.stop()
    wait(finished(player))
    said = report(player, player.shown())
    assert player.current.status is Status.STOPPED
    assert said.sentence.startswith("Stopped by you: ")
    assert said.facts["status"] == "stopped"


def test_a_changed_choice_starts_anew_and_the_old_run_becomes_the_ghost(player):
    player.start()
    wait(finished(player))
    first = player.current
    assert player.change(eta=0.2)
    wait(lambda: len(player.current.trace) > 0)
    wait(finished(player))
    shown = player.shown()
    assert shown.session is not first
    assert shown.ghost is first
    assert "Grey: the run before" in report(player, shown).more
    assert player.current.result.upper == pytest.approx(284.063165, rel=1e-6)


def test_speed_changes_the_pace_and_starts_nothing(player):
    player.start()
    wait(finished(player))
    before = player.started
    assert not player.change(speed=3.0)
    assert player.started == before
    assert player.current.max_rate == 3.0


def test_reset_gives_the_same_numbers_and_a_new_seed_another_split(player):
    player.state = player.state.change(train_fraction=0.6)
    player.start()
    wait(finished(player))
    first = player.current.result.upper
    player.reset()
    wait(finished(player))
    assert player.current.result.upper == first
    player.new_seed()
    wait(finished(player))
    assert player.state["seed"] == 1
    assert player.current.result.upper != first


def test_after_the_end_play_replays_what_was_recorded():
    now = [100.0]
    found = Player(
        AppState.default().change(**{**GOLDEN, "speed": 10.0, "tol": 1e-2}),
        lambda: None, clock=lambda: now[0],
    )  # fmt: skip
    found._runner.max_rate = None
    try:
        found.start()
        found._runner.max_rate = None
        wait(finished(found))
        last = len(found.current.trace) - 1
        found.toggle()
        assert found.shown().k == 0
        now[0] += 0.35
        assert found.shown().k == 3
        assert found.replaying
        now[0] += 100.0
        assert found.shown().k == last
        assert not found.replaying
    finally:
        found._runner.close()


def test_u02_a_late_result_never_appears_under_new_values(player, monkeypatch):
    """GOLDEN, C = 100 with 3 s of delay, then at once C = 1."""
    real, begun = jobs_module.prepare, []

    def slow(choices, **options):
        begun.append(choices.C)
        if choices.C == 100.0:
            end = time.monotonic() + 3.0
            while time.monotonic() < end and not options["cancelled"]():
                time.sleep(0.01)
        return real(choices, **options)

    monkeypatch.setattr(jobs_module, "prepare", slow)
    player.start()
    wait(lambda: begun == [100.0])
    player.change(C=1.0)
    seen = set()
    while not finished(player)() or player.shown().stale:
        seen.add(_on_screen(player))
    seen.add(_on_screen(player))
    assert _on_screen(player) == (1.0, "19.125")
    assert (1.0, "305.685") not in seen


def _on_screen(player):
    shown = player.shown()
    if shown.session is None:
        return None
    tiles = {label: value for label, value, _ in report(player, shown).tiles}
    # What is stale is labelled with its own parameters.
    return shown.session.parameters["C"], tiles["Upper bound"]


def test_u01_a_flood_ends_at_the_last_value(player, monkeypatch):
    """C set 50 times, then to 100; each solve slowed to half a second."""
    real, at_once, most, ended = jobs_module.prepare, [], [], []

    def slow(choices, **options):
        at_once.append(choices.C)
        most.append(len(at_once))
        end = time.monotonic() + 0.5
        while time.monotonic() < end and not options["cancelled"]():
            time.sleep(0.005)
        if not options["cancelled"]():
            ended.append(choices.C)
        at_once.remove(choices.C)
        return real(choices, **options)

    monkeypatch.setattr(jobs_module, "prepare", slow)
    player.start()
    for cost in range(1, 51):
        player.change(C=float(cost))
    player.change(C=100.0)
    wait(finished(player))
    wait(lambda: not player.shown().stale)
    assert len(ended) <= 4
    assert max(most) == 1
    assert player.current.parameters["C"] == 100.0
    assert player.current.result.upper == pytest.approx(305.684692, rel=1e-6)


def test_input_that_cannot_be_used_is_a_sentence_and_the_next_choice_works(player):
    player.adopt(player.state.with_table("one.csv", b"a,label\n1,yes\n2,yes\n3,yes\n"))
    wait(finished(player))
    said = report(player, player.shown())
    assert said.tone == "failed"
    assert "'yes'" in said.alert
    assert "Traceback" not in said.alert
    player.adopt(player.state.without_table("golden"))
    wait(finished(player))
    assert report(player, player.shown()).tone == "certified"


def test_a_closed_tab_pauses_and_a_return_goes_on(player):
    player.state = player.state.change(speed=5.0, tol=1e-10)
    player.start()
    wait(lambda: player.current is not None and len(player.current.trace) >= 1)
    player.leave()
    wait(lambda: player.current.state is State.PAUSED)
    player.come_back()
    assert player.current.playing


def test_who_paused_by_hand_stays_paused_on_return(player):
    player.start(play=False)
    player.step()
    wait(lambda: player.current.state is State.PAUSED)
    player.leave()
    player.come_back()
    assert not player.current.playing


def test_constraint_value():
    import numpy as np

    assert constraint_value(np.array([0.618034, 0.618034]), 0.5) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("gap", "words"),
    [(0.00096, "0.096 %"), (0.0211, "2.1 %"), (12.5, "1,250 %"), (0.0, "0 %"), (1e-7, "1e-5 %")],
)
def test_percent(gap, words):
    assert percent(gap) == words


def test_a_warm_run_is_not_compared_with_a_cold_one(player):
    player.start()
    wait(finished(player))
    player.change(eta=0.6)
    wait(finished(player))
    said = report(player, player.shown()).more
    assert "This run began at the weights of the one before it" in said
    assert "fewer" not in said
    player.change(eta=0.7)
    wait(finished(player))
    said = report(player, player.shown()).more
    assert "Both began at the weights of the one before it, so their iterations do not" in said
    player.reset()
    wait(finished(player))
    said = report(player, player.shown()).more
    assert "That one began at the weights" in said
    player.reset()
    wait(finished(player))
    assert "this took as many iterations" in report(player, player.shown()).more


@pytest.mark.parametrize(
    ("changes", "warm"),
    [
        ({"eta": 0.6}, True),
        ({"C": 2.0}, True),
        ({"eta": 0.6, "speed": 900.0}, True),
        ({"tol": 1e-8}, False),
        ({"max_iter": 400}, False),
        ({"C": 2.0, "tol": 1e-8}, False),
        ({"seed": 1}, False),
    ],
)
def test_only_numbers_of_the_problem_go_on_from_the_run_before(player, changes, warm):
    player.start()
    wait(finished(player))
    player.change(**changes)
    wait(finished(player))
    assert player.is_warm(player.current) is warm


def test_the_ghost_is_told_by_what_differs(player):
    other = player.state.change(tol=1e-2, max_iter=7)
    assert other.difference(player.state) == (
        "tolerance (relative gap) 0.01", "iteration limit 7",
    )  # fmt: skip
    assert player.state.difference(player.state.change(speed=2.0, eta=0.1)) == ()


def test_stopped_before_the_first_iteration_says_so_and_play_starts_again(player):
    player.start(play=False)
    wait(lambda: player.current.state is State.PAUSED)
    player.stop()
    wait(finished(player))
    assert player.ended_empty
    said = report(player, player.shown())
    assert said.sentence == "Stopped before the first iteration; play starts it again."
    player.toggle()
    wait(lambda: player.current is not None and len(player.current.trace) > 0)


def test_a_run_that_ended_since_the_frame_began_is_told_with_its_last_row(player):
    player.start()
    wait(lambda: player.current is not None and len(player.current.trace) > 0)
    early = player.shown()
    wait(finished(player))
    said = report(player, early)
    tiles = {label: value for label, value, _ in said.tiles}
    assert said.sentence.startswith("Certified: within")
    assert int(tiles["Iteration"]) == len(player.current.trace) - 1


def test_after_the_largest_seed_comes_zero(player):
    player.state = player.state.change(seed=2**31 - 1)
    player.new_seed()
    assert player.state["seed"] == 0
