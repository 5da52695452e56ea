"""Each row of the table of the WebSocket protocol, against the server; `websocket_table.py` explains the table."""

import pytest

from hearth_server import Hearth
from websocket_table import Played, rows


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


@pytest.mark.parametrize("row", rows(), ids=repr)
def test_the_protocol_is_kept(server, row):
    with Played(server, row) as played:
        played.play()


def test_no_two_rows_say_the_same():
    titles = [row.title for row in rows()]
    assert len(set(titles)) == len(titles)
