"""What may be written on the command line."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import NoReturn

from mkldash import __version__
from mkldash.cli._compare_arguments import add_compare

__all__ = ["UsageError", "parse"]


_SOLVE_EPILOG = """\
examples:
  mkldash solve sonar --eta 0.5 --C 100
  mkldash solve sonar --weight-norm 2
  mkldash solve sonar --solver simplemkl --eta 1 --option inner_tol=1e-6
  mkldash solve mine.csv --label grade --exclude id --one-hot colour --missing drop
  mkldash solve --gram kernels.npz --labels labels.txt --normalize --json
  mkldash solve liver --problem neighborhood --solver level --rho 100 --sigma-factor 4
  mkldash solve liver --problem neighborhood --bank paper --solver block-coordinate --eta 0.5
  mkldash solve diabetes --problem products --degree 3 --p 1 --penalty 1 --growth 4
  mkldash solve mine.csv --problem products --label price --sampling uniform

what excludes what:
  DATA and --gram; --rows and --train-fraction.
  --bank, --sigma-factor and --no-standardize need DATA; --labels and --normalize need --gram.
  --missing, --one-hot, --exclude, --separator, --decimal, --header, --no-header
  and --label need a CSV file.  --rho needs --problem neighborhood.
  --weight-norm stands in the place of --eta, for --problem elastic-net.
  --degree, --p, --penalty and --growth need --problem products, which has no
  --eta, --C, --rho, --bank, --sigma-factor, --gram and --positive.
  --step, --step-rule, --sampling, --horizon, --certify-every and --search-nodes need a
  solver that has them; --option NAME=VALUE sets any other hyper-parameter of the solver.

exit codes:
  0 converged, stalled, or a limit was reached; 1 a value was not finite; 2 bad input;
  70 a fault of mkldash itself; 130 stopped by Ctrl-C; 141 the reader of stdout went away.
