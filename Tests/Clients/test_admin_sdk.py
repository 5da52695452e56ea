"""PyPI's firebase-admin, unchanged, against the server as an emulator."""

import itertools
import json
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import firebase_admin
import pytest
from firebase_admin import db

from hearth_server import Hearth

# The SDK closes a listener by taking the connection away from the thread that reads it, which may
# end with an exception then. One that ends before is noticed by the events that do not come.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
NUMBER = itertools.count()
OWNER = {"Authorization": "Bearer owner"}
RULES = {
    ".read": True,
    ".write": True,
    "dinosaurs": {".indexOn": ["height", "dimensions/weight"]},
    "scores": {".indexOn": ".value"},
}
DINOSAURS = {
    "bruhathkayosaurus": {"height": 25, "dimensions": {"weight": 130000}},
    "lambeosaurus": {"height": 2.1, "dimensions": {"weight": 5000}},
    "linhenykus": {"height": 0.6, "dimensions": {"weight": 3}},
    "pterodactyl": {"height": 0.6, "dimensions": {"weight": 4.5}},
    "stegosaurus": {"height": 4, "dimensions": {"weight": 2500}},
    "unmeasured": {"order": "saurischia"},
}
SCORES = {"ann": 60, "bob": 100, "cid": 70, "dan": 100}


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


@contextmanager
def admin(server, monkeypatch, ns="demo", **options):
    """An app of the administrator, or of the user whom `databaseAuthVariableOverride` names."""
    monkeypatch.setenv("FIREBASE_DATABASE_EMULATOR_HOST", f"127.0.0.1:{server.port}")
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    app = firebase_admin.initialize_app(
        options={"databaseURL": f"https://{ns}.firebaseio.com", "projectId": "demo", **options},
        name=f"app-{next(NUMBER)}",
    )
    try:
        yield app
    finally:
        firebase_admin.delete_app(app)


@pytest.fixture
def app(server, monkeypatch):
    """The administrator of a database with open rules and nothing in it."""
    put_rules(server, RULES)
    server.request("DELETE", "/.json?ns=demo", headers=OWNER)
    with admin(server, monkeypatch) as app:
        yield app


def put_rules(server, rules):
    answer = server.put("/.settings/rules.json?ns=demo", {"rules": rules}, headers=OWNER)
    assert answer.json == {"status": "ok"}, answer.text


def test_set_get_update_push_delete(app):
    root = db.reference("/", app=app)
    root.child("users/ann").set({"name": "Ann", "age": 30})
    assert root.child("users/ann").get() == {"name": "Ann", "age": 30}
    root.child("users/ann").update({"age": 31, "city": "Oslo"})
    assert root.child("users/ann/age").get() == 31
    pushed = root.child("list").push({"n": 1})
    assert len(pushed.key) == 20 and root.child("list").child(pushed.key).get() == {"n": 1}
    assert root.child("list").push().get() == ""
    root.child("users").update({"ann/city": None, "bob/name": "Bob"})
    assert root.child("users").get() == {"ann": {"name": "Ann", "age": 31}, "bob": {"name": "Bob"}}
    root.child("users").delete()
    assert root.child("users").get() is None


def test_unicode_and_odd_keys(app):
    reference = db.reference("odd", app=app)
    value = {"a b": 1, "é": "😀", "a+b": [1, 2], "-Nx": True}
    reference.set(value)
    assert reference.get() == value
    assert reference.child("a b").get() == 1
    assert reference.child("é").get() == "😀"


def test_a_shallow_read_has_keys_only(app):
    reference = db.reference("users", app=app)
    reference.set({"ann": {"deep": {"er": 1}}, "bob": "leaf"})
    assert reference.get(shallow=True) == {"ann": True, "bob": True}
    assert reference.child("bob").get(shallow=True) == "leaf"
    assert reference.child("none").get(shallow=True) is None


# --- queries


@pytest.fixture
def dinosaurs(app):
    db.reference("dinosaurs", app=app).set(DINOSAURS)
    db.reference("scores", app=app).set(SCORES)
    return app


CHILD_QUERIES = {
    "all": (lambda query: query, [*DINOSAURS]),
    "the first": (lambda query: query.limit_to_first(2), ["unmeasured", "linhenykus"]),
    "the last": (lambda query: query.limit_to_last(2), ["stegosaurus", "bruhathkayosaurus"]),
    "from": (lambda query: query.start_at(3.5), ["stegosaurus", "bruhathkayosaurus"]),
    "up to": (lambda query: query.end_at(0.6), ["unmeasured", "linhenykus", "pterodactyl"]),
    "between": (
        lambda query: query.start_at(0.6).end_at(3),
        ["linhenykus", "pterodactyl", "lambeosaurus"],
    ),
    "equal": (lambda query: query.equal_to(0.6), ["linhenykus", "pterodactyl"]),
    "the last up to": (lambda query: query.end_at(4).limit_to_last(1), ["stegosaurus"]),
    "the first from": (lambda query: query.start_at(0.6).limit_to_first(1), ["linhenykus"]),
    "none": (lambda query: query.equal_to("tall"), []),
}


