"""Reproductions: what they declare, what their sentences say, and a tiny run of each kind."""

from __future__ import annotations

import csv
import dataclasses
import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mkldash.datasets.cards import available, load
from mkldash.errors import InputError
from mkldash.experiments import product_tables, reproducing
from mkldash.experiments.measuring import asked, measure
from mkldash.experiments.reproducing import (
    find_reproduction,
    markdown,
    measured_durations,
    reproduce,
    results_in_order,
)
from mkldash.experiments.reproductions import available_reproductions, neighborhood_accuracy
from mkldash.experiments.reproductions.base import PAPERS, Reproduction
from mkldash.experiments.reproductions.neighborhood_accuracy import METHODS, accuracy_run
from mkldash.experiments.reproductions.product_errors import errors_run
from mkldash.experiments.reproductions.projection_times import projection_run
from mkldash.experiments.results import read_results, read_sweep
from mkldash.experiments.running import run_sweep
from mkldash.experiments.sweep import Run, Sweep, check_sweep
from mkldash.solvers import available_solvers

NAMES = tuple(available_reproductions())

OURS, PLANES = "block-coordinate", "cutting-plane"


def record(run: Run, **found: Any) -> dict[str, Any]:
    """A finished run with what it is said to have found."""
    said = {"status": "converged", "n_train": 60, "n_test": 40, "n_kernels": 26, "load": 1.0}
    return asked(run) | said | {"jobs": 1} | found


