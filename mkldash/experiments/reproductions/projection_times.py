"""The projection onto {0 <= x <= C, y'x = 0} against a solver of quadratic programs."""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mkldash.experiments.choices import Choices
from mkldash.experiments.point_figures import Panel, panels_svg, points_svg
from mkldash.experiments.reproductions._reading import (
    joined,
    pick,
    point_series,
    ratio_range,
    seconds_words,
    styles_of,
    values_of,
)
from mkldash.experiments.reproductions.base import Record, Reproduction
from mkldash.experiments.sweep import Run, Task

__all__ = ["ProjectionTimes", "projection_run", "time_projections"]

Array = NDArray[np.float64]

SIZES = (500, 1000, 2000, 4000, 8000, 16000)

#: Speed-up that the paper speaks of; "about" is from half of it on.
SPEED_UP = 100.0

#: Ours, and what is compared with it; the last ones where they are installed.
OURS = "projection"
RIVALS = {"piqp": "PIQP", "osqp": "OSQP", "clarabel": "Clarabel"}

C = 1.0

#: Seconds that one method may take on its problems; the rest of them is left out.
PATIENCE = 60.0

#: Problems that are solved before the clock starts.
_WARM = 5


class ProjectionTimes(Reproduction):
    """Figure 2, right: seconds for independent projections, by their size."""

    name: ClassVar[str] = "projection-times"
    title: ClassVar[str] = "Projections against quadratic programs"
    order: ClassVar[int] = 5
    paper: ClassVar[str] = "neighborhood"
    claim: ClassVar[str] = (
        "its projection is about 100 times faster than a solver of quadratic programs at every "
        "size from 500 to 16000"
    )
    setting: ClassVar[str] = (
        "v of independent normal numbers of standard deviation 2, labels -1 and +1 with equal "
        "odds, C = 1, each problem solved once, no set-up of a solver is counted, QP solvers at "
        "their default tolerances; seconds are the median of a problem"
    )
    unlike: ClassVar[str] = (
        "The paper's QP solver was Mosek, which is not free; the distribution of its problems is "
        "not in the text. The root is found by Newton's method, where the paper leaves open how."
    )
    quick: ClassVar[str] = "n = 500, 1000, 2000, 4000, 20 problems each"
    full: ClassVar[str] = "n = 500, 1000, 2000, 4000, 8000, 16000, 100 problems each"
    has_gaps: ClassVar[bool] = False

    def runs(self, quick: bool) -> Sequence[Run]:
        sizes, problems = (SIZES[:4], 20) if quick else (SIZES, 100)
        names = [OURS, *(n for n in RIVALS if importlib.util.find_spec(n) is not None)]
        return tuple(projection_run(name, n, problems) for n in sizes for name in names)

    def outcome(self, results: Sequence[Record]) -> str:
        said, worst, error = [], [], 0.0
        for n in sorted(values_of(results, "n")):
            mine = pick(results, n=n)
            ours = pick(mine, solver=OURS)
            others = [r for r in mine if r["solver"] != OURS]
            if ours and others:
                quickest = min(others, key=lambda r: r["seconds"])
                worst.append(quickest["seconds"] / ours[0]["seconds"])
                said.append((quickest["title"], n))
                error = max(error, quickest["difference"])
        if not worst:
            return "there was nothing to compare it with"
        as_fast = sum(ratio >= SPEED_UP / 2 for ratio in worst)
        whole = "the same or more came out" if as_fast == len(worst) else (
            "less came out" if as_fast == 0 else "it came out in part"
        )  # fmt: skip
        names = joined(list(dict.fromkeys(name for name, _ in said)))
        return (
            f"{whole}: it was {ratio_range(worst)} as fast as the fastest of "
            f"{len({r['solver'] for r in results}) - 1} free solvers ({names}, whose answers were "
            f"up to {error:.1g} off) over n = "
            f"{joined([str(n) for _, n in said])}, at least {SPEED_UP / 2:g} times as fast at "
            f"{as_fast} of {len(worst)} sizes"
        )

    def table(self, results: Sequence[Record]) -> list[tuple[str, ...]]:
        solvers = {r["solver"]: r["title"] for r in results}
        head = ("n", "problems", *solvers.values(), "largest difference to ours")
        rows: list[tuple[str, ...]] = [head]
        for n in sorted(values_of(results, "n")):
            mine = pick(results, n=n)
            times = [
                seconds_words(found[0]["seconds"]) if (found := pick(mine, solver=s)) else "–"
                for s in solvers
            ]
            error = max(r["difference"] for r in mine)
            counts = " to ".join(dict.fromkeys(str(r["solved"]) for r in mine))
            rows.append((str(n), counts, *times, f"{error:.1e}"))
        return rows

    def figure(self, results: Sequence[Record]) -> str:
        series = point_series(results, "n", "seconds")
        picture = points_svg(series, "n", "seconds for one problem", log_x=True, log_y=True)
        panel = Panel("one projection, by its size", picture)
        return panels_svg([panel], list(styles_of(results).items()))


