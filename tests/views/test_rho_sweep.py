"""Pictures over rho."""

import math

import numpy as np
import pytest

from mkldash.views.accuracy_by_rho import AccuracyByRhoView
from mkldash.views.base import Points, RhoSweep, Scene
from mkldash.views.boundary_by_rho import BoundaryByRhoView

NAN = math.nan
SWEEP = RhoSweep(
    rho=np.array([0.1, 1.0, 10.0, 100.0]),
    train=np.array([0.5, 0.75, NAN, 1.0]),
    test=np.array([0.25, 0.5, NAN, NAN]),
    support_vectors=np.array([9.0, 7.0, NAN, 5.0]),
    plain_train=0.875,
)
POINTS = Points(X=np.array([[-1.0, 0.0], [1.0, 0.0]]), y=np.array([-1.0, 1.0]))


class TestAccuracyByRho:
    def test_shows_what_is_computed_in_percent(self):
        info = AccuracyByRhoView.prepare([], 0, Scene(sweep=SWEEP, rho=2.0))
        assert list(info.rho) == [0.1, 1.0, 100.0]
        assert list(info.train) == [50.0, 75.0, 100.0]
        assert info.test[:2].tolist() == [25.0, 50.0]
        assert list(info.vectors) == [9.0, 7.0, 5.0]
        assert info.plain[0] == 87.5
        assert math.isnan(info.plain[1])
        assert info.window == (0.1, 100.0)  # whole from the beginning: no jumps
        assert AccuracyByRhoView.describe(info) == (
            "3 of 4 values of ρ are solved; best test accuracy 50.0 percent, at ρ = 1."
        )

    def test_plain_lines_are_drawn_where_known_and_rho_is_marked(self):
        view = AccuracyByRhoView()
        view.update(view.prepare([], 0, Scene(sweep=SWEEP, rho=2.0)))
        assert list(view._plain["train"].data["y"]) == [87.5, 87.5]
        assert len(view._plain["test"].data["y"]) == 0
        assert view._cursor.visible
        assert view._cursor.location == 2.0
        assert len(view._tested.data["x"]) == 2
        view.update(view.prepare([], 0, Scene(sweep=SWEEP, rho=math.inf)))
        assert not view._cursor.visible

    def test_a_rho_outside_the_sweep_is_in_the_picture(self):
        view = AccuracyByRhoView()
        view.update(view.prepare([], 0, Scene(sweep=SWEEP, rho=1e5)))
        assert view.figure().x_range.end > 1e5

    def test_without_test_rows_it_speaks_of_training(self):
        sweep = RhoSweep(SWEEP.rho, SWEEP.train, np.full(4, NAN), SWEEP.support_vectors, 0.875)
        info = AccuracyByRhoView.prepare([], 0, Scene(sweep=sweep))
        assert AccuracyByRhoView.describe(info) == (
            "3 of 4 values of ρ are solved; best training accuracy 100.0 percent, at ρ = 100, "
            "beside 87.5 percent of the plain SVM."
        )


class TestBoundaryByRho:
    def scene(self, rho):
        ramp = np.tile(np.linspace(-3.0, 3.0, 13), (13, 1))
        grids = (ramp - 1.0, None, ramp, ramp + 2.0)
        sweep = RhoSweep(SWEEP.rho, SWEEP.train, SWEEP.test, SWEEP.support_vectors, grids=grids)
        return Scene(sweep=sweep, points=POINTS, rho=rho)

    def test_each_boundary_lies_where_the_decision_is_zero(self):
        info = BoundaryByRhoView.prepare([], 0, self.scene(30.0))
        assert list(info.rho) == [0.1, 10.0, 100.0]
        for lines, x in zip(info.lines, (1.0, 0.0, -2.0), strict=True):
            assert np.vstack(lines)[:, 0] == pytest.approx(x)
        assert info.nearest == 1  # 30 is nearer to 10 than to 100 on a log scale
        assert "3 of 4 decision boundaries" in BoundaryByRhoView.describe(info)
        assert "thick one is at ρ = 10" in BoundaryByRhoView.describe(info)

    def test_the_present_one_is_drawn_again_thick(self):
        view = BoundaryByRhoView()
        view.update(view.prepare([], 0, self.scene(30.0)))
        assert view._lines.data["rho"] == [0.1, 10.0, 100.0]
        assert view._present.data["rho"] == [10.0]
        assert (view._mapper.low, view._mapper.high) == (0.1, 100.0)
        view.update(view.prepare([], 0, self.scene(math.inf)))
        assert view._present.data["rho"] == []
