"""Accuracies and support vectors of a point."""

from __future__ import annotations

import numpy as np
import pytest

from mkldash.experiments.choices import Choices
from mkldash.experiments.scores import accuracy, score, scorer
from mkldash.experiments.workload import prepare
from mkldash.solvers.driver import solve
from tests.recipes import golden_blocks, golden_data


def test_a_decision_of_zero_predicts_the_negative_class() -> None:
    decision = np.array([0.0, 0.0, 1e-300, -1.0])
    assert accuracy(decision, np.array([-1.0, 1.0, 1.0, -1.0])) == 0.75


def test_scores_agree_with_kernels_written_out() -> None:
    work = prepare(Choices(data="golden"))
    best = solve(work.solver, work.problem).best
    X, y = golden_data()
    train, test = work.split.train, work.split.test
    scale = 1.0 / np.trace(golden_blocks(X[train], X[train]), axis1=1, axis2=2)
    a = y[train] * best.alpha

    def share(rows: np.ndarray) -> float:
        blocks = golden_blocks(X[rows], X[train])
        decision = (best.weights.values * scale) @ (blocks @ a) + best.bias
        return float(np.mean(np.sign(decision) == y[rows]))

    found = score(work, best)
    assert found.train_accuracy == pytest.approx(share(train))
    assert found.test_accuracy == pytest.approx(share(test))
    assert found.support_vectors == np.count_nonzero(best.alpha)
    assert scorer(work)(best) == found


def test_all_points_at_the_bound_are_counted_s02() -> None:
    work = prepare(Choices(data="golden", C=1.0, train_fraction=1.0))
    found = score(work, solve(work.solver, work.problem).best)
    assert found.bounded == found.support_vectors == 20
    assert found.test_accuracy is None
