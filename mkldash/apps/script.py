"""A Python script that gives again what a page shows: its runs, and the runs they began from."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mkldash.apps.descent import Descent
from mkldash.apps.recipe import literal, named, versions
from mkldash.experiments.choices import Choices

__all__ = ["MOST_RUNS", "Numbers", "Seen", "script"]

#: Runs before a run that a script gives again: somebody may drag a slider for an hour.
MOST_RUNS = 60


@dataclass(frozen=True)
class Numbers:
    """What the page shows of one iteration, to the last bit."""

    iteration: int
    upper: float
    lower: float
    gap: float
    inner_solves: int


@dataclass(frozen=True, eq=False)
class Seen:
    """A run that is on screen.

    Parameters
    ----------
    name : str
        What the page calls it.
    descent : Descent
    last : int or None
        Newest iteration on record; None: until its stop rule ends it.
    numbers : sequence of Numbers
        To be compared.
    remark : str
        What is to be known of it.
    """

    name: str
    descent: Descent
    last: int | None = None
    numbers: Sequence[Numbers] = ()
    remark: str = ""


@dataclass(eq=False)
class _Step:
    """One run of the script."""

    name: str
    descent: Descent
    until: int | None = -1  # the last iteration that something needs; None: its own end
    keep: set[int] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)

    def need(self, iteration: int | None) -> None:
        if iteration is not None:
            self.keep.add(iteration)
        if iteration is None or self.until is None:
            self.until = None
        else:
            self.until = max(self.until, iteration)


def script(seen: Sequence[Seen], notes: Iterable[str] = ()) -> str:
    """Python that computes runs again, prints their numbers, and compares them.

    Parameters
    ----------
    seen : sequence of Seen
        At least one; the weights of the first are printed too.
    notes : iterable of str
        More to say at its head.
    """
    steps, cut = _steps(seen)
    common = named(seen[0].descent.choices)
    said = [*notes, *_tables(s.descent.choices for s in steps.values())]
    if cut:
        said.append(
            f"LEFT OUT: of the chain of runs that each began at the weights of the one before, "
            f"only the last {MOST_RUNS} are here, so the last digits may differ."
        )
    blocks = [_block(step, steps, common) for step in steps.values()]
    told = [_told(one, steps) for one in seen]
    names = "work.family.label(key)" if seen[0].descent.choices.kind.has_family else "key"
    first = steps[seen[0].descent.owner(_newest(seen[0]))]
    return (
        f"{_head(seen, said)}\n{_RUN}\n"
        f"common = dict(\n{_lines(common)})\n\n"
        + "\n".join(blocks)
        + "\n"
        + "".join(told)
        + f"work, last = {first.name}['work'], {first.name}['last']\n"
        "for key, value in last.best.weights.as_dict().items():\n"
        f"    print(f'{{value:.6f}}', {names})\n"
    )


def _newest(one: Seen) -> int:
    """An iteration beyond which nothing of it is on screen."""
    return 2**62 if one.last is None else one.last


def _steps(seen: Sequence[Seen]) -> tuple[dict[Descent, _Step], bool]:
    """Every run that is needed, parents first, and whether some had to be left out."""
    found: dict[Descent, _Step] = {}
    cut = False

    def step(descent: Descent, depth: int) -> _Step | None:
        nonlocal cut
        if descent in found:
            return found[descent]
        if depth > MOST_RUNS:
            cut = True
            return None
        if descent.parent is not None:
            parent = step(descent.parent, depth + 1)
            if parent is not None:
                parent.need(descent.at)
        found[descent] = new = _Step(f"run_{len(found) + 1}", descent)
        return new

    for one in seen:
        owner = step(one.descent.owner(_newest(one)), 0)
        assert owner is not None
        owner.need(one.last)
        owner.remarks += [one.name, *([one.remark] if one.remark else [])]
        for numbers in one.numbers:
            past = step(one.descent.owner(numbers.iteration), 0)
            assert past is not None
            past.need(numbers.iteration)
    return found, cut


def _lines(given: Mapping[str, Any]) -> str:
    return "".join(f"    {name}={literal(value)},\n" for name, value in given.items())


def _differing(choices: Choices, common: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that make `choices` of the common ones."""
    base = Choices(**common)
    return {
        f.name: getattr(choices, f.name)
        for f in dataclasses.fields(Choices)
        if f.init and f.name != "content" and getattr(choices, f.name) != getattr(base, f.name)
    }