def solved(run: Run, seconds: float, iterations: int = 10) -> dict[str, Any]:
    """A run whose gap falls from 10 by a factor of ten in each of nine steps."""
    steps = np.linspace(0.0, 1.0, 10)
    gaps = 10.0 ** np.linspace(1.0, -8.0, 10)
    trace = {
        "iteration": [round(iterations * s) for s in steps],
        "inner_solves": [1 + round(iterations * s) for s in steps],
        "seconds": [seconds * s for s in steps],
        "upper": [1.0 + gap for gap in gaps],
        "lower": [1.0] * 10,
    }
    return record(
        run,
        seconds=seconds,
        iterations=iterations,
        inner_solves=iterations + 1,
        gap=1e-8,
        trace=trace,
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_declaration_is_whole(name: str) -> None:
    kind = find_reproduction(name)
    assert kind.paper in PAPERS
    for text in (kind.claim, kind.setting, kind.quick, kind.full):
        assert text
        assert not text.endswith(".")
    quick, full = kind.sweep(True), kind.sweep(False)
    check_sweep(quick)
    assert len(quick.runs) < len(full.runs)
    assert {run.choices.problem for run in full.runs} == {kind.paper}
    assert quick.fixed != full.fixed
    sets = {run.choices.data for run in full.runs if run.task is None or run.task.data is None}
    assert sets <= set(available())


def test_elastic_net_has_every_solver_that_takes_the_setting() -> None:
    for name in ("elastic-net-gaps", "elastic-net-times"):
        runs = find_reproduction(name).runs(False)
        by_eta = {eta: {r.choices.solver for r in runs if r.choices.eta == eta} for eta in (0.5, 1)}
        assert by_eta[0.5] >= {OURS, PLANES, "level-set", "second-order"}
        assert by_eta[1] >= by_eta[0.5] | {"simplemkl"}
        assert by_eta[1] <= set(available_solvers())


@pytest.mark.parametrize("name", ["elastic-net-gaps", "elastic-net-times"])
def test_whoever_is_faster_is_said(name: str) -> None:
    kind = find_reproduction(name)
    runs = [r for r in kind.runs(True) if r.choices.solver in (OURS, PLANES)]

    def said(ours: float, planes: float) -> str:
        results = [solved(r, ours if r.choices.solver == OURS else planes) for r in runs]
        return kind.sentence(results)

    won, lost = said(1.0, 3.0), said(4.0, 1.0)
    assert won.startswith(f"The paper says that {kind.claim}; here the same came out: ")
    assert "took 3 times its seconds" in won
    assert "the opposite came out" in lost
    assert "took 0.25 times its seconds" in lost
    first = runs[0].choices.data
    there = [(r.choices.solver == OURS) == (r.choices.data == first) for r in runs]
    mixed = kind.outcome([solved(r, 2.0 if t else 1.0) for r, t in zip(runs, there, strict=True)])
    assert "it came out in part" in mixed
    assert "took 0.5 to 2 times its seconds" in mixed


def test_a_gap_that_planes_never_reach_counts_for_the_other() -> None:
    kind = find_reproduction("elastic-net-gaps")
    runs = [r for r in kind.runs(True) if r.choices.solver in (OURS, PLANES)]
    results = [solved(r, 1.0) for r in runs]
    for one in results:
        if one["solver"] == PLANES:
            one["trace"] = {name: values[:5] for name, values in one["trace"].items()}
            one["status"] = "time_limit"
    said = kind.outcome(results)
    assert "0 of 4 runs of cutting" in said
    assert "in 0 of 4 settings at 0.01, 0 of 4 at 0.001, 4 of 4 at 0.0001" in said
    assert "took 1 times its seconds and 1 times its SVMs where both got there" in said


def test_iterations_of_the_level_method_are_compared() -> None:
    kind = find_reproduction("neighborhood-convergence")
    runs = [r for r in kind.runs(True) if r.choices.solver in ("level", "gradient")]

    def said(level: int, gradient: int) -> str:
        return kind.outcome(
            [solved(r, 1.0, level if r.choices.solver == "level" else gradient) for r in runs]
        )

    assert said(9, 90).startswith("the same came out")
    assert said(90, 9).startswith("the opposite came out")


def test_times_of_the_gradient_are_compared() -> None:
    kind = find_reproduction("neighborhood-times")
    runs = [r for r in kind.runs(True) if r.choices.solver in ("level", "gradient")]
    quick = kind.outcome([solved(r, 5.0 if r.choices.solver == "level" else 0.1) for r in runs])
    slow = kind.outcome([solved(r, 0.1 if r.choices.solver == "level" else 5.0) for r in runs])
    assert "the same came out" in quick
    assert "took 50 times its seconds" in quick
    assert "the opposite came out" in slow


def test_projections_are_as_fast_as_they_are() -> None:
    kind = find_reproduction("projection-times")

    def said(factor: float) -> str:
        results = [
            record(r, seconds=1.0 if r.task.name == "projection" else factor, difference=0.0,
                   solved=20)
            for r in kind.runs(True) if r.task is not None
        ]  # fmt: skip
        return kind.outcome(results)

    assert said(120.0).startswith("the same or more came out: it was 120 times as fast")
    assert said(3.0).startswith("less came out: it was 3 times as fast")


def scored(kind: Reproduction, score: Any) -> list[dict[str, Any]]:
    return [record(run, test_score=score(run)) for run in kind.runs(True)]


def test_sensitivity_says_where_rho_helps() -> None:
    kind = find_reproduction("neighborhood-sensitivity")

    def as_claimed(run: Run) -> float:
        rho = run.choices.rho
        return 0.5 if rho < 1 else 0.8 if rho < 1e4 else 0.7

    claimed = kind.outcome(scored(kind, as_claimed))
    assert claimed.startswith("the same came out: on liver-selector it was 20.0 points worse")
    assert "better at 3 of 7 values (4.64 to 2150) and by at most 10.0 ± 0.0 points" in claimed
    other = kind.outcome(scored(kind, lambda run: 0.9 if run.choices.rho < 1e5 else 0.7))
    assert "on liver-selector it was 20.0 points better at rho = 0.01" in other
    assert other.startswith("it came out in part")
    worse = kind.outcome(scored(kind, lambda run: 0.5 if run.choices.rho < math.inf else 0.7))
    assert "never better" in worse


def test_accuracy_is_compared_with_the_plain_and_the_shifted_kernel() -> None:
    kind = find_reproduction("neighborhood-accuracy")

    def by(method: dict[str, float]) -> str:
        # What a split adds is not quite the same for each method.
        place = {name: k for k, name in enumerate(METHODS)}

        def score(run: Run) -> float:
            assert run.task is not None
            name = run.task.name
            return method[name] + 0.001 * ((7 * run.repeat + place[name]) % 3)

        return kind.outcome(scored(kind, score))

    better = by({"plain": 0.7, "neighborhood": 0.8, "shifted": 0.9})
    assert better.startswith("the same came out: over 3 settings")
    assert "against the plain SVM, higher in 3 (significantly in 3)" in better
    assert "against the SVM on K + cI higher in 0 (significantly in 0) and lower in 3" in better
    assert by({"plain": 0.8, "neighborhood": 0.7, "shifted": 0.7}).startswith("the opposite")


def test_errors_say_who_predicts_best() -> None:
    kind = find_reproduction("product-errors")

    def by(ideal: float, uniform: float) -> str:
        errors = {"mirror-1": ideal, "uniform-1": uniform}
        return kind.outcome(
            [record(r, test_mse=errors.get(r.task.name, 0.5), seconds=1.0) for r in kind.runs(True)]
        )

    good = by(0.2, 0.6)
    assert good.startswith("the same came out in the errors")
    assert "had 3 times the mean test error" in good
    assert "lowest errors of all had Mirror descent, p = 1 on diabetes (0.2000)" in good
    assert by(0.6, 0.2).startswith("the opposite came out")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_and_failures_are_survived(name: str, tmp_path: Path) -> None:
    kind = find_reproduction(name)
    broken = [asked(run) | {"reason": "it broke", "load": 1.0} for run in kind.runs(True)[:3]]
    for results in ([], broken):
        page = markdown(kind, results, {"runs": 3, "settings": {"fixed": {"form": "quick"}}})
        assert kind.sentence(results) in page
        assert "nan" not in page
        ET.fromstring(kind.figure([]))
    assert "it broke" in page


def test_the_folder_has_it_all_and_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = find_reproduction("neighborhood-times")
    few = [
        dataclasses.replace(
            run, choices=dataclasses.replace(run.choices, data="two-moons", tol=1e-2)
        )
        for run in kind.runs(True)
        if run.choices.data == "pima" and run.choices.solver in ("level", "gradient")
    ]
    monkeypatch.setattr(type(kind), "runs", lambda self, quick: few)
    run_sweep(Sweep(runs=(few[1],), settings=kind.sweep(True).settings), tmp_path, jobs=1)
    seen: list[int] = []
    found = reproduce(
        kind, tmp_path, quick=True, jobs=1, progress=lambda done, total, _: seen.append(done)
    )
    assert seen == [1, 2]
    assert [r["solver"] for r in found] == [run.choices.solver for run in few]
    assert [r["id"] for r in results_in_order(kind, tmp_path)] == [run.id for run in few]
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"result.md", "figure.svg", "table.csv", "report.html", "results.jsonl"}
    page = (tmp_path / "result.md").read_text()
    assert kind.sentence(found) in page
    assert "Form: quick" in page
    assert "2 of 2: 2 converged" in page
    drawn = ET.fromstring((tmp_path / "figure.svg").read_text())
    assert "two-moons" in "".join(drawn.itertext())
    with pytest.raises(InputError, match="under other settings"):
        reproduce(kind, tmp_path, quick=False, jobs=1)


