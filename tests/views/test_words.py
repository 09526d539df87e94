"""What pictures say: numbers that can be told apart, and why something is empty."""

import numpy as np
import pytest

from mkldash.views._log import ends_of_rows
from mkldash.views._names import apart, number
from mkldash.views.accuracy import AccuracyView
from mkldash.views.base import Points, Rival, Scene
from mkldash.views.bounds import BoundsView
from mkldash.views.decision_boundary import DecisionBoundaryView
from mkldash.views.dual_coefficients import DualCoefficientsView
from mkldash.views.gap import GapView
from mkldash.views.solvers_by_iteration import SolversByIterationView
from tests.views._fakes import history, snapshot

NEVER = history(*[(9.0, -1.0)] * 500)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1000.0, "1000"), (0.01, "0.01"), (1e6, "10⁶"), (3.16e6, "3.16·10⁶"), (31.62, "31.6"),
        (999999.0, "10⁶"), (3.2e-6, "3.2·10⁻⁶"), (0.0, "0"), (np.inf, "∞"), (12345.0, "12300"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_people_write_them(value, text):
    assert number(value) == text


def test_two_bounds_have_as_many_digits_as_tell_them_apart():
    assert apart(139.2267001, 139.2267012) == ("139.226700", "139.226701")
    assert apart(4.0, 8.0) == ("4.0000", "8.0000")
    assert apart(2.0, 2.0) == ("2.0000", "2.0000")
    assert apart(123456.12341, 123456.12342) == ("123,456.1234", "123,456.1234")
    info = BoundsView.prepare(history((139.2267012, 139.2267001)), 0)
    assert "between 139.226700 and 139.226701" in BoundsView.describe(info)


def test_a_row_of_infinite_gaps_has_a_triangle_at_each_end():
    assert list(ends_of_rows(np.array([1, 1, 1, 0, 1, 0, 0, 1, 1], dtype=bool))) == [0, 2, 4, 7, 8]
    scene = Scene(solver="A", rivals=(Rival("B", NEVER, True), Rival("C", NEVER, False)))
    info = SolversByIterationView.prepare(history((9.0, -1.0), (9.0, 3.0)), 0, scene)
    view = SolversByIterationView()
    view.update(info)
    marker = np.array(view._ends.data["marker"])
    assert np.count_nonzero(marker == "triangle") == 1 + 2 + 2
    whys = " ".join(view._ends.data["why"])
    assert "B: ended without a certificate" in whys
    assert "C: ended" not in whys
    words = view.describe(info)
    assert words.startswith("A has no certificate yet at iteration 0.")
    assert "B never had a certificate" in words
    assert "C has no certificate so far" in words
    gap = GapView()
    gap.update(gap.prepare(NEVER, 0))
    assert list(gap._edge.data["x"]) == [0, 499]


def test_classes_are_called_what_the_data_call_them():
    run = [snapshot(0, 1.0, 0.5)]
    y = np.array([-1.0, 1.0, 1.0, -1.0])
    info = DualCoefficientsView.prepare(run, 0, Scene(labels=y, cost=1.0, classes=("no", "yes")))
    assert info.classes == ("no", "yes")


def test_what_is_empty_says_why():
    points = Points(np.zeros((4, 2)), np.array([-1.0, 1.0, 1.0, -1.0]))
    run = [snapshot(0, 1.0, 0.5, alpha=(0.0,) * 4, decision_grid=np.zeros((5, 5)))]
    scene = Scene(cost=1.0, points=points, labels=points.y)
    for view in (DecisionBoundaryView, DualCoefficientsView):
        marks = view.marks(view.prepare(run, 0, scene))
        assert marks[-1][2].startswith("α = 0 yet")
    assert "no boundary" in DecisionBoundaryView.describe(
        DecisionBoundaryView.prepare(run, 0, scene)
    )


def test_without_test_rows_the_legend_does_not_name_them():
    view = AccuracyView()
    run = [snapshot(0, 1.0, 0.5, train_accuracy=0.5)]
    view.update(view.prepare(run, 0))
    assert "test" not in [i.label.value for i in view.figure().legend[0].items if i.visible]
    assert len(view._tested.data["test"]) == 0
    run = [snapshot(0, 1.0, 0.5, train_accuracy=0.5, test_accuracy=0.4)]
    view.update(view.prepare(run, 0))
    assert "test" in [i.label.value for i in view.figure().legend[0].items if i.visible]
    assert list(view._tested.data["test"]) == [40.0]
