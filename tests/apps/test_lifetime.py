"""A page that is gone leaves nothing behind."""

import gc
import weakref
from types import SimpleNamespace

import panel as pn
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from mkldash.apps import ui
from mkldash.apps.dashboard import Dashboard


@pytest.mark.filterwarnings("ignore:Both .variant. and .button_style.:PendingDeprecationWarning")
@pytest.mark.parametrize("problem", ["elastic-net", "neighborhood"])
def test_a_closed_dashboard_is_garbage(problem, monkeypatch):
    before = len(ui._busy_watchers())
    monkeypatch.setattr(pn.state, "onload", lambda _: None)
    doc = Document()
    with set_curdoc(doc):
        dashboard = Dashboard("a page", "data=two-moons", problem)
        page = dashboard.page()
        page.server_doc(doc)
    parts = (dashboard, dashboard.player, dashboard.gallery, dashboard.board, page, doc)
    gone = [weakref.ref(part) for part in (*parts, dashboard.gallery.first)]
    dashboard.close()
    for session_ended in list(doc.session_destroyed_callbacks):
        session_ended(SimpleNamespace(id="a page", _document=doc))
    pn.state._stylesheets.pop(doc, None)  # the server's own end of a session empties the document
    del dashboard, page, parts, doc, session_ended
    gc.collect()
    assert [part() for part in gone] == [None] * len(gone)
    assert len(ui._busy_watchers()) == before
