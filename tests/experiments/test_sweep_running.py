"""The engine: what it measures, where it goes on, and where it runs."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from mkldash.errors import InputError
from mkldash.experiments import measuring, running, warming
from mkldash.experiments.choices import Choices
from mkldash.experiments.measuring import LONGEST_TRACE, measure, thinned_rows
from mkldash.experiments.results import read_results
from mkldash.experiments.running import run_sweep
from mkldash.experiments.sweep import Run, Sweep

BCD = "block-coordinate"

#: What apps and reports read; more may be there.
FIELDS = {
    "id", "data", "problem", "solver", "title", "options", "parameters", "repeat", "seed",
    "n_train", "n_test", "n_kernels", "status", "reason", "objective", "upper", "lower", "gap",
    "iterations", "inner_solves", "seconds", "bank_seconds", "support_vectors", "active_kernels",
    "train_score", "test_score", "test_mse", "weights", "trace", "versions",
}  # fmt: skip


def grid(*etas: float, **more: Any) -> Sweep:
    return Sweep.of_grid(["golden"], [BCD], axes={"eta": etas or [0.5]}, **more)


def finished(choices: Choices) -> dict[str, Any]:
    """The record of one run, as strict JSON gives it back."""
    run = Run(choices=choices)
    record = json.loads(json.dumps(measure(run), allow_nan=False))
    assert record.keys() >= FIELDS
    assert record["id"] == run.id
    assert record["status"] == "converged", record["reason"]
    trace = record["trace"]
    assert len({len(column) for column in trace.values()}) == 1
    assert trace["iteration"][0] == 0
    assert trace["iteration"][-1] == record["iterations"]
    assert trace["upper"][-1] == record["upper"]
    assert trace["lower"][-1] == record["lower"]
    assert trace["seconds"] == sorted(trace["seconds"])
    assert record["gap"] == pytest.approx(record["upper"] / record["lower"] - 1)
    assert record["bank_seconds"] > 0.0
    return record


def test_elastic_net_has_its_exact_optimum() -> None:
    tight = {"tol": 1e-9, "max_iter": 5000, "train_fraction": 1.0}
    record = finished(Choices(data="golden", solver=BCD, eta=0.5, C=100.0, **tight))
    assert record["objective"] == pytest.approx(305.684692, rel=1e-6)
    found = dict(record["weights"])
    assert sorted(found.values(), reverse=True) == list(found.values())
    assert sorted(round(value, 4) for value in found.values() if value > 1e-5) == pytest.approx(
        [0.082282, 0.187963, 0.891997], abs=1e-4
    )
    assert record["active_kernels"] == 3
    assert record["n_train"], record["n_test"] == (20, 0)
    assert record["test_score"] is None
    assert record["parameters"] == {"eta": 0.5, "C": 100.0}


def test_neighborhood_and_products_fill_in_what_they_have() -> None:
    record = finished(Choices(data="two-moons", problem="neighborhood", rho=10.0))
    assert record["n_kernels"] == 1
    assert 0.5 < record["test_score"] <= 1.0
    record = finished(Choices(data="known-products", problem="products", solver="full-gradient"))
    assert record["test_mse"] < 5.0
    assert record["test_score"] is None
    assert record["support_vectors"] is None
    assert record["n_kernels"] == 165
    assert record["weights"][0][0] == "x2 · x5"


def test_what_a_solver_does_not_take_is_a_line_with_its_reason() -> None:
    record = measure(Run(choices=Choices(data="golden", solver="mirror-descent")))
    assert record.keys() >= FIELDS
    assert record["status"] == "unsupported"
    assert record["reason"].startswith("mirror-descent is for the squared loss")
    assert record["gap"] is None
    assert record["trace"]["upper"] == []


def test_runs_on_the_same_rows_share_the_bank(monkeypatch: pytest.MonkeyPatch) -> None:
    from mkldash.experiments import banks_of_choices

    built = []
    original = banks_of_choices.build_bank

    def build(*arguments: Any, **options: Any) -> Any:
        built.append(1)
        return original(*arguments, **options)

    monkeypatch.setattr(banks_of_choices, "build_bank", build)
    sweep = Sweep.of_grid(["heart"], [BCD], axes={"eta": [0.0, 0.1], "bank": ["linear"]}, repeats=2)
    records = [measure(run) for run in sweep.runs]
    assert len(built) == 2
    seconds = [record["bank_seconds"] for record in records]
    assert seconds[0] == seconds[1] != seconds[2] == seconds[3]


def test_the_clock_starts_after_warming_up(monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    for name in ("warm_up_once", "solve"):
        original = getattr(measuring, name)

        def spy(*arguments: Any, _name: str = name, _of: Any = original, **options: Any) -> Any:
            happened.append(_name)
            return _of(*arguments, **options)

        monkeypatch.setattr(measuring, name, spy)
    loaded = iter([5, 6, 6, 6])  # something more is compiled in the first run
    monkeypatch.setattr(measuring, "functions_loaded", lambda: next(loaded))
    record = measure(Run(choices=Choices(data="golden", solver=BCD)))
    assert record["status"] == "converged", record["reason"]
    assert happened == ["warm_up_once", "solve", "solve"]
    assert "compiled code was loaded while the clock ran" not in record["notes"]
    assert record["trace"]["iteration"].count(0) == 1


def test_compiled_functions_are_counted() -> None:
    import numpy as np
    from numba import njit

    before = warming.functions_loaded()
    extra = njit(lambda x: x + 1)
    vars(warming)["_extra"] = extra
    try:
        assert extra(np.float64(1.0)) == 2.0
        assert warming.functions_loaded() == before + 1
    finally:
        del vars(warming)["_extra"]


@pytest.mark.parametrize("n", [0, 1, 2, LONGEST_TRACE, LONGEST_TRACE + 1, 12345])
def test_a_thinned_trace_keeps_both_ends(n: int) -> None:
    rows = thinned_rows(n)
    assert rows == sorted(set(rows))
    assert len(rows) == n if n <= LONGEST_TRACE else LONGEST_TRACE / 2 < len(rows) <= LONGEST_TRACE
    assert not n or (rows[0], rows[-1]) == (0, n - 1)


def test_a_run_that_breaks_is_a_line_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prepare(choices: Choices, _of: Any = measuring.prepare) -> Any:
        if choices.eta == 0.25 and fails:
            raise RuntimeError("the lights\nwent out")
        return _of(choices)

    fails = True
    monkeypatch.setattr(measuring, "prepare", prepare)
    sweep = grid(0.0, 0.25, 0.5)
    records = run_sweep(sweep, tmp_path, jobs=1)
    assert [record["status"] for record in records] == ["converged", "failed", "converged"]
    assert records[1]["reason"] == "RuntimeError: the lights went out"
    fails = False
    assert run_sweep(sweep, tmp_path, jobs=1)[1]["status"] == "failed"
    again = run_sweep(sweep, tmp_path, jobs=1, retry_failed=True)
    assert [record["status"] for record in again] == ["converged"] * 3
    assert len(read_results(tmp_path)) == 3


def test_a_sweep_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(Exception):
        pass

    def stop_after_two(done: int, total: int, record: dict[str, Any] | None) -> None:
        seen.append((done, total, record and record["parameters"]["eta"]))
        if done == 2:
            raise Stopped

    seen: list[Any] = []
    sweep = grid(0.0, 0.25, 0.5, 1.0)
    with pytest.raises(Stopped):
        run_sweep(sweep, tmp_path, jobs=1, progress=stop_after_two)
    assert seen == [(0, 4, None), (1, 4, 0.0), (2, 4, 0.25)]
    first = (tmp_path / "results.jsonl").read_bytes()
    monkeypatch.setattr(running, "measure", lambda run: ran.append(run.choices.eta) or measure(run))
    ran: list[float] = []
    records = run_sweep(sweep, tmp_path, jobs=1)
    assert ran == [0.5, 1.0]
    assert (tmp_path / "results.jsonl").read_bytes().startswith(first)
    assert [record["id"] for record in records] == [run.id for run in sweep.runs]
    ran.clear()
    assert run_sweep(sweep, tmp_path, jobs=1) == records
    assert ran == []


def test_cores_give_the_same_as_one_process(tmp_path: Path) -> None:
    sweep = grid(0.0, 0.5, 1.0, repeats=2)
    side_by_side = run_sweep(sweep, tmp_path / "two", jobs=2)
    alone = run_sweep(sweep, tmp_path / "one", jobs=1)
    for one, two in zip(alone, side_by_side, strict=True):
        assert one["upper"] == two["upper"]
        assert one["weights"] == two["weights"]
        assert (one["jobs"], two["jobs"]) == (1, 2)


def test_what_cannot_run_anything_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="jobs must be at least 1, not 0"):
        run_sweep(grid(), tmp_path / "out", jobs=0)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # nobody listens there
        address = f"tcp://127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(InputError, match="no Dask scheduler answers"):
            run_sweep(grid(), tmp_path / "out", scheduler=address)
    with pytest.raises(InputError, match="no data set"):
        run_sweep(Sweep.of_grid(["golden", "gone"], [BCD]), tmp_path / "none", jobs=1)
    assert not (tmp_path / "none").exists()
