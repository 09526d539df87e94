"""Each notebook is executed once for all tests that look at its outputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import nbformat
import pytest

from tests.notebooks._execute import execute


@pytest.fixture(scope="session")
def run_once(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[Path], nbformat.NotebookNode]:
    """From the path of a notebook to its executed copy; not to be written into."""
    return cache(lambda source: execute(source, tmp_path_factory.mktemp(source.stem)))
