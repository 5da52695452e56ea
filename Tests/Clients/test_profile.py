"""The profiler: the operations on a database as an event stream."""

import json
import signal
import socket
import time
import urllib.request

import pytest

from event_client import Events
from hearth_server import Hearth
from wire_client import Wire


class Profile:
    """A reader of `/.settings/profile.json`; made when the server listens to it."""

    def __init__(self, server, ns="demo", **headers):
        request = urllib.request.Request(
            f"{server.address}/.settings/profile.json?ns={ns}",
            headers={"Accept": "text/event-stream", **headers},
        )
        self.answer = urllib.request.urlopen(request, timeout=120)
        assert self.event() == ("keep-alive", None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.answer.close()

    def event(self):
        lines = []
        while line := self.answer.readline().decode().rstrip("\n"):
            lines.append(line)
        if not lines:
            return None
        assert len(lines) == 2, lines
        name, data = lines
        assert name.startswith("event: ") and data.startswith("data: ")
        return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))

    def record(self, name):
        """The next operation, which must have that name."""
        while (event := self.event())[0] == "keep-alive":
            pass
        kind, record = event
        assert (kind, record["name"]) == ("log", name), record
        assert abs(record.pop("timestamp") - 1000 * time.time()) < 60_000
        assert 0 <= record.pop("pendingTime") < 10_000
        if "millis" in record:
            assert 0 < record.pop("millis") < 10_000
        return record


def size(value):
    return len(json.dumps(value, separators=(",", ":")).encode())


def test_the_answer_is_an_event_stream(dev):
    with Profile(dev) as profile:
        assert profile.answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert profile.answer.headers["Cache-Control"] == "no-cache"


def test_rest_operations_are_reported(dev):
    with Profile(dev) as profile:
        dev.put("/a/b.json?ns=demo", {"c": [1, 2]})
        assert profile.record("rest-write") == {
            "name": "rest-write", "path": ["a", "b"], "allowed": True,
            "bytes": size({"c": {"0": 1, "1": 2}}),
        }
        dev.request("PATCH", "/a.json?ns=demo", {"x": "é", "y/z": None})
        update = profile.record("rest-update")
        assert (update["path"], update["allowed"]) == (["a"], True)
        assert update["bytes"] == len('"é"'.encode()) + len("null")
        key = dev.request("POST", "/list.json?ns=demo", 5).json["name"]
        assert profile.record("rest-write")["path"] == ["list", key]
        dev.get("/a/x.json?ns=demo")
        assert profile.record("rest-read") == {
            "name": "rest-read", "path": ["a", "x"], "allowed": True, "bytes": 4,
        }
        dev.request("DELETE", "/a.json?ns=demo")
        assert profile.record("rest-write")["bytes"] == 4


def test_operations_of_the_wire_protocol_are_reported(dev):
    with Profile(dev) as profile:
        with Wire(dev.port) as client:
            assert profile.record("concurrent-connect") == {
                "name": "concurrent-connect", "path": [], "allowed": True,
            }
            client.request("p", p="/a", d={"b": 1})
            assert profile.record("realtime-write")["bytes"] == size({"b": 1})
            client.request("q", p="/a", h="")
            listen = profile.record("listener-listen")
            assert (listen["path"], listen["bytes"]) == (["a"], size({"b": 1}))
            _, pushes = client.request("p", p="/a/c", d="new")
            text = json.dumps({"t": "d", "d": pushes[0]}, separators=(",", ":"))
            broadcast = profile.record("listener-broadcast")
            assert broadcast == {
                "name": "listener-broadcast", "path": ["a"], "allowed": True, "bytes": len(text),
            }
            assert profile.record("realtime-write")["path"] == ["a", "c"]
            client.request("m", p="/x", d={"y": 1})
            assert profile.record("realtime-update")["path"] == ["x"]
            client.request("p", p="/x/y", d=2, h="")
            client.request("g", p="/x", q={})
            read = profile.record("realtime-read")
            assert (read["path"], read["bytes"]) == (["x"], size({"y": 1}))
            client.request("p", p="/new", d=2, h="")
            assert profile.record("realtime-transaction")["path"] == ["new"]
            client.request("n", p="/a")
            assert profile.record("listener-unlisten") == {
                "name": "listener-unlisten", "path": ["a"], "allowed": True,
            }
        assert profile.record("concurrent-disconnect")["path"] == []


def test_operations_of_the_plain_event_protocol_are_reported(dev):
    with Profile(dev) as profile, Events(dev.port) as client:
        profile.record("concurrent-connect")
        client.request("set", path="/a", value=1)
        assert profile.record("realtime-write")["path"] == ["a"]
        client.request("observe", path="/", events=["value"])
        assert profile.record("listener-listen")["bytes"] == size({"a": 1})
        tag = client.request("get", path="/a")[0]["etag"]
        profile.record("realtime-read")
        client.request("set", path="/a", value=2, ifMatch=tag)
        assert profile.record("listener-broadcast")["path"] == []
        assert profile.record("realtime-transaction")["path"] == ["a"]


