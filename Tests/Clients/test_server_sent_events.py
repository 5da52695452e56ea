"""Event streams: what a reader receives, when it is refused, and what it can cost."""

import json
import signal
import threading
from pathlib import Path

import firebase_admin
import pytest
import requests
from firebase_admin import db

from hearth_server import Hearth
from signing import claims, token, unsigned
from stream_client import Stream, Tree, without_arrays
from test_tokens import RSA, production
from vocabulary import drawn

OWNER = {"Authorization": "Bearer owner"}


def set_rules(server, rules):
    answer = server.put("/.settings/rules.json?ns=demo", {"rules": rules}, headers=OWNER)
    assert answer.status == 200, answer.text


def test_the_answer_begins_as_readers_expect(dev):
    dev.put("/a.json?ns=demo", {"é": "😀", "n": [1, 2]})
    with Stream(dev.port, "/a.json?ns=demo") as stream:
        assert stream.status == 200
        assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert stream.headers["cache-control"] == "no-cache"
        assert stream.headers["transfer-encoding"] == "chunked"
        assert "content-length" not in stream.headers and "content-encoding" not in stream.headers
        assert stream.raw() == 'event: put\ndata: {"path":"/","data":{"n":[1,2],"é":"😀"}}'


@pytest.mark.parametrize(
    "accept",
    [
        "text/event-stream",
        "application/json, Text/Event-Stream;q=0.5, */*;q=0.1",
        "text/event-stream ; charset=utf-8",
    ],
)
def test_the_type_may_be_one_of_several(dev, accept):
    headers = {"Last-Event-ID": "7", "Cache-Control": "no-cache", "Accept-Encoding": "gzip"}
    with Stream(dev.port, "/a.json?ns=demo", accept, headers=headers) as stream:
        assert stream.status == 200 and "content-encoding" not in stream.headers
        assert stream.event() == ("put", "/", None)


@pytest.mark.parametrize("accept", ["*/*", "text/*", "text/event-stream;q=0", "text/event-streams"])
def test_any_other_type_gets_the_value_once(dev, accept):
    with Stream(dev.port, "/a.json?ns=demo", accept) as stream:
        assert stream.headers["content-type"] == "application/json; charset=utf-8"
        assert stream.body() == b"null"


def test_head_tells_the_headers_alone(dev):
    with Stream(dev.port, "/a.json?ns=demo", method="HEAD") as stream:
        assert stream.status == 200
        assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert metric(dev, "hearth_event_streams") == 0


def test_http_10_reads_until_the_end(dev):
    with Stream(dev.port, "/a.json?ns=demo", version="1.0") as stream:
        assert "transfer-encoding" not in stream.headers
        assert stream.event() == ("put", "/", None)
        dev.put("/a/b.json?ns=demo", 1)
        assert stream.event() == ("put", "/b", 1)


def test_what_comes_behind_the_request_does_no_harm(dev):
    behind = "GET /a.json?ns=demo HTTP/1.1\r\nHost: h\r\n\r\n" * 3_000
    with Stream(dev.port, "/a.json?ns=demo", behind=behind) as stream:
        assert stream.event() == ("put", "/", None)
        dev.put("/a.json?ns=demo", 1)
        assert stream.event() == ("put", "/", 1)


def test_a_page_of_another_origin_may_read_it(dev):
    origin = f"http://127.0.0.1:{dev.port}"
    with Stream(dev.port, "/a.json?ns=demo", headers={"Origin": origin}) as stream:
        assert stream.headers["access-control-allow-origin"] == origin
    with Stream(dev.port, "/a.json?ns=demo", headers={"Origin": "https://evil.example"}) as stream:
        assert stream.status == 403


# Writes, and what a reader of /a then receives; nothing else comes in between.
EVENTS = [
    ("PUT", "/a/b/c", {"x": [1, None, 3]}, [("put", "/b/c", {"x": [1, None, 3]})]),
    ("PUT", "/a/b/c/x", None, [("put", "/b/c/x", None)]),
    ("PUT", "/a", "tea", [("put", "/", "tea")]),
    ("DELETE", "/a", None, [("put", "/", None)]),
    ("PUT", "/b", 1, []),
    ("PUT", "/", {"a": {"k": 1}, "b": 2}, [("put", "/", {"k": 1})]),
    ("PUT", "/", {"a": {"k": 1}, "b": 3}, []),
    ("PATCH", "/a", {"l": 2, "m/n": 3}, [("patch", "/", {"l": 2, "m/n": 3})]),
    ("PATCH", "/a/m", {"n": None, "o": 4}, [("patch", "/m", {"n": None, "o": 4})]),
    ("PATCH", "/", {"a/l": 5, "a/p/q": 6, "b": 7}, [("patch", "/", {"l": 5, "p/q": 6})]),
    ("PATCH", "/", {"a": {"z": 1}, "b": 8}, [("put", "/", {"z": 1})]),
    ("PATCH", "/", {"a": {"z": 1}, "b": 9}, []),
    ("PUT", "/a/z/.priority", 5, []),
    ("PUT", "/a/{b c}", '"\\\u2028\n', [("put", "/{b c}", '"\\\u2028\n')]),
    ("PUT", "/a/t", {".sv": {"increment": 2}}, [("put", "/t", 2)]),
]


