"""Interleaved rounds: every contender is timed in every round, so that ratios share the weather."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

__all__ = ["interleaved", "table"]


def interleaved(
    contenders: dict[str, Callable[[], object]], rounds: int = 9
) -> dict[str, list[float]]:
    """Seconds of every contender in every round, after one untimed call each."""
    for run in contenders.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            begun = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - begun)
    return seconds


def table(seconds: dict[str, list[float]], reference: str) -> list[str]:
    """Lines: median milliseconds, and the median over rounds of reference / contender."""
    lines = [f"{'':28} {'median ms':>10} {'reference / this':>17}"]
    for name, times in seconds.items():
        ratios = [r / t for r, t in zip(seconds[reference], times, strict=True)]
        lines.append(f"{name:28} {1e3 * median(times):10.2f} {median(ratios):17.2f}")
    return lines
