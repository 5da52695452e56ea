"""The plain event protocol over a real socket: requests, events, errors, the end of a connection."""

import json
import time

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from event_client import Events, brief, without_observer
from hearth_server import Hearth
from signing import AUDIENCE, ISSUER, RSAKey, base64url, claims, jwks, token
from wire_client import Wire

CHILDREN = ["childAdded", "childChanged", "childMoved", "childRemoved"]
OWNER = {"Authorization": "Bearer owner"}


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


@pytest.fixture
def client(server, request):
    """A connection to an empty database of its own."""
    with Events(server.port, ns=database(request)) as client:
        client.ns = database(request)
        yield client


def database(request):
    return f"t{abs(hash(request.node.nodeid)):x}"


def put_rules(server, ns, rules):
    answer = server.put(f"/.settings/rules.json?ns={ns}", {"rules": rules}, headers=OWNER)
    assert answer.status == 200, answer.text


def unsigned(uid, **claims):
    """A token as a development server takes it."""
    parts = ({"alg": "none", "typ": "JWT"}, {"sub": uid, "user_id": uid, "iat": 1, **claims})
    return ".".join(base64url(json.dumps(part).encode()) for part in parts) + "."


# Connecting


def test_hello_comes_first_and_the_subprotocol_is_confirmed(server):
    before = time.time() * 1000
    with Events(server.port, subprotocols=["other", "hearth.events.v1"]) as client:
        assert client.socket.subprotocol == "hearth.events.v1"
        assert set(client.hello) == {"event", "serverTime", "session"}
        assert client.hello["event"] == "hello" and client.hello["session"]
        assert abs(client.hello["serverTime"] - before) < 60_000
    with Events(server.port) as first, Events(server.port, subprotocols=["other"]) as second:
        assert first.socket.subprotocol is None and second.socket.subprotocol is None
        assert first.hello["session"] != second.hello["session"]


def test_what_is_wrong_with_the_address_is_said_over_http(server, tmp_path):
    assert server.get("/.events").status == 426
    for ns, status in [("no$such", 400), ("demo", 404)]:
        with Hearth(dev=False, data=tmp_path / ns.replace("$", "")) as production:
            with pytest.raises(InvalidStatus) as refused:
                Events(production.port, ns=ns)
            assert refused.value.response.status_code == status
    with pytest.raises(InvalidStatus) as refused:
        Events(server.port, origin="https://evil.example")
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    "frame, code",
    [("hello", 1007), ("", 1007), ('{"id":1,"do":"ping"', 1007), (b"{}", 1003)],
)
def test_only_what_is_no_json_closes_the_socket(server, frame, code):
    with Events(server.port) as client:
        client.socket.send("[1]")
        assert client.receive()["error"] == "bad_request"
        client.socket.send(frame)
        with pytest.raises(ConnectionClosed) as closed:
            client.receive()
        assert closed.value.rcvd.code == code


def test_a_frame_over_the_limit_closes_the_socket():
    with Hearth("--max-message", "65536") as server, Events(server.port) as client:
        client.socket.send(json.dumps({"id": 1, "do": "ping", "x": "y" * 60_000}))
        assert client.receive()["error"] == "bad_request"
        client.socket.send(json.dumps({"id": 1, "do": "ping", "x": "y" * 70_000}))
        with pytest.raises(ConnectionClosed) as closed:
            client.receive()
        assert closed.value.rcvd.code == 1009


def test_a_frame_in_fragments_is_one_request(client):
    client.socket.send(['{"id":5,', '"do":', '"ping"}'])
    assert client.receive()["id"] == 5


# Reading and writing


def test_every_way_to_write_is_read_over_rest(server, client):
    rest = lambda path: server.get(f"{path}.json?ns={client.ns}").json
    assert client.ask("set", path="/a", value={"b": [1, 2], "c": "é😀"}) == {"ok": True}
    assert rest("/a") == {"b": [1, 2], "c": "é😀"}
    assert client.ask("update", path="/a", value={"b/0": 5, "c": None, "d/e": True})["ok"]
    assert rest("/a") == {"b": [5, 2], "d": {"e": True}}
    first = client.ask("push", path="/a/list", value="x")["key"]
    second = client.ask("push", path="/a/list", value="y")["key"]
    assert first < second and rest("/a/list") == {first: "x", second: "y"}
    assert client.ask("remove", path="/a/list") == {"ok": True}
    assert rest("/a/list") is None
    assert client.ask("set", path="/a/n", value={".sv": {"increment": 2}})["ok"]
    assert client.ask("set", path="/a/n", value={".sv": {"increment": 3}})["ok"]
    assert client.ask("set", path="/a/t", value={".sv": "timestamp"})["ok"]
    assert rest("/a/n") == 5 and abs(rest("/a/t") - time.time() * 1000) < 60_000