def test_each_write_is_reported_as_it_was_made(dev):
    with Stream(dev.port, "/a.json?ns=demo") as stream:
        assert stream.event() == ("put", "/", None)
        for method, path, body, received in EVENTS:
            target = f"{requests.utils.quote(path)}/.json?ns=demo"
            if path.endswith(".priority"):
                target = f"{path}.json?ns=demo"
            raw = None if method == "DELETE" else json.dumps(body).encode()
            answer = dev.request(method, target, raw=raw)
            assert answer.status == 200, answer.text
            # What should not have been sent would stand before the next.
            assert stream.events(len(received)) == received, (method, path, body)
        dev.put("/a/mark.json?ns=demo", 1)
        assert stream.event() == ("put", "/mark", 1)


def test_a_push_is_a_put_of_the_child(dev):
    with Stream(dev.port, "/l.json?ns=demo") as stream:
        stream.event()
        key = dev.request("POST", "/l.json?ns=demo", {"n": 1}).json["name"]
        assert stream.event() == ("put", f"/{key}", {"n": 1})


def test_export_tells_priorities(dev):
    dev.put("/a.json?ns=demo", {"b": {".value": 1, ".priority": 2}})
    with Stream(dev.port, "/a.json?ns=demo&format=export") as stream:
        assert stream.event() == ("put", "/", {"b": {".value": 1, ".priority": 2}})
        dev.put("/a/b/.priority.json?ns=demo", 3)
        assert stream.event() == ("put", "/b", {".value": 1, ".priority": 3})


def test_a_window_shows_what_enters_and_leaves(dev):
    dev.put("/l.json?ns=demo", {"a": 1, "b": 2, "c": 3})
    query = "orderBy=%22%24key%22&limitToLast=2"
    with Stream(dev.port, f"/l.json?ns=demo&{query}") as stream:
        assert stream.event() == ("put", "/", {"b": 2, "c": 3})
        dev.put("/l/d.json?ns=demo", 4)
        assert stream.events(2) == [("put", "/b", None), ("put", "/d", 4)]
        dev.put("/l/a.json?ns=demo", 5)
        dev.request("DELETE", "/l/c.json?ns=demo")
        assert stream.events(2) == [("put", "/c", None), ("put", "/b", 2)]
        dev.request("PATCH", "/l.json?ns=demo", {"x": 1, "y": 2})
        assert stream.event() == ("patch", "/", {"b": None, "d": None, "x": 1, "y": 2})


@pytest.mark.parametrize(
    "query, text",
    [
        ("orderBy=%22h%22&limitToFirst=1", 'Index not defined, add ".indexOn": "h", for path "/a", to the rules'),
        ("limitToFirst=1", "orderBy must be defined when other query parameters are defined"),
        ("orderBy=h", "orderBy must be a valid JSON encoded path"),
        ("shallow=true", "Mixing 'shallow' and event streams is not supported"),
    ],
)
def test_a_bad_query_is_refused_as_for_a_read(dev, query, text):
    with Stream(dev.port, f"/a.json?ns=demo&{query}") as stream:
        assert stream.status == 400
        assert json.loads(stream.body()) == {"error": text}


def test_a_reader_ends_with_what_there_is(dev):
    """Two readers, one of a window, keep up with random writes of several clients."""
    chance = drawn()
    window = "orderBy=%22%24key%22&limitToFirst=4"
    with (
        Stream(dev.port, "/t.json?ns=demo") as whole,
        Stream(dev.port, f"/t.json?ns=demo&{window}") as first,
    ):
        session = requests.Session()
        url = f"http://127.0.0.1:{dev.port}"
        keys = ["a", "b", "c", "d", "e", "0", "1", "2"]
        for _ in range(300):
            path = "/".join(chance.choices(keys, k=chance.randint(0, 3)))
            value = chance.choice([None, 1, True, "x", [1, 2], {"a": 1}, {"b": {"c": 2}, "0": 3}])
            if chance.random() < 0.2:
                body = {key: value for key in chance.sample(keys, 3)}
                answer = session.patch(f"{url}/t/{path}.json?ns=demo", json=body)
            else:
                answer = session.put(f"{url}/t/{path}.json?ns=demo", data=json.dumps(value))
            assert answer.status_code == 200, answer.text
        session.put(f"{url}/t/00end.json?ns=demo", data="1")
        session.put(f"{url}/t/0.json?ns=demo", data='"end"')
        for stream, query in [(whole, ""), (first, window)]:
            right = without_arrays(session.get(f"{url}/t.json?ns=demo&{query}").json())
            tree = Tree()
            while not isinstance(tree.value, dict) or tree.value.get("0") != "end":
                tree.apply(*stream.event())
            assert tree.value == right