def _block(step: _Step, steps: Mapping[Descent, _Step], common: Mapping[str, Any]) -> str:
    """Lines that compute one run."""
    descent = step.descent
    own = _differing(descent.choices, common)
    inner = ", ".join(f"{name}={literal(value)}" for name, value in own.items())
    choices = f"Choices(**common | dict({inner}))" if inner else "Choices(**common)"
    arguments, how = [choices], "cold"
    parent = None if descent.parent is None else steps.get(descent.parent)
    if parent is not None:
        point = f"{parent.name}[{descent.at}]"
        if descent.resumed:
            arguments.append(f"start={point}")
            how = f"goes on from iteration {descent.at} of {parent.name}"
        else:
            at = f"{point}.best" if descent.best else point
            arguments.append(f"start=WarmStart(weights={at}.weights, alpha={at}.alpha)")
            where = "the best point so far" if descent.best else "the point"
            how = f"warm, at {where} of iteration {descent.at} of {parent.name}"
    elif descent.parent is not None:
        how = "the runs before it are LEFT OUT"
    if step.until is not None:
        arguments.append(f"until={step.until}")
    if step.keep:
        arguments.append(f"keep={{{', '.join(map(str, sorted(step.keep)))}}}")
    remarks = "; ".join(step.remarks) or "a run before"
    return f"# {remarks} (start: {how})\n{step.name} = run({', '.join(arguments)})\n"


def _told(one: Seen, steps: Mapping[Descent, _Step]) -> str:
    """Lines that print the numbers of a run on screen."""
    lines = []
    for n in one.numbers:
        source = steps[one.descent.owner(n.iteration)].name
        page = ", ".join(literal(v) for v in (n.upper, n.lower, n.gap, n.inner_solves))
        lines.append(f"tell({one.name!r}, {source}[{n.iteration}], ({page}))\n")
    if not one.numbers:
        source = steps[one.descent.owner(_newest(one))].name
        lines.append(f"tell({one.name!r}, {source}['last'])\n")
    return "".join(lines)


def _tables(choices: Iterable[Choices]) -> list[str]:
    """What files must be at hand."""
    found = {c.data: c.content for c in choices if c.content is not None}
    return [
        f"{name} must be in the folder where this is run ({len(content):,} bytes, "
        f"SHA-256 {hashlib.sha256(content).hexdigest()})."
        for name, content in found.items()
    ]


def _head(seen: Sequence[Seen], notes: Iterable[str]) -> str:
    seeds = sorted({one.descent.choices.seed for one in seen})
    lines = [
        "What a page of mkldash showed, computed again.",
        f"Made with {versions()}.",
        f"Seed {', '.join(map(str, seeds))}: of the split into training and test rows, and of "
        "solvers that draw.",
        "With these versions on the same machine every digit is the same, but for the last ones",
        "where the page ran in the process that compiled the code (the first start after an",
        "installation): code read from the disk may add in another order.",
        *notes,
    ]
    return "".join(f"# {line}\n" for line in lines)


_RUN = '''\
from mkldash.experiments.choices import Choices
from mkldash.experiments.workload import prepare
from mkldash.solvers.base import WarmStart
from mkldash.solvers.driver import solve


def run(choices, start=None, until=None, keep=()):
    """Solve to the end, or until an iteration; the workload, and snapshots by iteration."""
    work = prepare(choices)
    found = {"work": work}

    def watch(snapshot):
        if snapshot.iteration in keep:
            found[snapshot.iteration] = snapshot
        return snapshot.iteration == until

    result = solve(work.solver, work.problem, start=start, stop=work.stop, callbacks=[watch])
    found["last"] = result.last
    missing = sorted(set(keep) - found.keys())
    if missing:
        raise SystemExit(f"this run ended before iteration {missing[0]}: other versions?")
    return found


def tell(name, snapshot, page=None):
    """Print an iteration of a run, and whether the page had the same numbers."""
    own = (snapshot.upper, snapshot.lower, snapshot.gap, snapshot.inner_solves)
    own = tuple(map(float, own))
    upper, lower, gap, solves = own
    print(f"{name}: iteration {snapshot.iteration}, upper {upper!r}, lower {lower!r}, "
          f"gap {gap!r}, inner solves {solves:.0f}", end="")
    if page is not None:
        same = repr(own) == repr(tuple(map(float, page)))
        near = all(abs(a - b) <= 1e-9 * max(abs(a), abs(b)) for a, b in zip(own[:2], page[:2]))
        told = "as on the page" if same else f"NOT as on the page, which had {page}"
        if near and not same:
            told = "as on the page, but for the last digits of the bounds"
        print(f": {told}", end="")
    print()


'''
