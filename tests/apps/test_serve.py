"""What the server offers."""

import logging
import socket
import sys

import pytest
from bokeh.server.connection import ServerConnection

from mkldash.apps import available_apps
from mkldash.apps.landing import LESSONS
from mkldash.apps.racing.state import RaceState
from mkldash.apps.serve import _free_port, _is_closed_tab, _quiet_closed_sockets
from mkldash.apps.state import AppState
from mkldash.errors import InputError


def test_the_apps_are_found():
    assert list(available_apps()) == [
        "elastic_net", "mirror_descent", "neighborhood_kernel", "race",
    ]  # fmt: skip


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda x: x.title)
def test_every_lesson_is_a_link_that_works(lesson):
    if lesson.app == "race":
        race, notes = RaceState.from_query(lesson.query)
        assert notes == ()
        assert RaceState.from_query(race.to_query()) == (race, ())
        return
    state, notes = AppState.from_query(lesson.query, available_apps()[lesson.app].PROBLEM)
    assert notes == ()
    again, _ = AppState.from_query(state.to_query(), state.problem)
    assert again == state


def test_a_port_that_is_taken_is_said_before_anything_starts():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"127.0.0.1:{port}.*--port"):
            _free_port("127.0.0.1", port)


def record(text, error=None):
    info = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord("x", logging.ERROR, "f.py", 1, text, (), info)


def test_a_tab_that_closes_in_the_middle_of_a_message_is_not_logged():
    connection = ServerConnection.__new__(ServerConnection)
    connection._session = None
    try:
        connection.session  # noqa: B018
    except AssertionError:
        error = sys.exc_info()[1]
    assert _is_closed_tab(record("Uncaught exception", error))
    assert _is_closed_tab(record("Failed sending message as connection was closed"))


def test_what_the_children_of_a_logger_say_of_it_is_not_logged_either(caplog):
    _quiet_closed_sockets()
    child = logging.getLogger("panel.io.document")
    with caplog.at_level(logging.WARNING, "panel.io.document"):
        child.warning("Failed sending message as connection was closed")
        child.warning("something else")
    assert [r.getMessage() for r in caplog.records if r.name == child.name] in (
        ["something else"],
        [],  # what the library logs may go to handlers of its own only
    )
    assert not child.filter(record("Failed sending message as connection was closed"))
    assert child.filter(record("something else"))


def test_any_other_error_is():
    with pytest.raises(AssertionError) as caught:
        raise AssertionError("ours")
    assert not _is_closed_tab(record("Uncaught exception", caught.value))
    assert not _is_closed_tab(record("a frame could not be drawn"))
