"""Elastic-net multiple kernel learning, live.

Both ``mkldash serve`` and ``panel serve mkldash/apps/elastic_net.py`` show it.
"""

from __future__ import annotations

from typing import Any

__all__ = ["LINE", "PICTURE", "PROBLEM", "TITLE", "create"]

TITLE = "Elastic-net MKL"
LINE = "Watch block-coordinate descent choose kernels while two bounds prove how close it is."
PICTURE = "elastic_net"
PROBLEM = "elastic-net"


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
    from mkldash.apps.elastic_net import create as create_app

    create_app().servable()
