"""Writing into sources: as few and as small messages as possible."""

import numpy as np
from bokeh.document import Document
from bokeh.models import ColumnDataSource

from mkldash.views import _plotting as plotting


def sent(source, columns, **options):
    """What `write` changes: the kinds of messages that a browser would get."""
    kinds = []
    source.document.on_change(lambda event: kinds.append(event.kind))
    plotting.write(source, columns, **options)
    return kinds


def test_what_a_source_has_already_is_not_sent_again():
    source = ColumnDataSource({"x": [], "y": []})
    Document().add_root(source)
    columns = {"x": np.arange(3.0), "y": np.array([1.0, np.nan, 2.0])}
    assert len(sent(source, columns)) == 1
    assert sent(source, columns) == []
    assert len(sent(source, columns, full=True)) == 1  # notebooks: a lost message heals itself


def test_short_columns_travel_within_the_message_and_long_ones_as_arrays():
    source = ColumnDataSource({"x": []})
    plotting.write(source, {"x": np.arange(float(plotting.LIGHT))})
    assert isinstance(source.data["x"], list)
    plotting.write(source, {"x": np.arange(plotting.LIGHT + 1.0)[::-1]})
    assert isinstance(source.data["x"], np.ndarray)
