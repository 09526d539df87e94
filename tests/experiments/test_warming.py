"""Compiling ahead leaves no trace in what follows."""

from __future__ import annotations

import pytest

from mkldash.experiments import banks_of_choices, workload
from mkldash.experiments.choices import Choices
from mkldash.experiments.warming import warm_up
from mkldash.solvers import available_solvers


@pytest.mark.parametrize("storage", ["dense", "factored", "precomputed"])
@pytest.mark.parametrize("name", available_solvers())
def test_every_solver_warms_up_on_every_storage(name: str, storage: str) -> None:
    seen: list[int] = []
    kind = available_solvers()[name]
    original = kind._iterate

    class Counted(kind):  # type: ignore[misc, valid-type]
        def _iterate(self, problem, *rest):
            for snapshot in original(self, problem, *rest):
                seen.append(snapshot.iteration)
                yield snapshot

    warm_up(Counted(), storage)
    assert seen == [0, 1, 2]


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
