"""Writes down how long forms of reproductions took, from folders that hold a whole one.

`mkldash reproduce` without a name shows it.  What is known of other forms is kept:

    python -m benchmarks._reproductions FOLDER...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mkldash.experiments.reproducing import duration
from mkldash.experiments.results import read_results, read_sweep

DURATIONS = Path(__file__).parents[1] / "mkldash/experiments/reproductions/durations.json"


def main(folders: list[str]) -> None:
    """Add the forms of some folders to the file."""
    known = json.loads(DURATIONS.read_text(encoding="utf-8"))
    for folder in folders:
        fixed = read_sweep(folder)["settings"]["fixed"]
        known.setdefault(fixed["reproduction"], {})[fixed["form"]] = duration(read_results(folder))
    DURATIONS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