"""


class UsageError(Exception):
    """Arguments that cannot be understood; the message is one line."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; {self.prog} --help shows what there is")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments as a namespace; `module` names the module of the command.

    Raises
    ------
    UsageError
        For arguments that are unknown, missing or of the wrong type.
    SystemExit
        After ``--help`` or ``--version``.
    """
    parser = _Parser(
        prog="mkldash",
        description="Watch multiple kernel learning solvers think.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"mkldash {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_serve(commands)
    _add_solve(commands)
    _add_compare(commands)
    _add_reproduce(commands)
    _add_lists(commands)
    lab = _command(commands, "lab", "serving", "open JupyterLab on the notebooks")
    lab.set_defaults(what="lab")
    lab.epilog = "All other options go to JupyterLab."
    arguments, others = parser.parse_known_args(argv)
    if others and getattr(arguments, "what", None) != "lab":
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    arguments.jupyter = others
    arguments.command = shlex.join(["mkldash", *argv])
    return arguments


def _command(
    commands: argparse._SubParsersAction[_Parser], name: str, module: str, text: str
) -> _Parser:
    """One command, with its help."""
    parser = commands.add_parser(
        name, help=text, description=f"{text[0].upper()}{text[1:]}.", allow_abbrev=False
    )
    parser.set_defaults(module=module)
    return parser


def _add_serve(commands: argparse._SubParsersAction[_Parser]) -> None:
    serve = _command(commands, "serve", "serving", "serve the dashboards")
    serve.set_defaults(what="serve")
    serve.add_argument("--address", default="127.0.0.1", help="default: only this machine")
    serve.add_argument(
        "--port", type=int, help="0: any free one; default 5006, or a free one if that is taken"
    )
    serve.add_argument("--num-procs", type=int, default=1, help="processes; 10 users need 2")
    serve.add_argument("--show", action="store_true", help="open a browser")
    serve.add_argument(
        "--compare",
        metavar="FOLDER",
        action="append",
        default=[],
        help="a folder of `mkldash compare`, or one with such folders in it, that the solver race "
        "may open; may be repeated",
    )


def _add_lists(commands: argparse._SubParsersAction[_Parser]) -> None:
    data = _command(commands, "data", "listing", "list the data sets, or show one's card")
    data.set_defaults(what="data")
    data.add_argument("name", nargs="?", metavar="NAME")
    listing = _command(commands, "list", "listing", "list what can be chosen")
    listing.add_argument("what", choices=("solvers", "datasets", "kernels", "views"))


def _add_solve(commands: argparse._SubParsersAction[_Parser]) -> None:
    solve = _command(commands, "solve", "solving", "solve one problem and certify the answer")
    solve.formatter_class = argparse.RawDescriptionHelpFormatter
    solve.epilog = _SOLVE_EPILOG
    solve.add_argument(
        "data",
        nargs="?",
        metavar="DATA",
        help="a data set that `mkldash data` lists, or a CSV file",
    )
    _add_method(solve.add_argument_group("problem and solver"))
    _add_products(solve.add_argument_group("problem products: regression over products"))
    _add_rows(solve.add_argument_group("rows and features"))
    _add_table(solve.add_argument_group("a CSV file of your own (detected unless said)"))
    given = solve.add_argument_group("kernel matrices of your own, instead of DATA")
    given.add_argument(
        "--gram",
        metavar="FILE.npz",
        help="n x n arrays (array name = kernel name), or one (Q, n, n) array named kernels",
    )
    given.add_argument(
        "--labels", metavar="FILE", help="one label a line; else the array y of FILE.npz"
    )
    given.add_argument(
        "--normalize",
        action="store_true",
        help="scale each to unit trace on the training rows, for neighborhood to trace n",
    )
    output = solve.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="one JSON object on stdout")
    output.add_argument("--trace", metavar="FILE.npz", help="write every iteration")


def _add_compare(commands: argparse._SubParsersAction[_Parser]) -> None:
    compare = _command(
        commands, "compare", "comparing", "compare solvers over data sets, parameters and splits"
    )
    add_compare(compare)
    _add_table(compare.add_argument_group("CSV files of your own (detected unless said)"))


def _add_reproduce(commands: argparse._SubParsersAction[_Parser]) -> None:
    reproduce = _command(
        commands, "reproduce", "reproducing", "run an experiment of the papers again"
    )
    reproduce.epilog = (
        "Without NAME the experiments are listed. A folder gets result.md (the paper's claim and "
        "what came out, in one sentence, and a table), figure.svg, table.csv (one row a run), "
        "results.jsonl and, for solvers' gaps, report.html. The same command goes on where it "
        "stopped. Exit codes are those of compare."
    )
    reproduce.add_argument("name", nargs="?", metavar="NAME")
    reproduce.add_argument(
        "--quick", action="store_true", help="fewer sets, settings and splits: minutes"
    )
    reproduce.add_argument(
        "--out", metavar="FOLDER", help="where results go; default reproduce-NAME-quick or -full"
    )
    reproduce.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="runs side by side; default one for each core, 1 where seconds matter",
    )
    reproduce.add_argument("--retry-failed", action="store_true", help="run again what failed")


def _add_method(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--problem",
        default="elastic-net",
        help="elastic-net, neighborhood (both of two classes) or products (of a number); the "
        "other defaults belong to it; default %(default)s",
    )
    group.add_argument(
        "--solver",
        help="`mkldash list solvers` has all; default block-coordinate, for neighborhood "
        "shifted-svm (block-coordinate with several kernels), for products mirror-descent",
    )
    group.add_argument("--eta", type=float, help="0: all kernels, 1: few; default 0.5")
    group.add_argument(
        "--weight-norm",
        type=float,
        metavar="P",
        help="in the place of --eta: weights with ||theta||_P <= 1, from 1 (few kernels) to inf "
        "(all alike); the solver is then lp-norm unless said",
    )
    group.add_argument(
        "--C",
        type=float,
        help="price of the hinge losses; default 100, for neighborhood 1",
    )
    group.add_argument(
        "--rho",
        type=float,
        help="neighborhood: price of leaving the given kernel (inf: a plain SVM); default 100",
    )
    group.add_argument(
        "--tol", type=float, help="relative gap to reach; default 0.001, for products 0.01"
    )
    group.add_argument("--max-iter", type=int, help="default 500, for products 2000")
    group.add_argument(
        "--time-limit", type=float, metavar="S", help="seconds of solving; default none"
    )
    group.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a hyper-parameter of the solver; may be repeated",
    )
    group.add_argument(
        "--bank",
        help="kernels: paper, linear, gaussian, golden or single; default paper, or what the card "
        "says; for neighborhood single, exp(-d2/sigma) on all features",
    )
    group.add_argument(
        "--sigma-factor",
        type=float,
        metavar="F",
        help="bank single: sigma = F x mean squared distance of the training rows; default 4",
    )


def _add_products(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--degree", type=int, help="most factors in a product, from 0 to 20; default 3"
    )
    group.add_argument("--p", type=float, help="norm over the products, 1: few, 2: all; default 1")
    group.add_argument(
        "--penalty",
        type=float,
        help="price of the products: one of d features costs penalty x growth^d; default 1",
    )
    group.add_argument("--growth", type=float, help="see --penalty; at least 1, default 4")
    group.add_argument("--step", type=float, help="factor on the step; default 1")
    group.add_argument(
        "--step-rule", metavar="RULE", help="recent (default), adaptive or theoretical"
    )
    group.add_argument(
        "--horizon",
        type=int,
        metavar="N",
        help="iterations that the theoretical step plans for; default 2000",
    )
    group.add_argument(
        "--sampling", metavar="LAW", help="ideal (default) or uniform: how products are drawn"
    )
    group.add_argument(
        "--certify-every",
        type=int,
        metavar="N",
        help="iterations between two evaluations of average and bounds; default 50",
    )
    group.add_argument(
        "--search-nodes",
        type=int,
        metavar="N",
        help="prefixes that the search behind the lower bound expands; default 200",
    )


def _add_rows(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--train-fraction",
        type=float,
        help="share of the rows that trains; default 0.6, with --gram 1; not with --rows",
    )
    group.add_argument(
        "--seed",
        type=int,
        help="of the split, and of what a solver draws; default 0, --rows needs none",
    )
    group.add_argument(
        "--rows",
        metavar="FILE",
        help="training rows from 0, one a line, or a shipped list such as wdbc-math8",
    )
    group.add_argument(
        "--no-standardize",
        action="store_true",
        help="take the features as they are; so are features of 0 and 1 only, for neighborhood",
    )


def _add_table(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--missing",
        choices=("error", "drop", "mean"),
        default="error",
        help="refuse, leave the rows out, or fill in the column's mean over all rows, "
        "test rows included; default %(default)s",
    )
    group.add_argument(
        "--one-hot",
        metavar="COLUMN",
        action="append",
        default=[],
        help="turn a text column into indicators; may be repeated",
    )
    group.add_argument(
        "--exclude",
        metavar="COLUMN",
        action="append",
        default=[],
        help="leave a column out; may be repeated",
    )
    group.add_argument(
        "--separator",
        metavar="CHAR",
        help="one character, or its name: comma, semicolon, tab, space or pipe",
    )
    group.add_argument("--decimal", metavar="CHAR", help="decimal mark: . or ,")
    first = group.add_mutually_exclusive_group()
    first.add_argument("--header", action="store_true", help="the first line holds the names")
    first.add_argument("--no-header", action="store_true", help="the first line is data")
    group.add_argument("--label", metavar="COLUMN", help="column that holds the labels")
    group.add_argument("--positive", metavar="LABEL", help="this label against the rest")