# MARK: Who may read, and for how long


def test_denied_at_the_start_is_an_ordinary_answer(dev):
    set_rules(dev, {"open": {".read": True}})
    with Stream(dev.port, "/shut.json?ns=demo") as stream:
        assert stream.status == 401
        assert stream.headers["content-type"] == "application/json; charset=utf-8"
        assert stream.body() == b'{\n  "error" : "Permission denied"\n}\n'
    with Stream(dev.port, "/shut.json?ns=demo&auth=nonsense") as stream:
        assert stream.status == 401 and b"error" in stream.body()
    with Stream(dev.port, "/shut.json?ns=demo", headers=OWNER) as stream:
        assert stream.event() == ("put", "/", None)
    assert metric(dev, "hearth_event_streams_total") == 1


def test_a_stream_has_no_time_limit_once_it_has_begun(dev):
    with Stream(dev.port, "/a.json?ns=demo&timeout=1ms") as stream:
        assert stream.event() == ("put", "/", None)
        for number in range(100):
            dev.put("/a.json?ns=demo", number)
            assert stream.event() == ("put", "/", number)


def test_an_unknown_database_is_not_found(tmp_path):
    with Hearth(dev=False, data=tmp_path / "data") as server:
        with Stream(server.port, "/a.json?ns=missing") as stream:
            assert stream.status == 404


def test_the_override_reads_as_another_user(dev):
    set_rules(dev, {"$u": {".read": "auth.uid == $u"}})
    for uid, status in [("ann", 200), ("bob", 401)]:
        override = requests.utils.quote(json.dumps({"uid": uid}))
        target = f"/ann.json?ns=demo&access_token=owner&auth_variable_override={override}"
        with Stream(dev.port, target) as stream:
            assert stream.status == status


def test_new_rules_cancel_a_stream(dev):
    with Stream(dev.port, "/a.json?ns=demo") as stream:
        stream.event()
        set_rules(dev, {".read": False})
        assert stream.next() == ("cancel", "null")
        assert stream.next() is None
        assert stream.socket.recv(1) == b""


def test_data_that_the_rule_looks_at_cancels_a_stream(dev):
    set_rules(dev, {".write": True, "a": {".read": "root.child('ok').val() == true"}})
    dev.put("/ok.json?ns=demo", True)
    with Stream(dev.port, "/a.json?ns=demo") as stream:
        stream.event()
        # The update that takes the right away is not shown any more.
        dev.request("PATCH", "/.json?ns=demo", {"ok": False, "a/secret": 1})
        assert stream.next() == ("cancel", "null")
        assert stream.next() is None
    assert dev.get("/.health/live").status == 200


def test_a_token_that_runs_out_ends_the_stream(tmp_path):
    with production(tmp_path) as server:
        signed = token(RSA, claims("ann", lifetime=8))
        with Stream(server.port, f"/u/ann.json?auth={signed}") as stream:
            assert stream.event() == ("put", "/", None)
            # Bare words: that is what SDKs compare.
            assert stream.next() == ("auth_revoked", "credential is no longer valid")
            assert stream.next() is None
        with Stream(server.port, f"/u/ann.json?auth={signed}") as stream:
            assert stream.status == 401


def test_an_unsigned_token_lasts_in_development(dev):
    set_rules(dev, {"u": {"$u": {".read": "auth.uid == $u", ".write": True}}})
    mock = unsigned({"sub": "ann", "iat": 0, "exp": 3600})
    with Stream(dev.port, f"/u/ann.json?ns=demo&auth={mock}") as stream:
        assert stream.event() == ("put", "/", None)
        dev.put("/u/ann.json?ns=demo", 1, headers=OWNER)
        assert stream.event() == ("put", "/", 1)


# MARK: What goes on beside the events


def metric(server, name):
    text = server.get("/.metrics", headers=OWNER).text
    return float(next(line.split()[1] for line in text.splitlines() if line.startswith(name + " ")))


def test_streams_are_reported_that_they_are_alive():
    with Hearth("--keep-alive-interval", "1s") as server:
        streams = [Stream(server.port, f"/a{n}.json?ns=demo") for n in range(50)]
        for stream in streams:
            stream.event()
        assert metric(server, "hearth_event_streams") == 50
        for stream in streams:
            assert [stream.raw() for _ in range(2)] == ["event: keep-alive\ndata: null"] * 2
            stream.close()


