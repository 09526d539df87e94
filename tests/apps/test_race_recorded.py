"""Recorded comparisons: which may be opened, and what is drawn of them."""

import json
import math

import numpy as np
import pytest

from mkldash.apps.racing import folders
from mkldash.apps.racing.recorded import RecordedPage, recorded_rows
from mkldash.apps.racing.schedule import AXES
from mkldash.apps.racing.series import filters, gap_spread, make_series, matching
from mkldash.errors import InputError


def record(solver="quick", repeat=0, seconds=1.0, eta=0.5, status="converged", **more):
    return {
        "id": f"{solver}{repeat}{eta}", "data": "sonar", "problem": "elastic-net",
        "solver": solver, "title": solver.title(), "options": {}, "tol": 1e-3,
        "parameters": {"eta": eta, "C": 100.0}, "repeat": repeat, "seed": repeat,
        "status": status, "reason": None, "gap": 5e-4, "iterations": 2, "inner_solves": 3,
        "seconds": seconds, "active_kernels": 7, "test_score": 0.8, "weights": [["k", 1.0]],
        "trace": {
            "iteration": [0, 1, 2], "inner_solves": [1, 2, 3],
            "seconds": [0.1 * seconds, 0.5 * seconds, seconds],
            "upper": [2.0, 1.1, 1.0005], "lower": [-1.0, 1.0, 1.0],
        },
        **more,
    }  # fmt: skip


def write(folder, records, tail=""):
    folder.mkdir(parents=True)
    text = "".join(json.dumps(r) + "\n" for r in records)
    (folder / "results.jsonl").write_text(text + tail)
    (folder / "sweep.json").write_text('{"format": 1}')
    return folder


def test_only_named_folders_can_be_opened(tmp_path):
    write(tmp_path / "mine" / "first", [record()])
    write(tmp_path / "secret", [record()])
    folders.offer([tmp_path / "mine"])
    try:
        assert list(folders.folders()) == ["first"]
        for name in ("secret", "../secret", str(tmp_path / "secret")):
            page = RecordedPage("t", f"compare={name}", folders.folders())
            assert "no recorded comparison" in page.board.alert
            assert page._records == []
        page = RecordedPage("t", "compare=first", folders.folders())
        assert page.board.alert == ""
        assert len(page._records) == 1
    finally:
        folders.offer([])
    with pytest.raises(InputError, match=r"--compare .*results\.jsonl"):
        folders.find_folders([tmp_path / "nothing"])


def test_a_damaged_folder_is_said_and_draws_nothing(tmp_path):
    broken = write(tmp_path / "broken", [], '{"id": \n' + json.dumps(record()) + "\n")
    page = RecordedPage("t", "compare=broken", {"broken": broken})
    assert "line 1 of broken/" in page.board.alert
    assert str(tmp_path) not in page.board.alert
    page.show()
    assert page.board.facts == {"state": "failed"}
    assert page.table.rows == []


def test_repeats_become_a_median_and_a_range():
    (series,) = make_series([record(repeat=i, seconds=s) for i, s in enumerate((1.0, 2.0, 4.0))])
    assert series.spread("seconds") == (2.0, 1.0, 4.0)
    x, median, low, high = gap_spread(series, AXES["seconds"])
    at = {round(float(v), 6): i for i, v in enumerate(x)}
    assert math.isinf(median[at[0.1]])  # the lower bound is below zero there
    assert median[at[1.0]] == pytest.approx(0.1)
    assert low[at[1.0]] == pytest.approx(5e-4)
    assert math.isinf(high[at[1.0]])
    assert median[-1] == high[-1] == pytest.approx(5e-4)
    x, median, low, high = gap_spread(series, AXES["iteration"])
    assert np.array_equal(low, high)
    assert list(x) == [0.0, 1.0, 2.0]


def test_filters_series_and_who_was_first():
    records = [
        record("quick", seconds=1.0), record("slow", seconds=3.0),
        record("quick", eta=1.0), record("lost", eta=1.0, status="iteration_limit"),
        record("never", eta=1.0, status="unsupported", reason="for eta = 0 only", trace={}),
    ]  # fmt: skip
    assert filters(records) == {"data": ["sonar"], "eta": [0.5, 1.0]}
    half = make_series(matching(records, {"data": "sonar", "eta": 0.5}))
    assert [s.label for s in half] == ["Quick", "Slow"]
    rows = recorded_rows(half, "seconds", frozenset("b"))
    assert [row["badge"] for row in rows] == ["first", ""]
    assert [row["hidden"] for row in rows] == [False, True]
    assert rows[0]["cells"] == ["0.05 %", "2", "3", "1 s", "7", "80.0 %"]
    one = make_series(matching(records, {"eta": 1.0}))
    rows = recorded_rows(one, "seconds", frozenset())
    assert [row["badge"] for row in rows] == ["", "", ""]  # one of them was not certified
    assert rows[2]["why"] == "for eta = 0 only"
    assert {s.label for s in make_series(records)} >= {"Quick, η 0.5", "Quick, η 1"}
