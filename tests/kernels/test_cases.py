"""Cases about kernels, solved to their certified values."""

import csv
from pathlib import Path

import numpy as np
import pytest

from mkldash.errors import InputError
from mkldash.kernels.banks import make_terms
from mkldash.kernels.base import KernelTerm
from mkldash.kernels.building import build_bank
from mkldash.kernels.linear import Linear
from mkldash.kernels.normalization import ConstantKernelWarning, Standardizer
from mkldash.kernels.precomputed import precomputed_bank
from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import StopRule
from tests.recipes import GOLDEN, golden_blocks, golden_data, golden_kernels

FILES = Path(__file__).parents[1] / "files"
OBJECTIVE, THETA = GOLDEN[0.5]


def exact(bank, y, eta=0.5, C=100.0):
    solver = BlockCoordinateDescent(inner_tol=1e-10, weight_tol=1e-12)
    problem = Problem(bank, np.asarray(y, dtype=float), Hinge(C), ElasticNet(eta))
    return solve(solver, problem, stop=StopRule(tol=1e-9, max_iter=5000))


def columns_of(name):
    with (FILES / name).open(newline="") as file:
        rows = list(csv.DictReader(file))
    y = np.array([1.0 if row.pop("label") == "yes" else -1.0 for row in rows])
    return np.array([[float(value) for value in row.values()] for row in rows]), list(rows[0]), y


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
def test_clipped_indefinite_kernel_gives_twice_C(eta):  # K01
    indefinite = np.load(FILES / "kernels_bad.npz")["indef"]
    with pytest.warns(ConstantKernelWarning, match="kernel 0 is constant"):
        bank = precomputed_bank([indefinite], repair="clip")
    result = exact(bank, [1.0, -1.0], eta, C=5.0)
    assert result.upper == pytest.approx(10.0, rel=1e-6)
    assert result.lower == pytest.approx(10.0, rel=1e-6)


def test_the_good_kernel_alone_fits():  # K03
    good = np.load(FILES / "kernels_bad.npz")["ok"]
    result = exact(precomputed_bank([good]), [1, 1, 1, -1, -1, -1])
    np.testing.assert_allclose(result.best.weights.values, [1.0])


def test_decision_on_new_rows():  # K06
    X, y = golden_data()
    bank = precomputed_bank(golden_kernels())
    best = exact(bank, y).best
    traces = np.trace(golden_blocks(X, X), axis1=1, axis2=2)[:, None, None]
    blocks = golden_blocks(np.random.default_rng(7).standard_normal((5, 4)), X) / traces
    decision = bank.decision(blocks, best.weights.values, y * best.alpha) + best.bias
    expected = (-0.221366, -0.091480, 1.156419, -1.011693, -0.715371)
    np.testing.assert_allclose(decision, expected, atol=1e-4)
    assert best.bias == pytest.approx(-0.408554, abs=1e-4)


@pytest.mark.parametrize("kernels", [golden_kernels(), list(golden_kernels())])
def test_stack_and_list(kernels):  # K08
    result = exact(precomputed_bank(kernels), golden_data()[1])
    assert result.upper == pytest.approx(OBJECTIVE, rel=1e-6)


@pytest.mark.parametrize("storage", ["dense", "factored"])
def test_golden_from_features(storage):
    X, y = golden_data()
    result = exact(build_bank(X, make_terms("golden", "abcd"), storage=storage), y)
    assert result.upper == pytest.approx(OBJECTIVE, rel=1e-6)
    assert result.lower == pytest.approx(OBJECTIVE, rel=1e-6)
    np.testing.assert_allclose(result.best.weights.values, THETA, atol=1e-4)


@pytest.mark.parametrize("storage", ["dense", "factored"])
def test_a_constant_column_changes_nothing(storage):  # K09
    X, names, y = columns_of("const_column.csv")
    assert names == ["size", "zero", "weight"]
    Z = Standardizer.fit(X).transform(X)
    with pytest.warns(ConstantKernelWarning, match="'zero' is constant"):
        bank = build_bank(Z, make_terms("linear", names), storage=storage)
    result = exact(bank, y)
    assert result.upper == pytest.approx(117.229353, rel=1e-6)
    weights = dict(zip(bank.names, result.best.weights.values, strict=True))
    assert list(weights) == ["linear · size", "linear · weight", "linear · all"]
    np.testing.assert_allclose(list(weights.values()), (0.181630, 0.688048, 0.434839), atol=1e-4)


def test_the_null_kernel_of_a_constant_column():  # D13
    X, y = golden_data()
    wide = np.column_stack([X, np.full(20, 0.3)])
    terms = (*make_terms("golden", "abcd"), KernelTerm(Linear(), (4,), "three tenths"))
    with pytest.warns(ConstantKernelWarning, match="three tenths"):
        bank = build_bank(wide, terms)
    assert exact(bank, y).upper == pytest.approx(OBJECTIVE, rel=1e-6)
    assert [kernel.name for kernel in bank.dropped] == ["linear · three tenths"]


def test_float32_kernels():  # D15
    result = exact(precomputed_bank(golden_kernels().astype(np.float32)), golden_data()[1])
    assert result.upper == pytest.approx(OBJECTIVE, rel=1e-6)
    assert result.lower == pytest.approx(OBJECTIVE, rel=1e-6)


def test_refusals_come_before_solving():  # K01, K03
    bad = np.load(FILES / "kernels_bad.npz")
    for kernels in ([bad["indef"]], [bad["ok"], bad["has_nan"]]):
        with pytest.raises(InputError):
            precomputed_bank(kernels)
