"""The record of a run: columns, thinning, replay, values, files."""

from __future__ import annotations

import dataclasses
import io
import math
import threading
import time

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.solvers.base import new_cancel_flag
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import StopRule
from mkldash.streaming import Trace
from mkldash.streaming.replay import ReplayError, StateDroppedError
from tests.recipes import golden_problem
from tests.streaming.dummies import DummySnapshot, Halving, endless, make_problem, same

LONG = StopRule(tol=1e-300, max_iter=400)


def record(solver=None, budget=10**9, stop=LONG, replay="solver", problem=None):
    """A whole run in a trace, and every snapshot of it."""
    solver = endless(cut_every=50) if solver is None else solver
    problem = make_problem(rows=500) if problem is None else problem
    again = (lambda s, c: solver.iterate(problem, s, c)) if replay == "solver" else replay
    trace, seen = Trace(again, budget=budget), []
    solve(solver, problem, stop=stop, callbacks=[trace.append, seen.append])
    return trace, seen


def test_columns_hold_every_scalar_of_every_iteration():
    trace, seen = record(stop=StopRule(max_iter=7, tol=1e-300))
    columns = trace.columns()
    assert len(trace) == 8
    for name in ("iteration", "elapsed", "objective", "upper", "lower", "gap", "inner_solves"):
        np.testing.assert_array_equal(columns[name], [getattr(s, name) for s in seen])
    np.testing.assert_array_equal(columns["half_steps"], 3 * np.arange(8))
    assert math.isnan(columns["step"][0])
    assert columns["step"][3] == seen[3].step
    np.testing.assert_array_equal(columns["active_kernels"], 2)
    assert columns["inner_solves"].dtype == np.int64
    assert not {"alpha", "weights", "events", "iterate"} & set(columns)
    np.testing.assert_array_equal(trace.columns(since=6)["iteration"], [6, 7])
    assert set(trace.names) == set(columns)


def test_rows_are_found_by_position_and_by_iteration():
    trace, seen = record(stop=StopRule(max_iter=5, tol=1e-300))
    assert trace[2] is seen[2]
    assert trace[-1] is seen[-1] is trace.latest
    assert trace.find(4) == 4
    with pytest.raises(KeyError, match="iteration 9"):
        trace.find(9)
    for k in (6, -7):
        with pytest.raises(IndexError):
            trace[k]
    assert Trace().latest is None
    assert Trace().columns() == {}
    assert Trace().events() == []
    with pytest.raises(KeyError):
        Trace().find(0)


def test_events_of_all_rows_are_kept():
    trace, _ = record(budget=60_000)
    assert trace.events() == [(50 * i, f"cut {i + 1} added") for i in range(9)]
    assert trace.events(since=350) == [(350, "cut 8 added"), (400, "cut 9 added")]


