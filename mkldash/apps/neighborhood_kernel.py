"""The optimal neighborhood kernel, live.

Both ``mkldash serve`` and ``panel serve mkldash/apps/neighborhood_kernel.py`` show it.
"""

from __future__ import annotations

from typing import Any

__all__ = ["LINE", "PICTURE", "PROBLEM", "QUERY", "TITLE", "create"]

TITLE = "Optimal neighborhood kernel"
LINE = (
    "Let a classifier bend its kernel: several solvers race to one certified answer, "
    "and ρ decides how far it may go."
)
PICTURE = "neighborhood_kernel"
PROBLEM = "neighborhood"

#: Of the first page's link: the problem's own solver is done before one can look.
QUERY = "solver=level"


def create() -> Any:
    """The page of one browser session; the URL's query restores its choices."""
    import panel as pn

    from mkldash.apps import ui
    from mkldash.apps.dashboard import Dashboard

    ui.extension()
    location = pn.state.location
    query = location.search if location is not None else ""
    return Dashboard(f"mkldash · {TITLE}", query or "", PROBLEM).page()


if __name__.startswith("bokeh_app"):
    # Bokeh wipes the globals of a served script before its session ends, so
    # everything that must live on is imported from the package.
    from mkldash.apps.neighborhood_kernel import create as create_app

    create_app().servable()
