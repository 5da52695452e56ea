"""PyPI's Pyrebase4, which names no database: it is served the default one."""

import queue
from contextlib import contextmanager

import pyrebase
import pytest
from requests.exceptions import HTTPError

from hearth_server import Hearth
from signing import unsigned

OWNER = {"Authorization": "Bearer owner"}
RULES = {
    ".read": True,
    ".write": True,
    "users": {".indexOn": ["age", "name"]},
    "scores": {".indexOn": ".value"},
    "private": {"$u": {".read": "auth.uid == $u", ".write": "auth.uid == $u"}},
}
OPEN_BUT_PRIVATE = {key: value for key, value in RULES.items() if not key.startswith(".")} | {
    "users": {".read": True, ".write": True},
}
USERS = {
    "ann": {"name": "Ann", "age": 30},
    "bob": {"name": "Bob", "age": 25},
    "cid": {"name": "Cid", "age": 41},
}
ANN = unsigned({"sub": "ann", "user_id": "ann"})


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


@pytest.fixture
def database(server):
    put_rules(server, RULES)
    server.request("DELETE", "/.json", headers=OWNER)
    yield connect(server)


def put_rules(server, rules):
    answer = server.put("/.settings/rules.json", {"rules": rules}, headers=OWNER)
    assert answer.json == {"status": "ok"}, answer.text


def connect(server):
    return pyrebase.initialize_app(
        {
            "apiKey": "any",
            "authDomain": "demo.example",
            "databaseURL": f"http://127.0.0.1:{server.port}",
            "storageBucket": "demo.example",
        }
    ).database()


def keys(response):
    return [item.key() for item in response.each()]


def test_what_it_writes_is_in_the_default_database(server, database):
    database.child("users").child("ann").set(USERS["ann"])
    assert server.get("/users/ann.json?ns=default").json == USERS["ann"]


def test_set_get_push_update_remove(database):
    assert database.child("users").set(USERS) == USERS
    assert dict(database.child("users").get().val()) == USERS
    assert database.child("users", "ann", "age").get().val() == 30
    name = database.child("list").push({"text": "é😀"})["name"]
    assert database.child("list").child(name).get().val() == {"text": "é😀"}
    assert database.child("users").child("ann").update({"age": 31, "city": "Oslo"}) == {
        "age": 31,
        "city": "Oslo",
    }
    assert database.child("users/ann").get().val() == {"name": "Ann", "age": 31, "city": "Oslo"}
    assert database.child("users").child("bob").remove() is None
    assert keys(database.child("users").get()) == ["ann", "cid"]
    assert database.child("users").child("bob").get().val() is None


def test_a_write_at_several_paths_at_once(database):
    database.update({"users/ann/age": 1, "index/1/ann": True, "none": None})
    assert database.child("users/ann/age").get().val() == 1
    # Children 0 and 1 of a list: 0 is not there.
    assert database.child("index").get().val() == [None, {"ann": True}]


def test_names_that_the_client_makes_sort_before_those_made_later(database):
    first = database.generate_key()
    database.child("list").child(first).set(1)
    second = database.child("list").push(2)["name"]
    assert keys(database.child("list").order_by_key().get()) == sorted([first, second])


def test_shallow(database):
    database.child("users").set(USERS)
    assert sorted(database.child("users").shallow().get().val()) == ["ann", "bob", "cid"]


def test_order_by_child(database):
    database.child("users").set(USERS)

    def query():
        return database.child("users").order_by_child("age")

    assert keys(query().get()) == ["bob", "ann", "cid"]
    assert keys(query().limit_to_first(1).get()) == ["bob"]
    assert keys(query().limit_to_last(2).get()) == ["ann", "cid"]
    assert keys(query().start_at(26).get()) == ["ann", "cid"]
    assert keys(query().end_at(30).get()) == ["bob", "ann"]
    assert keys(query().start_at(26).end_at(40).get()) == ["ann"]
    assert keys(query().equal_to(41).get()) == ["cid"]
    assert keys(database.child("users").order_by_child("name").equal_to("Bob").get()) == ["bob"]


def test_order_by_key(database):
    database.child("users").set(USERS)
    assert keys(database.child("users").order_by_key().get()) == ["ann", "bob", "cid"]
    assert keys(database.child("users").order_by_key().start_at("b").limit_to_first(1).get()) == [
        "bob"
    ]
    assert keys(database.child("users").order_by_key().equal_to("cid").get()) == ["cid"]


