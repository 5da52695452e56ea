"""The wire protocol over a real socket: the order contract, segments, faults."""

import json

import pytest
from websockets.exceptions import ConnectionClosed

from hearth_server import Hearth
from wire_client import Wire


def test_hello_names_a_dialable_host(dev):
    with Wire(dev.port) as client:
        hello = client.hello["d"]["d"]
        assert client.hello["t"] == "c" and client.hello["d"]["t"] == "h"
        assert hello["v"] == "5" and isinstance(hello["ts"], int) and hello["s"]
        assert hello["h"] == f"127.0.0.1:{dev.port}"


def test_a_listener_sees_data_then_ok_then_each_write(dev):
    dev.put("/room.json?ns=demo", {"topic": "tea"})
    with Wire(dev.port) as reader, Wire(dev.port) as writer:
        body, pushes = reader.request("q", p="/room", h="")
        assert body == {"s": "ok", "d": {}}
        assert pushes == [{"a": "d", "b": {"p": "room", "d": {"topic": "tea"}}}]
        body, pushes = writer.request("p", p="/room/topic", d="coffee")
        assert body == {"s": "ok", "d": ""} and pushes == []
        assert reader.push() == {"a": "d", "b": {"p": "room/topic", "d": "coffee"}}


def test_the_writer_hears_its_own_write_before_the_reply(dev):
    with Wire(dev.port) as client:
        client.request("q", p="/a", h="")
        body, pushes = client.request("m", p="/a", d={"x": 1, "y/z": {".sv": "timestamp"}})
        assert body["s"] == "ok" and len(pushes) == 1
        merged = pushes[0]["b"]["d"]
        assert merged["x"] == 1 and isinstance(merged["y/z"], int)


def test_a_message_of_many_segments_comes_and_goes(dev):
    text = "é😀 \"quoted\" " * 20_000
    with Wire(dev.port) as client, Wire(dev.port) as reader:
        reader.request("q", p="/big", h="")
        body, _ = client.request("p", p="/big", d=text)
        assert body["s"] == "ok"
        assert reader.push()["b"]["d"] == text
    assert dev.get("/big.json?ns=demo").json == text


def test_a_huge_first_value_arrives_whole(dev):
    value = {f"k{i:06}": {"n": i, "t": "x" * 50} for i in range(30_000)}
    assert dev.put("/huge.json?ns=demo&print=silent", value).status == 204
    with Wire(dev.port) as client:
        body, pushes = client.request("q", p="/huge", h="")
        assert body["s"] == "ok" and len(pushes) == 1 and pushes[0]["b"]["d"] == value
        body, pushes = client.request("g", p="/huge/k000007", q={})
        assert body["d"] == value["k000007"]


@pytest.mark.parametrize("development", [True, False])
def test_a_write_over_the_limit_is_answered_and_later_ones_are_done(tmp_path, development):
    """A client whose connection ended instead would send it again, for ever, ahead of all others."""
    rules = tmp_path / "rules.json"
    rules.write_text('{"rules":{".read":true,".write":true}}')
    flags = ["--max-message", "64KiB", "--database", f"demo={rules}"]
    data = None if development else tmp_path / "data"
    with Hearth(*flags, dev=development, data=data) as server, Wire(server.port) as client:
        big = client.send("p", p="/big", d={"text": "é😀" * 300_000})
        later = client.send("p", p="/small", d=1)
        body, pushes = client.reply(big)
        assert body["s"] == "write_too_big" and "65536 bytes" in body["d"], body
        assert [push["a"] for push in pushes] == (["sd"] if development else [])
        assert all("--max-message" in push["b"]["msg"] for push in pushes)
        assert client.reply(later) == ({"s": "ok", "d": ""}, [])
        assert client.request("g", p="/", q={})[0]["d"] == {"small": 1}


def test_keep_alives_and_pings(dev):
    with Wire(dev.port) as client:
        client.socket.send("0")
        client.send_text('{"t":"c","d":{"t":"p","d":{}}}')
        assert client.receive() == {"t": "c", "d": {"t": "o", "d": {}}}


def test_transactions_compare_before_they_write(dev):
    with Wire(dev.port) as client:
        assert client.request("p", p="/ctr", d=1, h="")[0]["s"] == "ok"
        stale, _ = client.request("p", p="/ctr", d=5, h="")
        assert stale == {"s": "datastale", "d": "Transaction hash does not match"}
        body, _ = client.request("p", p="/ctr", d=2, h="YPVfR2bXt/lcDjiQZ8pOkAd3qkQ=")
        assert body["s"] == "ok"
        assert dev.get("/ctr.json?ns=demo").json == 2