def test_states_stay_under_the_budget_recent_ones_dense():
    trace, seen = record(budget=200_000)
    assert trace.nbytes <= 200_000
    kept = trace.kept
    assert 20 < len(kept) < 100
    assert kept[0] == 0
    assert kept[-5:] == tuple(range(396, 401))
    assert all(trace[k] is seen[k] for k in kept)
    assert len(trace.columns()["iteration"]) == 401
    holes = np.diff(kept)
    assert holes[: len(holes) // 4].mean() > 2 * holes[-len(holes) // 4 :].mean()


def test_the_best_state_is_kept():
    trace, seen = Trace(budget=40_000), []
    solve(endless(), make_problem(rows=500), stop=LONG, callbacks=[seen.append])
    for snapshot in seen:  # the best stays that of iteration 7
        best = min(snapshot.iteration, 7)
        trace.append(dataclasses.replace(snapshot, best_iteration=best, best=seen[best].best))
    assert len(trace.kept) < 20
    assert 7 in trace.kept


def test_shared_pieces_are_counted_once():
    one, _ = record(endless(cut_every=1), stop=StopRule(tol=1e-300, max_iter=200))
    copies, shared = 200 * 200 / 2 * 800, 201 * 800
    own = 201 * 2 * 500 * 8
    assert one.nbytes < own + shared + 201 * 5000 + 201 * 201 * 8 < copies


def test_a_dropped_state_is_replayed_to_the_bit():
    trace, seen = record(budget=60_000)
    dropped = [k for k in range(401) if k not in trace.kept]
    assert len(dropped) > 300
    for k in (dropped[0], dropped[-1], dropped[len(dropped) // 2], dropped[7]):
        assert trace.peek(k) is None
        assert same(trace[k], seen[k])
        assert trace.peek(k) is trace[k]  # the replayed one is held
    assert trace.nbytes <= 60_000


def test_replay_runs_from_the_nearest_earlier_state_held():
    starts = []
    solver, problem = endless(), make_problem(rows=500)

    def replay(start, cancel):
        starts.append(start.iteration)
        return solver.iterate(problem, start, cancel)

    trace, _ = record(solver, budget=200_000, replay=replay, problem=problem)
    k = next(k for k in range(401) if {k - 2, k - 1, k} & set(trace.kept) == {k - 2})
    assert trace[k].iteration == k
    assert trace[k - 1].iteration == k - 1  # on the way, so held already
    assert starts == [k - 2]


def test_replayed_states_are_held_in_an_eighth_of_the_budget():
    trace, _ = record(budget=200_000)
    gap_end = next(b for a, b in zip(trace.kept, trace.kept[1:], strict=False) if b - a > 5)
    assert trace[gap_end - 1] is trace.peek(gap_end - 1)
    for k in range(1, 200):
        assert trace[k].iteration == k
    assert trace._replayed._ledger.total <= 25_000


def test_without_replay_a_dropped_state_says_so():
    trace, _ = record(budget=60_000, replay=None)
    with pytest.raises(StateDroppedError, match="iteration 3 was not kept"):
        trace[3]


def test_a_replay_that_differs_is_refused():
    other = Halving(factor=0.998)
    problem = make_problem(rows=500)
    trace, _ = record(budget=60_000, replay=lambda s, c: other.iterate(problem, s, c))
    k = next(k for k in range(401) if k not in trace.kept)
    with pytest.raises(ReplayError, match=r"gave objective .* where the run had"):
        trace[k]


def test_a_replay_can_be_paced_and_cancelled():
    trace, seen = record(budget=60_000)
    k = max(b for a, b in zip(trace.kept, trace.kept[1:], strict=False) if b - a > 5) - 1
    steps = list(trace.steps_to(k))
    assert [s.iteration for s in steps] == list(range(k - len(steps) + 1, k + 1))
    assert same(steps[-1], seen[k])
    trace, _ = record(budget=60_000)
    cancel = new_cancel_flag()
    replayed = trace.steps_to(k, cancel)
    next(replayed)
    cancel[0] = 1
    with pytest.raises(ReplayError, match="cancelled"):
        list(replayed)


def test_a_pinned_state_stays():
    trace, seen = record(budget=60_000)
    k = next(k for k in range(401) if k not in trace.kept)
    trace.pin(k)
    for snapshot in endless().iterate(make_problem(rows=500), seen[-1]):
        trace.append(snapshot)
        if snapshot.iteration == 800:
            break
    assert k in trace.kept
    assert same(trace[k], seen[k])


def test_values_become_columns_and_arrays_go_with_their_state():
    trace, seen = record(budget=10**9, stop=StopRule(tol=1e-300, max_iter=100))
    trace.add_values(3, {"accuracy": 0.75, "decision": np.arange(4.0)})
    trace.add_values(2, {"accuracy": np.float64(0.5), "decision": np.arange(4.0)})
    assert trace.values(3)["accuracy"] == 0.75
    assert trace.has_values(3)
    np.testing.assert_array_equal(trace.values(3)["decision"], np.arange(4.0))
    assert trace.values(4) == {}
    assert not trace.has_values(4)
    accuracy = trace.columns()["accuracy"]
    np.testing.assert_array_equal(accuracy[:5], [np.nan, np.nan, 0.5, 0.75, np.nan])
    assert trace.n_scored == 2
    trace.budget = 30_000
    trace.append(seen[-1])
    assert 3 not in trace.kept
    assert trace.values(3) == {"accuracy": 0.75}
    assert not trace.has_values(3)


def test_values_do_not_alias_and_may_not_hide_a_scalar():
    trace, _ = record(stop=StopRule(tol=1e-300, max_iter=3))
    mine = np.zeros(3)
    trace.add_values(0, {"decision": mine})
    mine[0] = 9
    np.testing.assert_array_equal(trace.values(0)["decision"], 0)
    with pytest.raises(ValueError, match="'upper'"):
        trace.add_values(0, {"upper": 1.0})


def test_large_values_of_dropped_states_do_not_pile_up():
    trace, _ = record(budget=100_000)
    for k in range(1, 300):
        trace.add_values(k, {"decision": np.zeros(1000)})
    assert trace.nbytes <= 100_000
    assert trace.has_values(299)


def test_a_trace_adopts_the_beginning_of_another():
    parent, seen = record(budget=100_000)
    parent.add_values(5, {"accuracy": 0.5})
    child = Trace(budget=100_000)
    k = next(k for k in range(100, 401) if k not in parent.kept)
    child.adopt(parent, k)
    solver = Halving(factor=0.99)
    problem = make_problem(rows=500)
    child.set_replay(lambda s, c: solver.iterate(problem, s, c))
    for snapshot in solver.iterate(problem, parent[k]):
        child.append(snapshot)
        if snapshot.iteration == 2000:
            break
    assert len(child) == 2001
    assert len(parent) == 401
    np.testing.assert_array_equal(child.columns()["iteration"], np.arange(2001))
    np.testing.assert_array_equal(
        child.columns()["upper"][: k + 1], parent.columns()["upper"][: k + 1]
    )
    assert child.columns()["accuracy"][5] == 0.5
    assert k in child.kept
    assert same(child[k], seen[k])
    before = next(i for i in range(k) if i not in child.kept)
    assert same(child[before], seen[before])  # by the parent's solver
    after = next(i for i in range(k + 1, 2001) if i not in child.kept)
    assert child[after].iteration == after  # by its own; checked against the columns
    assert child.events() == [e for e in parent.events() if e[0] <= k]
    with pytest.raises(ValueError, match="empty"):
        child.adopt(parent, 3)


# -- P03: zeros, negatives and NaN are recorded raw ------------------------------


def raw_trace():
    base = next(endless().iterate(make_problem()))
    numbers = [
        (1.0, 0.5),
        (1.0, 1.0),
        (1.0, 1.0 + 1e-16),
        (1.0, -1e-16),
        (np.inf, np.nan),
        (0.0, 0.0),
    ]
    trace = Trace()
    for k, (upper, lower) in enumerate(numbers):
        trace.append(dataclasses.replace(base, iteration=k, upper=upper, lower=lower, state=-0.0))
    return trace, numbers


def test_raw_numbers_are_exported_as_they_are(tmp_path):
    trace, numbers = raw_trace()
    trace.save(tmp_path / "raw.npz")
    for one in (trace, Trace.load(tmp_path / "raw.npz", types=[DummySnapshot])):
        columns = one.columns()
        np.testing.assert_array_equal(columns["upper"], [u for u, _ in numbers])
        np.testing.assert_array_equal(columns["lower"], [v for _, v in numbers])
        assert columns["gap"][1] == 0.0
        assert math.isinf(columns["gap"][3])
        assert np.all(np.signbit(columns["state"]))


# -- files -----------------------------------------------------------------------


def test_saving_and_loading_gives_the_same_trace(tmp_path):
    trace, seen = record(budget=200_000)
    trace.add_values(400, {"accuracy": 0.75, "decision": np.arange(4.0)})
    path = tmp_path / "run.npz"
    trace.save(path)
    solver, problem = endless(cut_every=50), make_problem(rows=500)
    back = Trace.load(path, lambda s, c: solver.iterate(problem, s, c), types=[DummySnapshot])
    assert back.names == trace.names
    assert back.kept == trace.kept
    for name, column in trace.columns().items():
        np.testing.assert_array_equal(back.columns()[name], column)
        assert back.columns()[name].dtype == column.dtype
    assert all(same(back[k], trace[k]) for k in trace.kept)
    assert same(back[1], seen[1])  # not kept, replayed
    assert back.events() == trace.events()
    assert same(back.latest, trace.latest)
    np.testing.assert_array_equal(back.values(400)["decision"], np.arange(4.0))
    assert back.has_values(400)
    assert back.budget == trace.budget
    assert abs(back.nbytes - trace.nbytes) < 0.1 * trace.nbytes
    back.append(next(solver.iterate(problem, back.latest)))  # a loaded run goes on
    assert back.columns()["iteration"][-1] == 401


def test_the_file_is_read_with_plain_numpy(tmp_path):
    trace, _ = record(budget=200_000)
    trace.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz", allow_pickle=False) as file:
        assert len(file["column.gap"]) == 401
        assert list(file["kernels"]) == ["a", "b", "c"]
        assert file["weights"].shape == (len(file["kept"]), 3)
        np.testing.assert_array_equal(file["weights"][-1], trace.latest.weights.values)


def test_an_empty_trace_is_saved_too(tmp_path):
    Trace().save(tmp_path / "empty.npz")
    assert len(Trace.load(tmp_path / "empty.npz")) == 0


def test_what_is_not_a_trace_is_refused(tmp_path):
    (tmp_path / "text.npz").write_text("no archive")
    (tmp_path / "void.npz").write_bytes(b"")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    np.savez(tmp_path / "pickle.npz", format=np.array([{}], dtype=object))
    for name in ("text", "void", "other", "pickle", "absent"):
        with pytest.raises(InputError, match=f"{name}.npz is not an mkldash trace"):
            Trace.load(tmp_path / f"{name}.npz")


def test_a_damaged_trace_is_refused_in_own_words(tmp_path):
    trace, _ = record(stop=StopRule(tol=1e-300, max_iter=3))
    path = tmp_path / "run.npz"
    trace.save(path)
    whole = path.read_bytes()
    with np.load(path) as file:
        entries = dict(file)
    packed = io.BytesIO()
    np.savez_compressed(packed, **entries)
    broken = bytearray(packed.getvalue())
    broken[60:400] = b"\xff" * 340
    locked = bytearray(whole)
    locked[6] |= 1
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    pointless = io.BytesIO()
    np.savez(pointless, **{k: v for k, v in entries.items() if k != "tree"})
    for content in (broken, locked, whole[:-50], pointless.getvalue(), b"\x80\x04K\x01."):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"run\.npz is not an mkldash trace") as caught:
            Trace.load(path, types=[DummySnapshot])
        assert "pickle" not in str(caught.value)


def test_a_foreign_snapshot_type_must_be_allowed(tmp_path):
    trace, _ = record(stop=StopRule(tol=1e-300, max_iter=3))
    trace.save(tmp_path / "run.npz")
    with pytest.raises(InputError, match="DummySnapshot"):
        Trace.load(tmp_path / "run.npz")


def test_a_real_run_is_replayed_saved_and_loaded_to_the_bit(tmp_path):
    solver, problem = BlockCoordinateDescent(), golden_problem(0.5)
    stop = StopRule(tol=1e-9, max_iter=60)
    trace, seen = record(solver, budget=30_000, stop=stop, problem=problem)
    dropped = [k for k in range(len(seen)) if k not in trace.kept]
    assert len(dropped) > 20
    for k in dropped[::7]:
        assert same(trace[k], seen[k])
    trace.save(tmp_path / "golden.npz")
    back = Trace.load(tmp_path / "golden.npz", lambda s, c: solver.iterate(problem, s, c))
    assert back.kept == trace.kept
    assert all(same(back[k], seen[k]) for k in (*trace.kept, *dropped[::7]))


# -- threads ---------------------------------------------------------------------


def test_readers_never_see_half_a_row():
    trace, problems, done = Trace(budget=100_000), [], threading.Event()

    def read() -> None:
        seen = 0
        while not (done.is_set() and seen == len(trace)):
            columns = trace.columns(since=seen)
            lengths = {len(column) for column in columns.values()}
            if len(lengths) > 1:
                problems.append(f"lengths {lengths}")
                return
            if columns and len(columns["iteration"]):
                expected = np.arange(seen, seen + len(columns["iteration"]))
                if not np.array_equal(columns["iteration"], expected):
                    problems.append("iterations out of order")
                if not np.array_equal(columns["half_steps"], 3 * expected):
                    problems.append("a row half written")
                if np.isnan(columns["upper"]).any():
                    problems.append("a row not written")
                seen += len(expected)
                state = trace.peek(seen - 1)
                if state is not None and state.iteration != seen - 1:
                    problems.append("another state")
                _ = trace.kept, trace.nbytes, trace.events(seen), trace.values(seen - 1)
            time.sleep(1e-4)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for snapshot in endless(cut_every=10).iterate(make_problem(rows=50)):
        trace.append(snapshot)
        if snapshot.iteration % 7 == 0:
            trace.add_values(snapshot.iteration, {"accuracy": 1.0, "map": np.zeros(20)})
        if snapshot.iteration == 5000:
            break
    done.set()
    for reader in readers:
        reader.join(20)
    assert problems == []
    assert len(trace) == 5001


def test_a_budget_must_be_positive():
    with pytest.raises(ValueError, match="positive"):
        Trace(budget=0)
