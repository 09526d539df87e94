"""The command line: ``mkldash serve | solve | compare | reproduce | data | list | lab``.

Each command lives in its own module, imported when it is called, so that
``mkldash --help`` loads nothing heavy.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence

from mkldash.cli.arguments import UsageError, parse
from mkldash.errors import InputError

__all__ = ["main"]

#: Exit codes.  A run that ends at a limit has still certified its gap: 0.
EXIT_DONE, EXIT_NOT_FINITE, EXIT_BAD_INPUT, EXIT_INTERNAL = 0, 1, 2, 70
EXIT_STOPPED, EXIT_PIPE_CLOSED = 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; ``sys.argv[1:]`` by default.

    Returns
    -------
    int
        Exit code: 0 done, 1 a value was not finite, 2 bad input, 70 a fault
        of mkldash itself, 130 stopped, 141 the reader of stdout went away.
    """
    _write_what_the_terminal_can()
    try:
        arguments = parse(sys.argv[1:] if argv is None else list(argv))
        command = importlib.import_module(f"mkldash.cli.{arguments.module}")
        code: int = command.run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except (InputError, UsageError) as error:
        return _fail(_in_options(str(error)), EXIT_BAD_INPUT)
    except KeyboardInterrupt:
        return _fail("stopped by you before there was a result", EXIT_STOPPED)
    except BrokenPipeError:
        return _abandon_stdout(EXIT_PIPE_CLOSED)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _fail(f"{error.strerror or error}{where}", EXIT_BAD_INPUT, stdout_is_lost=True)
    except MemoryError:
        return _fail("out of memory: fewer rows or a smaller bank is the way out", EXIT_BAD_INPUT)
    except Exception as error:
        if os.environ.get("MKLDASH_TRACEBACK"):
            raise
        return _fail(
            f"internal error, {type(error).__name__}: {error} "
            "(a fault of mkldash; MKLDASH_TRACEBACK=1 shows where)",
            EXIT_INTERNAL,
        )


def _in_options(message: str) -> str:
    """A message of the library with the options of the command line."""
    repair = ", or ask for repair='clip', which sets negative eigenvalues to zero"
    return message.replace(repair, "").replace("set normalize=True", "use --normalize")


def _write_what_the_terminal_can() -> None:
    """A terminal without a sign for a middle dot shows a question mark, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _fail(message: str, code: int, *, stdout_is_lost: bool = False) -> int:
    """One line on stderr."""
    if stdout_is_lost:
        _abandon_stdout(code)
    if sys.stderr is not None:
        # Names from files must not steer the terminal.
        shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(message.split()))
        sys.stderr.write(f"mkldash: {shown}\n")
    return code


def _abandon_stdout(code: int) -> int:
    """Point stdout nowhere, so that the interpreter's last flush cannot fail."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):
        sys.stdout = None
    return code
