"""What the server offers."""

import socket

import pytest

from mkldash.apps.landing import LESSONS
from mkldash.apps.serve import _free_port, available_apps
from mkldash.apps.state import AppState
from mkldash.errors import InputError


def test_the_app_is_found():
    assert list(available_apps()) == ["elastic_net"]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda x: x.title)
def test_every_lesson_is_a_link_that_works(lesson):
    _, notes = AppState.from_query(lesson.query)
    assert notes == ()
    assert lesson.app in available_apps()


def test_a_port_that_is_taken_is_said_before_anything_starts():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"127.0.0.1:{port}.*--port"):
            _free_port("127.0.0.1", port)