def test_values_come_as_val_gives_them_or_exported(client):
    value = {"list": ["a", None, "c"], "leaf": {".value": 1, ".priority": "p"}, ".priority": 7}
    client.ask("set", path="/a", value=value)
    plain = client.ask("get", path="/a")["value"]
    assert plain == {"leaf": 1, "list": ["a", None, "c"]}
    exported = client.ask("get", path="/a", export=True)["value"]
    assert exported == {**value, "list": {"0": "a", "2": "c"}}
    client.ask("set", path="/a/leaf/.priority", value=3)
    client.ask("remove", path="/a/.priority")
    exported = client.ask("get", path="/a", export=True)["value"]
    assert exported["leaf"] == {".value": 1, ".priority": 3} and ".priority" not in exported
    _, events, _ = client.observe("/a", "value", export=True)
    assert events == [{"event": "value", "value": exported}]


def test_a_set_with_an_etag_is_done_only_while_it_holds(client):
    absent = client.ask("get", path="/a")
    assert absent == {"ok": True, "value": None, "etag": "null_etag"}
    created = client.ask("set", path="/a", value={"n": 1}, ifMatch="null_etag")
    assert created["ok"] and created["etag"] == client.ask("get", path="/a")["etag"]
    stale = client.ask("set", path="/a", value={"n": 9}, ifMatch="null_etag")
    assert stale["error"] == "etag_mismatch" and stale["value"] == {"n": 1}
    assert stale["etag"] == created["etag"]
    # Quoted and weak forms are the same tag, and priorities are part of it.
    assert client.ask("set", path="/a", value={"n": 2}, ifMatch=f'W/"{stale["etag"]}"')["ok"]
    tag = client.ask("get", path="/a")["etag"]
    client.ask("set", path="/a/n/.priority", value=1)
    assert client.ask("remove", path="/a", ifMatch=tag)["error"] == "etag_mismatch"
    tag = client.ask("get", path="/a")["etag"]
    assert client.ask("remove", path="/a", ifMatch=tag) == {"ok": True, "etag": "null_etag"}
    assert client.ask("get", path="/a")["value"] is None


def test_racing_clients_never_lose_a_count(server, client):
    count = 20
    with Events(server.port, ns=client.ns) as other:
        for racer in [client, other] * count:
            seen = {"etag": "stale"}
            while True:
                seen = racer.ask(
                    "set", path="/n", value=(seen.get("value") or 0) + 1, ifMatch=seen["etag"]
                )
                if seen["ok"]:
                    break
    assert client.ask("get", path="/n")["value"] == 2 * count


def test_large_nodes_have_etags_too(client):
    value = {f"k{i:05}": {"n": i} for i in range(5_000)}
    client.ask("set", path="/big", value=value)
    tag = client.ask("get", path="/big")["etag"]
    assert client.ask("set", path="/big/k00000/n", value=-1)["ok"]
    first = client.send("set", path="/big", value=1, ifMatch=tag)
    second = client.send("get", path="/big/k00000")
    stale, _ = client.reply(first)
    # What was asked later is answered later, though the comparison took long.
    assert client.reply(second)[0]["value"] == {"n": -1}
    assert stale["error"] == "etag_mismatch" and stale["value"]["k00000"] == {"n": -1}
    assert client.ask("set", path="/big", value=1, ifMatch=stale["etag"])["ok"]


def test_an_update_of_10_001_paths_is_one_change(server, client):
    with Events(server.port, ns=client.ns) as reader:
        feed, _, _ = reader.observe("/feeds/9999", "childAdded")
        whole, _, _ = reader.observe("/count", "value")
        paths = {f"feeds/{i}/p1": True for i in range(10_000)}
        assert client.ask("update", path="/", value={**paths, "count": 10_000})["ok"]
        got = [reader.receive(), reader.receive()]
        assert {"event": "value", "value": 10_000, "observer": whole} in got
        added = {"event": "childAdded", "key": "p1", "previousKey": None, "value": True}
        assert {**added, "observer": feed} in got