def test_a_reader_that_leaves_is_forgotten(dev):
    for _ in range(20):
        with Stream(dev.port, "/a.json?ns=demo") as stream:
            stream.event()
    # Each answer comes a tick of the loop later at least.
    assert any(metric(dev, "hearth_event_streams") == 0 for _ in range(1_000))
    assert metric(dev, 'hearth_listens{database="demo"}') == 0


def test_streams_end_with_the_server(dev):
    with Stream(dev.port, "/a.json?ns=demo") as stream:
        stream.event()
        dev.process.send_signal(signal.SIGTERM)
        assert stream.next() is None
    assert dev.stop() == 0


def test_a_slow_reader_is_cut_and_others_are_not(tmp_path):
    with Hearth("--queue-limit", "1MiB", log=tmp_path / "log") as server:
        with (
            Stream(server.port, "/a.json?ns=demo", receive_buffer=4096) as slow,
            Stream(server.port, "/a.json?ns=demo") as quick,
        ):
            slow.event()
            quick.event()
            text = "x" * 200_000
            for number in range(60):
                server.put("/a.json?ns=demo&print=silent", f"{number}{text}")
                assert quick.event() == ("put", "/", f"{number}{text}")
            server.await_log("cut an event stream that is read too slowly")
            assert metric(server, "hearth_transport_slow_readers_total") == 1
            assert metric(server, "hearth_event_streams") == 1


def resident(server):
    """Bytes of memory that the server holds."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


@pytest.mark.release
def test_a_first_value_of_100_megabytes_is_made_as_it_is_read(dev):
    # An unprintable character is one byte of the tree and six of the text.
    body = json.dumps({f"k{n:02}": "\x01" * 65_536 for n in range(20)}).encode()
    count = 13
    for number in range(count):
        answer = dev.request("PUT", f"/big/c{number:02}.json?ns=demo&print=silent", raw=body)
        assert answer.status == 204, answer.text
    before = resident(dev)
    with Stream(dev.port, "/big.json?ns=demo") as stream:
        # A write meanwhile comes behind it, and shows in nothing that comes before.
        dev.put("/big/c12/k00.json?ns=demo", 1)
        size, end, greatest = 0, b"", 0
        while b"\n\n" not in end:
            assert stream.more()
            size += len(stream.text)
            end, stream.text = end[-1:] + stream.text, b""
            greatest = max(greatest, resident(dev))
        first, stream.text = end.split(b"\n\n", 1)
        assert size - len(stream.text) > count * 20 * 6 * 65_536 > 100_000_000
        assert greatest - before < 30_000_000, greatest - before
        assert stream.event() == ("put", "/c12/k00", 1)


def test_a_value_too_large_to_be_sent_ends_the_stream(tmp_path):
    with Hearth("--max-response", "64KiB", log=tmp_path / "log") as server:
        child = {f"k{n}": "x" * 20 for n in range(5_000)}
        with Stream(server.port, "/a.json?ns=demo") as stream:
            stream.event()
            server.put("/a.json?ns=demo&print=silent", child)
            assert stream.next() == ("cancel", "null")
            assert stream.next() is None
        server.await_log("ended an event stream whose value cannot be sent")


# MARK: The Admin SDK


@pytest.fixture
def app(monkeypatch):
    with Hearth("--keep-alive-interval", "1s") as server:
        monkeypatch.setenv("FIREBASE_DATABASE_EMULATOR_HOST", f"127.0.0.1:{server.port}")
        app = firebase_admin.initialize_app(
            options={"databaseURL": "https://demo.firebaseio.com", "projectId": "demo"},
            name=f"listen-{server.port}",
        )
        yield app
        firebase_admin.delete_app(app)


# Its reader falls over its own closed connection.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_admin_sdk_listens(app):
    """PyPI's firebase-admin, unchanged."""
    events, arrived = [], threading.Semaphore(0)

    def received(event):
        events.append((event.event_type, event.path, event.data))
        arrived.release()

    reference = db.reference("chat", app=app)
    reference.set({"topic": "té"})
    registration = reference.listen(received)
    assert arrived.acquire(timeout=120)
    db.reference("chat/users/ann", app=app).set("")
    assert arrived.acquire(timeout=120)
    reference.update({"topic": "😀", "users/bob": 1})
    assert arrived.acquire(timeout=120)
    # Its reader wakes at the next byte only: a keep-alive.
    registration.close()
    assert events == [
        ("put", "/", {"topic": "té"}),
        ("put", "/users/ann", ""),
        ("patch", "/", {"topic": "😀", "users/bob": 1}),
    ]
