"""`/.inspect/connections.json`: who is connected, and the end of one, for clients of every protocol."""

import json
import urllib.parse

import pytest
from websockets.exceptions import ConnectionClosed

from command_line import hearth
from event_client import Events
from hearth_server import Hearth
from poll_client import Poll
from signing import unsigned
from stream_client import Stream
from wire_client import Wire

OWNER = {"Authorization": "Bearer owner"}
PLACE = "/.inspect/connections"


@pytest.fixture
def server(tmp_path):
    with Hearth(log=tmp_path / "log") as server:
        yield server


def listed(server, **query):
    answer = server.get(f"{PLACE}.json?{urllib.parse.urlencode(query)}", headers=OWNER)
    assert answer.status == 200, answer.text
    return answer.json


def end(server, id, **headers):
    return server.request("DELETE", f"{PLACE}/{id}.json", headers=headers or OWNER)


def test_each_protocol_stands_there_with_who_it_is_and_what_it_listens_to(server):
    with Wire(server.port) as wire, Events(server.port, ns="other") as events, Poll(server.port) as poll:
        wire.request("auth", cred=unsigned({"sub": "ann", "uid": "ann"}))
        wire.request("q", p="/rooms/1", h="")
        wire.request("q", p="/rooms", h="", q={"l": 2, "vf": "r"}, t=1)
        events.observe("/a", "value")
        poll.request("q", p="/poll", h="")
        with Stream(server.port, "/streamed.json?ns=demo") as stream:
            stream.event()
            found = {each["door"]: each for each in listed(server)["connections"]}
            assert set(found) == {"/.ws", "/.events", "/.lp", "event stream"}
            ann = found["/.ws"]
            assert (ann["who"], ann["uid"], ann["database"], ann["listenCount"]) == ("user", "ann", "demo", 2)
            assert [each["path"].strip("/") for each in ann["listens"]] == ["rooms/1", "rooms"]
            assert "query" not in ann["listens"][0] and ann["listens"][1]["query"]["limitToLast"] == 2
            assert ann["peer"] == "127.0.0.1" and ann["queuedBytes"] == 0
            assert found["/.events"]["who"] == "signedOut" and found["/.events"]["database"] == "other"
            assert found["event stream"]["listens"][0]["path"].strip("/") == "streamed"
            # Ids are those of the log, and event streams have their own.
            assert found["event stream"]["id"].startswith("s")
            for text, doors in [
                ("ANN", {"/.ws"}), ("other", {"/.events"}), ("streamed", {"event stream"}), ("rooms/1", {"/.ws"}),
                ("127.0.0.1", set(found)), ("nothing of it", set()), ("user", {"/.ws"}),
            ]:
                assert {each["door"] for each in listed(server, text=text)["connections"]} == doors, text


def test_a_long_list_comes_in_pages(server):
    wires = [Wire(server.port) for _ in range(5)]
    seen, after = [], 0
    while after is not None:
        page = listed(server, limit=2, after=after)
        assert page["total"] == 5 and len(page["connections"]) <= 2
        seen += [each["id"] for each in page["connections"]]
        after = page.get("next")
    assert len(seen) == len(set(seen)) == 5
    for wire in wires:
        wire.close()
    for query in ("limit=0", "limit=501", "limit=x", "after=-1", "after=x"):
        assert server.get(f"{PLACE}.json?{query}", headers=OWNER).status == 400, query


def test_one_is_ended_with_a_word_why_and_its_on_disconnect_writes_run(server):
    with Wire(server.port) as wire, Wire(server.port) as other:
        assert wire.request("o", p="/left", d=True)[0]["s"] == "ok"
        (mine,) = [each["id"] for each in listed(server)["connections"] if each["listenCount"] == 0][:1]
        assert end(server, mine).json == {"status": "ok"}
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                wire.receive()
        assert closed.value.rcvd.reason == "An administrator ended this connection"
        server.await_log("a connection is ended by=owner")
        assert f"connection={mine} database=demo" in server.log_text
        assert server.get("/left.json?ns=demo").json is True
        assert other.request("g", p="/left", q={})[0]["d"] is True
        assert end(server, mine).status == 404


def test_each_other_protocol_ends_too(server):
    with Events(server.port) as events:
        (one,) = listed(server)["connections"]
        assert end(server, one["id"]).status == 200
        with pytest.raises(ConnectionClosed) as closed:
            events.receive()
        assert closed.value.rcvd.reason == "An administrator ended this connection"
    with Stream(server.port, "/a.json?ns=demo") as stream:
        stream.event()
        (one,) = listed(server)["connections"]
        assert end(server, one["id"]).status == 200
        while stream.more():
            pass
    assert listed(server)["total"] == 0


def test_ids_that_are_none_are_not_found(server):
    for id in ("1", "s1", "x", "s", "-1", "99999999999999999999999", "%2e%2e"):
        assert end(server, id).status == 404, id


def test_it_is_for_administrators_alone(tmp_path):
    with Hearth(dev=False, data=tmp_path / "data") as server:
        for method, path in [("GET", f"{PLACE}.json"), ("DELETE", f"{PLACE}/1.json")]:
            assert server.request(method, path).status == 401
            assert server.request(method, path, headers=OWNER).status == 401
        secret = (tmp_path / "data" / "admin-secret").read_text().strip()
        assert server.get(f"{PLACE}.json", headers={"Authorization": f"Bearer {secret}"}).json["connections"] == []


def test_the_command_lists_and_ends(server):
    with Wire(server.port) as wire:
        wire.request("auth", cred=unsigned({"sub": "bea", "uid": "bea"}))
        wire.request("q", p="/rooms/1", h="")
        done = hearth(server, "connections")
        assert done.returncode == 0, done.stderr
        lines = done.stdout.decode().splitlines()
        assert lines[0].split() == ["id", "who", "from", "since", "over", "database", "queued", "listens"]
        id, who, peer, *_ = lines[1].split()
        assert (who, peer) == ("bea", "127.0.0.1") and lines[1].endswith(" /rooms/1")
        done = hearth(server, "connections", "list", "--text", "bea", "--json")
        assert json.loads(done.stdout)["uid"] == "bea"
        assert hearth(server, "connections", "list", "--text", "no such text").stdout == b"no connections\n"
        assert hearth(server, "connections", "end", id).stdout == f"ended connection {id}\n".encode()
        with pytest.raises(ConnectionClosed):
            wire.receive()
    done = hearth(server, "connections", "end", id)
    assert done.returncode == 1 and b"There is no connection" in done.stderr