# Observing


def test_first_events_then_the_reply_then_every_change(server, client):
    client.ask("set", path="/m", value={"b": 1, "a": 2})
    observer, first, reply = client.observe("/m", *CHILDREN, "value")
    assert reply == {"ok": True}
    assert brief(first) == [("childAdded", "a", None), ("childAdded", "b", "a"), ("value",)]
    assert first[-1]["value"] == {"a": 2, "b": 1}
    with Events(server.port, ns=client.ns) as writer:
        writer.ask("update", path="/m", value={"a": None, "b": 5, "aa": 7})
    events = client.events(observer, 4)
    assert brief(events) == [
        ("childRemoved", "a", None),
        ("childAdded", "aa", None),
        ("childChanged", "b", "aa"),
        ("value",),
    ]
    assert [event["value"] for event in events] == [2, 7, 5, {"aa": 7, "b": 5}]
    assert "previousKey" not in events[0]


def test_the_writer_hears_its_own_write_before_the_reply(client):
    observer, first, _ = client.observe("/m", "childAdded", "value")
    assert first == [{"event": "value", "value": None}]
    reply, events = client.request("push", path="/m", value="x")
    assert brief([without_observer(event, observer) for event in events]) == [
        ("childAdded", reply["key"], None),
        ("value",),
    ]


def test_only_the_events_asked_for_come(client):
    observers = {name: client.observe("/m", name)[0] for name in [*CHILDREN, "value"]}
    names = {id: name for name, id in observers.items()}
    _, events = client.request("set", path="/m", value={"a": {".value": 1, ".priority": 1}, "b": 2})
    assert {names[event["observer"]] for event in events} == {"childAdded", "value"}
    assert all(names[event["observer"]] == event["event"] for event in events)
    _, events = client.request("set", path="/m/a/.priority", value=2)
    # The value without priorities is the same, but the node is not.
    assert {event["event"] for event in events} == {"childMoved", "childChanged", "value"}
    _, events = client.request("remove", path="/m/a")
    assert {event["event"] for event in events} == {"childRemoved", "value"}


def test_a_write_that_changes_nothing_says_nothing(client):
    client.ask("set", path="/m", value={"a": 1})
    client.observe("/m", *CHILDREN, "value")
    assert client.ask("set", path="/m/a", value=1) == {"ok": True}
    assert client.ask("update", path="/m", value={"b": None}) == {"ok": True}
    assert client.ask("set", path="/elsewhere", value=1) == {"ok": True}


def test_observing_a_leaf(client):
    client.ask("set", path="/leaf", value="x")
    observer, first, _ = client.observe("/leaf", *CHILDREN, "value")
    assert first == [{"event": "value", "value": "x"}]
    _, filtered, _ = client.observe("/leaf", *CHILDREN, "value", query={"limitToFirst": 1})
    assert filtered == [{"event": "value", "value": None}]
    client.ask("unobserve", observer=client.id)
    _, events = client.request("set", path="/leaf", value={"a": 1})
    assert brief([without_observer(event, observer) for event in events]) == [
        ("childAdded", "a", None),
        ("value",),
    ]
    _, events = client.request("set", path="/leaf", value=7)
    assert brief([without_observer(event, observer) for event in events]) == [
        ("childRemoved", "a", None),
        ("value",),
    ]
    assert events[-1]["value"] == 7


def test_changes_deep_below_and_above_are_seen(client):
    observer, _, _ = client.observe("/a/b", *CHILDREN)
    _, events = client.request("set", path="/a/b/c/d/e", value=1)
    assert brief([without_observer(event, observer) for event in events]) == [
        ("childAdded", "c", None)
    ]
    _, events = client.request("set", path="/a/b/c/d/f", value=2)
    assert events[0]["event"] == "childChanged" and events[0]["value"] == {"d": {"e": 1, "f": 2}}
    _, events = client.request("set", path="/", value={"a": {"b": {"z": 1}}})
    assert brief([without_observer(event, observer) for event in events]) == [
        ("childRemoved", "c", None),
        ("childAdded", "z", None),
    ]


