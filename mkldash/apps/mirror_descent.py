"""Randomized mirror descent over product kernels, live.

Both ``mkldash serve`` and ``panel serve mkldash/apps/mirror_descent.py`` show it.
"""

from __future__ import annotations

from typing import Any

__all__ = ["LINE", "PICTURE", "PROBLEM", "QUERY", "TITLE", "create"]

TITLE = "Randomized mirror descent"
LINE = (
    "Learn which products of features matter without ever listing them: each step draws one, "
    "and what is likely to be drawn moves before your eyes."
)
PICTURE = "mirror_descent"
PROBLEM = "products"

#: Of the first page's link: at penalty 1 the prediction is still far from the best.
QUERY = "penalty=0.03"


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
    from mkldash.apps.mirror_descent import create as create_app

    create_app().servable()