@pytest.mark.parametrize(
    ("run", "field"),
    [
        (projection_run("projection", 50, 3), "seconds"),
        (projection_run("piqp", 50, 3), "difference"),
        (accuracy_run("neighborhood", "two-moons", 4.0, 0), "test_score"),
        (errors_run("ridge-1", "known-products", 0), "test_mse"),
    ],
    ids=["projection", "piqp", "accuracy", "errors"],
)
def test_a_task_is_a_run_like_others(run: Run, field: str, tmp_path: Path) -> None:
    (found,) = run_sweep(Sweep(runs=(run,)), tmp_path, jobs=1)
    assert found["status"] == "converged", found["reason"]
    assert found[field] >= 0.0
    assert found["wall_seconds"] > 0.0
    assert found["solver"] == run.task.name if run.task else False
    assert read_results(tmp_path) == [found]
    assert read_sweep(tmp_path)["runs"] == 1
    assert run.id != dataclasses.replace(run, task=None).id


def test_a_task_that_breaks_says_so() -> None:
    run = accuracy_run("plain", "no-such-data", 4.0, 0)
    broken = measure(run)
    assert broken["status"] == "failed"
    assert "no-such-data" in broken["reason"]
    assert broken["title"] == METHODS["plain"]


def test_projections_of_a_solver_are_the_projections() -> None:
    for name in ("piqp", "osqp", "clarabel"):
        pytest.importorskip(name)
        found = measure(projection_run(name, 40, 3))
        assert found["status"] == "converged", found["reason"]
        assert found["difference"] < 0.05


