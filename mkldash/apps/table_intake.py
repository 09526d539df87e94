"""A person's own table on its way into a page: read beside the event loop, then adopted."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection
from typing import Protocol

import panel as pn

from mkldash.apps.phrases import for_page
from mkldash.apps.table_controls import read_ahead
from mkldash.datasets.tables import check_upload
from mkldash.errors import InputError

__all__ = ["TableIntake"]


class Says(Protocol):
    """What shows a sentence beside the button."""

    def say(self, text: str, *, good: bool = False) -> None:
        """Show `text`."""


class TableIntake:
    """Takes uploaded tables for one page.

    Parameters
    ----------
    board : object with ``say``
        Where a person reads what became of the file.
    shipped : callable
        Names of the data sets that a table's name must not hide.
    adopt : callable
        Gets name and content of a table that can be read.
    """

    def __init__(
        self,
        board: Says,
        shipped: Callable[[], Collection[str]],
        adopt: Callable[[str, bytes], None],
    ) -> None:
        self._board, self._shipped, self._tell = board, shipped, adopt
        self._reading: asyncio.Task[None] | None = None

    def take(self, name: str, content: bytes) -> None:
        """Read a file in a thread of its own: other people's pages go on meanwhile."""
        doc = pn.state.curdoc
        if doc is None or doc.session_context is None:
            self._adopt(name, content)
            return
        self._board.say(f"Reading {name} …", good=True)

        async def read() -> None:
            with contextlib.suppress(InputError):  # said when it is read again, from memory
                await asyncio.to_thread(read_ahead, content)
            doc.add_next_tick_callback(lambda: self._adopt(name, content))

        self._reading = asyncio.get_running_loop().create_task(read())

    def _adopt(self, name: str, content: bytes) -> None:
        try:
            check_upload(name, len(content))
            found = read_ahead(content)
        except InputError as problem:
            # It was read without its name, so that one reading serves all that ask.
            reason = str(problem).replace("'table'", "it")
            self._board.say(f"{name}: {for_page(reason)}")
            return
        if name in self._shipped():
            name = f"my-{name}"
        self._tell(name, content)
        self._board.say(f"{name}: {found.n_rows} rows, label {found.label_guess!r}.", good=True)