@pytest.mark.parametrize("narrow, keys", CHILD_QUERIES.values(), ids=CHILD_QUERIES)
def test_order_by_child(dinosaurs, narrow, keys):
    result = narrow(db.reference("dinosaurs", app=dinosaurs).order_by_child("height")).get()
    # The SDK puts what came in order; of nothing it says None.
    assert dict(result or {}) == {key: DINOSAURS[key] for key in keys}
    assert narrow is CHILD_QUERIES["all"][0] or [*(result or {})] == keys


def test_order_by_a_path_of_children(dinosaurs):
    query = db.reference("dinosaurs", app=dinosaurs).order_by_child("dimensions/weight")
    assert [*query.start_at(4).end_at(5000).get()] == ["pterodactyl", "stegosaurus", "lambeosaurus"]


def test_order_by_key(dinosaurs):
    query = db.reference("dinosaurs", app=dinosaurs).order_by_key
    assert [*query().limit_to_first(2).get()] == ["bruhathkayosaurus", "lambeosaurus"]
    assert [*query().start_at("p").end_at("s").get()] == ["pterodactyl"]
    assert [*query().equal_to("stegosaurus").get()] == ["stegosaurus"]
    assert [*query().end_at("lambeosaurus").limit_to_last(1).get()] == ["lambeosaurus"]


def test_order_by_value(dinosaurs):
    query = db.reference("scores", app=dinosaurs).order_by_value
    assert [*query().get().items()] == [("ann", 60), ("cid", 70), ("bob", 100), ("dan", 100)]
    assert [*query().limit_to_last(2).get()] == ["bob", "dan"]
    assert [*query().equal_to(100).limit_to_first(1).get()] == ["bob"]
    assert [*query().start_at(61).end_at(99).get()] == ["cid"]


def test_a_query_without_an_index_says_which_to_add(dinosaurs):
    with pytest.raises(firebase_admin.exceptions.InvalidArgumentError) as refusal:
        db.reference("dinosaurs", app=dinosaurs).order_by_child("length").get()
    wanted = 'Index not defined, add ".indexOn": "length", for path "/dinosaurs", to the rules'
    assert str(refusal.value) == wanted


def test_a_key_of_another_type_is_refused(dinosaurs):
    with pytest.raises(firebase_admin.exceptions.InvalidArgumentError) as refusal:
        db.reference("dinosaurs", app=dinosaurs).order_by_key().start_at(5).get()
    assert str(refusal.value) == "Provided key index type is invalid, must be string"


# --- tags and transactions


def test_a_tag_comes_with_the_value(app):
    reference = db.reference("tagged", app=app)
    assert reference.get(etag=True) == (None, "null_etag")
    reference.set({"a": 1})
    value, tag = reference.get(etag=True)
    assert value == {"a": 1} and tag != "null_etag"
    assert reference.get(etag=True) == (value, tag)


def test_get_if_changed(app):
    reference = db.reference("tagged", app=app)
    reference.set("first")
    _, tag = reference.get(etag=True)
    assert reference.get_if_changed(tag) == (False, None, None)
    reference.set("second")
    changed, value, later = reference.get_if_changed(tag)
    assert (changed, value) == (True, "second") and later not in (None, tag)
    assert reference.get_if_changed(later) == (False, None, None)


def test_set_if_unchanged(app):
    reference = db.reference("tagged", app=app)
    done, value, first = reference.set_if_unchanged("null_etag", {"n": 1})
    assert (done, value) == (True, {"n": 1}) and first not in (None, "null_etag")
    done, value, tag = reference.set_if_unchanged("null_etag", {"n": 2})
    assert (done, value, tag) == (False, {"n": 1}, first)
    done, value, second = reference.set_if_unchanged(first, {"n": 2})
    assert done and second not in (None, first)
    assert reference.get(etag=True) == ({"n": 2}, second)


def test_a_transaction_changes_what_is_there(app):
    reference = db.reference("counter", app=app)
    assert reference.transaction(lambda value: (value or 0) + 1) == 1
    assert reference.transaction(lambda value: value * 10) == 10
    assert reference.get() == 10


def test_a_transaction_that_is_overtaken_runs_again(app):
    reference = db.reference("counter", app=app)
    reference.set(1)
    seen = []

    def add(value):
        seen.append(value)
        if len(seen) < 3:
            reference.set(value + 100)
        return value + 1

    assert reference.transaction(add) == 202
    assert seen == [1, 101, 201] and reference.get() == 202