def projection_run(name: str, n: int, problems: int) -> Run:
    """One method on problems of one size."""
    title = "Projection" if name == OURS else RIVALS[name]
    task = Task(
        measure=time_projections,
        name=name,
        title=title,
        options=(("n", n), ("problems", problems)),
        data="normal numbers",
    )
    return Run(choices=Choices(problem="neighborhood", seed=n), task=task)


def time_projections(run: Run) -> Mapping[str, Any]:
    """Seconds for a problem, its median, and how far the answers are from ours."""
    from mkldash.problems.projection import project

    assert run.task is not None
    options, rng = dict(run.task.options), np.random.default_rng(run.choices.seed)
    n = int(options["n"])
    given = [
        (2.0 * rng.standard_normal(n), np.where(rng.random(n) < 0.5, -1.0, 1.0))
        for _ in range(int(options["problems"]) + _WARM)
    ]
    out, spent, difference = np.empty(n), [], 0.0
    for v, y in given[:_WARM]:  # compiled code is loaded; not the problems that are timed
        project(v, y, C, out=out)
    begun = time.perf_counter()
    for v, y in given[_WARM:]:
        if run.task.name == OURS:
            start = time.perf_counter()
            x = project(v, y, C, out=out).x
            spent.append(time.perf_counter() - start)
            difference = max(difference, float(abs(y @ x)))
        else:
            seconds, x = _SOLVE[run.task.name](v, y)
            spent.append(seconds)
            difference = max(difference, float(np.abs(x - project(v, y, C, out=out).x).max()))
        if time.perf_counter() - begun > PATIENCE:
            break
    return {
        "seconds": statistics.median(spent),
        "difference": difference,
        "solved": len(spent),
    }


def _piqp(v: Array, y: Array) -> tuple[float, Array]:
    import piqp
    from scipy import sparse

    n, solver = v.size, piqp.SparseSolver()
    row = sparse.csc_matrix(y[None])
    solver.setup(
        sparse.eye(n, format="csc"), -v, row, np.zeros(1), x_l=np.zeros(n), x_u=np.full(n, C)
    )
    begun = time.perf_counter()
    solver.solve()
    return time.perf_counter() - begun, np.array(solver.result.x)


def _osqp(v: Array, y: Array) -> tuple[float, Array]:
    import osqp
    from scipy import sparse

    n, solver = v.size, osqp.OSQP()
    rows = sparse.vstack([sparse.csc_matrix(y[None]), sparse.eye(n)], format="csc")
    low, high = np.zeros(n + 1), np.concatenate(([0.0], np.full(n, C)))
    solver.setup(sparse.eye(n, format="csc"), -v, rows, low, high, verbose=False)
    begun = time.perf_counter()
    found = solver.solve(raise_error=False)
    return time.perf_counter() - begun, np.array(found.x)


def _clarabel(v: Array, y: Array) -> tuple[float, Array]:
    import clarabel
    from scipy import sparse

    n = v.size
    eye = sparse.eye(n, format="csc")
    rows = sparse.vstack([sparse.csc_matrix(y[None]), eye, -eye], format="csc")
    right = np.concatenate(([0.0], np.full(n, C), np.zeros(n)))
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(eye, -v, rows, right, cones, settings)
    begun = time.perf_counter()
    found = solver.solve()
    return time.perf_counter() - begun, np.array(found.x)


_SOLVE = {"piqp": _piqp, "osqp": _osqp, "clarabel": _clarabel}
