"""The small parts: byte counts, columns, thinning, slots, encoding."""

from __future__ import annotations

import json
import math
import threading
from dataclasses import dataclass

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.kernels.weights import Weights
from mkldash.solvers.stopping import Status
from mkldash.streaming.columns import Columns
from mkldash.streaming.courtesy import Courtesy
from mkldash.streaming.encoding import decode, encode
from mkldash.streaming.ledger import Ledger
from mkldash.streaming.slots import ComputeSlots
from mkldash.streaming.thinning import choose_victims


@dataclass(frozen=True, eq=False)
class Pair:
    one: object
    two: object


# -- ledger ----------------------------------------------------------------------


def test_a_shared_array_is_counted_once_and_given_back_with_its_last_holder():
    ledger, big = Ledger(), np.zeros(10_000)
    first, second = Pair(big, 1.0), Pair("text", (big,))
    ledger.add(first)
    alone = ledger.total
    assert big.nbytes < alone < big.nbytes + 1000
    ledger.add(second)
    assert alone < ledger.total < alone + 1000
    ledger.remove(first)
    assert ledger.total > big.nbytes
    ledger.remove(second)
    assert ledger.total == 0


def test_a_view_keeps_its_whole_base():
    ledger = Ledger()
    ledger.add(np.zeros(10_000)[:2])
    assert ledger.total > 80_000


def test_removing_what_is_not_counted_is_an_error():
    with pytest.raises(KeyError):
        Ledger().remove(np.zeros(3))


def test_a_deep_chain_of_shared_pieces_is_no_recursion():
    ledger, chain = Ledger(), ()
    for _ in range(5000):
        chain = (chain, np.zeros(1))
    ledger.add(chain)
    ledger.remove(chain)
    assert ledger.total == 0


# -- columns ---------------------------------------------------------------------


def test_columns_keep_their_types_and_old_views_stay_valid():
    columns = Columns()
    for k in range(64):
        columns.append({"k": k, "x": k / 2, "flag": k % 2 == 0})
    early = columns.read(60)
    for k in range(64, 200):
        columns.append({"k": k, "x": k / 2, "flag": False})
    now = columns.read(since=60)
    assert [now[name].dtype.kind for name in ("k", "x", "flag")] == ["i", "f", "b"]
    np.testing.assert_array_equal(now["k"], np.arange(60, 200))
    np.testing.assert_array_equal(early["k"], [60, 61, 62, 63])
    assert all(len(part) == 0 for part in columns.read(since=500).values())
    with pytest.raises(ValueError, match="read-only"):
        now["k"][0] = 1


def test_a_missing_number_is_nan_and_a_late_name_is_filled_up():
    columns = Columns()
    columns.append({"k": 0, "step": None})
    columns.append({"k": 1, "step": 0.5})
    columns.append({"k": 2, "step": None, "n": 7})
    columns.append({"k": None, "step": 1})
    found = columns.read()
    np.testing.assert_array_equal(found["k"], [0, 1, 2, np.nan])
    np.testing.assert_array_equal(found["step"], [np.nan, 0.5, np.nan, 1])
    np.testing.assert_array_equal(found["n"], [np.nan, np.nan, 7, np.nan])


def test_late_columns_are_copies_and_can_be_filled_in_any_order():
    columns = Columns()
    for k in range(3):
        columns.append({"k": k})
    columns.put("score", 1, 0.25)
    before = columns.read()["score"]
    columns.put("score", 0, 0.5)
    np.testing.assert_array_equal(before, [np.nan, 0.25, np.nan])
    np.testing.assert_array_equal(columns.read()["score"], [0.5, 0.25, np.nan])
    assert columns.late_row(1) == {"score": 0.25}
    assert not columns.is_own("score")
    head = columns.head(2)
    head.append({"k": 9})
    np.testing.assert_array_equal(head.read()["k"], [0, 1, 9])
    np.testing.assert_array_equal(head.read()["score"], [0.5, 0.25, np.nan])
    assert len(columns) == 3


# -- thinning --------------------------------------------------------------------


def test_old_rows_go_first_and_the_distance_grows_with_age():
    rows = list(range(1000))
    while len(rows) > 60:
        for k in choose_victims(rows, 999, {0, 300, 999}):
            rows.remove(k)
    assert {0, 300, 999} <= set(rows)
    assert rows[-10:] == list(range(990, 1000))
    holes, ages = np.diff(rows), 999 - np.array(rows[1:])
    assert np.all(holes <= 1 + 0.4 * (ages + 1))
    young, old = holes[ages < 50].mean(), holes[ages > 500].mean()
    assert old > 5 * young


