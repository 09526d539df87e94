"""A race of solvers inside a notebook, in slow motion on their own clocks; or its still picture."""

from __future__ import annotations

import asyncio
import bisect
import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mkldash.problems.losses.hinge import Hinge
from mkldash.problems.problem import Problem
from mkldash.problems.weight_sets.elastic_net import ElasticNet
from mkldash.solvers.base import Snapshot, Solver
from mkldash.solvers.driver import one_blas_thread, solve
from mkldash.solvers.stopping import StopRule
from mkldash.views._front_end import is_live
from mkldash.views.base import Rival, Scene, View
from mkldash.views.lessons.canvas import Picture
from mkldash.views.lessons.comparisons import draw_race_axes
from mkldash.views.solvers_by_iteration import SolversByIterationView
from mkldash.views.solvers_by_time import SolversByTimeView

if TYPE_CHECKING:
    from bokeh.models import LayoutDOM

    from mkldash.views.lessons._race_page import RacePage
    from mkldash.views.lessons._widget import FrameWidget

__all__ = ["EmbeddedRace"]

#: Full states sent to the browser per second, at most: comm messages queue.
FRAMES = 8.0
#: What a frame grants each solver: one iteration, or so many of its own seconds.
BY_ITERATION, BY_TIME = "an iteration each", "equal time, slowed down"
SLICE = 0.004


@dataclass(eq=False)
class Lane:
    """One solver's run: what it has computed, and how much of that is shown."""

    title: str
    steps: Iterator[Snapshot]
    stop: StopRule
    seen: list[Snapshot] = field(default_factory=list)
    over: bool = False

    def advance(self) -> None:
        """One iteration more, unless it is over."""
        if self.over:
            return
        snapshot = next(self.steps, None)
        if snapshot is not None:
            self.seen.append(snapshot)
        last = len(self.seen) - 1
        met = snapshot is None or snapshot.gap <= self.stop.tol
        self.over = met or last >= self.stop.max_iter

    def shown(self, granted: float, clock: str) -> int:
        """How many snapshots lie within what was granted."""
        places = [getattr(snapshot, clock) for snapshot in self.seen]
        return bisect.bisect_right(places, granted)


