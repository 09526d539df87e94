"""A run that goes on from an iteration of another one, with the same or other parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from mkldash.apps.choice import OPTION
from mkldash.apps.descent import Descent
from mkldash.apps.jobs import Extra, build_job
from mkldash.apps.state import COSMETIC, AppState
from mkldash.solvers.base import Origin, Snapshot, WarmStart
from mkldash.solvers.driver import one_blas_thread
from mkldash.streaming import Building, Job, Session

__all__ = ["Fork", "branch_words", "is_branch"]

#: Choices that leave the rows and the kernels as they are: the point of an iteration is one
#: of theirs too.
_APPLY = frozenset(
    {"solver", "eta", "C", "rho", "sigma_factor", "p", "penalty", "growth", "tol", "max_iter"}
)


@dataclass(eq=False)
class Fork:
    """The iteration that branches begin from.

    Parameters
    ----------
    session : Session
        The run that was on screen.
    row : int
        Of its trace.
    """

    session: Session
    row: int
    iteration: int = field(init=False)
    _snapshot: Snapshot | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        self.iteration = int(self.session.trace.columns()["iteration"][self.row])

    @staticmethod
    def takes(old: AppState, new: AppState) -> bool:
        """Whether a branch may have the choices `new` where it had `old`."""
        names = old.values.keys() | new.values.keys()
        changed = {n for n in names if old.values.get(n) != new.values.get(n)} - COSMETIC
        applied = {n for n in changed if n in _APPLY or n.startswith(OPTION)}
        return changed == applied and (old.table, old.problem) == (new.table, new.problem)

    def waits(self, session: Session) -> bool:
        """Whether `session` is a branch from here that has not gone on."""
        extra = session.job.extra if session.job is not None else None
        descent = extra.descent if isinstance(extra, Extra) else None
        return (
            session is not self.session
            and descent is not None
            and descent.resumed
            and len(session.trace) == self.row + 1
        )

    def job(self, state: AppState, building: Building, say: Callable[[str], None]) -> Job:
        """The job of a branch with these choices; called in its worker.

        Of the same algorithm and problem it resumes, bit for bit.  Otherwise the start
        is warm: weights and dual coefficients of the iteration, and bounds of its own.
        """
        parent = self.session.job
        assert parent is not None  # there is a row, so there was a job
        snapshot = self._state(building)
        job = build_job(state, building, warm=False, say=say)
        extra, before = job.extra, parent.extra
        assert isinstance(extra, Extra)
        assert isinstance(before, Extra)
        resumed = snapshot.origin == Origin(job.solver.name, job.problem.key)
        start = WarmStart(weights=snapshot.weights, alpha=snapshot.alpha)
        descent = Descent.of(state.choices(), before.descent, self.iteration, resumed=resumed)
        extra = replace(
            extra,
            descent=descent,
            warm=before.warm or not resumed,
            start=before.start if resumed else start,
        )
        return replace(
            job,
            extra=extra,
            start=snapshot if resumed else start,
            history=(self.session.trace, self.row) if resumed else None,
        )

    def _state(self, building: Building) -> Snapshot:
        """The iteration's state, computed again where it was dropped."""
        if self._snapshot is None:
            found = None
            with one_blas_thread():  # or what is computed again would differ in its last bits
                for found in self.session.trace.steps_to(self.row, building.cancel):  # noqa: B007
                    building.check()
            self._snapshot = found
        assert self._snapshot is not None
        return self._snapshot


def is_branch(session: Session) -> bool:
    """Whether a run was branched from another one."""
    extra = session.job.extra if session.job is not None else None
    descent = extra.descent if isinstance(extra, Extra) else None
    return descent is not None and descent.branched


def branch_words(session: Session, told: str, *, waits: bool) -> str:
    """What a branch is, in words; empty for a run that is none.

    Parameters
    ----------
    session : Session
        The run on screen.
    told : str
        The run that it was branched from.
    waits : bool
        Whether it has not gone on yet.
    """
    extra = session.job.extra if session.job is not None else None
    descent = extra.descent if isinstance(extra, Extra) else None
    if descent is None or not descent.branched:
        return ""
    where = f"Branched at iteration {descent.at} of the grey run ({told})"
    if not descent.resumed:
        return (
            f"{where}: a warm start from its weights and α there, iterations counted from 0. "
            "Reset leaves the branch."
        )
    if waits:
        return (
            f"{where}. Change a parameter to go another way from here; Play goes on as that "
            "run did."
        )
    return f"{where}: it goes on from its whole state there. Reset leaves the branch."
