"""From choices to the job of a session, and to what runs beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mkldash.apps.companions import Plan
from mkldash.apps.descent import Descent
from mkldash.apps.product_scoring import ProductFacts, make_product_facts, make_product_score
from mkldash.apps.scoring import make_gram, make_points, make_score
from mkldash.apps.state import AppState
from mkldash.errors import InputError
from mkldash.experiments.choices import Choices
from mkldash.experiments.rho_sweep import is_affordable
from mkldash.experiments.workload import Cancelled as NotWanted
from mkldash.experiments.workload import Workload, prepare
from mkldash.solvers import available_solvers
from mkldash.solvers.base import WarmStart
from mkldash.streaming import Building, Cancelled, Job
from mkldash.views.base import Gram, Points

__all__ = ["MOST_COMPARED", "Extra", "build_job", "make_plan"]


#: Training rows up to which other methods are measured beside a run: closed forms over
#: more cannot be interrupted for too long.
MOST_COMPARED = 2000


@dataclass(frozen=True, eq=False)
class Extra:
    """What a job carries beside the problem: `Job.extra`."""

    workload: Workload
    points: Points | None
    warm: bool = False  # begun at a point of another run
    start: WarmStart | None = None  # where its iteration 0 began
    gram: Gram | None = None
    swept: bool = False  # what rho does is computed beside it
    products: ProductFacts | None = None
    descent: Descent | None = None

    @property
    def compared(self) -> bool:
        """Whether other methods are measured on the same rows beside it."""
        work = self.workload
        return (
            self.products is not None
            and len(work.y_test) > 0
            and len(work.y_train) <= MOST_COMPARED
        )


def build_job(
    state: AppState, building: Building, *, warm: bool, say: Callable[[str], None]
) -> Job:
    """What a session runs for these choices; called in its worker.

    Parameters
    ----------
    state : AppState
    building : Building
    warm : bool
        Begin at the best point of the run before.
    say : callable
        Gets a sentence before each part that takes time.

    Raises
    ------
    InputError
        For choices that cannot be used.
    Cancelled
        When nobody wants the job any more.
    """
    try:
        choices = state.choices()
        workload = prepare(choices, progress=say, cancelled=building.is_cancelled)
    except NotWanted:
        raise Cancelled from None
    except ValueError as problem:
        raise problem if isinstance(problem, InputError) else InputError(str(problem)) from None
    points, gram = make_points(workload), make_gram(workload)
    products = make_product_facts(workload)
    if products is None:
        score = make_score(workload, points, gram)
    else:
        score = make_product_score(workload)
    start = building.warm if warm else None
    return Job(
        solver=workload.solver,
        problem=workload.problem,
        start=start,
        stop=workload.stop,
        score=score,
        extra=Extra(
            workload, points, warm=start is not None, start=start, gram=gram,
            swept=state.kind.takes_rho and is_affordable(workload.problem), products=products,
            descent=_descent(choices, building if warm else None),
        ),
    )  # fmt: skip


def _descent(choices: Choices, building: Building | None) -> Descent:
    """Where a run began that is not a branch."""
    if building is None or building.warm is None or building.warm_of is None:
        return Descent(choices)
    extra, iteration = building.warm_of
    parent = extra.descent if isinstance(extra, Extra) else None
    return Descent.of(choices, parent, iteration, best=True)


def make_plan(state: AppState, job: Job) -> Plan | None:
    """Which other solvers run beside a job, and whether rho is swept."""
    extra, kinds = job.extra, available_solvers()
    if not isinstance(extra, Extra):
        return None
    return Plan(
        workload=extra.workload,
        rivals=tuple(kinds[name]() for name in state.rivals(job.problem.n_rows)),
        start=extra.start,
        sweep_key=state.sweep_key if extra.swept else None,
        points=extra.points,
        baselines=extra.compared,
    )
