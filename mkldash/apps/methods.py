"""Other methods on the rows of a run over products, measured one after another."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

# Brought in before any thread runs: pandas comes with it, and bokeh, which looks whether
# pandas is there, must not meet half of it.
import mkldash.estimators.polynomial_kernel
import mkldash.estimators.polynomial_ridge  # noqa: F401
from mkldash.experiments.product_baselines import Measured, Run, baselines_of, measure_baselines
from mkldash.experiments.workload import Workload
from mkldash.views._names import number
from mkldash.views.base import Baseline

__all__ = ["measured", "short_title"]

#: Kernel ridge is measured up to so many factors, and with the run's own most.
FIRST_DEGREES = 3

#: What a picture has room for.
_SHORT: Mapping[str, str] = MappingProxyType(
    {
        "learnt-kernel": "Learnt polynomial kernel",
        "box-coordinate-descent": "Coordinate descent",
        "full-gradient": "Full gradient",
        "uniform-sampling": "Uniform sampling",
        "mirror-descent": "Ideal sampling",
    }
)


def short_title(name: str, title: str) -> str:
    """A method's title, short enough for an axis."""
    _, ridge, degree = name.partition("ridge-")
    return f"Kernel ridge, degree {degree}" if ridge else _SHORT.get(name, title)


def measured(
    workload: Workload,
    cancel: NDArray[np.uint8],
    *,
    turn: Callable[[], contextlib.AbstractContextManager[object]],
    run: Run,
) -> Iterator[tuple[Baseline, ...]]:
    """All methods but the shown one, each filled in when it is ready.

    Parameters
    ----------
    workload : Workload
    cancel, turn, run
        See `mkldash.experiments.product_baselines.measure_baselines`.

    Yields
    ------
    tuple of Baseline
        First with nothing known.
    """
    offered = baselines_of(workload)
    own = {workload.choices.solver}
    if getattr(workload.solver, "sampling", "") == "uniform":
        own.add("uniform-sampling")
    own |= {f"ridge-{d}" for d in range(FIRST_DEGREES + 1, workload.choices.degree)}
    names = [name for name in offered if name not in own]
    found = {name: Baseline(short_title(name, offered[name].title)) for name in names}
    yield tuple(found.values())
    for one in measure_baselines(workload, names, cancel=cancel, turn=turn, run=run):
        found[one.name] = _as_picture(one)
        yield tuple(found.values())


def _as_picture(one: Measured) -> Baseline:
    known = one.test_mse is not None
    cost = f" ({one.iterations:,} iterations)" if one.iterations is not None else ""
    time = f", {number(one.seconds, 2)} s" if known else ""
    return Baseline(
        title=short_title(one.name, one.title),
        test_mse=one.test_mse if one.test_mse is not None else math.nan,
        note=f"{one.title}: {one.remark}{cost}{time}",
        objective=math.nan if one.objective is None else one.objective,
        done=True,
    )
