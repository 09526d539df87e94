"""What a page saves: numbers of all runs on screen, and a script that gives them again."""

import csv
import io
import math
import subprocess
import sys

import numpy as np
import pytest

from mkldash.apps.on_screen import as_seen, on_screen
from mkldash.apps.player import Player
from mkldash.apps.saved import as_csv
from mkldash.apps.script import MOST_RUNS, script
from mkldash.apps.state import AppState
from tests.apps.test_branching import MOONS, branched, ended, make  # noqa: F401
from tests.apps.test_player import GOLDEN, finished, wait


def table(shots):
    """The cells of the CSV file, and the lines before them."""
    text = as_csv([(s.name, s.solver, s.told, s.columns) for s in shots])
    lines = text.splitlines()
    head = [line for line in lines if line.startswith("#")]
    return head, list(csv.DictReader(io.StringIO("\n".join(lines[len(head) :]))))


def ran(shots, folder):
    """What the script prints, run on its own."""
    path = folder / "again.py"
    path.write_text(script([as_seen(shot) for shot in shots]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_runs_on_screen_are_in_one_table_with_raw_numbers(make):  # noqa: F811
    player = make("neighborhood", **MOONS)
    player.change(rho=3.0)
    ended(player)
    wait(lambda: player.companions.rivals(player.current) and not player.companions.busy, 60)
    shots = on_screen(player)
    head, rows = table(shots)
    assert [s.name for s in shots][:2] == ["shown run", "run before"]
    assert len(shots) == 2 + len(player.state.rivals(player.current.job.problem.n_rows))
    assert head[0].startswith("# mkldash ")
    assert "numba" in head[0]
    assert head[1].startswith("# shown run: two-moons, ")
    assert "seed 0" in head[1]
    for shot in shots:
        mine = [row for row in rows if row["run"] == shot.name]
        assert len(mine) == len(shot.columns["iteration"])
        for name in ("upper", "lower", "gap"):
            np.testing.assert_array_equal([float(r[name]) for r in mine], shot.columns[name])
        assert {row["solver"] for row in mine} == {shot.solver}


def test_p03_zeros_and_what_is_no_number_stay_what_they_are():
    runs = [
        ("a", "one, two", "", {"iteration": np.arange(3), "gap": np.array([1.0, -1e-16, 0.0])}),
        ("b", "x", "", {"iteration": np.arange(2), "level": np.array([math.nan, math.inf])}),
        ("c", "x", "", {}),
    ]
    lines = as_csv(runs).splitlines()[4:]
    assert lines == [
        "run,solver,iteration,gap,level",
        'a,"one, two",0,1.0,', 'a,"one, two",1,-1e-16,', 'a,"one, two",2,0.0,',
        "b,x,0,,nan", "b,x,1,,inf",
    ]  # fmt: skip


def test_the_script_gives_a_warm_run_its_parent_and_its_rivals_bit_for_bit(make, tmp_path):  # noqa: F811
    player = make("neighborhood", **MOONS)
    player.change(rho=3.0)
    ended(player)
    wait(lambda: player.companions.rivals(player.current) and not player.companions.busy, 60)
    player.scrub(1)
    shots = on_screen(player)
    said = ran(shots, tmp_path)
    assert said.count(": as on the page") == len(shots) + 1, said  # the cursor and the end
    assert "NOT" not in said
    columns = shots[0].columns
    assert f"upper {float(columns['upper'][1])!r}, lower" in said


@pytest.mark.parametrize(
    ("moved", "told"),
    [(1e-13, ": as on the page, but for the last digits"), (1e-6, ": NOT as on the page, which")],
)
def test_the_script_tells_last_digits_from_another_result(make, tmp_path, moved, told):  # noqa: F811
    player = make(**GOLDEN)
    ended(player)
    text = script([as_seen(shot) for shot in on_screen(player)])
    upper = float(on_screen(player)[0].columns["upper"][-1])
    assert repr(upper) in text
    path = tmp_path / "again.py"
    path.write_text(text.replace(repr(upper), repr(upper * (1.0 + moved))))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert told in done.stdout, done.stdout


def test_the_script_gives_a_chain_of_branches_bit_for_bit(make, tmp_path):  # noqa: F811
    player = make(**GOLDEN)
    branched(player, 6)
    player.toggle()
    ended(player)
    branched(player, 3)
    player.change(eta=0.2)
    ended(player)
    player.change(C=10.0)
    ended(player)
    branched(player, 2)  # waits there
    shots = on_screen(player)
    text = script([as_seen(shot) for shot in shots])
    assert "# Seed 0" in text
    assert "LEFT OUT" not in text
    said = ran(shots, tmp_path)
    assert said.count(": as on the page") == 2
    assert "NOT" not in said


def test_the_script_gives_a_run_that_draws_and_whose_settings_changed(make, tmp_path):  # noqa: F811
    player = make("products", degree=2, max_iter=30, speed=1000.0, seed=3)
    branched(player, 10)
    player.change(**{"o.step": 3.0})
    ended(player)
    said = ran(on_screen(player), tmp_path)
    assert said.count(": as on the page") == 2
    assert "NOT" not in said
    assert "x2 · x5" in said


def test_a_run_that_was_stopped_and_a_table_of_ones_own(tmp_path):
    content = "a,b,label\n" + "".join(
        f"{i % 7},{(i * i) % 5},{'yn'[i % 3 == 0]}\n" for i in range(40)
    )
    (tmp_path / "own.csv").write_text(content)
    state = AppState.default().with_table("own.csv", content.encode()).change(tol=1e-10)
    player = Player(state.change(speed=1000.0), lambda: None)
    try:
        player.start(play=False)
        player.step()
        wait(lambda: player.current is not None and len(player.current.trace) == 1)
        player.step()
        wait(lambda: len(player.current.trace) == 2)
        player.stop()
        wait(finished(player))
        shots = on_screen(player)
        text = script([as_seen(shot) for shot in shots])
        assert "# own.csv must be in the folder where this is run" in text
        assert ran(shots, tmp_path).startswith("shown run: iteration 1, ")
    finally:
        player.close()


def test_of_an_endless_chain_the_script_says_what_it_leaves_out():
    from mkldash.apps.descent import Descent
    from mkldash.apps.script import Seen
    from mkldash.experiments.choices import Choices

    chain = Descent(Choices(data="golden"))
    for i in range(MOST_RUNS + 5):
        chain = Descent.of(Choices(data="golden", C=1.0 + i), chain, 1, best=True)
    text = script([Seen("shown run", chain)])
    assert "LEFT OUT: of the chain" in text
    assert text.count(" = run(") == MOST_RUNS + 1


def test_there_is_nothing_to_save_before_the_first_iteration():
    player = Player(AppState.default(), lambda: None)
    assert on_screen(player) == []
    player.close()


@pytest.mark.parametrize("value", [1.0, float("inf"), "x"])
def test_literals_give_the_value_again(value):
    from mkldash.apps.recipe import literal

    assert eval(literal(value)) == value
