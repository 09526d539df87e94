"""The run on screen: floods, late results, ghosts, two users."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import pytest

from mkldash.errors import InputError
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.stopping import Status, StopRule
from mkldash.streaming import Job, Runner, State
from tests.recipes import golden_data, golden_kernels
from tests.streaming.dummies import Halving, endless, job, until

TIGHT = StopRule(tol=1e-8, max_iter=2000)


@pytest.fixture
def make():
    made = []

    def make(**given):
        made.append(Runner(**given))
        return made[-1]

    yield make
    for runner in made:
        runner.close()


class Counter:
    """Counts how many jobs are built or run at once, and which ran to their end."""

    def __init__(self) -> None:
        self.lock, self.now, self.most, self.built = threading.Lock(), 0, 0, []

    def factory(self, value: float, solver: Halving | None = None, seconds: float = 0.0):
        def factory(building):
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
                self.built.append(value)
            try:
                end = time.monotonic() + seconds
                while time.monotonic() < end:
                    building.check()
                    time.sleep(0.002)
                return job(solver or Halving(), target=value)
            finally:
                with self.lock:
                    self.now -= 1

        return factory


def golden_job(C: float, seconds: float = 0.0):
    """GOLDEN at eta = 0.5, after an artificial delay that looks at the cancel flag."""

    def factory(building):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            building.check()
            time.sleep(0.002)
        _, y = golden_data()
        problem = Problem(precomputed_bank(golden_kernels()), y, Hinge(C), ElasticNet(0.5))
        return Job(
            solver=BlockCoordinateDescent(), problem=problem, stop=TIGHT, start=building.warm
        )

    return factory


def test_a_flood_runs_the_last_and_skips_the_rest(make):  # U01
    runner, sessions = make(), []

    def factory(C):
        return golden_job(float(C), seconds=0.5)

    for C in [*range(1, 51), 100]:
        sessions.append(runner.start(factory(C), parameters=C))
        running = [s for s in sessions if s._control.busy and s.state is State.RUNNING]
        assert len(running) <= 1
        time.sleep(0.01)
    assert runner.current.wait(20)
    ended = [s.parameters for s in sessions if s.status is Status.CONVERGED]
    assert ended == [100]
    assert runner.current.parameters == 100
    assert runner.current.result.upper == pytest.approx(305.685, abs=1e-3)
    assert runner.started == 51
    assert not runner.waiting


def test_a_drag_of_100_settles_on_the_last(make):
    runner, counter = make(), Counter()
    for value in range(1, 101):
        runner.start(counter.factory(value, seconds=0.01), parameters=value)
    assert runner.current.wait(20)
    assert runner.current.parameters == 100
    assert runner.current.result.upper == pytest.approx(100, rel=1e-3)
    assert counter.most == 1
    assert counter.built[-1] == 100
    assert runner.skipped > 80
    assert len(counter.built) < 20


def test_one_runs_and_one_waits_while_an_iteration_does_not_look(make):
    runner, gate = make(), threading.Event()
    deaf = endless(gate_at=2, gate=gate, polls=False)
    counter = Counter()
    first = runner.start(counter.factory(1.0, deaf), parameters=1)
    assert until(lambda: len(first.trace) == 2)
    waiting = [runner.start(counter.factory(v), parameters=v) for v in (2.0, 3.0, 4.0)]
    assert runner.waiting
    assert runner.current is waiting[-1]
    assert runner.current.state is State.IDLE
    assert runner.current.playing
    assert len(runner.current.trace) == 0
    assert not runner.current.wait(0.1)
    assert counter.built == [1.0]
    gate.set()
    assert runner.current.wait(5)
    assert counter.built == [1.0, 4.0]
    assert runner.skipped == 2
    assert [s.state for s in waiting[:2]] == [State.CLOSED, State.CLOSED]
    assert len(first.trace) == 2


def test_a_late_result_is_never_under_new_values(make):  # U02
    runner, seen, begun, release = make(), set(), threading.Event(), threading.Event()

    def slow(building):  # does not look at its cancel flag
        begun.set()
        release.wait(20)
        return golden_job(100.0)(building)

    old = runner.start(slow, parameters=100)
    assert begun.wait(5)
    assert old.building
    runner.start(golden_job(1.0), parameters=1)

    def look() -> bool:
        session = runner.current
        rows = session.trace.columns().get("upper", ())
        seen.update((session.parameters, upper < 100) for upper in rows)
        return session.result is not None

    for _ in range(20):
        assert not look()
        time.sleep(0.005)
    release.set()
    assert until(look)
    assert seen == {(1, True)}
    assert runner.current.parameters == 1
    assert runner.current.result.upper == pytest.approx(19.1251, abs=1e-4)
    assert old.result is None
    assert len(old.trace) == 0
    assert runner.previous is None


def test_late_snapshots_of_a_deaf_run_stay_with_it(make):
    runner, gate = make(ghost_after=0.0), threading.Event()
    old = runner.start(
        lambda building: job(endless(gate_at=3, gate=gate, polls=False), target=100.0),
        parameters="old",
    )
    assert until(lambda: len(old.trace) == 3)
    new = runner.start(lambda building: job(Halving(), target=1.0), parameters="new")
    gate.set()
    assert new.wait(5)
    assert new.trace.columns()["upper"].max() <= 2.0
    assert len(old.trace) == 3
    assert runner.previous is old
    assert runner.current is new


def test_two_users_do_not_affect_each_other(make):  # U05
    one, two = make(), make()
    for i in range(10):
        one.start(golden_job([100.0, 7.0][i % 2]), parameters=("A", [100, 7][i % 2]))
        two.start(golden_job([7.0, 1.0][i % 2]), parameters=("B", [7, 1][i % 2]))
    one.start(golden_job(100.0), parameters=("A", 100))
    assert one.current.wait(20)
    assert two.current.wait(20)
    assert one.current.parameters == ("A", 100)
    assert one.current.result.upper == pytest.approx(305.684692, rel=1e-6)
    assert two.current.parameters == ("B", 1)
    assert two.current.result.upper == pytest.approx(19.1251, abs=1e-4)


def test_the_run_before_stays_as_a_ghost(make):
    runner = make()
    first = runner.start(lambda b: job(Halving()), parameters="first")
    assert first.wait(5)
    second = runner.start(lambda b: job(endless()), parameters="second")
    assert runner.previous is first
    assert first.status is Status.CONVERGED
    assert len(first.trace) == 12
    assert until(lambda: len(second.trace) > 3)
    third = runner.start(lambda b: job(Halving()), parameters="third")
    assert runner.previous is first  # the second was cut short
    assert third.wait(5)
    fourth = runner.start(lambda b: job(Halving()), parameters="fourth")
    assert runner.previous is third
    assert fourth.wait(5)
    runner.forget_previous()
    assert runner.previous is None


def test_a_paused_run_becomes_the_ghost_and_a_long_one_too(make):
    runner = make(ghost_after=0.05)
    done = runner.start(lambda b: job(Halving()))
    assert done.wait(5)
    paused = runner.start(lambda b: job(endless()))
    assert until(lambda: len(paused.trace) > 3)
    paused.pause()
    runner.start(lambda b: job(endless()))
    assert runner.previous is paused
    long = runner.current
    assert until(lambda: len(long.trace) > 3)
    time.sleep(0.06)
    runner.start(lambda b: job(Halving()))
    assert runner.previous is long


def test_the_best_point_before_is_handed_to_the_factory(make):
    runner, warm = make(), []

    def factory(building):
        warm.append(building.warm)
        return job(Halving(), start=building.warm)

    first = runner.start(factory)
    assert first.wait(5)
    second = runner.start(factory)
    assert second.wait(5)
    assert warm[0] is None
    assert warm[1].weights is first.result.best.weights
    assert warm[1].alpha is first.result.best.alpha
    assert len(second.trace) == 1  # converged at its start


def test_started_paused_it_builds_and_waits(make):
    runner = make()
    session = runner.start(lambda b: job(Halving()), play=False)
    assert session.wait(5)
    assert session.state is State.PAUSED
    assert session.job is not None
    session.step(2)
    assert session.wait(5)
    assert len(session.trace) == 2


def test_commands_to_a_waiting_session_are_kept(make):
    runner, gate = make(), threading.Event()
    first = runner.start(lambda b: job(endless(gate_at=1, gate=gate, polls=False)))
    assert until(lambda: len(first.trace) == 1)
    second = runner.start(lambda b: job(Halving()), play=False)
    second.step(3)
    assert second.state is State.IDLE
    gate.set()
    assert until(lambda: len(second.trace) == 3)
    assert second.wait(5)
    assert second.state is State.PAUSED


def test_a_waiting_session_can_be_stopped(make):
    runner, gate = make(), threading.Event()
    first = runner.start(lambda b: job(endless(gate_at=1, gate=gate, polls=False)))
    assert until(lambda: len(first.trace) == 1)
    second = runner.start(lambda b: job(Halving()))
    second.stop()
    assert second.status is Status.STOPPED
    gate.set()
    assert until(lambda: not runner.waiting)
    assert second.result is None
    third = runner.start(lambda b: job(Halving()))
    assert third.wait(5)
    assert third.status is Status.CONVERGED


def test_an_input_error_is_the_current_sessions(make):
    runner = make()

    def factory(building):
        raise InputError("C must be positive")

    session = runner.start(factory)
    assert session.wait(5)
    assert runner.current.state is State.FAILED
    assert str(runner.current.error) == "C must be positive"
    after = runner.start(lambda b: job(Halving()))
    assert after.wait(5)
    assert after.status is Status.CONVERGED


def test_a_branch_makes_the_run_the_ghost(make):
    runner = make()
    first = runner.start(lambda b: job(Halving(), extra="workload"), parameters="eta 0.5")
    assert first.wait(5)
    branch = runner.branch(4, solver=Halving(factor=0.25))
    assert branch.wait(5)
    assert runner.previous is first
    assert branch.parameters == "eta 0.5"
    assert branch.job.extra == "workload"
    assert branch.trace[4] is first.trace[4]
    assert len(branch.trace) < len(first.trace)
    with pytest.raises(IndexError):
        runner.branch(99)
    with pytest.raises(IndexError):
        make().branch(0)


def test_the_rate_holds_for_later_sessions_too(make):
    runner = make(max_rate=0.001)
    first = runner.start(lambda b: job(endless()))
    assert until(lambda: len(first.trace) == 1)
    second = runner.start(lambda b: job(endless()))
    assert until(lambda: len(second.trace) == 1)
    time.sleep(0.05)
    assert len(second.trace) == 1
    runner.max_rate = None
    assert second.wait(10)
    assert second.status is Status.ITERATION_LIMIT


def test_a_closed_runner_takes_nothing_and_leaves_nothing():
    runner = Runner(on_change=lambda: None)
    for _ in range(5):
        runner.start(lambda b: job(endless()))
    runner.close()
    assert runner.current.state is State.CLOSED
    with pytest.raises(RuntimeError, match="closed"):
        runner.start(lambda b: job(Halving()))
    gone = [weakref.ref(runner), weakref.ref(runner.current)]
    del runner
    gc.collect()
    assert [ref() for ref in gone] == [None, None]
