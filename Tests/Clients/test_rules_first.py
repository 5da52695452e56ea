"""Nothing of the data is compared, hashed or sent before the rules have agreed: one answer for who may not write."""

import base64
import hashlib
import json

import pytest

from event_client import Events
from hearth_server import Hearth
from wire_client import Wire

ADMIN = {"Authorization": "Bearer owner"}

RULES = {
    "rules": {
        "secret": {".read": False, ".write": False},
        "drop": {".read": False, ".write": True},
        "count": {".read": True, ".write": "newData.val() === data.val() + 1"},
        "blind": {".write": "newData.val() === data.val() + 1"},
        "pair": {
            ".read": True,
            "x": {".write": "!newData.parent().hasChild('y')"},
            "y": {".write": "!newData.parent().hasChild('x')"},
        },
        "both": {
            ".read": True,
            "x": {".write": "newData.parent().hasChild('y')"},
            "y": {".write": "newData.parent().hasChild('x')"},
        },
        "presence": {".read": True, "$user": {".write": "data.val() !== 'locked'"}},
    }
}

# A value by itself that is deeper than 32 keys below its path.
DEEP = 1
for _ in range(31):
    DEEP = {"k": DEEP}


@pytest.fixture
def server(tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps(RULES))
    with Hearth("--rules", str(rules)) as server:
        for place, value in (("secret/pin", "4711"), ("drop", "x"), ("count", 1), ("blind", 1)):
            assert server.put(f"/{place}.json?ns=demo", value, headers=ADMIN).status == 200
        yield server


def sha1(text):
    return base64.b64encode(hashlib.sha1(text.encode()).digest()).decode()


def hash_of(text):
    return sha1(f"string:{text}")


def hash_of_secret(pin):
    return sha1(f":pin:{hash_of(pin)}")


def test_a_guess_has_one_answer_over_the_wire(server):
    with Wire(server.port) as wire:
        for pin in ("0000", "4711"):
            body, _ = wire.request("p", p="/secret/pin", d="x", h=hash_of(pin))
            assert body["s"] == "permission_denied", pin
            body, _ = wire.request("m", p="/secret", d={"pin": "x"}, h=hash_of_secret(pin))
            assert body["s"] == "permission_denied", pin
        for place in ("pin", "nothing"):
            body, _ = wire.request("p", p=f"/secret/{place}", d="x", h="")
            assert body["s"] == "permission_denied", place


@pytest.mark.parametrize("value", ["x", DEEP], ids=["short", "too deep"])
def test_a_guess_has_one_answer_over_rest_and_events(server, value):
    with Events(server.port) as events:
        for place in ("secret/pin", "secret/nothing"):
            answers, replies = set(), set()
            for tag in (hash_of("0000"), hash_of("4711"), "null_etag"):
                answer = server.put(
                    f"/{place}.json?ns=demo",
                    value,
                    headers={"if-match": tag, "X-Firebase-ETag": "true"},
                )
                answers.add((answer.status, answer.text, answer.headers.get("ETag")))
                reply = events.ask("set", path=f"/{place}", value=value, ifMatch=tag)
                replies.add(json.dumps(reply, sort_keys=True))
            assert len(answers) == 1 and len(replies) == 1, (answers, replies)


def test_a_transaction_that_is_behind_runs_again(server):
    """What its rules compare with is newer than what the client saw: it may read, so it learns so."""
    stale, fresh = sha1("number:0000000000000000"), sha1("number:3ff0000000000000")
    with Wire(server.port) as wire:
        assert wire.request("p", p="/count", d=1, h=stale)[0]["s"] == "datastale"
        assert wire.request("p", p="/count", d=5, h=fresh)[0]["s"] == "permission_denied"
        assert wire.request("p", p="/count", d=2, h=fresh)[0]["s"] == "ok"
        # Who may not read learns nothing while it may not write.
        for guess in (stale, fresh):
            assert wire.request("p", p="/blind", d=5, h=guess)[0]["s"] == "permission_denied"
        assert wire.request("p", p="/drop", d="y", h=hash_of("z"))[0]["s"] == "datastale"
        assert wire.request("p", p="/drop", d="y", h=hash_of("x"))[0]["s"] == "ok"


def test_no_client_has_a_large_tree_hashed_without_permission(server):
    big = {f"k{i:05}": {f"c{j}": j for j in range(4)} for i in range(5_000)}
    assert server.put("/secret/big.json?ns=demo&print=silent", big, headers=ADMIN).status == 204
    with Wire(server.port) as wire:
        for action, data in (("p", None), ("m", {"a": None})):
            body, _ = wire.request(action, p="/", d=data, h=hash_of("x"))
            assert body["s"] == "permission_denied"


def leave(server, *requests):
    with Wire(server.port) as wire:
        answers = [wire.request(action, p=path, d=data)[0]["s"] for action, path, data in requests]
    return answers


def test_what_runs_at_the_disconnect_is_decided_as_it_commits(server):
    leave(server, ("o", "/pair/x", 1), ("o", "/pair/y", 1))
    assert server.get("/pair.json?ns=demo").json is None
    leave(server, ("om", "/pair", {"x": 1, "y": 1}))
    assert server.get("/pair.json?ns=demo").json is None
    assert leave(server, ("o", "/pair/x", 1)) == ["ok"]
    assert server.get("/pair.json?ns=demo").json == {"x": 1}


def test_events_leave_nothing_together_that_the_rules_refuse(server):
    with Events(server.port) as events:
        for place in ("x", "y"):
            assert events.ask("onDisconnect", path=f"/pair/{place}", value=1)["ok"]
        assert not events.ask("onDisconnect", path="/pair", update={"x": 1, "y": 1})["ok"]
    assert server.get("/pair.json?ns=demo").json is None


def test_an_update_that_holds_together_only_is_taken(server):
    assert leave(server, ("om", "/both", {"x": 1, "y": 1})) == ["ok"]
    assert server.get("/both.json?ns=demo").json == {"x": 1, "y": 1}
    assert leave(server, ("o", "/both/x", 2)) == ["ok"]


def test_one_that_is_refused_by_then_leaves_the_others_alone(server):
    with Wire(server.port) as wire:
        for user in ("ann", "bob", "cy"):
            assert wire.request("o", p=f"/presence/{user}", d="gone")[0]["s"] == "ok"
        server.put("/presence/bob.json?ns=demo", "locked", headers=ADMIN)
    assert server.get("/presence.json?ns=demo").json == {
        "ann": "gone",
        "bob": "locked",
        "cy": "gone",
    }