@pytest.mark.parametrize(
    "query, steps",
    [
        (
            {"orderByKey": True, "limitToLast": 2},
            [
                ({"a": 1}, [("childAdded", "a", None)]),
                ({"c": 1}, [("childAdded", "c", "a")]),
                ({"b": 1}, [("childRemoved", "a", None), ("childAdded", "b", None)]),
                ({"a": 2}, []),
                ({"c": None}, [("childRemoved", "c", None), ("childAdded", "a", None)]),
                ({"a": None, "b": None}, [("childRemoved", "a", None), ("childRemoved", "b", None)]),
            ],
        ),
        (
            {"orderByChild": "n", "startAt": 2, "limitToFirst": 2},
            [
                ({"a": {"n": 1}}, []),
                ({"b": {"n": 5}, "c": {"n": 3}}, [("childAdded", "c", None), ("childAdded", "b", "c")]),
                ({"d": {"n": 4}}, [("childRemoved", "b", None), ("childAdded", "d", "c")]),
                ({"c/n": 9}, [("childRemoved", "c", None), ("childAdded", "b", "d")]),
                ({"d/n": 6}, [("childMoved", "d", "b"), ("childChanged", "d", "b")]),
                ({"d/x": 1}, [("childChanged", "d", "b")]),
                ({"a/n": 2}, [("childRemoved", "d", None), ("childAdded", "a", None)]),
            ],
        ),
        (
            {"orderByPriority": True},
            [
                ({"b": 1, "a": {".value": 1, ".priority": 5}}, [("childAdded", "b", None), ("childAdded", "a", "b")]),
                ({"b/.priority": 9}, [("childMoved", "b", "a"), ("childChanged", "b", "a")]),
            ],
        ),
        (
            {"orderByValue": True, "equalTo": "x"},
            [
                ({"a": "x", "b": "y"}, [("childAdded", "a", None)]),
                ({"b": "x"}, [("childAdded", "b", "a")]),
                ({"a": {"x": 1}}, [("childRemoved", "a", None)]),
            ],
        ),
    ],
    ids=["window", "child", "priority", "equal"],
)
def test_a_query_is_followed(client, query, steps):
    observer, first, _ = client.observe("/list", *CHILDREN, query=query)
    assert first == []
    for change, expected in steps:
        _, events = client.request("update", path="/list", value=change)
        seen = brief([without_observer(event, observer) for event in events])
        assert seen == expected, change


def test_a_thousand_children_come_in_order_before_the_reply(client):
    value = {f"k{i:04}": {"n": i, "text": "x" * 200} for i in range(1_000)}
    client.ask("set", path="/list", value=value)
    _, first, reply = client.observe("/list", "childAdded", "value")
    assert reply == {"ok": True} and len(first) == 1_001
    keys = [event["key"] for event in first[:-1]]
    assert keys == sorted(value)
    assert [event["previousKey"] for event in first[:-1]] == [None, *keys[:-1]]
    assert first[-1]["value"] == value


def test_a_large_value_comes_whole_and_in_order(server, client):
    value = {f"k{i:06}": {"n": i, "text": "é" * 60} for i in range(40_000)}
    answer = server.put(f"/huge.json?ns={client.ns}&print=silent", value)
    assert answer.status == 204
    observer, first, _ = client.observe("/huge", "value")
    assert first == [{"event": "value", "value": value}]
    # The change of one child sends the whole value again, and the reply behind it.
    reply, events = client.request("set", path="/huge/k000000/n", value=-1)
    value["k000000"]["n"] = -1
    assert reply["ok"] and events == [{"event": "value", "value": value, "observer": observer}]
    assert client.ask("get", path="/huge")["value"] == value


def test_many_large_children_are_no_burst_that_cuts_the_reader(server, client):
    # Far more bytes than may wait for one connection, in few children.
    value = {f"k{i:02}": "é" * 250_000 for i in range(40)}
    for key in value:
        client.ask("set", path=f"/photos/{key}", value=value[key])
    observer, first, reply = client.observe("/photos", "childAdded", "value")
    assert reply["ok"] and len(first) == 41
    assert {event["key"]: event["value"] for event in first[:-1]} == value
    assert first[-1]["value"] == value
    # The same in one change: what one request may hold is more than the queue may.
    change = {key: "x" * 240_000 for key in value}
    reply, events = client.request("update", path="/photos", value={**change, "k00": None})
    assert reply["ok"] and events[-1]["value"] == {key: change[key] for key in sorted(change)[1:]}
    change = {f"n{i:02}": "y" * 240_000 for i in range(40)}
    with Events(server.port, ns=client.ns) as writer:
        assert writer.ask("update", path="/photos", value=change)["ok"]
    added = client.events(observer, 41)
    assert {event["key"]: event["value"] for event in added[:-1]} == change


