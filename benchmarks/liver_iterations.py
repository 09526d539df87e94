"""Level method against gradient descent on Liver, as in Liu et al. 2009, figure 1.

C = 1, rho = 100, sigma factor 4, all rows, features raw and z-scored: iterations
to a certified relative gap, and what an iteration costs.  The paper says that the
level method needs fewer; the last lines say what came out.
"""

from __future__ import annotations

from mkldash.experiments.choices import Choices
from mkldash.experiments.problem_kinds import solvers_for
from mkldash.experiments.workload import prepare
from mkldash.problems.problem import Problem
from mkldash.solvers import available_solvers
from mkldash.solvers.base import Snapshot
from mkldash.solvers.driver import solve
from mkldash.solvers.stopping import StopRule

GAPS = (1e-2, 1e-3, 1e-4, 1e-6)
RHO, C = 100.0, 1.0


def liver(*, standardize: bool) -> Problem:
    """The paper's problem at its second width."""
    choices = Choices(
        problem="neighborhood", data="liver", train_fraction=1.0, standardize=standardize,
        C=C, rho=RHO, sigma_factor=4.0,
    )  # fmt: skip
    return prepare(choices).problem


def report(title: str, problem: Problem) -> dict[str, list[int]]:
    """Print what each solver needs; iterations to each gap by solver."""
    print(f"{title}: iterations to a gap of {', '.join(f'{gap:g}' for gap in GAPS)}")
    counts = {}
    for name in solvers_for("neighborhood"):
        solver, seen = available_solvers()[name](), list[Snapshot]()
        solve(solver, problem, stop=StopRule(tol=1e-2))  # compiled, or read from disk, by now
        stop = StopRule(tol=min(GAPS), max_iter=5000)
        result = solve(solver, problem, stop=stop, callbacks=[seen.append])
        counts[name] = [next(s.iteration for s in seen if s.gap <= gap) for gap in GAPS]
        cost = 1e3 * result.seconds / max(1, result.iterations)
        print(
            f"  {name:16}{''.join(f'{count:6d}' for count in counts[name])}   "
            f"{cost:8.3f} ms an iteration, {1e3 * result.seconds:8.1f} ms in all, "
            f"value {result.lower:.5f}"
        )
    return counts


def verdict(title: str, counts: dict[str, list[int]]) -> None:
    """Print whether the paper's claim holds, gap by gap."""
    pairs = zip(GAPS, counts["level"], counts["gradient"], strict=True)
    words = [
        f"{gap:g}: {'yes' if level < gradient else 'no'} ({level} against {gradient})"
        for gap, level, gradient in pairs
    ]
    print(f"{title}, does the level method need fewer iterations than gradient descent? "
          f"{'; '.join(words)}")  # fmt: skip


if __name__ == "__main__":
    found = {
        "Liver, raw": report("Liver, raw", liver(standardize=False)),
        "Liver, z-scored": report("Liver, z-scored", liver(standardize=True)),
    }
    for name, needed in found.items():
        verdict(name, needed)
