"""One table of queries, asked in every way there is: the same children, in order where there is one."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from event_client import Events
from hearth_server import Hearth
from naive_query import selected
from stream_client import Stream
from wire_client import Wire

TABLE = json.loads((Path(__file__).parent / "Specs" / "query_forms.json").read_text())
CASES = TABLE["cases"]
OWNER = {"Authorization": "Bearer owner"}
RULES = {
    ".read": True,
    ".write": True,
    "list": {".indexOn": ["n", "deep/d", ".value"]},
    "whole": {".indexOn": ["n", ".value"]},
}
BOUNDS = {
    # Which end, whether a child just there is in, and the key that a bound without one has.
    "startAt": ("s", True, None),
    "startAfter": ("s", False, "[MAX_NAME]"),
    "endAt": ("e", True, None),
    "endBefore": ("e", False, "[MIN_NAME]"),
}


@pytest.fixture(scope="module")
def clients():
    with Hearth() as server:
        answer = server.put("/.settings/rules.json?ns=demo", {"rules": RULES}, headers=OWNER)
        assert answer.status == 200, answer.text
        assert server.put("/list.json?ns=demo", TABLE["data"]).status == 200
        with Events(server.port) as events, Wire(server.port) as wire:
            yield server, events, wire


def bounds(query):
    """The bounds of a query as (name, value, key or None), with both ends in the place of equalTo."""
    for name in ["startAt", "startAfter", "endAt", "endBefore", "equalTo"]:
        if name not in query:
            continue
        bound = query[name]
        value, key = (bound["value"], bound["key"]) if isinstance(bound, dict) else (bound, None)
        for end in ["startAt", "endAt"] if name == "equalTo" else [name]:
            yield end, value, key


def wire_form(query):
    """The query as SDKs send it."""
    form = {"i": ".priority"}
    if "orderByChild" in query:
        form["i"] = query["orderByChild"]
    for name, index in [("orderByKey", ".key"), ("orderByValue", ".value")]:
        if name in query:
            form["i"] = index
    for name, value, key in bounds(query):
        side, is_inclusive, end = BOUNDS[name]
        form[f"{side}p"], form[f"{side}in"] = value, is_inclusive
        if key or (end and form["i"] != ".key"):
            form[f"{side}n"] = key or end
    for name, side in [("limitToFirst", "l"), ("limitToLast", "r")]:
        if name in query:
            form["l"], form["vf"] = query[name], side
    return form


def rest_form(query):
    """The query as parameters of a REST read."""
    order = "$priority"
    if "orderByChild" in query:
        order = query["orderByChild"]
    for name, index in [("orderByKey", "$key"), ("orderByValue", "$value")]:
        if name in query:
            order = index
    parameters = [("orderBy", json.dumps(order))]
    for name in [*BOUNDS, "equalTo"]:
        if name in query:
            bound = query[name]
            if isinstance(bound, dict):
                text = f"{json.dumps(bound['value'])},{json.dumps(bound['key'])}"
            else:
                text = json.dumps(bound)
            parameters.append((name, text))
    for name in ["limitToFirst", "limitToLast"]:
        if name in query:
            parameters.append((name, str(query[name])))
    return "&".join(f"{name}={quote(text)}" for name, text in parameters)


def test_the_table_has_every_member_of_a_query():
    members = {member for case in CASES for member in case["query"]}
    assert members == {
        *BOUNDS,
        *["equalTo", "limitToFirst", "limitToLast"],
        *["orderByChild", "orderByKey", "orderByValue", "orderByPriority"],
    }
    assert any(isinstance(bound, dict) for case in CASES for bound in case["query"].values())


def test_the_table_says_what_the_definition_does():
    for case in CASES:
        assert selected(case["query"], TABLE["data"]) == case["keys"], case["query"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: json.dumps(case["query"]))
def test_every_door_gives_the_same_children(clients, case):
    server, events, wire = clients
    query, keys = case["query"], case["keys"]
    children = {key: TABLE["data"][key] for key in keys} or None

    reply = events.ask("get", path="/list", query=query, export=True)
    assert reply["ok"] and reply["value"] == children

    names = ["childAdded", "value"]
    observer, first, reply = events.observe("/list", *names, query=query, export=True)
    assert reply == {"ok": True}
    assert [event["key"] for event in first[:-1]] == keys
    assert [event["previousKey"] for event in first[:-1]] == [None, *keys[:-1]][: len(keys)]
    assert all(event["value"] == children[event["key"]] for event in first[:-1])
    assert first[-1] == {"event": "value", "value": children}
    assert events.ask("unobserve", observer=observer)["ok"]

    answer = server.get(f"/list.json?ns=demo&format=export&{rest_form(query)}")
    assert answer.status == 200, answer.text
    assert (answer.json or None) == children

    with Stream(server.port, f"/list.json?ns=demo&format=export&{rest_form(query)}") as stream:
        assert stream.event() == ("put", "/", children)

    form = wire_form(query)
    body, _ = wire.request("g", p="/list", q=form)
    assert body["s"] == "ok" and body["d"] == children

    body, pushes = wire.request("q", p="/list", q=form, t=1, h="")
    assert body == {"s": "ok", "d": {}}
    # The hash says that the client has nothing, so nothing is not sent.
    assert [push["b"] for push in pushes] == (
        [{"p": "list", "d": children, "t": 1}] if children else []
    )
    assert wire.request("n", p="/list", q=form, t=1)[0]["s"] == "ok"


@pytest.mark.parametrize("query", [{"limitToFirst": 2}, {"orderByKey": True, "startAt": "a"}])
def test_a_leaf_has_no_children_through_any_door(clients, query):
    server, events, wire = clients
    assert events.ask("set", path="/leaf", value=5)["ok"]
    assert events.ask("get", path="/leaf", query=query)["value"] is None
    _, first, _ = events.observe("/leaf", "childAdded", "value", query=query)
    assert first == [{"event": "value", "value": None}]
    assert not server.get(f"/leaf.json?ns=demo&{rest_form(query)}").json
    with Stream(server.port, f"/leaf.json?ns=demo&{rest_form(query)}") as stream:
        assert stream.event() == ("put", "/", None)
    assert wire.request("g", p="/leaf", q=wire_form(query))[0]["d"] is None


ORDERS = [{"orderByKey": True}, {"orderByValue": True}, {"orderByPriority": True}, {"orderByChild": "n"}]


@pytest.mark.parametrize("query", ORDERS, ids=json.dumps)
@pytest.mark.parametrize("value", [{".value": 5, ".priority": 7}, {"a": 1, ".priority": 7}])
def test_an_order_alone_gives_the_whole_node_through_every_door(clients, query, value):
    server, events, wire = clients
    assert wire.request("p", p="/whole", d=value)[0]["s"] == "ok"
    body, pushes = wire.request("q", p="/whole", q=wire_form(query), t=1, h="")
    assert body == {"s": "ok", "d": {}} and [push["b"]["d"] for push in pushes] == [value]
    assert wire.request("n", p="/whole", q=wire_form(query), t=1)[0]["s"] == "ok"
    assert wire.request("g", p="/whole", q=wire_form(query))[0]["d"] == value
    assert events.ask("get", path="/whole", query=query, export=True)["value"] == value
    observer, first, _ = events.observe("/whole", "value", query=query, export=True)
    assert first == [{"event": "value", "value": value}]
    assert events.ask("unobserve", observer=observer)["ok"]
    target = f"/whole.json?ns=demo&format=export&{rest_form(query)}"
    assert server.get(target).json == value
    with Stream(server.port, target) as stream:
        assert stream.event() == ("put", "/", value)