def test_neighbours_do_not_go_together_and_nothing_goes_when_all_is_kept():
    victims = choose_victims(range(40), 39, {0, 39})
    assert 0 < len(victims) <= 10
    assert min(np.diff(sorted(victims))) >= 2
    assert choose_victims(range(40), 39, set(range(40))) == []
    assert choose_victims([0, 5], 5, ()) == []


# -- slots -----------------------------------------------------------------------


def test_slots_are_handed_over_in_turn():
    slots, woken = ComputeSlots(1), []
    first = slots.request(lambda: woken.append("first"))
    second = slots.request(lambda: woken.append("second"))
    third = slots.request(lambda: woken.append("third"))
    assert (first.granted, second.granted, third.granted) == (True, False, False)
    slots.release(second)  # gives up before its turn
    slots.release(first)
    again = slots.request(lambda: woken.append("again"))
    assert third.granted
    assert not again.granted
    assert woken == ["third"]
    slots.release(third)
    slots.release(again)
    assert slots.in_use == 0
    with pytest.raises(ValueError, match="at least 1"):
        ComputeSlots(0)


def test_never_more_slots_than_there_are():
    slots, lock, inside, most = ComputeSlots(2), threading.Lock(), [0], [0]

    def work() -> None:
        for _ in range(200):
            event = threading.Event()
            ticket = slots.request(event.set)
            if not ticket.granted:
                event.wait()
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            with lock:
                inside[0] -= 1
            slots.release(ticket)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] <= 2
    assert slots.in_use == 0


# -- encoding --------------------------------------------------------------------


def test_a_tree_comes_back_equal_with_what_was_shared_still_shared():
    shared = np.arange(3.0)
    tree = {
        "numbers": [0.1, -0.0, math.inf, -math.inf, 2**80, True, None, "text"],
        3: (shared, Pair(shared, Status.STALLED), frozenset({1, 2})),
        "weights": Weights.of(("a", ("b", 1)), [1.0, 2.0]),
        "empty": np.empty((0, 2)),
        "ints": np.arange(4, dtype=np.int32),
        "scalar": np.float64(0.5),
    }
    back = decode(encode(tree), [Pair])
    assert back["numbers"] == tree["numbers"]
    assert math.copysign(1, back["numbers"][1]) == -1
    assert back[3][0] is back[3][1].one
    np.testing.assert_array_equal(back[3][0], shared)
    assert not back[3][0].flags.writeable
    assert back[3][1].two is Status.STALLED
    assert back[3][2] == {1, 2}
    assert back["weights"].keys == ("a", ("b", 1))
    assert back["empty"].shape == (0, 2)
    assert back["ints"].dtype == np.int32
    assert back["scalar"] == 0.5


def test_nan_survives():
    assert math.isnan(decode(encode((math.nan,)))[0])


@pytest.mark.parametrize("item", [object(), np.array([object()]), {1, 2}])
def test_what_has_no_plain_form_is_refused(item):
    with pytest.raises(TypeError, match="cannot be saved"):
        encode((item,))


@pytest.mark.parametrize(
    "name",
    ["os:system", "subprocess:Popen", "mkldash.errors:InputError", "mkldash.nowhere:Thing"],
)
def test_only_dataclasses_and_enums_of_mkldash_are_made(name):
    text = json.dumps({"root": {"n": 0}, "nodes": [["object", name, {}]]})
    with pytest.raises(InputError, match="which mkldash does not have"):
        decode({"tree": np.frombuffer(text.encode(), dtype=np.uint8)})


def test_other_fields_are_another_version():
    text = json.dumps({"root": {"n": 0}, "nodes": [["object", f"{__name__}:Pair", {"three": 3}]]})
    with pytest.raises(InputError, match="another version"):
        decode({"tree": np.frombuffer(text.encode(), dtype=np.uint8)}, [Pair])


# -- courtesy --------------------------------------------------------------------


def test_courtesy_holds_until_the_last_page_has_opened():
    courtesy = Courtesy(rate=8.0, longest=60.0)
    assert courtesy.rate() is None
    first, second = courtesy.begin(), courtesy.begin()
    assert courtesy.rate() == courtesy.rate(100.0) == 8.0
    assert courtesy.rate(2.0) == 2.0  # slower anyway
    first()
    first()
    assert courtesy.rate() == 8.0
    second()
    assert courtesy.rate(100.0) == 100.0


def test_a_page_that_never_opens_is_not_waited_for_for_ever():
    courtesy = Courtesy(rate=8.0, longest=0.0)
    courtesy.begin()
    assert courtesy.rate() is None
