"""Pictures of a run, one file each; pure numbers first, bokeh second."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkldash.views.base import View

__all__ = ["available_views", "notebook"]


def available_views() -> dict[str, type[View]]:
    """Every view by name, in their order on the page."""
    import mkldash.views as room
    from mkldash._discovery import discover
    from mkldash.views.base import View

    found = discover(room, View)  # type: ignore[type-abstract]
    return dict(sorted(found.items(), key=lambda item: item[1].order))


def notebook() -> None:
    """Make the views of this notebook live; the first cell calls it.

    With a person in front, the scripts of panel and bokeh are put into the page
    (nothing is fetched) and views become widgets that stream.  Executed by a
    program, no script is written and views show a still picture.
    """
    from mkldash.views._front_end import open_notebook

    open_notebook()
