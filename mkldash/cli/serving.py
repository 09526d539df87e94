"""``mkldash serve`` and ``mkldash lab``."""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
from pathlib import Path

from mkldash.errors import InputError

__all__ = ["USUAL_PORT", "notebook_folder", "run", "usual_port"]

USUAL_PORT = 5006

#: Options of JupyterLab by which a person names a folder.
_FOLDER_OPTIONS = ("--notebook-dir", "--ServerApp.root_dir", "--preferred-dir")


def run(arguments: argparse.Namespace) -> int:
    """Serve the dashboards or open JupyterLab until it is ended."""
    if arguments.what == "lab":
        return _lab(arguments.jupyter)
    port = usual_port(arguments.address) if arguments.port is None else arguments.port
    if not 0 <= port < 65536:
        raise InputError(f"--port must lie between 0 and 65535, not {port}")
    if arguments.num_procs < 1:
        raise InputError(f"--num-procs must be at least 1, not {arguments.num_procs}")
    if sys.stderr is not None:
        sys.stderr.write("starting; the first start on a machine compiles for up to a minute\n")
    from mkldash.apps.serve import serve

    serve(
        address=arguments.address,
        port=port,
        num_procs=arguments.num_procs,
        show=arguments.show,
        compare=arguments.compare,
    )
    return 0


def usual_port(address: str) -> int:
    """5006, or 0 (any free one) when somebody else has it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, USUAL_PORT))
        except OSError:
            return 0
    return USUAL_PORT


def notebook_folder() -> Path:
    """The notebooks of a checkout, else the current folder if it has some.

    Raises
    ------
    InputError
        Where there are none: a wheel holds the library without them.
    """
    beside = Path(__file__).resolve().parents[2] / "notebooks"
    if beside.is_dir():
        return beside
    here = Path.cwd()
    if any(here.glob("*.ipynb")):
        return here
    raise InputError(
        "this installation has no notebooks, and neither has the current folder: they come with "
        "the project's source, in its folder notebooks/; go there and run 'mkldash lab' again, or "
        "name a folder: 'mkldash lab --notebook-dir=FOLDER'"
    )


def _lab(options: list[str]) -> int:
    command = [sys.executable, "-m", "jupyterlab"]
    if not any(option.split("=")[0] in _FOLDER_OPTIONS for option in options):
        command.append(f"--notebook-dir={notebook_folder()}")
    return subprocess.run([*command, *options], check=False).returncode
