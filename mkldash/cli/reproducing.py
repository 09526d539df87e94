"""``mkldash reproduce``: an experiment of a paper, and what came out beside its claim."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mkldash.cli.comparing import SweepBar, kept, say, termination_interrupts
from mkldash.cli.listing import table
from mkldash.errors import InputError

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """List the experiments, or run one; returns the exit code."""
    if arguments.name is None:
        if arguments.out is not None:
            raise InputError("--out needs the name of an experiment; 'mkldash reproduce' has all")
        sys.stdout.write(_listing() + "\n")
        return 0
    from mkldash.experiments.reproducing import find_reproduction, reproduce

    reproduction = find_reproduction(arguments.name)
    form = "quick" if arguments.quick else "full"
    folder = Path(arguments.out or f"reproduce-{reproduction.name}-{form}")
    bar = SweepBar()

    def progress(done: int, total: int, record: Mapping[str, Any] | None) -> None:
        if record is None:
            what = getattr(reproduction, form)
            say(f"{reproduction.title}, {form} form: {what}; results in {folder}")
        bar(done, total, record)

    try:
        with termination_interrupts():
            results = reproduce(
                reproduction,
                folder,
                quick=arguments.quick,
                jobs=arguments.jobs,
                progress=progress,
                retry_failed=arguments.retry_failed,
                command=arguments.command,
            )
    except KeyboardInterrupt:
        if not bar.total:
            raise
        bar.close()
        done = kept(reproduction.sweep(arguments.quick), folder)
        say(f"stopped by you: {done}; the same command goes on from there")
        return 130
    finally:
        bar.close()
    rows = reproduction.table([r for r in results if r["status"] not in ("failed", "unsupported")])
    sys.stdout.write(f"{table(rows)}\n\n{reproduction.sentence(results)}\n\n")
    for name in ("result.md", "figure.svg", "table.csv", "report.html"):
        if (folder / name).exists():
            sys.stdout.write(f"{folder / name}\n")
    broken = [r for r in results if r["status"] in ("failed", "not_finite")]
    for reason in dict.fromkeys(f"{r['title']} on {r['data']}: {r['reason']}" for r in broken):
        say(f"failed: {reason}")
    return 1 if broken else 0


def _listing() -> str:
    """Every experiment with what its forms run and take."""
    from mkldash.experiments.reproducing import measured_durations
    from mkldash.experiments.reproductions import available_reproductions

    known = measured_durations()
    lines = []
    for name, kind in available_reproductions().items():
        lines += [name, f"  {kind.title} (paper: {kind.paper})"]
        for form in ("quick", "full"):
            taken = _taken(known.get(name, {}).get(form))
            lines.append(f"  {form}: {getattr(kind, form)}; {taken}")
    lines.append("")
    lines.append("mkldash reproduce NAME --quick runs one; without --quick, its full form.")
    return "\n".join(lines)


def _taken(known: Mapping[str, Any] | None) -> str:
    """How long a form took where it was measured."""
    if known is None:
        return "its time was not measured (the progress line tells how much is left)"
    seconds = float(known["seconds"])
    text = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    return (
        f"took {text} with one run at a time (measured: {known['runs']} runs, a load of up to "
        f"{known['load']:g} on {known['cores']} cores)"
    )