def test_cross_validation_takes_what_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighborhood_accuracy, "PRICES", (1e-6, 10.0))
    found = measure(accuracy_run("plain", "circles", 1.0, 0))
    # With C = 1e-6 on 40 rows all are alike; circles are told apart by a Gaussian.
    assert found["chosen_C"] == 10.0
    assert found["test_score"] > 0.9
    assert found["n_train"] == 40


def test_every_method_of_errors_has_its_title() -> None:
    titles = {run.task.title for run in find_reproduction("product-errors").runs(False) if run.task}
    assert titles == {method.title for method in product_tables.METHODS.values()}


@pytest.mark.parametrize(("name", "relevant"), [("toy-few-features", 2), ("toy-many-features", 20)])
def test_toys_depend_on_what_their_cards_say(name: str, relevant: int) -> None:
    toy = load(name)
    assert (toy.y > 0).sum() == 100
    squares = toy.X**2
    apart = squares[toy.y > 0].mean(axis=0) - squares[toy.y < 0].mean(axis=0)
    assert apart[:relevant].mean() > 0.4 / math.sqrt(relevant)
    if relevant < 20:
        assert abs(apart[relevant:].mean()) < 0.15


def test_durations_are_of_forms_that_are_declared() -> None:
    known = measured_durations()
    assert set(known) <= set(NAMES)
    for name, forms in known.items():
        for form, taken in forms.items():
            runs = find_reproduction(name).runs(form == "quick")
            assert taken["runs"] == len(runs), name
            assert taken["seconds"] > 0.0
    assert all("quick" in known[name] for name in NAMES)


def test_duration_adds_up_and_names_are_refused() -> None:
    run = projection_run("projection", 50, 3)
    results: Sequence[dict[str, Any]] = [record(run, wall_seconds=2.0, cores=2)] * 3
    assert reproducing.duration(results) == {
        "seconds": 6.0, "runs": 3, "cores": 2, "load": 1.0,
    }  # fmt: skip
    with pytest.raises(InputError, match="did you mean projection-times"):
        find_reproduction("projektion-times")


def test_tables_have_a_row_a_run(tmp_path: Path) -> None:
    kind = find_reproduction("projection-times")
    runs = (projection_run("projection", 50, 2), projection_run("piqp", 50, 2))
    run_sweep(Sweep(runs=runs, settings=kind.sweep(True).settings), tmp_path, jobs=1)
    reproducing.write_reproduction(kind, tmp_path)
    with (tmp_path / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["solver"] for row in rows] == ["projection", "piqp"]
    assert [row["option_n"] for row in rows] == ["50", "50"]
    assert not (tmp_path / "report.html").exists()
