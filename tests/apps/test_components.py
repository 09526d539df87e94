"""Uploads arrive in pieces, and are refused with the numbers."""

import base64

import pytest

from mkldash.apps import ui
from mkldash.apps.components import UPLOAD_LIMIT, Upload
from mkldash.datasets.tables import UPLOAD_LIMIT_BYTES


@pytest.fixture
def upload():
    found = Upload()
    found.files = []
    return found


def piece(index, pieces, content, upload_id=1, name="t.csv"):
    return {
        "kind": "piece", "id": upload_id, "name": name, "index": index, "pieces": pieces,
        "content": base64.b64encode(content).decode(),
    }  # fmt: skip


def taken(upload):
    files = []
    upload.on_file = lambda name, content: files.append((name, content))
    return files


def test_pieces_make_a_file(upload):
    files = taken(upload)
    for message in (piece(0, 3, b"a,b\n"), piece(1, 3, b"1,"), piece(2, 3, b"2\n")):
        upload._handle_msg(message)
    assert files == [("t.csv", b"a,b\n1,2\n")]


def test_a_newer_file_drops_the_rest_of_an_older_one(upload):
    files = taken(upload)
    upload._handle_msg(piece(0, 2, b"old"))
    upload._handle_msg(piece(0, 1, b"new", upload_id=2))
    assert files == [("t.csv", b"new")]


def test_u07_too_large_is_said_with_size_and_limit(upload):
    files = taken(upload)
    upload._handle_msg({"kind": "refused", "name": "big.csv", "size": 30_000_000})
    assert files == []
    assert "30.0 MB" in upload.note
    assert "limit is 10 MB" in upload.note


def test_a_browser_that_sends_too_much_anyway_is_stopped(upload):
    files = taken(upload)
    upload.limit = 10
    upload._handle_msg(piece(0, 2, b"123456"))
    upload._handle_msg(piece(1, 2, b"7890abc"))
    assert files == []
    assert "larger" in upload.note


def test_damage_is_said(upload):
    taken(upload)
    upload._handle_msg({**piece(0, 1, b""), "content": "%%%"})
    assert "damaged" in upload.note


def test_a_path_in_a_name_is_cut_off(upload):
    files = taken(upload)
    upload._handle_msg(piece(0, 1, b"x", name="../../etc/passwd"))
    assert files[0][0] == "passwd"


def test_the_limit_is_the_one_that_tables_have():
    assert UPLOAD_LIMIT == UPLOAD_LIMIT_BYTES


def test_a_text_field_does_not_undo_what_is_typed_meanwhile():
    field = ui.TextField(value="1")
    field._process_events({"value_input": "49"})
    field._process_events({"value_input": "100"})
    field._process_events({"value": "49"})  # Enter after 49 arrives when 100 is typed already
    assert (field.value, field.value_input) == ("49", "100")
    field.value = "7"  # the server itself
    assert field.value_input == "7"