def test_ids_are_free_again_when_the_observer_is_gone(client):
    observer, _, _ = client.observe("/a", "value")
    client.socket.send(
        json.dumps({"id": observer, "do": "observe", "path": "/b", "events": ["value"]})
    )
    reply = client.receive()
    assert reply["id"] == observer and reply["error"] == "id_in_use"
    _, events = client.request("set", path="/a", value=1)
    assert len(events) == 1
    assert client.ask("unobserve", observer=observer) == {"ok": True}
    assert client.ask("set", path="/a", value=2) == {"ok": True}
    assert client.ask("unobserve", observer=observer)["error"] == "unknown_observer"
    client.socket.send(
        json.dumps({"id": observer, "do": "observe", "path": "/b", "events": ["value"]})
    )
    assert client.receive()["observer"] == observer and client.receive()["ok"]


def test_many_observers_of_the_same_get_the_same(server, client):
    readers = [Events(server.port, ns=client.ns) for _ in range(20)]
    try:
        ids = []
        for number, reader in enumerate(readers):
            # Ids of 1 to 19 digits.
            reader.id = 10 ** min(number, 18)
            ids.append(reader.observe("/m", "childAdded")[0])
        text = "é" * 12_000
        for value in ["small", text]:
            key = client.ask("push", path="/m", value=value)["key"]
            for reader, id in zip(readers, ids):
                event = reader.receive()
                assert event["observer"] == id and event["key"] == key and event["value"] == value
    finally:
        for reader in readers:
            reader.close()


# Who may


def test_lost_permission_cancels_once(server, client):
    put_rules(server, client.ns, {"a": {".read": "data.parent().child('open').val() == true"}})
    assert server.put(f"/open.json?ns={client.ns}", True, headers=OWNER).status == 200
    observer, first, reply = client.observe("/a", "value", "childAdded")
    assert reply["ok"] and len(first) == 1
    assert server.put(f"/open.json?ns={client.ns}", False, headers=OWNER).status == 200
    cancelled = client.events(observer, 1)[0]
    assert (cancelled["event"], cancelled["error"]) == ("cancelled", "permission_denied")
    assert cancelled["message"]
    assert server.put(f"/a.json?ns={client.ns}", 1, headers=OWNER).status == 200
    assert client.ask("unobserve", observer=observer)["error"] == "unknown_observer"
    assert client.ask("get", path="/a")["error"] == "permission_denied"


def test_rules_decide_by_the_user_of_the_connection(server, client):
    rules = {"u": {"$u": {".read": "auth.uid == $u", ".write": "auth.uid == $u"}}}
    put_rules(server, client.ns, rules)
    for request in [
        ("get", {"path": "/u/ann"}),
        ("set", {"path": "/u/ann", "value": 1}),
        ("remove", {"path": "/u/ann"}),
        ("push", {"path": "/u/ann", "value": 1}),
        ("update", {"path": "/u", "value": {"ann": 1}}),
        ("observe", {"path": "/u/ann", "events": ["value"]}),
        ("onDisconnect", {"path": "/u/ann", "value": 1}),
        ("set", {"path": "/u/ann", "value": 1, "ifMatch": "null_etag"}),
    ]:
        refused = client.ask(request[0], **request[1])
        assert refused["ok"] is False and refused["error"] == "permission_denied", request
        assert set(refused) == {"ok", "error", "message"}
    assert client.ask("auth", token=unsigned("ann")) == {"ok": True, "uid": "ann"}
    assert client.ask("set", path="/u/ann", value=1)["ok"]
    observer, _, reply = client.observe("/u/ann", "value")
    assert reply["ok"]
    # A bad token leaves things as they are.
    assert client.ask("auth", token="nonsense")["error"] == "invalid_token"
    assert client.ask("get", path="/u/ann")["value"] == 1
    _, events = client.request("auth", token=unsigned("bob"))
    assert [event["event"] for event in events] == ["cancelled"]
    assert events[0]["observer"] == observer
    assert client.ask("get", path="/u/ann")["error"] == "permission_denied"
    assert client.ask("auth", token="owner") == {"ok": True, "uid": None}
    assert client.ask("get", path="/u/ann")["ok"]
    assert client.ask("unauth") == {"ok": True}
    assert client.ask("get", path="/u/ann")["error"] == "permission_denied"