class EmbeddedRace:
    """Solvers on one problem, with live sliders for eta and C.

    Shown as the last line of a cell.  With a person in front it is a widget that
    starts on a click: in every frame each solver is granted an iteration, or a few
    milliseconds of its own time.  Its clock stands still while others work or
    pictures are drawn.  Executed by a program it runs to the end and shows a PNG.

    Parameters
    ----------
    problem : Problem
        The elastic net's eta and the hinge loss's C are where the sliders begin.
    solvers : sequence of Solver
        Those that do not take a problem sit out; at most six are drawn.
    stop : StopRule, optional
    name : str
        Of the data, for the line above the pictures.
    """

    def __init__(
        self,
        problem: Problem,
        solvers: Sequence[Solver],
        *,
        stop: StopRule | None = None,
        name: str = "this data set",
    ) -> None:
        weight_set = problem.weight_set
        assert isinstance(weight_set, ElasticNet)
        self.problem, self.solvers = problem, tuple(solvers)
        self.stop = StopRule() if stop is None else stop
        self.name = name
        self.eta, self.C = weight_set.eta, problem.loss.C
        self.turns = BY_TIME
        self.lanes: list[Lane] = []
        self.granted = 0.0
        self.playing = False
        self._task: asyncio.Task[None] | None = None

    # -- commands, as the buttons and sliders give them -------------------------

    def choose(
        self, *, eta: float | None = None, C: float | None = None, turns: str | None = None
    ) -> None:
        """Other parameters, or another clock; a race that was begun starts again."""
        before = (self.eta, self.C, self.turns)
        self.eta = self.eta if eta is None else float(eta)
        self.C = self.C if C is None else float(C)
        self.turns = self.turns if turns is None else turns
        if self.lanes and before != (self.eta, self.C, self.turns):
            self.begin(play=self.playing or self.over)

    def begin(self, *, play: bool = True) -> None:
        """Warm every solver up on the problem, then put them on the line."""
        problem, takers = self._problem(), self._takers()
        for solver in takers:
            solve(solver, problem, stop=StopRule(tol=1e-12, max_iter=2))
        self.lanes = [Lane(s.title, s.iterate(problem), self.stop) for s in takers]
        self.granted, self.playing = 0.0, play
        if self.turns == BY_ITERATION:
            self._compute()

    def toggle(self) -> None:
        """Start, pause or go on; start again after the end."""
        if not self.lanes or self.over:
            self.begin()
        else:
            self.playing = not self.playing

    def step(self) -> None:
        """One turn more, then wait."""
        if not self.lanes:
            self.begin(play=False)
        self.playing = False
        self.turn()

    def turn(self) -> None:
        """Grant every solver its share, and compute what that takes."""
        self.granted += 1.0 if self.turns == BY_ITERATION else SLICE
        self._compute()
        if self.over:
            self.playing = False

    # -- what is drawn -----------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether every solver is done, and all of it shown."""
        return bool(self.lanes) and all(
            lane.over and self._shown(lane) == len(lane.seen) for lane in self.lanes
        )

    def scene(self) -> tuple[list[Snapshot], Scene]:
        """The first solver's run, and the others as its rivals; empty before the start."""
        if not self.lanes:
            first, *others = (solver.title for solver in self._takers())
            waiting = tuple(Rival(title, [], False) for title in others)
            return [], Scene(tol=self.stop.tol, solver=first, rivals=waiting)
        runs = [(lane, lane.seen[: self._shown(lane)]) for lane in self.lanes]
        done = [lane.over and len(run) == len(lane.seen) for lane, run in runs]
        rivals = tuple(
            Rival(lane.title, run, end) for (lane, run), end in zip(runs[1:], done[1:], strict=True)
        )
        return runs[0][1], Scene(tol=self.stop.tol, solver=self.lanes[0].title, rivals=rivals)

    def sentence(self) -> str:
        """What is going on, with the parameters of what is on screen."""
        where = f"{self.name} at {self._label()}"
        if not self.lanes:
            return f"Press Start to race on {where}."
        at_gap = [lane for lane in self.lanes if self._at_gap(lane)]
        count = f"{len(at_gap)} of {len(self.lanes)} solvers within {100 * self.stop.tol:g} %"
        clock = f"after {1000 * self.granted:.0f} ms of each one's own time"
        if self.turns == BY_ITERATION:
            clock = f"after {self.granted:.0f} iteration{'s' * (self.granted != 1)} each"
        doing = "Over" if self.over else "Racing" if self.playing else "Waiting"
        first = min(at_gap, key=self._finish, default=None)
        ahead = f"; first: {first.title}" if first is not None else ""
        return f"{doing}: {where}, {count} {clock}{ahead}."

    def still(self) -> Picture:
        """What a reader without a front end sees: the gaps along both counts, which do not
        depend on the machine.
        """
        self.begin(play=False)
        for lane in self.lanes:
            with one_blas_thread():
                while not lane.over:
                    lane.advance()
        runs = {lane.title: lane.seen for lane in self.lanes}
        return draw_race_axes(runs, self.stop.tol, ("iterations", "SVM solves"))

    def _compute(self) -> None:
        with one_blas_thread():
            for lane in self.lanes:
                while not lane.over and self._shown(lane) == len(lane.seen):
                    lane.advance()

    @property
    def _clock(self) -> str:
        return "iteration" if self.turns == BY_ITERATION else "elapsed"

    def _shown(self, lane: Lane) -> int:
        return lane.shown(self.granted, self._clock)

    def _at_gap(self, lane: Lane) -> bool:
        run = lane.seen[: self._shown(lane)]
        return bool(run) and run[-1].gap <= self.stop.tol

    def _finish(self, lane: Lane) -> float:
        return float(getattr(lane.seen[-1], self._clock))

    def _takers(self) -> list[Solver]:
        problem = self._problem()
        return [solver for solver in self.solvers if solver.supports(problem) is None]

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
        views = (SolversByIterationView(), SolversByTimeView())
        for view in views:
            view.full_frames = True
        return views

    @cached_property
    def _page(self) -> RacePage:
        from mkldash.views.lessons._race_page import RacePage

        return RacePage(self)

    @cached_property
    def _widget(self) -> FrameWidget:
        from mkldash.views.lessons._widget import FrameWidget

        figures = [view.figure() for view in self._views]
        for figure in figures:
            figure.legend[0].ncols = 2  # two in a row are narrower than on a page of their own
        layout: LayoutDOM = self._page.layout(figures)
        # Before there is a widget: what it sends until the page listens is lost.
        self._write()
        return FrameWidget(layout)

    def _write(self) -> None:
        run, scene = self.scene()
        for view in self._views:
            view.update(view.prepare(run, len(run) - 1, scene))
        self._page.show()

    def draw(self) -> None:
        """Write the newest state into the models of the page, as one frame."""
        with self._widget.frame():
            self._write()

    def wake(self) -> None:
        """Draw now, and go on while it plays; called by the buttons, within the event loop."""
        self.draw()
        if self.playing and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._play())

    async def _play(self) -> None:
        while self.playing:
            await asyncio.sleep(1.0 / FRAMES)
            if self.playing:
                self.turn()
            self.draw()
