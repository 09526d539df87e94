"""P03: zeros, negatives, infinities and NaN on a log axis."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mkldash.views._log import LEAST_FLOOR, log_curves

P03 = {
    "a": np.array([1.0, 1e-2, 0.0]),
    "b": np.array([1.0, 1e-3, -1e-16]),
    "c": np.array([0.0]),
    "d": np.array([]),
    "e": np.array([1.0, np.nan, 1e-1]),
}


def test_p03_every_value_sent_is_finite_and_positive():
    found = log_curves(P03)
    for curve in found.curves:
        assert np.all(np.isfinite(curve.drawn))
        assert np.all(curve.drawn > 0)
    assert found.floor > 0
    assert [len(c.drawn) for c in found.curves] == [3, 3, 1, 0, 2]


def test_p03_zeros_sit_at_the_stated_floor_with_their_own_kind():
    found = log_curves(P03)
    assert found.floor == pytest.approx(1e-4)
    a, b, c, _, e = found.curves
    assert a.drawn[-1] == b.drawn[-1] == c.drawn[0] == found.floor
    assert list(a.kind) == ["value", "value", "floor"]
    assert list(e.x) == [0.0, 2.0]


def test_p03_an_empty_curve_is_named_no_data():
    labels = [c.label for c in log_curves(P03).curves]
    assert labels == ["a", "b", "c", "d (no data)", "e"]


def test_p03_the_raw_numbers_are_left_alone():
    raw = np.array([1.0, 1e-2, 0.0])
    log_curves({"a": raw})
    assert raw[-1] == 0.0


def test_an_infinite_gap_sits_at_the_ceiling():
    found = log_curves({"a": np.array([np.inf, 2.0, 0.5])})
    assert found.curves[0].kind[0] == "ceiling"
    assert found.curves[0].drawn[0] == found.ceiling == 100.0


@settings(deadline=None)  # no unit test is timed
@given(hnp.arrays(np.float64, st.integers(0, 30), elements=st.floats(width=64)))
def test_nothing_undrawable_is_ever_sent(values):
    found = log_curves({"a": values, "b": np.array([1e-3])})
    curve = found.curves[0]
    assert np.all(np.isfinite(curve.drawn))
    assert np.all(curve.drawn > 0)
    assert found.floor >= LEAST_FLOOR
    assert found.floor < found.ceiling
    assert len(curve.drawn) == np.count_nonzero(~np.isnan(values))
