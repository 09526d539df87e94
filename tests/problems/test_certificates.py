"""The gap and the exact bias."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mkldash.problems.certificates import bounds_violated, hinge_bias, relative_gap


@pytest.mark.parametrize(
    ("upper", "lower", "gap"),
    [
        (478.730129, 161.971292, 478.730129 / 161.971292 - 1),
        (8435.0, -308.0, math.inf),  # the bare ratio would be negative and stop the run
        (1.0, 0.0, math.inf),
        (0.0, 0.0, 0.0),
        (5.0, 5.0 + 1e-12, 0.0),
        (math.inf, 3.0, math.inf),
    ],
)
def test_gap_has_one_definition(upper, lower, gap):
    assert relative_gap(upper, lower) == gap


def test_crossed_bounds_are_not_called_converged():
    assert bounds_violated(1.0, 1.1)
    assert relative_gap(1.0, 1.1) < 0
    assert not bounds_violated(1.0, 1.0 + 1e-12)
    assert math.isnan(relative_gap(math.nan, 1.0))


@given(st.integers(0, 2**31), st.integers(2, 30))
def test_bias_minimises_the_hinge_sum(seed, n):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    f = rng.standard_normal(n)
    bias, loss = hinge_bias(f, y)
    values = [np.maximum(0, 1 - y * (f + b)).sum() for b in y - f]
    assert loss == pytest.approx(min(values), rel=1e-12, abs=1e-12)
    flipped, same = hinge_bias(-f, -y)
    assert flipped == pytest.approx(-bias, abs=1e-12)
    assert same == pytest.approx(loss, abs=1e-12)
