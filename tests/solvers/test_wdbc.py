"""The certified optima of WDBC (MATH 8): 341 rows, 403 kernels of the papers' bank, C = 100."""

import numpy as np
import pytest

from mkldash.datasets.cards import load
from mkldash.datasets.splits import row_list
from mkldash.kernels.banks import make_terms
from mkldash.kernels.building import build_bank
from mkldash.kernels.normalization import Standardizer
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.level_set import LevelSet
from mkldash.solvers.stopping import Status, StopRule

#: eta -> (optimum, gap that block-coordinate descent reaches in 500 iterations)
OPTIMA = {
    0.0: (1557.661, 1e-6),
    0.25: (3259.327, 1e-4),
    0.5: (4238.5565, 1e-4),
    0.9: (5115.2017, 1e-3),
    1.0: (5288.4919, 1e-3),
}


@pytest.fixture(scope="module", params=["factored", "dense"])
def bank_and_labels(request):
    data = load("wdbc")
    rows = row_list("wdbc-math8")
    X = Standardizer.fit(data.X[rows]).transform(data.X[rows])
    terms = make_terms("paper", data.feature_names)
    return build_bank(X, terms, storage=request.param), data.y[rows]


def test_rows_and_kernels_are_the_stated_ones(bank_and_labels):
    bank, y = bank_and_labels
    assert (bank.n_rows, bank.n_kernels, len(bank.dropped)) == (341, 403, 0)
    assert y.size == 341


@pytest.mark.parametrize("eta", sorted(OPTIMA))
def test_every_bound_holds_and_the_gap_is_reached(bank_and_labels, eta):
    bank, y = bank_and_labels
    optimum, tol = OPTIMA[eta]
    seen = []
    result = solve(
        BlockCoordinateDescent(),
        Problem(bank, y, Hinge(100.0), ElasticNet(eta)),
        stop=StopRule(tol=tol, max_iter=500),
        callbacks=[lambda s: seen.append((s.lower, s.upper))],
    )
    lower, upper = np.array(seen).T
    assert np.all(lower <= optimum * (1 + 1e-6))
    assert np.all(upper >= optimum * (1 - 1e-6))
    assert result.status is Status.CONVERGED


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
def test_the_level_method_reaches_the_optimum(bank_and_labels, eta):
    bank, y = bank_and_labels
    problem = Problem(bank, y, Hinge(100.0), ElasticNet(eta))
    result = solve(LevelSet(), problem, stop=StopRule(tol=1e-6, max_iter=120))
    assert result.status is Status.CONVERGED
    assert result.lower <= OPTIMA[eta][0] * (1 + 1e-6)
    assert result.upper == pytest.approx(OPTIMA[eta][0], rel=2e-6)
