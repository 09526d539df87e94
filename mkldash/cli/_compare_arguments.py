"""What may be written after ``mkldash compare``."""

from __future__ import annotations

import argparse

__all__ = ["add_compare"]

_DESCRIPTION = """\
Run every solver on every data set, at every value of every parameter, on several splits,
and put the results side by side: one line a run (results.jsonl), one tidy table
(table.csv) and a stand-alone page with figures (report.html).
"""

_EPILOG = """\
examples:
  mkldash compare sonar ionosphere --eta 0,0.5,1 --repeats 5 --out elastic
  mkldash compare wdbc --solvers block-coordinate --C 1,10,100 --tol 1e-3 --jobs 1 --out wdbc-C
  mkldash compare liver --problem neighborhood --solvers shifted-svm,level --rho 1,100 --out liver
  mkldash compare concrete --problem products --p 1,1.5 --option step=0.5,1 --out concrete
  mkldash compare mine.csv --label grade --solvers block-coordinate --out mine
  mkldash compare --report elastic

what is run:
  Values separated by commas make a grid: --eta 0,0.5,1 --C 1,10 are six settings.
  Repeat r splits the rows with the seed SEED + r; all solvers get the same splits.
  A solver that does not take a setting (it says why) is recorded as unsupported.
  A name or a value that nobody could use is refused before anything runs.

stopping and going on:
  Each result is on disk before the next one counts. After Ctrl-C, a crash or a power cut
  the same command goes on where it stopped: nothing is lost and nothing is run twice.
  A folder can grow: the same problem, tolerance, limits, seed and table options with more
  data sets, solvers, values or repeats add runs to it. Under other settings the folder is
  refused, because its runs would not be comparable. One comparison writes to a folder at
  a time. Failed runs stay as they are unless --retry-failed is given.

fair timing:
  Seconds are the solver's own work. Kernels are built apart (bank_seconds), compiled code
  is loaded first, and every process has one BLAS thread. Runs side by side still share the
  caches and the memory of the machine: take --jobs 1 where seconds matter.

exit codes:
  0 done; 1 a run failed (the others are done), or the cluster went away; 2 bad input,
  nothing ran; 130 stopped by Ctrl-C.
"""


def _numbers(text: str) -> list[float]:
    """Numbers separated by commas."""
    values = []
    for part in text.split(","):
        try:
            values.append(float(part))
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{part.strip()!r} is not a number; write numbers with commas, as in 0,0.5,1"
            ) from None
    return values


def _whole(text: str) -> list[int]:
    """Whole numbers separated by commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of whole numbers, as in 1,2,3"
        ) from None


def _names(text: str) -> list[str]:
    """Names separated by commas."""
    names = [part.strip() for part in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} has an empty name in it")
    return names


def _option(text: str) -> tuple[str, list[str]]:
    """``NAME=V1,V2``; what type the values have, the solver knows."""
    name, sign, values = text.partition("=")
    if not sign or not name.strip() or not values.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE or NAME=VALUE,VALUE")
    return name.strip().replace("-", "_"), _names(values)


def add_compare(compare: argparse.ArgumentParser) -> None:
    """Add the arguments of ``compare``, but for those of CSV files.

    Parameters
    ----------
    compare : argparse.ArgumentParser
    """
    compare.formatter_class = argparse.RawDescriptionHelpFormatter
    compare.description, compare.epilog = _DESCRIPTION, _EPILOG
    compare.add_argument(
        "data",
        nargs="*",
        metavar="DATA",
        help="data sets that `mkldash data` lists, or CSV files",
    )
    _add_grid(compare.add_argument_group("the grid: values separated by commas"))
    _add_alike(compare.add_argument_group("alike in all runs"))
    _add_running(compare.add_argument_group("running and writing"))


def _add_grid(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--solvers",
        type=_names,
        metavar="A,B",
        help="`mkldash list solvers` has all; default all that take the problem",
    )
    for name, text in (
        ("eta", "elastic net: 0 keeps all kernels, 1 few; default 0.5"),
        ("weight-norm", "in the place of eta: weights in a ball of this norm, settings of its own"),
        ("C", "price of the hinge losses; default 100, for neighborhood 1"),
        ("rho", "neighborhood: price of leaving the given kernel; default 100"),
        ("sigma-factor", "bank single: sigma over the mean squared distance; default 4"),
        ("p", "products: norm over them, 1: few, 2: all; default 1"),
        ("penalty", "products: price; default 1"),
        ("growth", "products: how the price grows with the number of factors; default 4"),
    ):
        group.add_argument(f"--{name}", type=_numbers, metavar="V,V", help=text)
    group.add_argument(
        "--degree", type=_whole, metavar="N,N", help="products: most factors; default 3"
    )
    group.add_argument(
        "--bank",
        type=_names,
        metavar="B,B",
        help="paper, linear, gaussian, golden or single; default the problem's or the card's",
    )
    group.add_argument(
        "--option",
        type=_option,
        action="append",
        default=[],
        metavar="NAME=V,V",
        help="values of a solver's own parameter, for the solvers that have it; may be repeated",
    )
    group.add_argument(
        "--repeats", type=int, default=3, metavar="N", help="splits; default %(default)s"
    )


def _add_alike(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--problem",
        default="elastic-net",
        help="elastic-net, neighborhood or products; default %(default)s",
    )
    group.add_argument(
        "--tol", type=float, help="relative gap to reach; default 0.001, for products 0.01"
    )
    group.add_argument("--max-iter", type=int, help="default 500, for products 2000")
    group.add_argument(
        "--time-limit", type=float, metavar="S", help="seconds of solving, a run; default none"
    )
    group.add_argument("--seed", type=int, default=0, help="of the first split; default 0")
    group.add_argument("--train-fraction", type=float, help="share that trains; default 0.6")
    group.add_argument(
        "--rows",
        metavar="FILE",
        help="training rows from 0, one a line, or a shipped list such as wdbc-math8; repeats "
        "then differ in nothing but their timing and what a solver draws",
    )
    group.add_argument(
        "--no-standardize", action="store_true", help="take the features as they are"
    )


def _add_running(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--out", metavar="FOLDER", help="where results go; made if not there")
    group.add_argument(
        "--report", metavar="FOLDER", help="run nothing: write table and report again"
    )
    group.add_argument(
        "--jobs", type=int, metavar="N", help="runs side by side; default one for each core"
    )
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler such as tcp://host:8786, whose workers take the runs in place of "
        "this machine's cores; needs pip install 'mkldash[dask]' here and mkldash there",
    )
    group.add_argument("--retry-failed", action="store_true", help="run again what failed before")
    group.add_argument(
        "--parquet",
        action="store_true",
        help="write table.parquet too; needs pip install 'mkldash[parquet]'",
    )