def test_a_transaction_that_is_always_overtaken_gives_up(app):
    reference = db.reference("counter", app=app)
    reference.set(0)
    runs = itertools.count(1)

    def lose(value):
        reference.set(next(runs))
        return -1

    with pytest.raises(db.TransactionAbortedError):
        reference.transaction(lose)
    assert reference.get() == 25


def test_a_transaction_that_fails_changes_nothing(app):
    reference = db.reference("counter", app=app)
    reference.set(7)

    def fail(value):
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        reference.transaction(fail)
    assert reference.get() == 7


def test_transactions_of_many_threads_lose_none(app):
    reference = db.reference("shared", app=app)
    threads, rounds = 4, 15

    def count(_):
        for _ in range(rounds):
            while True:
                try:
                    reference.transaction(lambda value: (value or 0) + 1)
                    break
                except db.TransactionAbortedError:
                    continue  # Lost 25 times in a row: nothing was written, so it counts again.

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(count, range(threads)))
    assert reference.get() == threads * rounds


# --- listening


@contextmanager
def listening(reference):
    """The events at a reference, as a queue of (type, path, data)."""
    events = queue.Queue()
    registration = reference.listen(
        lambda event: events.put((event.event_type, event.path, event.data))
    )

    def next_event():
        return events.get(timeout=120)

    try:
        yield next_event
    finally:
        close(registration, reference)


def close(registration, reference):
    """Closes a listener; its thread wakes at the next byte, so there is one until it has."""
    closer = threading.Thread(target=registration.close)
    closer.start()
    knocks = itertools.count()
    while closer.is_alive():
        reference.child(f"knock/{next(knocks)}").set(1)
        closer.join(0.02)


def test_a_listener_is_reported_puts_and_patches(app):
    reference = db.reference("listened", app=app)
    reference.set({"a": 1})
    with listening(reference) as next_event:
        assert next_event() == ("put", "/", {"a": 1})
        reference.child("b/c").set("é😀")
        assert next_event() == ("put", "/b/c", "é😀")
        reference.update({"a": 2, "d": {"e": True}})
        assert next_event() == ("patch", "/", {"a": 2, "d": {"e": True}})
        pushed = reference.child("users").push()
        assert next_event() == ("put", f"/users/{pushed.key}", "")
        reference.child("b").delete()
        assert next_event() == ("put", "/b", None)
        db.reference("elsewhere", app=app).set(1)
        reference.set("all")
        assert next_event() == ("put", "/", "all")


def test_a_listener_of_nothing_is_reported_so_first(app):
    reference = db.reference("nothing/here", app=app)
    with listening(reference) as next_event:
        assert next_event() == ("put", "/", None)
        reference.set([1, None, 2])
        assert next_event() == ("put", "/", [1, None, 2])


def test_a_closed_listener_is_reported_nothing_more(app):
    reference = db.reference("closing", app=app)
    paths = []
    registration = reference.listen(lambda event: paths.append(event.path))
    close(registration, reference)
    count = len(paths)
    reference.set("after")
    assert reference.get() == "after" and len(paths) == count


def test_a_listener_sees_every_write_once_and_in_order(app):
    reference = db.reference("ordered", app=app)
    with listening(reference) as next_event:
        assert next_event()[1] == "/"
        for n in range(100):
            reference.child("n").set(n)
        assert [next_event() for _ in range(100)] == [("put", "/n", n) for n in range(100)]


def test_a_listener_at_the_root_of_another_database_hears_nothing_of_this(server, app, monkeypatch):
    with admin(server, monkeypatch, ns="another") as other:
        reference = db.reference("/", app=other)
        with listening(reference) as next_event:
            assert next_event() == ("put", "/", None)
            db.reference("x", app=app).set(1)
            reference.child("y").set(2)
            assert next_event() == ("put", "/y", 2)
        reference.delete()


# --- on behalf of others


USER_RULES = {
    "u": {"$u": {".read": "auth.uid == $u", ".write": "auth.uid == $u", ".indexOn": "n"}},
    "nobody": {".read": "auth == null", ".write": "auth == null"},
    "staff": {".read": "auth.staff == true"},
}


@pytest.fixture
def ann(server, monkeypatch):
    put_rules(server, USER_RULES)
    data = {"u": {"ann": {"x": {"n": 1}, "y": {"n": 2}}, "bob": {"x": {"n": 3}}}}
    server.put("/.json?ns=demo", data, headers=OWNER)
    with admin(server, monkeypatch, databaseAuthVariableOverride={"uid": "ann"}) as app:
        yield app


@contextmanager
def denied():
    with pytest.raises(firebase_admin.exceptions.UnauthenticatedError) as refusal:
        yield
    assert str(refusal.value) == "Permission denied"


