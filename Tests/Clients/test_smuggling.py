"""What one reader takes for one request is one request for every reader; `smuggling_table.py` explains the table.

A request of the table has another one behind it. The server answers each as the table says, and never serves what is
behind a refused head. Behind nginx, it sees as many requests as nginx does, and nothing that nginx did not see.
"""

import time

import pytest

from hearth_server import Hearth
from raw_http import Raw
from smuggling_table import TRAP, rows
from test_proxies import Proxied, nginx

STATE = "/open.json"


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


@pytest.fixture(scope="module")
def proxied(tmp_path_factory):
    found = Proxied(nginx, tmp_path_factory.mktemp("nginx"))
    yield found
    found.close()


def answers(raw):
    """The statuses of all answers, to the end of the connection."""
    found = []
    while answer := raw.answer():
        found.append(answer[0])
    return found


@pytest.mark.parametrize("row", rows(), ids=repr)
def test_a_request_is_taken_as_the_table_says(server, row):
    server.request("DELETE", STATE)
    with Raw(server.port) as raw:
        raw.send(row.data + TRAP)
        assert answers(raw) == row.answers
    expected = {"first": row.first, "trap": 1 if row.serves_trap else None}
    assert (server.get(STATE).json or {}) == {name: value for name, value in expected.items() if value is not None}


def requests_of(proxied):
    """How many requests the server has read, whole or to their fault; asking is one of them."""
    answer = proxied.server.get("/.metrics", headers={"Authorization": f"Bearer {proxied.secret}"})
    counts = dict(line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#"))
    transport = ["hearth_transport_bad_requests_total", "hearth_transport_refused_requests_total"]
    return sum(int(counts[name]) for name in ["hearth_http_requests_total", *transport])


END = b"200 GET /open/end.json HTTP/1.1"


def notes(proxied, start):
    """What the proxy has noted behind a byte of its log, up to a request of this test."""
    # The proxy has one process: what it notes of a later connection comes behind. It notes after it has answered.
    assert proxied.request("GET", "/open/end.json").status == 200
    deadline = time.monotonic() + 120
    while True:
        lines = proxied.notes.read_bytes()[start:].splitlines()
        if lines and lines[-1] == END:
            return lines[:-1]
        assert time.monotonic() < deadline, lines
        time.sleep(0.005)


@pytest.mark.parametrize("row", rows(), ids=repr)
def test_the_proxy_and_the_server_see_the_same_requests(proxied, row):
    proxied.server.request("DELETE", STATE)
    before, start = requests_of(proxied), proxied.notes.stat().st_size
    with proxied.raw() as raw:
        raw.settimeout(120)
        raw.sendall(row.data + TRAP)
        while raw.recv(1 << 16):
            pass
    seen = notes(proxied, start)
    passed = [line for line in seen if not line.startswith(b"-")]
    # One more for the last look, and one for the request at the end.
    assert requests_of(proxied) - before - 2 == len(passed), seen
    state = proxied.server.get(STATE).json or {}
    served = {line.split()[2] for line in passed if line.startswith(b"200 PUT")}
    assert ("trap" in state) == (b"/open/trap.json" in served), (state, seen)


def test_no_two_rows_say_the_same():
    titles = [row.title for row in rows()]
    assert len(set(titles)) == len(titles)