def test_an_expired_token_is_revoked_and_the_connection_goes_on(tmp_path):
    key = RSAKey("rsa-1")
    (tmp_path / "keys.json").write_text(jwks(key))
    (tmp_path / "rules.json").write_text('{"rules":{".read":"auth.uid == \'ann\'"}}')
    flags = ["--rules", str(tmp_path / "rules.json"), "--jwks", str(tmp_path / "keys.json")]
    flags += ["--token-issuer", ISSUER, "--token-audience", AUDIENCE]
    with Hearth(*flags, dev=False, data=tmp_path / "data") as server:
        with Events(server.port, ns="default") as client:
            old = token(key, claims("ann", lifetime=-3600))
            assert client.ask("auth", token=old)["error"] == "expired_token"
            soon = token(key, claims("ann", lifetime=8))
            assert client.ask("auth", token=soon) == {"ok": True, "uid": "ann"}
            observer, _, reply = client.observe("/a", "value")
            assert reply["ok"]
            pair = [client.receive(), client.receive()]
            revoked = next(event for event in pair if event["event"] == "authRevoked")
            assert revoked["error"] == "expired_token" and revoked["message"]
            cancelled = next(event for event in pair if event["event"] == "cancelled")
            assert cancelled["observer"] == observer and cancelled["error"] == "permission_denied"
            assert client.ask("get", path="/a")["error"] == "permission_denied"
            assert client.ask("auth", token=token(key, claims("ann")))["ok"]
            assert client.ask("get", path="/a")["ok"]


def test_a_mismatch_shows_nothing_to_those_who_may_not_read(server, client):
    put_rules(server, client.ns, {"a": {".write": True}})
    assert client.ask("set", path="/a", value="secret")["ok"]
    refused = client.ask("set", path="/a", value=1, ifMatch="null_etag")
    assert refused["error"] == "permission_denied" and "secret" not in json.dumps(refused)
    assert set(refused) == {"ok", "error", "message"}
    put_rules(server, client.ns, {"a": {".read": True, ".write": "newData.val() == 2"}})
    assert client.ask("set", path="/a", value=1, ifMatch="x")["error"] == "permission_denied"
    assert client.ask("set", path="/a", value=2, ifMatch="x")["error"] == "etag_mismatch"


def test_an_index_makes_a_get_legal_and_silences_the_warning(server, client):
    query = {"orderByChild": "n", "limitToFirst": 1}
    client.ask("set", path="/list", value={"a": {"n": 2}, "b": {"n": 1}})
    refused = client.ask("get", path="/list", query=query)
    assert refused["error"] == "index_not_defined" and '".indexOn": "n"' in refused["message"]
    assert client.observe("/list", "value", query=query)[2] == {"ok": True, "warning": "no_index"}
    put_rules(server, client.ns, {".read": True, "list": {".indexOn": ["n"]}})
    assert client.ask("get", path="/list", query=query) == {"ok": True, "value": {"b": {"n": 1}}}
    assert client.observe("/list", "value", query=query)[2] == {"ok": True}


# The end of a connection


def test_on_disconnect_writes_are_done_when_the_connection_ends(server, client):
    watcher, _, _ = client.observe("/status", "value")
    leaver = Events(server.port, ns=client.ns)
    assert leaver.ask("onDisconnect", path="/status/ann", value={"at": {".sv": "timestamp"}})["ok"]
    assert leaver.ask("onDisconnect", path="/", update={"status/bob": 1, "status/cid": 2})["ok"]
    assert leaver.ask("onDisconnect", path="/status/dan", value=3)["ok"]
    assert leaver.ask("onDisconnect", path="/status/cid", cancel=True)["ok"]
    leaver.close()
    event = client.events(watcher, 1)[0]
    assert set(event["value"]) == {"ann", "bob", "dan"}
    assert isinstance(event["value"]["ann"]["at"], int)


def test_on_disconnect_writes_survive_a_kill(durable):
    with Events(durable.port) as client:
        assert client.ask("onDisconnect", path="/status", value="gone")["ok"]
        durable.kill()
    durable.process.stdout.close()
    durable.start()
    assert durable.get("/status.json?ns=demo").json == "gone"


# Errors