def test_the_override_reads_and_writes_what_its_user_may(ann):
    mine = db.reference("u/ann", app=ann)
    assert mine.child("x").get() == {"n": 1}
    mine.child("z").set({"n": 5})
    mine.update({"x/n": 7})
    pushed = mine.push({"n": 0})
    assert mine.child(pushed.key).get() == {"n": 0}
    pushed.delete()
    assert mine.get() == {"x": {"n": 7}, "y": {"n": 2}, "z": {"n": 5}}
    assert mine.child("x/n").transaction(lambda value: value + 1) == 8


def test_the_override_neither_reads_nor_writes_what_its_user_may_not(ann, server):
    other = db.reference("u/bob", app=ann)
    for attempt in [
        other.get,
        lambda: other.get(shallow=True),
        lambda: other.get(etag=True),
        lambda: other.set(1),
        lambda: other.update({"x": 1}),
        lambda: other.push(1),
        other.delete,
        lambda: other.set_if_unchanged("null_etag", 1),
        lambda: other.transaction(lambda value: 1),
        lambda: db.reference("/", app=ann).get(),
        lambda: db.reference("u", app=ann).update({"ann/x": 1, "bob/x": 1}),
    ]:
        with denied():
            attempt()
    assert server.get("/u/bob.json?ns=demo", headers=OWNER).json == {"x": {"n": 3}}
    assert server.get("/u/ann/x.json?ns=demo", headers=OWNER).json == {"n": 1}


def test_the_override_runs_queries(ann):
    assert [*db.reference("u/ann", app=ann).order_by_child("n").limit_to_last(1).get()] == ["y"]
    assert [*db.reference("u/ann", app=ann).order_by_key().start_at("y").get()] == ["y"]
    with denied():
        db.reference("u/bob", app=ann).order_by_child("n").get()


def test_the_override_listens(ann):
    mine = db.reference("u/ann/x", app=ann)
    with listening(mine) as next_event:
        assert next_event() == ("put", "/", {"n": 1})
        mine.child("n").set(9)
        assert next_event() == ("put", "/n", 9)
    with denied():
        db.reference("u/bob", app=ann).listen(lambda event: None)


def test_an_override_of_none_is_signed_out(ann, server, monkeypatch):
    with admin(server, monkeypatch, databaseAuthVariableOverride=None) as app:
        db.reference("nobody", app=app).set("here")
        assert db.reference("nobody", app=app).get() == "here"
        with denied():
            db.reference("u/ann", app=app).get()


def test_an_override_may_hold_claims(ann, server, monkeypatch):
    override = {"uid": "eve", "staff": True}
    with admin(server, monkeypatch, databaseAuthVariableOverride=override) as app:
        assert db.reference("staff", app=app).get() is None
        with denied():
            db.reference("nobody", app=app).get()


# --- rules, as the SDK's own integration tests read and write them


def test_rules_are_read_merged_and_written_back(app, server):
    client = db.reference("", app=app)._client
    rules = client.body("get", "/.settings/rules.json", params="format=strict")
    assert rules == {"rules": RULES}
    rules["rules"]["_adminsdk"] = {
        "python": {"dinos": {".indexOn": ["height"]}, "$x": {".validate": False}}
    }
    client.request("put", "/.settings/rules.json", json=rules)
    assert client.body("get", "/.settings/rules.json", params="format=strict") == rules
    db.reference("_adminsdk/python/dinos", app=app).set({"a": {"height": 1}})
    assert [*db.reference("_adminsdk/python/dinos", app=app).order_by_child("height").get()] == [
        "a"
    ]


def test_rules_that_do_not_load_are_an_invalid_argument(app):
    client = db.reference("", app=app)._client
    with pytest.raises(firebase_admin.exceptions.InvalidArgumentError) as refusal:
        client.request("put", "/.settings/rules.json", json={"rules": {".read": "who"}})
    assert "Unknown variable 'who'." in str(refusal.value)
    assert client.body("get", "/.settings/rules.json", params="format=strict") == {"rules": RULES}


def test_a_database_url_with_ns_is_enough(server, monkeypatch):
    monkeypatch.delenv("FIREBASE_DATABASE_EMULATOR_HOST", raising=False)
    url = f"http://127.0.0.1:{server.port}?ns=by-url"
    app = firebase_admin.initialize_app(options={"databaseURL": url}, name=f"app-{next(NUMBER)}")
    try:
        db.reference("a", app=app).set(1)
        assert server.get("/a.json?ns=by-url").json == 1
    finally:
        firebase_admin.delete_app(app)


def test_an_error_keeps_the_server_s_words(app):
    with pytest.raises(firebase_admin.exceptions.InvalidArgumentError) as refusal:
        db.reference("a", app=app).update({"b$": 1})
    assert str(refusal.value).startswith("Invalid data; couldn't parse"), json.dumps(
        str(refusal.value)
    )
