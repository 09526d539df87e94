"""A run goes on while a picture is prepared: what is drawn together is read together."""

from types import SimpleNamespace

import numpy as np
import pytest

from mkldash.views._reading import columns
from mkldash.views.accuracy import AccuracyView
from mkldash.views.base import Rival, Scene
from mkldash.views.baseline_errors import BaselineErrorsView
from mkldash.views.bounds import BoundsView
from mkldash.views.gap import GapView
from mkldash.views.level_bounds import NeighborhoodBoundsView
from mkldash.views.objective_bounds import ObjectiveBoundsView
from mkldash.views.prediction_error import ErrorView
from mkldash.views.second_moment import SecondMomentView
from mkldash.views.solvers_by_iteration import SolversByIterationView
from mkldash.views.solvers_by_time import SolversByTimeView
from mkldash.views.step_size import StepSizeView


class Growing:
    """A trace that is one row longer after every look at it."""

    def __init__(self, rows: int = 5) -> None:
        self.rows = rows

    def _look(self) -> int:
        self.rows += 1
        return self.rows - 1

    def __len__(self) -> int:
        return self._look()

    def __getitem__(self, k: int) -> SimpleNamespace:
        return SimpleNamespace(certificate="exact")

    def columns(self, since: int = 0) -> dict[str, np.ndarray]:
        n = self._look()
        k = np.arange(float(n))
        upper, lower = 10 + 1 / (1 + k), 9 - 1 / (1 + k)
        return {
            "iteration": np.arange(n), "upper": upper, "lower": lower, "gap": upper / lower - 1,
            "level": 0.5 * (upper + lower), "elapsed": 0.1 * k, "train_accuracy": 0 * k + 0.5,
            "test_accuracy": 0 * k + 0.5, "support_vectors": 0 * k + 3, "objective": upper,
            "average_objective": upper, "full_average_objective": upper, "certified": k % 2 == 0,
            "train_mse": upper, "test_mse": upper, "moment_ideal": lower, "moment_uniform": upper,
            "step": lower, "gradient": upper,
        }  # fmt: skip


def test_columns_are_of_one_length_and_a_missing_one_is_nan():
    found = columns(Growing(), "iteration", "upper", "nobody knows")
    assert len({len(values) for values in found}) == 1
    assert np.isnan(found[2]).all()


@pytest.mark.parametrize(
    "kind",
    [
        BoundsView, NeighborhoodBoundsView, GapView, AccuracyView, SolversByIterationView,
        SolversByTimeView, ObjectiveBoundsView, ErrorView, BaselineErrorsView, SecondMomentView,
        StepSizeView,
    ],
)  # fmt: skip
def test_a_row_that_arrives_in_between_does_not_tear_the_picture(kind):
    view, trace = kind(), Growing()
    ghost, rival = Growing(), Rival("other", Growing(), False)
    for k in range(5):
        view.update(kind.prepare(trace, k, Scene(tol=1e-3, ghost=ghost, rivals=(rival,))))
