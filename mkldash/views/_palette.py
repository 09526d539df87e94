"""Colours that hold on white and on near-black, and apart for colour-blind eyes.

Every one has a contrast of at least 3:1 on both backgrounds.  Colour is never
the only difference: bounds also differ by dash, points by marker.
"""

from __future__ import annotations

__all__ = [
    "ACCENT",
    "ALERT",
    "CURSOR",
    "DRAWN",
    "GHOST",
    "INK",
    "LAW",
    "LEVEL",
    "LINES",
    "LOWER",
    "NEGATIVE",
    "OLIVE",
    "POSITIVE",
    "UPPER",
    "blend",
    "diverging",
    "sequential",
]

UPPER = "#c8601a"
LOWER = "#2f81c7"
ACCENT = "#12876f"
CURSOR = "#8a63d2"
GHOST = "#8b929c"
ALERT = "#e0314b"
LEVEL = "#c2559d"
OLIVE = "#8c7f10"
#: For words and thin lines inside a picture: contrast 3.9 and more on both.
INK = "#7d7f86"
#: What a random draw could be, and what it was.
LAW = LOWER
DRAWN = UPPER
POSITIVE = UPPER
NEGATIVE = LOWER

#: Colour and dashes of several curves, the shown run's first.
LINES: tuple[tuple[str, tuple[int, ...]], ...] = (
    (ACCENT, ()),
    (LOWER, (10, 4)),
    (UPPER, (3, 3)),
    (LEVEL, (12, 3, 3, 3)),
    (OLIVE, (6, 3)),
    (INK, (1, 3)),
)


def _rgb(colour: str) -> tuple[int, int, int]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))  # type: ignore[return-value]


def blend(first: str, second: str, share: float) -> str:
    """`share` of the way from `first` to `second`, both ``#rrggbb``."""
    pairs = zip(_rgb(first), _rgb(second), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def sequential(n: int = 64) -> list[str]:
    """From barely tinted to full: transparency carries the scale on any background."""
    steps = [i / (n - 1) for i in range(n)]
    return [f"{blend('#3a9ad9', '#12876f', t)}{round(20 + 235 * t):02x}" for t in steps]


def diverging(n: int = 65, *, most: int = 130, power: float = 0.7) -> list[str]:
    """From one class's colour through transparent to the other's, `most` of 255 opaque."""
    colours = []
    for i in range(n):
        t = 2 * i / (n - 1) - 1
        alpha = round(most * min(1.0, abs(t)) ** power)
        colours.append(f"{POSITIVE if t > 0 else NEGATIVE}{alpha:02x}")
    return colours
