"""Execute a notebook in a process of its own: ``python -m tests.notebooks._execute IN OUT``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]

#: Seconds for one cell; compiling the loops for the first time is in it.
PATIENCE = 600

#: Before the first cell: notes down every connection and every change of a kernel stack.
WATCH = """
import hashlib as _hashlib, json as _json, sys as _sys
import numpy as _np
from mkldash.kernels.base import KernelBank as _KernelBank
_asked, _changed, _seen = [], [], {}
def _hook(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        _asked.append(f"{event} {arguments[1:]}")
_sys.addaudithook(_hook)
def _digest(value):
    if isinstance(value, _KernelBank):
        value = value.combine(_np.ones(value.n_kernels)).matrix()
    return _hashlib.sha256(_np.ascontiguousarray(value).tobytes()).hexdigest()
def _look(result=None):
    for name, value in list(get_ipython().user_ns.items()):
        stack = isinstance(value, _np.ndarray) and value.ndim == 3
        if name.startswith("_") or not (stack or isinstance(value, _KernelBank)):
            continue
        now = (id(value), _digest(value))
        then = _seen.setdefault(name, now)
        if then[0] == now[0] and then[1] != now[1]:
            _changed.append(name)
        _seen[name] = now
get_ipython().events.register("post_run_cell", _look)
"""

#: After the last one.
TELL = """
print(_json.dumps({"asked": _asked, "changed": _changed, "watched": sorted(_seen)}))
"""


def execute(source: Path, folder: Path, *, times: int = 1) -> nbformat.NotebookNode:
    """Run every code cell `times` times, from a clean kernel in an empty folder.

    Parameters
    ----------
    source : path
    folder : path
        Empty; the kernel works there.
    times : int
        Each cell is repeated right after itself.

    Returns
    -------
    notebook
        With outputs; the watching cells come first and last.
    """
    notebook = nbformat.read(source, as_version=4)
    cells = [nbformat.v4.new_code_cell(WATCH)]
    for cell in notebook.cells:
        repeats = times if cell.cell_type == "code" else 1
        for number in range(repeats):
            copy = nbformat.from_dict(cell)
            copy["id"] = f"{cell['id']}-{number}"
            cells.append(copy)
    notebook.cells = [*cells, nbformat.v4.new_code_cell(TELL)]
    given, done = folder.parent / f"{folder.name}-in.ipynb", folder.parent / f"{folder.name}.ipynb"
    nbformat.write(notebook, given)
    # A process of its own: kernels need an event loop and leave threads behind.
    subprocess.run(
        [sys.executable, "-m", "tests.notebooks._execute", str(given), str(done), str(folder)],
        cwd=ROOT, check=True,
    )  # fmt: skip
    return nbformat.read(done, as_version=4)


def main(given: str, done: str, folder: str) -> None:
    """Run a notebook as it is."""
    import os

    from nbclient import NotebookClient

    notebook = nbformat.read(given, as_version=4)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    # Nothing of a person's own set-up, and no terminal of an outer notebook.
    os.environ["IPYTHONDIR"] = str(Path(folder).parent / "ipython")
    client = NotebookClient(
        notebook,
        timeout=PATIENCE,
        # A busy kernel sends what a cell prints in pieces.
        coalesce_streams=True,
        kernel_name="python3",
        resources={"metadata": {"path": folder}},
    )
    client.execute()
    nbformat.write(notebook, done)


if __name__ == "__main__":
    main(*sys.argv[1:])
