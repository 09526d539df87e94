"""Methods beside mirror descent: what they reach, in which order, and how they end."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from mkldash.errors import InputError
from mkldash.experiments import product_baselines
from mkldash.experiments.choices import Choices
from mkldash.experiments.product_baselines import baselines_of, measure_baselines
from mkldash.experiments.scores import regression_scores
from mkldash.experiments.workload import Workload, prepare
from mkldash.solvers.base import CANCELLED, new_cancel_flag
from mkldash.solvers.driver import solve


def workload(**changes: object) -> Workload:
    choices = {"problem": "products", "data": "diabetes", "degree": 2, "max_iter": 100}
    return prepare(Choices(**{**choices, **changes}))


def test_each_norm_has_its_methods() -> None:
    always = ["ridge-1", "ridge-2", "learnt-kernel"]
    drawn = ["full-gradient", "uniform-sampling", "mirror-descent"]
    assert list(baselines_of(workload())) == [*always, *drawn]
    assert list(baselines_of(workload(p=2.0))) == [*always, "box-coordinate-descent", *drawn]
    # Ten features in words of up to twenty: nobody lists them.
    large = list(baselines_of(workload(degree=20)))
    assert large[0] == "ridge-1"
    assert large[-2:] == ["uniform-sampling", "mirror-descent"]
    assert "full-gradient" not in large
    offset = list(baselines_of(workload(degree=0)))
    assert offset == drawn


def test_all_are_measured_in_turn_by_one_error() -> None:
    work = workload()
    found = list(measure_baselines(work))
    assert [item.name for item in found] == list(baselines_of(work))
    variance = work.source.dataset.y[work.split.test].var()
    for item in found:
        assert item.test_mse is not None
        assert item.test_r2 == pytest.approx(1.0 - item.test_mse / variance)
        assert 0.0 < item.train_mse < variance
        assert item.title
        assert item.remark
    by_name = {item.name: item for item in found}
    assert by_name["ridge-2"].objective is None
    assert by_name["learnt-kernel"].objective is None
    # All lower bounds stay below all values of the same problem.
    solvers = [item for item in found if item.lower is not None]
    assert len(solvers) == 3
    objectives = [item.objective for item in solvers]
    assert max(item.lower for item in solvers) <= min(objectives) * (1 + 1e-9)


def test_mirror_descent_is_the_run_of_the_workload() -> None:
    work = workload(solver_options=(("step", 0.5),), seed=2)
    (found,) = measure_baselines(work, ["mirror-descent"])
    result = solve(work.solver, work.problem, stop=work.stop)
    assert found.objective == result.upper
    assert found.lower == result.lower
    assert found.iterations == result.iterations
    assert found.test_mse == regression_scores(work, result.best).test_mse


def test_other_solvers_share_its_hyper_parameters() -> None:
    work = workload(seed=7, solver_options=(("certify_every", 20), ("step", 2.0)))
    for name in ("uniform-sampling", "full-gradient"):
        solver = product_baselines._like(work, name)
        own = {f.name for f in dataclasses.fields(solver)}
        shared = {"seed": 7, "certify_every": 20, "step": 2.0}
        assert all(getattr(solver, k) == v for k, v in shared.items() if k in own)
        assert "certify_every" in own


def test_ridge_is_kernel_ridge_on_a_kernel_written_out() -> None:
    work = workload(p=2.0, penalty=0.5, growth=3.0)
    X, y = work.X_train, work.y_train
    assert X is not None
    assert work.target is not None
    scale = np.square(X).sum(axis=1).mean()

    def kernel(rows: np.ndarray) -> np.ndarray:
        S = rows @ X.T / scale
        return (1.0 + S / 3.0 + S**2 / 9.0) / 0.5

    ridge = KernelRidge(alpha=1.0, kernel="precomputed").fit(kernel(X), y)
    error = np.mean((ridge.predict(kernel(work.X_test)) - work.y_test) ** 2)
    (found,) = measure_baselines(work, ["ridge-2"])
    assert found.test_mse == pytest.approx(error * work.target.scale[0] ** 2)
    # Weights of one are the optimum over the box; every bound is below it.
    assert found.objective == pytest.approx(0.5 * y @ ridge.dual_coef_)
    (box,) = measure_baselines(work, ["box-coordinate-descent"])
    assert box.lower is not None
    assert found.objective is not None
    assert box.lower <= found.objective * (1 + 1e-9) <= box.objective * (1 + 2e-9)


def test_a_cancelled_run_ends_between_and_within() -> None:
    work, flag = workload(max_iter=100_000, tol=1e-12), new_cancel_flag()
    steps = measure_baselines(work, ["ridge-1", "mirror-descent"], cancel=flag)
    assert next(steps).name == "ridge-1"
    flag[0] = CANCELLED
    assert list(steps) == []


def test_each_waits_for_its_turn() -> None:
    turns: list[str] = []

    @contextlib.contextmanager
    def turn() -> Iterator[None]:
        turns.append("in")
        yield
        turns.append("out")

    for item in measure_baselines(workload(), ["ridge-1", "ridge-2"], turn=turn):
        turns.append(item.name)
    assert turns == ["in", "out", "ridge-1", "in", "out", "ridge-2"]


def test_a_name_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(InputError, match="no baseline is called 'ridge-9' here; there are ridge-1"):
        list(measure_baselines(workload(), ["ridge-9"]))
    with pytest.raises(InputError, match="box-coordinate-descent"):
        list(measure_baselines(workload(), ["box-coordinate-descent"]))


def test_what_a_method_refuses_does_not_end_the_others() -> None:
    work = workload()
    # The matrices of ridge do not fit where the family does.
    choices = dataclasses.replace(work.choices, memory_limit=500_000)
    work = dataclasses.replace(work, choices=choices)
    refused, done = measure_baselines(work, ["ridge-1", "mirror-descent"])
    assert np.isnan(refused.train_mse)
    assert refused.test_mse is None
    assert "bytes" in refused.remark
    assert done.train_mse > 0.0


def test_no_test_rows_leave_no_test_error() -> None:
    names = ["ridge-1", "mirror-descent"]
    found = list(measure_baselines(workload(train_fraction=1.0), names))
    assert [item.test_mse for item in found] == [None, None]