def test_every_bad_request_has_its_code_and_changes_nothing(client):
    client.ask("set", path="/a", value={"b": 1})
    before = client.ask("get", path="/")
    deep = "/k" * 33
    for code, do, members in [
        ("unknown_request", "watch", {}),
        ("bad_request", "set", {"path": "/a"}),
        ("bad_request", "set", {"path": "/a", "value": 1, "valeu": 1}),
        ("bad_path", "set", {"path": "/a.b", "value": 1}),
        ("bad_path", "update", {"path": "/", "value": {"a": 1, "a/b": 1}}),
        ("bad_path", "get", {"path": "/a/.priority"}),
        ("bad_value", "set", {"path": "/a", "value": {"b.c": 1}}),
        ("bad_value", "set", {"path": "/a", "value": {".sv": "later"}}),
        ("too_deep", "set", {"path": deep, "value": 1}),
        ("too_deep", "push", {"path": "/k" * 32, "value": 1}),
        ("bad_query", "get", {"path": "/a", "query": {"limitToFirst": 0}}),
        ("bad_query", "observe", {"path": "/a", "events": ["value"], "query": {"startAt": [1]}}),
        ("bad_request", "observe", {"path": "/a", "events": []}),
        ("bad_request", "observe", {"path": "/a", "events": ["valeu"]}),
        ("unknown_observer", "unobserve", {"observer": 77}),
        ("etag_mismatch", "remove", {"path": "/a", "ifMatch": "x"}),
        ("invalid_token", "auth", {"token": "x"}),
    ]:
        reply = client.ask(do, **members)
        assert reply["ok"] is False and reply["error"] == code and reply["message"], (do, reply)
    assert client.ask("get", path="/") == before


def test_limits_are_refused_and_the_connection_goes_on(client):
    paths = {f"p/{i}": 1 for i in range(100_001)}
    assert client.ask("update", path="/", value=paths)["error"] == "too_many_writes"
    for number in range(1_000):
        client.send("onDisconnect", path=f"/o/{number}", value=1)
    refused = client.send("onDisconnect", path="/o/last", value=1)
    for id in range(refused - 1_000, refused):
        assert client.reply(id)[0] == {"ok": True}
    assert client.reply(refused)[0]["error"] == "too_many_writes"
    assert client.ask("get", path="/p")["value"] is None


def test_one_observer_more_than_there_may_be(client):
    first = client.id + 1
    for _ in range(10_001):
        client.send("observe", path="/a", events=["childAdded"])
    replies = [client.reply(id)[0] for id in range(first, first + 10_001)]
    assert all(reply == {"ok": True} for reply in replies[:-1])
    assert replies[-1]["error"] == "too_many_observers"
    assert client.ask("unobserve", observer=first)["ok"]
    assert client.observe("/a", "childAdded")[2] == {"ok": True}


def test_a_value_over_the_limit_is_refused_or_closes():
    with Hearth("--max-response", str(1 << 20)) as server, Events(server.port) as client:
        value = {f"k{i}": "x" * 100 for i in range(20_000)}
        assert client.ask("set", path="/big", value=value)["ok"]
        assert client.ask("get", path="/big")["error"] == "too_big"
        assert client.ask("get", path="/big/k1")["value"] == "x" * 100
    # As a value of its own, and at the end of a long run of events.
    for shape in [{"a": {"b": value}}, value]:
        with Hearth("--max-response", str(1 << 20)) as server, Events(server.port) as client:
            assert client.ask("set", path="/big", value=shape)["ok"]
            assert client.observe("/big", "value")[1] == []
            with pytest.raises(ConnectionClosed) as closed:
                client.receive()
            assert closed.value.rcvd.code == 1009


def test_both_protocols_and_rest_see_the_same(server, client):
    observer, _, _ = client.observe("/room", "childAdded", "childRemoved")
    with Wire(server.port, ns=client.ns) as wire:
        wire.request("q", p="/room", h="")
        wire.request("p", p="/room/a", d=1)
        assert brief(client.events(observer, 1)) == [("childAdded", "a", None)]
        assert server.request("DELETE", f"/room/a.json?ns={client.ns}").status == 200
        assert brief(client.events(observer, 1)) == [("childRemoved", "a", None)]
        client.request("set", path="/room/b", value=2)
        assert wire.push()["b"] == {"p": "room/a", "d": None}
        assert wire.push()["b"] == {"p": "room/b", "d": 2}
