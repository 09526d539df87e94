"""Compiling ahead leaves no trace in what follows."""

from __future__ import annotations

import pytest

from mkldash.experiments import banks_of_choices, products_of_choices, workload
from mkldash.experiments.choices import Choices
from mkldash.experiments.problem_kinds import every_solver, find_problem, solvers_for, takers
from mkldash.experiments.warming import NORMS, warm_up
from mkldash.experiments.workload import PRODUCTS
from mkldash.solvers import available_solvers


def solvers_of(task: str) -> list[str]:
    """Names of the solvers that take some problem of a task."""
    taken = {
        name
        for problem in takers(task)
        for bank in ("paper", "single")
        for p in (1.0, 2.0)
        for name in (*solvers_for(problem, bank, p), *every_solver(problem, bank))
    }
    return sorted(taken)


def test_every_solver_is_warmed_up_below() -> None:
    assert {*solvers_of("binary"), *solvers_of("regression")} == set(available_solvers())


@pytest.mark.parametrize("storage", ["dense", "factored", "precomputed"])
@pytest.mark.parametrize("name", solvers_of("binary"))
def test_every_solver_warms_up_on_every_storage(name: str, storage: str) -> None:
    assert iterations_of_warming(name, storage) == [0, 1, 2]


@pytest.mark.parametrize("name", solvers_of("regression"))
def test_every_solver_of_products_warms_up_for_its_norms(name: str) -> None:
    norms = sum(name in solvers_for("products", p=p) for p in NORMS)
    assert norms >= 1
    kind = find_problem("products")
    assert iterations_of_warming(name, PRODUCTS, kind) == [0, 1, 2] * norms


def iterations_of_warming(name: str, *facts: object) -> list[int]:
    """The iterations that a solver takes while it is warmed up."""
    seen: list[int] = []
    kind = available_solvers()[name]
    original = kind._iterate

    class Counted(kind):  # type: ignore[misc, valid-type]
        def _iterate(self, problem, *rest):
            for snapshot in original(self, problem, *rest):
                seen.append(snapshot.iteration)
                yield snapshot

    warm_up(Counted(), *facts)
    return seen


@pytest.mark.parametrize(("data", "probing"), [("golden", False), ("wdbc", True)])
def test_compiling_is_over_before_the_bank_is_timed(
    monkeypatch: pytest.MonkeyPatch, data: str, probing: bool
) -> None:
    order: list[str] = []
    clock = banks_of_choices.time.perf_counter
    warmed: list[bool] = []

    def warm(*, probing: bool) -> None:
        order.append("warm")
        warmed.append(probing)

    def read() -> float:
        order.append("clock")
        return clock()

    monkeypatch.setattr(banks_of_choices, "warm_up_bank", warm)
    monkeypatch.setattr(banks_of_choices.time, "perf_counter", read)
    workload.prepare(Choices(data=data, bank="linear", train_fraction=0.5))
    assert order[:2] == ["warm", "clock"]
    assert warmed == [probing]


def test_the_family_is_compiled_before_it_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    monkeypatch.setattr(products_of_choices, "warm_up_family", lambda: order.append("warm"))
    clock = products_of_choices.time.perf_counter

    def read() -> float:
        order.append("clock")
        return clock()

    monkeypatch.setattr(products_of_choices.time, "perf_counter", read)
    workload.prepare(Choices(data="diabetes", problem="products"))
    assert order[:2] == ["warm", "clock"]
