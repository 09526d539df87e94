"""The solver race, live: any solvers on one data set, in lock-step.

Both ``mkldash serve`` and ``panel serve mkldash/apps/race.py`` show it.
"""

from __future__ import annotations

from typing import Any

__all__ = ["LINE", "PICTURE", "TITLE", "create"]

TITLE = "Solver race"
LINE = (
    "Side by side and in lock-step, by iterations, inner solves or seconds: see who is certified "
    "first, and branch any run at any iteration."
)
PICTURE = "race"


def create() -> Any:
    """The page of one browser session; the URL's query restores its choices."""
    from urllib.parse import parse_qsl

    import panel as pn

    from mkldash.apps import ui
    from mkldash.apps.racing.folders import folders
    from mkldash.apps.racing.page import RacePage
    from mkldash.apps.racing.recorded import RecordedPage

    ui.extension()
    location = pn.state.location
    query = (location.search if location is not None else "") or ""
    title = f"mkldash · {TITLE}"
    if "compare" in dict(parse_qsl(query.lstrip("?"))):
        return RecordedPage(title, query, folders()).page()
    return RacePage(title, query, folders()).page()


if __name__.startswith("bokeh_app"):
    # Bokeh wipes the globals of a served script before its session ends, so
    # everything that must live on is imported from the package.
    from mkldash.apps.race import create as create_app

    create_app().servable()
