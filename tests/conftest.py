"""What every test gets: it fails when it leaves a thread behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

#: Seconds that a thread that was told to end may take to be gone.
PATIENCE = 2.0


@pytest.fixture(autouse=True)
def _no_thread_left() -> Iterator[None]:
    """Fails the test (in its teardown) when threads that it began are still there.

    Set up before the test's other fixtures, so it looks after they are torn down;
    fixtures of a wider scope have begun their threads before it.
    """
    before = set(threading.enumerate())
    yield
    end = time.monotonic() + PATIENCE
    while (left := set(threading.enumerate()) - before) and time.monotonic() < end:
        next(iter(left)).join(0.02)
    if left:
        names = ", ".join(sorted(thread.name for thread in left))
        pytest.fail(f"the test left threads behind: {names}", pytrace=False)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser walks last: their driver keeps an event loop running in this thread."""
    items.sort(key=lambda item: "browser" in item.path.parts)
