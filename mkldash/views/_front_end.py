"""Whether somebody looks at the notebook, and how its pictures reach them."""

from __future__ import annotations

from typing import Any

__all__ = ["is_live", "open_notebook"]


def is_live() -> bool:
    """Whether a person runs this cell in a front end.

    A front end lets the cell ask its person for input; a notebook that is
    executed by a program (CI, nbconvert) does not.
    """
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return False
    parent: dict[str, Any] = kernel.get_parent("shell") or {}
    return bool(parent.get("content", {}).get("allow_stdin", False))


def open_notebook() -> None:
    """See `mkldash.views.notebook`."""
    if not is_live():
        return
    import panel as pn

    pn.extension(inline=True, comms="ipywidgets")
