"""One run in one worker: credit, rate, stop, branch, scores, errors, threads."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from mkldash.errors import InputError, UnsupportedProblemError
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import Status, StopRule
from mkldash.streaming import Building, Session, State
from mkldash.streaming import control as control_module
from mkldash.streaming.courtesy import Courtesy
from mkldash.streaming.session import COMPUTE_SLOTS
from tests.streaming.dummies import Halving, endless, job, make_problem, same, until

ENDLESS = StopRule(tol=1e-300, max_iter=10**9)


@pytest.fixture
def make():
    """Sessions that are closed at the end of the test."""
    made = []

    def make(solver=None, target=1.0, **given):
        given.setdefault("stop", ENDLESS)
        if "factory" in given:
            del given["stop"]
            made.append(Session(**given))
        else:
            made.append(Session(solver or endless(), make_problem(target), **given))
        return made[-1]

    yield make
    for session in made:
        session.close()
    assert COMPUTE_SLOTS.in_use == 0


# -- credit ----------------------------------------------------------------------


def test_a_run_to_the_end_is_what_solve_gives(make):
    session = make(Halving(), stop=StopRule())
    assert session.state is State.IDLE
    assert session.status is None
    session.play()
    assert session.wait(10)
    seen = []
    result = solve(Halving(), make_problem(), callbacks=[seen.append])
    assert session.state is State.FINISHED
    assert session.status is session.result.status is result.status is Status.CONVERGED
    assert len(session.trace) == len(seen) == 12
    for name in ("iteration", "upper", "lower", "objective", "state"):
        np.testing.assert_array_equal(
            session.trace.columns()[name], [getattr(s, name) for s in seen]
        )
    assert session.result.upper == result.upper


def test_nothing_runs_before_there_is_credit(make):
    session = make()
    session.prepare()
    assert session.wait(5)
    assert session.state is State.PAUSED
    assert len(session.trace) == 0
    assert session.job.problem.key == "dummy 1.0"


def test_step_runs_exactly_n_iterations(make):
    session = make()
    session.step(3)
    assert session.wait(5)
    assert len(session.trace) == 3
    assert session.state is State.PAUSED
    session.step()
    session.step(2)
    assert session.wait(5)
    assert len(session.trace) == 6
    with pytest.raises(ValueError, match="positive"):
        session.step(0)


def test_pause_completes_the_iteration_under_way_and_no_more(make):
    gate = threading.Event()
    session = make(endless(gate_at=4, gate=gate))
    session.play()
    assert until(lambda: len(session.trace) == 4)
    assert session.playing
    session.pause()
    assert not session.playing
    assert session.state is State.RUNNING  # an iteration is under way
    gate.set()
    assert session.wait(5)
    assert session.state is State.PAUSED
    assert len(session.trace) == 5
    session.play()
    assert until(lambda: len(session.trace) > 10)


def test_step_while_playing_stops_after_n_more(make):
    gate = threading.Event()
    session = make(endless(gate_at=4, gate=gate))
    session.play()
    assert until(lambda: len(session.trace) == 4)
    session.step(2)
    gate.set()
    assert session.wait(5)
    assert len(session.trace) == 7  # the one under way, and two


def test_a_step_that_converges_finishes(make):
    session = make(Halving(), stop=StopRule(tol=1.5, max_iter=50))
    session.step(3)
    assert session.wait(5)
    assert session.state is State.FINISHED
    assert len(session.trace) == 3
    session.play()  # nothing is left to do
    session.step()
    assert session.state is State.FINISHED


def test_the_clock_stands_still_while_paused(make):
    session = make(endless(seconds=0.01))
    session.step(2)
    session.wait(5)
    time.sleep(0.3)
    session.step()
    session.wait(5)
    assert session.trace[2].elapsed < 0.25


# -- rate ------------------------------------------------------------------------


def test_the_rate_is_capped_and_can_be_changed_live(make):
    session = make(max_rate=20)
    session.play()
    assert until(lambda: len(session.trace) >= 2)
    begun, first = time.monotonic(), len(session.trace)
    time.sleep(0.5)
    count = len(session.trace) - first
    assert 1 <= count <= 20 * (time.monotonic() - begun) + 1
    session.max_rate = 0.01  # the next would come in 100 s
    time.sleep(0.1)
    held = len(session.trace)
    time.sleep(0.2)
    assert len(session.trace) == held
    session.max_rate = None
    assert until(lambda: len(session.trace) > held + 50)
    with pytest.raises(InputError, match="max_rate"):
        session.max_rate = 0
    with pytest.raises(InputError, match="max_rate"):
        make(max_rate=-1)


@pytest.mark.parametrize("command", ["pause", "stop", "close"])
def test_commands_act_at_once_while_the_rate_is_waited_for(make, command):
    session = make(max_rate=0.001)
    session.play()
    assert until(lambda: len(session.trace) == 1)
    getattr(session, command)()
    assert session.wait(5)  # the rate alone would take 1000 s
    assert len(session.trace) == 1


# -- stop and close --------------------------------------------------------------


def test_stop_in_the_middle_of_a_long_iteration(make):  # U09
    session = make(endless(gate_at=5, gate=threading.Event()), target=3.0)
    session.play()
    assert until(lambda: len(session.trace) == 5)
    begun = time.monotonic()
    session.stop()
    assert session.wait(5)
    assert time.monotonic() - begun < 0.5
    assert session.state is State.FINISHED
    assert session.status is Status.STOPPED
    assert session.result.upper >= 3.0 >= session.result.lower
    assert same(session.result.last, session.trace[-1])
    assert session.result.iterations == 4


@pytest.mark.parametrize("begin", ["never", "prepare", "step"])
def test_stop_without_and_with_a_first_iteration(make, begin):
    session = make()
    if begin == "prepare":
        session.prepare()
    elif begin == "step":
        session.step()
    session.wait(5)
    session.stop()
    assert session.wait(5)
    assert session.state is State.FINISHED
    assert session.status is Status.STOPPED
    assert (session.result is not None) == (begin == "step")
    assert session.error is None


def test_limits_have_their_own_status(make):
    limited = make(stop=StopRule(tol=1e-300, max_iter=5))
    timed = make(endless(seconds=0.02), stop=StopRule(tol=1e-300, max_iter=10**6, time_limit=0.1))
    exhausted = make(endless(last=3))
    for session in (limited, timed, exhausted):
        session.play()
    for session in (limited, timed, exhausted):
        assert session.wait(10)
    assert limited.status is Status.ITERATION_LIMIT
    assert timed.status is Status.TIME_LIMIT
    assert exhausted.status is Status.STALLED
    assert timed.result.seconds >= 0.1


def test_close_ends_the_thread_and_the_trace(make):
    session = make()
    session.play()
    assert until(lambda: len(session.trace) > 5)
    thread = session._thread
    session.close()
    rows = len(session.trace)
    assert not thread.is_alive()
    assert session.state is State.CLOSED
    assert session.status is Status.STOPPED
    assert session.trace[rows - 1].iteration == rows - 1
    assert session.wait(0)
    for command in (session.play, session.step, session.prepare):
        with pytest.raises(RuntimeError, match="closed"):
            command()
    session.stop()
    session.pause()
    session.close()
    session.want(0)
    assert len(session.trace) == rows


def test_no_row_is_added_after_close(make):
    gate = threading.Event()
    session = make(endless(gate_at=3, gate=gate, polls=False))
    session.play()
    assert until(lambda: len(session.trace) == 3)
    session.close(wait=False)
    gate.set()
    session.close()
    assert len(session.trace) == 3
    assert session.result.last.iteration == 2


def test_a_closed_session_is_garbage():
    def run() -> list[weakref.ref]:
        session = Session(endless(), make_problem(), stop=ENDLESS, on_change=lambda: None)
        session.play()
        assert until(lambda: len(session.trace) > 3)
        session.want()
        child = session.branch(2)
        child.close()
        session.close()
        return [weakref.ref(session), weakref.ref(session.trace), weakref.ref(child)]

    gone = run()
    gc.collect()
    assert [ref() for ref in gone] == [None, None, None]


def test_a_process_ends_in_the_middle_of_a_run():
    code = (
        "import sys, time; sys.path.insert(0, '.')\n"
        "from tests.streaming.dummies import *\n"
        "from mkldash.streaming import Session\n"
        "import threading\n"
        "a = Session(endless(gate_at=2, gate=threading.Event(), polls=False), make_problem())\n"
        "b = Session(endless(), make_problem()); b.prepare()\n"
        "a.play(); until(lambda: len(a.trace) == 2)\n"
        "print('ends', flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, text=True)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "ends", "")


# -- errors ----------------------------------------------------------------------


def test_an_error_of_the_solver_is_a_state(make):
    session = make(Halving(fail_at=3))
    session.play()
    assert session.wait(5)
    assert session.state is State.FAILED
    assert isinstance(session.error, FloatingPointError)
    assert "iteration 3" in str(session.error)
    assert session.status is None
    assert session.result is None
    assert len(session.trace) == 3
    session.want(1)  # what is there can still be looked at
    assert session.wait(5)


def test_an_unsupported_problem_is_the_sessions_error(make):
    session = make(Halving(), target=-1.0)
    session.play()
    assert session.wait(5)
    assert isinstance(session.error, UnsupportedProblemError)


def test_the_factory_runs_in_the_worker_and_its_error_is_the_sessions(make):
    where = []

    def factory(building: Building):
        where.append(threading.current_thread())
        raise InputError("column 'x' is text; drop it")

    session = make(factory=factory)
    session.play()
    assert session.wait(5)
    assert session.state is State.FAILED
    assert str(session.error) == "column 'x' is text; drop it"
    assert where[0] is not threading.current_thread()


def test_a_factory_is_told_that_it_is_cancelled(make):
    begun = threading.Event()

    def factory(building: Building):
        begun.set()
        while not building.is_cancelled():
            time.sleep(0.002)
        building.check()

    session = make(factory=factory)
    session.play()
    assert begun.wait(5)
    assert session.building
    session.stop()
    assert session.wait(5)
    assert session.status is Status.STOPPED
    assert session.error is None


def test_a_listener_that_fails_is_removed_and_the_run_goes_on(make, caplog):
    calls = []

    def listener():
        calls.append(1)
        raise RuntimeError("the page is gone")

    session = make(Halving(), stop=StopRule(), on_change=listener)
    session.play()
    assert session.wait(5)
    assert session.status is Status.CONVERGED
    assert len(calls) <= 2  # once in each thread that was calling it then
    assert "listener" in caplog.text


def test_a_session_needs_something_to_run():
    with pytest.raises(TypeError, match="solver and a problem"):
        Session()


def test_the_listener_hears_of_every_row_and_of_the_end(make):
    seen = []
    session = make(
        Halving(),
        stop=StopRule(),
        on_change=lambda: seen.append((len(session.trace), session.state)),
    )
    session.play()
    assert session.wait(5)
    assert until(lambda: seen[-1][1] is State.FINISHED)
    assert {rows for rows, _ in seen} >= set(range(1, 12))


# -- branches --------------------------------------------------------------------


def test_a_branch_resumes_exactly_with_the_history_before_it(make):
    session = make()
    session.step(30)
    assert session.wait(5)
    branch = session.branch(12, play=False)
    branch.step(17)
    assert branch.wait(5)
    assert len(branch.trace) == 30
    assert branch.trace[12] is session.trace[12]
    for name in ("iteration", "upper", "lower", "state", "inner_solves"):
        np.testing.assert_array_equal(branch.trace.columns()[name], session.trace.columns()[name])
    assert branch.trace[29].elapsed > branch.trace[12].elapsed
    assert len(session.trace) == 30
    assert session.state is State.PAUSED
    assert branch.job.history is None
    branch.close()


def test_a_branch_with_other_hyper_parameters_resumes(make):
    session = make()
    session.step(10)
    assert session.wait(5)
    branch = session.branch(-1, solver=Halving(factor=0.5), parameters="faster", stop=StopRule())
    assert branch.wait(5)
    assert branch.status is Status.CONVERGED
    assert branch.parameters == "faster"
    assert branch.trace[10].upper < session.trace[9].upper
    branch.close()


def test_a_branch_to_another_problem_is_warm_with_bounds_of_its_own(make):
    session = make(target=1.0)
    session.step(10)
    assert session.wait(5)
    branch = session.branch(9, problem=make_problem(100.0), play=False)
    branch.prepare()
    assert branch.wait(5)
    branch.stop()  # before its first iteration: the other problem's bounds are no result
    assert branch.wait(5)
    assert branch.result is None
    branch.close()
    branch = session.branch(9, problem=make_problem(100.0), play=False)
    branch.step()
    assert branch.wait(5)
    first = branch.trace[0]
    assert first.iteration == 0
    assert first.weights.values[1] == session.trace[9].weights.values[1]
    assert (first.lower, first.upper) == pytest.approx((0.8964, 199.1036), abs=1e-4)
    branch.close()


def test_a_branch_from_a_dropped_state(make):
    session = make(budget=20_000, stop=StopRule(tol=1e-300, max_iter=300))
    session.play()
    assert session.wait(10)
    row = next(k for k in range(100, 300) if k not in session.trace.kept)
    branch = session.branch(row, play=False)
    branch.step(300 - row)
    assert branch.wait(5)
    assert branch.trace[300].state == session.trace[300].state
    branch.close()


def test_there_must_be_a_row_to_branch_from(make):
    with pytest.raises(IndexError):
        make().branch(0)


def test_a_resumed_run_begins_its_trace_with_its_start(make):
    session = make()
    session.step(5)
    assert session.wait(5)
    other = make(start=session.trace[4])
    other.step(2)
    assert other.wait(5)
    np.testing.assert_array_equal(other.trace.columns()["iteration"], [4, 5, 6])
    assert other.trace.find(6) == 2


# -- scores ----------------------------------------------------------------------


class Score:
    def __init__(self, seconds: float = 0.0) -> None:
        self.rows, self.threads, self.seconds = [], set(), seconds

    def __call__(self, snapshot):
        self.rows.append(snapshot.iteration)
        self.threads.add(threading.current_thread().name)
        time.sleep(self.seconds)
        return {"accuracy": snapshot.state, "decision": np.full(3, snapshot.state)}


def test_only_wanted_rows_are_scored_by_the_worker(make):
    score = Score()
    session = make(score=score)
    session.step(10)
    assert session.wait(5)
    assert score.rows == []
    session.want()
    assert session.wait(5)
    session.want(4)  # scrubbed to, while paused
    assert session.wait(5)
    session.want(4)  # known already
    assert session.wait(5)
    assert score.rows == [9, 4]
    assert score.threads == {"mkldash-solver"}
    assert session.trace.values(4)["accuracy"] == session.trace[4].state
    accuracy = session.trace.columns()["accuracy"]
    assert np.flatnonzero(~np.isnan(accuracy)).tolist() == [4, 9]


def test_scores_are_given_after_the_end_too(make):
    score = Score()
    session = make(Halving(), stop=StopRule(), score=score)
    session.play()
    assert session.wait(5)
    session.want(2)
    assert session.wait(5)
    assert score.rows == [2]
    assert session.state is State.FINISHED
    with pytest.raises(IndexError):
        session.want(99)


def test_the_latest_wish_wins_and_the_clock_stands_still(make):
    gate = threading.Event()
    score = Score(seconds=0.2)
    session = make(endless(gate_at=8, gate=gate), score=score)
    session.play()
    assert until(lambda: len(session.trace) == 8)
    for k in range(8):
        session.want(k)
        session.want()
    gate.set()
    assert until(lambda: len(score.rows) == 2)
    session.pause()
    assert session.wait(5)
    assert score.rows == [7, 8]  # the last row wished for, and the newest
    columns = session.trace.columns()
    assert np.diff(columns["elapsed"])[8:].max(initial=0.0) < 0.2


def test_a_score_that_fails_does_not_end_the_run(make):
    def score(snapshot):
        raise ZeroDivisionError("no test rows")

    session = make(score=score)
    session.step(3)
    session.wait(5)
    session.want()
    assert session.wait(5)
    assert str(session.score_error) == "no test rows"
    session.step(2)
    assert session.wait(5)
    assert len(session.trace) == 5
    assert session.state is State.PAUSED


def test_a_dropped_row_that_is_wanted_is_replayed_by_the_worker(make):
    score = Score()
    session = make(budget=20_000, score=score, stop=StopRule(tol=1e-300, max_iter=300))
    session.play()
    assert session.wait(10)
    row = next(k for k in range(100, 300) if k not in session.trace.kept)
    assert session.trace.peek(row) is None
    session.want(row)
    assert session.wait(5)
    assert session.trace.peek(row).iteration == row
    assert score.rows == [row]
    assert session.trace.values(row)["accuracy"] == session.trace.columns()["state"][row]


# -- several sessions ------------------------------------------------------------


def test_a_paused_or_slow_session_holds_no_slot(make):
    paused, slow, other = make(), make(max_rate=0.001), make()
    paused.step(2)
    slow.play()
    assert paused.wait(5)
    assert until(lambda: len(slow.trace) == 1)
    assert until(lambda: COMPUTE_SLOTS.in_use == 0)
    other.step(200)
    assert other.wait(10)
    assert len(other.trace) == 200


def test_running_sessions_advance_in_turns(make):
    sessions = [make(endless(seconds=0.002)) for _ in range(4)]
    for session in sessions:
        session.play()
    assert until(lambda: max(len(s.trace) for s in sessions) >= 60)
    lengths = [len(s.trace) for s in sessions]
    assert min(lengths) >= 0.5 * max(lengths)


def test_never_more_iterations_at_once_than_slots(make):
    lock, inside, most = threading.Lock(), [0], [0]

    class Counting(Halving):
        def _sleep(self, cancel):
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            time.sleep(0.001)
            with lock:
                inside[0] -= 1

    sessions = [make(Counting(factor=0.999)) for _ in range(5)]
    for session in sessions:
        session.play()
    assert until(lambda: min(len(s.trace) for s in sessions) > 20)
    assert most[0] == COMPUTE_SLOTS.slots


def test_waiting_for_a_slot_is_not_solver_time_and_can_be_stopped(make):
    gate = threading.Event()
    holders = [make(endless(gate_at=1, gate=gate)) for _ in range(COMPUTE_SLOTS.slots)]
    waiter = make()
    waiter.step(1)
    assert waiter.wait(5)
    for holder in holders:
        holder.play()
    assert until(lambda: COMPUTE_SLOTS.in_use == COMPUTE_SLOTS.slots)
    assert until(lambda: all(len(holder.trace) == 1 for holder in holders))
    waiter.step(1)
    time.sleep(0.2)
    assert len(waiter.trace) == 1
    gate.set()
    assert waiter.wait(5)
    assert waiter.trace[1].elapsed < 0.2
    for holder in holders:
        holder.close()
    blocked = [make(endless(gate_at=0, gate=threading.Event())) for _ in holders]
    for session in blocked:
        session.play()
    assert until(lambda: all(session._control.iterating for session in blocked))
    waiter.play()
    time.sleep(0.05)
    waiter.stop()
    assert waiter.wait(5)  # no slot is ever given back
    assert waiter.status is Status.STOPPED


def test_runs_make_way_while_a_page_opens(make, monkeypatch):
    courtesy = Courtesy(rate=20.0, longest=60.0)
    monkeypatch.setattr(control_module, "COURTESY", courtesy)
    opened = courtesy.begin()
    session = make(endless())
    session.play()
    assert until(lambda: len(session.trace) >= 2)
    begun, first = time.monotonic(), len(session.trace)
    time.sleep(0.4)
    spent = time.monotonic() - begun
    assert len(session.trace) - first <= 20 * spent + 2
    opened()
    first = len(session.trace)
    assert until(lambda: len(session.trace) >= first + 500)


def test_commands_from_many_threads(make):
    session = make(endless(), score=Score())
    session.step(1)
    session.wait(5)

    def hammer(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(150):
            which = rng.integers(5)
            if which == 0:
                session.play()
            elif which == 1:
                session.pause()
            elif which == 2:
                session.step(int(rng.integers(1, 4)))
            elif which == 3:
                session.want(int(rng.integers(len(session.trace))))
            else:
                session.max_rate = None if rng.integers(2) else 1000.0

    threads = [threading.Thread(target=hammer, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    session.pause()
    assert session.wait(10)
    rows = len(session.trace)
    np.testing.assert_array_equal(session.trace.columns()["iteration"], np.arange(rows))
    session.step(5)
    assert session.wait(10)
    assert len(session.trace) == rows + 5
    assert session.error is None


def test_a_job_from_a_factory_carries_its_extra(make):
    session = make(factory=lambda building: job(Halving(), extra="workload", stop=StopRule()))
    session.play()
    assert session.wait(5)
    assert session.job.extra == "workload"
    assert session.status is Status.CONVERGED
