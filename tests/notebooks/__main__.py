"""How long each notebook runs, from a clean kernel: ``python -m tests.notebooks [NAME...]``."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.notebooks._execute import ROOT, execute


def main(names: list[str]) -> None:
    """Execute the notebooks whose names begin so; all without one."""
    for source in sorted((ROOT / "notebooks").glob("*.ipynb")):
        if names and not any(source.name.startswith(name) for name in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            empty = Path(folder) / "empty"
            empty.mkdir()
            begun = time.perf_counter()
            execute(source, empty)
            sys.stdout.write(f"{source.name}  {time.perf_counter() - begun:.0f} s\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