def test_order_by_value(database):
    database.child("scores").set({"ann": 60, "bob": 100, "cid": 70})
    assert keys(database.child("scores").order_by_value().get()) == ["ann", "cid", "bob"]
    assert keys(database.child("scores").order_by_value().limit_to_last(1).get()) == ["bob"]


def test_a_query_without_an_index_is_an_error_in_words(database):
    with pytest.raises(HTTPError) as refusal:
        database.child("others").order_by_child("age").get()
    assert "Index not defined" in refusal.value.args[1]


def test_conditional_set_and_remove(database):
    database.child("users/ann").set(USERS["ann"])
    tagged = database.child("users/ann").get_etag()
    assert tagged["value"] == USERS["ann"]
    assert database.child("users/ann").conditional_set("new", tagged["ETag"]) == "new"
    stale = database.child("users/ann").conditional_set("newer", tagged["ETag"])
    assert stale["value"] == "new" and stale["ETag"] != tagged["ETag"]
    assert database.child("users/ann").conditional_remove(tagged["ETag"])["value"] == "new"
    assert database.child("users/ann").conditional_remove(stale["ETag"]) is None
    assert database.child("users/ann").get().val() is None
    assert database.child("users/ann").conditional_set(1, "null_etag") == 1


def test_a_token_is_its_user(server, database):
    put_rules(server, OPEN_BUT_PRIVATE)
    database.child("private/ann").set({"a": 1}, ANN)
    assert database.child("private/ann").get(ANN).val() == {"a": 1}
    assert database.child("private/ann").update({"b": 2}, ANN) == {"b": 2}
    assert len(database.child("private/ann").push(3, ANN)["name"]) == 20
    for attempt in [
        lambda: database.child("private/ann").get(),
        lambda: database.child("private/bob").get(ANN),
        lambda: database.child("private/bob").set(1, ANN),
        lambda: database.child("private/bob").push(1, ANN),
        lambda: database.child("private/bob").update({"a": 1}, ANN),
        lambda: database.child("private/bob").remove(ANN),
    ]:
        with pytest.raises(HTTPError) as refusal:
            attempt()
        assert refusal.value.args[1] == '{\n  "error" : "Permission denied"\n}\n'
    assert database.child("private/ann").remove(ANN) is None


@contextmanager
def streaming(query, token=None):
    """The events of a stream, as a queue."""
    events = queue.Queue()
    stream = query.stream(events.put, token, stream_id="s")

    def next_event():
        event = events.get(timeout=120)
        assert event.pop("stream_id") == "s"
        return event

    try:
        yield next_event
    finally:
        close(stream)


def close(stream):
    """Closes a stream and waits for its thread."""
    try:
        stream.close()
    except AttributeError:
        # Its first step wakes the thread, which may take away the socket that its second step closes.
        stream.thread.join(120)
    assert not stream.thread.is_alive()


def test_a_stream_is_reported_puts_and_patches(database):
    database.child("users").set(USERS)
    with streaming(database.child("users")) as next_event:
        assert next_event() == {"event": "put", "path": "/", "data": USERS}
        database.child("users/ann/age").set(31)
        assert next_event() == {"event": "put", "path": "/ann/age", "data": 31}
        database.child("users/bob").update({"age": 26, "town": "Bodø"})
        assert next_event() == {
            "event": "patch",
            "path": "/bob",
            "data": {"age": 26, "town": "Bodø"},
        }
        name = database.child("users").push({"age": 1})["name"]
        assert next_event() == {"event": "put", "path": f"/{name}", "data": {"age": 1}}
        database.child("users/cid").remove()
        assert next_event() == {"event": "put", "path": "/cid", "data": None}
        database.child("scores").set({"ann": 1})
        database.child("users").remove()
        assert next_event() == {"event": "put", "path": "/", "data": None}


def test_a_stream_may_have_a_query(database):
    database.child("users").set(USERS)
    query = database.child("users").order_by_child("age").limit_to_last(2)
    with streaming(query) as next_event:
        first = {key: USERS[key] for key in ["ann", "cid"]}
        assert next_event() == {"event": "put", "path": "/", "data": first}
        database.child("users/cid/age").set(42)
        assert next_event()["path"].startswith("/cid")


def test_a_stream_of_a_user(server, database):
    put_rules(server, OPEN_BUT_PRIVATE)
    database.child("private/ann").set("mine", ANN)
    with streaming(database.child("private/ann"), ANN) as next_event:
        assert next_event() == {"event": "put", "path": "/", "data": "mine"}
        database.child("private/ann").set("still", ANN)
        assert next_event() == {"event": "put", "path": "/", "data": "still"}
