"""A streaming run inside a notebook: sliders, player, four views; or its still picture."""

from __future__ import annotations

import asyncio
import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers.base import Snapshot
from mkldash.solvers.block_coordinate import BlockCoordinateDescent
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import Status, StopRule
from mkldash.streaming import Building, Job, Runner, Session, State
from mkldash.views._front_end import is_live
from mkldash.views._reading import Readable
from mkldash.views.base import Scene, View
from mkldash.views.bounds import BoundsView
from mkldash.views.gap import GapView
from mkldash.views.inner_bounds import InnerBoundsView
from mkldash.views.lessons.canvas import Picture
from mkldash.views.lessons.runs import draw_run
from mkldash.views.weights_bars import WeightsBarsView

if TYPE_CHECKING:
    from bokeh.models import LayoutDOM

    from mkldash.views.lessons._widget import FrameWidget

__all__ = ["EmbeddedRun"]

#: Full states sent to the browser per second, at most: comm messages queue.
FRAMES = 10.0
#: Iterations per second: a pace to watch.
PACE = 12.0

_AT_REST = (State.IDLE, State.PAUSED, State.FINISHED, State.FAILED, State.CLOSED)


class EmbeddedRun:
    """Block-coordinate descent on one bank, with live sliders for eta and C.

    Shown as the last line of a cell.  With a person in front it is a widget
    that starts on a click; executed by a program it runs to the end and shows a
    PNG of the same four views.

    Parameters
    ----------
    problem : Problem
        The elastic net's eta and the hinge loss's C are where the sliders begin.
    stop : StopRule, optional
    name : str
        Of the data, for the line above the pictures.
    """

    def __init__(
        self, problem: Problem, *, stop: StopRule | None = None, name: str = "this data set"
    ) -> None:
        weight_set = problem.weight_set
        assert isinstance(weight_set, ElasticNet)
        self.problem = problem
        self.stop = StopRule() if stop is None else stop
        self.name = name
        self.eta, self.C = weight_set.eta, problem.loss.C
        self._runner: Runner | None = None
        self._task: asyncio.Task[None] | None = None
        self._shown: Session | None = None
        self._cursor: int | None = None

    @property
    def session(self) -> Session | None:
        """The run of the present sliders; None before the first click."""
        return None if self._runner is None else self._runner.current

    def run(self) -> list[Snapshot]:
        """The whole run at the present eta and C, in this thread."""
        seen: list[Snapshot] = []
        solve(BlockCoordinateDescent(), self._problem(), stop=self.stop, callbacks=[seen.append])
        return seen

    def still(self) -> Picture:
        """What a reader without a front end sees: the same views after the run."""
        title = f"{self.name}, {self._label()} (a still picture; live in JupyterLab)"
        return draw_run(self.run(), Scene(tol=self.stop.tol), title)

    def close(self) -> None:
        """End the worker."""
        if self._runner is not None:
            self._runner.close()

    # -- commands, as the buttons and sliders give them -------------------------

    def choose(self, *, eta: float | None = None, C: float | None = None) -> None:
        """Other parameters; a run that was begun starts again, warm."""
        eta, C = self.eta if eta is None else float(eta), self.C if C is None else float(C)
        if (eta, C) == (self.eta, self.C):
            return
        self.eta, self.C = eta, C
        if self.session is not None:
            self.start()

    def start(self, *, play: bool = True) -> None:
        """Start at the present parameters; the run before becomes the ghost."""
        if self._runner is None:
            self._runner = Runner(max_rate=PACE)
        problem, warm = self._problem(), self.session is not None
        self._cursor = None

        def job(building: Building) -> Job:
            return Job(
                solver=BlockCoordinateDescent(),
                problem=problem,
                start=building.warm if warm else None,
                stop=self.stop,
            )

        self._runner.start(job, self._label(), play=play)

    def toggle(self) -> None:
        """Start, pause or go on; start again after the end."""
        session = self.session
        if session is None or session.state in (State.FINISHED, State.FAILED):
            self.start()
        elif session.playing:
            session.pause()
        else:
            self._cursor = None
            session.play()

    def step(self) -> None:
        """One iteration more, then wait."""
        if self.session is None:
            self.start(play=False)
        session = self.session
        if session is not None and session.state not in (State.FINISHED, State.FAILED):
            self._cursor = None
            session.pause()
            session.step()

    def scrub(self, k: int) -> None:
        """Hold the run and look at iteration `k`."""
        session = self.session
        if session is not None and len(session.trace):
            session.pause()
            self._cursor = max(0, min(int(k), len(session.trace) - 1))

    # -- what is drawn -----------------------------------------------------------

    def shown(self) -> tuple[Session | None, int, Scene]:
        """Session, iteration and scene that belong on screen now.

        A new run without an iteration yet leaves the one before on screen, under
        its own parameters.
        """
        session = self.session
        if session is not None and len(session.trace):
            self._shown = session
        session = self._shown
        if session is None:
            return None, -1, Scene(tol=self.stop.tol)
        last = len(session.trace) - 1
        k = last if self._cursor is None or session is not self.session else self._cursor
        before = None if self._runner is None else self._runner.previous
        ghost = None if before is None or before is session else before.trace
        return session, min(k, last), Scene(tol=self.stop.tol, ghost=ghost)

    def sentence(self) -> str:
        """What is going on, with the parameters of what is on screen."""
        session, k, _ = self.shown()
        if session is None:
            return f"Press Start to solve {self.name} at {self._label()}."
        shown = session.trace[k]
        kernels = f"{len(shown.weights.active())} of {len(shown.weights)} kernels carry weight."
        gap = f"within {100 * shown.gap:.3g} % of the optimum" if shown.gap < 1e300 else "no bound"
        if session is not self.session:
            doing = f"Working on {self._label()}; still showing"
        elif session.error is not None:
            doing = f"Failed ({session.error}) at"
        elif session.state is State.FINISHED and k == len(session.trace) - 1:
            doing = "Ended:" if session.status is None else f"{_short(session.status)}:"
        else:
            doing = "Running:" if session.playing else "Waiting:"
        return f"{doing} {session.parameters}, iteration {shown.iteration}, {gap}. {kernels}"

    def _problem(self) -> Problem:
        return dataclasses.replace(
            self.problem, loss=Hinge(self.C), weight_set=ElasticNet(self.eta)
        )

    def _label(self) -> str:
        return f"η = {self.eta:g}, C = {self.C:.3g}"

    # -- in the notebook -----------------------------------------------------------

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        shown = self._widget if is_live() else self.still()
        return shown._repr_mimebundle_()

    @cached_property
    def _views(self) -> tuple[View, ...]:
        views = (BoundsView(), GapView(), WeightsBarsView(), InnerBoundsView())
        for view in views:
            view.full_frames = True
        return views

    @cached_property
    def _widget(self) -> FrameWidget:
        from mkldash.views.lessons._widget import FrameWidget

        return FrameWidget(self._layout)

    @cached_property
    def _layout(self) -> LayoutDOM:
        from mkldash.views.lessons._widget import build_controls, build_page

        self._controls = build_controls(self)
        return build_page(self._controls, [view.figure() for view in self._views])

    def draw(self) -> None:
        """Write the newest state into the models of the page, as one frame."""
        session, k, scene = self.shown()
        trace: Readable = [] if session is None else session.trace
        with self._widget.frame():
            for view in self._views:
                view.update(view.prepare(trace, k, scene))
            self._controls.show(self, self.sentence(), k, len(trace))

    def wake(self) -> None:
        """Draw until the run rests; called by the buttons, within the event loop."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._draw_while_it_runs())

    async def _draw_while_it_runs(self) -> None:
        while True:
            session = self.session
            rests = session is None or (session.state in _AT_REST and not session.playing)
            self.draw()
            if rests:
                return
            await asyncio.sleep(1.0 / FRAMES)


def _short(status: Status) -> str:
    """The beginning of the sentence of a status: "Converged", "Stopped by you"."""
    return status.sentence.split(":")[0].split(";")[0].rstrip(".")