def test_refused_operations_and_missing_indexes_are_reported(dev):
    rules = {"rules": {"open": {".read": True, ".write": True}}}
    dev.put("/.settings/rules.json?ns=demo", rules)
    with Profile(dev) as profile, Wire(dev.port) as client:
        profile.record("concurrent-connect")
        client.request("p", p="/shut", d=1)
        assert profile.record("realtime-write") == {
            "name": "realtime-write", "path": ["shut"], "allowed": False, "bytes": 0,
        }
        client.request("q", p="/shut", h="")
        assert profile.record("listener-listen")["allowed"] is False
        dev.get("/shut.json?ns=demo")
        assert profile.record("rest-read")["allowed"] is False
        client.request("q", p="/open", q={"i": "a/b", "l": 5, "vf": "l"}, t=1, h="")
        listen = profile.record("listener-listen")
        assert (listen["allowed"], listen["unIndexed"]) == (True, True)
        assert listen["querySet"] == [{"index": {"path": ["a", "b"]}}]
        dev.get('/open.json?ns=demo&orderBy="$value"')
        assert profile.record("rest-read")["querySet"] == [{"index": {"path": [".value"]}}]


def test_only_operations_on_the_database_asked_for_are_reported(dev):
    with Profile(dev, ns="one") as profile:
        dev.put("/a.json?ns=two", 1)
        dev.put("/b.json?ns=one", 1)
        assert profile.record("rest-write")["path"] == ["b"]


def test_every_reader_is_reported_and_may_leave(dev):
    with Profile(dev) as first:
        with Profile(dev) as second:
            dev.put("/a.json?ns=demo", 1)
            first.record("rest-write")
            second.record("rest-write")
        dev.put("/b.json?ns=demo", 1)
        assert first.record("rest-write")["path"] == ["b"]


def test_a_large_value_is_counted_whole(dev):
    value = {f"key{n}": "x" * 100 for n in range(20_000)}
    with Profile(dev) as profile, Wire(dev.port) as client:
        profile.record("concurrent-connect")
        client.request("q", p="/a", h="")
        profile.record("listener-listen")
        dev.put("/a.json?ns=demo", value)
        assert profile.record("listener-broadcast")["bytes"] >= size(value)
        assert profile.record("rest-write")["bytes"] == size(value)
        # Unread, it would hold up the end of the connection.
        client.push()


def test_a_reader_that_does_not_read_is_reported_how_many_were_dropped(dev):
    reader = socket.socket()
    # Before the connection, so that little fits into the window.
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.connect(("127.0.0.1", dev.port))
    reader.sendall(b"GET /.settings/profile.json?ns=demo HTTP/1.0\r\nHost: localhost\r\n"
                   b"Accept: text/event-stream\r\n\r\n")
    stream = reader.makefile("rb")
    while stream.readline() != b"data: null\n":
        pass
    total = 0
    path = "/" + "/".join(["k" * 700] * 10)
    with Wire(dev.port) as client:
        for _ in range(200):
            for number in [client.send("p", p=path, d=n) for n in range(8)]:
                client.reply(number)
            total += 8
    dropped = sent = 0
    with Profile(dev) as other:
        # A client that reads receives more; of what came before, records may still be on their way.
        dev.put("/last.json?ns=demo", 1)
        while other.event()[1]["name"] != "rest-write":
            pass
    while True:
        line = stream.readline()
        assert line, "the stream goes on"
        if not line.startswith(b"data: {"):
            continue
        record = json.loads(line[6:])
        if record["name"] == "dropped":
            dropped += record["count"]
            break
        sent += record["name"] == "realtime-write"
        if sent % 50 == 0:
            # What makes room has to be followed by something to send.
            dev.put("/more.json?ns=demo", 1)
    assert 0 < sent < total
    assert 0 < dropped
    reader.close()


# Who may


def test_without_a_wish_for_events_there_is_no_profile(dev):
    answer = dev.get("/.settings/profile.json")
    assert answer.status == 400 and "text/event-stream" in answer.json["error"]
    assert dev.put("/.settings/profile.json", 1).status == 405


def test_in_production_an_admin_may(tmp_path):
    events = {"Accept": "text/event-stream"}
    with Hearth(dev=False, data=tmp_path / "data") as server:
        path = "/.settings/profile.json"
        assert server.get(path, headers=events).status == 401
        assert server.get(path + "?ns=other", headers=events).status == 404
        secret = (tmp_path / "data" / "admin-secret").read_text().strip()
        bearer = {"Authorization": f"Bearer {secret}"}
        with Profile(server, ns="default", **bearer) as profile:
            server.get("/a.json")
            assert profile.record("rest-read")["allowed"] is False
            server.process.send_signal(signal.SIGTERM)
            while event := profile.event():
                assert event[0] in ("keep-alive", "log")
        assert server.process.wait(timeout=120) == 0


def test_the_profile_keeps_alive():
    with Hearth("--keep-alive-interval", "1s") as server, Profile(server) as profile:
        assert profile.event() == ("keep-alive", None)
