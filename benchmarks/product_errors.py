"""Test errors of regression over products beside its baselines, as a Markdown table.

The mean squared error of the standardised target on test rows, mean and standard error
over random splits into training, validation and test rows; see
`mkldash.experiments.product_tables` for the protocol.  Splits are shared out among
processes.  Several data sets may be named:

    python -m benchmarks.product_errors --data diabetes concrete --splits 10
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed

from threadpoolctl import threadpool_limits

from mkldash.datasets.cards import available, load
from mkldash.experiments.product_tables import DATA, METHODS, SplitError, as_markdown, split_errors

SPLITS = 10


def measure(name: str, seed: int, methods: list[str] | None) -> list[SplitError]:
    """All methods on one split, each on one BLAS thread."""
    with threadpool_limits(1, user_api="blas"):
        return list(split_errors(load(name), [seed], methods))


def main() -> None:
    """Measure, with a line on stderr for each result, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    sets = [name for name, card in available().items() if card.task == "regression"]
    parser.add_argument("--data", nargs="+", default=list(DATA), choices=sets, metavar="SET")
    parser.add_argument("--splits", type=int, default=SPLITS, help="random splits")
    parser.add_argument("--methods", nargs="+", choices=tuple(METHODS), help="default: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    arguments = parser.parse_args()
    for name in ("splits", "jobs"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name} must be at least 1")
    arguments.data = list(dict.fromkeys(arguments.data))
    errors: list[SplitError] = []
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(arguments.jobs, mp_context=spawn) as pool:
        tasks = itertools.product(arguments.data, range(arguments.splits))
        futures = [pool.submit(measure, *task, arguments.methods) for task in tasks]
        for future in as_completed(futures):
            errors += future.result()
            for error in future.result():
                chosen = ", ".join(f"{key} {value:g}" for key, value in error.options.items())
                print(
                    f"{error.data} split {error.seed} {error.method}: {error.mse:.4f} "
                    f"({chosen or 'no options'}; {error.seconds:.1f} s)",
                    file=sys.stderr,
                )
    place = {name: k for k, name in enumerate(arguments.data)}
    print(as_markdown(sorted(errors, key=lambda error: place[error.data])))


if __name__ == "__main__":
    main()
