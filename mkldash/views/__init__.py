"""Pictures of a run, one file each; pure numbers first, bokeh second."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkldash.views.base import View

__all__ = ["available_views"]


def available_views() -> dict[str, type[View]]:
    """Every view by name, in their order on the page."""
    import mkldash.views as room
    from mkldash._discovery import discover
    from mkldash.views.base import View

    found = discover(room, View)  # type: ignore[type-abstract]
    return dict(sorted(found.items(), key=lambda item: item[1].order))
