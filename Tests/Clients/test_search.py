"""The search below a path: over HTTP and on the command line."""

import json
import socket
import time
import urllib.parse

import pytest

from command_line import hearth
from event_client import Events
from hearth_server import Hearth

OWNER = {"Authorization": "Bearer owner"}


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


def put(server, path, value):
    answer = server.put(f"/{path}.json?ns=default", value, headers=OWNER)
    assert answer.status == 200, answer.text


def search(server, text, **more):
    """The hits of a search, and its last line."""
    query = urllib.parse.urlencode({"ns": "default", "text": text, **more})
    answer = server.get(f"/.inspect/search?{query}", headers=OWNER)
    assert answer.status == 200, answer.text
    lines = [json.loads(line) for line in answer.text.splitlines()]
    return [line for line in lines if "path" in line], lines[-1]


def test_keys_and_values_are_found_below_a_path(server):
    put(server, "shop", {"Tea": {"price": 12}, "cup": {"of": "green TEA", "price": 7}, "open": True})
    put(server, "tea", 1)
    hits, last = search(server, "tea", path="/shop")
    assert [(hit["path"], hit["in"]) for hit in hits] == [("/shop/Tea", "key"), ("/shop/cup/of", "value")]
    assert hits[0]["value"] == {"count": 1} and hits[1]["value"] == "green TEA"
    assert last == {"looked": 7, "found": 2, "end": "all"}
    assert [hit["path"] for hit in search(server, "tea", path="/shop", **{"in": "values"})[0]] == ["/shop/cup/of"]
    assert [hit["path"] for hit in search(server, "12", path="/shop")[0]] == ["/shop/Tea/price"]
    assert [hit["path"] for hit in search(server, "true", path="/shop")[0]] == ["/shop/open"]
    assert search(server, "tea", path="/shop", limit=1)[1]["end"] == "hits"
    assert search(server, "tea", path="/not/there") == ([], {"looked": 1, "found": 0, "end": "all"})


def test_requests_that_make_no_sense_are_refused_with_what_is_wrong(server):
    for query, words in (
        ("", "'text' must have from 1 to 1000 bytes"), ("text=a&in=words", "'in' must be keys, values or both"),
        ("text=a&limit=0", "'limit' must be a number from 1 to 10000"), ("text=a&path=/a.b", "'path' must be keys"),
    ):
        answer = server.get(f"/.inspect/search?ns=default&{query}", headers=OWNER)
        assert answer.status == 400 and words in answer.json["error"], query


def test_it_is_for_administrators(tmp_path):
    with Hearth(dev=False, data=tmp_path / "data") as server:
        for address in ("search?text=a", "size.json?path=/"):
            assert server.get(f"/.inspect/{address}&ns=default").status == 401


def test_size_says_what_an_export_has(server):
    value = {"a": {".value": 1, ".priority": "p"}, "list": {f"k{number}": "x" * 50 for number in range(5_000)}}
    put(server, "sized", value)
    size = server.get("/.inspect/size.json?ns=default&path=/sized", headers=OWNER).json
    exported = server.get("/sized.json?ns=default&format=export", headers=OWNER).body
    assert size == {"children": 2, "bytes": len(exported)}
    assert server.get("/.inspect/size.json?ns=default&path=/sized/none", headers=OWNER).json == {"children": 0, "bytes": 4}


@pytest.fixture(scope="module")
def many(server):
    """Children enough for many slices, and for more hits than sockets hold."""
    put(server, "many", {f"k{number:06}": {"n": number, "text": f"record {number} {'x' * 200}"} for number in range(30_000)})


def left_unread(server):
    """A search whose reader reads no more than the head of its answer."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    reader.settimeout(120)
    reader.connect(("127.0.0.1", server.port))
    path = "/.inspect/search?ns=default&path=/many&text=record&limit=10000"
    reader.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost:{server.port}\r\nAuthorization: Bearer owner\r\n\r\n".encode())
    assert reader.recv(12) == b"HTTP/1.1 200"
    return reader


def test_it_waits_for_its_reader_and_ends_with_them_and_four_run_at_a_time(server, many):
    readers = [left_unread(server) for _ in range(4)]
    address = "/.inspect/search?ns=default&path=/many&text=nowhere"
    refused = server.get(address, headers=OWNER)
    assert (refused.status, refused.json["error"]) == (503, "Too many searches are under way.")
    # Others are answered meanwhile.
    with Events(server.port, ns="default") as client:
        assert client.ask("get", path="/many/k000001/n")["value"] == 1
    for reader in readers:
        reader.close()
    deadline = time.monotonic() + 120
    while (answer := server.get(address, headers=OWNER)).status == 503:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert json.loads(answer.text.splitlines()[-1]) == {"looked": 90_001, "found": 0, "end": "all"}


def test_hits_come_while_it_runs(server, many):
    query = urllib.parse.urlencode({"ns": "default", "path": "/many", "text": "record"})
    answer = server.get(f"/.inspect/search?{query}&limit=10000", headers=OWNER)
    lines = [json.loads(line) for line in answer.text.splitlines()]
    progress = [index for index, line in enumerate(lines) if "looked" in line]
    # Each slice says how far it is, behind its own hits.
    assert len(progress) > 1 and progress[-1] == len(lines) - 1 and progress[0] > 100
    assert lines[-1]["end"] == "hits" and lines[-1]["found"] == 10_000


def test_the_command_prints_what_is_found(server):
    put(server, "shop", {"Tea": {"price": 12}, "cup": "green TEA"})
    found = hearth(server, "search", "tea", "/shop")
    assert (found.returncode, found.stdout.decode()) == (0, '/shop/Tea\t{"count":1}\n/shop/cup\t"green TEA"\n')
    assert hearth(server, "search", "tea", "shop", "--in", "keys").stdout == b'/shop/Tea\t{"count":1}\n'
    lines = hearth(server, "search", "12", "/shop", "--json").stdout.decode().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"path": "/shop/Tea/price", "in": "value", "value": 12}, {"looked": 4, "found": 1, "end": "all"},
    ]
    cut = hearth(server, "search", "tea", "/shop", "--limit", "1")
    assert cut.returncode == 0 and b"there may be more; --limit takes up to 10000" in cut.stderr
    assert hearth(server, "search", "").returncode == 2
    refused = hearth(server, "search", "tea", "/a.b")
    assert refused.returncode == 1 and b"400 'path' must be keys" in refused.stderr