def test_a_transaction_counts_by_the_hash_that_the_javascript_sdk_makes(dev):
    """It hashes some numbers wrongly; its function gave these hashes under Node.js."""
    with Wire(dev.port) as client:
        for value, hash in [
            (2**53 - 1, "m4qsp/5BbIWTdjthNlnOX+WCTB0="),
            ({"n": 2**53 - 1}, "lRjMGsWOvYo/8kmWu76uoYIY3UE="),
            ({".value": 2**53 - 1, ".priority": 7.999999999999999}, "Gw0M5rw1nkfxE2xXlraerVBPTzw="),
        ]:
            client.request("p", p="/n", d=value)
            # A client that listens anew receives the data: two numbers may have one hash.
            body, pushes = client.request("q", p="/n", h=hash)
            assert body["s"] == "ok" and pushes[0]["b"]["d"] == value
            client.request("n", p="/n")
            assert client.request("p", p="/n", d=1, h=hash)[0]["s"] == "ok"
            assert client.request("p", p="/n", d=2, h=hash)[0]["s"] == "datastale"


def test_a_close_frame_runs_the_on_disconnect_writes_at_once(dev):
    with Wire(dev.port) as reader:
        reader.request("q", p="/status", h="")
        client = Wire(dev.port)
        client.request("o", p="/status/ann", d="offline")
        client.request("p", p="/status/ann", d="online")
        assert reader.push()["b"]["d"] == "online"
        client.close()
        assert reader.push()["b"] == {"p": "status/ann", "d": "offline"}
    assert dev.get("/status/ann.json?ns=demo").json == "offline"


def test_a_new_connection_ends_the_session_it_names(dev):
    old = Wire(dev.port)
    old.request("o", p="/status/bob", d="gone")
    session = old.hello["d"]["d"]["s"]
    with Wire(dev.port, ls=session) as client:
        body, _ = client.request("g", p="/status/bob", q={})
        assert body["d"] == "gone"
    with pytest.raises(ConnectionClosed):
        while True:
            old.receive()


def test_two_databases_are_strangers(dev):
    with Wire(dev.port, ns="one") as one, Wire(dev.port, ns="two") as two:
        one.request("p", p="/a", d=1)
        assert two.request("g", p="/a", q={})[0]["d"] is None


@pytest.mark.parametrize(
    "text, code",
    [
        ("{", 1007),
        ("[1,2]", 1007),
        ('{"t":"x"}', 1007),
        ("999999999", 1007),
        ('{"t":"d","d":5}', 1007),
    ],
)
def test_what_is_no_message_closes_the_connection_with_a_reason(dev, text, code):
    with Wire(dev.port) as client:
        client.socket.send(text)
        with pytest.raises(ConnectionClosed) as closed:
            client.receive()
        assert closed.value.rcvd.code in (1003, code, 1009)
        assert closed.value.rcvd.reason


@pytest.mark.parametrize(
    "body",
    [
        {"a": "p", "b": {"d": 1}},
        {"a": "p", "b": {"p": "/a.b", "d": 1}},
        {"a": "p", "b": {"p": 7, "d": 1}},
        {"a": "p", "b": {"p": "/a", "d": {"x$": 1}}},
        {"a": "p", "b": {"p": "/a", "d": {".sv": "nonsense"}}},
        {"a": "m", "b": {"p": "/a", "d": {"x": 1, "x/y": 2}}},
        {"a": "m", "b": {"p": "/a", "d": 5}},
        {"a": "q", "b": {"p": "/a", "q": {"l": -1}, "t": 1, "h": ""}},
        {"a": "g", "b": {}},
        {"a": "zz", "b": {}},
        {"a": "p", "b": {"p": "/" + "/".join(["k"] * 33), "d": 1}},
        {"a": "p", "b": {"p": "/" + "k" * 769, "d": 1}},
    ],
)
def test_a_bad_request_is_refused_and_changes_nothing(dev, body):
    with Wire(dev.port) as client:
        client.request("p", p="/kept", d=1)
        client.send_text(json.dumps({"t": "d", "d": {"r": 70, **body}}))
        reply, pushes = client.reply(70)
        assert reply["s"] != "ok" and isinstance(reply["d"], str) and reply["d"], reply
        assert pushes == []
    assert dev.get("/.json?ns=demo").json == {"kept": 1}


def test_an_unknown_database_shuts_a_production_client_out(tmp_path):
    from hearth_server import Hearth

    with Hearth(dev=False, data=tmp_path / "data") as server:
        with Wire(server.port, ns="nosuch") as client:
            assert client.hello["t"] == "c" and client.hello["d"]["t"] == "s"
        assert server.get("/a.json?ns=nosuch").status == 404
