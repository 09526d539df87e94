"""Compiling ahead leaves no trace in what follows."""

from __future__ import annotations

import pytest

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
